//! Operations on a realm as a whole: status, check, sync, review, log, conflicts.

pub mod check;
pub mod check_base;
mod check_scripts;
pub mod check_subject;
pub mod compare;
pub mod conflict_accept;
pub mod conflict_reject;
pub mod list;
pub mod log;
pub mod review;
pub mod settle;
pub mod status;
pub mod sync;
pub mod topology;

use super::Operation;

pub(super) const TABLE: &[Operation] = &[
    status::OPERATION,
    check::OPERATION,
    review::OPERATION,
    sync::OPERATION,
    list::OPERATION,
    log::OPERATION,
    topology::OPERATION,
    compare::OPERATION,
    conflict_accept::OPERATION,
    conflict_reject::OPERATION,
];
