//! A compact representation of JSON documents: equal parts of all documents in a forest are stored once.
//!
//! A [`Value`] takes at least 300 bytes for each value of a schema, because every object is a B-tree node with room
//! for eleven members. Here, a part takes 13 bytes and a member 8, and two versions of a schema share everything that
//! did not change.

mod reader;
mod tree;

use std::{
    cell::Cell,
    collections::HashMap,
    hash::{BuildHasher as _, RandomState},
};

use serde::de::{DeserializeSeed as _, Deserializer};
use serde_json::{Number, Value};

use self::reader::Reader;
pub use self::tree::{Items, Members, Tree};
use super::{
    fragments::encoded_reference,
    words::{NAMED, VALUES},
};
use crate::model::json::{Json, MAX_VALUES};

/// Keywords that name a schema or its dialect.
const NAMING: [&str; 6] = ["$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$schema"];
/// Keywords that refer to a schema, and those whose target depends on the path by which they are reached.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
const DYNAMIC: [&str; 2] = ["$dynamicRef", "$recursiveRef"];

/// Marks of a part that is or contains an object with such a keyword.
const HAS_NAMES: u8 = 1;
const HAS_REFERENCES: u8 = 2;
const HAS_DYNAMIC: u8 = 4;

/// The id of a part in its [`Forest`]. Equal parts have the same id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PartId(u32);

/// One value of a document. The children of arrays and objects are in [`Forest::children`].
#[derive(Debug, Clone, Copy)]
enum Part {
    Null,
    Bool(bool),
    Number(u32),
    Text(u32),
    Array(u32, u32),
    /// The offset and number of its members. Each is a name and a value, and they are sorted by name.
    Object(u32, u32),
}

/// The parts of one or more documents.
#[derive(Debug, Default)]
pub struct Forest {
    parts: Vec<Part>,
    marks: Vec<u8>,
    children: Vec<u32>,
    /// All strings, concatenated. `ends` has the end of each.
    text: String,
    ends: Vec<u32>,
    numbers: Vec<Number>,
    known: Known,
}

/// Indexes for finding equal parts while documents are read. The hashes are keyed randomly.
#[derive(Debug, Default)]
struct Known {
    parts: HashMap<u64, u32>,
    texts: HashMap<u64, u32>,
    numbers: HashMap<Number, u32>,
    keys: RandomState,
}

impl Forest {
    /// Reads a document written by another program: with any number that fits a machine type, and nested as deep as
    /// the deserializer allows.
    ///
    /// # Errors
    /// Returns an error if the text does not parse, repeats a key, or has too many values.
    pub fn read<'de, D: Deserializer<'de>>(&mut self, deserializer: D) -> Result<PartId, D::Error> {
        Reader { forest: self, left: &Cell::new(MAX_VALUES) }.deserialize(deserializer).map(PartId)
    }

    /// Creates a forest from one value. Returns it with the id of the root.
    pub fn of(value: &Value) -> (Self, PartId) {
        let mut forest = Self::default();
        let root = forest.add(value);
        (forest.closed(), root)
    }

    /// Creates a forest from values. Returns it with the ids of their roots.
    pub fn of_json<const N: usize>(values: [&Json; N]) -> (Self, [PartId; N]) {
        let mut forest = Self::default();
        let roots = values.map(|value| forest.add_json(value));
        (forest.closed(), roots)
    }

    /// Creates a forest from schemas, with the fragments of their references encoded as the validator requires. Returns
    /// it with the ids of their roots.
    pub fn of_schemas<const N: usize>(schemas: [&Json; N]) -> (Self, [PartId; N]) {
        let mut forest = Self::default();
        let roots = schemas.map(|schema| {
            let root = forest.add_json(schema);
            forest.encoded(root)
        });
        (forest.closed(), roots)
    }

    /// Adds a value.
    pub fn add(&mut self, value: &Value) -> PartId {
        PartId(self.add_value(value))
    }

    /// Adds a value, without parsing it as a whole if it is large.
    pub fn add_json(&mut self, json: &Json) -> PartId {
        match json.parsed() {
            Ok(value) => self.add(value),
            Err(text) => {
                let read = self.read(&mut serde_json::Deserializer::from_str(text));
                read.unwrap_or_else(|error| unreachable!("its text was written by serde_json: {error}"))
            }
        }
    }

    /// Returns a schema with the fragments of all references encoded. Returns the same id if nothing changes.
    pub fn encoded(&mut self, schema: PartId) -> PartId {
        PartId(self.encode(schema.0, false, &mut HashMap::new()))
    }

