//! Sets aside corrupt objects that nothing refers to. git complains about them for as long as they are there.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
};

use super::{GitStore, packing};
use crate::store::StoreError;

/// The folder of a store to which they are moved.
const ASIDE: &str = "blue/corrupt";

impl GitStore {
    /// Moves the loose objects that `complaints`, the messages of [`Self::fsck`], name to another folder, if everything
    /// that refs lead to can be read. Returns their files there.
    ///
    /// # Errors
    /// Returns an error if git cannot be run, or a file cannot be moved.
    pub fn set_corrupt_aside(
        &self,
        vars: &BTreeMap<OsString, OsString>,
        complaints: &[String],
    ) -> Result<Vec<PathBuf>, StoreError> {
        let objects = self.path().join("objects");
        let is_corrupt = |path: &PathBuf| {
            place(path, &objects).is_some_and(|place| complaints.iter().any(|line| line.contains(&place)))
        };
        let corrupt: Vec<_> = packing::loose_files(&objects).into_iter().filter(is_corrupt).collect();
        if corrupt.is_empty() || !self.is_complete(vars) {
            return Ok(Vec::new());
        }
        let aside = self.path().join(ASIDE);
        std::fs::create_dir_all(&aside).map_err(StoreError::io("create", &aside))?;
        let set_aside = |path: PathBuf| {
            let to = aside.join(packing::id(&path).unwrap_or_default());
            std::fs::rename(&path, &to).map_err(StoreError::io("move", &path)).map(|()| to)
        };
        corrupt.into_iter().map(set_aside).collect()
    }

    /// Returns whether every object that is reachable from refs and reflogs can be read.
    fn is_complete(&self, vars: &BTreeMap<OsString, OsString>) -> bool {
        self.git(vars).text(&["rev-list", "--verify-objects", "--quiet", "--all", "--reflog"]).is_ok()
    }
}

/// Returns the path of a loose object as git writes it in messages: `12/34…`.
fn place(path: &Path, objects: &Path) -> Option<String> {
    let parts: Vec<_> = path.strip_prefix(objects).ok()?.iter().map(|part| part.to_str()).collect::<Option<_>>()?;
    Some(parts.join("/"))
}
