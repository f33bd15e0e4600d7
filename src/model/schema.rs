//! Validates JSON Schemas, and values against them.
//!
//! A schema is validated on its own: a `$ref` out of the document is an error, and nothing is fetched. Neither a
//! schema nor a value can make this take long or use much memory: see [`size`], [`metered`] and [`Budget`].

mod assumed;
mod budget;
mod dangling;
pub(super) mod document;
mod draft;
pub(super) mod ecma;
mod empty_required;
pub(super) mod external;
mod forest;
mod formats;
mod fragments;
mod keyword_warning;
mod keywords;
mod meta;
pub(super) mod metaschemas;
pub(super) mod metered;
mod misspelt;
pub(super) mod multiple;
mod not_a_schema;
pub(super) mod official;
mod other_draft;
pub(super) mod part;
mod pattern;
mod payloads;
mod problem;
mod resources;
mod rewriting;
mod size;
mod subschemas;
pub(super) mod uri;
mod validation;
pub(super) mod validator;
pub(super) mod words;

pub use assumed::{assume_draft, in_draft_of, in_older_draft};
pub use budget::{Budget, Deadline};
pub use draft::Draft;
pub use empty_required::remove_empty_required;
pub use external::{ExternalReference, refers_outside, replace_external};
pub(super) use forest::index;
pub use forest::{Forest, PartId, Tree};
pub use formats::uncompared_formats;
pub use keyword_warning::{KeywordKind, KeywordWarning};
pub use keywords::{is_keyword, warnings};
pub use not_a_schema::schemas_within;
pub use payloads::{Failure, payloads};
pub use problem::{Part, Problem, is_unfinished};
pub use validation::{problems, problems_of, too_large};
