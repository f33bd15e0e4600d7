//! How much the long tests do.

use git_blue::env::Env;

/// Returns whether they do everything, as in `make torture`.
pub fn is_full() -> bool {
    Env::from_process().unwrap().text("GIT_BLUE_TORTURE") == Some("full")
}
