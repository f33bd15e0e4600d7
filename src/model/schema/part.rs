//! Cuts a large schema down to the part that applies to a value. For this value and any smaller one made from it, a
//! validator of the part gives the same result as a validator of the whole.
//!
//! A validator takes several times the memory of its schema, and a value uses only a few dozen of the thousands of
//! definitions in such a schema.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Number, Value, json};

use super::{
    Draft, Problem,
    document::Document,
    ecma,
    forest::{PartId, Tree},
    problem::{OLDER_PARTS, PARTS, of_schema},
    resources, uri,
    validator::options,
    words::{BELOW, IN_PLACE, NAMED, VALUES, is_assertion},
};
use crate::model::pointer::upwards;

/// The size of a schema, in values, from which validators are built from parts of it.
const MAX_WHOLE: usize = 20_000;

/// Keywords that contain sub-schemas by the names of the properties that they concern.
const BY_PROPERTY: [&str; 3] = ["properties", "dependentSchemas", "dependencies"];
/// Returns whether validators are built from parts of a schema: it is large, and all its references are pointers from
/// its root, so that their targets are unambiguous.
pub fn is_cut(document: &Document<'_>) -> bool {
    let root = document.root;
    let has_parts_with_names = root.members().any(|(_, member)| member.has_names());
    root.count(MAX_WHOLE) >= MAX_WHOLE && !root.has_dynamic_references() && !has_parts_with_names
}

/// Returns the part of a [cut](is_cut) schema from which to build a validator for `value`.
pub fn for_value(document: &Document<'_>, value: &Value) -> Value {
    cut(document, value, None)
}

/// Returns a schema whose validator decides only whether `value` is valid. Long lists of values and
/// of alternatives are cut, so its messages would give wrong counts.
///
/// # Errors
/// Returns the problem of a schema that no validator can be built from.
pub fn for_verdict(document: &Document<'_>, value: &Value) -> Result<Value, Problem> {
    if is_cut(document) { Ok(cut(document, value, Some(Scalars::of(value)))) } else { resources::merged(document) }
}

fn cut(document: &Document<'_>, value: &Value, scalars: Option<Scalars>) -> Value {
    let mut cut =
        Cut { document, scalars, seen: HashSet::new(), met: HashSet::new(), reference_targets: HashSet::new() };
    cut.visit(document.root, Some(value));
    cut.schema(document.root, &names(value))
}

/// Returns the problem that prevents building a validator of the whole schema: a reference without a target, or an
/// invalid pattern.
pub fn problem(document: &Document<'_>) -> Option<Problem> {
    let mut found = Occurrences::default();
    found.collect(document.root, false, &mut String::new());
    let is_lost = |to: &str| document.resolve(to, &document.context.base).is_err() && Draft::of(to).is_none();
    let lost = found.references.iter().filter(|(to, _)| is_lost(to));
    let lost = lost.map(|(to, place)| (json!({"$schema": document.context.draft.uri(), "$ref": to}), place));
    let patterns = found.patterns.iter().map(|(pattern, place)| (json!({"pattern": pattern}), place));
    // The message names the keyword of the parts that the schema has.
    let parts = [PARTS, OLDER_PARTS].into_iter().filter(|keyword| document.root.get(keyword).is_some());
    let parts: Vec<_> = parts.map(|keyword| (keyword.to_owned(), json!({}))).collect();
    lost.chain(patterns).find_map(|(mut alone, place)| {
        alone.as_object_mut()?.extend(parts.iter().cloned());
        let error = options().build(&ecma::patterns(&alone)).err()?;
        Some(Problem { pointer: place.clone(), ..of_schema(&alone, &error) })
    })
}

/// All references and patterns of a schema, each with the JSON Pointer to its first occurrence.
#[derive(Default)]
struct Occurrences<'a> {
    references: BTreeMap<&'a str, String>,
    patterns: BTreeMap<&'a str, String>,
}

impl<'a> Occurrences<'a> {
    fn collect(&mut self, schema: Tree<'a>, are_names: bool, pointer: &mut String) {
        let end = pointer.len();
        for (keyword, part) in schema.members() {
            *pointer += &uri::step(keyword);
            match keyword {
                _ if are_names => self.collect(part, false, pointer),
                _ if VALUES.contains(&keyword) => {}
                "$ref" => Self::note(&mut self.references, part.as_str(), pointer),
                "pattern" => Self::note(&mut self.patterns, part.as_str(), pointer),
                _ => {
                    if keyword == "patternProperties" {
                        part.members().for_each(|(name, _)| Self::note(&mut self.patterns, Some(name), pointer));
                    }
                    self.collect(part, NAMED.contains(&keyword), pointer);
                }
            }
            pointer.truncate(end);
        }
        for (at, item) in schema.items().enumerate() {
            *pointer += &format!("/{at}");
            self.collect(item, false, pointer);
            pointer.truncate(end);
        }
    }

