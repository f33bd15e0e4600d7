//! Removes each empty `required` of draft-04. The draft allows none, but later drafts and most validators do, and it
//! asserts nothing.

use std::borrow::Cow;

use serde_json::Value;

use super::{Draft, Forest, PartId, Tree, rewriting::rewritten};

/// Removes each empty `required` from schemas of draft-04.
pub fn remove_empty_required(forest: &mut Forest, schemas: &mut [PartId; 2]) {
    for part in schemas {
        let schema = forest.tree(*part);
        let draft = schema.get("$schema").and_then(Tree::as_str).and_then(Draft::of);
        if draft != Some(Draft::D4) || !may_be_empty(schema) {
            continue;
        }
        let is_empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
        let schema = schema.to_value();
        let changed = rewritten(&schema, &|keywords| keywords.get("required").is_some_and(is_empty), &|keywords| {
            keywords.retain(|name, value| name != "required" || !is_empty(value));
        });
        if let Cow::Owned(changed) = changed {
            *part = forest.add(&changed);
        }
    }
}

/// Returns whether a part has an empty list of this name, perhaps within data.
fn may_be_empty(part: Tree<'_>) -> bool {
    let is_empty =
        |name: &str, member: Tree<'_>| name == "required" && member.is_array() && member.items().next().is_none();
    part.members().any(|(name, member)| is_empty(name, member) || may_be_empty(member))
        || part.items().any(may_be_empty)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_keywords_of_draft_04_are_removed() {
        let schema = |draft: Draft, required: bool| {
            let mut object = json!({"type": "object", "default": {"required": []}});
            if required {
                object["required"] = json!([]);
            }
            let names = json!({"required": {"enum": [{"required": []}]}, "a": object});
            json!({"$schema": draft.uri(), "properties": names, "required": ["a"]})
        };
        for (draft, is_kept) in [(Draft::D4, false), (Draft::D6, true)] {
            let (mut forest, root) = Forest::of(&schema(draft, true));
            let mut parts = [root; 2];
            remove_empty_required(&mut forest, &mut parts);
            for part in parts {
                assert_eq!(forest.tree(part).to_value(), schema(draft, is_kept));
            }
        }
    }
}
