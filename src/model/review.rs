//! Prepares a contract change for people who edit code: the fields it names, and its differences.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    contract::Contract,
    diff::{self, Difference, Kind},
    json::Json,
    pointer::unescape,
    schema::words::{DESCRIPTIVE, NAMED},
    text::cut,
};

/// The length limit of a line of a difference, in characters.
const MAX_LINE: usize = 160;
/// Keywords whose values are data rather than schemas.
const DATA: &[&str] = &["enum", "const", "required", "dependentRequired"];

/// The kind of change of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FieldChange {
    /// The field was removed.
    Removed,
    /// Other values are valid now, or it may be absent.
    Changed,
}

/// A field that a change names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedField {
    /// Its name.
    pub name: String,
    /// The kind of change.
    pub change: FieldChange,
    /// A field that was added next to it with the same schema, perhaps the same field, renamed.
    pub maybe_renamed_to: Option<String>,
}

/// The differences between two documents of a contract.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    of_values: Vec<Difference>,
    /// The differences in descriptions and other descriptive text.
    of_words: Vec<Difference>,
}

impl From<Vec<Difference>> for Changes {
    fn from(found: Vec<Difference>) -> Self {
        let (of_words, of_values) = found.into_iter().partition(|one| place(&one.pointer).is_words);
        Self { of_values, of_words }
    }
}

impl Changes {
    /// Returns the differences in schema, value, flow and promise between two documents.
    pub fn between(old: &Contract, new: &Contract) -> Self {
        let document = |of: &Contract| {
            let json = |part: serde_json::Result<Value>| Json::from(part.unwrap_or_default());
            BTreeMap::from([
                ("schema", of.schema.clone()),
                ("value", of.value.clone()),
                ("compatibility", json(serde_json::to_value(of.compatibility))),
                ("flow", json(serde_json::to_value(of.flow))),
                ("values", json(serde_json::to_value(of.values))),
            ])
        };
        Self::from(diff::of_contracts(&document(old), &document(new)))
    }

    /// Returns the differences as lines, removals first and descriptions last: `- /schema/properties/id:
    /// {"type":"string"}`.
    pub fn lines(&self) -> Vec<String> {
        let rank = |one: &&Difference| match one.change {
            Kind::Removed => 0,
            Kind::Changed => 1,
            Kind::Added => 2,
        };
        let mut sorted: Vec<_> = self.of_values.iter().collect();
        sorted.sort_by_key(rank);
        sorted.into_iter().chain(&self.of_words).map(line).collect()
    }

    /// Returns the fields of the old document that were removed or changed. Those in `first` come first.
    pub fn fields(&self, first: &[String]) -> Vec<ChangedField> {
        let renamed = self.renamed();
        let added = self.added();
        let mut found: BTreeMap<String, ChangedField> = BTreeMap::new();
        let mut note = |name: &str, change: FieldChange| {
            let is_new = added.contains(name) && change == FieldChange::Changed;
            if name.is_empty() || is_new {
                return;
            }
            let maybe_renamed_to = renamed.get(name).cloned();
            let field = found.entry(name.to_owned()).or_insert(ChangedField {
                name: name.to_owned(),
                change,
                maybe_renamed_to,
            });
            if change == FieldChange::Removed {
                field.change = change;
            }
        };
        for one in &self.of_values {
            let place = place(&one.pointer);
            match (&place.field, place.data.as_deref()) {
                (_, Some("required" | "dependentRequired")) => {
                    names(&one.old.value()).into_iter().for_each(|name| note(&name, FieldChange::Changed));
                    names(&one.new.value()).into_iter().for_each(|name| note(&name, FieldChange::Changed));
                }
                (Some(field), _) if one.change == Kind::Removed && place.is_whole => note(field, FieldChange::Removed),
                (Some(_), _) if one.change == Kind::Added && place.is_whole => {}
                (Some(field), _) => note(field, FieldChange::Changed),
                (None, _) => {}
            }
        }
        let mut fields: Vec<_> = found.into_values().collect();
        fields.sort_by_key(|field| (!first.contains(&field.name), field.change == FieldChange::Changed));
        fields
    }

