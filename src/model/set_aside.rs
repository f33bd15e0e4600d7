//! The record of a commit that broke a rule of the realm. Its forbidden changes are not applied. The record is the
//! same on every machine until someone settles it.

use std::{collections::BTreeMap, fmt};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    merge::ConflictId,
    name::{ContractName, RepoName},
    oid::Oid,
};

/// A rule that every commit of a realm must follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// A published version is never changed.
    VersionChanged,
    /// A published version is never deleted.
    VersionRemoved,
    /// Only the owner of a contract may change it.
    ContractChanged,
    /// A contract is retired, never deleted.
    ContractRemoved,
    /// Only a member itself may leave a domain; others may not remove it.
    MemberRemoved,
    /// Only the repository itself may change its URL. Its root commits are never removed.
    IdentityChanged,
    /// Only the repository itself may change its binding.
    BindingChanged,
    /// Only the repository itself may record its last published commit.
    SourceChanged,
    /// The files that describe the realm, and its records of conflicts, are never deleted.
    RecordRemoved,
    /// Only a merge may record a conflict, and only a repository may settle it.
    RecordChanged,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::VersionChanged => "a published version was changed",
            Self::VersionRemoved => "a published version was deleted",
            Self::ContractChanged => "a repository other than the owner changed the contract",
            Self::ContractRemoved => "the contract was deleted",
            Self::MemberRemoved => "another repository removed the member",
            Self::IdentityChanged => "the repository's URL or root commits were changed",
            Self::BindingChanged => "another repository changed the binding",
            Self::SourceChanged => "another repository changed the last published commit",
            Self::RecordRemoved => "a record of the realm was deleted",
            Self::RecordChanged => "a record of a conflict was added or changed",
        })
    }
}

/// One file that a commit changed in violation of a rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleViolation {
    /// The file, in the tree of the ref.
    pub path: String,
    /// The rule.
    pub rule: Rule,
    /// The repositories that own the file.
    pub owners: Vec<RepoName>,
    /// The contract, if the file concerns one.
    pub contract: Option<ContractName>,
    /// The content that was kept; null if there was no such file.
    pub kept: Option<Oid>,
    /// The content that was refused; null if the file was deleted.
    pub refused: Option<Oid>,
}

/// The way in which a conflict was settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// The change was accepted.
    Accepted,
    /// The change was rejected: the previous content stays.
    #[serde(alias = "undone")]
    Rejected,
}

/// The settlement of a conflict, and its author.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settled {
    /// The decision.
    pub verdict: Decision,
    /// The repository that settled it.
    pub by: RepoName,
}

/// A commit with changes that were set aside.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetAside {
    /// The commit.
    pub commit: Oid,
    /// Its author, as `Name <email>`.
    pub author: String,
    /// Its committer, as `Name <email>`.
    pub committer: String,
    /// The time of the commit, as recorded in the commit.
    pub time: jiff::Timestamp,
    /// The files that the commit changed in violation of a rule.
    pub changes: Vec<RuleViolation>,
    /// The settlement; absent while the conflict is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settled: Option<Settled>,
}

impl SetAside {
    /// Returns its id: the first digits of the commit.
    pub fn id(&self) -> ConflictId {
        ConflictId::of_commit(&self.commit)
    }

    /// Returns whether the conflict is still undecided.
    pub fn is_open(&self) -> bool {
        self.settled.is_none()
    }

    /// Returns whether the change was accepted.
    pub fn is_accepted(&self) -> bool {
        self.settled.as_ref().is_some_and(|settled| settled.verdict == Decision::Accepted)
    }

    /// Returns whether one of the changed files belongs to `repo`.
    pub fn is_owned_by(&self, repo: &RepoName) -> bool {
        self.changes.iter().any(|one| one.owners.contains(repo))
    }

    /// Returns the changes that `repo` may accept.
    pub fn acceptable_by<'s>(&'s self, repo: &'s RepoName) -> impl Iterator<Item = &'s RuleViolation> {
        self.changes.iter().filter(|change| change.owners.is_empty() || change.owners.contains(repo))
    }

    /// Returns the changes that were accepted: those that the repository that settled the conflict may accept.
    pub fn accepted(&self) -> impl Iterator<Item = &RuleViolation> {
        let by = self.settled.as_ref().filter(|settled| settled.verdict == Decision::Accepted);
        by.into_iter().flat_map(|settled| self.acceptable_by(&settled.by))
    }

    /// Returns whether the repository that settled the conflict may do so: only an owner may accept, anyone may reject.
    pub fn may_be_settled(&self) -> bool {
        !self.is_accepted() || self.accepted().next().is_some()
    }

    /// Merges two records of one commit. Accepting it outweighs rejecting it.
    #[must_use]
    pub fn merged_with(&self, other: &Self) -> Self {
        let mut changes: BTreeMap<&str, &RuleViolation> = BTreeMap::new();
        for one in self.changes.iter().chain(&other.changes) {
            let held = changes.entry(&one.path).or_insert(one);
            *held = (*held).min(one);
        }
        Self {
            changes: changes.into_values().cloned().collect(),
            settled: [&self.settled, &other.settled].into_iter().flatten().min().cloned(),
            ..self.clone()
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns the record of a commit that violated a rule in these files.
    pub fn record(paths: &[&str]) -> SetAside {
        let violation = |path: &&str| RuleViolation {
            path: (*path).to_owned(),
            rule: Rule::ContractRemoved,
            owners: vec!["fungal".parse().unwrap()],
            contract: None,
            kept: None,
            refused: None,
        };
        SetAside {
            commit: Oid::from_bytes(&[1; 20]).unwrap(),
            author: "A <a@x>".into(),
            committer: "A <a@x>".into(),
            time: jiff::Timestamp::UNIX_EPOCH,
            changes: paths.iter().map(violation).collect(),
            settled: None,
        }
    }

    #[test]
    fn merging_records_of_one_commit_is_symmetric() {
        let settled = |verdict| Some(Settled { verdict, by: "fungal".parse().unwrap() });
        let one = SetAside { settled: settled(Decision::Rejected), ..record(&["a", "b"]) };
        let other = SetAside { settled: settled(Decision::Accepted), ..record(&["b", "c"]) };
        assert_eq!(one.merged_with(&other), other.merged_with(&one));
        assert_eq!(one.merged_with(&other).changes.len(), 3);
        assert!(one.merged_with(&other).is_accepted());
        assert_eq!(one.id().to_string(), "010101010101");
    }
}
