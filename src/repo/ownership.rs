//! Checks the owner of a repository. git refuses a repository of another user ("dubious ownership"), because its
//! configuration names programs to run. It is refused here too, before its configuration is read.

use std::{ffi::OsString, os::unix::fs::MetadataExt as _, path::Path};

use crate::repo::Place;
use crate::store::{StoreError, git::git_command};

/// Checks that git would work in the repository that was found from `place`.
///
/// # Errors
/// Returns an error if the repository belongs to another user, and no `safe.directory` of this user lists it.
pub(super) fn check(place: &Place, git_dir: &Path, work_tree: Option<&Path>) -> Result<(), StoreError> {
    let owners = owners(place);
    let gitfile = work_tree.map(|folder| folder.join(".git")).filter(|path| path.is_file());
    let mut parts = [gitfile.as_deref(), work_tree, Some(git_dir)].into_iter().flatten();
    // A path that cannot be examined counts as another user's.
    let is_ours = |path: &Path| path.symlink_metadata().is_ok_and(|at| owners.contains(&at.uid()));
    // Only git knows everything that `safe.directory` supports. It is asked only in this case.
    if parts.all(is_ours) || git_command::works_in(&place.cwd, &place.vars) {
        return Ok(());
    }
    let path = work_tree.unwrap_or(git_dir);
    let path = place.cwd.join(path);
    Err(StoreError::Dubious { path: path.canonicalize().unwrap_or(path) })
}

/// Returns the accepted owners. Under sudo, root also accepts the user who called it.
fn owners(place: &Place) -> Vec<u32> {
    let mut owners = vec![rustix::process::geteuid().as_raw()];
    let sudo = place.vars.get(&OsString::from("SUDO_UID"));
    if owners == [0] {
        owners.extend(sudo.and_then(|id| id.to_str()?.parse::<u32>().ok()));
    }
    owners
}
