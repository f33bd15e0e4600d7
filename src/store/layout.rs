//! The refs of a realm's store and the paths in their trees. Both are built only from parsed names.

use std::fmt;

use crate::model::{
    approval::Fingerprint,
    merge::ConflictId,
    name::{ContractName, DomainName, ReaderName, RemoteName, RepoName},
    session::SessionId,
    version::Version,
};

/// A ref in a realm's store.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StoreRef {
    /// The realm itself: its format, name and repositories.
    Realm,
    /// One domain.
    Domain(DomainName),
    /// The sessions of a repository.
    Sessions(RepoName),
    /// The inbox of a repository: that of one reader, or the shared one.
    Inbox(RepoName, Option<ReaderName>),
    /// The tip of a shared ref at a remote when the remote was last listed.
    Seen(RemoteName, Box<StoreRef>),
    /// The arrivals of changes to a domain on this machine.
    Arrivals(DomainName),
    /// The commit of a domain that this machine last knew.
    Known(DomainName),
    /// The baselines and pending events of a receiver outside of git.
    Receiver(ReaderName),
}

/// The prefix of refs that are shared with remotes.
pub const SHARED: &str = "refs/blue/";
/// The ref of the realm itself.
const REALM: &str = "refs/blue/realm";
/// The prefix of domain refs.
pub const DOMAINS: &str = "refs/blue/domains/";
/// The prefix of refs of this machine.
pub const LOCAL: &str = "refs/blue/local/";
/// The prefix of refs of arrivals.
const ARRIVALS: &str = "refs/blue/local/arrivals/";
/// The prefix of refs of known domains.
pub const KNOWN: &str = "refs/blue/local/known/";
/// The prefix of refs of receivers.
const RECEIVERS: &str = "refs/blue/local/notify/";
/// The prefix of refs of sessions.
pub const SESSIONS: &str = "refs/blue/sessions/";
/// The prefix of refs of inboxes.
pub const INBOXES: &str = "refs/blue/local/inbox/";
/// The prefix of refs that record the state of remotes.
pub const SEEN: &str = "refs/blue-remotes/";

impl StoreRef {
    /// Parses the full name of the ref of an inbox.
    pub fn inbox(full_name: &str) -> Option<Self> {
        let (repo, rest) = full_name.strip_prefix(INBOXES)?.split_once('/')?;
        let reader = match rest.split_once('/') {
            None if rest == "shared" => None,
            Some(("reader", reader)) => Some(reader.parse().ok()?),
            _ => return None,
        };
        Some(Self::Inbox(repo.parse().ok()?, reader))
    }

    /// Parses the full name of a shared ref.
    pub fn parse_shared(full_name: &str) -> Option<Self> {
        if full_name == REALM {
            return Some(Self::Realm);
        }
        let domain = full_name.strip_prefix(DOMAINS).and_then(|name| name.parse().ok()).map(Self::Domain);
        domain.or_else(|| full_name.strip_prefix(SESSIONS)?.parse().ok().map(Self::Sessions))
    }

    /// Parses the full name of a ref that records the state of a remote's ref.
    pub fn seen(full_name: &str) -> Option<Self> {
        let (remote, rest) = full_name.strip_prefix(SEEN)?.split_once('/')?;
        let of = Self::parse_shared(&format!("{SHARED}{rest}"))?;
        Some(Self::Seen(remote.parse().ok()?, Box::new(of)))
    }

    /// Returns the domain, if this is the ref of one.
    pub fn domain(&self) -> Option<&DomainName> {
        match self {
            Self::Domain(domain) => Some(domain),
            _ => None,
        }
    }

    /// Returns a shared ref's name under `refs/blue/`. Remotes may store it under another prefix.
    pub fn shared_name(&self) -> String {
        let name = self.to_string();
        name.strip_prefix(SHARED).map(str::to_owned).unwrap_or(name)
    }

    /// Returns whether the ref is local to this machine. Local refs are written without flushing; losing one only
    /// means that notifications are shown again.
    pub fn is_local(&self) -> bool {
        !matches!(self, Self::Realm | Self::Domain(_) | Self::Sessions(_))
    }

