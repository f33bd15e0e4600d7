//! Finds who made the changes that a publication contains. Whoever pulls a commit publishes it as well, and so may CI.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    error::OpError,
    model::{
        candidate::Candidate,
        change::DomainChange,
        name::{ContractName, DomainName},
        oid::Oid,
    },
    repo::{
        CodeRepo,
        blue_files::{self, CONTRACTS, contract_path},
    },
    store::{Objects as _, codec, read},
};

/// The maximum number of commits that are searched.
const MAX_HISTORY: usize = 1_000;

/// The commit of the repository that made a change.
#[derive(Debug, Clone)]
pub struct ChangedBy {
    /// The commit.
    pub commit: Oid,
    /// Its author, as `Name <email>`.
    pub author: String,
}

/// Returns the newest commit, up to `tip`, that made the changes. This is the newest one after the last published
/// commit that changed a file of the contracts of which `changes` contain a version or, if they contain none, any file
/// of the domain. Returns `None` if there is no such commit, as after a reset to an older commit.
///
/// # Errors
/// Returns an error if the repository cannot be read.
pub fn of(
    code: &CodeRepo,
    tip: &Oid,
    (domain, published): (&DomainName, Option<Oid>),
    candidate: &Candidate,
    changes: &[DomainChange],
) -> Result<Option<ChangedBy>, OpError> {
    let versions: BTreeSet<&ContractName> = changes.iter().filter_map(version_of).collect();
    let mut paths: BTreeMap<String, Option<&ContractName>> =
        versions.iter().map(|name| (contract_path(domain, name), Some(*name))).collect();
    if versions.is_empty() {
        paths.extend([(format!("{CONTRACTS}/{domain}"), None), (blue_files::binding(domain), None)]);
    }
    let is_one = |document: &str| {
        paths
            .keys()
            .any(|path| document.strip_prefix(&**path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    };
    let referred: Vec<_> = candidate.referred.iter().filter(|(_, document)| is_one(document)).collect();
    paths.extend(referred.into_iter().map(|(file, _)| (file.clone(), None)));
    let keys: Vec<_> = paths.keys().map(String::as_str).collect();
    let content = |commit: &Oid| {
        let tree = code.tree_of(commit)?;
        read::lookup_all(code, &tree, &keys)
    };
    let published = published.filter(|commit| code.has(commit));
    let wanted = content(tip)?;
    let mut found = *tip;
    for _ in 0..MAX_HISTORY {
        if Some(found) == published {
            return Ok(None);
        }
        let info = code.commit(&found)?;
        // A shallow clone lacks the parents of its oldest commits.
        let is_same = |parent: &&Oid| {
            let same = |found: Vec<_>| {
                let mut pairs = found.into_iter().zip(&wanted).zip(paths.values());
                pairs.all(|((one, other), contract)| one == *other || is_same_version(code, *contract, one, *other))
            };
            content(parent).is_ok_and(same)
        };
        match info.parents.iter().find(is_same) {
            Some(parent) => found = *parent,
            None => {
                let is_older = published.map_or(Ok(false), |published| code.is_ancestor(&found, &published))?;
                return Ok((!is_older).then_some(ChangedBy { commit: found, author: info.author }));
            }
        }
    }
    Ok(None)
}

fn version_of(change: &DomainChange) -> Option<&ContractName> {
    match change {
        DomainChange::Version(contract) => Some(&contract.name),
        _ => None,
    }
}

/// Returns whether two files of a contract have the same version and content, and differ only in comments or
/// descriptions.
fn is_same_version(code: &CodeRepo, contract: Option<&ContractName>, one: Option<Oid>, other: Option<Oid>) -> bool {
    let content = |file: Option<Oid>| {
        let document = codec::contract(&code.blob(&file?).ok()?, contract?).ok()?;
        Some((document.version.clone(), document.computed_content_hash()))
    };
    content(one).is_some_and(|one| content(other) == Some(one))
}
