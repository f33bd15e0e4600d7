//! Values that count how often a validator reads them, so that a validation can be stopped.
//!
//! The validator has no limits of its own, but reads values through a trait. The size of a schema bounds the work
//! between two reads (see [`super::size`]). A read beyond the limit unwinds to [`within`], so no work continues in the
//! background, and collected data is freed.

use std::{
    borrow::Cow,
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};

use jsonschema::{
    JsonType,
    json::{Array, Json, Node, NodeIdentity, Object, SerdeJson},
};
use serde_json::{Map, Value};

use super::{
    budget::Deadline,
    forest::{self, Tree},
};

/// The number of reads between two checks of the deadline.
const STRIDE: u64 = 256;

/// The limits of one validation.
#[derive(Debug)]
pub struct Meter {
    reads: Cell<u64>,
    quotes: Cell<u64>,
    deadline: Deadline,
}

/// The reason why a validation ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spent {
    /// It took too long.
    Time,
    /// It read the value too often.
    Reads,
    /// It quoted the value too often. Every error quotes it.
    Quotes,
}

impl Meter {
    /// Creates a meter with limits on the reads of a value and on quotes of it.
    pub fn new(reads: u64, quotes: u64, deadline: Deadline) -> Self {
        Self { reads: Cell::new(reads), quotes: Cell::new(quotes), deadline }
    }

    fn look(&self) {
        let left = self.reads.get();
        if left == 0 {
            end(Spent::Reads);
        }
        self.reads.set(left - 1);
        if left.is_multiple_of(STRIDE) && self.deadline.is_over() {
            end(Spent::Time);
        }
    }

    fn quote(&self) {
        let left = self.quotes.get();
        if left == 0 {
            end(Spent::Quotes);
        }
        self.quotes.set(left - 1);
    }
}

/// Ends the current validation by unwinding. This does not call the panic hook.
fn end(why: Spent) -> ! {
    resume_unwind(Box::new(why))
}

/// Runs a validation until it finishes or reaches a limit.
///
/// # Errors
/// Returns the limit that was reached.
pub fn within<T>(judge: impl FnOnce() -> T) -> Result<T, Spent> {
    catch_unwind(AssertUnwindSafe(judge)).map_err(|panic| match panic.downcast::<Spent>() {
        Ok(spent) => *spent,
        Err(panic) => resume_unwind(panic),
    })
}

/// The JSON type of metered values.
pub enum Metered {}

/// A value or a tree.
#[derive(Clone, Copy)]
enum Source<'a> {
    Value(&'a Value),
    Tree(Tree<'a>),
}

impl<'a> Source<'a> {
    fn value(self) -> Cow<'a, Value> {
        match self {
            Self::Value(value) => Cow::Borrowed(value),
            Self::Tree(tree) => Cow::Owned(tree.to_value()),
        }
    }
}

/// A value whose reads are counted. Names of properties are not counted, because reading their object already was.
#[derive(Clone, Copy)]
pub struct MeteredValue<'a> {
    source: Source<'a>,
    meter: Option<&'a Meter>,
}

impl<'a> MeteredValue<'a> {
    /// Returns a value whose reads are counted by `meter`.
    pub fn new(value: &'a Value, meter: &'a Meter) -> Self {
        Self { source: Source::Value(value), meter: Some(meter) }
    }

    /// Returns a value whose reads are not counted.
    pub fn unmetered(value: &'a Value) -> Self {
        Self { source: Source::Value(value), meter: None }
    }

    /// Returns a tree to be read as a value. Its reads are not counted.
    pub fn tree(tree: Tree<'a>) -> Self {
        Self { source: Source::Tree(tree), meter: None }
    }

    fn look(&self) -> Source<'a> {
        if let Some(meter) = self.meter {
            meter.look();
        }
        self.source
    }
}

impl Json for Metered {
    type Node<'a> = MeteredValue<'a>;
    type PreparedKey = String;
    type StringBuffer = Value;

    const KEYS_PER_LOOKUP: usize = SerdeJson::KEYS_PER_LOOKUP;

    fn prepare_key(key: &str) -> String {
        SerdeJson::prepare_key(key)
    }

    fn with_string_node<T>(buffer: &mut Value, string: &str, f: impl FnOnce(MeteredValue<'_>) -> T) -> T {
        SerdeJson::with_string_node(buffer, string, |value| f(MeteredValue::unmetered(value)))
    }
}

impl<'a> Node<'a, Metered> for MeteredValue<'a> {
    type Object = Members<'a>;
    type Array = Elements<'a>;
    type Number = &'a serde_json::Number;

