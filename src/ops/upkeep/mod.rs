//! Maintenance of stores: `gc` and `doctor`.

pub mod doctor;
pub mod doctor_objects;
pub mod doctor_sessions;
pub mod doctor_store;
pub mod finding;
pub mod gc;

use super::Operation;

pub(super) const TABLE: &[Operation] = &[gc::OPERATION, doctor::OPERATION];
