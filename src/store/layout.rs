//! Where things lie: the refs of a realm's store and the paths of their trees. Both are built from
//! parsed names alone.

use std::fmt;

use crate::model::{
    approval::Fingerprint,
    merge::LossId,
    name::{ContractName, DomainName, ReaderName, RemoteName, RepoName},
    session::SessionId,
    version::Version,
};

/// A ref of a realm's store.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StoreRef {
    /// The realm itself: its format, name and repositories.
    Realm,
    /// One domain.
    Domain(DomainName),
    /// The sessions of a repository.
    Sessions(RepoName),
    /// What a repository's readers were told: one reader's, or the repository's shared inbox.
    Inbox(RepoName, Option<ReaderName>),
    /// Where a remote's copy of a ref that travels was, when it was looked at last.
    Seen(RemoteName, Box<StoreRef>),
    /// What this machine knows of when changes of a domain came to it.
    Arrivals(DomainName),
    /// What a receiver outside of git was sent, and what waits for it.
    Receiver(ReaderName),
}

/// Where the refs that travel lie.
pub const TRAVELLING: &str = "refs/blue/";

/// Where the refs of domains lie.
pub const DOMAINS: &str = "refs/blue/domains/";
/// Where the refs of arrivals lie.
const ARRIVALS: &str = "refs/blue/local/arrivals/";
/// Where the refs of receivers lie.
const RECEIVERS: &str = "refs/blue/local/notify/";
/// Where the refs of sessions lie.
pub const SESSIONS: &str = "refs/blue/sessions/";
/// Where the refs of inboxes lie.
pub const INBOXES: &str = "refs/blue/local/inbox/";
/// Where the refs lie that tell what remotes held.
pub const SEEN: &str = "refs/blue-remotes/";

impl StoreRef {
    /// Returns the inbox whose ref has this full name, if it is one.
    pub fn inbox(full_name: &str) -> Option<Self> {
        let (repo, rest) = full_name.strip_prefix(INBOXES)?.split_once('/')?;
        let reader = match rest.split_once('/') {
            None if rest == "shared" => None,
            Some(("reader", reader)) => Some(reader.parse().ok()?),
            _ => return None,
        };
        Some(Self::Inbox(repo.parse().ok()?, reader))
    }

    /// Returns the ref that travels and has this full name, if it is one.
    pub fn travelling(full_name: &str) -> Option<Self> {
        if full_name == "refs/blue/realm" {
            return Some(Self::Realm);
        }
        let domain = full_name.strip_prefix(DOMAINS).and_then(|name| name.parse().ok()).map(Self::Domain);
        domain.or_else(|| full_name.strip_prefix(SESSIONS)?.parse().ok().map(Self::Sessions))
    }

    /// Returns the record of a remote's ref that has this full name, if it is one.
    pub fn seen(full_name: &str) -> Option<Self> {
        let (remote, rest) = full_name.strip_prefix(SEEN)?.split_once('/')?;
        let of = Self::travelling(&format!("{TRAVELLING}{rest}"))?;
        Some(Self::Seen(remote.parse().ok()?, Box::new(of)))
    }

    /// Returns the domain, where it is one's ref.
    pub fn domain(&self) -> Option<&DomainName> {
        match self {
            Self::Domain(domain) => Some(domain),
            _ => None,
        }
    }

    /// Returns the name below `refs/blue/`, for those that travel; remotes may keep them elsewhere.
    pub fn below_travelling(&self) -> String {
        let name = self.to_string();
        name.strip_prefix(TRAVELLING).map(str::to_owned).unwrap_or(name)
    }

    /// Returns whether the ref is this machine's own. Such a ref is written without flushing, and
    /// losing it means telling twice.
    pub fn is_local(&self) -> bool {
        matches!(self, Self::Inbox(..) | Self::Arrivals(_) | Self::Seen(..) | Self::Receiver(_))
    }

    /// Returns the name of the lock that guards writing it, distinct for each ref that travels.
    /// No domain is named like it: names do not start with `_`.
    pub fn lock_name(&self) -> String {
        match self {
            Self::Realm => "_realm".into(),
            Self::Domain(domain) => domain.to_string(),
            Self::Sessions(repo) => format!("_sessions-{repo}"),
            Self::Inbox(..) | Self::Arrivals(_) | Self::Seen(..) | Self::Receiver(_) => "_local".into(),
        }
    }
}

impl fmt::Display for StoreRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Realm => f.write_str("refs/blue/realm"),
            Self::Domain(domain) => write!(f, "{DOMAINS}{domain}"),
            Self::Arrivals(domain) => write!(f, "{ARRIVALS}{domain}"),
            Self::Receiver(name) => write!(f, "{RECEIVERS}{name}"),
            Self::Sessions(repo) => write!(f, "{SESSIONS}{repo}"),
            Self::Inbox(repo, None) => write!(f, "{INBOXES}{repo}/shared"),
            Self::Inbox(repo, Some(reader)) => write!(f, "{INBOXES}{repo}/reader/{reader}"),
            Self::Seen(remote, of) => write!(f, "{SEEN}{remote}/{}", of.below_travelling()),
        }
    }
}

/// A path within a tree of the store, from its root, with `/` between its parts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TreePath(String);

impl TreePath {
    /// Returns the path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns its parts, from the root.
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }

    /// Returns this path below `folder`.
    pub fn below(&self, folder: &Self) -> Self {
        Self(format!("{folder}/{self}"))
    }
}

impl fmt::Display for TreePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `realm.json`: the realm's format and name.
pub fn realm() -> TreePath {
    TreePath("realm.json".into())
}

/// `repos/<repo>.json`: a repository that joined.
pub fn repo(name: &RepoName) -> TreePath {
    TreePath(format!("{REPOS}/{name}.json"))
}

