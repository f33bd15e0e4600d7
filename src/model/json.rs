//! Parses JSON values strictly, from JSON or YAML: anything that two parsers could interpret differently is refused.
//!
//! - Duplicate keys are refused (RFC 8259 section 4 leaves their meaning open).
//! - Numbers must be ones that every JSON reader keeps exactly (RFC 7493 section 2.2): integers beyond ±2^53 would get
//!   equal hashes in canonical JSON, and `NaN` and infinities have no JSON form. Files that other programs wrote may have
//!   larger integers in parts that are not used ([`MachineJson`]).
//! - Nesting and size are bounded, so that hostile input costs bounded time and memory.

mod reader;

use std::{borrow::Cow, fmt, sync::Arc};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error as _, MapAccess, Visitor},
};
use serde_json::{Map, Number, Value};

use self::reader::{Numbers, Part, read};
use super::pointer::escape;

/// The maximum nesting depth that is accepted.
pub const MAX_DEPTH: usize = 64;
/// The maximum number of values, including nested ones. Each member of an object takes up to 600 bytes of memory.
pub const MAX_VALUES: usize = 500_000;
/// The largest integer magnitude that every JSON parser keeps exactly: 2^53.
const MAX_EXACT: u64 = 1 << 53;

/// The number of values from which a [`Json`] is stored as text.
const LARGE: usize = 20_000;

/// A JSON value, usually one that was read strictly.
///
/// Copies share it. A large one is stored as text: parsed, an object takes at least 600 bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Json(Form);

/// The form in which a value is stored. Equal values have the same form.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Form {
    Parsed(Arc<Value>),
    /// JSON without whitespace, with sorted keys.
    Text(Arc<str>),
}

impl Json {
    /// Returns the value. A large one is parsed by each call.
    pub fn value(&self) -> Arc<Value> {
        match &self.0 {
            Form::Parsed(value) => Arc::clone(value),
            Form::Text(text) => Arc::new(serde_json::from_str(text).unwrap_or_default()),
        }
    }

    /// Returns the value, if it is stored as one.
    ///
    /// # Errors
    /// Returns the text of a large value.
    pub fn parsed(&self) -> Result<&Value, &str> {
        match &self.0 {
            Form::Parsed(value) => Ok(value),
            Form::Text(text) => Err(text),
        }
    }

    /// Returns the value if it is a string.
    pub fn as_str(&self) -> Option<&str> {
        self.parsed().ok()?.as_str()
    }

    /// Returns the JSON Pointer to the first whole number that many parsers do not keep exactly.
    pub fn inexact(&self) -> Option<String> {
        match self.parsed() {
            Ok(value) => inexact(value),
            Err(text) if serde_json::from_str::<Self>(text).is_ok() => None,
            Err(_) => inexact(&self.value()),
        }
    }

    /// Returns whether it is null.
    pub fn is_null(&self) -> bool {
        self.parsed().is_ok_and(Value::is_null)
    }
}

impl Default for Json {
    fn default() -> Self {
        Value::Null.into()
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Form::Text(text) if !f.alternate() => f.write_str(text),
            _ => self.value().fmt(f),
        }
    }
}

impl From<Value> for Json {
    fn from(value: Value) -> Self {
        let is_large = count(&value, LARGE) == LARGE;
        Self(if is_large { Form::Text(value.to_string().into()) } else { Form::Parsed(Arc::new(value)) })
    }
}

impl From<Part> for Json {
    fn from(part: Part) -> Self {
        Self(match part {
            Part::Small(value) => Form::Parsed(Arc::new(value)),
            Part::Large(text) => Form::Text(text.into()),
        })
    }
}

impl From<Json> for Arc<Value> {
    fn from(json: Json) -> Self {
        match json.0 {
            Form::Parsed(value) => value,
            Form::Text(_) => json.value(),
        }
    }
}

impl From<Json> for Value {
    fn from(json: Json) -> Self {
        Arc::unwrap_or_clone(json.into())
    }
}

/// Returns the number of values, including nested ones, but at most `most`.
fn count(value: &Value, most: usize) -> usize {
    let below =
        |counted: usize, value: &Value| if counted < most { counted + count(value, most - counted) } else { most };
    match value {
        Value::Array(items) => items.iter().fold(1, below),
        Value::Object(members) => members.values().fold(1, below),
        _ => 1,
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.parsed() {
            Ok(value) => value.serialize(serializer),
            Err(text) => serde_transcode::transcode(&mut serde_json::Deserializer::from_str(text), serializer),
        }
    }
}

impl JsonSchema for Json {
    fn inline_schema() -> bool {
        Value::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        Value::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Value::json_schema(generator)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(Numbers::Exact, deserializer)
    }
}

/// A JSON value that was read like a [`Json`], but with any number that fits a machine type: a whole number of up to 64
/// bits, or else a finite double.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MachineJson(Json);

impl From<MachineJson> for Json {
    fn from(MachineJson(json): MachineJson) -> Self {
        json
    }
}

impl<'de> Deserialize<'de> for MachineJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(Numbers::Machine, deserializer).map(Self)
    }
}

