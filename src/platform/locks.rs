//! File locks, beyond those of the standard library.

use std::path::{Path, PathBuf};

/// Returns the file to lock before writing to `path` while others read it: on Unix, the file
/// itself. On Windows, a locked file cannot be read by others, so it is a file next to it.
pub fn file_to_lock(path: &Path) -> PathBuf {
    let mut file = path.as_os_str().to_owned();
    file.push(if cfg!(windows) { ".lock" } else { "" });
    file.into()
}

/// Returns an id of the current boot, or an empty string if the system has none. Only Linux has one.
pub fn boot_id() -> String {
    let path = "/proc/sys/kernel/random/boot_id";
    std::fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}
