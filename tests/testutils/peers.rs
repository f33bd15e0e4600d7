//! Other programs, and files, that the peer suites need.

use std::path::{Path, PathBuf};

use git_blue::env::Env;

/// Returns the folder in which `make peers` and `.ci/run` install them.
pub fn peers() -> PathBuf {
    let named = Env::from_process().unwrap().var("GIT_BLUE_PEERS").map(PathBuf::from);
    named.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target/peers"))
}
