//! Validates many payloads against a schema with a single validator.

use std::time::Duration;

use jsonschema::{ValidationError, Validator, error::ValidationErrorKind};
use serde_json::Value;

use super::{
    Budget, Deadline, Document, Forest, Metered, Problem, Spent, UNLISTED, depth, ecma, errors, measured, of_schema,
    on_enough_stack, options, options_for, resources, shortened, undecided,
};
use crate::model::json::Json;

/// The maximum number of failures that are listed for one payload.
const MAX_FAILURES: usize = 20;

/// A place where a payload does not satisfy the schema, or where this is undecided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The JSON Pointer to the place in the payload; empty for the whole payload.
    pub pointer: String,
    /// The JSON Pointer to the keyword that refuses it; empty if it is unknown.
    pub schema_pointer: String,
    /// What is wrong there.
    pub message: String,
    /// Whether it is undecided.
    pub is_undecided: bool,
}

/// Returns the failures of each payload; empty for a valid one. Unlike the value of a contract, a null payload is
/// validated.
///
/// # Errors
/// Returns the problem of the schema itself.
pub fn payloads(schema: &Json, payloads: &[&Value], budget: &Budget) -> Result<Vec<Vec<Failure>>, Problem> {
    let (forest, [root]) = Forest::of_schemas([schema]);
    let nested = measured(forest.tree(root))?;
    let schema = resources::merged(&Document::new(forest.tree(root)))?;
    let deepest = payloads.iter().map(|payload| depth(payload)).max().unwrap_or_default();
    let time = budget.whole();
    budget.spend(|deadline| {
        on_enough_stack(nested * deepest, || {
            let built = options_for(options(), &schema).build(&ecma::patterns(&schema));
            let validator = built.map_err(|error| of_schema(&schema, &error))?;
            Ok(payloads.iter().map(|payload| one(&validator, payload, &deadline, time)).collect())
        })
    })
}

fn one(validator: &Validator<Metered>, payload: &Value, deadline: &Deadline, time: Option<Duration>) -> Vec<Failure> {
    if deadline.is_over() {
        return vec![of_whole(undecided(Spent::Time, time).message, true)];
    }
    match errors(validator, payload, deadline, MAX_FAILURES, failure) {
        Ok((failures, _)) if failures.len() == MAX_FAILURES => failures,
        Ok((failures, Ok(_))) => failures,
        Ok((mut failures, Err(_))) => {
            failures.push(of_whole(UNLISTED.to_owned(), false));
            failures
        }
        Err(spent) => vec![of_whole(undecided(spent, time).message, true)],
    }
}

fn failure(error: &ValidationError<'_>) -> Failure {
    Failure {
        pointer: error.instance_path().to_string(),
        schema_pointer: error.schema_path().to_string(),
        message: shortened(error.to_string()),
        is_undecided: matches!(error.kind(), ValidationErrorKind::BacktrackLimitExceeded { .. }),
    }
}

fn of_whole(message: String, is_undecided: bool) -> Failure {
    Failure { pointer: String::new(), schema_pointer: String::new(), message, is_undecided }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::schema::Part;
    use serde_json::json;

    #[test]
    fn each_payload_is_validated_and_failures_have_places() {
        let schema = json!({
            "$defs": {"id": {"type": "integer"}},
            "type": "object",
            "properties": {"id": {"$ref": "#/$defs/id"}},
            "required": ["id"]
        });
        let values = [json!({"id": 1}), json!({"id": "x"}), json!(null), json!({})];
        let values: Vec<_> = values.iter().collect();
        let found = payloads(&schema.into(), &values, &Budget::default()).unwrap();
        let places: Vec<Vec<_>> = found
            .iter()
            .map(|failures| failures.iter().map(|one| (one.pointer.as_str(), one.schema_pointer.as_str())).collect())
            .collect();
        assert_eq!(places, [vec![], vec![("/id", "/$defs/id/type")], vec![("", "/type")], vec![("", "/required")]]);
    }

    #[test]
    fn references_may_contain_characters_that_uris_may_not() {
        let schema =
            json!({"$ref": "#/definitions/Pick<A,\"b\">", "definitions": {"Pick<A,\"b\">": {"type": "string"}}});
        let found = payloads(&schema.into(), &[&json!("x"), &json!(1)], &Budget::default()).unwrap();
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn an_invalid_schema_is_an_error() {
        let problem = payloads(&json!({"type": "objec"}).into(), &[&json!(1)], &Budget::default()).unwrap_err();
        assert_eq!((problem.part, problem.pointer.as_str()), (Part::Schema, "/type"));
    }
}
