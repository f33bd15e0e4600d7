//! Parses schemas in files of their own, JSON or YAML. Generated ones can have megabytes.

use serde_json::Value;

use super::{Problem, yaml};
use crate::model::json;

/// The largest schema, in bytes.
pub const MAX_SCHEMA: usize = 8 << 20;

/// Parses a schema that other programs may have written: JSON with any machine number, or YAML with the restrictions
/// of a contract file.
///
/// # Errors
/// Returns the location of the problem and what to write instead.
pub fn schema(bytes: &[u8]) -> Result<Value, Problem> {
    if bytes.len() > MAX_SCHEMA {
        return Err(Problem::whole(format!("the schema is larger than {} MiB", MAX_SCHEMA >> 20)));
    }
    let is_json = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    if !is_json {
        return yaml::large(bytes);
    }
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let read = json::foreign(&mut reader).and_then(|value| reader.end().map(|()| value));
    // YAML may begin like JSON: {type: string}. If JSON is refused for its content, YAML would be too.
    read.or_else(|error| if error.is_data() { Err(Problem::from(&error)) } else { yaml::large(bytes) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::json::MAX_VALUES;
    use serde_json::json;

    #[test]
    fn json_and_yaml_are_read() {
        let expected = json!({"maximum": 18_446_744_073_709_551_615_u64});
        assert_eq!(schema(br#"{"maximum": 18446744073709551615}"#), Ok(expected));
        assert_eq!(schema(b" {type: string}"), Ok(json!({"type": "string"})));
        assert_eq!(schema(b"type: string\n"), Ok(json!({"type": "string"})));
        assert_eq!(schema(b"true"), Ok(json!(true)));
        let deep = format!("{}1{}", "{\"a\":".repeat(100), "}".repeat(100));
        assert!(schema(deep.as_bytes()).is_ok());
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        for (text, hint, line) in [
            ("{\n\"a\": 1, \"a\": 2}", "\"a\" is there twice", Some(2)),
            ("{\n\"a\": ]", "mismatched bracket", Some(1)),
            ("a: 1\na: 2\n", "\"a\" is there twice", Some(2)),
            ("maximum: 18446744073709551615", "2^53", Some(1)),
        ] {
            let problem = schema(text.as_bytes()).unwrap_err();
            assert!(problem.message.contains(hint) && problem.line == line, "{text}: {problem:?}");
        }
    }

    #[test]
    fn megabytes_are_read_and_more_than_that_is_refused() {
        let of = |count: usize| format!("{{\"enum\": [{}0]}}", "\"0123456789\",".repeat(count));
        assert!(schema(of(MAX_VALUES - 4).as_bytes()).is_ok());
        assert!(schema(of(MAX_VALUES).as_bytes()).unwrap_err().message.contains("more than 500000 values"));
        let long = schema(&vec![b' '; MAX_SCHEMA + 1]).unwrap_err();
        assert!(long.message.contains("larger than 8 MiB"));
    }
}
