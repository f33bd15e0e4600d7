//! Locks of files, beyond what the standard library has.

use std::path::{Path, PathBuf};

/// Returns the file to lock for who writes into the file at `path` while others read it: on Unix the file itself. On
/// Windows nobody else can read a locked file, so it is one beside it.
pub fn file_to_lock(path: &Path) -> PathBuf {
    let mut file = path.as_os_str().to_owned();
    file.push(if cfg!(windows) { ".lock" } else { "" });
    file.into()
}

/// Returns an id of this boot of this machine, or an empty string where the system has none: Linux alone does.
pub fn boot_id() -> String {
    let path = "/proc/sys/kernel/random/boot_id";
    std::fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}
