//! Reads a JSON value. A large one is written as text while it is read, so that it is never in memory as a [`Value`].

use std::{cell::Cell, collections::BTreeMap, fmt, mem};

use serde::{
    Deserializer,
    de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};

use super::{INEXACT, Json, LARGE, MAX_DEPTH, MAX_VALUES, is_exact};

/// The numbers that a document may have.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Numbers {
    /// Those that every JSON parser keeps exactly.
    Exact,
    /// Those that fit a machine type.
    Machine,
}

/// Reads a value.
pub(super) fn read<'de, D: Deserializer<'de>>(numbers: Numbers, deserializer: D) -> Result<Json, D::Error> {
    let reader = Reader { numbers, depth: MAX_DEPTH, left: &Cell::new(MAX_VALUES) };
    reader.deserialize(deserializer).map(Json::from)
}

/// A value that was read, as JSON text if it contains [`LARGE`] values.
pub(super) enum Part {
    Small(Value),
    Large(Box<str>),
}

impl Part {
    fn into_text(self) -> Box<str> {
        match self {
            Self::Small(value) => value.to_string().into(),
            Self::Large(text) => text,
        }
    }
}

/// Parses one value. Nested values share the remaining limits.
struct Reader<'c> {
    numbers: Numbers,
    depth: usize,
    left: &'c Cell<usize>,
}

impl Reader<'_> {
    fn inner<E: Error>(&self) -> Result<Self, E> {
        let depth = self.depth.checked_sub(1);
        let depth = depth.ok_or_else(|| E::custom(format_args!("nested deeper than {MAX_DEPTH} levels")))?;
        Ok(Self { depth, ..*self })
    }

    fn number<E: Error>(&self, number: Number) -> Result<Part, E> {
        if self.numbers == Numbers::Exact && !is_exact(&number) {
            return Err(E::custom(format_args!("{INEXACT}; write it as a string")));
        }
        Ok(Part::Small(Value::Number(number)))
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Part;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Part, D::Error> {
        let left = self.left.get().checked_sub(1);
        self.left.set(left.ok_or_else(|| D::Error::custom(format_args!("it has more than {MAX_VALUES} values")))?);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Part;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Part, E> {
        Ok(Part::Small(Value::Null))
    }

    fn visit_none<E: Error>(self) -> Result<Part, E> {
        Ok(Part::Small(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Part, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Part, E> {
        Ok(Part::Small(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Part, E> {
        self.number(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Part, E> {
        self.number(value.into())
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<Part, E> {
        match i64::try_from(value) {
            Ok(value) => self.visit_i64(value),
            Err(_) => self.visit_f64(value as f64),
        }
    }

    fn visit_u128<E: Error>(self, value: u128) -> Result<Part, E> {
        match u64::try_from(value) {
            Ok(value) => self.visit_u64(value),
            Err(_) => self.visit_f64(value as f64),
        }
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Part, E> {
        let number = Number::from_f64(value)
            .ok_or_else(|| E::custom("NaN and infinities cannot be represented in JSON; write them as strings"))?;
        self.number(number)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Part, E> {
        Ok(Part::Small(value.into()))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Part, E> {
        Ok(Part::Small(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Part, A::Error> {
        let limit = self.left.get().saturating_sub(LARGE - 1);
        let mut items = Vec::new();
        // The text of the items so far, once there are many.
        let mut text = String::new();
        while let Some(item) = seq.next_element_seed(self.inner()?)? {
            if self.left.get() <= limit {
                for item in mem::take(&mut items).into_iter().map(Part::Small).chain([item]) {
                    text.push(if text.is_empty() { '[' } else { ',' });
                    text += &item.into_text();
                }
            } else if let Part::Small(item) = item {
                items.push(item);
            }
        }
        Ok(if text.is_empty() { Part::Small(Value::Array(items)) } else { Part::Large((text + "]").into()) })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Part, A::Error> {
        let limit = self.left.get().saturating_sub(LARGE - 1);
        let mut object = Map::new();
        // The texts of the members so far, once there are many.
        let mut texts = BTreeMap::new();
        while let Some(key) = map.next_key::<String>()? {
            if object.contains_key(&key) || texts.contains_key(&key) {
                return Err(A::Error::custom(format_args!("duplicate key {key:?}")));
            }
            let member = map.next_value_seed(self.inner()?)?;
            if self.left.get() <= limit {
                let members = mem::take(&mut object).into_iter().map(|(name, member)| (name, Part::Small(member)));
                texts.extend(members.chain([(key, member)]).map(|(name, member)| (name, member.into_text())));
            } else if let Part::Small(member) = member {
                object.insert(key, member);
            }
        }
        Ok(if texts.is_empty() { Part::Small(Value::Object(object)) } else { Part::Large(object_text(texts).into()) })
    }
}

/// Returns the text of an object with these members.
fn object_text(members: BTreeMap<String, Box<str>>) -> String {
    let mut text = String::with_capacity(members.iter().map(|(name, value)| name.len() + value.len() + 4).sum());
    for (name, value) in members {
        text.push(if text.is_empty() { '{' } else { ',' });
        text += &Value::String(name).to_string();
        text.push(':');
        text += &value;
    }
    text + "}"
}
