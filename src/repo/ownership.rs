//! Checks the owner of a repository. git refuses to work in another user's repository ("dubious ownership"), because
//! its configuration names programs to run. This program refuses it too, before reading the configuration.

use std::{
    ffi::{OsStr, OsString},
    path::Path,
};

use crate::{
    platform::user,
    repo::DiscoverOptions,
    store::{StoreError, git::git_command},
};

/// Checks that git would work in the repository that was found from `place`.
///
/// # Errors
/// Returns an error if the repository belongs to another user, and no `safe.directory` of the current user lists it.
pub(super) fn check(place: &DiscoverOptions, git_dir: &Path, work_tree: Option<&Path>) -> Result<(), StoreError> {
    let sudo = place.vars.get(OsStr::new("SUDO_UID")).map(OsString::as_os_str);
    let gitfile = work_tree.map(|folder| folder.join(".git")).filter(|path| path.is_file());
    let mut parts = [gitfile.as_deref(), work_tree, Some(git_dir)].into_iter().flatten();
    // Only git understands everything that `safe.directory` may contain, so ask git, but only in this case.
    if parts.all(|path| user::owns(path, sudo)) || git_command::accepts_repository(&place.cwd, &place.vars) {
        return Ok(());
    }
    let path = work_tree.unwrap_or(git_dir);
    let path = place.cwd.join(path);
    Err(StoreError::Dubious { path: dunce::canonicalize(&path).unwrap_or(path) })
}
