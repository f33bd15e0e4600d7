//! The options for building validators: without network access, and with bounded patterns.

use std::sync::Arc;

use jsonschema::{FancyRegex, PatternOptions, Retrieve, ValidationOptions};
use serde_json::Value;

use super::{metered::Metered, multiple, official};

/// The size limit of a compiled pattern, in bytes. [`super::pattern`] limits the states of all patterns.
const PATTERN_SIZE: usize = 64 << 20;
/// The limit on the backtracking steps of a pattern, and on the memory for matching one without backtracking.
const BACKTRACKS: usize = 100_000;
const PATTERN_CACHE: usize = 64 << 10;

/// Options for building a validator.
pub(in crate::model) type Options = ValidationOptions<'static, Arc<dyn Retrieve>, Metered>;

/// Returns the options for validators: without network access, and with bounded patterns.
pub(super) fn options() -> Options {
    with_patterns(patterns().dfa_size_limit(PATTERN_CACHE).backtrack_limit(BACKTRACKS))
}

/// Returns the options for validators that may take as much memory for a pattern as they need.
pub(in crate::model) fn unbounded_options() -> Options {
    with_patterns(patterns().backtrack_limit(BACKTRACKS))
}

fn patterns() -> PatternOptions<FancyRegex> {
    PatternOptions::fancy_regex().size_limit(PATTERN_SIZE)
}

fn with_patterns(patterns: PatternOptions<FancyRegex>) -> Options {
    let options = jsonschema::options_for::<Metered>().offline().with_pattern_options(patterns);
    options.with_keyword("multipleOf", multiple::keyword)
}

/// Adds the meta-schemas of other drafts if `schema` refers to one.
pub(in crate::model) fn options_for(options: Options, schema: &Value) -> Options {
    if official::needs_other_drafts(schema) { options.with_registry(&referencing::SPECIFICATIONS) } else { options }
}
