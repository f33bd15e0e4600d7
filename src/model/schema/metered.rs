//! Values that count how often a validator reads them, so that a validation can be stopped.
//!
//! The validator has no limit of its own, but reads values through a trait. The size of a schema bounds the work
//! between two reads (see [`super::size`]). A read beyond the limit unwinds to [`within`]: no work continues in the
//! background, and collected data is freed.

use std::{
    borrow::Cow,
    cell::Cell,
    iter::{Map as Mapped, Repeat, Zip, repeat},
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
};

use jsonschema::{
    JsonType,
    json::{Array, Json, Node, NodeIdentity, Object, SerdeJson},
};
use serde_json::{Map, Value};

use super::budget::Deadline;

/// The number of reads between two checks of the clock.
const STRIDE: u64 = 256;

/// The limits of one validation.
#[derive(Debug)]
pub struct Meter {
    looks: Cell<u64>,
    quotes: Cell<u64>,
    deadline: Deadline,
}

/// Why a validation ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spent {
    /// It took too long.
    Time,
    /// It read the value too often.
    Looks,
    /// It quoted the value too often, which every error does.
    Quotes,
}

impl Meter {
    /// Creates a meter with limits on the reads of a value and on quotes of it.
    pub fn new(looks: u64, quotes: u64, deadline: Deadline) -> Self {
        Self { looks: Cell::new(looks), quotes: Cell::new(quotes), deadline }
    }

    fn look(&self) {
        let left = self.looks.get();
        if left == 0 {
            end(Spent::Looks);
        }
        self.looks.set(left - 1);
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

/// Ends the current validation by unwinding. It does not call the panic hook.
fn end(why: Spent) -> ! {
    resume_unwind(Box::new(why))
}

/// Runs a validation until it is done or a limit is reached.
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

/// A value whose reads are counted. Reading the names of properties is free, since their object was counted.
#[derive(Clone, Copy)]
pub struct Looked<'a> {
    value: &'a Value,
    meter: Option<&'a Meter>,
}

impl<'a> Looked<'a> {
    /// Returns a value whose reads are counted by `meter`.
    pub fn new(value: &'a Value, meter: &'a Meter) -> Self {
        Self { value, meter: Some(meter) }
    }

    fn value(&self) -> &'a Value {
        if let Some(meter) = self.meter {
            meter.look();
        }
        self.value
    }
}

impl Json for Metered {
    type Node<'a> = Looked<'a>;
    type PreparedKey = String;
    type StringBuffer = Value;

    const KEYS_PER_LOOKUP: usize = SerdeJson::KEYS_PER_LOOKUP;

    fn prepare_key(key: &str) -> String {
        SerdeJson::prepare_key(key)
    }

    fn with_string_node<T>(buffer: &mut Value, string: &str, f: impl FnOnce(Looked<'_>) -> T) -> T {
        SerdeJson::with_string_node(buffer, string, |value| f(Looked { value, meter: None }))
    }
}

impl<'a> Node<'a, Metered> for Looked<'a> {
    type Object = Members<'a>;
    type Array = Elements<'a>;
    type Number = &'a serde_json::Number;

    fn as_object(&self) -> Option<Members<'a>> {
        Some(Members { members: self.value().as_object()?, meter: self.meter })
    }

    fn as_array(&self) -> Option<Elements<'a>> {
        Some(Elements { elements: self.value().as_array()?, meter: self.meter })
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        self.value().as_str().map(Cow::Borrowed)
    }

    fn as_number(&self) -> Option<&'a serde_json::Number> {
        Node::<SerdeJson>::as_number(&self.value())
    }

    fn as_boolean(&self) -> Option<bool> {
        self.value().as_bool()
    }

    fn is_null(&self) -> bool {
        self.value().is_null()
    }

    fn json_type(&self) -> JsonType {
        Node::<SerdeJson>::json_type(&self.value())
    }

    fn string_length(&self) -> Option<u64> {
        Node::<SerdeJson>::string_length(&self.value())
    }

    fn equals_value(&self, expected: &Value) -> bool {
        Node::<SerdeJson>::equals_value(&self.value(), expected)
    }

    fn to_value(&self) -> Cow<'a, Value> {
        if let Some(meter) = self.meter {
            meter.quote();
        }
        Cow::Borrowed(self.value)
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Node::<SerdeJson>::identity(&self.value())
    }
}

/// A metered object.
#[derive(Clone, Copy)]
pub struct Members<'a> {
    members: &'a Map<String, Value>,
    meter: Option<&'a Meter>,
}

type Metering<'a, I, O> =
    Mapped<Zip<I, Repeat<Option<&'a Meter>>>, fn((<I as Iterator>::Item, Option<&'a Meter>)) -> O>;

impl<'a> Object<'a, Metered> for Members<'a> {
    type Node = Looked<'a>;
    type MemberName = &'a str;
    type MembersIter = Metering<'a, serde_json::map::Iter<'a>, (&'a str, Looked<'a>)>;

    fn len(&self) -> usize {
        self.members.len()
    }

    fn get(&self, key: &String) -> Option<Looked<'a>> {
        Some(Looked { value: self.members.get(key)?, meter: self.meter })
    }

    fn members(&self) -> Self::MembersIter {
        self.members.iter().zip(repeat(self.meter)).map(|((name, value), meter)| {
            let node = Looked { value, meter };
            node.value();
            (name, node)
        })
    }
}

/// A metered array.
#[derive(Clone, Copy)]
pub struct Elements<'a> {
    elements: &'a [Value],
    meter: Option<&'a Meter>,
}

impl<'a> Array<'a, Metered> for Elements<'a> {
    type Node = Looked<'a>;
    type ElementsIter = Metering<'a, std::slice::Iter<'a, Value>, Looked<'a>>;

    fn len(&self) -> usize {
        self.elements.len()
    }

    fn elements(&self) -> Self::ElementsIter {
        self.elements.iter().zip(repeat(self.meter)).map(|(value, meter)| Looked { value, meter })
    }

    fn is_unique(&self) -> bool {
        Array::<SerdeJson>::is_unique(&self.elements)
    }
}
