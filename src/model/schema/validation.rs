//! Validates one schema, and a value against it, within limits.

use std::time::Duration;

use jsonschema::{ValidationError, Validator};
use serde_json::Value;

use super::{
    Budget, Deadline, Forest, Tree, dangling,
    document::Document,
    ecma, meta,
    metered::{Meter, Metered, MeteredValue, Spent, within},
    part, pattern,
    problem::{Part, Problem, of_schema, of_value, whole},
    resources, size,
    validator::{options, options_for},
};
use crate::model::{json::Json, stack};

/// The maximum number of problems reported for a document. If there are more, one counts the rest.
const MAX_PROBLEMS: usize = 50;
/// The message if a limit was reached before all problems were listed.
pub(super) const UNLISTED: &str = "it is invalid; not all of its problems could be listed within the limit";
/// The maximum number of visits to a value. Unlike the time limit, it makes the same contract undecided on every
/// machine.
const MAX_READS: u64 = 50_000_000;
/// The maximum number of errors that are collected, including those of alternatives. Each takes a kilobyte.
const MAX_ERRORS: u64 = 10_000;
/// The recursion of a validator that any stack has room for, and the stack usage of each level.
const LEVELS_HERE: usize = 200;
const LEVEL_SIZE: usize = 16 << 10;

/// Returns the problem if a schema is refused because of its size alone.
pub fn too_large(schema: &Json) -> Option<Problem> {
    let (forest, [root]) = Forest::of_json([schema]);
    measured(forest.tree(root)).err()
}

/// Returns the nesting depth of a schema, or the problem if it is refused because of its size alone.
pub(super) fn measured(schema: Tree<'_>) -> Result<usize, Problem> {
    pattern::problem(schema).map_or_else(|| size::measure(schema), Err)
}

/// Returns all problems of `schema` or, if it has none, all places where `value` does not satisfy it. A null `value`
/// means that only the shape is agreed, so it is not validated.
pub fn problems(schema: &Json, value: &Json, budget: &Budget) -> Vec<Problem> {
    let (forest, [root]) = Forest::of_schemas([schema]);
    problems_of(forest.tree(root), &value.value(), budget)
}

/// Returns the same as [`problems`], for a schema that is already read and whose references are encoded.
pub fn problems_of(schema: Tree<'_>, value: &Value, budget: &Budget) -> Vec<Problem> {
    let nested = match measured(schema) {
        Ok(nested) => nested,
        Err(problem) => return vec![problem],
    };
    let document = Document::new(schema);
    let small = match (!part::is_cut(&document)).then(|| resources::merged(&document)).transpose() {
        Ok(small) => small,
        Err(problem) => return vec![problem],
    };
    let time = budget.whole();
    budget.spend(|deadline| {
        let judge = || match &small {
            Some(schema) => judge(schema, value, &deadline),
            None => judge_large(&document, value, &deadline),
        };
        let judge = move || judge().unwrap_or_else(|spent| vec![undecided(spent, time)]);
        let found = on_enough_stack(nested * depth(value), judge);
        found.into_iter().map(|problem| dangling::located(&document, problem)).collect()
    })
}

/// Validates against a schema that is too large to build a validator of the whole.
fn judge_large(document: &Document<'_>, value: &Value, deadline: &Deadline) -> Result<Vec<Problem>, Spent> {
    if deadline.is_over() {
        return Err(Spent::Time);
    }
    if let Some(problem) = meta::problem(document.root).or_else(|| part::problem(document)) {
        return Ok(vec![problem]);
    }
    if value.is_null() {
        return Ok(Vec::new());
    }
    judge(&part::for_value(document, value), value, deadline)
}

