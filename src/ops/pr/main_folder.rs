//! The folder in which the publishing branch of a repository is merged into and pushed, and the commands for it.

use std::path::{Path, PathBuf};

use crate::{
    model::text::{shell_path, shell_word},
    ops::{ctx::Ctx, repos::paths::FoundRepo},
    repo::work::Work,
    store::StoreError,
};

/// A folder of a repository that has, or can have, the publishing branch checked out.
#[derive(Debug)]
pub struct MainFolder {
    /// The folder.
    pub folder: PathBuf,
    /// Whether the branch is checked out in it.
    pub has_branch: bool,
    branch: String,
    /// The bare repository to which the folder has to be added first.
    bare: Option<PathBuf>,
    /// The remote.
    remote: Option<String>,
    /// Whether the remote is known to have the branch.
    is_at_remote: bool,
}

impl MainFolder {
    /// Returns the folder: the worktree that has the branch, or else the main one. Returns `None` without a publishing
    /// branch.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn of(ctx: &Ctx, found: &FoundRepo) -> Result<Option<Self>, StoreError> {
        let Some(branch) = found.default.clone() else { return Ok(None) };
        let work = found.work(ctx);
        let trees = work.worktrees()?;
        let has_branch =
            trees.iter().find(|tree| !tree.is_gone && !tree.is_bare && tree.branch.as_ref() == Some(&branch));
        let bare = trees.first().filter(|tree| tree.is_bare && has_branch.is_none()).map(|tree| tree.path.clone());
        let beside = bare.as_ref().map(|bare| beside(bare, &format!("{}-{branch}", found.name)));
        let folder = has_branch.map(|tree| tree.path.clone()).or(beside).unwrap_or_else(|| found.folder.clone());
        let is_at_remote = is_at_remote(&work, &branch)?;
        let remote = found.url.as_ref().map(|_| found.remote.clone());
        Ok(Some(Self { folder, has_branch: has_branch.is_some(), branch, bare, remote, is_at_remote }))
    }

    fn git(&self, rest: &str) -> String {
        format!("git -C {} {rest}", shell_path(&self.folder))
    }

    /// Returns the command that checks out the branch, even if it was checked out a moment ago.
    pub fn switch(&self) -> String {
        let branch = shell_word(&self.branch);
        match &self.bare {
            Some(bare) => {
                format!("git -C {} worktree add {} {branch}", shell_path(bare), shell_path(&self.folder))
            }
            None => self.git(&format!("switch {branch}")),
        }
    }

    /// Returns the command that gets what others pushed, if there is a remote.
    pub fn pull(&self) -> Option<String> {
        let remote = self.remote.as_ref()?;
        Some(self.git(&format!("pull --no-rebase {} {}", shell_word(remote), shell_word(&self.branch))))
    }

    /// Returns the command that gets what others pushed, if the remote is known to have the branch.
    pub fn update(&self) -> Option<String> {
        self.pull().filter(|_| self.is_at_remote)
    }

    /// Returns the command that pushes the branch, if there is a remote.
    pub fn push(&self) -> Option<String> {
        let remote = self.remote.as_ref()?;
        Some(self.git(&format!("push {} {}", shell_word(remote), shell_word(&self.branch))))
    }

    /// Returns the command that merges another branch.
    pub fn merge(&self, branch: &str) -> String {
        self.git(&format!("merge {}", shell_word(branch)))
    }

    /// Returns the command that commits one file.
    pub fn commit(&self, file: &str, message: &str) -> String {
        self.git(&format!("commit -m {} {}", shell_word(message), shell_word(file)))
    }

    /// Returns the command that pushes the realm.
    pub fn sync(&self) -> String {
        self.git("blue sync")
    }
}

fn is_at_remote(work: &Work, branch: &str) -> Result<bool, StoreError> {
    work.has_ref(&work.at_origin(branch))
}

fn beside(folder: &Path, name: &str) -> PathBuf {
    folder.parent().unwrap_or(folder).join(name.replace('/', "-"))
}