    /// Returns the fields that only the new schema has.
    fn added(&self) -> BTreeSet<String> {
        let whole = self.of_values.iter().filter(|one| one.change == Kind::Added);
        whole.map(|one| place(&one.pointer)).filter(|place| place.is_whole).filter_map(|place| place.field).collect()
    }

    /// Returns likely renames: the only property removed from an object and the only one added to it, if their schemas
    /// are equal.
    fn renamed(&self) -> BTreeMap<String, String> {
        let mut objects: BTreeMap<&str, (Vec<&Difference>, Vec<&Difference>)> = BTreeMap::new();
        for one in self.of_values.iter().filter(|one| place(&one.pointer).is_whole) {
            let Some((above, _)) = one.pointer.rsplit_once('/').filter(|(above, _)| above.starts_with("/schema"))
            else {
                continue;
            };
            let sides = objects.entry(above).or_default();
            match one.change {
                Kind::Removed => sides.0.push(one),
                Kind::Added => sides.1.push(one),
                Kind::Changed => {}
            }
        }
        let name = |one: &Difference| place(&one.pointer).field.unwrap_or_default();
        let pairs = objects.into_values().filter_map(|(removed, added)| match (&removed[..], &added[..]) {
            ([old], [new]) if old.old == new.new => Some((name(old), name(new))),
            _ => None,
        });
        pairs.collect()
    }
}

/// Returns the fields on the path of a JSON Pointer into a value, innermost first.
pub fn fields_at(pointer: &str) -> Vec<String> {
    let mut names: Vec<_> = tokens(pointer).filter(|token| !is_index(token)).collect();
    names.reverse();
    names
}

/// The part of a contract's document that a place belongs to.
#[derive(Debug, Default, PartialEq, Eq)]
struct Place {
    /// The innermost enclosing field.
    field: Option<String>,
    /// Whether the place is the whole field.
    is_whole: bool,
    /// The enclosing keyword whose value is data.
    data: Option<String>,
    /// Whether the place is in descriptive text.
    is_words: bool,
}

fn place(pointer: &str) -> Place {
    let mut tokens = tokens(pointer);
    let mut place = Place::default();
    match tokens.next().as_deref() {
        Some("schema") => {}
        Some("value") => {
            let names: Vec<_> = tokens.collect();
            place.is_whole = names.last().is_some_and(|last| !is_index(last));
            place.field = names.into_iter().rev().find(|name| !is_index(name));
            return place;
        }
        _ => return place,
    }
    while let Some(token) = tokens.next() {
        place.is_whole = false;
        match &*token {
            "properties" => {
                let Some(name) = tokens.next() else { return place };
                place.field = Some(name);
                place.is_whole = true;
            }
            word if NAMED.contains(&word) => drop(tokens.next()),
            word if DATA.contains(&word) => {
                place.data = Some(word.to_owned());
                return place;
            }
            word if DESCRIPTIVE.contains(&word) => {
                place.is_words = true;
                return place;
            }
            _ => {}
        }
    }
    place
}

/// Returns the steps of a JSON Pointer.
fn tokens(pointer: &str) -> impl Iterator<Item = String> + '_ {
    pointer.split('/').skip(1).map(unescape)
}

