//! The user's state on this machine: `$GIT_BLUE_HOME`, and the user's git configuration.

pub mod home;
pub mod repo_paths;
pub mod user_config;
