//! What a realm is made of and what its parts mean: names, contracts, bindings, and the rules
//! over them. Pure: no storage, no clock, no terminal.

pub mod binding;
pub mod blueprint;
pub mod candidate;
pub mod change;
pub mod check;
pub mod compatibility;
pub mod conflict;
pub mod contract;
pub mod cycle;
pub mod diff;
pub mod domain;
pub mod hash;
pub mod json;
pub mod json_text;
pub mod line_diff;
pub mod merge;
pub mod merge_order;
pub mod name;
pub mod notification;
pub mod oid;
pub mod publish;
pub mod pull_links;
pub mod range;
pub mod realm;
pub mod schema;
pub mod secret_file;
pub mod session;
pub mod summary;
mod text;
pub mod version;
pub mod view;
