//! Validates a schema against the meta-schema of its draft, without converting it to a [`serde_json::Value`].

use serde_json::json;

use super::{
    Draft, Part, Problem, Tree,
    metered::{Metered, MeteredValue},
    problem::{self, of_dialect},
};

/// Returns the first problem of a schema according to the meta-schema of its draft.
pub(super) fn problem(schema: Tree<'_>) -> Option<Problem> {
    let named = schema.get("$schema").and_then(Tree::as_str);
    let Some(draft) = named.map_or(Some(Draft::D2020), Draft::of) else {
        return named.map(of_dialect);
    };
    problem_in(schema, draft)
}

/// Returns the first problem of a schema according to the meta-schema of a draft.
pub(super) fn problem_in(schema: Tree<'_>, draft: Draft) -> Option<Problem> {
    let of_draft = json!({"$schema": draft.uri(), "$ref": draft.uri()});
    // Patterns are checked when they are compiled, after they have been rewritten.
    let options = jsonschema::options_for::<Metered>().offline().with_format("regex", |_: &str| true);
    let validator = match options.build(&of_draft) {
        Ok(validator) => validator,
        Err(error) => return Some(problem::problem(Part::Schema, &error)),
    };
    // Describing a problem costs more than detecting that there is one.
    if validator.is_valid(MeteredValue::tree(schema)) {
        return None;
    }
    validator.validate(MeteredValue::tree(schema)).err().map(|error| problem::problem(Part::Schema, &error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::schema::Forest;

    #[test]
    fn every_draft_gives_the_same_result_as_the_validator() {
        for draft in Draft::ALL {
            for (mut schema, is_one) in [
                (json!({"properties": {"a": {"type": "objec"}}}), false),
                (json!({"allOf": [{}, {"required": [1]}]}), false),
                (json!({"minLength": -1}), false),
                (json!({"items": {"enum": 1}}), false),
                (json!({"properties": {"type": {"type": "string"}}, "not": {"pattern": "a"}}), true),
            ] {
                schema["$schema"] = json!(draft.uri());
                let (forest, root) = Forest::of(&schema);
                let found = problem(forest.tree(root));
                let expected = jsonschema::meta::validate(&schema).err();
                assert_eq!(found, expected.map(|error| problem::problem(Part::Schema, &error)), "{schema}");
                assert_eq!(found.is_none(), is_one, "{schema}");
            }
        }
    }
}
