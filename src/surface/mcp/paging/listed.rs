//! Locates the entries of lists in the JSON text of an answer. This program wrote the text, so it is valid and has no
//! white space between tokens.
//!
//! serde_json can do this too, with its feature `raw_value`. But that feature changes how every document is read that
//! has a key of a certain name, also a contract.

use std::{borrow::Cow, collections::BTreeMap, ops::Range};

use serde::de::DeserializeOwned;

/// The parts of an answer.
pub struct Listed<'t> {
    /// The fields that are not paged, as JSON, without next steps.
    pub fields: BTreeMap<&'t str, &'t str>,
    /// The lists that are paged.
    pub lists: BTreeMap<&'t str, Vec<Item<'t>>>,
}

/// An entry of a list.
pub struct Item<'t> {
    /// The entry.
    pub text: &'t str,
    /// The lists in the entry that are also paged.
    pub inner: Vec<Inner<'t>>,
}

/// A list in an entry.
pub struct Inner<'t> {
    /// Its name.
    pub name: &'t str,
    /// The range of the list in the text of the entry.
    place: Range<usize>,
    /// Its entries.
    pub items: Vec<&'t str>,
}

impl<'t> Listed<'t> {
    /// Finds the lists of these names in the text of an answer.
    pub fn of(text: &'t str, names: &[&'static str]) -> Self {
        let mut found = Self { fields: BTreeMap::new(), lists: BTreeMap::new() };
        let mut scanner = Scanner { text, at: 0 };
        scanner.members(|scanner, name| {
            if names.contains(&name) && scanner.is_list() {
                let nested = names.iter().filter_map(|list| list.strip_prefix(name)?.strip_prefix('.'));
                let nested: Vec<_> = nested.collect();
                let mut items = Vec::new();
                scanner.items(|scanner| items.push(scanner.item(&nested)));
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

impl Item<'_> {
    /// Returns the number of entries: this one and those of its lists.
    pub fn count(&self) -> usize {
        1 + self.inner.iter().map(|list| list.items.len()).sum::<usize>()
    }

    /// Returns the entry with its lists empty.
    pub fn head(&self) -> Cow<'_, str> {
        if self.inner.is_empty() {
            return Cow::Borrowed(self.text);
        }
        let mut places: Vec<_> = self.inner.iter().map(|list| &list.place).collect();
        places.sort_by_key(|place| place.start);
        let (mut head, mut at) = (String::new(), 0);
        for place in places {
            head.push_str(&self.text[at..place.start]);
            head.push_str("[]");
            at = place.end;
        }
        head.push_str(&self.text[at..]);
        Cow::Owned(head)
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

    /// Returns the entry at the cursor, with its lists of these names, and advances past it.
    fn item(&mut self, names: &[&'t str]) -> Item<'t> {
        let start = self.at;
        if names.is_empty() || self.byte() != Some(b'{') {
            return Item { text: self.value(), inner: Vec::new() };
        }
        let mut inner = Vec::new();
        self.members(|scanner, name| {
            let (at, mut items) = (scanner.at, Vec::new());
            if !names.contains(&name) || !scanner.is_list() {
                scanner.value();
                return;
            }
            scanner.items(|scanner| items.push(scanner.value()));
            inner.push(Inner { name, place: at - start..scanner.at - start, items });
        });
        inner.sort_by_key(|list: &Inner<'_>| names.iter().position(|name| *name == list.name));
        Item { text: &self.text[start..self.at], inner }
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
        let Listed { fields, lists } = Listed::of(&text, &["a", "a.y", "a.x", "d", "e", "f"]);
        assert_eq!(fields, [("b", r#"{"c":["}"]}"#), ("e", "null")].into());
        assert_eq!(lists.keys().copied().collect::<Vec<_>>(), ["a", "d"]);
        let [first, second, third] = &lists["a"][..] else { panic!("three entries") };
        assert_eq!((first.text, third.text, third.count()), ("1", r#""s,""#, 1));
        assert_eq!((second.head(), second.count()), (r#"{"x":[],"y":[],"z":"{"}"#.into(), 4));
        let inner: Vec<_> = second.inner.iter().map(|list| (list.name, list.items.clone())).collect();
        assert_eq!(inner, [("y", vec![]), ("x", vec![r#""\\""#, r#""]\"""#, "[]"])]);
    }
}
