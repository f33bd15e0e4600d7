//! The file of `realm admin bootstrap`: the repositories, domains and bindings that a realm must have. Missing ones
//! are created.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::{
    binding::{Binding, KEPT_BY_THE_REALM},
    name::{DomainName, RepoName},
};
use crate::model::realm::Cycles;

/// The content of the file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Blueprint {
    /// The policy for cycles; if absent, the realm's policy applies.
    pub cycles: Option<Cycles>,
    /// Repositories.
    #[serde(default)]
    pub repos: Vec<PlannedRepo>,
    /// Domains.
    #[serde(default)]
    pub domains: Vec<PlannedDomain>,
}

/// A repository that the realm must have.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedRepo {
    /// Its name.
    pub name: RepoName,
    /// The URL to clone from. A clone that joins under this name must have it as its origin.
    pub url: Option<String>,
}

/// A domain that must exist.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedDomain {
    /// Its name.
    pub name: DomainName,
    /// Its purpose.
    pub description: Option<String>,
    /// The repositories that are members.
    #[serde(default)]
    pub repos: Vec<RepoName>,
    /// The bindings of the members.
    #[serde(default)]
    pub bindings: Vec<PlannedBinding>,
}

/// The binding of a repository.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedBinding {
    /// The repository.
    pub repo: RepoName,
    /// Its exports and imports, as in the repository's own `.blue/bindings/`.
    pub binding: Binding,
}

impl Blueprint {
    /// Returns all contradictions, in file order.
    pub fn contradictions(&self) -> Vec<String> {
        let mut found = Vec::new();
        let repos = self.repos.iter().map(|repo| ("repository", repo.name.as_str()));
        found.extend(twice(repos));
        found.extend(twice(self.domains.iter().map(|domain| ("domain", domain.name.as_str()))));
        for domain in &self.domains {
            let parts = domain.bindings.iter().map(|part| ("binding of", part.repo.as_str()));
            found.extend(twice(parts).into_iter().map(|problem| format!("{}: {problem}", domain.name)));
            for PlannedBinding { repo, binding } in &domain.bindings {
                let of = format!("{}: {repo}", domain.name);
                if !domain.repos.contains(repo) {
                    found.push(format!("{of} has a binding, but is not listed in the repos of the domain"));
                }
                found.extend(binding.contradiction().map(|problem| format!("{of}: {problem}")));
                if *binding != binding.as_written() {
                    found.push(format!("{of}: {KEPT_BY_THE_REALM} are set by the realm; remove them"));
                }
            }
        }
        found
    }
}

/// Finds names that occur twice, ignoring case.
fn twice<'a>(names: impl Iterator<Item = (&'static str, &'a str)>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let again = names.filter(|(_, name)| !seen.insert(name.to_ascii_lowercase()));
    again.map(|(what, name)| format!("the {what} {name} is listed twice")).collect()
}