    fn encode(&mut self, at: u32, are_names: bool, done: &mut HashMap<(u32, bool), u32>) -> u32 {
        if self.marks[at as usize] & HAS_REFERENCES == 0 {
            return at;
        }
        if let Some(done) = done.get(&(at, are_names)) {
            return *done;
        }
        let below = self.below(at).to_vec();
        let encoded = match self.parts[at as usize] {
            Part::Object(..) => {
                let members = below.chunks_exact(2).map(|member| (member[0], member[1]));
                let members = members.map(|(name, member)| (name, self.encode_member(name, member, are_names, done)));
                let members = members.collect();
                self.object(members)
            }
            _ => {
                let items: Vec<_> = below.into_iter().map(|item| self.encode(item, false, done)).collect();
                self.array(&items)
            }
        };
        done.insert((at, are_names), encoded);
        encoded
    }

    fn encode_member(&mut self, name: u32, member: u32, are_names: bool, done: &mut HashMap<(u32, bool), u32>) -> u32 {
        let word = self.text(name);
        if let Part::Text(symbol) = self.parts[member as usize] {
            let encoded = (!are_names && word == "$ref").then(|| encoded_reference(self.text(symbol))).flatten();
            return encoded.map_or(member, |text| self.string(&text));
        }
        if !are_names && VALUES.contains(&word) {
            return member;
        }
        let are_names = !are_names && NAMED.contains(&word);
        self.encode(member, are_names, done)
    }

    /// Frees the indexes for finding equal parts. Call this once every document is read.
    #[must_use]
    pub fn closed(self) -> Self {
        Self { known: Known::default(), ..self }
    }

    /// Returns the tree below a part.
    pub fn tree(&self, id: PartId) -> Tree<'_> {
        Tree { forest: self, at: id.0 }
    }

    fn add_value(&mut self, value: &Value) -> u32 {
        match value {
            Value::Null => self.part(Part::Null, &[], 0),
            Value::Bool(value) => self.part(Part::Bool(*value), &[], 0),
            Value::Number(number) => self.number(number.clone()),
            Value::String(text) => self.string(text),
            Value::Array(items) => {
                let items: Vec<_> = items.iter().map(|item| self.add_value(item)).collect();
                self.array(&items)
            }
            Value::Object(members) => {
                let members =
                    members.iter().map(|(name, member)| (self.symbol(name), self.add_value(member))).collect();
                self.object(members)
            }
        }
    }

    fn string(&mut self, text: &str) -> u32 {
        let symbol = self.symbol(text);
        self.part(Part::Text(symbol), &[], 0)
    }

    fn number(&mut self, number: Number) -> u32 {
        let fresh = index(self.numbers.len());
        let at = *self.known.numbers.entry(number.clone()).or_insert(fresh);
        if at == fresh {
            self.numbers.push(number);
        }
        self.part(Part::Number(at), &[], 0)
    }

    fn array(&mut self, items: &[u32]) -> u32 {
        let marks = items.iter().fold(0, |marks, item| marks | self.marks[*item as usize]);
        self.part(Part::Array(0, index(items.len())), items, marks)
    }

    fn object(&mut self, mut members: Vec<(u32, u32)>) -> u32 {
        members.sort_unstable_by(|(one, _), (other, _)| self.text(*one).cmp(self.text(*other)));
        let marks = members.iter().fold(0, |marks, (name, member)| {
            let name = self.text(*name);
            // A property may have such a name. The value of such a keyword is a string or a boolean.
            let is_word = matches!(self.parts[*member as usize], Part::Text(_) | Part::Bool(_));
            let has = |words: &[&str], mark: u8| if is_word && words.contains(&name) { mark } else { 0 };
            let own = has(&NAMING, HAS_NAMES) | has(&REFERENCES, HAS_REFERENCES) | has(&DYNAMIC, HAS_DYNAMIC);
            marks | own | self.marks[*member as usize]
        });
        let flat: Vec<_> = members.iter().flat_map(|(name, member)| [*name, *member]).collect();
        self.part(Part::Object(0, index(members.len())), &flat, marks)
    }

    /// Returns the part with these children, and adds it if there is none.
    fn part(&mut self, part: Part, children: &[u32], marks: u8) -> u32 {
        let word = match part {
            Part::Null => (0u8, 0),
            Part::Bool(value) => (1, u32::from(value)),
            Part::Number(at) => (2, at),
            Part::Text(at) => (3, at),
            Part::Array(_, len) => (4, len),
            Part::Object(_, len) => (5, len),
        };
        let hash = self.known.keys.hash_one((word, children));
        if let Some(at) = self.known.parts.get(&hash).copied()
            && self.is(at, part, children)
        {
            return at;
        }
        let first = index(self.children.len());
        self.children.extend_from_slice(children);
        let at = index(self.parts.len());
        self.parts.push(match part {
            Part::Array(_, len) => Part::Array(first, len),
            Part::Object(_, len) => Part::Object(first, len),
            plain => plain,
        });
        self.marks.push(marks);
        self.known.parts.insert(hash, at);
        at
    }

    fn is(&self, at: u32, part: Part, children: &[u32]) -> bool {
        match (self.parts[at as usize], part) {
            (Part::Null, Part::Null) => true,
            (Part::Bool(one), Part::Bool(other)) => one == other,
            (Part::Number(one), Part::Number(other)) | (Part::Text(one), Part::Text(other)) => one == other,
            (Part::Array(..), Part::Array(..)) | (Part::Object(..), Part::Object(..)) => self.below(at) == children,
            _ => false,
        }
    }

    fn symbol(&mut self, text: &str) -> u32 {
        let hash = self.known.keys.hash_one(text);
        if let Some(at) = self.known.texts.get(&hash).copied()
            && self.text(at) == text
        {
            return at;
        }
        let at = index(self.ends.len());
        self.text.push_str(text);
        self.ends.push(index(self.text.len()));
        self.known.texts.insert(hash, at);
        at
    }

    fn text(&self, symbol: u32) -> &str {
        let at = symbol as usize;
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..self.ends[at] as usize]
    }

    fn below(&self, at: u32) -> &[u32] {
        let (first, len) = match self.parts[at as usize] {
            Part::Array(first, len) => (first as usize, len as usize),
            Part::Object(first, len) => (first as usize, 2 * len as usize),
            _ => (0, 0),
        };
        &self.children[first..first + len]
    }
}

