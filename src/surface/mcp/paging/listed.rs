//! Locates the entries of lists in the JSON text of an answer. This program wrote the text, so it is valid and has no
//! white space between tokens.
//!
//! serde_json can do this too, with its feature `raw_value`. But that feature changes how every document with a key of
//! a certain name is read, including contracts.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, IgnoredAny};

/// The parts of an answer.
pub struct Listed<'t> {
    /// The fields that are not paged, as JSON, without next steps.
    pub fields: BTreeMap<&'t str, &'t str>,
    /// The entries of the lists that are paged, as JSON.
    pub lists: BTreeMap<&'t str, Vec<&'t str>>,
}

impl<'t> Listed<'t> {
    /// Finds the lists of these names in the text of an answer.
    pub fn of(text: &'t str, names: &[&'static str]) -> Self {
        let mut found = Self { fields: BTreeMap::new(), lists: BTreeMap::new() };
        let mut members = Values(&text[1..]);
        while let Some(name) = members.next() {
            let name = name.trim_matches('"');
            if let Some(items) = members.0.strip_prefix('[').filter(|_| names.contains(&name)) {
                members.0 = items;
                found.lists.insert(name, members.by_ref().collect());
                // Continue after the list.
                members.0 = members.0.trim_start_matches(']').trim_start_matches(',');
            } else if let Some(value) = members.next().filter(|_| name != "next_steps") {
                found.fields.insert(name, value);
            }
        }
        found
    }
}

/// Parses a part of the text.
pub fn value<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_else(|error| unreachable!("this program wrote it: {error}"))
}

/// The values up to a closing bracket, and the text that follows. The values of an object include the names of its
/// members.
struct Values<'t>(&'t str);

impl<'t> Iterator for Values<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let mut values = serde_json::Deserializer::from_str(self.0).into_iter::<IgnoredAny>();
        values.next()?.ok()?;
        let (value, rest) = self.0.split_at(values.byte_offset());
        self.0 = rest.strip_prefix([',', ':']).unwrap_or(rest);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_parts_are_those_of_the_text() {
        let answer = json!({
            "a": [1, {"x": ["\\", "]\"", []], "y": [], "z": "{"}, "s,"], "b": {"c": ["}"]}, "d": [], "e": null,
            "next_steps": ["x"],
        });
        let text = answer.to_string();
        let Listed { fields, lists } = Listed::of(&text, &["a", "d", "e", "f"]);
        assert_eq!(fields, [("b", r#"{"c":["}"]}"#), ("e", "null")].into());
        let entry = r#"{"x":["\\","]\"",[]],"y":[],"z":"{"}"#;
        assert_eq!(lists, [("a", vec!["1", entry, r#""s,""#]), ("d", vec![])].into());
    }
}
