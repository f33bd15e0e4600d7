//! Commits of one repository that machines published at the same time in a domain: what a commit has and lacks of them.

use std::collections::BTreeSet;

use super::{
    candidate::Sources,
    diverged::{RequiredCommits, is_dropped},
    published_files::PublishedCommits,
};
use crate::{
    error::OpError,
    model::{domain::Source, oid::Oid},
    repo::CodeRepo,
};

/// What a commit has of the commits that machines published concurrently.
#[derive(Debug, Clone, Copy)]
pub struct OneSide {
    /// One that it contains, if any.
    pub contained: Option<Oid>,
    /// One that it lacks.
    pub missing: Oid,
}

/// Returns what `commit` lacks of the commits that machines published concurrently, unless it lacks none. A commit that
/// this clone dropped is not missing.
///
/// # Errors
/// Returns an error if the repository cannot be read.
pub fn one_side(code: &CodeRepo, source: &Source, commit: &Oid) -> Result<Option<OneSide>, OpError> {
    let sides = &source.concurrent;
    // Without a common commit, another one may be of another repository, which took the same name until it was renamed.
    if source.commit.is_none() && !sides.contains(commit) {
        return Ok(None);
    }
    let (mut contained, mut missing) = (None, None);
    for side in sides {
        if contains(code, commit, side)? {
            contained = Some(*side);
        } else if !is_dropped(code, side)? {
            missing = Some(*side);
        }
    }
    Ok(missing.map(|missing| OneSide { contained, missing }))
}

/// Returns whether `commit` has a published one in its history.
///
/// # Errors
/// Returns an error if the repository cannot be read.
pub(super) fn contains(code: &CodeRepo, commit: &Oid, side: &Oid) -> Result<bool, OpError> {
    Ok(code.has(side) && code.is_ancestor(side, commit)?)
}

/// Returns the published commits with which the files of `commit` are compared. Of those that machines published
/// concurrently, these are the ones that it contains: it cannot change or take back what the others brought.
///
/// # Errors
/// Returns an error if the repository cannot be read.
pub fn published(code: &CodeRepo, sources: &Sources, commit: Option<&Oid>) -> Result<PublishedCommits, OpError> {
    let mut published = PublishedCommits::new();
    for (domain, source) in sources {
        let mut commits: BTreeSet<_> = source.commit.into_iter().collect();
        for side in &source.concurrent {
            if commit.map_or(Ok(false), |commit| contains(code, commit, side))? {
                commits.insert(*side);
            }
        }
        published.insert(domain.clone(), commits);
    }
    Ok(published)
}

/// Returns the published commits that `commit` must contain to be up to date: where machines published several
/// concurrently, one that it lacks.
///
/// # Errors
/// Returns an error if the repository cannot be read.
pub fn required(code: &CodeRepo, sources: &Sources, commit: &Oid) -> Result<RequiredCommits, OpError> {
    let mut required = RequiredCommits::new();
    for (domain, source) in sources {
        let missing = one_side(code, source, commit)?.map(|side| side.missing);
        required.extend(missing.or(source.commit).map(|published| (domain.clone(), published)));
    }
    Ok(required)
}
