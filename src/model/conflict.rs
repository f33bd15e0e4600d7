//! Conflicts: two machines wrote the same thing differently, and a merge could not combine both. One side wins, and
//! the other is recorded in the realm, identically on every machine, until someone resolves the conflict.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{
    name::{ContractName, DomainName, RepoName},
    set_aside::SetAside,
    text::count,
    version::Version,
};

/// The code of [`Conflict::Repo`].
pub const NAME_CONFLICT: &str = "name-conflict";
/// The code of [`Conflict::Lost`].
pub const NOT_OWNER: &str = "not-owner";

/// A conflict between two machines.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Conflict {
    /// Two documents under one version, or with two owners.
    Contract(ContractName, Version),
    /// The binding of one repository.
    Binding(RepoName),
    /// Two repositories with one name.
    Repo(RepoName),
    /// A commit that broke a rule.
    SetAside(SetAside),
    /// A contract that two repositories created, in the one that does not own it.
    Lost(LostContract),
}

/// A contract that a repository published from a file, although another one, which also created it, owns it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LostContract {
    /// The contract.
    pub contract: ContractName,
    /// The repository that owns it.
    pub owner: RepoName,
    /// The file, relative to the root of the repository that lost it.
    pub file: String,
}

/// The current state of a contract in conflict.
#[derive(Debug, Clone, Default)]
pub struct Standing<'d> {
    /// The owner of the contract, if only another repository can resolve the conflict.
    pub elsewhere: Option<&'d RepoName>,
    /// Whether a later version has been published.
    pub is_superseded: bool,
    /// The step that writes a new version, if the contract's file says `version: auto` and can therefore not be bumped.
    pub write_version: Option<String>,
}

impl Conflict {
    /// Returns its stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Contract(..) => "version-conflict",
            Self::Binding(_) => "binding-conflict",
            Self::Repo(_) => NAME_CONFLICT,
            Self::SetAside(_) => "set-aside",
            Self::Lost(_) => NOT_OWNER,
        }
    }

    /// Returns a sentence that explains the conflict.
    pub fn meaning(&self, domain: Option<&DomainName>) -> String {
        let within = domain.map(|domain| format!("{domain}/")).unwrap_or_default();
        match self {
            Self::Contract(name, version) => {
                format!("{within}{name} {version} was published twice, with different content, on two machines")
            }
            Self::Binding(repo) => {
                let place = domain.map(|domain| format!(" in {domain}")).unwrap_or_default();
                format!("two machines wrote the binding of {repo}{place} independently")
            }
            Self::Repo(repo) => format!("two repositories joined as {repo}, on two machines"),
            Self::SetAside(record) => broken(record, &within),
            Self::Lost(LostContract { contract, owner, file }) => format!(
                "{file} declares {within}{contract}, but {owner} also created it, on another machine, and owns it now"
            ),
        }
    }

    /// Returns the steps that resolve the conflict, in order: commands, or advice if another repository has to run
    /// them.
    pub fn resolution(&self, domain: Option<&DomainName>, standing: Standing<'_>) -> Vec<String> {
        let within = domain.map(|domain| format!("{domain}/")).unwrap_or_default();
        match self {
            Self::Contract(name, version) => {
                let bump = format!(
                    "git blue contract bump {within}{name}  # once its file has the intended content; then commit"
                );
                let bump = standing.write_version.unwrap_or(bump);
                let yank = format!("git blue contract yank {within}{name} {version} --reason \"published twice\"");
                let steps = (!standing.is_superseded).then_some(bump).into_iter().chain([yank]);
                match standing.elsewhere {
                    // Commands are run in this repository, which may not change the contract.
                    Some(owner) => steps.map(|step| format!("in {owner}: {}", step.replace("  # ", ", "))).collect(),
                    None => steps.collect(),
                }
            }
            Self::Binding(repo) => vec![format!("git blue contract publish  # in {repo}, at the intended commit")],
            Self::SetAside(record) => vec![
                format!("git blue realm conflict reject {}  # reject the change", record.id()),
                format!("git blue realm conflict accept {}  # accept the change{}", record.id(), owners_to_ask(record)),
            ],
            Self::Lost(LostContract { contract, owner, file }) => vec![
                format!("rename {file} and the contract in it, and commit"),
                format!("git rm :/{file} && git blue import {within}{contract}  # or use the contract of {owner}"),
            ],
            Self::Repo(repo) => vec![
                format!(
                    "edit repo: in .blue/config.yaml of the repository that should not be {repo}, then run git blue init"
                ),
                format!(
                    "git blue realm admin reclaim --reason \"…\"  # or, if that one is gone, in the {repo} that stays"
                ),
            ],
        }
    }
}

