//! Reads a part of a document.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Number, Value};

use super::{Forest, HAS_DYNAMIC, HAS_NAMES, HAS_REFERENCES, Part, PartId};
use crate::model::{pointer::unescape, schema::uri::step};

/// A part of a document, with everything below it.
#[derive(Clone, Copy)]
pub struct Tree<'a> {
    pub(super) forest: &'a Forest,
    pub(super) at: u32,
}

impl fmt::Debug for Tree<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_value().fmt(f)
    }
}

impl PartialEq for Tree<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.forest, other.forest) && self.at == other.at
    }
}

impl Serialize for Tree<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.part() {
            Part::Null => serializer.serialize_unit(),
            Part::Bool(value) => serializer.serialize_bool(value),
            Part::Number(at) => self.forest.numbers[at as usize].serialize(serializer),
            Part::Text(symbol) => serializer.serialize_str(self.forest.text(symbol)),
            Part::Array(..) => serializer.collect_seq(self.items()),
            Part::Object(..) => serializer.collect_map(self.members()),
        }
    }
}

impl<'a> Tree<'a> {
    /// Returns its id in the forest.
    pub fn id(self) -> PartId {
        PartId(self.at)
    }

    /// Returns the part with another id in the same forest.
    pub fn other(self, id: PartId) -> Self {
        Self { at: id.0, ..self }
    }

    /// Returns a number that is unique to this part in the forest.
    pub(in crate::model::schema) fn number(self) -> usize {
        self.at as usize
    }

    fn part(self) -> Part {
        self.forest.parts[self.at as usize]
    }

    fn is_marked(self, mark: u8) -> bool {
        self.forest.marks[self.at as usize] & mark != 0
    }

    /// Returns whether a keyword here or below names a schema or its dialect.
    pub fn has_names(self) -> bool {
        self.is_marked(HAS_NAMES)
    }

    /// Returns whether a keyword here or below refers to a schema.
    pub fn has_references(self) -> bool {
        self.is_marked(HAS_REFERENCES)
    }

    /// Returns whether the target of a reference here or below depends on the path by which it is reached.
    pub fn has_dynamic_references(self) -> bool {
        self.is_marked(HAS_DYNAMIC)
    }

    /// Returns whether it is an object.
    pub fn is_object(self) -> bool {
        matches!(self.part(), Part::Object(..))
    }

    /// Returns whether it is an array.
    pub fn is_array(self) -> bool {
        matches!(self.part(), Part::Array(..))
    }

    /// Returns whether it is a string.
    pub fn is_string(self) -> bool {
        matches!(self.part(), Part::Text(_))
    }

    /// Returns whether it is a number.
    pub fn is_number(self) -> bool {
        matches!(self.part(), Part::Number(_))
    }

    /// Returns whether it is a boolean.
    pub fn is_boolean(self) -> bool {
        matches!(self.part(), Part::Bool(_))
    }

    /// Returns whether it is null.
    pub fn is_null(self) -> bool {
        matches!(self.part(), Part::Null)
    }

    /// Returns the boolean, if it is one.
    pub fn as_bool(self) -> Option<bool> {
        match self.part() {
            Part::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the string, if it is one.
    pub fn as_str(self) -> Option<&'a str> {
        match self.part() {
            Part::Text(symbol) => Some(self.forest.text(symbol)),
            _ => None,
        }
    }

    /// Returns the number, if it is one.
    pub fn as_number(self) -> Option<&'a Number> {
        match self.part() {
            Part::Number(at) => Some(&self.forest.numbers[at as usize]),
            _ => None,
        }
    }

    /// Returns the JSON Pointer to the first occurrence of a part in this one.
    pub fn pointer_to(self, part: PartId) -> Option<String> {
        self.pointer_to_any(&|id| id == part)
    }

    /// Returns the JSON Pointer to the first part in this one that is wanted.
    pub fn pointer_to_any(self, is_wanted: &dyn Fn(PartId) -> bool) -> Option<String> {
        if is_wanted(self.id()) {
            return Some(String::new());
        }
        let below = |token: &str, tree: Self| tree.pointer_to_any(is_wanted).map(|rest| step(token) + &rest);
        let members = self.members().find_map(|(name, member)| below(name, member));
        members.or_else(|| self.items().enumerate().find_map(|(at, item)| below(&at.to_string(), item)))
    }

