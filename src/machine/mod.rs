//! What belongs to this user on this machine: `$GIT_BLUE_HOME`, and the configuration of git that is the user's own.

pub mod home;
pub mod user_config;