/// `domain.json`: what a domain says of itself.
pub fn domain() -> TreePath {
    TreePath("domain.json".into())
}

/// `contracts/<name>.json`: a contract's current document.
pub fn contract(name: &ContractName) -> TreePath {
    TreePath(format!("{CONTRACTS}/{name}.json"))
}

/// `versions/<name>`: the folder of a contract's published documents.
pub fn versions(name: &ContractName) -> TreePath {
    TreePath(format!("{VERSIONS}/{name}"))
}

/// `versions/<name>/<version>.json`: one published document, never changed.
pub fn version(name: &ContractName, version: &Version) -> TreePath {
    TreePath(format!("{VERSIONS}/{name}/{version}.json"))
}

/// `bindings/<repo>.json`: the part a repository plays.
pub fn binding(repo: &RepoName) -> TreePath {
    TreePath(format!("{BINDINGS}/{repo}.json"))
}

/// `sources/<repo>.json`: which commit of a repository was published last.
pub fn source(repo: &RepoName) -> TreePath {
    TreePath(format!("{SOURCES}/{repo}.json"))
}

/// `transfers/<contract>.json`: to whom a contract was handed over.
pub fn transfers(name: &ContractName) -> TreePath {
    TreePath(format!("{TRANSFERS}/{name}.json"))
}

/// `approvals/<contract>/<fingerprint>.json`: a break of a promise that the owner approved.
pub fn approval(name: &ContractName, fingerprint: &Fingerprint) -> TreePath {
    TreePath(format!("{APPROVALS}/{name}/{fingerprint}.json"))
}

/// `renames/<repo>.json`: the name that a repository took instead of this one.
pub fn rename(name: &RepoName) -> TreePath {
    TreePath(format!("{RENAMES}/{name}.json"))
}

/// `conflicts/contracts/<name>/<version>/<id>.json`: a document that lost to another one of that
/// name, on a machine that did not know it.
pub fn lost_contract(name: &ContractName, version: &Version, id: &LossId) -> TreePath {
    TreePath(format!("{CONFLICTS}/{CONTRACTS}/{name}/{version}/{id}.json"))
}

/// `conflicts/bindings/<repo>/<id>.json`: a binding that lost to another one of that repository.
pub fn lost_binding(repo: &RepoName, id: &LossId) -> TreePath {
    TreePath(format!("{CONFLICTS}/{BINDINGS}/{repo}/{id}.json"))
}

/// `conflicts/bindings/<repo>`: the folder of all of them.
pub fn lost_bindings(repo: &RepoName) -> TreePath {
    TreePath(format!("{CONFLICTS}/{BINDINGS}/{repo}"))
}

/// `conflicts/repos/<repo>/<id>.json`: another repository that wanted the same name.
pub fn lost_repo(repo: &RepoName, id: &LossId) -> TreePath {
    TreePath(format!("{CONFLICTS}/{REPOS}/{repo}/{id}.json"))
}

/// `conflicts/set-aside/<id>.json`: a commit that broke a rule, named by its first digits.
pub fn set_aside(id: &LossId) -> TreePath {
    TreePath(format!("{CONFLICTS}/{SET_ASIDE}/{id}.json"))
}

/// `<id>.json`: a session that goes on.
pub fn session(id: &SessionId) -> TreePath {
    TreePath(format!("{id}.json"))
}

/// `ended/<id>.json`: a session that is over, out of the way of those who look for the others.
pub fn ended_session(id: &SessionId) -> TreePath {
    TreePath(format!("{ENDED}/{id}.json"))
}

/// `baselines/<domain>`: in an inbox, the domain's tree as the reader last knew it.
pub fn baseline(domain: &DomainName) -> TreePath {
    TreePath(format!("{BASELINES}/{domain}"))
}

/// `joined/<domain>`: in a shared inbox, the domain's tree as it was when the repository joined it.
pub fn joined(domain: &DomainName) -> TreePath {
    TreePath(format!("{JOINED}/{domain}"))
}

/// `told.json`: in an inbox, what was told in the last 30 days.
pub fn told() -> TreePath {
    TreePath("told.json".into())
}

/// `queue.json`: in what a receiver was sent, what waits for it and what was given up.
pub fn queue() -> TreePath {
    TreePath("queue.json".into())
}

/// `known`: in what is known of arrivals, the domain's tree as this machine knew it last.
pub fn known() -> TreePath {
    TreePath("known".into())
}

/// `arrived.json`: what came by other hands, and when.
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
/// The folder of hand-overs of contracts in a domain's tree.
pub const TRANSFERS: &str = "transfers";
/// The folder of approved breaks in a domain's tree.
pub const APPROVALS: &str = "approvals";
/// The folder of names that repositories had before in the realm's tree.
pub const RENAMES: &str = "renames";
/// The folder of last published commits in a domain's tree.
pub const SOURCES: &str = "sources";
/// The folder of what lost where two machines wrote the same, in the trees that travel.
pub const CONFLICTS: &str = "conflicts";
/// The folder of commits that broke a rule, among the conflicts.
pub const SET_ASIDE: &str = "set-aside";
/// The folder of sessions that are over, in the tree of a repository's sessions.
pub const ENDED: &str = "ended";
/// The folder of known trees in an inbox's tree.
pub const BASELINES: &str = "baselines";
/// The folder of trees as they were on joining, in a shared inbox's tree.
pub const JOINED: &str = "joined";

/// Returns the name in a file name `<name>.json`, if it is one.
pub fn stem<T: std::str::FromStr>(file_name: &str) -> Option<T> {
    file_name.strip_suffix(".json")?.parse().ok()
}
