//! The user's state on this machine: `$GIT_BLUE_HOME`, and the user's own configuration of git.

pub mod home;
pub mod user_config;