    /// Returns its items. There are none if it is not an array.
    pub fn items(self) -> Items<'a> {
        let items = if self.is_array() { self.forest.below(self.at) } else { &[] };
        Items { forest: self.forest, left: items.iter() }
    }

    /// Returns its members, sorted by name. There are none if it is not an object.
    pub fn members(self) -> Members<'a> {
        let members = if self.is_object() { self.forest.below(self.at) } else { &[] };
        Members { forest: self.forest, left: members.chunks_exact(2) }
    }

    /// Returns the member with this name.
    pub fn get(self, name: &str) -> Option<Self> {
        let members = if self.is_object() { self.forest.below(self.at) } else { return None };
        let (mut low, mut high) = (0, members.len() / 2);
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.forest.text(members[2 * middle]).cmp(name) {
                std::cmp::Ordering::Equal => return Some(Self { at: members[2 * middle + 1], ..self }),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// Returns the child that a token of a JSON Pointer refers to.
    pub fn step(self, token: &str) -> Option<Self> {
        if self.is_object() {
            return self.get(&unescape(token));
        }
        let is_index = token == "0" || !token.starts_with(['0', '+']);
        self.items().nth(token.parse().ok().filter(|_| is_index)?)
    }

    /// Returns the part that a JSON Pointer refers to.
    pub fn pointer(self, pointer: &str) -> Option<Self> {
        match pointer.strip_prefix('/') {
            Some(steps) => steps.split('/').try_fold(self, Self::step),
            None => pointer.is_empty().then_some(self),
        }
    }

    /// Returns the tree as a value.
    pub fn to_value(self) -> Value {
        match self.part() {
            Part::Null => Value::Null,
            Part::Bool(value) => Value::Bool(value),
            Part::Number(at) => Value::Number(self.forest.numbers[at as usize].clone()),
            Part::Text(symbol) => Value::from(self.forest.text(symbol)),
            Part::Array(..) => self.items().map(Self::to_value).collect(),
            Part::Object(..) => {
                let members = self.members().map(|(name, member)| (name.to_owned(), member.to_value()));
                Value::Object(members.collect::<Map<_, _>>())
            }
        }
    }

    /// Returns the tree as a value, without the members of objects that the other tree has too, and equal. Both must be
    /// in one forest. Items of arrays are kept.
    pub fn without_equal(self, other: Self) -> Value {
        if !(self.is_object() && other.is_object()) {
            return self.to_value();
        }
        let of_member = |(name, member): (&str, Self)| match other.get(name) {
            Some(same) if same == member => None,
            Some(changed) => Some((name.to_owned(), member.without_equal(changed))),
            None => Some((name.to_owned(), member.to_value())),
        };
        Value::Object(self.members().filter_map(of_member).collect())
    }

    /// Returns the number of values, including itself, but at most `most`.
    pub fn count(self, most: usize) -> usize {
        let mut count = 0;
        let mut open = vec![self];
        while let Some(tree) = open.pop() {
            count += 1;
            if count >= most {
                break;
            }
            open.extend(tree.items());
            open.extend(tree.members().map(|(_, member)| member));
        }
        count
    }
}

/// The items of an array.
#[derive(Clone)]
pub struct Items<'a> {
    forest: &'a Forest,
    left: std::slice::Iter<'a, u32>,
}

impl<'a> Iterator for Items<'a> {
    type Item = Tree<'a>;

    fn next(&mut self) -> Option<Tree<'a>> {
        self.left.next().map(|at| Tree { forest: self.forest, at: *at })
    }

    fn nth(&mut self, n: usize) -> Option<Tree<'a>> {
        self.left.nth(n).map(|at| Tree { forest: self.forest, at: *at })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl ExactSizeIterator for Items<'_> {}

/// The members of an object, sorted by name.
#[derive(Clone)]
pub struct Members<'a> {
    forest: &'a Forest,
    left: std::slice::ChunksExact<'a, u32>,
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, Tree<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let forest = self.forest;
        self.left.next().map(|member| (forest.text(member[0]), Tree { forest, at: member[1] }))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl ExactSizeIterator for Members<'_> {}
