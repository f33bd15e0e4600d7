//! The JSON format of stored files: sorted keys, two spaces of indentation and a final newline, so
//! that `git diff` is readable and equal content has the same id.

use std::collections::BTreeMap;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::{MAX_BLOB, Problem};
use crate::model::{contract::Contract, json::Json};

/// Serializes `value` in this format.
pub fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    // Serialize through `Value`, whose maps are sorted.
    pretty(&plain(value))
}

/// Serializes a contract in this format, without a copy of its schema and value, which may take 100 MB.
pub fn encode_contract(contract: &Contract) -> Vec<u8> {
    let rest = Contract { schema: Json::default(), value: Json::default(), ..contract.clone() };
    let mut fields: BTreeMap<String, Json> = BTreeMap::new();
    if let Value::Object(rest) = plain(&rest) {
        fields.extend(rest.into_iter().map(|(name, value)| (name, value.into())));
    }
    fields.insert("schema".into(), contract.schema.clone());
    fields.insert("value".into(), contract.value.clone());
    pretty(&fields)
}

fn plain<T: Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or_else(|error| never(&error))
}

fn pretty<T: Serialize>(value: &T) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).unwrap_or_else(|error| never(&error));
    bytes.push(b'\n');
    bytes
}

/// Model types always serialize, because they have string keys and finite numbers.
fn never(error: &serde_json::Error) -> ! {
    unreachable!("model types have a JSON form: {error}")
}

/// Parses a stored file.
///
/// # Errors
/// Returns the location and cause of a syntax error or of a wrong type.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    if bytes.len() > MAX_BLOB {
        return Err(Problem::whole(format!("it is larger than {} MiB", MAX_BLOB >> 20)));
    }
    serde_json::from_slice(bytes).map_err(|error| Problem::from(&error))
}

/// The number of levels that `serde_json` reads. Most documents have a smaller limit.
const MAX_DEPTH: usize = 127;

impl From<&serde_json::Error> for Problem {
    fn from(error: &serde_json::Error) -> Self {
        let place = |number: usize| u32::try_from(number).ok().filter(|number| *number > 0);
        let (line, column) = (place(error.line()), place(error.column()));
        // serde_json ends its message with the location, which `Problem` already prints.
        let message = error.to_string();
        let message = match message.split(" at line ").next().unwrap_or(&message) {
            "recursion limit exceeded" => &format!("nested deeper than {MAX_DEPTH} levels"),
            "expected ident" => "expected a value: true, false and null are the only words",
            message => message,
        };
        Self { line, column, ..Self::whole(message) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{binding::Binding, realm::Realm};
    use proptest::prelude::*;

    #[test]
    fn too_deep_json_is_named_as_such() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let read = |levels: usize| serde_json::from_str::<serde_json::Value>(&nested(levels));
        assert!(read(MAX_DEPTH).is_ok());
        let problem = Problem::from(&read(MAX_DEPTH + 1).unwrap_err());
        assert_eq!(problem.message, "nested deeper than 127 levels");
    }

    #[test]
    fn keys_are_sorted_and_complete() {
        let contract = Contract::new("paths".parse().unwrap(), "fungal".parse().unwrap()).sealed();
        let text = String::from_utf8(encode_contract(&contract)).unwrap();
        assert_eq!(text.as_bytes(), encode(&contract));
        let keys: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("  \"")?.split('"').next()).collect();
        assert!(keys.is_sorted(), "{keys:?}");
        assert_eq!(keys.len(), 15, "{keys:?}");
        assert!(text.ends_with("}\n"));
        assert_eq!(decode::<Contract>(text.as_bytes()).unwrap(), contract);
    }

    #[test]
    fn errors_have_a_location() {
        let problem = decode::<Realm>(b"{\n  \"format\": 1,\n  \"name\": \"a b\"\n}").unwrap_err();
        assert_eq!(problem.line, Some(3));
        assert!(problem.message.contains("not a realm name"), "{}", problem.message);
        let problem = decode::<Realm>(b"{\"format\": 1, \"name\": \"a\", \"name\": \"b\"}").unwrap_err();
        assert!(problem.message.contains("duplicate field"), "{}", problem.message);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode::<Contract>(&bytes);
            let _ = decode::<Binding>(&bytes);
        }
    }
}
