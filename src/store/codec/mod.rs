//! Bytes to model and back: JSON as the store keeps it, YAML as people write it.

mod change;
mod json;
mod problem;
mod schema;
mod yaml;
mod yaml_advice;
mod yaml_ambiguity;
mod yaml_node;

pub use change::edit;
pub use json::{decode, encode};
pub use problem::Problem;
pub use schema::{MAX_SCHEMA, schema};
pub use yaml::{
    binding, binding_lines, config, contract, contract_lines, document, line_at, render, value, version_from,
};

pub use yaml::{Config, ProposedRealm, Typed};

/// Largest stored file that is read, in bytes.
pub const MAX_BLOB: usize = 8 << 20;
/// Largest file written by people that is read, in bytes.
pub const MAX_FILE: usize = 1 << 20;