/// The maximum number of files that a sentence names.
const MAX_NAMED: usize = 3;

/// Describes which rules a commit broke, and who wrote it.
fn broken(record: &SetAside, within: &str) -> String {
    let named = record.changes.iter().take(MAX_NAMED).map(|one| format!("{} ({within}{})", one.rule, one.path));
    let more = record.changes.len().saturating_sub(MAX_NAMED);
    let more = (more > 0).then(|| count(more, "more file", "more files"));
    let what: Vec<_> = named.chain(more).collect();
    let committer = Some(&record.committer).filter(|committer| **committer != record.author);
    let committer = committer.map(|committer| format!(", committed by {committer}")).unwrap_or_default();
    let SetAside { commit, author, time, .. } = record;
    format!("set aside: commit {}, {time}, by {author}{committer}: {}", commit.short(), what.join("; "))
}

/// Names the repositories whose owners may accept a change.
fn owners_to_ask(record: &SetAside) -> String {
    let owners: BTreeSet<_> = record.changes.iter().flat_map(|one| &one.owners).map(ToString::to_string).collect();
    if owners.is_empty() {
        String::new()
    } else {
        format!(", in {}", owners.into_iter().collect::<Vec<_>>().join(" or "))
    }
}

/// The conflicts of one domain.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conflicts {
    /// Versions with several documents.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub contracts: BTreeMap<ContractName, BTreeSet<Version>>,
    /// Repositories with two conflicting bindings.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub bindings: BTreeSet<RepoName>,
    /// Commits that broke a rule and are still undecided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set_aside: Vec<SetAside>,
}

impl Conflicts {
    /// Returns whether no conflict is recorded.
    pub fn is_empty(&self) -> bool {
        self.contracts.is_empty() && self.bindings.is_empty() && self.set_aside.is_empty()
    }

    /// Returns the unresolved conflicts. A conflict about a yanked version counts as resolved.
    pub fn open(&self, is_yanked: impl Fn(&ContractName, &Version) -> bool) -> Vec<Conflict> {
        let contracts = self.contracts.iter().flat_map(|(name, versions)| versions.iter().map(move |one| (name, one)));
        let contracts = contracts.filter(|(name, version)| !is_yanked(name, version));
        let contracts = contracts.map(|(name, version)| Conflict::Contract(name.clone(), version.clone()));
        let bindings = self.bindings.iter().cloned().map(Conflict::Binding);
        contracts.chain(bindings).chain(self.set_aside.iter().cloned().map(Conflict::SetAside)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{next_step::NextStep, set_aside::tests::record};

    #[test]
    fn sentences_name_the_domain() {
        let domain = "orders".parse().unwrap();
        let binding = Conflict::Binding("shop".parse().unwrap());
        assert_eq!(binding.meaning(Some(&domain)), "two machines wrote the binding of shop in orders independently");
        assert_eq!(binding.meaning(None), "two machines wrote the binding of shop independently");
    }

    /// As commands they would be run here, where they fail.
    #[test]
    fn steps_of_another_repository_are_no_commands() {
        let (domain, owner) = ("orders".parse().unwrap(), "shop".parse().unwrap());
        let conflict = Conflict::Contract("placed".parse().unwrap(), "1.1.0".parse().unwrap());
        let standing = Standing { elsewhere: Some(&owner), ..Standing::default() };
        let steps = conflict.resolution(Some(&domain), standing);
        let steps: Vec<_> = steps.iter().map(|step| NextStep::from(step.as_str())).collect();
        assert!(steps.iter().all(|step| step.command().is_none()), "{steps:?}");
        let bump = "in shop: git blue contract bump orders/placed, once its file has the intended content; then commit";
        assert_eq!(steps.first(), Some(&NextStep::advice(bump)));
    }

    #[test]
    fn further_files_are_counted() {
        let end =
            |paths: &[&str]| Conflict::SetAside(record(paths)).meaning(None).rsplit("; ").next().unwrap().to_owned();
        assert_eq!(end(&["a", "b", "c", "d"]), "1 more file");
        assert_eq!(end(&["a", "b", "c", "d", "e"]), "2 more files");
    }
}
