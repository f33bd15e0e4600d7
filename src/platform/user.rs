//! The user that this process runs as.

pub use system::owns;

#[cfg(unix)]
mod system {
    use std::{ffi::OsStr, os::unix::fs::MetadataExt as _, path::Path};

    use rustix::process::geteuid;

    /// Returns whether a file or folder belongs to the user of this process. For root, this includes the user who
    /// called sudo, whose id is `sudo`. Returns false if the owner cannot be determined.
    pub fn owns(path: &Path, sudo: Option<&OsStr>) -> bool {
        path.symlink_metadata().is_ok_and(|at| is_ours(at.uid(), geteuid().as_raw(), sudo))
    }

    fn is_ours(owner: u32, user: u32, sudo: Option<&OsStr>) -> bool {
        let caller = sudo.filter(|_| user == 0).and_then(|id| id.to_str()?.parse().ok());
        owner == user || Some(owner) == caller
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn root_includes_the_user_who_called_sudo() {
            let sudo = Some(OsStr::new("1000"));
            assert!(is_ours(1000, 1000, None) && is_ours(1000, 0, sudo) && is_ours(0, 0, sudo));
            assert!(!is_ours(1000, 0, None) && !is_ours(1000, 0, Some("x".as_ref())) && !is_ours(1000, 1001, sudo));
        }

        #[test]
        fn our_own_files_are_ours() {
            let file = tempfile::NamedTempFile::new().unwrap();
            assert!(owns(file.path(), None) && !owns(&file.path().join("gone"), None));
        }
    }
}

#[cfg(windows)]
#[expect(missing_docs, reason = "the one for Unix is documented")]
mod system {
    use std::{ffi::OsStr, path::Path};

    pub fn owns(path: &Path, _: Option<&OsStr>) -> bool {
        gix_sec::identity::is_path_owned_by_current_user(path).unwrap_or(false)
    }
}
