//! Merges the resources of a schema into one, from which a validator is built.
//!
//! A part with its own `$id` is a resource. Since the target of a `$dynamicRef` depends on the resources that lead to
//! it, the validator compiles each resource again for every path to it, and ten resources that refer to each other
//! have a million paths. Without such references, the paths make no difference.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{
    Draft, PartId, Problem, Tree,
    document::{Context, Document, DynamicScope},
    problem::{Part, whole},
    subschemas, uri,
    words::{Contained, VALUES, contained},
};
use crate::model::percent;

/// The maximum number of values that the validator may compile more than once. Each takes up to 14 KB.
const MAX_COPIED: usize = 5_000;
/// The maximum nesting of resources that are not merged.
const MAX_OPEN: usize = 200;

/// Returns the schema to build a validator from. Pointers to its parts are those of the document.
///
/// # Errors
/// Returns the problem of a schema whose resources cannot be merged, if they refer to each other in too many ways.
pub fn merged(document: &Document<'_>) -> Result<Value, Problem> {
    let root = document.root;
    if !root.has_references() || !root.members().any(|(_, part)| part.has_names()) {
        return Ok(root.to_value());
    }
    let is_dynamic = root.has_dynamic_references();
    let rewritten = |merges| {
        let mut merger = Merger { document, merges, path: String::new(), bases: HashSet::new() };
        merger.schema(root, &document.outside())
    };
    if let Some(schema) = (!is_dynamic).then(|| rewritten(true)).flatten() {
        return Ok(schema);
    }
    if are_copied_often(document) {
        let message = "its parts with their own $id refer to each other in too many ways; give fewer of them an $id";
        return Err(whole(Part::Size, message.to_owned()));
    }
    Ok(is_dynamic.then(|| rewritten(false)).flatten().unwrap_or_else(|| root.to_value()))
}

/// Returns whether the validator would compile too many values more than once.
fn are_copied_often(document: &Document<'_>) -> bool {
    let mut copies = Copies { document, left: MAX_COPIED, compiled: HashSet::new(), open: HashSet::new() };
    copies.follow(document.root, document.outside(), &DynamicScope::default());
    copies.left == 0
}

/// Rewrites a schema for the validator.
struct Merger<'d, 'a> {
    document: &'d Document<'a>,
    /// Merges resources if set. Otherwise only replaces references to anchors by pointers, because the validator follows
    /// a `$ref` to a dynamic anchor like a `$dynamicRef`.
    merges: bool,
    /// The JSON Pointer to the current part.
    path: String,
    /// The bases of the resources so far.
    bases: HashSet<String>,
}

impl Merger<'_, '_> {
    /// Returns a sub-schema, or `None` if it is uncertain how the validator reads it.
    fn schema(&mut self, part: Tree<'_>, outer: &Context) -> Option<Value> {
        if !part.is_object() || !part.has_names() && !part.has_references() {
            return Some(part.to_value());
        }
        let root = &self.document.context;
        let context = outer.within(part);
        let is_known = part.get("$schema").is_none_or(|uri| uri.as_str().and_then(Draft::of) == Some(root.draft));
        let is_unique = context.base == outer.base || self.path.is_empty() || self.enters(&context.base);
        if self.merges && !(is_known && context.draft == root.draft && is_unique) {
            return None;
        }
        let is_foreign = self.merges && context.base != root.base;
        let mut members = Map::new();
        for (word, member) in part.members() {
            let is_name = word == context.draft.id() || matches!(word, "$anchor" | "$dynamicAnchor");
            if is_foreign && is_name && member.is_string() {
                continue;
            }
            let value = match (word, member.as_str()) {
                ("$ref", Some(reference)) => self.reference(reference, &context).into(),
                _ => self.member(word, member, &context)?,
            };
            members.insert(word.to_owned(), value);
        }
        Some(Value::Object(members))
    }

    /// Returns whether a new resource at the current path is the only one with this base.
    fn enters(&mut self, base: &str) -> bool {
        self.bases.insert(base.to_owned()) && self.document.resolve("", base).as_deref() == Ok(&self.path)
    }