    fn note(places: &mut BTreeMap<&'a str, String>, text: Option<&'a str>, pointer: &str) {
        if let Some(text) = text {
            places.entry(text).or_insert_with(|| pointer.to_owned());
        }
    }
}

/// Returns the names of all properties within a value.
fn names(value: &Value) -> HashSet<&str> {
    let mut names = HashSet::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => {
                names.extend(members.keys().map(String::as_str));
                open.extend(members.values());
            }
            _ => {}
        }
    }
    names
}

/// The strings, numbers and property names in a value. Smaller values made from it add no others.
struct Scalars {
    texts: HashSet<String>,
    /// As floating point numbers, so different numbers may have the same bits.
    numbers: HashSet<u64>,
}

impl Scalars {
    fn of(value: &Value) -> Self {
        let mut scalars = Self { texts: HashSet::new(), numbers: HashSet::new() };
        scalars.texts.extend(names(value).into_iter().map(str::to_owned));
        scalars.add(value);
        scalars
    }

    fn add(&mut self, value: &Value) {
        match value {
            Value::String(text) => drop(self.texts.insert(text.clone())),
            Value::Number(number) => self.numbers.extend(bits(number)),
            Value::Array(items) => items.iter().for_each(|item| self.add(item)),
            Value::Object(members) => members.values().for_each(|member| self.add(member)),
            _ => {}
        }
    }

    /// Returns whether `value` may be a part of the validated value, or of a smaller one.
    fn may_make(&self, value: Tree<'_>) -> bool {
        let is_number = |number| bits(number).is_none_or(|bits| self.numbers.contains(&bits));
        value.as_str().is_none_or(|text| self.texts.contains(text))
            && value.as_number().is_none_or(is_number)
            && value.items().all(|item| self.may_make(item))
            && value.members().all(|(name, member)| self.texts.contains(name) && self.may_make(member))
    }

    /// Returns whether a part of the value, or of a smaller one, may satisfy a schema.
    fn may_satisfy(&self, schema: Tree<'_>, draft: Draft) -> bool {
        let listed = schema.get("enum").filter(|list| list.is_array());
        let only = schema.get("const").filter(|_| draft >= Draft::D6);
        schema.get("$ref").is_some()
            || listed.is_none_or(|list| list.items().any(|item| self.may_make(item)))
                && only.is_none_or(|only| self.may_make(only))
    }
}

/// Returns a number as the bits of a floating point number. Zero has one sign.
fn bits(number: &Number) -> Option<u64> {
    number.as_f64().map(|number| (number + 0.0).to_bits())
}

struct Cut<'d, 'a> {
    document: &'d Document<'a>,
    /// The scalars of the value, which determine how lists are cut; `None` to keep lists whole.
    scalars: Option<Scalars>,
    seen: HashSet<(PartId, Option<usize>)>,
    /// The sub-schemas that apply to some part of the value.
    met: HashSet<PartId>,
    /// The parents of the targets of references, and the targets themselves.
    reference_targets: HashSet<PartId>,
}