    /// Returns the name of the lock for writing the ref, which differs for each shared ref. It does not collide with
    /// names of domains, which never start with `_`.
    pub fn lock_name(&self) -> String {
        match self {
            Self::Realm => "_realm".into(),
            Self::Domain(domain) => domain.to_string(),
            Self::Sessions(repo) => format!("_sessions-{repo}"),
            Self::Inbox(..) | Self::Arrivals(_) | Self::Known(_) | Self::Seen(..) | Self::Receiver(_) => {
                "_local".into()
            }
        }
    }
}

impl fmt::Display for StoreRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Realm => f.write_str(REALM),
            Self::Domain(domain) => write!(f, "{DOMAINS}{domain}"),
            Self::Arrivals(domain) => write!(f, "{ARRIVALS}{domain}"),
            Self::Known(domain) => write!(f, "{KNOWN}{domain}"),
            Self::Receiver(name) => write!(f, "{RECEIVERS}{name}"),
            Self::Sessions(repo) => write!(f, "{SESSIONS}{repo}"),
            Self::Inbox(repo, None) => write!(f, "{INBOXES}{repo}/shared"),
            Self::Inbox(repo, Some(reader)) => write!(f, "{INBOXES}{repo}/reader/{reader}"),
            Self::Seen(remote, of) => write!(f, "{SEEN}{remote}/{}", of.shared_name()),
        }
    }
}

/// The maximum number of segments of a file's path.
pub const MAX_DEPTH: usize = 5;

/// A path within a tree of the store, relative to its root and separated by `/`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreePath(String);

impl TreePath {
    /// Returns the path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the segments of the path.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }

