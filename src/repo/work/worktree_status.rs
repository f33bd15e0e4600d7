//! How far the work in a folder is: what is not committed, not pushed, not merged.

use super::{REMOTE, Work};
use crate::store::StoreError;

/// How far the work in a folder is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Standing {
    /// The branch, without `refs/heads/`; none where HEAD is detached.
    pub branch: Option<String>,
    /// The commit; none before the first one.
    pub head: Option<String>,
    /// How many files differ from it, untracked ones among them.
    pub uncommitted: usize,
    /// How many commits are not in the base.
    pub ahead: usize,
    /// How many commits of the base are not here.
    pub behind: usize,
    /// How many commits its branch at the remote lacks; none where it is not at the remote.
    pub unpushed: Option<usize>,
    /// How many commits are on no branch of a remote, as far as is known here, and not in the base.
    pub only_here: usize,
}

impl Work {
    /// Returns how far the work in this folder is, next to the ref `base`.
    ///
    /// # Errors
    /// Where git cannot say.
    pub fn standing(&self, base: Option<&str>) -> Result<Standing, StoreError> {
        let branch = self.current_branch()?;
        let standing = self.commits("HEAD", branch, base)?;
        Ok(Standing { uncommitted: self.changes()?, ..standing })
    }

    /// Returns how far a branch is that is checked out nowhere.
    ///
    /// # Errors
    /// Where git cannot say.
    pub fn standing_of(&self, branch: &str, base: Option<&str>) -> Result<Standing, StoreError> {
        self.commits(&format!("refs/heads/{branch}"), Some(branch.to_owned()), base)
    }

    /// Returns the branch that is checked out; none where HEAD is detached.
    ///
    /// # Errors
    /// Where git cannot say.
    pub fn current_branch(&self) -> Result<Option<String>, StoreError> {
        self.line(&["symbolic-ref", "--quiet", "--short", "HEAD"])
    }

    fn commits(&self, tip: &str, branch: Option<String>, base: Option<&str>) -> Result<Standing, StoreError> {
        let head = self.line(&["rev-parse", "--verify", "--quiet", "--end-of-options", tip])?;
        let mut standing = Standing { branch, head, ..Standing::default() };
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
            // Where it was pushed without being told to follow, it is there all the same.
            let pushed = format!("refs/remotes/{REMOTE}/{branch}");
            if self.has_ref(&pushed)? {
                standing.unpushed = Some(self.number(&["rev-list", "--count", &format!("{pushed}..{tip}"), "--"])?);
            }
        }
        Ok(standing)
    }

    /// Returns how many submodules are checked out here. What they hold goes with the folder.
    ///
    /// # Errors
    /// Where git cannot say.
    pub fn submodules(&self) -> Result<usize, StoreError> {
        if !self.folder.join(".gitmodules").exists() {
            return Ok(0);
        }
        let text = self.text(&["submodule", "status"])?;
        // The ones that are not checked out have a minus.
        Ok(text.lines().filter(|line| !line.starts_with('-')).count())
    }

    fn changes(&self) -> Result<usize, StoreError> {
        let text =
            self.text(&["--no-optional-locks", "status", "--porcelain", "--no-renames", "--untracked-files=normal"])?;
        Ok(text.lines().count())
    }

    /// Returns whether `base` has everything that a branch has.
    ///
    /// # Errors
    /// Where git cannot say.
    pub fn is_merged(&self, branch: &str, base: &str) -> Result<bool, StoreError> {
        let branch = format!("refs/heads/{branch}");
        Ok(self.number(&["rev-list", "--count", &branch, "--not", base, "--"])? == 0)
    }
}