fn is_index(token: &str) -> bool {
    !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the names in a `required` array, or in a part of one.
fn names(value: &Value) -> Vec<String> {
    match value {
        Value::String(name) => vec![name.clone()],
        Value::Array(items) => items.iter().flat_map(names).collect(),
        Value::Object(fields) => fields.values().flat_map(names).collect(),
        _ => Vec::new(),
    }
}

fn line(one: &Difference) -> String {
    let text = match one.change {
        Kind::Removed => format!("- {}: {}", one.pointer, one.old),
        Kind::Added => format!("+ {}: {}", one.pointer, one.new),
        Kind::Changed => format!("~ {}: {} -> {}", one.pointer, one.old, one.new),
    };
    cut(text, MAX_LINE)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::contract::{Flow, Values};

    fn changes(old: Value, new: Value) -> Changes {
        Changes::from(diff::diff(&old, &new))
    }

    fn shown(old: Value, new: Value) -> Vec<String> {
        let field = |one: ChangedField| {
            let now = one.maybe_renamed_to.map(|name| format!(" -> {name}?")).unwrap_or_default();
            format!("{} {:?}{now}", one.name, one.change)
        };
        changes(old, new).fields(&[]).into_iter().map(field).collect()
    }

    #[test]
    fn removed_renamed_and_changed_fields_are_found() {
        let text = json!({"type": "string"});
        let of = |properties: Value| json!({"schema": {"properties": properties}});
        assert_eq!(shown(of(json!({"a": text, "b": text})), of(json!({"b": text}))), ["a Removed"]);
        assert_eq!(shown(of(json!({"a": text})), of(json!({"c": text}))), ["a Removed -> c?"]);
        assert_eq!(shown(of(json!({"a": text})), of(json!({"c": {"type": "integer"}}))), ["a Removed"]);
        assert_eq!(shown(of(json!({"a": text})), of(json!({"a": {"type": "integer"}}))), ["a Changed"]);
        assert_eq!(shown(of(json!({"a": text})), of(json!({"a": text, "c": text}))), Vec::<String>::new());
        let nested = |kind: &str| of(json!({"a": {"items": {"properties": {"properties": {"type": kind}}}}}));
        assert_eq!(shown(nested("string"), nested("null")), ["properties Changed"]);
    }

    #[test]
    fn changes_to_required_and_to_the_value_count() {
        let schema = |required: &[&str]| json!({"schema": {"required": required}});
        assert_eq!(shown(schema(&["a", "b"]), schema(&["b"])), ["a Changed"]);
        let value = |value: Value| json!({"value": value});
        assert_eq!(shown(value(json!({"read": ["x"]})), value(json!({"read": ["y"]}))), ["read Changed"]);
        assert_eq!(shown(value(json!({"read": 1})), value(json!({}))), ["read Removed"]);
    }

    #[test]
    fn descriptive_text_comes_last_and_concerns_no_field() {
        let old = json!({"schema": {"description": "a", "properties": {"description": {"title": "x"}}}});
        let new = json!({"schema": {"description": "b", "properties": {"description": {"title": "y"}}}});
        let found = changes(old, new);
        assert_eq!(found.fields(&[]), []);
        assert_eq!(
            found.lines(),
            ["~ /schema/description: \"a\" -> \"b\"", "~ /schema/properties/description/title: \"x\" -> \"y\""]
        );
        let old = json!({"schema": {"properties": {"a": {"type": "string"}, "b": {}}}});
        let new = json!({"schema": {"properties": {"a": {"type": "string", "deprecated": true}}}});
        assert_eq!(
            changes(old, new).lines(),
            ["- /schema/properties/b: {}", "+ /schema/properties/a/deprecated: true"]
        );
    }

    #[test]
    fn flow_and_promises_count() {
        let of = |flow, values| {
            let contract = Contract::new("c".parse().unwrap(), "a".parse().unwrap());
            Contract { flow, values, ..contract }
        };
        let (old, new) = (of(Flow::ProviderToConsumer, Values::Frozen), of(Flow::ConsumerToProvider, Values::Free));
        let found = Changes::between(&old, &new);
        assert_eq!(
            found.lines(),
            ["~ /flow: \"provider-to-consumer\" -> \"consumer-to-provider\"", "~ /values: \"frozen\" -> \"free\"",]
        );
        assert_eq!(found.fields(&[]), []);
    }

    #[test]
    fn names_of_properties_are_not_descriptive_text() {
        for keyword in ["properties", "patternProperties", "dependentSchemas", "dependencies", "$defs"] {
            let of = |kind: &str| json!({"schema": {keyword: {"title": {"type": kind}}}});
            assert_eq!(changes(of("string"), of("null")).lines().len(), 1, "{keyword}");
        }
    }

    #[test]
    fn lines_are_short_and_removals_come_first() {
        let old = json!({"schema": {"properties": {"b": true}}});
        let new = json!({"schema": {"properties": {"a": "é".repeat(500)}}});
        let lines = changes(old, new).lines();
        assert_eq!(lines[0], "- /schema/properties/b: true");
        assert!(lines[1].starts_with("+ /schema/properties/a: \"é") && lines[1].chars().count() == MAX_LINE + 1);
    }

    #[test]
    fn a_pointer_into_a_value_names_fields() {
        assert_eq!(fields_at("/items/0/id"), ["id", "items"]);
        assert_eq!(fields_at(""), Vec::<String>::new());
    }
}
