//! Measures how large a schema is once every reference is replaced by its target.
//!
//! `{anyOf: [{$ref: x1}, {$ref: x1}]}`, where x1 refers to x2 in the same way and so on, doubles with each link. A
//! validator visits all of it for a single value, and would never finish with forty links. Therefore the expanded
//! sub-schemas are counted, without expanding them, before a validator is built.

use std::collections::HashMap;

use super::{
    Forest, Part, PartId, Problem, Tree,
    document::{Context, Document},
    metaschemas::with_metaschemas,
    subschemas::for_each_part,
};
use crate::model::components;

/// The maximum number of sub-schemas that a schema may expand to for one place of a value. A validator visits all of
/// them there, possibly without reading the value in between.
const MAX_EXPANDED: u64 = 100_000;
/// The maximum number of sub-schemas that a schema may contain before expansion.
const MAX_WRITTEN: u64 = 500_000;
/// The maximum number of sub-schemas that a schema may expand to for a value and everything within it. The value
/// bounds how many of them are visited.
const MAX_WHOLE: u64 = 1 << 32;
/// The maximum nesting of sub-schemas that apply to one place of a value. A validator recurses that deep at every
/// level of the value.
pub const MAX_NESTED: usize = 100;

/// Returns the nesting depth of sub-schemas, following references. This takes about as long as parsing the schema.
///
/// # Errors
/// Returns the problem if the schema must not reach a validator because it expands too much or infinitely.
pub fn measure(schema: Tree<'_>) -> Result<usize, Problem> {
    if !schema.has_references() {
        // The sub-schemas nest no deeper than a document may.
        let (written, in_place) = plain(schema);
        return if in_place > MAX_EXPANDED {
            Err(too_wide(String::new()))
        } else if written > MAX_WRITTEN {
            Err(too_long())
        } else {
            Ok(1)
        };
    }
    match with_metaschemas(schema) {
        Some(whole) => {
            let (forest, root) = Forest::of(&whole);
            expanded(&Document::new(forest.tree(root)))
        }
        None => expanded(&Document::new(schema)),
    }
}

fn expanded(document: &Document<'_>) -> Result<usize, Problem> {
    let mut walk = Walk {
        document,
        vertices: Vec::new(),
        known: HashMap::new(),
        edges: Vec::new(),
        contexts: Vec::new(),
        context_ids: HashMap::new(),
    };
    walk.run();
    walk.measure()
}

fn too_large(pointer: String) -> Problem {
    let message = format!(
        "it expands to more than {MAX_EXPANDED} sub-schemas, with every $ref expanded; refer to each definition fewer \
            times, or simplify it"
    );
    Problem { part: Part::Size, pointer, message }
}

/// Returns the problem of a schema that is too large even without its references.
fn too_wide(pointer: String) -> Problem {
    let message = format!(
        "more than {MAX_EXPANDED} sub-schemas apply to the same part of a value; use fewer branches, such as one enum \
            instead of a const in each"
    );
    Problem { part: Part::Size, pointer, message }
}

fn too_long() -> Problem {
    let message = format!("it has more than {MAX_WRITTEN} sub-schemas; simplify it");
    Problem { part: Part::Size, pointer: String::new(), message }
}

/// Returns the number of sub-schemas in a schema without references, and the largest number that applies to one place.
fn plain(schema: Tree<'_>) -> (u64, u64) {
    let (mut written, mut here, mut most) = (1, 1, 1);
    for_each_part(schema, |in_place, part| {
        let (inner, at_once) = plain(part);
        written += inner;
        here += if in_place { at_once } else { 0 };
        most = most.max(at_once);
    });
    (written, most.max(here))
}

#[derive(Clone, Copy)]
struct Edge {
    to: usize,
    in_place: bool,
}

/// The size of a sub-schema, following references.
#[derive(Clone, Copy)]
struct Measured {
    /// The number of sub-schemas that apply to the same place of the value.
    in_place: u64,
    /// The number of all sub-schemas.
    whole: u64,
    /// The nesting depth of the sub-schemas that apply to the same place of the value.
    nested: usize,
}

impl Measured {
    fn add_in_place(&mut self, below: Self) {
        self.in_place = self.in_place.saturating_add(below.in_place);
        self.whole = self.whole.saturating_add(below.whole);
        self.nested = self.nested.max(below.nested + 1);
    }
}

/// Follows all references of a document.
struct Walk<'d, 'a> {
    document: &'d Document<'a>,
    /// The sub-schemas that the root reaches, each with the number of the context around it.
    vertices: Vec<(PartId, usize)>,
    known: HashMap<(PartId, usize), usize>,
    /// The edges from each sub-schema to those that it applies.
    edges: Vec<Vec<Edge>>,
    contexts: Vec<Context>,
    context_ids: HashMap<Context, usize>,
}

