//! References that lead out of a schema. Nothing outside of a schema is read, so it is not known which values such a
//! reference allows.

use serde_json::{Map, Value};

use super::{
    Draft, Forest, PartId, Tree,
    document::{Context, Document},
    official, uri,
    words::{DEFINITIONS, NAMED, VALUES},
};
use crate::model::{json::Json, pointer};

/// The keyword that replaces a reference out of a schema. Its value is the reason why nothing is known about it.
/// Validators ignore the keyword; a comparison treats it as equal to nothing but the same keyword.
pub const KEYWORD: &str = "\u{0}external";

/// A reference out of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExternalReference {
    /// The index of the schema.
    pub schema: usize,
    /// The JSON Pointer to the first reference to the target.
    pub pointer: String,
    /// The URI of the target.
    pub target: String,
}

/// Replaces the references out of two schemas that are compared. Returns one reference per target.
///
/// An absolute target is the same for both schemas. If a schema has no `$id`, a relative target is the same for both
/// only if both schemas are in `one_file`. A fragment in the root's `$id`, allowed up to draft-07, is removed, because
/// the validator would treat every reference as external.
pub fn replace_external(forest: &mut Forest, schemas: &mut [PartId; 2], one_file: bool) -> Vec<ExternalReference> {
    let mut found = Vec::new();
    for (at, of) in ["the old schema", "the new schema"].into_iter().enumerate() {
        let of = if one_file { "the schemas" } else { of };
        let document = Document::new(forest.tree(schemas[at]));
        let id = document.root.get(document.context.draft.id()).and_then(Tree::as_str);
        if !names_documents(document.root) && !id.is_some_and(|id| id.contains('#')) {
            // Most schemas are not copied: a copy of a large one takes more memory than the comparison.
            continue;
        }
        let mut rewriter = Rewriter { document: &document, of, path: String::new(), targets: Vec::new() };
        let mut rewritten = rewriter.rewritten(document.root, false, &document.outside());
        let targets = rewriter.targets;
        if remove_id_fragment(&mut rewritten, document.context.draft) || !targets.is_empty() {
            schemas[at] = forest.add(&rewritten);
            let references = targets.into_iter();
            found.extend(references.map(|(pointer, target)| ExternalReference { schema: at, pointer, target }));
        }
    }
    found
}

/// Returns whether a schema refers to another document. Its own parts may have an `$id`; they are not outside.
pub fn refers_outside(schema: &Json) -> bool {
    let (mut forest, [root]) = Forest::of_json([schema]);
    !replace_external(&mut forest, &mut [root, root], true).is_empty()
}

/// Returns whether there may be a reference that is not only a fragment.
fn names_documents(part: Tree<'_>) -> bool {
    let is_fragment = |reference: Tree<'_>| reference.as_str().is_none_or(|text| text.starts_with('#'));
    part.has_references()
        && (part.items().any(names_documents)
            || part.members().any(|(name, member)| name == "$ref" && !is_fragment(member) || names_documents(member)))
}

fn remove_id_fragment(schema: &mut Value, draft: Draft) -> bool {
    let id = schema.get_mut(draft.id()).filter(|_| draft <= Draft::D7);
    let Some(Value::String(id)) = id else { return false };
    let end = id.find('#').filter(|end| (1..id.len() - 1).contains(end));
    end.map(|end| id.truncate(end)).is_some()
}

struct Rewriter<'d, 'a> {
    document: &'d Document<'a>,
    /// The name of the schema in reasons, such as "the old schema".
    of: &'static str,
    /// The JSON Pointer to the current part.
    path: String,
    /// The targets, each with the pointer to the first reference to it.
    targets: Vec<(String, String)>,
}

impl Rewriter<'_, '_> {
    fn rewritten(&mut self, part: Tree<'_>, are_names: bool, outer: &Context) -> Value {
        if !part.has_references() || !part.is_object() && !part.is_array() {
            return part.to_value();
        }
        if part.is_array() {
            let items = part.items().enumerate();
            return Value::Array(items.map(|(at, item)| self.below(&at.to_string(), item, false, outer)).collect());
        }
        let context = if are_names { outer.clone() } else { outer.within(part) };
        let mut members = Map::new();
        for (name, member) in part.members() {
            let member = if !are_names && VALUES.contains(&name) {
                member.to_value()
            } else {
                self.below(name, member, !are_names && NAMED.contains(&name), &context)
            };
            members.insert(name.to_owned(), member);
        }
        if let Some(target) = members.get("$ref").and_then(Value::as_str).filter(|_| !are_names)
            && let Some(target) = self.external(target, &context)
        {
            if context.draft <= Draft::D7 {
                // Siblings of a reference have no effect, but other references may point into them.
                members.retain(|name, _| DEFINITIONS.contains(&name.as_str()));
            }
            members.remove("$ref");
            members.insert(KEYWORD.to_owned(), Value::String(self.reason(&target)));
            if self.targets.iter().all(|(_, known)| *known != target) {
                self.targets.push((format!("{}/$ref", self.path), target));
            }
        }
        Value::Object(members)
    }

