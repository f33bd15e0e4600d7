//! What can be done, one verb a file, decided the same for every surface.
//!
//! An operation is `run(&Ctx, &Request) -> Result<Answer<_>, OpError>`, synchronous, and prints
//! nothing. [`TABLE`] lists them all; the surfaces are held to it by tests.

pub mod arrival;
pub mod blue_files;
pub mod borrow;
pub mod candidate;
pub mod catch_up;
pub mod check_base;
pub mod check_subject;
pub mod claude;
pub mod compat;
pub mod contract_adapted;
pub mod contract_diff;
pub mod contract_edit;
pub mod contract_get;
pub mod contract_impact;
pub mod contract_list;
pub mod contract_log;
pub mod contract_publish;
pub mod contract_retire;
pub mod contract_timeline;
pub mod contract_transfer;
pub mod contract_yank;
pub mod ctx;
mod cycles;
pub mod declared_tools;
pub mod doctor;
mod doctor_objects;
mod doctor_sessions;
pub mod domain;
pub mod draft;
mod forges;
pub mod gc;
mod git_dir_file;
pub mod hint;
pub mod hooks;
pub mod identity;
pub mod inbox;
pub mod init;
pub mod joined;
mod log;
mod many;
mod merge_steps;
pub mod message;
pub mod names;
pub mod notifications_ack;
pub mod notifications_list;
pub mod notifications_watch;
mod origins;
pub mod pending;
mod pending_cache;
pub mod publish_log;
pub mod publish_to_url;
pub mod realm_admin_binding;
pub mod realm_admin_bootstrap;
pub mod realm_admin_cache_clear;
pub mod realm_admin_cache_stats;
pub mod realm_admin_contract;
pub mod realm_admin_domain;
pub mod realm_admin_init;
pub mod realm_admin_join;
pub mod realm_admin_leave;
pub mod realm_admin_reclaim;
pub mod realm_admin_remove_domain;
pub mod realm_admin_remove_member;
pub mod realm_admin_remove_realm;
pub mod realm_admin_rename;
pub mod realm_admin_reseed;
pub mod realm_check;
pub mod realm_compare;
pub mod realm_conflict_accept;
pub mod realm_conflict_undo;
pub mod realm_list;
pub mod realm_log;
pub mod realm_pr_create;
pub mod realm_pr_prepare;
pub mod realm_pr_status;
pub mod realm_status;
pub mod realm_sync;
pub mod realm_topology;
pub mod realm_worktree_create;
pub mod realm_worktree_list;
pub mod realm_worktree_remove;
mod remote_status;
pub mod renamed;
pub mod rest;
pub mod rfc;
pub mod session;
pub mod session_list;
pub mod session_mark;
pub mod session_start;
pub mod session_status;
pub mod session_stop;
pub mod session_upkeep;
pub mod session_work;
mod settle;
mod shared;
pub mod stand;
mod sync_remote;
pub mod tell;
pub mod tool_environment;
pub mod unpublished;
pub mod url;
mod whereabouts;
mod worktrees;

use schemars::{JsonSchema, Schema};

use crate::wire::schema;

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
}

impl Operation {
    /// An operation that reads, and answers with `T`.
    const fn read<T: JsonSchema>(name: &'static str, cli: &'static [&'static str], summary: &'static str) -> Self {
        Self { name, cli, summary, writes: false, answer: schema::answer::<T> }
    }

    /// An operation that writes, and answers with `T`.
    const fn write<T: JsonSchema>(name: &'static str, cli: &'static [&'static str], summary: &'static str) -> Self {
        Self { name, cli, summary, writes: true, answer: schema::answer::<T> }
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
    realm_status::OPERATION,
    realm_check::OPERATION,
    realm_sync::OPERATION,
    realm_list::OPERATION,
    realm_log::OPERATION,
    realm_topology::OPERATION,
    realm_compare::OPERATION,
    realm_conflict_accept::OPERATION,
    realm_conflict_undo::OPERATION,
    realm_worktree_create::OPERATION,
    realm_worktree_list::OPERATION,
    realm_worktree_remove::OPERATION,
    realm_pr_status::OPERATION,
    realm_pr_prepare::OPERATION,
    realm_pr_create::OPERATION,
    realm_admin_init::OPERATION,
    realm_admin_join::OPERATION,
    realm_admin_leave::OPERATION,
    realm_admin_reclaim::OPERATION,
    realm_admin_reseed::OPERATION,
    realm_admin_domain::OPERATION,
    realm_admin_contract::OPERATION,
    realm_admin_binding::OPERATION,
    realm_admin_bootstrap::OPERATION,
    realm_admin_rename::OPERATION,
    realm_admin_remove_domain::OPERATION,
    realm_admin_remove_member::OPERATION,
    realm_admin_remove_realm::OPERATION,
    realm_admin_cache_stats::OPERATION,
    realm_admin_cache_clear::OPERATION,
    compat::OPERATION,
    contract_list::OPERATION,
    contract_get::OPERATION,
    contract_log::OPERATION,
    contract_timeline::OPERATION,
    contract_diff::OPERATION,
    contract_impact::OPERATION,
    contract_publish::OPERATION,
    contract_edit::OPERATION,
    contract_retire::OPERATION,
    contract_yank::OPERATION,
    contract_adapted::OPERATION,
    contract_transfer::OPERATION,
    session_start::OPERATION,
    session_status::OPERATION,
    session_list::OPERATION,
    session_stop::OPERATION,
    notifications_list::OPERATION,
    notifications_ack::OPERATION,
    notifications_watch::OPERATION,
    hooks::INSTALL,
    hooks::UNINSTALL,
    hooks::STATUS,
    claude::INSTALL,
    claude::UNINSTALL,
    gc::OPERATION,
    doctor::OPERATION,
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