impl<'a> Walk<'_, 'a> {
    fn run(&mut self) {
        let document = self.document;
        let outside = self.context(document.outside());
        self.vertex(document.root, outside);
        while let Some((part, outer)) = self.vertices.get(self.edges.len()).copied() {
            let part = document.root.other(part);
            let inner = if part.has_names() { self.context(self.contexts[outer].within(part)) } else { outer };
            let mut edges = Vec::new();
            for_each_part(part, |in_place, below| edges.push(Edge { to: self.vertex(below, inner), in_place }));
            let mut targets: Vec<usize> = Vec::new();
            if part.has_references() {
                for pointer in document.targets(part, &self.contexts[inner].base) {
                    let Some(target) = document.root.pointer(&pointer) else { continue };
                    let context = self.context(document.context_at(&pointer));
                    targets.push(self.vertex(target, context));
                }
            }
            targets.sort_unstable();
            targets.dedup();
            edges.extend(targets.into_iter().map(|to| Edge { to, in_place: true }));
            self.edges.push(edges);
        }
    }

    fn vertex(&mut self, part: Tree<'a>, context: usize) -> usize {
        let next = self.vertices.len();
        let at = *self.known.entry((part.id(), context)).or_insert(next);
        if at == next {
            self.vertices.push((part.id(), context));
        }
        at
    }

    fn context(&mut self, context: Context) -> usize {
        let next = self.contexts.len();
        let at = *self.context_ids.entry(context.clone()).or_insert(next);
        if at == next {
            self.contexts.push(context);
        }
        at
    }

    fn measure(&self) -> Result<usize, Problem> {
        let pointer = |at: usize| self.document.root.pointer_to(self.vertices[at].0).unwrap_or_default();
        let targets = |keep: &dyn Fn(usize, &Edge) -> bool| -> Vec<Vec<usize>> {
            let of = |(at, edges): (usize, &Vec<Edge>)| {
                edges.iter().filter(|edge| keep(at, edge)).map(|edge| edge.to).collect()
            };
            self.edges.iter().enumerate().map(of).collect()
        };
        if self.edges.len() as u64 > MAX_WRITTEN {
            return Err(too_long());
        }
        let circle = components::of(&targets(&|_, _| true));
        // A cycle through deeper parts of the value is recursion, whose cost is bounded by the depth of the value.
        let order = components::postorder(&targets(&|at, edge| edge.in_place || circle[at] != circle[edge.to]));
        let mut deepest = 1;
        let mut known: Vec<Option<Measured>> = vec![None; self.edges.len()];
        for at in order {
            let mut all = Measured { in_place: 1, whole: 1, nested: 1 };
            for Edge { to, in_place } in &self.edges[at] {
                match known[*to] {
                    Some(below) if *in_place => all.add_in_place(below),
                    None if *in_place => return Err(endless(pointer(at))),
                    Some(below) if circle[at] != circle[*to] => all.whole = all.whole.saturating_add(below.whole),
                    _ => all.whole = all.whole.saturating_add(1),
                }
            }
            if all.in_place > MAX_EXPANDED || all.whole > MAX_WHOLE {
                let is_written = all.in_place <= self.edges.len() as u64;
                return Err(if is_written { too_wide(pointer(at)) } else { too_large(pointer(at)) });
            }
            if all.nested > MAX_NESTED {
                let message = format!(
                    "more than {MAX_NESTED} sub-schemas are nested here, with every $ref expanded; refer to the \
                        target directly"
                );
                return Err(Problem { part: Part::Size, pointer: pointer(at), message });
            }
            known[at] = Some(all);
            deepest = deepest.max(all.nested);
        }
        Ok(deepest)
    }
}