/// Converts a count, which never exceeds `u32::MAX` because the size of the input is limited.
pub fn index(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(forest: &mut Forest, text: &str) -> Result<PartId, serde_json::Error> {
        forest.read(&mut serde_json::Deserializer::from_str(text))
    }

    #[test]
    fn documents_round_trip_and_share_equal_parts() {
        let mut forest = Forest::default();
        let text = r#"{"b": [1, 1.0, -2, 1e300, "x", null, true, {}, []], "a": {"x": {"y": 1}}, "c": {"x": {"y": 1}}}"#;
        let value: Value = serde_json::from_str(text).unwrap();
        let (one, other) = (read(&mut forest, text).unwrap(), forest.add(&value));
        assert_eq!(one, other);
        let forest = forest.closed();
        let tree = forest.tree(one);
        assert_eq!(tree.to_value(), value);
        assert_eq!(serde_json::to_value(tree).unwrap(), value);
        assert_eq!(tree.members().map(|(name, _)| name).collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(tree.get("a").unwrap(), tree.get("c").unwrap());
        assert_eq!(tree.get("d").map(Tree::id), None);
        assert_eq!((tree.count(usize::MAX), tree.count(5)), (17, 5));
    }

    #[test]
    fn only_references_that_need_it_are_encoded() {
        let written = "#/definitions/X<(number[]|null)>";
        let schema = |reference: &str| {
            json!({"$ref": reference, "enum": [{"$ref": written}], "not": {"$ref": "other.json#/a%3Cb"},
                "properties": {"$ref": {"$ref": "#/a%20b"}, "enum": {"items": [{"$ref": reference}]}}})
        };
        let mut forest = Forest::default();
        let root = forest.add(&schema(written));
        let encoded = forest.encoded(root);
        assert_eq!(forest.tree(encoded).to_value(), schema("#/definitions/X%3C(number%5B%5D%7Cnull)%3E"));
        assert_eq!(forest.encoded(encoded), encoded);
    }

    #[test]
    fn pointers_resolve_like_those_of_values() {
        let value = json!({"a/b": {"~": [{"x": 1}, 2]}, "": 3, "01": 4});
        let mut forest = Forest::default();
        let id = forest.add(&value);
        for pointer in
            ["", "/", "/a~1b/~0/0/x", "/a~1b/~0/01", "/a~1b/~0/+1", "/a~1b/~0/1", "/a~1b/~0/2", "/01", "x", "/a"]
        {
            let found = forest.tree(id).pointer(pointer).map(Tree::to_value);
            assert_eq!(found.as_ref(), value.pointer(pointer), "{pointer}");
        }
    }

    #[test]
    fn duplicate_keys_and_too_many_values_are_refused() {
        let twice = read(&mut Forest::default(), "{\n\"a\": 1, \"b\": {\"a\": 2}, \"a\": 3}").unwrap_err();
        assert!(twice.to_string().contains("duplicate key \"a\"") && twice.line() == 2, "{twice}");
        let many = format!("[{}0]", "0,".repeat(MAX_VALUES));
        assert!(read(&mut Forest::default(), &many).unwrap_err().to_string().contains("more than 500000 values"));
    }

    #[test]
    fn marks_report_keywords_at_any_depth() {
        let mut forest = Forest::default();
        let mut marks = |value: Value| {
            let tree = forest.add(&value);
            let tree = forest.tree(tree);
            (tree.has_names(), tree.has_references(), tree.has_dynamic_references())
        };
        assert_eq!(marks(json!({"properties": {"id": {}, "$ref": {"type": "string"}}})), (false, false, false));
        assert_eq!(marks(json!({"items": [{"$ref": "#"}]})), (false, true, false));
        assert_eq!(marks(json!({"not": {"$dynamicRef": "#a"}})), (false, true, true));
        assert_eq!(marks(json!({"not": {"$recursiveAnchor": true}})), (true, false, false));
    }
}
