//! Reports uncommitted, unpushed and unmerged work in a folder.

use super::{Work, change::IN_SUBMODULES};
use crate::store::StoreError;

/// The uncommitted, unpushed and unmerged work in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorkStatus {
    /// The branch, without `refs/heads/`; `None` if HEAD is detached.
    pub branch: Option<String>,
    /// The commit; `None` before the first one.
    pub head: Option<String>,
    /// The number of files that differ from that commit, including untracked ones.
    pub uncommitted: usize,
    /// The number of commits that are not in the base.
    pub ahead: usize,
    /// The number of commits in the base that are not here.
    pub behind: usize,
    /// The number of commits that are missing from its branch at the remote; `None` if the remote has no such branch.
    pub unpushed: Option<usize>,
    /// The number of commits that are neither in the base nor on any known branch of a remote.
    pub only_here: usize,
    /// Whether a merge into the base was tried, and conflicts.
    pub conflicts: bool,
}

/// The outcome of a merge that was only tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriedMerge {
    /// It changes nothing, as after a squash merge.
    ChangesNothing,
    /// It changes files.
    ChangesFiles,
    /// It conflicts.
    Conflicts,
}

impl Work {
    /// Returns the state of the work in this folder, compared with the ref `base`.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn status(&self, base: Option<&str>) -> Result<WorkStatus, StoreError> {
        let branch = self.current_branch()?;
        let standing = self.commits("HEAD", branch, base)?;
        Ok(WorkStatus { uncommitted: self.changes()?, ..standing })
    }

    /// Returns the state of a branch that is not checked out.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn status_of(&self, branch: &str, base: Option<&str>) -> Result<WorkStatus, StoreError> {
        self.commits(&format!("refs/heads/{branch}"), Some(branch.to_owned()), base)
    }

    /// Returns the branch that is checked out, or `None` if HEAD is detached.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn current_branch(&self) -> Result<Option<String>, StoreError> {
        self.line(&["symbolic-ref", "--quiet", "--short", "HEAD"])
    }

    fn commits(&self, tip: &str, branch: Option<String>, base: Option<&str>) -> Result<WorkStatus, StoreError> {
        let head = self.line(&["rev-parse", "--verify", "--quiet", "--end-of-options", tip])?;
        let mut standing = WorkStatus { branch, head, ..WorkStatus::default() };
        if standing.head.is_none() {
            return Ok(standing);
        }
        if let Some(base) = base {
            let counts = self.text(&["rev-list", "--left-right", "--count", &format!("{base}...{tip}"), "--"])?;
            let mut counts = counts.split_whitespace().filter_map(|count| count.parse().ok());
            standing.behind = counts.next().unwrap_or_default();
            standing.ahead = counts.next().unwrap_or_default();
        }
        let mut only = vec!["rev-list", "--count", tip, "--not", "--remotes"];
        only.extend(base);
        only.push("--");
        standing.only_here = self.number(&only)?;
        if let Some(branch) = &standing.branch {
            // A branch without an upstream may still have been pushed.
            let pushed = self.at_origin(branch);
            if self.has_ref(&pushed)? {
                standing.unpushed = Some(self.number(&["rev-list", "--count", &format!("{pushed}..{tip}"), "--"])?);
            }
        }
        Ok(standing)
    }

    /// Returns the number of submodules that are checked out here. Their content would be removed with the folder.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn submodules(&self) -> Result<usize, StoreError> {
        if !self.folder.join(".gitmodules").exists() {
            return Ok(0);
        }
        let text = self.text(&["submodule", "status"])?;
        // A minus marks submodules that are not checked out.
        Ok(text.lines().filter(|line| !line.starts_with('-')).count())
    }

    fn changes(&self) -> Result<usize, StoreError> {
        let mut args = vec!["--no-optional-locks", "status", "--porcelain", "--no-renames"];
        args.extend(["--untracked-files=normal", IN_SUBMODULES]);
        Ok(self.text(&args)?.lines().count())
    }

    /// Returns whether `base` contains a branch.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn is_merged(&self, branch: &str, base: &str) -> Result<bool, StoreError> {
        self.is_in(&format!("refs/heads/{branch}"), base)
    }

    /// Returns whether `base` contains a commit.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn is_in(&self, commit: &str, base: &str) -> Result<bool, StoreError> {
        Ok(self.number(&["rev-list", "--count", commit, "--not", base, "--"])? == 0)
    }

    /// Tries to merge the commit `tip` into `base`, without changing either. Returns `None` if git cannot tell, as before
    /// version 2.38.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn try_merge(&self, tip: &str, base: &str) -> Result<Option<TriedMerge>, StoreError> {
        let merged = self.output(&["merge-tree", "--write-tree", "--end-of-options", base, tip])?;
        let tree = self.text(&["rev-parse", "--verify", "--end-of-options", &format!("{base}^{{tree}}")])?;
        Ok(match merged.status.code() {
            Some(0) if String::from_utf8_lossy(&merged.stdout).trim() == tree.trim() => {
                Some(TriedMerge::ChangesNothing)
            }
            Some(0) => Some(TriedMerge::ChangesFiles),
            Some(1) => Some(TriedMerge::Conflicts),
            _ => None,
        })
    }

    /// Returns whether a merge of the commit `tip` would change nothing in `base`, as after a squash merge. A git that
    /// cannot tell says no.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn brings_nothing(&self, tip: &str, base: &str) -> Result<bool, StoreError> {
        Ok(self.try_merge(tip, base)? == Some(TriedMerge::ChangesNothing))
    }

    /// Returns whether the commits of a branch that its branch at the remote lacks change files below `folder`. If the
    /// remote has no such branch, the answer is no.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn is_unpushed(&self, branch: &str, folder: &str) -> Result<bool, StoreError> {
        let (here, there) = (format!("refs/heads/{branch}"), self.at_origin(branch));
        if !self.has_ref(&here)? || !self.has_ref(&there)? {
            return Ok(false);
        }
        Ok(self.number(&["rev-list", "--count", &here, "--not", &there, "--", folder])? > 0)
    }

    /// Returns whether a commit in the history of `tip` removed a file.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn has_removed(&self, tip: &str, file: &str) -> Result<bool, StoreError> {
        Ok(!self.text(&["log", "-1", "--diff-filter=D", "--format=%h", tip, "--", file])?.is_empty())
    }

    /// Returns whether a branch was moved since it was created here.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn was_moved(&self, branch: &str) -> Result<bool, StoreError> {
        Ok(self
            .text(&["log", "--walk-reflogs", "-2", "--format=%h", &format!("refs/heads/{branch}"), "--"])?
            .lines()
            .count()
            > 1)
    }
}