    /// Returns the path, prefixed with `folder`.
    pub fn below(&self, folder: &Self) -> Self {
        Self(format!("{folder}/{self}"))
    }
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns `realm.json`: the realm's format and name.
pub fn realm() -> TreePath {
    TreePath("realm.json".into())
}

/// Returns `repos/<repo>.json`: the entry of a repository.
pub fn repo(name: &RepoName) -> TreePath {
    TreePath(format!("{REPOS}/{name}.json"))
}

/// Returns `domain.json`: the name, description and members of a domain.
pub fn domain() -> TreePath {
    TreePath("domain.json".into())
}

/// Returns `contracts/<name>.json`: a contract's current document.
pub fn contract(name: &ContractName) -> TreePath {
    TreePath(format!("{CONTRACTS}/{name}.json"))
}

/// Returns `versions/<name>`: the folder of a contract's published versions.
pub fn versions(name: &ContractName) -> TreePath {
    TreePath(format!("{VERSIONS}/{name}"))
}

/// Returns `versions/<name>/<version>.json`: a published version, which never changes.
pub fn version(name: &ContractName, version: &Version) -> TreePath {
    TreePath(format!("{VERSIONS}/{name}/{version}.json"))
}

/// Returns `bindings/<repo>.json`: the binding of a repository.
pub fn binding(repo: &RepoName) -> TreePath {
    TreePath(format!("{BINDINGS}/{repo}.json"))
}

/// Returns `sources/<repo>.json`: the last published commit of a repository.
pub fn source(repo: &RepoName) -> TreePath {
    TreePath(format!("{SOURCES}/{repo}.json"))
}

/// Returns `transfers/<contract>.json`: the transfers of a contract.
pub fn transfers(name: &ContractName) -> TreePath {
    TreePath(format!("{TRANSFERS}/{name}.json"))
}

/// Returns `approvals/<contract>/<fingerprint>.json`: a breaking change that the owner approved.
pub fn approval(name: &ContractName, fingerprint: &Fingerprint) -> TreePath {
    TreePath(format!("{APPROVALS}/{name}/{fingerprint}.json"))
}

/// Returns `renames/<repo>.json`: the new name of a repository.
pub fn rename(name: &RepoName) -> TreePath {
    TreePath(format!("{RENAMES}/{name}.json"))
}

/// Returns `conflicts/contracts/<name>/<version>/<id>.json`: the losing document of a conflict about a version.
pub fn losing_contract(name: &ContractName, version: &Version, id: &ConflictId) -> TreePath {
    TreePath(format!("{}/{id}.json", losing_contracts(name, version)))
}

/// Returns `conflicts/contracts/<name>/<version>`: the folder of the losing documents of conflicts about a version.
pub fn losing_contracts(name: &ContractName, version: &Version) -> TreePath {
    TreePath(format!("{CONFLICTS}/{CONTRACTS}/{name}/{version}"))
}

/// Returns `conflicts/bindings/<repo>/<id>.json`: the losing side of a conflict about a binding.
pub fn losing_binding(repo: &RepoName, id: &ConflictId) -> TreePath {
    TreePath(format!("{CONFLICTS}/{BINDINGS}/{repo}/{id}.json"))
}

/// Returns `conflicts/bindings/<repo>`: the folder of the losing sides of conflicts about a binding.
pub fn lost_bindings(repo: &RepoName) -> TreePath {
    TreePath(format!("{CONFLICTS}/{BINDINGS}/{repo}"))
}

/// Returns `conflicts/repos/<repo>`: the folder of other repositories that claimed the same name.
pub fn lost_repos(repo: &RepoName) -> TreePath {
    TreePath(format!("{CONFLICTS}/{REPOS}/{repo}"))
}

/// Returns `conflicts/repos/<repo>/<id>.json`: another repository that claimed the same name.
pub fn losing_repo(repo: &RepoName, id: &ConflictId) -> TreePath {
    TreePath(format!("{CONFLICTS}/{REPOS}/{repo}/{id}.json"))
}

/// Returns `conflicts/set-aside/<id>.json`: the record of a commit that broke a rule, named by its first digits.
pub fn set_aside(id: &ConflictId) -> TreePath {
    TreePath(format!("{CONFLICTS}/{SET_ASIDE}/{id}.json"))
}

/// Returns `<id>.json`: an open session.
pub fn session(id: &SessionId) -> TreePath {
    TreePath(format!("{id}.json"))
}

/// Returns `ended/<id>.json`: a session that has ended, in a separate folder so that open ones are found quickly.
pub fn ended_session(id: &SessionId) -> TreePath {
    TreePath(format!("{ENDED}/{id}.json"))
}

/// Returns `baselines/<domain>`: in an inbox, the baseline of a domain.
pub fn baseline(domain: &DomainName) -> TreePath {
    TreePath(format!("{BASELINES}/{domain}"))
}

/// Returns `joined/<domain>`: in a shared inbox, the domain's tree when the repository joined it.
pub fn joined(domain: &DomainName) -> TreePath {
    TreePath(format!("{JOINED}/{domain}"))
}

/// Returns `told.json`: in an inbox, the notifications of the last 30 days.
pub fn delivered() -> TreePath {
    TreePath("told.json".into())
}

/// Returns `dropped.json`: in an inbox, how many notifications of the last 30 days were too many to keep.
pub fn dropped() -> TreePath {
    TreePath("dropped.json".into())
}

/// Returns `queue.json`: the pending and abandoned events of a receiver.
pub fn queue() -> TreePath {
    TreePath("queue.json".into())
}

/// Returns `arrived.json`: the changes made by others, and when they arrived.
pub fn arrived() -> TreePath {
    TreePath("arrived.json".into())
}

/// The folder of repositories in the realm's tree.
pub const REPOS: &str = "repos";
/// The folder of current documents in a domain's tree.
pub const CONTRACTS: &str = "contracts";
/// The folder of published documents in a domain's tree.
pub const VERSIONS: &str = "versions";
/// The folder of bindings in a domain's tree.
pub const BINDINGS: &str = "bindings";
/// The folder of transfers of contracts in a domain's tree.
pub const TRANSFERS: &str = "transfers";
/// The folder of approved breaking changes in a domain's tree.
pub const APPROVALS: &str = "approvals";
/// The folder of renames in the realm's tree.
pub const RENAMES: &str = "renames";
/// The folder of last published commits in a domain's tree.
pub const SOURCES: &str = "sources";
/// The folder of conflicts in the trees of shared refs.
pub const CONFLICTS: &str = "conflicts";
/// The folder of commits that broke a rule, within the conflicts.
pub const SET_ASIDE: &str = "set-aside";
/// The folder of ended sessions, in the tree of a repository's sessions.
pub const ENDED: &str = "ended";
/// The folder of baselines in an inbox's tree.
pub const BASELINES: &str = "baselines";
/// The folder of trees at the time of joining, in a shared inbox's tree.
pub const JOINED: &str = "joined";

/// Returns the name in a file name of the form `<name>.json`.
pub fn stem<T: std::str::FromStr>(file_name: &str) -> Option<T> {
    file_name.strip_suffix(".json")?.parse().ok()
}
