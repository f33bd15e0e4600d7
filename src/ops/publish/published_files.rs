//! The files of the commits that a repository published last.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    error::OpError,
    model::{name::DomainName, oid::Oid},
    repo::{
        CodeRepo,
        blue_files::{BINDINGS, CONTRACTS, FileSource, Files, Item},
    },
};

/// The published commits that files are compared with, by domain.
pub type PublishedCommits = BTreeMap<DomainName, BTreeSet<Oid>>;

/// The files of published commits, each commit listed once.
pub(super) struct PublishedFiles<'a> {
    code: &'a CodeRepo,
    published: &'a PublishedCommits,
    base: Option<&'a Oid>,
    by_commit: BTreeMap<Oid, BTreeMap<String, Item>>,
}

impl<'a> PublishedFiles<'a> {
    /// Creates a reader of these commits. `base` stands for those that this clone does not have.
    pub(super) fn new(code: &'a CodeRepo, published: &'a PublishedCommits, base: Option<&'a Oid>) -> Self {
        Self { code, published, base, by_commit: BTreeMap::new() }
    }

    /// Returns the published commits by domain.
    pub(super) fn by_domain(&self) -> &'a PublishedCommits {
        self.published
    }

    /// Returns a published commit, or the base if this clone does not have the commit.
    fn known<'c>(&'c self, commit: &'c Oid) -> Option<&'c Oid> {
        Some(commit).filter(|commit| self.code.has(commit)).or(self.base)
    }

    /// Returns the files of a published commit. If neither it nor the base is known, all files count as changed; whether
    /// publishing is allowed is decided elsewhere.
    pub(super) fn files(&mut self, commit: &Oid) -> Result<&BTreeMap<String, Item>, OpError> {
        if !self.by_commit.contains_key(commit) {
            let mut found = BTreeMap::new();
            if let Some(known) = self.known(commit) {
                let files = Files::at(self.code, known)?;
                found = files.below(CONTRACTS)?;
                found.extend(files.below(BINDINGS)?);
            }
            self.by_commit.insert(*commit, found);
        }
        Ok(&self.by_commit[commit])
    }

    /// Returns whether a file differs from a last published commit of its domain.
    pub(super) fn differs(
        &mut self,
        domain: &DomainName,
        path: &str,
        handle: &FileSource,
        bytes: &[u8],
    ) -> Result<bool, OpError> {
        let (code, Some(commits)) = (self.code, self.published.get(domain)) else { return Ok(true) };
        for commit in commits {
            let is_same = match (self.files(commit)?.get(path), handle) {
                (Some(Item::File(FileSource::Blob(old))), FileSource::Blob(new)) => new == old,
                (Some(Item::File(FileSource::Blob(old))), FileSource::Path(_)) => code.is_content(bytes, old)?,
                _ => false,
            };
            if !is_same {
                return Ok(true);
            }
        }
        Ok(commits.is_empty())
    }

    /// Returns whether one of these files differs from a last published commit of the domain that refers to them.
    pub(super) fn any_differs(
        &self,
        files: &Files<'_>,
        domain: &DomainName,
        paths: &BTreeSet<String>,
    ) -> Result<bool, OpError> {
        let commits = self.published.get(domain).into_iter().flatten();
        for commit in commits {
            if !paths.is_empty() && self.any_differs_from(commit, files, paths)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn any_differs_from(&self, commit: &Oid, files: &Files<'_>, paths: &BTreeSet<String>) -> Result<bool, OpError> {
        let Some(known) = self.known(commit) else { return Ok(true) };
        let old = Files::at(self.code, known)?;
        for path in paths {
            let same = match (old.file(path)?, files.file(path)?) {
                (Some(Item::File(FileSource::Blob(old))), Some(Item::File(FileSource::Blob(new)))) => old == new,
                (Some(Item::File(FileSource::Blob(old))), Some(Item::File(new))) => {
                    files.read(&new)?.map(|bytes| self.code.is_content(&bytes, &old)).transpose()?.unwrap_or_default()
                }
                _ => false,
            };
            if !same {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