impl<'a> Cut<'_, 'a> {
    /// Marks the sub-schemas that apply to a value or, if it is `None`, to the name of a property.
    ///
    /// This ignores the positions of items and the patterns of names, so that the marks also cover values with fewer
    /// members or items.
    fn visit(&mut self, schema: Tree<'a>, value: Option<&Value>) {
        if !self.seen.insert((schema.id(), value.map(|value| std::ptr::from_ref(value).addr()))) {
            return;
        }
        self.met.insert(schema.id());
        for (keyword, part) in schema.members() {
            match keyword {
                "$ref" => self.refer(part, value),
                _ if IN_PLACE.contains(&keyword) => each(part).for_each(|part| self.visit(part, value)),
                "dependentSchemas" | "dependencies" => {
                    let parts = part.members().filter(|(name, _)| value.is_some_and(|value| value.get(name).is_some()));
                    parts.for_each(|(_, part)| self.visit(part, value));
                }
                "properties" => {
                    for (name, part) in part.members() {
                        if let Some(member) = value.and_then(|value| value.get(name)) {
                            self.visit(part, Some(member));
                        }
                    }
                }
                "patternProperties" => part.members().for_each(|(_, part)| self.visit_below(part, value)),
                "propertyNames" if has_members(value) => self.visit(part, None),
                "propertyNames" => {}
                _ if BELOW.contains(&keyword) => each(part).for_each(|part| self.visit_below(part, value)),
                _ => {}
            }
        }
    }

    fn visit_below(&mut self, schema: Tree<'a>, value: Option<&Value>) {
        match value {
            Some(Value::Array(items)) => items.iter().for_each(|item| self.visit(schema, Some(item))),
            Some(Value::Object(members)) => members.values().for_each(|member| self.visit(schema, Some(member))),
            _ => {}
        }
    }

    fn refer(&mut self, reference: Tree<'a>, value: Option<&Value>) {
        let document = self.document;
        let found = reference.as_str().and_then(|to| document.resolve(to, &document.context.base).ok());
        let Some(pointer) = found else { return };
        let way = upwards(&pointer).filter_map(|pointer| document.root.pointer(pointer));
        self.reference_targets.extend(way.map(Tree::id));
        if let Some(target) = document.root.pointer(&pointer) {
            self.visit(target, value);
        }
    }

    fn is_kept(&self, part: Tree<'_>) -> bool {
        self.met.contains(&part.id()) || self.reference_targets.contains(&part.id())
    }

    /// Returns a sub-schema, reduced to what applies to the value or is referenced.
    fn schema(&self, schema: Tree<'_>, names: &HashSet<&str>) -> Value {
        if !self.is_kept(schema) {
            return json!({});
        }
        if !schema.is_object() {
            return schema.to_value();
        }
        let mut kept = Map::new();
        for (keyword, part) in schema.members() {
            let value = match keyword {
                _ if BY_PROPERTY.contains(&keyword) => {
                    self.named(part, &|name, member| names.contains(name) || self.is_kept(member), names)
                }
                "patternProperties" => self.named(part, &|_, _| true, names),
                "enum" => self.filtered(part, |scalars, item| scalars.may_make(item), Tree::to_value),
                "anyOf" | "oneOf" if !self.reference_targets.contains(&part.id()) => self.filtered(
                    part,
                    |scalars, branch| scalars.may_satisfy(branch, self.document.context.draft),
                    |branch| self.schema(branch, names),
                ),
                _ if IN_PLACE.contains(&keyword) || BELOW.contains(&keyword) => self.one_or_list(part, names),
                "$anchor" | "$schema" | "$vocabulary" | "contentEncoding" | "contentMediaType" => part.to_value(),
                _ if is_assertion(keyword) => part.to_value(),
                _ if self.reference_targets.contains(&part.id()) => self.container(part, names),
                _ => continue,
            };
            kept.insert(keyword.to_owned(), value);
        }
        Value::Object(kept)
    }

    /// Returns a map of sub-schemas by name, with the members that are kept.
    fn named(&self, part: Tree<'_>, keeps: &dyn Fn(&str, Tree<'_>) -> bool, names: &HashSet<&str>) -> Value {
        let members = part.members().filter(|(name, member)| keeps(name, *member));
        let kept = members.map(|(name, member)| {
            let member = if member.is_array() { member.to_value() } else { self.schema(member, names) };
            (name.to_owned(), member)
        });
        Value::Object(kept.collect())
    }

    fn one_or_list(&self, part: Tree<'_>, names: &HashSet<&str>) -> Value {
        if part.is_array() {
            part.items().map(|part| self.schema(part, names)).collect()
        } else {
            self.schema(part, names)
        }
    }

    /// Returns a list without the items that are not needed. An empty list may be invalid, so one item is kept.
    fn filtered<'t>(
        &self,
        list: Tree<'t>,
        is_needed: impl Fn(&Scalars, Tree<'t>) -> bool,
        to_value: impl Fn(Tree<'t>) -> Value,
    ) -> Value {
        let Some(scalars) = self.scalars.as_ref().filter(|_| list.is_array()) else {
            return if list.is_array() { list.items().map(to_value).collect() } else { to_value(list) };
        };
        let kept: Vec<_> = list.items().filter(|item| is_needed(scalars, *item)).map(&to_value).collect();
        if kept.is_empty() { list.items().take(1).map(to_value).collect() } else { kept.into() }
    }

    /// Returns an object that only contains targets of references, such as `definitions`.
    fn container(&self, part: Tree<'_>, names: &HashSet<&str>) -> Value {
        if part.is_array() {
            self.one_or_list(part, names)
        } else {
            let members = part.members().filter(|(_, member)| self.is_kept(*member));
            let kept = members.map(|(name, member)| {
                let is_schema = self.met.contains(&member.id());
                let value = if is_schema { self.schema(member, names) } else { self.container(member, names) };
                (name.to_owned(), value)
            });
            Value::Object(kept.collect())
        }
    }
}

