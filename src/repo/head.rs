//! Reads HEAD and the branches of a repository, and determines the publishing branch.

use std::{io::Read as _, path::Path, process::Stdio};

use gix::refs::Target;

use crate::repo::CodeRepo;
use crate::{
    error::{ErrorCode, OpError},
    model::oid::Oid,
    store::{
        StoreError,
        git::{git_command, objects::to_oid, refs},
    },
};

/// The maximum number of symbolic refs between a name and its commit, as in git.
const MAX_SYMBOLIC: usize = 5;

/// The state of HEAD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The branch, without `refs/heads/`; `None` if HEAD is detached.
    pub branch: Option<String>,
    /// The commit; `None` before the first one.
    pub commit: Option<Oid>,
}

impl CodeRepo {
    /// Returns the state of HEAD.
    ///
    /// # Errors
    /// Returns an error if HEAD cannot be read.
    pub fn head(&self) -> Result<Head, StoreError> {
        if self.is_reftable {
            let commit = self.resolve_with_git("HEAD")?;
            let branch = self.git.line(&["symbolic-ref", "--quiet", "HEAD"]).ok();
            return Ok(Head { branch: branch.as_deref().and_then(short), commit });
        }
        let failed = |error: gix::Error| StoreError::git("read HEAD")(error);
        let head = self.repo.head().map_err(failed)?;
        let name = head.referent_name().map(|name| name.as_bstr().to_string());
        let (name, commit) = match (head.id(), name) {
            (Some(id), name) => (name, Some(to_oid(&id))),
            // The branch has no commit yet, or is an alias of another one.
            (None, Some(name)) => {
                let (name, commit) = self.end(&name)?;
                (Some(name), commit)
            }
            (None, None) => (None, None),
        };
        Ok(Head { branch: name.as_deref().and_then(short), commit })
    }

