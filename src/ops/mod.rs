//! The operations, one per file. All interfaces call the same code.
//!
//! An operation is `run(&Ctx, &Request) -> Result<Answer<_>, OpError>`. It is synchronous and prints nothing. Each is
//! listed in the table of its module, such as [`contract`]; [`TABLE`] lists all of them. Commands, tools, routes and
//! their descriptions are generated from it.

pub mod acting_repo;
pub mod admin;
pub mod as_of;
pub mod binding;
#[cfg(feature = "cli")]
pub mod claude;
pub mod compat;
pub mod contract;
pub mod ctx;
pub mod delivery;
pub mod domain;
pub mod history;
pub mod hooks;
pub mod inboxes;
pub mod init;
pub mod message;
pub mod names;
pub mod notifications;
pub mod notify;
pub mod operation;
pub mod pr;
pub mod prime;
pub mod progress;
pub mod publish;
pub mod random;
pub mod realm;
pub mod repos;
pub mod session;
pub mod sync;
pub mod tools;
pub mod upkeep;
pub mod worktree;

use std::sync::LazyLock;

use schemars::Schema;

use crate::wire::schema;

pub(crate) use operation::runs;
pub use operation::{Operation, Run};

/// The tables of all modules, in the order of the documentation.
const TABLES: &[&[Operation]] = &[
    &[init::OPERATION],
    realm::TABLE,
    &[prime::OPERATION],
    worktree::TABLE,
    pr::TABLE,
    admin::TABLE,
    &[compat::OPERATION],
    contract::TABLE,
    binding::TABLE,
    session::TABLE,
    notifications::TABLE,
    notify::TABLE,
    hooks::TABLE,
    #[cfg(feature = "cli")]
    claude::TABLE,
    upkeep::TABLE,
];

/// All operations, in the order of the documentation.
pub static TABLE: LazyLock<Vec<Operation>> = LazyLock::new(|| TABLES.concat());

/// Returns the JSON Schemas of everything that `--json` may print, each with the name of its file: one for each
/// operation, one for failures, and those that only the command line prints.
pub fn schemas() -> Vec<(&'static str, Schema)> {
    let answers = TABLE.iter().map(|operation| (operation.name, operation.schema()));
    answers.chain([("error", schema::failure()), ("install", schema::installed())]).chain(schema::daemon()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_its_command_with_underscores() {
        for operation in TABLE.iter() {
            assert_eq!(operation.name, operation.cli.join("_").replace('-', "_"));
        }
    }

    #[test]
    fn names_are_unique_and_summaries_are_single_lines() {
        let mut names: Vec<_> = TABLE.iter().map(|operation| operation.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TABLE.len());
        for operation in TABLE.iter() {
            assert!(!operation.summary.ends_with('.') && operation.summary.len() < 72, "{}", operation.summary);
        }
    }
}