/// Compiles a schema, which also validates it against its meta-schema, and validates a value. Returns the problem of
/// the schema if there is one.
fn judge(schema: &Value, value: &Value, deadline: &Deadline) -> Result<Vec<Problem>, Spent> {
    if deadline.is_over() {
        return Err(Spent::Time);
    }
    let validator = match options_for(options(), schema).build(&ecma::patterns(schema)) {
        Ok(validator) if !value.is_null() => validator,
        built => return Ok(built.err().map(|error| of_schema(schema, &error)).into_iter().collect()),
    };
    let (mut found, rest) = errors(&validator, value, deadline, MAX_PROBLEMS, of_value)?;
    match rest {
        Ok(0) => {}
        Ok(rest) => found.push(whole(Part::Value, format!("and {rest} more"))),
        Err(_) => found.push(whole(Part::Value, UNLISTED.to_owned())),
    }
    Ok(found)
}

/// Returns the first `most` errors of a value and the number of the others, or the limit that was reached before they
/// were all listed.
pub(super) fn errors<T>(
    validator: &Validator<Metered>,
    value: &Value,
    deadline: &Deadline,
    most: usize,
    of: impl Fn(&ValidationError<'_>) -> T,
) -> Result<(Vec<T>, Result<usize, Spent>), Spent> {
    let meter = |errors| Meter::new(MAX_READS, errors, deadline.clone());
    let (all, each) = (meter(u64::MAX), meter(MAX_ERRORS));
    if within(|| validator.is_valid(MeteredValue::new(value, &all)))? {
        return Ok((Vec::new(), Ok(0)));
    }
    // Collecting errors is expensive, so it is only done once validation has failed.
    let mut found = Vec::new();
    let rest = within(|| {
        let mut errors = validator.iter_errors(MeteredValue::new(value, &each));
        found.extend(errors.by_ref().take(most).map(|error| of(&error)));
        errors.count()
    });
    if found.is_empty() {
        let first = meter(MAX_ERRORS);
        let first = within(|| validator.validate(MeteredValue::new(value, &first)).err().map(|error| of(&error)));
        found.extend(first.ok().flatten());
    }
    Ok((found, rest))
}

/// Runs `judge`, which recurses this deep, on a stack that is large enough. For few levels it does not ask the system how
/// much is left, which takes a tenth of a millisecond.
pub(super) fn on_enough_stack<T>(levels: usize, judge: impl FnOnce() -> T) -> T {
    if levels <= LEVELS_HERE { judge() } else { stack::with(levels * LEVEL_SIZE, judge) }
}

/// Returns the nesting depth of a value.
pub(super) fn depth(value: &Value) -> usize {
    let deepest = match value {
        Value::Array(items) => items.iter().map(depth).max(),
        Value::Object(members) => members.values().map(depth).max(),
        _ => None,
    };
    1 + deepest.unwrap_or_default()
}

pub(super) fn undecided(spent: Spent, budget: Option<Duration>) -> Problem {
    let limit = match (spent, budget) {
        (Spent::Time, Some(time)) => format!("{} s", time.as_secs_f64()),
        _ => format!("{MAX_READS} steps"),
    };
    let message =
        format!("undecided: it could not be validated within the limit of {limit}; use fewer anyOf or oneOf branches");
    whole(Part::Undecided, message)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::schema::Draft;
    use serde_json::json;

    fn problems(schema: &Value, value: &Value) -> Vec<Problem> {
        super::problems(&schema.clone().into(), &value.clone().into(), &Budget::default())
    }

    #[test]
    fn every_failing_place_is_reported() {
        let schema = json!({"type": "object", "properties": {
            "read": {"type": "array", "items": {"type": "string"}}, "n": {"type": "integer"}}});
        let found = problems(&schema, &json!({"read": ["a", 1, true], "n": "x"}));
        let pointers: Vec<_> = found.iter().map(|problem| problem.pointer.as_str()).collect();
        assert_eq!(pointers, ["/n", "/read/1", "/read/2"]);
    }

    #[test]
    fn advice_is_given_on_messages_that_do_not_explain_the_mistake() {
        for (schema, hint) in [
            (json!({"type": "arrray"}), "\"arrray\" is not a type; expected array, boolean"),
            (json!({"$ref": "other.json"}), "\"other.json\" points outside the schema"),
            (json!({"$schema": "https://example.com/own"}), "$schema names an unknown dialect"),
            (json!({"$schema": "https://example.com/own", "items": [{}]}), "$schema names an unknown dialect"),
            (json!({"$schema": "http://json-schema.org/draft-03/schema#"}), "$schema names draft-03, which is not"),
            (
                json!({"$schema": "http://json-schema.org/draft-03/schema#", "items": [{}]}),
                "$schema names draft-03, which is not",
            ),
            (json!({"pattern": "("}), "cannot read the regular expression \"(\""),
            (
                json!({"pattern": "a{2}{3}"}),
                "cannot read the regular expression \"a{2}{3}\"; one quantifier follows another",
            ),
            (json!({"pattern": "a\\Z"}), "write ^ for \\A"),
            (
                json!({"$schema": "http://json-schema.org/draft-07/schema#", "pattern": "(?i)a"}),
                "write both cases, as in \"[aA]\"",
            ),
            (json!({"$ref": "#/none"}), "there is nothing at \"#/none\""),
            (json!({"$ref": "#/$defs/B", "$defs": {}, "definitions": {}}), "write #/$defs/NAME"),
            (json!({"$ref": "#/definitions/B", "definitions": {"Order": {}}}), "write #/definitions/NAME"),
            (
                json!({"$ref": "other.json", "definitions": {}}),
                "copy the target to definitions, and write #/definitions/NAME",
            ),
            (json!({"$ref": "#none"}), "nothing has the anchor \"none\""),
            (json!(null), "there is no schema"),
            (json!({"exclusiveMinimum": true}), "\"$schema\": \"http://json-schema.org/draft-04/schema#\""),
            (
                json!({"$schema": Draft::D4.uri(), "not": {"exclusiveMinimum": 3}}),
                "write \"minimum\": 3, \"exclusiveMinimum\": true, or \"$schema\": \"http://json-schema.org/draft-07",
            ),
            (
                json!({"$schema": Draft::D4.uri(), "maximum": 9, "exclusiveMaximum": 3}),
                "in draft-04, exclusiveMaximum is true or false beside maximum",
            ),
            (
                json!({"not": {"items": [{}]}}),
                "write it as prefixItems, or \"$schema\": \"http://json-schema.org/draft-07",
            ),
            (json!({"properties": {"a": {"required": true}}}), "draft-03 only"),
        ] {
            let found = problems(&schema, &Value::Null);
            assert!(found[0].message.contains(hint), "{found:?}");
        }
    }

    #[test]
    fn a_reference_that_leads_nowhere_is_reported_with_its_place() {
        let id = "https://ex.test/root";
        let parts = |root: Value| {
            json!({"$id": root, "properties": {"c": {"$ref": "customer"}}, "$defs": {
                "Customer": {"$id": "https://ex.test/customer", "properties": {"name": {"$ref": "#/$defs/Name"}}},
                "Name": {"type": "string"}}})
        };
        let of_draft_07 = |schema: Value| {
            let mut schema = schema;
            schema["$schema"] = json!(Draft::D7.uri());
            schema
        };
        for (schema, pointer, said) in [
            (
                json!({"properties": {"a": {"$ref": "#/$defs/Order"}, "b": {"items": {"$ref": "#/$defs/Costumer"}}},
                    "$defs": {"Order": {}, "Customer": {}}}),
                "/properties/b/items/$ref",
                "$ref: there is nothing at \"#/$defs/Costumer\" (did you mean Customer?)",
            ),
            (json!({"not": {"$ref": "#/$defs/a~1b"}}), "/not/$ref", "at \"#/$defs/a~1b\"; write #/$defs/NAME"),
            (json!({"anyOf": [true, {"$ref": "#none"}]}), "/anyOf/1/$ref", "nothing has the anchor \"none\""),
            (json!({"not": {"$ref": "other.json#/a"}}), "/not/$ref", "\"other.json#/a\" points outside the schema"),
            (
                parts(json!(id)),
                "/$defs/Customer/properties/name/$ref",
                "\"#/$defs/Name\" is relative to the $id of /$defs/Customer, where there is no such place; write \
                    https://ex.test/root#/$defs/Name",
            ),
            (
                of_draft_07(json!({"properties": {"c": {"$ref": "c"}}, "definitions": {"Name": {},
                    "C": {"$id": "c", "items": {"$ref": "#/definitions/Name"}}}})),
                "/definitions/C/items/$ref",
                "remove that $id, or give the whole schema an $id, and write it before #/definitions/Name",
            ),
        ] {
            let found = problems(&schema, &Value::Null);
            assert_eq!(found[0].pointer, pointer, "{found:?}");
            assert!(found[0].message.contains(said), "{found:?}");
        }
    }

    #[test]
    fn an_invalid_schema_is_reported_with_its_place() {
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
    fn references_may_contain_characters_that_uris_may_not() {
        let schema =
            json!({"$ref": "#/definitions/Pick<A,\"b\">", "definitions": {"Pick<A,\"b\">": {"type": "string"}}});
        assert_eq!(problems(&schema, &json!("x")), []);
        assert_eq!(problems(&schema, &json!(1)).len(), 1);
        let doubling: serde_json::Map<_, _> = (0..30)
            .map(|at| (format!("<{at}>"), json!({"anyOf": vec![json!({"$ref": format!("#/$defs/<{}>", at + 1)}); 2]})))
            .chain([("<30>".to_owned(), json!({"type": "object"}))])
            .collect();
        let bomb = json!({"$ref": "#/$defs/<0>", "$defs": doubling});
        assert_eq!(problems(&bomb, &json!({}))[0].part, Part::Size);
        assert_eq!(too_large(&bomb.into()).unwrap().pointer, "/$defs/<15>");
    }

    /// Each level of the value doubles the work of a validator. The limit on visits to the value stops it.
    #[test]
    fn exponential_work_in_the_depth_of_the_value_is_stopped() {
        let link = |at: usize| {
            json!({"anyOf": [{"properties": {"a": {"$ref": format!("#/$defs/x{}", at + 1)}}, "required": ["b"]},
            {"properties": {"a": {"$ref": format!("#/$defs/x{}", at + 1)}}, "required": ["c"]}]})
        };
        let mut schema = json!({"$ref": "#/$defs/x0", "$defs": named(26, |at| (format!("x{at}"), link(at)))});
        schema["$defs"]["x26"] = json!({"type": "string"});
        assert_eq!(too_large(&schema.clone().into()), None);
        let value = (0..26).fold(json!(1), |below, _| json!({"a": below}));
        let found = problems(&schema, &value);
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn a_null_value_is_not_validated() {
        assert_eq!(problems(&json!({"type": "object"}), &Value::Null), []);
    }

    fn many(count: usize, of: impl Fn(usize) -> Value) -> Value {
        (0..count).map(of).collect()
    }

    #[test]
    fn a_long_list_of_types_is_refused_in_time() {
        let begun = std::time::Instant::now();
        let types = many(100_000, |at| json!(format!("type{at}")));
        assert_eq!(problems(&json!({"type": types}), &json!(1))[0].part, Part::Schema);
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    }

    fn named(count: usize, of: impl Fn(usize) -> (String, Value)) -> Value {
        Value::Object((0..count).map(of).collect())
    }

    #[test]
    fn a_value_that_takes_too_long_is_undecided_and_never_accepted() {
        let patterns = named(200, |at| (format!("(?=a)x{at}"), json!(true)));
        let (schema, value) =
            (json!({"patternProperties": patterns}), named(20_000, |at| (format!("p{at}"), json!(1))));
        let parts = |budget: &Budget| -> Vec<_> {
            super::problems(&schema.clone().into(), &value.clone().into(), budget)
                .iter()
                .map(|problem| problem.part)
                .collect()
        };
        let budget = Budget::new(Some(Duration::from_millis(500)));
        assert_eq!(parts(&budget), [Part::Undecided]);
        // The next validation has half of the remaining time, or none once it is used up.
        assert_eq!(super::problems(&json!({"type": "string"}).into(), &json!("x").into(), &budget), []);
        (0..20).for_each(|_| assert_eq!(parts(&budget), [Part::Undecided]));
        assert_eq!(parts(&Budget::new(Some(Duration::ZERO))), [Part::Undecided]);
        let flag = Arc::new(std::sync::atomic::AtomicBool::new(true));
        assert_eq!(parts(&Budget::new(None).cancelled_by(flag)), [Part::Undecided]);
    }

    #[test]
    fn the_limit_on_visits_is_independent_of_time() {
        let validator = jsonschema::options_for::<Metered>().build(&json!({"items": {"type": "integer"}})).unwrap();
        let value = many(1_000, |at| json!(at));
        let judge = |looks| {
            let meter = Meter::new(looks, u64::MAX, Deadline::default());
            within(|| validator.is_valid(MeteredValue::new(&value, &meter)))
        };
        assert_eq!(judge(100), Err(Spent::Reads));
        assert_eq!(judge(100_000), Ok(true));
    }

    #[test]
    fn expensive_schemas_and_values_are_bounded() {
        let next = json!({"properties": {"next": {"$ref": "#"}}, "required": ["next"]});
        let deep = (0..60).fold(json!(1), |below, _| json!({"next": below}));
        let slow = many(2_000, |at| json!(format!("{}{at}!", "a".repeat(100))));
        let numbers = many(20_000, |at| json!(at));
        let strings = json!({"type": "string"});
        for (schema, value, expected) in [
            (json!({"oneOf": [next, next, strings]}), deep.clone(), Some(Part::Value)),
            (
                json!({"anyOf": many(500, |at| json!({"pattern": format!(r"\w{{200}}{at}")}))}),
                json!("x"),
                Some(Part::Size),
            ),
            (json!({"pattern": "((a{1000}){1000}){1000}"}), json!("x"), Some(Part::Size)),
            (json!({"pattern": r"^(a|a)*\1$"}), json!("a".repeat(200) + "b"), Some(Part::Undecided)),
            (json!({"not": {"pattern": r"^(?=(a+)+$)b"}}), json!("a".repeat(200) + "!"), None),
            (json!({"uniqueItems": true}), numbers.clone(), None),
            (json!({"items": {"multipleOf": 1e-300}}), numbers.clone(), None),
            (json!({"items": strings}), numbers.clone(), Some(Part::Value)),
            (json!({"contains": strings, "minContains": 100_000_000_000_u64}), numbers.clone(), Some(Part::Value)),
            (json!({"minItems": 1e300, "maxLength": 1e300}), numbers, Some(Part::Value)),
            (
                json!({"items": {"format": "email"}, "$schema": "http://json-schema.org/draft-07/schema#"}),
                slow,
                Some(Part::Value),
            ),
            ((0..60).fold(strings, |below, _| json!({"allOf": [below]})), json!(1), Some(Part::Value)),
        ] {
            let found = problems(&schema, &value);
            assert_eq!(found.first().map(|problem| problem.part), expected, "{schema:.200}");
            assert!(found.len() <= MAX_PROBLEMS + 1);
        }
    }

    /// A hundred nested references at each of a hundred levels of the value.
    #[test]
    fn a_deep_value_with_deep_references_does_not_overflow_the_stack() {
        let link = |at: usize| (format!("x{at}"), json!({"$ref": format!("#/$defs/x{}", at + 1)}));
        let mut schema = json!({"$defs": named(90, link), "$ref": "#/$defs/x0"});
        schema["$defs"]["x90"] = json!({"properties": {"next": {"$ref": "#/$defs/x0"}}, "type": "object"});
        let value = (0..100).fold(json!({}), |below, _| json!({"next": below}));
        std::thread::Builder::new()
            .stack_size(1 << 20)
            .spawn(move || {
                assert_eq!(problems(&schema, &value), []);
                let value = (0..100).fold(json!(1), |below, _| json!({"next": below}));
                assert_eq!(problems(&schema, &value).len(), 1);
            })
            .unwrap()
            .join()
            .unwrap();
    }
}