    /// Returns the git command in progress that makes commits one after another: a rebase, which detaches HEAD and
    /// recreates existing commits, or a command that applies patches.
    pub fn replaying(&self) -> Option<&'static str> {
        rebase(self.git_dir())
    }

    /// Returns the git command that is still applying a series of commits or patches to the current branch, if at least
    /// `left` of them are left. Until it has created the last commit, git counts the one that it is creating.
    pub fn unfinished_series(&self, left: usize) -> Option<&'static str> {
        series(self.git_dir()).filter(|(_, all)| *all >= left).map(|(command, _)| command)
    }

    /// Returns the commits that a merge in progress brings into the working tree.
    pub fn merging(&self) -> Vec<Oid> {
        let heads = std::fs::read_to_string(self.git_dir().join("MERGE_HEAD")).unwrap_or_default();
        heads.lines().filter_map(|line| line.parse().ok()).collect()
    }

    /// Returns the commit that a full ref name points to.
    ///
    /// # Errors
    /// Returns an error if the ref exists and cannot be read.
    pub fn reference(&self, name: &str) -> Result<Option<Oid>, StoreError> {
        if self.is_reftable { self.resolve_with_git(name) } else { self.end(name).map(|(_, commit)| commit) }
    }

    /// Returns the commits of a branch, each with the full name of its ref: here, then at origin as last fetched. Leaves
    /// out a ref that does not exist.
    pub fn branch_tips(&self, branch: &str) -> impl Iterator<Item = Result<(String, Oid), StoreError>> + use<'_> {
        let names = [format!("refs/heads/{branch}"), self.at_origin(branch)].into_iter();
        names.filter_map(|name| Some(self.reference(&name).transpose()?.map(|tip| (name, tip))))
    }

    /// Returns the ref at the end of a chain of symbolic refs, and its commit. A ref that is not symbolic, or does not
    /// exist, is its own end.
    fn end(&self, name: &str) -> Result<(String, Option<Oid>), StoreError> {
        if self.is_reftable {
            let end = self.symbolic_target(name)?.unwrap_or_else(|| name.to_owned());
            let commit = self.resolve_with_git(&end)?;
            return Ok((end, commit));
        }
        let mut name = name.to_owned();
        for _ in 0..MAX_SYMBOLIC {
            match refs::target(&self.repo, &self.packed, &name)? {
                Some(Target::Symbolic(target)) => name = target.as_bstr().to_string(),
                Some(Target::Object(commit)) => return Ok((name, Some(to_oid(&commit)))),
                None => return Ok((name, None)),
            }
        }
        let commit = refs::tip(&self.repo, &self.packed, &name)?;
        Ok((name, commit))
    }

    /// Returns the name of the ref that a symbolic ref points to.
    fn symbolic_target(&self, name: &str) -> Result<Option<String>, StoreError> {
        if self.is_reftable {
            return Ok(self.git.line(&["symbolic-ref", "--quiet", name]).ok());
        }
        // packed-refs contains no symbolic ref.
        let target = refs::loose(&self.repo, name)?;
        Ok(target.and_then(|target| target.try_name().map(|name| name.as_bstr().to_string())))
    }

    /// Returns the commit of a revision that the user named, like `git rev-parse`.
    ///
    /// # Errors
    /// Returns an error if there is no such commit.
    pub fn resolve(&self, revision: &str) -> Result<Oid, OpError> {
        let missing = || StoreError::Git {
            doing: format!("find the commit {revision:?}"),
            problem: "there is no such revision".into(),
        };
        let found = self.resolve_with_git(revision).and_then(|commit| commit.ok_or_else(missing));
        found.map_err(|error| OpError::cannot(ErrorCode::UnknownCommit, error.to_string()))
    }

    /// Reads a file at a commit or in the index, named as in `git show`: `HEAD~1:schema.json`, or `HEAD:./schema.json`
    /// relative to `folder`. Reads up to one byte more than `most`.
    ///
    /// # Errors
    /// Returns an error if there is no such commit or file.
    pub fn show(&self, name: &str, folder: &Path, most: usize) -> Result<Vec<u8>, StoreError> {
        let failed = |problem: String| StoreError::Git { doing: format!("read {name}"), problem };
        let io = |error: std::io::Error| failed(error.to_string());
        let mut git = git_command::command(&self.git.vars);
        git.current_dir(folder).args(["cat-file", "blob", "--end-of-options", name]);
        let mut git = git.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(io)?;
        let mut bytes = Vec::new();
        git.stdout.take().map(|out| out.take(most as u64 + 1).read_to_end(&mut bytes)).transpose().map_err(io)?;
        let output = git.wait_with_output().map_err(io)?;
        if output.status.success() || bytes.len() > most {
            Ok(bytes)
        } else {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(failed(said.trim().trim_start_matches("fatal: ").to_owned()))
        }
    }

    /// Resolves a revision with git, which exits with 1 if there is no such commit.
    fn resolve_with_git(&self, revision: &str) -> Result<Option<Oid>, StoreError> {
        // Git cannot be asked: arguments of programs end at a NUL.
        if revision.contains('\0') {
            return Ok(None);
        }
        let peeled = format!("{revision}^{{commit}}");
        let line = self.git.line_if_any(&["rev-parse", "--verify", "--quiet", "--end-of-options", &peeled])?;
        line.map(|line| line.parse().map_err(|error| StoreError::git("read what git rev-parse says")(error)))
            .transpose()
    }

    /// Returns the branch whose commits are published: `blue.publishBranch`, otherwise the target of `origin/HEAD`,
    /// otherwise `init.defaultBranch` if that exists, otherwise `main` or `master`, otherwise the only branch. If that is
    /// an alias (a symbolic ref), returns the branch that it stands for, as HEAD does.
    ///
    /// # Errors
    /// Returns an error if refs cannot be read.
    pub fn publishing_branch(&self) -> Result<Option<String>, StoreError> {
        if let Some(branch) = self.config("blue.publishBranch").filter(|branch| !branch.is_empty()) {
            return self.aliased(short(&branch).unwrap_or(branch)).map(Some);
        }
        if let Some(branch) = self.origin_head()? {
            return self.aliased(branch).map(Some);
        }
        let usual = self.config("init.defaultBranch").into_iter().chain(["main".to_owned(), "master".to_owned()]);
        for branch in usual {
            let (end, commit) = self.end(&format!("refs/heads/{branch}"))?;
            // A branch without commits exists if HEAD is on it.
            if commit.is_some() || self.head()?.branch.as_deref() == Some(&branch) {
                return Ok(short(&end).or(Some(branch)));
            }
        }
        let mut branches = self.branches()?;
        if branches.len() == 1 { branches.pop().map(|branch| self.aliased(branch)).transpose() } else { Ok(None) }
    }

    /// Returns the branch that `branch` stands for.
    fn aliased(&self, branch: String) -> Result<String, StoreError> {
        let (end, _) = self.end(&format!("refs/heads/{branch}"))?;
        Ok(short(&end).unwrap_or(branch))
    }

    /// Returns whether `origin/HEAD` still names this branch, but origin has only other branches: it was renamed there.
    ///
    /// # Errors
    /// Returns an error if refs cannot be read.
    pub fn is_gone_at_origin(&self, branch: &str) -> Result<bool, StoreError> {
        if self.config("blue.publishBranch").is_some()
            || self.origin_head()?.as_deref() != Some(branch)
            || self.reference(&self.at_origin(branch))?.is_some()
        {
            return Ok(false);
        }
        self.has_branch_of_origin()
    }

    /// Returns whether a branch of origin was fetched.
    ///
    /// # Errors
    /// Returns an error if refs cannot be read.
    pub fn has_branch_of_origin(&self) -> Result<bool, StoreError> {
        let text = self.git.text(&["for-each-ref", "--format=%(refname)", "--count=1", &self.at_origin("")])?;
        Ok(!text.trim().is_empty())
    }

    fn origin_head(&self) -> Result<Option<String>, StoreError> {
        let target = self.symbolic_target(&self.at_origin("HEAD"))?;
        Ok(target.and_then(|target| target.strip_prefix(&self.at_origin("")).map(str::to_owned)))
    }

    fn branches(&self) -> Result<Vec<String>, StoreError> {
        if self.is_reftable {
            let text = self.git.text(&["for-each-ref", "--format=%(refname)", "refs/heads/"])?;
            return Ok(text.lines().filter_map(short).collect());
        }
        let failed = |error: gix::Error| StoreError::git("list the branches")(error);
        let platform = self.repo.references().map_err(failed)?;
        let names = platform.local_branches().map_err(failed)?.filter_map(Result::ok);
        Ok(names.filter_map(|reference| short(&reference.name().as_bstr().to_string())).collect())
    }
}

