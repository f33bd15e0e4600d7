//! What a realm is made of and what its parts mean: names, contracts, bindings, and the rules
//! over them. Pure: no storage, no clock, no terminal.

pub mod binding;
pub mod blueprint;
pub mod bundle;
pub mod candidate;
pub mod change;
pub mod check;
pub mod clock;
pub mod compatibility;
pub mod conflict;
pub mod contract;
pub mod cycle;
pub mod diff;
pub mod domain;
pub mod domain_summary;
pub mod domain_view;
pub mod effects;
pub mod hash;
pub mod json;
#[cfg(feature = "cli")]
pub mod json_text;
#[cfg(feature = "cli")]
pub mod line_diff;
pub mod merge;
pub mod merge_order;
pub mod merge_plan;
pub mod name;
pub mod narrowing;
pub mod nearest;
pub mod notification;
pub mod oid;
pub mod publish;
pub mod pull_links;
pub mod range;
pub mod realm;
pub mod repo_url;
pub mod samples;
pub mod schema;
pub mod secret_file;
pub mod session;
pub mod set_aside;
mod text;
pub mod trailer;
pub mod transfer;
pub mod version;
pub mod yaml_text;
