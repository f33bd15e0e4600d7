//! Refuses numbers that a contract must not have. The files of a bundle may have them in other parts.

use super::{Bundle, BundleError};
use crate::model::json::{INEXACT, Json};

impl Bundle {
    /// Returns the schema, if every JSON parser keeps its numbers exactly, as in a contract.
    ///
    /// # Errors
    /// Returns an error that names the file and place of the first other number.
    pub fn exact(self) -> Result<Json, BundleError> {
        let Some(pointer) = self.schema.inexact() else { return Ok(self.schema) };
        let (file, pointer) = self.origins.of(&pointer);
        Err(BundleError::inexact(file, &pointer, "leave this one out, or write a smaller one"))
    }
}

impl BundleError {
    /// Creates an error about a number that [`Json::inexact`] found, with what to write instead.
    pub fn inexact(file: &str, pointer: &str, advice: &str) -> Self {
        let place = if pointer.is_empty() { String::new() } else { format!("{pointer}: ") };
        Self::new(file, format!("{place}{INEXACT}; {advice}"))
    }
}

#[cfg(test)]
mod tests {
    use super::{super::bundle, *};
    use serde_json::json;

    #[test]
    fn only_numbers_in_the_bundle_count() {
        let parts = json!({
            "good": {"maximum": 9}, "bad": {"items": {"$ref": "other.json#/x"}}, "own": {"const": i64::MAX}, "top": i64::MAX
        });
        let mut load =
            |file: &str| Ok(Json::from(if file == "a.yaml" { parts.clone() } else { json!({"x": {"maximum": 1e16}}) }));
        let mut part = |pointer: &str| bundle("a.yaml", pointer, None, &mut load).and_then(Bundle::exact);
        assert_eq!(part("/good"), Ok(json!({"maximum": 9}).into()));
        for (pointer, place) in
            [("/bad", "other.json: /x/maximum"), ("/own", "a.yaml: /own/const"), ("/top", "a.yaml: /top")]
        {
            let refused = part(pointer).unwrap_err().to_string();
            assert!(refused.starts_with(&format!("{place}: many JSON parsers")), "{refused}");
        }
    }
}