    fn as_object(&self) -> Option<Members<'a>> {
        let members = match self.look() {
            Source::Value(value) => Fields::Value(value.as_object()?),
            Source::Tree(tree) => Fields::Tree(tree.is_object().then_some(tree)?),
        };
        Some(Members { members, meter: self.meter })
    }

    fn as_array(&self) -> Option<Elements<'a>> {
        let elements = match self.look() {
            Source::Value(value) => List::Value(value.as_array()?),
            Source::Tree(tree) => List::Tree(tree.is_array().then_some(tree)?),
        };
        Some(Elements { elements, meter: self.meter })
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        match self.look() {
            Source::Value(value) => value.as_str().map(Cow::Borrowed),
            Source::Tree(tree) => tree.as_str().map(Cow::Borrowed),
        }
    }

    fn as_number(&self) -> Option<&'a serde_json::Number> {
        match self.look() {
            Source::Value(value) => Node::<SerdeJson>::as_number(&value),
            Source::Tree(tree) => tree.as_number(),
        }
    }

    fn as_boolean(&self) -> Option<bool> {
        match self.look() {
            Source::Value(value) => value.as_bool(),
            Source::Tree(tree) => tree.as_bool(),
        }
    }

    fn is_null(&self) -> bool {
        match self.look() {
            Source::Value(value) => value.is_null(),
            Source::Tree(tree) => tree.is_null(),
        }
    }

    fn json_type(&self) -> JsonType {
        match self.look() {
            Source::Value(value) => Node::<SerdeJson>::json_type(&value),
            Source::Tree(tree) if tree.is_object() => JsonType::Object,
            Source::Tree(tree) if tree.is_array() => JsonType::Array,
            Source::Tree(tree) if tree.is_string() => JsonType::String,
            Source::Tree(tree) if tree.is_number() => JsonType::Number,
            Source::Tree(tree) if tree.is_boolean() => JsonType::Boolean,
            Source::Tree(_) => JsonType::Null,
        }
    }

    fn string_length(&self) -> Option<u64> {
        match self.look() {
            Source::Value(value) => Node::<SerdeJson>::string_length(&value),
            Source::Tree(tree) => tree.as_str().map(|text| text.chars().count() as u64),
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        Node::<SerdeJson>::equals_value(&&*self.look().value(), expected)
    }

    fn to_value(&self) -> Cow<'a, Value> {
        if let Some(meter) = self.meter {
            meter.quote();
        }
        self.source.value()
    }

    // A part of a forest is never its own descendant, so sharing a number between equal parts cannot create a false
    // cycle.
    fn identity(&self) -> Option<NodeIdentity> {
        match self.look() {
            Source::Value(value) => Node::<SerdeJson>::identity(&value),
            Source::Tree(tree) => Some(NodeIdentity::new(tree.number())),
        }
    }
}

/// A metered object.
#[derive(Clone, Copy)]
pub struct Members<'a> {
    members: Fields<'a>,
    meter: Option<&'a Meter>,
}

#[derive(Clone, Copy)]
enum Fields<'a> {
    Value(&'a Map<String, Value>),
    Tree(Tree<'a>),
}

impl<'a> Object<'a, Metered> for Members<'a> {
    type Node = MeteredValue<'a>;
    type MemberName = &'a str;
    type MembersIter = MembersIter<'a>;

    fn len(&self) -> usize {
        match self.members {
            Fields::Value(members) => members.len(),
            Fields::Tree(tree) => tree.members().len(),
        }
    }

    fn get(&self, key: &String) -> Option<MeteredValue<'a>> {
        let source = match self.members {
            Fields::Value(members) => Source::Value(members.get(key)?),
            Fields::Tree(tree) => Source::Tree(tree.get(key)?),
        };
        Some(MeteredValue { source, meter: self.meter })
    }

    fn members(&self) -> MembersIter<'a> {
        match self.members {
            Fields::Value(members) => MembersIter::Value(members.iter(), self.meter),
            Fields::Tree(tree) => MembersIter::Tree(tree.members()),
        }
    }
}

/// An iterator over the members of an object. Each member counts as a read.
pub enum MembersIter<'a> {
    /// The members of a value.
    Value(serde_json::map::Iter<'a>, Option<&'a Meter>),
    /// The members of a tree.
    Tree(forest::Members<'a>),
}

impl<'a> Iterator for MembersIter<'a> {
    type Item = (&'a str, MeteredValue<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Value(members, meter) => {
                let (name, value) = members.next()?;
                let node = MeteredValue { source: Source::Value(value), meter: *meter };
                node.look();
                Some((name, node))
            }
            Self::Tree(members) => members.next().map(|(name, tree)| (name, MeteredValue::tree(tree))),
        }
    }
}

/// A metered array.
#[derive(Clone, Copy)]
pub struct Elements<'a> {
    elements: List<'a>,
    meter: Option<&'a Meter>,
}

#[derive(Clone, Copy)]
enum List<'a> {
    Value(&'a [Value]),
    Tree(Tree<'a>),
}

impl<'a> Array<'a, Metered> for Elements<'a> {
    type Node = MeteredValue<'a>;
    type ElementsIter = ElementsIter<'a>;

    fn len(&self) -> usize {
        match self.elements {
            List::Value(elements) => elements.len(),
            List::Tree(tree) => tree.items().len(),
        }
    }

    fn elements(&self) -> ElementsIter<'a> {
        match self.elements {
            List::Value(elements) => ElementsIter::Value(elements.iter(), self.meter),
            List::Tree(tree) => ElementsIter::Tree(tree.items()),
        }
    }

    fn is_unique(&self) -> bool {
        match self.elements {
            List::Value(elements) => Array::<SerdeJson>::is_unique(&elements),
            List::Tree(tree) => {
                let elements: Vec<_> = tree.items().map(Tree::to_value).collect();
                Array::<SerdeJson>::is_unique(&elements.as_slice())
            }
        }
    }
}

/// An iterator over the elements of an array.
pub enum ElementsIter<'a> {
    /// The elements of a value.
    Value(std::slice::Iter<'a, Value>, Option<&'a Meter>),
    /// The elements of a tree.
    Tree(forest::Items<'a>),
}

impl<'a> Iterator for ElementsIter<'a> {
    type Item = MeteredValue<'a>;

    fn next(&mut self) -> Option<MeteredValue<'a>> {
        match self {
            Self::Value(elements, meter) => {
                elements.next().map(|value| MeteredValue { source: Source::Value(value), meter: *meter })
            }
            Self::Tree(elements) => elements.next().map(MeteredValue::tree),
        }
    }
}
