//! Compares a branch with its upstream.

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
    /// origin. A branch of a mirror is its own upstream.
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
        let tracking = tracking.unwrap_or_else(|| if self.is_mirror() { full } else { self.at_origin(branch) });
        self.reference(&tracking)
    }

    /// Returns whether a fetch from origin overwrites the branches of this repository.
    fn is_mirror(&self) -> bool {
        let refspec = self.config(&format!("remote.{}.fetch", self.origin()));
        refspec.is_some_and(|spec| ["+refs/*:refs/*", "+refs/heads/*:refs/heads/*"].contains(&spec.as_str()))
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
}