    fn below(&mut self, step: &str, part: Tree<'_>, are_names: bool, outer: &Context) -> Value {
        let length = self.path.len();
        self.path.push('/');
        self.path.push_str(&pointer::escape(step));
        let rewritten = self.rewritten(part, are_names, outer);
        self.path.truncate(length);
        rewritten
    }

    /// Returns the absolute target of a reference, if it leads to another document.
    fn external(&self, reference: &str, context: &Context) -> Option<String> {
        let (document, fragment) = uri::split(reference);
        let target = if context.base.is_empty() { document.to_owned() } else { uri::join(&context.base, document) };
        let is_external = !document.is_empty()
            && self.document.resolve(&target, "").is_err()
            && official::draft_of(&target).is_none();
        let fragment = fragment.filter(|fragment| !fragment.is_empty()).map(|fragment| format!("#{fragment}"));
        is_external.then(|| target + &fragment.unwrap_or_default())
    }

    fn reason(&self, target: &str) -> String {
        if uri::is_absolute(target) {
            format!("{target:?} is outside the schemas")
        } else {
            format!("{target:?} is outside {}", self.of)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn replaced(old: &Value, new: &Value) -> ([Value; 2], Vec<(usize, String, String)>) {
        let mut forest = Forest::default();
        let mut parts = [forest.add(old), forest.add(new)];
        let found = replace_external(&mut forest, &mut parts, false);
        let found = found.into_iter().map(|one| (one.schema, one.pointer, one.target)).collect();
        (parts.map(|part| forest.tree(part).to_value()), found)
    }

    #[test]
    fn only_references_out_of_the_schema_are_replaced() {
        let there = json!({"$id": "https://example.com/a/b.json", "$ref": "c.json#/x", "type": "object",
            "properties": {"$ref": {"$ref": "#/$defs/own"}}, "$defs": {"own": {"const": {"$ref": "d.json"}},
                "meta": {"$ref": "https://json-schema.org/draft/2020-12/schema"}, "lost": {"$ref": "#/$defs/none"}}});
        let ([found, other], targets) = replaced(&there, &json!({"items": {"$ref": "../e.json"}}));
        let mut expected = there.clone();
        expected.as_object_mut().unwrap().remove("$ref");
        expected[KEYWORD] = json!("\"https://example.com/a/c.json#/x\" is outside the schemas");
        assert_eq!(found, expected);
        assert_eq!(other, json!({"items": {KEYWORD: "\"../e.json\" is outside the new schema"}}));
        let first = (0, "/$ref".to_owned(), "https://example.com/a/c.json#/x".to_owned());
        assert_eq!(targets, [first, (1, "/items/$ref".to_owned(), "../e.json".to_owned())]);
        let whole = json!({"$ref": "#/$defs/a", "$defs": {"a": {"$id": "a.json"}, "b": {"$ref": "a.json"}}});
        assert_eq!(replaced(&whole, &whole), ([whole.clone(), whole.clone()], Vec::new()));
    }

    #[test]
    fn fragment_of_an_id_is_removed() {
        let schema = |id: &str| json!({"$schema": Draft::D7.uri(), "$id": id, "$ref": "#/definitions/a"});
        for (id, expected) in [("https://a/b#c", "https://a/b"), ("https://a/b#", "https://a/b#"), ("#c", "#c")] {
            assert_eq!(replaced(&schema(id), &json!(true)).0[0], schema(expected));
        }
    }

    #[test]
    fn what_stands_beside_a_reference_counts_from_2019_on() {
        let schema = json!({"$schema": Draft::D7.uri(), "properties": {
            "a": {"$ref": "https://example.com/a", "type": "string", "definitions": {"b": true}}}});
        let ([found, _], _) = replaced(&schema, &json!(true));
        let keywords: Vec<_> = found["properties"]["a"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keywords, [KEYWORD, "definitions"]);
    }
}
