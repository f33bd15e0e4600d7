//! A structural guess at which changes of a schema break those who rely on it: something was removed,
//! a type or a list of required keys is another one, or an enumeration has lost a value. It looks at
//! places and knows nothing of what values the schemas accept: it may be wrong both ways.

use super::{
    contract::Contract,
    diff::{self, Difference, Kind},
};

/// What a guess says where it stands in for a comparison of the schemas.
pub const A_GUESS: &str = "a guess from the structure of both schemas";

/// Keywords whose keys are names that people chose.
const NAMED: &[&str] = &["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
/// Keywords that say nothing of the values.
const WORDS: &[&str] = &["title", "description", "$comment", "examples", "default", "deprecated", "$id", "$schema"];

/// Returns what the newer schema takes away, each in a few words with its place; nothing where the
/// structure gives no sign of it.
pub fn narrowing(old: &Contract, new: &Contract) -> Vec<String> {
    let differences = diff::diff(&old.schema.0, &new.schema.0);
    let mut found: Vec<_> = differences.iter().filter_map(phrase).collect();
    found.dedup();
    found
}

/// Returns what `new` takes away under a version that ranges of `old` accept.
pub fn under_minor(old: &Contract, new: &Contract) -> Vec<String> {
    let is_minor = old.version < new.version && new.version < old.version.bump(true);
    if is_minor { narrowing(old, new) } else { Vec::new() }
}

/// Returns the first of several phrases, and how many more there are.
pub fn summary(phrases: &[String]) -> String {
    match phrases {
        [] => String::new(),
        [only] => only.clone(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    }
}

fn phrase(one: &Difference) -> Option<String> {
    let (keyword, place) = keyword(&one.pointer);
    let place = if place.is_empty() { "/" } else { place };
    let pointer = &one.pointer;
    match keyword {
        Some("type") => Some(format!("changes the type of {place}")),
        Some("required") => Some(format!("changes what {place} requires")),
        Some("enum") => (one.change != Kind::Added).then(|| format!("takes values from the enum of {place}")),
        Some(word) if WORDS.contains(&word) => None,
        _ => (one.change == Kind::Removed).then(|| format!("removes {pointer}")),
    }
}

/// Returns the keyword that a pointer into a schema ends in or below, and the place of the schema it
/// belongs to; no keyword where the pointer ends in a name or in a whole schema.
fn keyword(pointer: &str) -> (Option<&str>, &str) {
    let mut schema = 0;
    let mut tokens = pointer.match_indices('/').map(|(at, _)| at).peekable();
    while let Some(at) = tokens.next() {
        let end = tokens.peek().copied().unwrap_or(pointer.len());
        let word = &pointer[at + 1..end];
        if NAMED.contains(&word) || matches!(word, "allOf" | "anyOf" | "oneOf" | "prefixItems") {
            // Behind the name, or the index, a schema begins.
            match tokens.next() {
                Some(_) => schema = tokens.peek().copied().unwrap_or(pointer.len()),
                None => return (None, &pointer[..schema]),
            }
        } else if matches!(word, "items" | "additionalProperties" | "not" | "if" | "then" | "else" | "contains") {
            schema = end;
        } else {
            return (Some(word), &pointer[..schema]);
        }
    }
    (None, &pointer[..schema])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::json::Json;
    use serde_json::{Value, json};

    fn contract(version: &str, schema: Value) -> Contract {
        let contract = Contract::new("order".parse().unwrap(), "shop".parse().unwrap());
        Contract { version: version.parse().unwrap(), schema: Json(schema), ..contract }
    }

    fn found(old: Value, new: Value) -> Vec<String> {
        narrowing(&contract("1.0.0", old), &contract("1.1.0", new))
    }

    #[test]
    fn what_is_taken_away_is_named_with_its_place() {
        let old = json!({
            "required": ["id"],
            "properties": {"id": {"type": "string"}, "type": {"enum": ["a", "b"]}, "n": {"items": {"type": "integer"}}},
        });
        let new = json!({
            "required": ["uid"],
            "properties": {"uid": {"type": "string"}, "type": {"enum": ["a"]}, "n": {"items": {"type": "object"}}},
        });
        assert_eq!(
            found(old, new),
            [
                "removes /properties/id",
                "changes the type of /properties/n/items",
                "takes values from the enum of /properties/type",
                "changes what / requires",
            ]
        );
    }

    #[test]
    fn what_is_added_or_described_is_not() {
        let old = json!({"title": "T", "description": "D", "properties": {"kind": {"enum": ["a"]}}});
        let new = json!({"title": "U", "properties": {"kind": {"enum": ["a", "b"]}, "more": {"type": "string"}}});
        assert_eq!(found(old, new), [""; 0]);
        // A property may have the name of a keyword.
        let named = json!({"properties": {"description": {"type": "string"}}});
        assert_eq!(found(named, json!({"properties": {}})), ["removes /properties/description"]);
    }

    #[test]
    fn only_versions_that_a_range_accepts_are_under_a_minor() {
        let (old, new) = (json!({"properties": {"id": {}}}), json!({"properties": {}}));
        let under = |from: &str, to: &str| under_minor(&contract(from, old.clone()), &contract(to, new.clone())).len();
        assert_eq!([under("1.0.0", "1.1.0"), under("1.0.0", "2.0.0"), under("1.1.0", "1.0.0")], [1, 0, 0]);
        assert_eq!([under("0.1.0", "0.1.1"), under("0.1.0", "0.2.0")], [1, 0]);
    }
}
