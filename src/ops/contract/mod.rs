//! Operations on contracts, one per file.

pub mod adapted;
pub mod approve;
pub mod blame;
pub mod bump;
pub mod diff;
pub mod documents;
pub mod draft;
pub mod edit;
pub mod expect;
pub mod get;
pub mod impact;
pub mod list;
pub mod log;
pub mod new;
pub mod publish;
pub mod retire;
pub mod schema_file;
pub mod timeline;
pub mod transfer;
pub mod validate;
pub mod verdict;
pub mod yank;

use super::Operation;

pub(super) const TABLE: &[Operation] = &[
    list::OPERATION,
    get::OPERATION,
    log::OPERATION,
    timeline::OPERATION,
    blame::OPERATION,
    diff::OPERATION,
    impact::OPERATION,
    validate::OPERATION,
    publish::OPERATION,
    new::OPERATION,
    bump::OPERATION,
    edit::OPERATION,
    retire::OPERATION,
    yank::OPERATION,
    adapted::OPERATION,
    expect::OPERATION,
    approve::OPERATION,
    transfer::OPERATION,
];
