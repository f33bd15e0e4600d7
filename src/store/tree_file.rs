//! Parses the paths in the trees of a store. Any other path from a remote is refused.

use crate::model::{
    approval::Fingerprint,
    merge::ConflictId,
    name::{ContractName, RepoName},
    session::SessionId,
    version::Version,
};
use crate::store::{
    StoreRef, TreePath,
    layout::{
        self, APPROVALS, BINDINGS, CONFLICTS, CONTRACTS, ENDED, RENAMES, REPOS, SET_ASIDE, SOURCES, TRANSFERS,
        VERSIONS, stem,
    },
};

/// The purpose of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum TreeFile {
    /// `realm.json`.
    Realm,
    /// A repository of the realm.
    Repo(RepoName),
    /// Another repository that claimed the same name.
    LosingRepo(RepoName, ConflictId),
    /// `domain.json`.
    Domain,
    /// A contract's current document.
    Contract(ContractName),
    /// A published document.
    Version(ContractName, Version),
    /// A repository's binding.
    Binding(RepoName),
    /// The last published commit of a repository.
    Source(RepoName),
    /// The transfers of a contract to other owners.
    Transfers(ContractName),
    /// A breaking change that the owner of a contract approved.
    Approval(ContractName, Fingerprint),
    /// The new name of a repository.
    Rename(RepoName),
    /// The losing document of a conflict about a contract.
    LosingContract(ContractName, Version, ConflictId),
    /// The losing side of a conflict about a binding.
    LosingBinding(RepoName, ConflictId),
    /// A commit that broke a rule.
    SetAside(ConflictId),
    /// An open session.
    Session(SessionId),
    /// A session that has ended.
    EndedSession(SessionId),
}

impl TreeFile {
    /// Parses a path in the tree of a ref. Returns `None` if the ref cannot have such a file.
    pub fn parse(within: &StoreRef, path: &[&str]) -> Option<Self> {
        match (within, path) {
            (StoreRef::Realm, ["realm.json"]) => Some(Self::Realm),
            (StoreRef::Realm, [REPOS, file]) => stem(file).map(Self::Repo),
            (StoreRef::Realm, [RENAMES, file]) => stem(file).map(Self::Rename),
            (StoreRef::Realm, [CONFLICTS, REPOS, repo, file]) => {
                Some(Self::LosingRepo(repo.parse().ok()?, stem(file)?))
            }
            (StoreRef::Realm | StoreRef::Domain(_), [CONFLICTS, SET_ASIDE, file]) => stem(file).map(Self::SetAside),
            (StoreRef::Domain(_), ["domain.json"]) => Some(Self::Domain),
            (StoreRef::Domain(_), [CONTRACTS, file]) => stem(file).map(Self::Contract),
            (StoreRef::Domain(_), [VERSIONS, name, file]) => Some(Self::Version(name.parse().ok()?, stem(file)?)),
            (StoreRef::Domain(_), [BINDINGS, file]) => stem(file).map(Self::Binding),
            (StoreRef::Domain(_), [SOURCES, file]) => stem(file).map(Self::Source),
            (StoreRef::Domain(_), [TRANSFERS, file]) => stem(file).map(Self::Transfers),
            (StoreRef::Domain(_), [APPROVALS, name, file]) => Some(Self::Approval(name.parse().ok()?, stem(file)?)),
            (StoreRef::Domain(_), [CONFLICTS, CONTRACTS, name, version, file]) => {
                Some(Self::LosingContract(name.parse().ok()?, version.parse().ok()?, stem(file)?))
            }
            (StoreRef::Domain(_), [CONFLICTS, BINDINGS, repo, file]) => {
                Some(Self::LosingBinding(repo.parse().ok()?, stem(file)?))
            }
            (StoreRef::Sessions(_), [ENDED, file]) => stem(file).map(Self::EndedSession),
            (StoreRef::Sessions(_), [file]) => stem(file).map(Self::Session),
            _ => None,
        }
    }

    /// Returns its path.
    pub fn path(&self) -> TreePath {
        match self {
            Self::Realm => layout::realm(),
            Self::Repo(repo) => layout::repo(repo),
            Self::LosingRepo(repo, id) => layout::losing_repo(repo, id),
            Self::Domain => layout::domain(),
            Self::Contract(name) => layout::contract(name),
            Self::Version(name, version) => layout::version(name, version),
            Self::Binding(repo) => layout::binding(repo),
            Self::Source(repo) => layout::source(repo),
            Self::Transfers(name) => layout::transfers(name),
            Self::Approval(name, fingerprint) => layout::approval(name, fingerprint),
            Self::Rename(repo) => layout::rename(repo),
            Self::LosingContract(name, version, id) => layout::losing_contract(name, version, id),
            Self::LosingBinding(repo, id) => layout::losing_binding(repo, id),
            Self::SetAside(id) => layout::set_aside(id),
            Self::Session(id) => layout::session(id),
            Self::EndedSession(id) => layout::ended_session(id),
        }
    }

    /// Returns whether a merge never removes the file: once one machine has it, all get it.
    pub fn is_kept(&self) -> bool {
        match self {
            Self::Realm | Self::Domain | Self::Contract(_) | Self::Version(..) => true,
            Self::LosingContract(..) | Self::SetAside(_) | Self::Rename(_) | Self::Approval(..) => true,
            Self::LosingBinding(..) | Self::LosingRepo(..) => false,
            Self::Repo(_) | Self::Binding(_) | Self::Source(_) | Self::Transfers(_) => false,
            Self::Session(_) | Self::EndedSession(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_round_trip() {
        let domain = StoreRef::Domain("s3".parse().unwrap());
        let sessions = StoreRef::Sessions("fungal".parse().unwrap());
        let loss = "0123456789ab";
        for (within, path) in [
            (&StoreRef::Realm, "realm.json".to_owned()),
            (&StoreRef::Realm, "repos/fungal.json".to_owned()),
            (&StoreRef::Realm, format!("conflicts/repos/fungal/{loss}.json")),
            (&domain, "domain.json".to_owned()),
            (&domain, "contracts/paths.json".to_owned()),
            (&domain, "versions/paths/1.0.0-rc.1.json".to_owned()),
            (&domain, "bindings/fungal.json".to_owned()),
            (&domain, "sources/fungal.json".to_owned()),
            (&domain, "transfers/paths.json".to_owned()),
            (&StoreRef::Realm, "renames/fungal.json".to_owned()),
            (&domain, format!("conflicts/contracts/paths/1.0.0/{loss}.json")),
            (&domain, format!("conflicts/bindings/fungal/{loss}.json")),
            (&domain, format!("conflicts/set-aside/{loss}.json")),
            (&StoreRef::Realm, format!("conflicts/set-aside/{loss}.json")),
            (&sessions, "sess-12.json".to_owned()),
            (&sessions, "ended/sess-12.json".to_owned()),
        ] {
            let parts: Vec<_> = path.split('/').collect();
            let place = TreeFile::parse(within, &parts).unwrap_or_else(|| panic!("{path}"));
            assert_eq!(place.path().as_str(), path);
        }
        for path in
            ["contracts/..json", "contracts/../x.json", "contracts/a", "x.json", "versions/a/1.0.json", "hooks/a"]
        {
            let parts: Vec<_> = path.split('/').collect();
            assert_eq!(TreeFile::parse(&domain, &parts), None, "{path}");
        }
    }
}
