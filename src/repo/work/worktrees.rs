//! Creates, lists and removes linked worktrees with git.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Stdio,
};

use super::{Work, succeeded};
use crate::{
    repo::{CodeRepo, head},
    store::StoreError,
};

/// A worktree of a repository, as listed by git.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Worktree {
    /// Its folder.
    pub path: PathBuf,
    /// The branch that is checked out in it, without `refs/heads/`; `None` if HEAD is detached.
    pub branch: Option<String>,
    /// Whether it is a bare repository.
    pub is_bare: bool,
    /// The reason why it is locked, which may be empty; `None` if it is not locked.
    pub lock: Option<String>,
    /// Whether its folder is gone.
    pub is_gone: bool,
}

impl Worktree {
    /// Returns whether git has not finished creating it: it is being created, or its creation was interrupted.
    pub fn is_unfinished(&self) -> bool {
        self.lock.as_deref() == Some("initializing")
    }

    /// Returns whether git has not even written its HEAD, so that it is no repository and contains nothing.
    pub fn lacks_head(&self) -> bool {
        self.is_unfinished() && linked_git_dir(&self.path).is_some_and(|dir| !dir.join("HEAD").exists())
    }
}

/// The source of a new worktree's branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// The branch already exists.
    Existing,
    /// The branch exists at the remote. The new local branch tracks it.
    Remote,
    /// A new branch starts at this commit, and tracks nothing.
    At(String),
}

impl Work {
    /// Returns the worktrees of the repository, starting with the main worktree or the bare repository.
    ///
    /// # Errors
    /// Returns an error if git cannot list them.
    pub fn worktrees(&self) -> Result<Vec<Worktree>, StoreError> {
        Ok(parse(&self.text(&["worktree", "list", "--porcelain"])?))
    }

    /// Returns where to start a worktree on `branch`: the branch itself, local or at the remote, or else the `default`
    /// branch, preferably at the remote.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn start(&self, branch: &str, default: Option<&str>) -> Result<Option<Start>, StoreError> {
        if self.has_ref(&format!("refs/heads/{branch}"))? {
            return Ok(Some(Start::Existing));
        }
        if self.has_ref(&self.at_origin(branch))? {
            return Ok(Some(Start::Remote));
        }
        Ok(default.map(|default| self.base(default)).transpose()?.flatten().map(Start::At))
    }

    /// Returns the full name of the ref on which work on the `default` branch is based: that at the remote, or else
    /// the local one.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn base(&self, default: &str) -> Result<Option<String>, StoreError> {
        for name in [self.at_origin(default), format!("refs/heads/{default}")] {
            if self.has_ref(&name)? {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// Returns whether the repository has a branch, which it does not before its first commit.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn has_branches(&self) -> Result<bool, StoreError> {
        Ok(!self.text(&["for-each-ref", "--count=1", "refs/heads", "refs/remotes"])?.is_empty())
    }

    /// Returns whether another branch makes this name impossible: git cannot have both `a` and `a/b`.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn is_blocked(&self, branch: &str) -> Result<bool, StoreError> {
        if !self.text(&["for-each-ref", "--count=1", &format!("refs/heads/{branch}/")])?.is_empty() {
            return Ok(true);
        }
        for (at, _) in branch.match_indices('/') {
            if self.has_ref(&format!("refs/heads/{}", &branch[..at]))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Creates a worktree. Git inherits `held`, a file with a lock, so that the lock is held until git has ended, even
    /// if this process is killed.
    ///
    /// # Errors
    /// Returns an error if git or one of the user's hooks refuses.
    pub fn add_worktree(&self, path: &Path, branch: &str, start: &Start, held: File) -> Result<(), StoreError> {
        let mut args: Vec<&std::ffi::OsStr> = vec!["worktree".as_ref(), "add".as_ref(), "--quiet".as_ref()];
        let remote = self.at_origin(branch);
        match start {
            Start::Existing => args.extend(["--".as_ref(), path.as_os_str(), branch.as_ref()]),
            Start::Remote => args.extend([
                "--track".as_ref(),
                "-b".as_ref(),
                branch.as_ref(),
                "--".as_ref(),
                path.as_os_str(),
                remote.as_ref(),
            ]),
            Start::At(start) => args.extend([
                "--no-track".as_ref(),
                "-b".as_ref(),
                branch.as_ref(),
                "--".as_ref(),
                path.as_os_str(),
                start.as_ref(),
            ]),
        }
        // Git translates the reason of its lock, which says that the worktree is unfinished.
        let output = self.output_with(&args, Stdio::from(held), &[("LANGUAGE", "en".as_ref())])?;
        succeeded(&args, &output).map(drop)
    }

    /// Removes a worktree that git has not finished creating.
    ///
    /// # Errors
    /// Returns an error if git or the system refuses.
    pub fn remove_unfinished(&self, tree: &Worktree) -> Result<(), StoreError> {
        let path = &tree.path;
        if tree.lacks_head() {
            // Git would not recognize the folder as a worktree, and would refuse to remove it.
            fs::remove_dir_all(path).map_err(StoreError::io("remove", path))?;
        }
        // Given twice, it also removes a locked worktree.
        let mut args: Vec<&std::ffi::OsStr> =
            ["worktree", "remove", "--force", "--force", "--"].map(AsRef::as_ref).into();
        args.push(path.as_os_str());
        self.text(&args).map(drop)
    }

    /// Unlocks a worktree.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn unlock_worktree(&self, path: &Path) -> Result<(), StoreError> {
        let args: [&std::ffi::OsStr; 4] = ["worktree".as_ref(), "unlock".as_ref(), "--".as_ref(), path.as_os_str()];
        self.text(&args).map(drop)
    }

    /// Removes a worktree with its folder and git's record of it. If the folder is missing, only the record is
    /// removed.
    ///
    /// # Errors
    /// Returns an error if git refuses, because the worktree has uncommitted work or is locked.
    pub fn remove_worktree(&self, path: &Path, force: bool) -> Result<(), StoreError> {
        let mut args: Vec<&std::ffi::OsStr> = vec!["worktree".as_ref(), "remove".as_ref()];
        if force {
            args.push("--force".as_ref());
        }
        args.extend(["--".as_ref(), path.as_os_str()]);
        self.text(&args).map(drop)
    }

    /// Deletes a branch, even if it is not merged.
    ///
    /// # Errors
    /// Returns an error if the branch is checked out.
    pub fn delete_branch(&self, branch: &str) -> Result<(), StoreError> {
        self.text(&["branch", "--quiet", "-D", "--", branch]).map(drop)
    }
}

