//! Finds who made the changes that a publication contains. Whoever pulls a commit publishes it as well, and so may CI.

use crate::{
    error::OpError,
    model::{candidate::Candidate, domain::Source, name::DomainName, oid::Oid},
    repo::{
        CodeRepo,
        blue_files::{self, CONTRACTS},
    },
    store::{Objects as _, StoreError, read},
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

/// Returns the newest commit, up to `tip`, that changed files of a domain since they were published. Returns `None` if
/// none did, as after a reset to an older commit.
///
/// # Errors
/// Returns an error if the repository cannot be read.
pub fn of(
    code: &CodeRepo,
    tip: &Oid,
    (domain, published): (&DomainName, Option<&Source>),
    candidate: &Candidate,
) -> Result<Option<ChangedBy>, OpError> {
    let (contracts, binding) = (format!("{CONTRACTS}/{domain}"), blue_files::binding(domain));
    let is_of_domain = |document: &str| document == binding || document.starts_with(&format!("{contracts}/"));
    let referred = candidate.referred.iter().filter(|(_, document)| is_of_domain(document)).map(|(file, _)| file);
    let paths: Vec<&String> = [&contracts, &binding].into_iter().chain(referred).collect();
    let content = |commit: &Oid| {
        let tree = code.tree_of(commit)?;
        let of = |path: &&String| Ok(read::lookup(code, &tree, path)?.map(|entry| entry.id));
        paths.iter().map(of).collect::<Result<Vec<_>, StoreError>>()
    };
    let published = published.map(|source| source.commit).filter(|commit| code.has(commit));
    let wanted = content(tip)?;
    let mut found = *tip;
    for _ in 0..MAX_HISTORY {
        if Some(found) == published {
            return Ok(None);
        }
        let info = code.commit(&found)?;
        // A shallow clone lacks the parents of its oldest commits.
        let is_same = |parent: &&Oid| content(parent).is_ok_and(|content| content == wanted);
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
