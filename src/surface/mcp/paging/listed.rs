//! Locates the entries of lists in the JSON text of an answer. This program wrote the text, so it is valid and has no
//! white space between tokens.
//!
//! serde_json can do this too, with its feature `raw_value`. But that feature changes how every document is read that
//! has a key of a certain name, also a contract.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

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
        let mut scanner = Scanner { text, at: 0 };
        scanner.members(|scanner, name| {
            if names.contains(&name) && scanner.is_list() {
                let mut items = Vec::new();
                scanner.items(|scanner| items.push(scanner.value()));
                found.lists.insert(name, items);
            } else {
                let value = scanner.value();
                if name != "next_steps" {
                    found.fields.insert(name, value);
                }
            }
        });
        found
    }
}

/// Parses a part of the text.
pub fn value<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_else(|error| unreachable!("this program wrote it: {error}"))
}

/// A cursor in a text.
struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scanner<'t> {
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn is_list(&self) -> bool {
        self.byte() == Some(b'[')
    }

    /// Calls `each` for every member of the object at the cursor, after its name. `each` must advance to the end of the
    /// value.
    fn members(&mut self, mut each: impl FnMut(&mut Self, &'t str)) {
        self.at += 1;
        while self.byte() == Some(b'"') {
            let name = self.value();
            self.at += 1;
            each(self, &name[1..name.len() - 1]);
            self.separator();
        }
        self.at += 1;
    }

    /// Calls `each` for every entry of the list at the cursor. `each` must advance to the end of the entry.
    fn items(&mut self, mut each: impl FnMut(&mut Self)) {
        self.at += 1;
        while self.byte().is_some_and(|byte| byte != b']') {
            each(self);
            self.separator();
        }
        self.at += 1;
    }

    fn separator(&mut self) {
        if self.byte() == Some(b',') {
            self.at += 1;
        }
    }

    /// Returns the value at the cursor, and advances past it.
    fn value(&mut self) -> &'t str {
        let (start, mut depth) = (self.at, 0);
        while let Some(byte) = self.byte() {
            match byte {
                b'"' => self.string(),
                b'{' | b'[' => depth += 1,
                b'}' | b']' | b',' if depth == 0 => break,
                b'}' | b']' => depth -= 1,
                // The name of a member.
                b':' if depth == 0 => break,
                _ => {}
            }
            self.at += 1;
        }
        &self.text[start..self.at]
    }

    /// Advances to the closing quote of the string at the cursor.
    fn string(&mut self) {
        let bytes = self.text.as_bytes();
        loop {
            let rest = bytes.get(self.at + 1..).unwrap_or_default();
            match memchr::memchr2(b'"', b'\\', rest) {
                Some(found) if rest[found] == b'\\' => self.at += found + 2,
                Some(found) => {
                    self.at += found + 1;
                    return;
                }
                None => {
                    self.at = bytes.len();
                    return;
                }
            }
        }
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