/// Returns the git command that is in progress in the working tree of this git dir, if it is one that applies a list of
/// commits or patches.
pub(super) fn rebase(git_dir: &Path) -> Option<&'static str> {
    let has = |name: &str| git_dir.join(name).exists();
    if has("rebase-apply/applying") {
        Some("am")
    } else {
        (has("rebase-merge") || has("rebase-apply")).then_some("rebase")
    }
}

/// Returns the git command in progress that applies a series to the branch itself, and the number of commits that are left.
pub(super) fn series(git_dir: &Path) -> Option<(&'static str, usize)> {
    let read = |name: &str| std::fs::read_to_string(git_dir.join(name)).unwrap_or_default();
    let todo = read("sequencer/todo");
    let mut picks = todo.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    if let Some(first) = picks.next() {
        let command = if first.starts_with("revert") { "revert" } else { "cherry-pick" };
        return Some((command, 1 + picks.count()));
    }
    let number = |name: &str| read(&format!("rebase-apply/{name}")).trim().parse::<usize>().ok();
    let (next, last) = number("next").zip(number("last"))?;
    (rebase(git_dir) == Some("am") && next <= last).then_some(("am", last + 1 - next))
}

fn short(name: &str) -> Option<String> {
    name.strip_prefix("refs/heads/").map(str::to_owned)
}