impl CodeRepo {
    /// Returns the folder of another worktree that has a branch checked out, if there is one.
    ///
    /// # Errors
    /// Returns an error if git cannot list the worktrees.
    pub fn other_worktree_on(&self, branch: &str) -> Result<Option<PathBuf>, StoreError> {
        if !self.has_linked_worktrees() {
            return Ok(None);
        }
        let all = parse(&self.git.text(&["worktree", "list", "--porcelain"])?).into_iter();
        let mut usable = all.filter(|tree| !tree.is_bare && !tree.is_gone && Some(&tree.path) != self.workdir.as_ref());
        Ok(usable.find(|tree| tree.branch.as_deref() == Some(branch)).map(|tree| tree.path))
    }

    /// Returns the git command that is still applying a series of commits or patches to a branch in another worktree, with
    /// the folder of that worktree.
    ///
    /// # Errors
    /// Returns an error if git cannot list the worktrees.
    pub fn series_elsewhere(&self, branch: &str) -> Result<Option<(&'static str, PathBuf)>, StoreError> {
        let Some(folder) = self.other_worktree_on(branch)? else { return Ok(None) };
        let git_dir = linked_git_dir(&folder).unwrap_or_else(|| folder.join(".git"));
        Ok(head::series(&git_dir).map(|(command, _)| (command, folder)))
    }
}

/// Returns the git dir that the `.git` file of a worktree names.
fn linked_git_dir(folder: &Path) -> Option<PathBuf> {
    let file = fs::read_to_string(folder.join(".git")).ok()?;
    file.strip_prefix("gitdir:").map(|dir| folder.join(dir.trim()))
}

fn parse(text: &str) -> Vec<Worktree> {
    let mut found: Vec<Worktree> = Vec::new();
    for line in text.lines() {
        let (key, value) = line.split_once(' ').unwrap_or((line, ""));
        if key == "worktree" {
            found.push(Worktree { path: value.into(), ..Worktree::default() });
            continue;
        }
        let Some(tree) = found.last_mut() else { continue };
        match key {
            "branch" => tree.branch = Some(value.strip_prefix("refs/heads/").unwrap_or(value).to_owned()),
            "bare" => tree.is_bare = true,
            "locked" => tree.lock = Some(value.to_owned()),
            "prunable" => tree.is_gone = true,
            _ => {}
        }
    }
    // git never reports a locked worktree as prunable, even if its folder is gone.
    for tree in &mut found {
        let is_exact = !tree.path.to_string_lossy().contains(char::REPLACEMENT_CHARACTER);
        tree.is_gone |= is_exact && !tree.path.exists();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_worktrees_is_parsed() {
        let text =
            "worktree /\nHEAD 0\nbranch refs/heads/feat/x\n\nworktree /no where\nHEAD 0\ndetached\nlocked why\n\n";
        let first = Worktree { path: "/".into(), branch: Some("feat/x".into()), ..Worktree::default() };
        let second =
            Worktree { path: "/no where".into(), lock: Some("why".into()), is_gone: true, ..Worktree::default() };
        assert_eq!(parse(text), [first, second]);
    }
}
