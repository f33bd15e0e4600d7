//! Reads a document into a forest.

use std::{cell::Cell, collections::HashSet, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Number;

use super::{Forest, Part};
use crate::model::json::MAX_VALUES;

/// Reads one value. Nested values share the remaining limit.
pub(super) struct Reader<'f, 'c> {
    pub(super) forest: &'f mut Forest,
    pub(super) left: &'c Cell<usize>,
}

impl<'de> DeserializeSeed<'de> for Reader<'_, '_> {
    type Value = u32;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u32, D::Error> {
        let left = self.left.get().checked_sub(1);
        self.left.set(left.ok_or_else(|| D::Error::custom(format_args!("it has more than {MAX_VALUES} values")))?);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_, '_> {
    type Value = u32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<u32, E> {
        Ok(self.forest.part(Part::Null, &[], 0))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<u32, E> {
        Ok(self.forest.part(Part::Bool(value), &[], 0))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<u32, E> {
        Ok(self.forest.number(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<u32, E> {
        Ok(self.forest.number(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<u32, E> {
        let number =
            Number::from_f64(value).ok_or_else(|| E::custom("NaN and infinities cannot be represented in JSON"))?;
        Ok(self.forest.number(number))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<u32, E> {
        Ok(self.forest.string(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<u32, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(Reader { forest: &mut *self.forest, left: self.left })? {
            items.push(item);
        }
        Ok(self.forest.array(&items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<u32, A::Error> {
        let mut members = Vec::new();
        let mut names = HashSet::new();
        while let Some(name) = map.next_key_seed(Name(&mut *self.forest))? {
            if !names.insert(name) {
                return Err(A::Error::custom(format_args!("duplicate key {:?}", self.forest.text(name))));
            }
            let member = map.next_value_seed(Reader { forest: &mut *self.forest, left: self.left })?;
            members.push((name, member));
        }
        Ok(self.forest.object(members))
    }
}

/// Reads the name of a member.
struct Name<'f>(&'f mut Forest);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = u32;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u32, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = u32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<u32, E> {
        Ok(self.0.symbol(name))
    }
}
