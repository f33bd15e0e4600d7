//! Parses schemas in their own files, as JSON or YAML. Generated schemas can be megabytes in size.

use serde_json::Deserializer;

use super::{Problem, jsonc, yaml};
use crate::model::{
    json::MachineJson,
    schema::{Forest, PartId},
};

/// The size limit of a schema, in bytes.
pub const MAX_SCHEMA: usize = 8 << 20;

/// Reads a schema that another program may have written into a compact representation: JSON, or YAML with the
/// restrictions of a contract file, both with any machine number. Encodes the fragments of its references. With
/// `only_json`, YAML and comments are errors.
///
/// # Errors
/// Returns the location of the problem and what to write instead.
pub fn schema_into(forest: &mut Forest, bytes: &[u8], only_json: bool) -> Result<PartId, Problem> {
    if matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]) {
        return Err(Problem::whole("it is UTF-16; save it as UTF-8"));
    }
    let bytes = jsonc::without_mark(bytes);
    let root = match (read_json(forest, bytes, only_json), jsonc::without_comments(bytes)) {
        (Ok(Some(root)), _) => root,
        (_, Some(_)) if only_json => {
            return Err(Problem::whole("JSON has no comments; remove them, or name the file .jsonc"));
        }
        (_, Some(plain)) => match read_json(forest, &plain, true) {
            Ok(Some(root)) => root,
            Ok(None) => read_yaml(forest, &plain)?,
            // What looks like a comment may be part of a text in YAML.
            Err(problem) => read_yaml(forest, bytes).map_err(|_| problem)?,
        },
        (Ok(None), None) => read_yaml(forest, bytes)?,
        (Err(problem), None) => return Err(problem),
    };
    Ok(forest.encoded(root))
}

/// Reads JSON. Returns `None` if the text is YAML.
fn read_json(forest: &mut Forest, bytes: &[u8], only_json: bool) -> Result<Option<PartId>, Problem> {
    if bytes.len() > MAX_SCHEMA {
        return Err(Problem::whole(format!("the schema is larger than {} MiB", MAX_SCHEMA >> 20)));
    }
    let is_like_json = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    if !is_like_json && !only_json {
        return Ok(None);
    }
    let mut reader = Deserializer::from_slice(bytes);
    match forest.read(&mut reader).and_then(|root| reader.end().map(|()| root)) {
        Ok(root) => Ok(Some(root)),
        Err(error) if error.is_data() || only_json => Err(Problem::from(&error)),
        // YAML may start like JSON: {type: string}. Text that is too large or ambiguous as JSON is so as YAML, too.
        Err(_) => Ok(None),
    }
}

fn read_yaml(forest: &mut Forest, bytes: &[u8]) -> Result<PartId, Problem> {
    yaml::value_as::<MachineJson>(bytes).map(|json| forest.add_json(&json.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::json::MAX_VALUES;
    use serde_json::{Value, json};

    fn schema(bytes: &[u8]) -> Result<Value, Problem> {
        let mut forest = Forest::default();
        let root = schema_into(&mut forest, bytes, false)?;
        Ok(forest.tree(root).to_value())
    }

    #[test]
    fn json_and_yaml_are_read() {
        let expected = json!({"maximum": 18_446_744_073_709_551_615_u64});
        assert_eq!(schema(br#"{"maximum": 18446744073709551615}"#), Ok(expected.clone()));
        assert_eq!(schema(b"maximum: 18446744073709551615"), Ok(expected));
        for text in [r#"{"maximum": 18446744073709551616}"#, "maximum: 18446744073709551616"] {
            assert_eq!(schema(text.as_bytes()), Ok(json!({"maximum": 18_446_744_073_709_551_616.0})));
        }
        assert_eq!(schema(b" {type: string}"), Ok(json!({"type": "string"})));
        assert_eq!(schema(b"{description: 'a // b'}"), Ok(json!({"description": "a // b"})));
        assert_eq!(schema(b"{\"type\": \"string\" // any\n}"), Ok(json!({"type": "string"})));
        assert_eq!(schema(b"type: string\n"), Ok(json!({"type": "string"})));
        assert_eq!(schema(b"true"), Ok(json!(true)));
        let deep = format!("{}1{}", "{\"a\":".repeat(100), "}".repeat(100));
        assert!(schema(deep.as_bytes()).is_ok());
    }

    #[test]
    fn errors_have_a_location() {
        for (text, hint, line) in [
            ("{\n\"a\": 1, \"a\": 2}", "duplicate key \"a\"", Some(2)),
            ("{\n\"a\": ]", "mismatched bracket", Some(1)),
            ("a: 1\na: 2\n", "duplicate key \"a\"", Some(2)),
            ("maximum: 0xff", "YAML parsers disagree", Some(1)),
            ("maximum: 1e400", "too large", Some(1)),
        ] {
            let problem = schema(text.as_bytes()).unwrap_err();
            assert!(problem.message.contains(hint) && problem.line == line, "{text}: {problem:?}");
        }
    }

    #[test]
    fn large_schemas_are_read_up_to_the_limit() {
        let of = |count: usize| format!("{{\"enum\": [{}0]}}", "\"0123456789\",".repeat(count));
        assert!(schema(of(MAX_VALUES - 4).as_bytes()).is_ok());
        assert!(schema(of(MAX_VALUES).as_bytes()).unwrap_err().message.contains("more than 500000 values"));
        let long = schema(&vec![b' '; MAX_SCHEMA + 1]).unwrap_err();
        assert!(long.message.contains("larger than 8 MiB"));
    }
}
