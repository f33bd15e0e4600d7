//! JSON Schema: is the schema itself valid, and does the value satisfy it?
//!
//! A schema is judged alone: a `$ref` that leads out of the document is an error, nothing is
//! fetched.

use serde_json::Value;

/// Most problems reported of one document; the rest is counted in a last one.
const MAX_PROBLEMS: usize = 50;
/// Longest message kept of one problem, in characters: it may quote a part of the document.
const MAX_MESSAGE: usize = 300;

/// One place in a schema or value that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Whether the schema or the value is wrong.
    pub part: Part,
    /// JSON Pointer (RFC 6901) to the place; empty for the whole.
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
}

/// Which of the two a [`Problem`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The schema is not valid JSON Schema.
    Schema,
    /// The value does not satisfy the schema.
    Value,
}

/// Returns every problem of `schema`, or if it has none, every place where `value` fails it.
/// A null `value` means that nothing but the shape is agreed, and is not judged.
pub fn problems(schema: &Value, value: &Value) -> Vec<Problem> {
    if let Err(error) = jsonschema::meta::validate(schema) {
        return vec![problem(Part::Schema, &error)];
    }
    match jsonschema::options().offline().build(schema) {
        Err(error) => vec![problem(Part::Schema, &error)],
        Ok(_) if value.is_null() => Vec::new(),
        Ok(validator) => {
            let mut errors = validator.iter_errors(value);
            let mut found: Vec<_> =
                errors.by_ref().take(MAX_PROBLEMS).map(|error| problem(Part::Value, &error)).collect();
            let rest = errors.count();
            if rest > 0 {
                found.push(Problem { part: Part::Value, pointer: String::new(), message: format!("and {rest} more") });
            }
            found
        }
    }
}

fn problem(part: Part, error: &jsonschema::ValidationError<'_>) -> Problem {
    let mut message = error.to_string();
    if let Some((cut, _)) = message.char_indices().nth(MAX_MESSAGE) {
        message.truncate(cut);
        message.push('…');
    }
    Problem { part, pointer: error.instance_path().to_string(), message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_failing_path_is_named() {
        let schema = json!({"type": "object", "properties": {
            "read": {"type": "array", "items": {"type": "string"}}, "n": {"type": "integer"}}});
        let found = problems(&schema, &json!({"read": ["a", 1, true], "n": "x"}));
        let pointers: Vec<_> = found.iter().map(|problem| problem.pointer.as_str()).collect();
        assert_eq!(pointers, ["/n", "/read/1", "/read/2"]);
    }

    #[test]
    fn a_broken_schema_is_named_with_its_place() {
        let found = problems(&json!({"properties": {"a": {"type": "strin"}}}), &json!({}));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].part, Part::Schema);
        assert_eq!(found[0].pointer, "/properties/a/type");
    }

    #[test]
    fn nothing_is_fetched() {
        let found = problems(&json!({"$ref": "https://example.com/schema.json"}), &json!(1));
        assert_eq!(found[0].part, Part::Schema, "{found:?}");
    }

    #[test]
    fn recursion_and_references_work() {
        let schema = json!({"$defs": {"node": {"type": "object", "properties": {
            "next": {"$ref": "#/$defs/node"}}, "additionalProperties": false}}, "$ref": "#/$defs/node"});
        assert_eq!(problems(&schema, &json!({"next": {"next": {}}})), []);
        assert_eq!(problems(&schema, &json!({"next": {"next": {"x": 1}}})).len(), 1);
    }

    #[test]
    fn a_null_value_agrees_on_the_shape_alone() {
        assert_eq!(problems(&json!({"type": "object"}), &Value::Null), []);
    }
}
