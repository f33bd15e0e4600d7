//! Publishes the files under `.blue/` at a commit to the realm.

pub mod behind;
pub mod branch_commit;
pub mod candidate;
pub mod catch_up;
pub mod changed_by;
pub mod concurrent;
pub mod cycles;
pub mod dispute;
pub mod editor_schemas;
pub mod former;
pub mod hint;
pub mod lost_contracts;
pub mod places;
pub mod policy;
pub mod publish_and_sync;
pub mod publish_log;
pub mod published;
mod published_files;
pub mod publishing_branch;
pub mod references;
pub mod removal;
pub mod removed_files;
pub mod rollback;
pub mod to_url;
pub mod uncommitted;
pub mod unpublished;
pub mod work_file;
