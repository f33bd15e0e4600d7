//! The user's repositories: their folders, whether they joined, and which repository of the realm they are.

pub mod commit_links;
pub mod ephemeral_realm;
pub mod for_each;
pub mod forges;
pub mod git_dir_file;
pub mod identity;
pub mod joined;
pub mod paths;
pub mod roots;
pub mod unknown;
