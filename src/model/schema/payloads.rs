//! Validates many payloads against a schema: with a single validator, or, if it is large, each against its part.

use std::time::Duration;

use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use super::{
    Budget, Deadline, Forest, Problem,
    document::Document,
    ecma, is_unfinished, meta,
    metered::{Metered, Spent},
    part,
    problem::{of_schema, shortened},
    resources,
    validation::{UNLISTED, depth, errors, measured, on_enough_stack, undecided},
    validator::{options, options_for},
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

/// The failures of one payload; none for a valid one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failures {
    /// The first failures.
    pub listed: Vec<Failure>,
    /// The number of the others.
    pub more: usize,
}

/// Returns the failures of each payload. Unlike the value of a contract, a null payload is
/// validated.
///
/// # Errors
/// Returns the problem of the schema itself.
pub fn payloads(schema: &Json, payloads: &[&Value], budget: &Budget) -> Result<Vec<Failures>, Problem> {
    let (forest, [root]) = Forest::of_schemas([schema]);
    let nested = measured(forest.tree(root))?;
    let document = Document::new(forest.tree(root));
    let whole = (!part::is_cut(&document)).then(|| resources::merged(&document)).transpose()?;
    let deepest = payloads.iter().map(|payload| depth(payload)).max().unwrap_or_default();
    let time = budget.whole();
    budget.spend(|deadline| {
        on_enough_stack(nested * deepest, || {
            let judged = |validator: &Validator<Metered>, payload: &Value| one(validator, payload, &deadline, time);
            if let Some(schema) = &whole {
                let validator = validator(schema)?;
                return Ok(payloads.iter().map(|payload| judged(&validator, payload)).collect());
            }
            if let Some(problem) = meta::problem(document.root).or_else(|| part::problem(&document)) {
                return Err(problem);
            }
            let judged = |payload: &&Value| Ok(judged(&validator(&part::for_value(&document, payload))?, payload));
            payloads.iter().map(judged).collect()
        })
    })
}

fn validator(schema: &Value) -> Result<Validator<Metered>, Problem> {
    let built = options_for(options(), schema).build(&ecma::patterns(schema));
    built.map_err(|error| of_schema(schema, &error))
}

fn one(validator: &Validator<Metered>, payload: &Value, deadline: &Deadline, time: Option<Duration>) -> Failures {
    let is_undecided = |spent| Failures { listed: vec![of_whole(undecided(spent, time).message, true)], more: 0 };
    if deadline.is_over() {
        return is_undecided(Spent::Time);
    }
    match errors(validator, payload, deadline, MAX_FAILURES, failure) {
        Ok((listed, Ok(more))) => Failures { listed, more },
        Ok((mut listed, Err(_))) => {
            listed.push(of_whole(UNLISTED.to_owned(), false));
            Failures { listed, more: 0 }
        }
        Err(spent) => is_undecided(spent),
    }
}

fn failure(error: &ValidationError<'_>) -> Failure {
    Failure {
        pointer: error.instance_path().to_string(),
        schema_pointer: error.schema_path().to_string(),
        message: shortened(error.to_string()),
        is_undecided: is_unfinished(error),
    }
}

fn of_whole(message: String, is_undecided: bool) -> Failure {
    Failure { pointer: String::new(), schema_pointer: String::new(), message, is_undecided }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::schema::Part;
    use serde_json::{Map, json};

    #[test]
    fn each_payload_is_validated_and_failures_have_places() {
        let places = |others: usize| -> Vec<Vec<(String, String)>> {
            let mut schema = json!({
                "$defs": {"id": {"type": "integer"}},
                "type": "object",
                "properties": {"id": {"$ref": "#/$defs/id"}},
                "required": ["id"]
            });
            // A validator is built from a part of a large schema.
            schema["$defs"].as_object_mut().unwrap().extend((0..others).map(|other| (other.to_string(), json!({}))));
            let values = [json!({"id": 1}), json!({"id": "x"}), json!(null), json!({})];
            let values: Vec<_> = values.iter().collect();
            let found = payloads(&schema.into(), &values, &Budget::default()).unwrap();
            found
                .into_iter()
                .map(|all| all.listed.into_iter().map(|one| (one.pointer, one.schema_pointer)).collect())
                .collect()
        };
        let place = |at: &str, by: &str| vec![(at.to_owned(), by.to_owned())];
        let expected = [vec![], place("/id", "/$defs/id/type"), place("", "/type"), place("", "/required")];
        assert_eq!(places(0), expected);
        assert_eq!(places(20_000), places(0));
    }

    #[test]
    fn references_may_contain_characters_that_uris_may_not() {
        let schema =
            json!({"$ref": "#/definitions/Pick<A,\"b\">", "definitions": {"Pick<A,\"b\">": {"type": "string"}}});
        let found = payloads(&schema.into(), &[&json!("x"), &json!(1)], &Budget::default()).unwrap();
        assert_eq!(found.iter().map(|one| one.listed.len()).collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn an_invalid_schema_is_an_error() {
        let mut schema = json!({"type": "objec"});
        for others in [0, 20_000] {
            schema["$defs"] = (0..others).map(|other| (other.to_string(), json!({}))).collect::<Map<_, _>>().into();
            let problem = payloads(&schema.clone().into(), &[&json!(1)], &Budget::default()).unwrap_err();
            assert_eq!((problem.part, problem.pointer.as_str()), (Part::Schema, "/type"));
        }
    }
}
