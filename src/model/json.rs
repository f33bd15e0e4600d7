//! A JSON value read strictly, from JSON or YAML alike: what two readers could understand
//! differently is refused instead of guessed.
//!
//! - Duplicate keys are refused (RFC 8259 section 4 leaves their meaning open).
//! - Numbers are those every JSON reader keeps exactly (RFC 7493 section 2.2): integers beyond
//!   ±2^53 would hash alike in canonical JSON, and `NaN` or infinities have no JSON form.
//! - Nesting and size are bounded, so that hostile input costs bounded time and memory.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

/// Deepest nesting accepted.
pub const MAX_DEPTH: usize = 64;
/// Largest integer magnitude that every JSON reader keeps exactly: 2^53.
const MAX_EXACT: u64 = 1 << 53;

/// A JSON value that was read strictly.
#[derive(Debug, Clone, PartialEq, Default, Serialize, schemars::JsonSchema)]
#[serde(transparent)]
pub struct Json(pub Value);

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Strict { depth: 0 }.deserialize(deserializer).map(Json)
    }
}

struct Strict {
    depth: usize,
}

impl Strict {
    fn inner<E: Error>(&self) -> Result<Self, E> {
        if self.depth >= MAX_DEPTH {
            return Err(E::custom(format_args!("nested deeper than {MAX_DEPTH} levels")));
        }
        Ok(Self { depth: self.depth + 1 })
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        exact(value.unsigned_abs()).map(|()| value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        exact(value).map(|()| value.into())
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<Value, E> {
        exact(u64::try_from(value.unsigned_abs()).unwrap_or(u64::MAX))?;
        self.visit_i64(value as i64)
    }

    fn visit_u128<E: Error>(self, value: u128) -> Result<Value, E> {
        self.visit_u64(u64::try_from(value).unwrap_or(u64::MAX))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        // Readers turn an integer too large for 64 bits into a float: refuse it as the integer it was.
        if value.fract() == 0.0 && value.abs() > MAX_EXACT as f64 {
            return Err(E::custom(
                "a whole number beyond ±2^53 is not kept exactly by JSON readers; write it as a string",
            ));
        }
        serde_json::Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("NaN and infinities have no JSON form; write them as strings"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(self.inner()?)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            if object.contains_key(&key) {
                return Err(A::Error::custom(format_args!("the key {key:?} is there twice")));
            }
            let value = map.next_value_seed(self.inner()?)?;
            object.insert(key, value);
        }
        Ok(Value::Object(object))
    }
}

fn exact<E: Error>(magnitude: u64) -> Result<(), E> {
    if magnitude > MAX_EXACT {
        return Err(E::custom("a whole number beyond ±2^53 is not kept exactly by JSON readers; write it as a string"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Json, serde_json::Error> {
        serde_json::from_str(text)
    }

    #[test]
    fn refuses_what_readers_disagree_on() {
        for (text, hint) in [
            (r#"{"a":1,"a":2}"#, "twice"),
            (r#"[{"b":{"a":1,"a":1}}]"#, "twice"),
            ("9007199254740993", "2^53"),
            ("-9007199254740993", "2^53"),
            ("18446744073709551616", "2^53"),
            ("1e400", "out of range"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(hint), "{text}: {error}");
        }
        assert!(read("9007199254740992").is_ok());
        assert!(read("1e-5").is_ok());
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(read(&nested(MAX_DEPTH)).is_ok());
        assert!(read(&nested(MAX_DEPTH + 1)).is_err());
        assert!(read(&"[".repeat(100_000)).is_err());
    }
}