    fn member(&mut self, word: &str, member: Tree<'_>, context: &Context) -> Option<Value> {
        match contained(word, context.draft) {
            Some(Contained::ByName) if member.is_object() => self.below(word, |merger| {
                let members = member.members().map(|(name, part)| {
                    Some((name.to_owned(), merger.below(name, |merger| merger.schema(part, context))?))
                });
                members.collect::<Option<_>>().map(Value::Object)
            }),
            Some(Contained::OneOrList) if member.is_array() => self.below(word, |merger| {
                let items = member.items().enumerate();
                items.map(|(at, part)| merger.below(&at.to_string(), |merger| merger.schema(part, context))).collect()
            }),
            Some(Contained::OneOrList) => self.below(word, |merger| merger.schema(member, context)),
            _ => {
                // The value is no sub-schema to the validator: it finds no resources there, and follows references
                // there only if another reference leads to them.
                let is_data = VALUES.contains(&word) || !self.merges || !member.has_names() && !member.has_references();
                (is_data || !member.is_object() && !member.is_array()).then(|| member.to_value())
            }
        }
    }

    fn below<T>(&mut self, step: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        self.path += &uri::step(step);
        let done = work(self);
        self.path.truncate(length);
        done
    }

    /// Returns the pointer that means the same as a reference to an anchor.
    fn pointer(&self, reference: &str, context: &Context) -> Option<String> {
        let (resource, anchor) = uri::split(reference);
        anchor.filter(|anchor| !anchor.is_empty() && !anchor.starts_with('/'))?;
        let pointer = self.document.resolve(reference, &context.base).ok()?;
        let start = self.document.resolve(resource, &context.base).ok()?;
        Some(format!("{resource}#{}", percent::encode(pointer.strip_prefix(&start)?, b"/$")))
    }

    /// Returns a reference that means the same in the root's own resource.
    fn reference(&self, reference: &str, context: &Context) -> String {
        if !self.merges {
            return self.pointer(reference, context).unwrap_or_else(|| reference.to_owned());
        }
        let root = &self.document.context.base;
        if context.base == *root && reference.starts_with('#') {
            return reference.to_owned();
        }
        match self.document.resolve(reference, &context.base) {
            Ok(pointer) => format!("#{}", percent::encode(&pointer, b"/$")),
            Err(_) if context.base == *root => reference.to_owned(),
            Err(_) => {
                let (target, fragment) = uri::split(reference);
                let fragment = fragment.map(|fragment| format!("#{fragment}")).unwrap_or_default();
                uri::join(&context.base, target) + &fragment
            }
        }
    }
}

/// Counts what the validator compiles more than once: it compiles a resource for every path of resources to it, up to a
/// target that is being compiled already.
struct Copies<'d, 'a> {
    document: &'d Document<'a>,
    /// The number of values that may still be compiled again.
    left: usize,
    compiled: HashSet<PartId>,
    /// The targets that are being compiled.
    open: HashSet<PartId>,
}

