//! What can be done, one verb a file, decided the same for every surface.
//!
//! An operation is `run(&Ctx, &Request) -> Result<Answer<_>, OpError>`, synchronous, and prints
//! nothing. [`TABLE`] lists them all; the surfaces are held to it by tests.

pub mod acting;
pub mod admin;
pub mod as_of;
pub mod binding;
#[cfg(feature = "cli")]
pub mod claude;
pub mod compat;
pub mod contract;
pub mod ctx;
pub mod domain;
pub mod history;
pub mod hooks;
pub mod init;
pub mod message;
pub mod names;
pub mod notifications;
pub mod notify;
pub mod pr;
pub mod prime;
pub mod publish;
pub mod realm;
pub mod repos;
pub mod session;
pub mod sync;
pub mod tools;
pub mod upkeep;
pub mod worktree;

use schemars::Schema;

use crate::wire::{
    Answer,
    schema::{self, Body},
};

/// One entry of the table of operations.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    /// Its name, the same as an MCP tool, an HTTP route and in the docs.
    pub name: &'static str,
    /// Its command, below `git blue`.
    pub cli: &'static [&'static str],
    /// What it does, in one line.
    pub summary: &'static str,
    /// Whether it changes the realm, this machine's records, or the repository's hooks.
    pub writes: bool,
    /// The JSON Schema of its answer, without a title; see [`Operation::schema`].
    answer: fn() -> Schema,
    /// Reads an answer as a client does, and writes it again; see [`schema::reread`].
    pub reread: fn(&str) -> serde_json::Result<serde_json::Value>,
}

impl Operation {
    /// An operation that reads, and answers with `T`.
    const fn read<T: Body>(name: &'static str, cli: &'static [&'static str], summary: &'static str) -> Self {
        Self { name, cli, summary, writes: false, answer: schema::answer::<T>, reread: schema::reread::<Answer<T>> }
    }

    /// An operation that writes, and answers with `T`.
    const fn write<T: Body>(name: &'static str, cli: &'static [&'static str], summary: &'static str) -> Self {
        Self { name, cli, summary, writes: true, answer: schema::answer::<T>, reread: schema::reread::<Answer<T>> }
    }

    /// Returns the JSON Schema of what it answers where it succeeds. Failures are the same for all
    /// operations: [`schema::failure`].
    pub fn schema(&self) -> Schema {
        schema::titled((self.answer)(), self.name, self.summary)
    }
}

/// Every operation, in the order of the docs.
pub const TABLE: &[Operation] = &[
    init::OPERATION,
    realm::status::OPERATION,
    realm::check::OPERATION,
    realm::review::OPERATION,
    prime::OPERATION,
    realm::sync::OPERATION,
    realm::list::OPERATION,
    realm::log::OPERATION,
    realm::topology::OPERATION,
    realm::compare::OPERATION,
    realm::conflict_accept::OPERATION,
    realm::conflict_undo::OPERATION,
    worktree::create::OPERATION,
    worktree::list::OPERATION,
    worktree::remove::OPERATION,
    pr::status::OPERATION,
    pr::prepare::OPERATION,
    pr::create::OPERATION,
    pr::comment::OPERATION,
    admin::init::OPERATION,
    admin::join::OPERATION,
    admin::leave::OPERATION,
    admin::reclaim::OPERATION,
    admin::reseed::OPERATION,
    admin::domain::OPERATION,
    admin::contract::OPERATION,
    admin::binding::OPERATION,
    admin::bootstrap::OPERATION,
    admin::rename::OPERATION,
    admin::remove_domain::OPERATION,
    admin::remove_member::OPERATION,
    admin::remove_realm::OPERATION,
    admin::cache_stats::OPERATION,
    admin::cache_clear::OPERATION,
    compat::OPERATION,
    contract::list::OPERATION,
    contract::get::OPERATION,
    contract::log::OPERATION,
    contract::timeline::OPERATION,
    contract::blame::OPERATION,
    contract::diff::OPERATION,
    contract::impact::OPERATION,
    contract::validate::OPERATION,
    contract::publish::OPERATION,
    contract::new::OPERATION,
    contract::bump::OPERATION,
    contract::edit::OPERATION,
    contract::retire::OPERATION,
    contract::yank::OPERATION,
    contract::adapted::OPERATION,
    contract::expect::OPERATION,
    contract::approve::OPERATION,
    contract::transfer::OPERATION,
    binding::import::OPERATION,
    binding::export::OPERATION,
    binding::unimport::OPERATION,
    binding::unexport::OPERATION,
    session::start::OPERATION,
    session::status::OPERATION,
    session::list::OPERATION,
    session::stop::OPERATION,
    notifications::list::OPERATION,
    notifications::ack::OPERATION,
    notifications::watch::OPERATION,
    hooks::INSTALL,
    hooks::UNINSTALL,
    hooks::STATUS,
    #[cfg(feature = "cli")]
    claude::INSTALL,
    #[cfg(feature = "cli")]
    claude::UNINSTALL,
    upkeep::gc::OPERATION,
    upkeep::doctor::OPERATION,
];

/// Returns the JSON Schema of everything that `--json` may print, with the name of its file: one of
/// each operation, of a failure, and of what is the command line's alone.
pub fn schemas() -> Vec<(&'static str, Schema)> {
    let answers = TABLE.iter().map(|operation| (operation.name, operation.schema()));
    answers.chain([("error", schema::failure()), ("install", schema::installed())]).chain(schema::daemon()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_its_command_with_underscores() {
        for operation in TABLE {
            assert_eq!(operation.name, operation.cli.join("_").replace('-', "_"));
        }
    }

    #[test]
    fn names_are_unique_and_summaries_one_line() {
        let mut names: Vec<_> = TABLE.iter().map(|operation| operation.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TABLE.len());
        for operation in TABLE {
            assert!(!operation.summary.ends_with('.') && operation.summary.len() < 72, "{}", operation.summary);
        }
    }
}
