//! Reads the previous position of a branch, and which of its commits are in its upstream.

use crate::repo::CodeRepo;
use crate::{
    model::oid::Oid,
    store::{
        StoreError,
        git::objects::{native, to_oid},
    },
};

impl CodeRepo {
    /// Returns the tip of the branch that `branch` is pushed to: its upstream, or else the branch of the same name at
    /// origin.
    ///
    /// # Errors
    /// Returns an error if refs cannot be read.
    pub fn upstream(&self, branch: &str) -> Result<Option<Oid>, StoreError> {
        let full = format!("refs/heads/{branch}");
        let tracking = if self.is_reftable {
            self.git.line(&["rev-parse", "--symbolic-full-name", &format!("{full}@{{upstream}}")]).ok()
        } else {
            let name: Option<gix::refs::FullName> = full.as_str().try_into().ok();
            let found = name.and_then(|name| {
                self.repo.branch_remote_tracking_ref_name(name.as_ref(), gix::remote::Direction::Fetch)
            });
            found.and_then(Result::ok).map(|name| name.as_bstr().to_string())
        };
        self.reference(&tracking.unwrap_or_else(|| format!("refs/remotes/origin/{branch}")))
    }

    /// Returns the best common ancestor of two commits, if there is one.
    ///
    /// # Errors
    /// Returns an error if history cannot be read.
    pub fn merge_base(&self, one: &Oid, other: &Oid) -> Result<Option<Oid>, StoreError> {
        if one == other {
            return Ok(Some(*one));
        }
        let base = self.repo.merge_base(native(&self.repo, one)?, native(&self.repo, other)?);
        Ok(base.map_err(|error| StoreError::git("walk the history")(error))?.map(|base| to_oid(&base)))
    }

    /// Returns the previous position of a branch, according to its reflog.
    ///
    /// # Errors
    /// Returns an error if the reflog cannot be read.
    pub fn previous_tip(&self, branch: &str) -> Result<Option<Oid>, StoreError> {
        let name = format!("refs/heads/{branch}");
        if self.is_reftable {
            let line = self.git.line(&["rev-parse", "--verify", "--quiet", &format!("{name}@{{1}}")]);
            return Ok(line.ok().and_then(|line| line.parse().ok()));
        }
        let failed = |error: gix::Error| StoreError::git("read the reflog")(error);
        let Some(reference) = self.repo.try_find_reference(name.as_str()).map_err(failed)? else {
            return Ok(None);
        };
        let mut log = reference.log_iter();
        let Some(mut lines) = log.rev().map_err(|error| StoreError::git("read the reflog")(error))? else {
            return Ok(None);
        };
        let last = lines.next().and_then(Result::ok);
        Ok(last.map(|line| line.previous_oid).filter(|id| !id.is_null()).map(|id| to_oid(&id)))
    }
}