impl<'a> Copies<'_, 'a> {
    /// Follows the references of a resource from `start`, which `outer` surrounds.
    fn follow(&mut self, start: Tree<'a>, outer: Context, scope: &DynamicScope) {
        let document = self.document;
        let mut seen = HashSet::new();
        let mut waiting = vec![(start, outer)];
        while let Some((part, outer)) = waiting.pop() {
            if !part.has_references() || self.left == 0 || !seen.insert(part.id()) {
                continue;
            }
            let context = outer.within(part);
            let scope = document.entered(scope, &context.base);
            for (_, pointer) in document.references(part, &context, &scope) {
                let target = pointer.ok().and_then(|pointer| Some((document.root.pointer(&pointer)?, pointer)));
                let Some((target, pointer)) = target else { continue };
                let around = document.context_at(&pointer);
                if around.within(target).base == context.base {
                    waiting.push((target, around))
                } else {
                    self.enter(target, around, &scope)
                }
            }
            subschemas::for_each_part(part, |_, below| waiting.push((below, context.clone())));
        }
    }

    fn enter(&mut self, target: Tree<'a>, around: Context, scope: &DynamicScope) {
        if !self.open.insert(target.id()) {
            return;
        }
        if self.open.len() > MAX_OPEN {
            self.left = 0;
        } else if !self.compiled.insert(target.id()) {
            self.left = self.left.saturating_sub(target.count(MAX_COPIED));
        }
        let scope = self.document.entered(scope, &around.within(target).base);
        self.follow(target, around, &scope);
        self.open.remove(&target.id());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::schema::Forest;

    fn merged(schema: &Value) -> Result<Value, Problem> {
        let (forest, root) = Forest::of(schema);
        super::merged(&Document::new(forest.tree(root)))
    }

    #[test]
    fn resources_become_definitions() {
        let schema = json!({"$id": "https://example.com/a/root", "$ref": "b.json", "$anchor": "top", "$defs": {
            "b c/d": {"$id": "b.json", "$anchor": "b", "properties": {"self": {"$ref": "#"}, "x": {"$ref": "#x"},
                "y": {"$ref": "#/$defs/y"}, "top": {"$ref": "root#top"}, "out": {"$ref": "other.json#z"},
                "id": {"const": {"$id": "x"}}},
                "$defs": {"x": {"$anchor": "x"}, "y": {"$id": "b/y.json", "items": {"$ref": "../b.json#b"}}}}}});
        assert_eq!(
            merged(&schema).unwrap(),
            json!({"$id": "https://example.com/a/root", "$ref": "#/$defs/b%20c~1d", "$anchor": "top", "$defs": {
                "b c/d": {"properties": {"self": {"$ref": "#/$defs/b%20c~1d"},
                    "x": {"$ref": "#/$defs/b%20c~1d/$defs/x"}, "y": {"$ref": "#/$defs/b%20c~1d/$defs/y"},
                    "top": {"$ref": "#"}, "out": {"$ref": "https://example.com/a/other.json#z"},
                    "id": {"const": {"$id": "x"}}},
                    "$defs": {"x": {}, "y": {"items": {"$ref": "#/$defs/b%20c~1d"}}}}}})
        );
        let old = json!({"$schema": Draft::D7.uri(), "allOf": [{"$ref": "x"}, {"$ref": "x#y"}], "definitions": {
            "a": {"$id": "x", "items": {"$id": "#y"}, "not": {"$ref": "#y", "$id": "hidden"}}}});
        assert_eq!(
            merged(&old).unwrap()["definitions"]["a"],
            json!({"items": {}, "not": {"$ref": "#/definitions/a/items"}})
        );
    }

    #[test]
    fn schemas_that_may_mean_something_else_stay_as_they_are() {
        for schema in [
            json!({"$ref": "x", "own": {"a": {"$id": "x"}}}),
            json!({"$ref": "x", "$defs": {"a": {"$id": "x"}, "b": {"$id": "x"}}}),
            json!({"$ref": "x", "$defs": {"a": {"$id": "x", "$schema": Draft::D7.uri()}}}),
            json!({"$ref": "x", "$defs": {"a": {"$id": "x", "items": {"$dynamicRef": "#b"}, "$dynamicAnchor": "b"}}}),
            json!({"$schema": Draft::D7.uri(), "allOf": [{"$ref": "x"}], "$defs": {"a": {"$id": "x"}}}),
        ] {
            assert_eq!(merged(&schema).as_ref(), Ok(&schema));
        }
    }

    #[test]
    fn resources_that_refer_to_each_other_are_merged_or_refused() {
        let schema = |count: usize, anchor: &str| {
            let all = |reference: &str| (0..count).map(|at| json!({reference: format!("r{at}")})).collect::<Value>();
            let resource =
                |at| (format!("{at}"), json!({"$id": format!("r{at}"), anchor: "n", "prefixItems": all("$ref")}));
            let defs: Map<_, _> = (0..count).map(resource).collect();
            json!({"$id": "https://example.com/", "$ref": "r0", "$defs": defs, "items": {"$dynamicRef": "#/$defs/0"}})
        };
        assert!(merged(&schema(5, "$dynamicAnchor")).is_ok());
        let refused = merged(&schema(9, "$dynamicAnchor")).unwrap_err();
        assert_eq!(refused.part, Part::Size);
        let mut plain = schema(60, "$anchor");
        plain.as_object_mut().unwrap().remove("items");
        assert!(merged(&plain).is_ok());
    }
}
