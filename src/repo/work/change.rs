//! Commits, pushes and clones.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
};

use gix::bstr::ByteSlice as _;

use super::{Work, succeeded};
use crate::{repo::head, store::StoreError};

/// The uncommitted changes in a folder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Uncommitted {
    /// Tracked files that differ from HEAD.
    pub tracked: Vec<String>,
    /// Files that are neither tracked nor ignored.
    pub untracked: Vec<PathBuf>,
    /// Files with unresolved conflicts.
    pub conflicts: Vec<String>,
}

/// Ignores changes inside of submodules, which can only be committed there.
pub(super) const IN_SUBMODULES: &str = "--ignore-submodules=dirty";

impl Work {
    /// Returns the uncommitted changes.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn uncommitted(&self) -> Result<Uncommitted, StoreError> {
        let mut args = vec!["--no-optional-locks", "status", "--porcelain", "-z", "--no-renames"];
        args.extend(["--untracked-files=all", IN_SUBMODULES]);
        let output = self.output(&args)?;
        succeeded(&args, &output)?;
        Ok(parse(&output.stdout))
    }

    /// Returns the name of the git command that is in progress, such as `merge`, if there is one.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn in_progress(&self) -> Result<Option<&'static str>, StoreError> {
        // A rebase merges and picks commits itself, and is the one to continue.
        let git_dir = self.text(&["rev-parse", "--absolute-git-dir"])?;
        if let Some(command) = head::rebase(Path::new(git_dir.trim_end_matches('\n'))) {
            return Ok(Some(command));
        }
        let heads = [("MERGE_HEAD", "merge"), ("CHERRY_PICK_HEAD", "cherry-pick"), ("REVERT_HEAD", "revert")];
        for (name, command) in heads {
            if self.has_ref(name)? {
                return Ok(Some(command));
            }
        }
        Ok(None)
    }

    /// Commits every change to tracked files and the given untracked files, as the user would. Returns the commit.
    ///
    /// # Errors
    /// Returns an error if git or one of the user's hooks refuses. In that case, the files remain staged.
    pub fn commit(&self, message: &str, untracked: &[PathBuf]) -> Result<String, StoreError> {
        self.text(&["add", "--update", "--", ":/"])?;
        // Add files in chunks, because the length of a command line is limited.
        for files in untracked.chunks(500) {
            let mut args: Vec<OsString> = vec!["add".into(), "--".into()];
            args.extend(files.iter().map(|file| {
                let mut literal = OsString::from(":(top,literal)");
                literal.push(file);
                literal
            }));
            self.text(&args)?;
        }
        self.text(&["commit", "--quiet", "--message", message])?;
        Ok(self.text(&["rev-parse", "HEAD"])?.trim().to_owned())
    }

    /// Pushes a branch to the remote branch of the same name, never with force, and sets that as its upstream.
    ///
    /// # Errors
    /// Returns an error if git fails, or the remote or one of the user's hooks refuses.
    pub fn push(&self, branch: &str) -> Result<(), StoreError> {
        let refspec = format!("refs/heads/{branch}:refs/heads/{branch}");
        self.talk(&["push", "--quiet", "--set-upstream", &self.remote, &refspec])
    }

    /// Returns the URL to fetch from, after git's rewriting.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn remote_url(&self) -> Result<String, StoreError> {
        Ok(self.text(&["remote", "get-url", &self.remote])?.trim().to_owned())
    }
}

/// Clones a repository into a new folder, which is there only once it is complete.
///
/// # Errors
/// Returns an error if git fails, or the folder exists and is not empty.
pub fn clone(url: &str, to: &Path, vars: BTreeMap<OsString, OsString>, is_terminal: bool) -> Result<(), StoreError> {
    let parent = to.parent().unwrap_or(to);
    std::fs::create_dir_all(parent).map_err(StoreError::io("create", parent))?;
    let aside = tempfile::Builder::new().prefix(".clone-").tempdir_in(parent);
    let aside = aside.map_err(StoreError::io("create a folder in", parent))?;
    let made = aside.path().join("clone");
    let args: [&std::ffi::OsStr; 5] =
        ["clone".as_ref(), "--quiet".as_ref(), "--".as_ref(), url.as_ref(), made.as_os_str()];
    Work::new(parent, vars).asking(is_terminal).talk(&args)?;
    std::fs::rename(&made, to).map_err(StoreError::io("create", to))
}

fn parse(output: &[u8]) -> Uncommitted {
    let mut found = Uncommitted::default();
    for entry in output.split(|byte| *byte == 0) {
        let (Some(state), Some(path)) = (entry.get(..2), entry.get(3..)) else { continue };
        let list = match state {
            b"??" => {
                found.untracked.push(path.to_path_lossy().into_owned());
                continue;
            }
            b"DD" | b"AU" | b"UD" | b"UA" | b"DU" | b"AA" | b"UU" => &mut found.conflicts,
            _ => &mut found.tracked,
        };
        list.push(String::from_utf8_lossy(path).into_owned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uncommitted_files_are_sorted_by_kind() {
        let found = parse(b"?? new file\0 M a\0M  b\0UU c\0AA d\0");
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(found.tracked, names(&["a", "b"]));
        assert_eq!(found.untracked, [Path::new("new file")]);
        assert_eq!(found.conflicts, names(&["c", "d"]));
    }
}