fn has_members(value: Option<&Value>) -> bool {
    value.and_then(Value::as_object).is_some_and(|members| !members.is_empty())
}

/// Returns a sub-schema, or each sub-schema in an array.
fn each(part: Tree<'_>) -> impl Iterator<Item = Tree<'_>> {
    part.items().chain((!part.is_array()).then_some(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::schema::Forest;

    /// Schemas in which each keyword that contains sub-schemas makes a difference for some value.
    fn schemas() -> Vec<Value> {
        let parts = json!({"definitions": {
            "text": {"type": "string", "description": "A text."},
            "tree": {"type": "object", "required": ["a"], "additionalProperties": false,
                "properties": {"a": {"$ref": "#/definitions/text"}, "b": {"items": {"$ref": "#/definitions/tree"}}}},
            "deep": {"x": {"y": [{}, {"minimum": 3}]}},
        }});
        let mut all: Vec<_> = [
            json!({"$ref": "#/definitions/tree"}),
            json!({"properties": {"a": {"$ref": "#/definitions/deep/x/y/1"}}}),
            json!({"properties": {"b": {"$ref": "#/definitions/tree/properties/a"}}}),
            json!({"patternProperties": {"^a": {"type": "string"}}, "additionalProperties": {"type": "array"}}),
            json!({"properties": {"c": {}}, "additionalProperties": false}),
            json!({"anyOf": [{"required": ["b"]}, {"properties": {"a": {"minimum": 2}}, "required": ["a"]}]}),
            json!({"if": {"required": ["b"]}, "then": {"propertyNames": {"enum": ["b"]}}, "else": {"maxProperties": 0}}),
            json!({"not": {"properties": {"a": {"not": {"type": "string"}}}}}),
            json!({"dependencies": {"a": {"required": ["b"]}, "b": ["a"]}}),
            json!({"properties": {"b": {"contains": {"required": ["a"]}, "uniqueItems": true}}}),
            json!({"properties": {"b": {"items": [{"required": ["a"]}], "additionalItems": {"type": "string"}}}}),
            json!({"items": false, "contains": {"const": {"a": 1}}}),
            json!({"enum": [{"a": 1.0}, {"b": []}, {"a": "x", "b": "x"}, {"a": 2}, [], "x"]}),
            json!({"properties": {"a": {"enum": [3.0, [{"a": "x"}]]}, "b": {"enum": [null, false]}}}),
            json!({"oneOf": [{"const": {"a": 3}}, {"enum": [{"a": 3}, {"b": 1}]}, {"const": "y"}, {"const": []}]}),
            json!({"properties": {"a": {"anyOf": [{"const": 1}, {"const": "y", "$ref": "#/definitions/text"}]}}}),
            json!({"propertyNames": {"anyOf": [{"const": "a"}, {"enum": ["c", "d"]}]}}),
            json!({"properties": {"a": {"anyOf": [{"const": 7}, {"const": 8}]}, "b": {"$ref": "#/properties/a/anyOf/1"}}}),
            json!(false),
        ]
        .into_iter()
        .map(|mut schema| {
            if let Some(members) = schema.as_object_mut() {
                members.extend(parts.as_object().unwrap().clone());
                members.insert("$schema".into(), json!("http://json-schema.org/draft-07/schema#"));
            }
            schema
        })
        .collect();
        all.extend([
            json!({"properties": {"b": {"prefixItems": [{"type": "object"}], "items": {"type": "string"}}}}),
            json!({"allOf": [{"properties": {"a": true}}], "unevaluatedProperties": {"type": "array"}}),
            json!({"properties": {"b": {"prefixItems": [true], "unevaluatedItems": false}}}),
            json!({"dependentSchemas": {"a": {"required": ["b"]}}, "dependentRequired": {"b": ["a"]}}),
        ]);
        all
    }

    fn values() -> Vec<Value> {
        let of_members = [json!(1), json!(3), json!("x"), json!([]), json!([{"a": "x"}]), json!(["x", {"b": []}, "x"])];
        let mut values = vec![json!({}), json!([]), json!([{"a": 1}]), json!("x")];
        for one in &of_members {
            values.extend([json!({"a": one}), json!({"b": one}), json!({"c": one, "a": 3})]);
            values.extend(of_members.iter().map(|other| json!({"a": one, "b": other})));
        }
        values
    }

    #[test]
    fn a_part_gives_the_same_result_as_the_whole_for_smaller_values_too() {
        let mut refused = 0;
        for schema in schemas() {
            let (forest, root) = Forest::of(&schema);
            let document = Document::new(forest.tree(root));
            let whole = jsonschema::validator_for(&schema).unwrap();
            for value in values() {
                let part = cut(&document, &value, Some(Scalars::of(&value)));
                let validator = jsonschema::validator_for(&part).unwrap_or_else(|error| panic!("{part}: {error}"));
                let mut less = vec![value.clone()];
                if let Value::Object(members) = &value {
                    less.extend(members.iter().map(|(name, member)| json!({name: member})));
                    less.extend(members.keys().map(|name| json!({name: []})));
                }
                for value in less {
                    assert_eq!(validator.is_valid(&value), whole.is_valid(&value), "{value}\n{schema}\n{part}");
                    refused += usize::from(!whole.is_valid(&value));
                }
            }
        }
        assert!(refused > 100, "{refused}");
    }

    #[test]
    fn parts_that_do_not_apply_are_left_out() {
        let schema = &schemas()[0];
        let (forest, root) = Forest::of(schema);
        let part = cut(&Document::new(forest.tree(root)), &json!({"a": "x"}), None);
        let expected = json!({"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/tree",
            "definitions": {"text": {"type": "string"}, "tree": {"type": "object", "required": ["a"],
                "properties": {"a": {"$ref": "#/definitions/text"}}, "additionalProperties": false}}});
        assert_eq!(part, expected);
    }

    #[test]
    fn listed_values_that_do_not_apply_are_left_out_of_verdicts() {
        let schema = json!({"enum": [[1, {"a": 1}], [2, {"a": 2}], [1], 1, "x"],
            "anyOf": [{"const": [1]}, {"type": "array"}, {"const": [2]}, {"enum": [2, 3]}]});
        let (forest, root) = Forest::of(&schema);
        let (document, value) = (Document::new(forest.tree(root)), json!([1, {"a": 1}]));
        let expected = json!({"enum": [[1, {"a": 1}], [1], 1], "anyOf": [{"const": [1]}, {"type": "array"}]});
        assert_eq!(cut(&document, &value, Some(Scalars::of(&value))), expected);
        assert_eq!(cut(&document, &value, None), schema);
    }

    #[test]
    fn invalid_references_and_patterns_are_reported() {
        let found = |schema: Value| {
            let (forest, root) = Forest::of(&schema);
            problem(&Document::new(forest.tree(root))).map(|problem| (problem.pointer, problem.message))
        };
        assert_eq!(
            found(json!({"$ref": "#/$defs/a", "$defs": {"a": {"pattern": "^a"}}, "enum": [{"pattern": "("}]})),
            None
        );
        let (pointer, message) = found(json!({"properties": {"enum": {"$ref": "#/$defs/b"}}})).unwrap();
        assert!(pointer == "/properties/enum/$ref" && message.contains("/$defs/b"), "{pointer} {message}");
        let (pointer, _) = found(json!({"items": [{"patternProperties": {"(": {}}}]})).unwrap();
        assert_eq!(pointer, "/items/0/patternProperties");
    }

    #[test]
    fn patterns_of_a_large_schema_are_read_as_those_of_a_small_one() {
        let values: Vec<_> = (0..MAX_WHOLE).collect();
        for (pattern, is_valid) in [(r"^[\w-.]$", true), ("(", false)] {
            let properties = json!({"a": {"pattern": pattern}, "b": {"enum": values}});
            let schema = json!({"$schema": "http://json-schema.org/draft-07/schema#", "properties": properties});
            let found = super::super::problems(
                &schema.clone().into(),
                &json!({}).into(),
                &crate::model::schema::Budget::new(None),
            );
            assert_eq!(found.is_empty(), is_valid, "{pattern}: {found:?}");
        }
    }
}
