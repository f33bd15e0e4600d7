//! Operations of `realm admin`: create, join and change a realm.

pub mod binding;
pub mod bootstrap;
pub mod cache_clear;
pub mod cache_stats;
pub mod config_file;
pub mod contract;
pub mod domain;
pub mod init;
pub mod join;
pub mod leave;
pub mod moved;
pub mod reclaim;
pub mod remove_domain;
pub mod remove_member;
pub mod remove_realm;
pub mod rename;
pub mod reseed;

use super::Operation;

pub(super) const TABLE: &[Operation] = &[
    init::OPERATION,
    join::OPERATION,
    leave::OPERATION,
    reclaim::OPERATION,
    reseed::OPERATION,
    domain::OPERATION,
    contract::OPERATION,
    binding::OPERATION,
    bootstrap::OPERATION,
    rename::OPERATION,
    remove_domain::OPERATION,
    remove_member::OPERATION,
    remove_realm::OPERATION,
    cache_stats::OPERATION,
    cache_clear::OPERATION,
];