fn endless(pointer: String) -> Problem {
    let message = "it refers to itself for the same part of the value, so validation would not end; move the \
        reference into properties or items"
        .to_owned();
    Problem { part: Part::Schema, pointer, message }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    /// Returns a chain of definitions in which each refers to the next twice. `link` wraps each reference.
    fn chain(length: usize, link: impl Fn(Value) -> Value) -> Value {
        let to = |at: usize| json!({"$ref": format!("#/$defs/x{at}")});
        let defs = (0..length).map(|at| (format!("x{at}"), link(to(at + 1)))).collect::<serde_json::Map<_, _>>();
        let mut schema = json!({"$defs": defs, "$ref": "#/$defs/x0"});
        schema["$defs"][format!("x{length}")] = json!({"type": "object"});
        schema
    }

    fn measure(schema: &Value) -> Result<usize, Problem> {
        let (forest, root) = Forest::of(schema);
        super::measure(forest.tree(root))
    }

    fn refused(schema: &Value) -> Option<(Part, String)> {
        measure(schema).err().map(|problem| (problem.part, problem.pointer))
    }

    #[test]
    fn exponential_expansion_is_refused_with_its_place() {
        for link in [
            |to: Value| json!({"anyOf": [to, to]}),
            |to: Value| json!({"allOf": [{"not": to}, {"if": true, "then": to}]}),
            |to: Value| json!({"properties": {"a": to, "b": {"items": to}}}),
            |to: Value| json!({"dependentSchemas": {"anyOf": to, "enum": to}}),
            |to: Value| json!({"anyOf": [to, to], "properties": {"again": {"$ref": "#/$defs/x0"}}}),
        ] {
            assert_eq!(refused(&chain(12, link)), None, "{}", link(json!(true)));
            let (part, pointer) = refused(&chain(40, link)).unwrap();
            assert_eq!(part, Part::Size);
            // The innermost definition that is too large.
            let at: usize = pointer.strip_prefix("/$defs/x").unwrap().parse().unwrap();
            assert!((5..30).contains(&at), "{pointer}");
        }
    }

    #[test]
    fn references_by_name_and_to_resources_are_counted() {
        let doubling = |reference: &dyn Fn(usize) -> Value, named: &dyn Fn(usize) -> Value| {
            let defs: serde_json::Map<_, _> = (0..40)
                .map(|at| {
                    let mut def = named(at);
                    def["anyOf"] = json!([reference(at + 1), reference(at + 1)]);
                    (format!("d{at}"), def)
                })
                .collect();
            let mut schema = json!({"$id": "https://example.org/all", "$defs": defs, "allOf": [reference(0)]});
            schema["$defs"]["d40"] = named(40);
            schema
        };
        let anchors = doubling(&|at| json!({"$ref": format!("#a{at}")}), &|at| json!({"$anchor": format!("a{at}")}));
        let ids = doubling(&|at| json!({"$ref": format!("r{at}")}), &|at| json!({"$id": format!("r{at}")}));
        let dynamic = doubling(
            &|at| json!({"$dynamicRef": format!("#a{at}")}),
            &|at| json!({"$dynamicAnchor": format!("a{at}")}),
        );
        for schema in [anchors, ids, dynamic] {
            assert_eq!(refused(&schema).unwrap().0, Part::Size, "{schema}");
        }
    }

    #[test]
    fn recursion_is_allowed_if_it_goes_deeper_into_the_value() {
        let leaf = json!({"$ref": "#/$defs/leaf"});
        let node = json!({"type": "object", "properties": {
            "left": {"$ref": "#/$defs/node"}, "right": {"$ref": "#/$defs/node"}, "value": leaf, "other": leaf}});
        assert_eq!(measure(&json!({"$defs": {"node": node, "leaf": true}, "$ref": "#/$defs/node"})), Ok(2));
        for draft in ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"] {
            assert!(measure(&json!({"$ref": draft})).is_ok(), "{draft}");
        }
        let itself = json!({"$defs": {"a": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/b"}]}, "b": {"$ref": "#/$defs/a"}},
            "$ref": "#/$defs/a"});
        assert_eq!(refused(&itself).unwrap().0, Part::Schema);
        assert_eq!(refused(&json!({"$ref": "#"})).unwrap().0, Part::Schema);
    }

    #[test]
    fn long_chains_are_refused_and_property_names_are_not_keywords() {
        assert_eq!(refused(&chain(5_000, |to| to)).unwrap().0, Part::Size);
        assert_eq!(measure(&json!({"properties": {"$ref": {"type": "string"}, "enum": {"items": true}}})), Ok(1));
        let many: Vec<_> = (0..MAX_EXPANDED).map(|at| json!({"const": at})).collect();
        assert_eq!(refused(&json!({"anyOf": many})), Some((Part::Size, String::new())));
        assert_eq!(measure(&json!({"enum": many})), Ok(1));
    }

    #[test]
    fn references_without_a_target_are_not_followed() {
        for reference in ["#/nowhere", "https://example.org/other", "#anchor", "%", "#/%zz", "file:///etc/passwd"] {
            let _ = measure(&json!({"$ref": reference, "$id": "%%"}));
            assert!(measure(&json!({"$ref": reference})).is_ok(), "{reference}");
        }
    }

    proptest! {
        /// For any graph of definitions, counting terminates and gives the same result as naive expansion.
        #[test]
        fn counts_equal_those_of_naive_expansion(edges in proptest::collection::vec((0..8usize, 0..8usize), 0..16)) {
            let edges: Vec<_> = edges.into_iter().filter(|(from, to)| from < to).collect();
            let of = |at: usize| edges.iter().filter(move |(from, _)| *from == at).map(|(_, to)| *to);
            let link = |at: usize| json!({"allOf": of(at).map(|to| json!({"$ref": format!("#/$defs/{to}")})).collect::<Vec<_>>()});
            let defs: serde_json::Map<_, _> = (0..8).map(|at| (at.to_string(), link(at))).collect();
            let mut depth = [0; 8];
            for at in (0..8).rev() {
                depth[at] = 1 + of(at).map(|to| depth[to] + 1).max().unwrap_or_default();
            }
            prop_assert_eq!(measure(&json!({"$defs": defs, "$ref": "#/$defs/0"})), Ok(depth[0] + 1));
        }
    }
}