/// The arguments of a request. Each one is read as strictly as a whole document.
#[derive(Debug)]
pub struct Members(pub Map<String, Value>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Map::new();
                while let Some(name) = map.next_key::<String>()? {
                    if members.contains_key(&name) {
                        return Err(A::Error::custom(format_args!("duplicate key {name:?}")));
                    }
                    let MachineJson(member) = map.next_value()?;
                    members.insert(name, member.into());
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Reader)
    }
}

/// Returns whether a number is whole. `1.0` is.
pub fn is_whole(number: &Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}

/// The reason why [`inexact`] numbers are refused.
pub const INEXACT: &str = "many JSON parsers cannot represent integers beyond ±2^53 exactly";

/// Returns the JSON Pointer to the first whole number that many parsers do not keep exactly.
fn inexact(value: &Value) -> Option<String> {
    let below = |step: &str, value: &Value| Some(format!("/{}{}", escape(step), inexact(value)?));
    match value {
        Value::Number(number) => (!is_exact(number)).then(String::new),
        Value::Array(items) => items.iter().enumerate().find_map(|(at, item)| below(&at.to_string(), item)),
        Value::Object(members) => members.iter().find_map(|(name, member)| below(name, member)),
        Value::Null | Value::Bool(_) | Value::String(_) => None,
    }
}

/// Returns whether every JSON parser keeps a number as exactly as it keeps fractions.
fn is_exact(number: &Number) -> bool {
    let magnitude = number.as_i64().map(i64::unsigned_abs).or_else(|| number.as_u64());
    // Parsers turn integers that exceed 64 bits into floats.
    let magnitude = magnitude.or_else(|| number.as_f64().filter(|_| is_whole(number)).map(|float| float.abs() as u64));
    magnitude.is_none_or(|magnitude| magnitude <= MAX_EXACT)
}

#[cfg(test)]
pub(in crate::model) mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    /// Returns small values of every kind, many of which are equal.
    pub fn any_json() -> impl Strategy<Value = Value> {
        json_with("[ab]{0,2}", "[a/~]{0,2}")
    }

    /// Returns small values of every kind, with such strings and keys.
    pub fn json_with(strings: &'static str, keys: &'static str) -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (0..4).prop_map(Value::from),
            (-9.0..9.0).prop_map(Value::from),
            strings.prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(keys, inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    fn read(text: &str) -> Result<Json, serde_json::Error> {
        serde_json::from_str(text)
    }

    #[test]
    fn refuses_what_parsers_disagree_on() {
        for (text, hint) in [
            (r#"{"a":1,"a":2}"#, "duplicate key"),
            (r#"[{"b":{"a":1,"a":1}}]"#, "duplicate key"),
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
    fn machine_numbers_are_read_as_they_are() {
        for (text, number) in [
            ("9007199254740993", json!(9_007_199_254_740_993_i64)),
            ("-9223372036854775808", json!(i64::MIN)),
            ("18446744073709551615", json!(u64::MAX)),
            ("18446744073709551616", json!(18_446_744_073_709_551_616.0)),
            ("1e300", json!(1e300)),
        ] {
            let MachineJson(read) = serde_json::from_str(text).unwrap();
            assert_eq!(Value::from(read), number);
            let document = json!({"a": 1e-9, "b": [9_007_199_254_740_992_i64, {"c/d": number}], "e": number});
            assert_eq!(inexact(&document), Some("/b/1/c~1d".to_owned()));
        }
        let inner = serde::de::value::I128Deserializer::<serde_json::Error>::new;
        assert_eq!(
            Value::from(MachineJson::deserialize(inner(-1 << 64)).unwrap().0),
            json!(-18_446_744_073_709_551_616.0)
        );
        assert!(Json::deserialize(inner(-1 << 64)).is_err());
        for text in [r#"{"a":1,"a":2}"#, "1e400"] {
            assert!(serde_json::from_str::<MachineJson>(text).is_err(), "{text}");
        }
        assert_eq!(inexact(&json!([9_007_199_254_740_992_i64, -0.5, "9007199254740993", null])), None);
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert!(read(&nested(MAX_DEPTH)).is_ok());
        assert!(read(&nested(MAX_DEPTH + 1)).is_err());
        assert!(read(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn large_values_are_stored_as_text() {
        for (items, is_large) in [(LARGE - 4, false), (LARGE - 3, true)] {
            let value = json!({"list": vec![0; items], "a\"": 1.0});
            let stored = Json::from(value.clone());
            assert_eq!(stored.parsed().is_err(), is_large);
            assert_eq!(stored, read(&value.to_string()).unwrap());
            assert_eq!((&*stored.value(), stored.to_string()), (&value, value.to_string()));
            assert_eq!(serde_json::to_string_pretty(&stored).unwrap(), format!("{stored:#}"));
            assert_eq!(Value::from(stored), value);
        }
    }

    #[test]
    fn the_number_of_values_is_bounded() {
        let many = |count: usize| format!("[{}0]", "0,".repeat(count - 2));
        assert!(read(&many(MAX_VALUES)).is_ok());
        let error = read(&many(MAX_VALUES + 1)).unwrap_err().to_string();
        assert!(error.contains("more than 500000 values"), "{error}");
    }
}
