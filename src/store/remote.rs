//! The remotes of a realm, and their answers.

use super::{StoreRef, layout};
use crate::model::{name::RemoteName, oid::Oid};

/// A remote of a realm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// Its name.
    pub name: RemoteName,
    /// Its URL.
    pub url: String,
    /// The names under which the remote stores the refs.
    pub mapping: Mapping,
}

/// The names that a remote uses for the refs of a realm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mapping {
    /// Under `refs/blue/`, as in a store.
    #[default]
    Plain,
    /// As branches under `refs/heads/blue/`, for remotes that accept or show nothing else.
    Branches,
}

impl Mapping {
    /// Returns the prefix of the names of the refs.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Plain => layout::SHARED,
            Self::Branches => "refs/heads/blue/",
        }
    }

    /// Returns the other mapping.
    pub fn other(self) -> Self {
        match self {
            Self::Plain => Self::Branches,
            Self::Branches => Self::Plain,
        }
    }

    /// Returns the name of a ref at the remote.
    pub fn there(self, name: &StoreRef) -> String {
        format!("{}{}", self.prefix(), name.shared_name())
    }

    /// Returns the shared ref that has this name at the remote, if there is one.
    pub fn here(self, full_name: &str) -> Option<StoreRef> {
        let below = full_name.strip_prefix(self.prefix())?;
        StoreRef::parse_shared(&format!("{}{below}", layout::SHARED))
    }
}

/// The refs of a remote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The refs of the realm, sorted: the realm's own first.
    pub refs: Vec<(StoreRef, Oid)>,
    /// The invalid names among its refs.
    pub ignored: Vec<String>,
    /// Whether the remote has a realm under the names of the other [`Mapping`].
    pub is_elsewhere: bool,
}

impl Listing {
    /// Returns the commit that a ref points to.
    pub fn tip(&self, name: &StoreRef) -> Option<Oid> {
        let found = self.refs.binary_search_by(|(listed, _)| listed.cmp(name));
        found.ok().map(|at| self.refs[at].1)
    }
}

/// The remote's answer for one pushed ref.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pushed {
    /// The ref.
    pub name: StoreRef,
    /// The refusal; `None` if the ref was accepted.
    pub refused: Option<Refusal>,
}

/// A refusal of a pushed ref.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The reason, as git reports it.
    pub reason: String,
    /// What the server printed during the push, in one line; it may be empty.
    pub server: String,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.reason)?;
        if self.server.is_empty() { Ok(()) } else { write!(f, ": {}", self.server) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_at_a_remote_round_trip() {
        for mapping in [Mapping::Plain, Mapping::Branches] {
            for name in ["refs/blue/realm", "refs/blue/domains/s3", "refs/blue/sessions/fungal"] {
                let name = StoreRef::parse_shared(name).unwrap();
                assert_eq!(mapping.here(&mapping.there(&name)), Some(name));
            }
        }
        for name in
            ["refs/blue/local/inbox/a/shared", "refs/blue/domains/..", "refs/heads/main", "refs/blue/domains/a/b"]
        {
            assert_eq!(Mapping::Plain.here(name), None, "{name}");
        }
    }
}
