//! Converts between bytes and model types: JSON in the store, YAML in files written by people.

/// Visits each scalar of YAML with the same result.
macro_rules! scalar_visits {
    ($result:expr) => {
        scalar_visits!($result, visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);

        fn visit_unit<E>(self) -> Result<Node, E> {
            Ok($result)
        }
    };
    ($result:expr, $($visit:ident: $scalar:ty),+) => {
        $(fn $visit<E>(self, _: $scalar) -> Result<Node, E> {
            Ok($result)
        })+
    };
}

mod change;
mod json;
mod jsonc;
mod lines;
mod problem;
mod schema;
mod yaml;
mod yaml_advice;
mod yaml_ambiguity;
mod yaml_render;

pub use change::edit;
pub use json::{decode, encode, encode_contract};
pub use jsonc::plain;
pub use lines::{binding_lines, contract_lines, heading_lines, line_at, lines_at};
pub use problem::Problem;
pub use schema::{MAX_SCHEMA, schema_into};
pub use yaml::{binding, config, contract, document, name_of, too_large, value, value_as, version_from};
pub use yaml_advice::left_by_git;

pub use yaml::{Config, ProposedRealm};
pub use yaml_render::{Typed, render};

/// The size limit of a stored file, in bytes.
pub const MAX_BLOB: usize = 16 << 20;
/// The size limit of a file written by people, in bytes.
pub const MAX_FILE: usize = 1 << 20;
