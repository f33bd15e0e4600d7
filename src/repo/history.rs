//! Answers questions about the ancestry of commits.

use gix::refs::log::Line;

use crate::repo::CodeRepo;
use crate::{
    model::oid::Oid,
    store::{
        Objects as _, StoreError,
        git::objects::{native, to_git, to_oid},
    },
};

/// The maximum number of commits that are searched for an author.
const MAX_AUTHORS: usize = 10_000;

impl CodeRepo {
    /// Returns whether this clone has the object. One that cannot be read counts as missing.
    pub fn has(&self, commit: &Oid) -> bool {
        native(&self.repo, commit).is_ok_and(|commit| self.repo.has_object(commit))
    }

    /// Returns whether an object is neither a commit nor a tag of one.
    pub fn is_no_commit(&self, id: &Oid) -> bool {
        let Ok(Ok(object)) = native(&self.repo, id).map(|id| self.repo.find_object(id)) else { return false };
        object.peel_tags_to_end().is_ok_and(|end| end.kind != gix::objs::Kind::Commit)
    }

    /// Returns whether this clone has the commit.
    ///
    /// # Errors
    /// Returns an error if its objects cannot be read, which does not mean that the commit is missing.
    pub fn try_has(&self, commit: &Oid) -> Result<bool, StoreError> {
        let found = self.repo.try_find_header(native(&self.repo, commit)?);
        Ok(found.map_err(|error| StoreError::git("look for a commit")(error))?.is_some())
    }

    /// Checks that the repositories still exist from which this one borrows objects.
    ///
    /// # Errors
    /// Returns an error if one is gone: its objects are missing here.
    pub fn require_alternates(&self) -> Result<(), StoreError> {
        let own = self.common_dir().join("objects");
        let file = own.join("info/alternates");
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let named = text.lines().filter(|line| !line.is_empty() && !line.starts_with(['#', '"']));
        match named.map(|line| own.join(line)).find(|objects| !objects.is_dir()) {
            Some(objects) => Err(StoreError::LostAlternate { objects, file }),
            None => Ok(()),
        }
    }

    /// Returns whether this is a shallow clone.
    ///
    /// # Errors
    /// Returns an error if this cannot be determined.
    pub fn is_shallow(&self) -> Result<bool, StoreError> {
        self.repo.is_shallow().map_err(|error| StoreError::git("walk the history")(error))
    }

    /// Returns whether `old` is `new` or an ancestor of it, within the history that this clone has.
    ///
    /// # Errors
    /// Returns an error if history cannot be read.
    pub fn is_ancestor(&self, old: &Oid, new: &Oid) -> Result<bool, StoreError> {
        Ok(old == new || (self.has(old) && self.has(new) && self.merge_base(old, new)? == Some(*old)))
    }

    /// Returns whether a branch, a tag or another ref has a commit, which git would otherwise delete some day.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn is_in_a_ref(&self, commit: &Oid) -> Result<bool, StoreError> {
        let contains = format!("--contains={commit}");
        Ok(self.has(commit) && !self.git.text(&["for-each-ref", "--count=1", &contains])?.is_empty())
    }

    /// Returns a commit and its first parents, as far as this clone has them, up to `most`.
    pub fn first_parents(&self, tip: Oid, most: usize) -> impl Iterator<Item = Oid> {
        let parent = |commit: &Oid| self.commit(commit).ok()?.parents.first().copied();
        std::iter::successors(Some(tip), parent).take_while(|commit| self.has(commit)).take(most)
    }

    /// Returns whether somebody with this address wrote one of the latest commits of HEAD.
    pub fn has_author(&self, email: &str) -> bool {
        let Some(tip) = self.head().ok().and_then(|head| native(&self.repo, &head.commit?).ok()) else { return false };
        let Ok(walk) = self.repo.rev_walk([tip]).all() else { return false };
        let is_author = |commit: gix::revision::walk::Info<'_>| {
            let commit = commit.object().ok()?;
            Some(commit.author().ok()?.email == email)
        };
        walk.take(MAX_AUTHORS).filter_map(Result::ok).any(|commit| is_author(commit) == Some(true))
    }

    /// Returns whether `branch` once pointed to `commit` in this clone, which shows that the commit was amended,
    /// rebased or reset here.
    ///
    /// # Errors
    /// Returns an error if the reflog cannot be read.
    pub fn replaced(&self, branch: &str, commit: &Oid) -> Result<bool, StoreError> {
        let name = format!("refs/heads/{branch}");
        if self.is_reftable {
            let text = self.git.text(&["reflog", "show", "--format=%H", &name]).unwrap_or_default();
            return Ok(text.lines().any(|line| line.parse() == Ok(*commit)));
        }
        let wanted = to_git(commit);
        let is_wanted = |line: Line| line.new_oid == wanted || line.previous_oid == wanted;
        Ok(self.reflog(&name, |mut lines| lines.any(is_wanted))?.unwrap_or_default())
    }

    /// Returns the previous positions of a branch, according to its reflog, the latest first, up to `most`.
    ///
    /// # Errors
    /// Returns an error if the reflog cannot be read.
    pub fn previous_tips(&self, branch: &str, most: usize) -> Result<Vec<Oid>, StoreError> {
        let name = format!("refs/heads/{branch}");
        if self.is_reftable {
            let limit = format!("--max-count={}", most + 1);
            let text = self.git.text(&["reflog", "show", "--format=%H", &limit, &name]).unwrap_or_default();
            return Ok(text.lines().skip(1).filter_map(|line| line.parse().ok()).collect());
        }
        let former = |line: Line| (!line.previous_oid.is_null()).then(|| to_oid(&line.previous_oid));
        let tips = self.reflog(&name, |lines| lines.take(most).filter_map(former).collect())?;
        Ok(tips.unwrap_or_default())
    }

    /// Reads the reflog of a ref, latest first, if there is one. Lines that cannot be read are left out.
    fn reflog<T>(
        &self,
        name: &str,
        read: impl FnOnce(Box<dyn Iterator<Item = Line> + '_>) -> T,
    ) -> Result<Option<T>, StoreError> {
        let failed = |error: gix::Error| StoreError::git("read the reflog")(error);
        let Some(reference) = self.repo.try_find_reference(name).map_err(failed)? else { return Ok(None) };
        let mut log = reference.log_iter();
        let lines = log.rev().map_err(|error| StoreError::git("read the reflog")(error))?;
        Ok(lines.map(|lines| read(Box::new(lines.filter_map(Result::ok)))))
    }

    /// Returns the root commits in the history of `tip`, which identify the repository.
    ///
    /// # Errors
    /// Returns an error if history cannot be read.
    pub fn roots(&self, tip: &Oid) -> Result<Vec<Oid>, StoreError> {
        let failed = |error: gix::Error| {
            self.require_alternates().err().unwrap_or_else(|| StoreError::git("walk the history")(error))
        };
        // The boundary commits of a shallow clone are not roots.
        if self.is_shallow()? {
            return Ok(Vec::new());
        }
        let mut roots = Vec::new();
        for commit in self.repo.rev_walk([native(&self.repo, tip)?]).all().map_err(failed)? {
            let commit = commit.map_err(|error| StoreError::git("walk the history")(error))?;
            if commit.parent_ids.is_empty() {
                roots.push(to_oid(&commit.id));
            }
        }
        roots.sort();
        Ok(roots)
    }
}
