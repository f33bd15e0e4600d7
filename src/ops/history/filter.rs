//! Filters entries of logs and lists.

use jiff::Timestamp;

use super::difference::{Of, differences};
use crate::{
    error::OpError,
    model::{
        clock::Period,
        name::{ContractName, RepoName},
        notification::{self, ChangeType},
        oid::Oid,
    },
    store::Store,
    wire::LogEntry,
};

/// A filter of entries. Without conditions it accepts all of them.
#[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Filter {
    /// The time of the change
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub period: Period,
    /// Only changes by this repository
    #[serde(rename = "from_repo")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "REPO"))]
    pub repo: Option<RepoName>,
    /// Only changes of this kind
    #[serde(default, deserialize_with = "notification::kind")]
    #[schemars(schema_with = "notification::words")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "KIND", value_enum))]
    pub kind: Option<ChangeType>,
}

impl Filter {
    /// Returns whether the filter accepts a change of this kind, made at that time by that repository.
    pub fn accepts(&self, time: Timestamp, repo: &RepoName, kind: ChangeType, now: Timestamp) -> bool {
        self.is_within(time, Some(repo.as_str()), now) && self.kind.is_none_or(|wanted| wanted == kind)
    }

    /// Returns whether the filter accepts an entry of a log. In the log of a contract, only the changes of that
    /// contract count.
    ///
    /// # Errors
    /// Returns an error if the changes of the commit cannot be read.
    pub fn accepts_entry(
        &self,
        store: &dyn Store,
        entry: &LogEntry,
        contract: Option<&ContractName>,
        now: Timestamp,
    ) -> Result<bool, OpError> {
        if !self.is_within(entry.time, entry.repo.as_deref(), now) {
            return Ok(false);
        }
        match self.kind {
            Some(kind) if entry.domain.is_some() => makes(store, &entry.commit, kind, contract),
            Some(_) => Ok(false),
            None => Ok(true),
        }
    }

    fn is_within(&self, time: Timestamp, repo: Option<&str>, now: Timestamp) -> bool {
        self.period.contains(time, now) && self.repo.as_ref().is_none_or(|wanted| repo == Some(wanted.as_str()))
    }

    /// Returns whether the filter accepts everything.
    pub fn is_open(&self) -> bool {
        let Self { period: Period { since, until }, repo, kind } = self;
        since.is_none() && until.is_none() && repo.is_none() && kind.is_none()
    }
}

/// Returns whether a commit of a domain makes a change of a kind, by comparing its tree with its parent's.
fn makes(store: &dyn Store, id: &Oid, kind: ChangeType, contract: Option<&ContractName>) -> Result<bool, OpError> {
    let commit = store.commit(id)?;
    let before = commit.parents.first().map(|parent| store.commit(parent)).transpose()?;
    for difference in differences(store, before.as_ref().map(|before| &before.tree), &commit.tree)? {
        let is_meant = match (&difference.of, contract) {
            (_, None) => true,
            (Of::Contract(name), Some(wanted)) => name == wanted,
            (Of::Binding(_), Some(_)) => false,
        };
        if is_meant && difference.kind(store)? == Some(kind) {
            return Ok(true);
        }
    }
    Ok(false)
}
