//! Reads JSON, JSON Lines and YAML documents: payloads to validate, samples to derive a schema from, schemas.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{
    error::{ErrorCode, OpError},
    model::json::{Json, MachineJson},
    store::codec::{self, Problem},
};

/// The maximum size of a file, in bytes.
pub const MAX_BYTES: usize = codec::MAX_SCHEMA;
/// The maximum number of documents in one file.
const MAX_DOCUMENTS: usize = 100_000;

/// The problem of a file in another format.
const NEITHER: &str = "it is neither JSON nor YAML";

/// A file that was read, or standard input.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its name in messages.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// The name of standard input in messages.
pub const STANDARD_INPUT: &str = "standard input";

impl Source {
    /// Returns a place in the file: `FILE#/POINTER`, or only the file for its root.
    pub(super) fn place(&self, pointer: &str) -> String {
        if pointer.is_empty() { self.name.clone() } else { format!("{}#{pointer}", self.name) }
    }
}

/// A value in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The line on which it begins, if the file has several values.
    pub line: Option<u32>,
    /// The value.
    pub value: Value,
}

/// Reads the values of a file: one JSON or YAML document, or one JSON value per line.
///
/// # Errors
/// Returns an error if the file has none of these formats; the message names the file, line and column.
pub fn read(source: &Source) -> Result<Vec<Document>, OpError> {
    let documents = read_as::<Json>(source)?;
    Ok(documents.into_iter().map(|(line, json)| Document { line, value: json.into() }).collect())
}

/// Samples of the data of a contract.
#[derive(Debug, Default)]
pub struct Samples {
    /// The samples.
    pub values: Vec<Value>,
    /// Advice on a file that contains one list, if other samples are objects.
    pub advice: Option<String>,
}

/// Reads the samples in these files.
///
/// # Errors
/// Returns the error of [`read`] for the first file that cannot be read.
pub fn samples(sources: &[Source]) -> Result<Samples, OpError> {
    let (mut values, mut list) = (Vec::new(), None);
    for source in sources {
        for Document { line, value } in read(source)? {
            if line.is_none() && value.is_array() {
                list.get_or_insert(&source.name);
            }
            values.push(value);
        }
    }
    let list = list.filter(|_| values.iter().any(Value::is_object));
    let advice = list.map(|file| {
        format!("{file} contains a list, which is one sample; write one document per line if its items are the samples")
    });
    Ok(Samples { values, advice })
}

/// Returns the only value of a file.
///
/// # Errors
/// Returns an error if the file has several values, or cannot be read.
pub fn one(source: &Source) -> Result<Json, OpError> {
    only(source, read_as::<Json>(source)?)
}

/// Returns the only value of a file that another program may have written, such as a schema: with any number that fits
/// a machine type.
///
/// # Errors
/// Returns the errors of [`one`].
pub fn generated(source: &Source) -> Result<Json, OpError> {
    only(source, read_as::<MachineJson>(source)?)
}

fn only(source: &Source, mut documents: Vec<Line>) -> Result<Json, OpError> {
    match documents.len() {
        1 => Ok(documents.remove(0).1),
        count => {
            let message = format!("{} contains {count} documents; keep one", source.name);
            Err(OpError::no(ErrorCode::UnreadableFile, message))
        }
    }
}

/// A value in a file, and the line on which it begins if the file has several.
type Line = (Option<u32>, Json);

fn read_as<T: DeserializeOwned + Into<Json>>(source: &Source) -> Result<Vec<Line>, OpError> {
    let refuse = |problem: Problem| OpError::from(problem.in_file(&source.name));
    if source.bytes.len() > MAX_BYTES {
        return Err(refuse(Problem::whole(format!("the file is larger than {} MiB", MAX_BYTES >> 20))));
    }
    if source.bytes.trim_ascii().is_empty() {
        return Err(refuse(Problem::whole("the file is empty")));
    }
    let plain = codec::plain(&source.bytes);
    let whole = codec::decode::<T>(&plain);
    let problem = match whole {
        Ok(json) => return Ok(vec![(None, json.into())]),
        Err(problem) => problem,
    };
    let mut lines = source.bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let has_several = lines.next().is_some_and(|first| codec::decode::<T>(first).is_ok()) && lines.next().is_some();
    if has_several {
        return by_line::<T>(&source.bytes).map_err(refuse);
    }
    // A YAML parser accepts any text, and some malformed JSON. So a file with the name of a JSON file is never read as
    // YAML, and one that begins like JSON, or that is a single string, only if its name says so.
    let has_end = |ends: &[&str]| ends.iter().any(|end| source.name.ends_with(end));
    let (is_json, is_yaml) = (has_end(&[".json", ".jsonl", ".ndjson"]), has_end(&[".yaml", ".yml"]));
    let is_other = !is_json && !is_yaml && source.name.rsplit('/').next().is_some_and(|name| name.contains('.'));
    let refuse = |problem: Problem| {
        let message = if is_other { format!("{NEITHER}: {}", problem.message) } else { problem.message };
        refuse(Problem { message, ..problem })
    };
    let is_like_json = matches!(source.bytes.trim_ascii_start().first(), Some(b'{' | b'['));
    if is_json || (is_like_json && !is_yaml) {
        return Err(refuse(codec::left_by_git(&source.bytes).unwrap_or(problem)));
    }
    let json: Json = codec::value_as::<T>(&source.bytes).map_err(refuse)?.into();
    if !is_yaml && json.value().is_string() && is_plain(&source.bytes) && (is_other || has_lines(&source.bytes)) {
        return Err(Problem::whole(NEITHER).in_file(&source.name).into());
    }
    Ok(vec![(None, json)])
}

/// Returns whether a YAML document that is a string has neither quotes nor the indicator of a block.
fn is_plain(bytes: &[u8]) -> bool {
    !matches!(bytes.trim_ascii_start().first(), Some(b'"' | b'\'' | b'|' | b'>'))
}

fn has_lines(bytes: &[u8]) -> bool {
    bytes.trim_ascii().contains(&b'\n')
}

/// Returns the error for a document that has schemas, such as those of an API, instead of being one. It names the pointer
/// to them.
pub fn not_a_schema(file: &str, pointer: &str) -> OpError {
    let message = format!("{file} has schemas, but is not a JSON Schema; name a schema in it: {file}#{pointer}");
    OpError::cannot(ErrorCode::UnreadableSchema, message)
}

fn by_line<T: DeserializeOwned + Into<Json>>(bytes: &[u8]) -> Result<Vec<Line>, Problem> {
    let mut documents = Vec::new();
    for (number, line) in (1u32..).zip(bytes.split(|byte| *byte == b'\n')) {
        if line.trim_ascii().is_empty() {
            continue;
        }
        if documents.len() >= MAX_DOCUMENTS {
            return Err(Problem::whole(format!("the file has more than {MAX_DOCUMENTS} documents")));
        }
        let json: T = codec::decode(line).map_err(|problem| Problem { line: Some(number), ..problem })?;
        documents.push((Some(number), json.into()));
    }
    Ok(documents)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn source(text: &str) -> Source {
        Source { name: "x".into(), bytes: text.as_bytes().to_vec() }
    }

    #[test]
    fn json_lines_and_yaml_are_distinguished() {
        for (text, expected) in [
            ("{\"a\": 1}", vec![(None, json!({"a": 1}))]),
            ("{\n  \"a\": 1\n}\n", vec![(None, json!({"a": 1}))]),
            ("{\"a\": 1}\n\n{\"a\": 2}\n", vec![(Some(1), json!({"a": 1})), (Some(3), json!({"a": 2}))]),
            ("1\n2\n", vec![(Some(1), json!(1)), (Some(2), json!(2))]),
            ("a: 1\nb: [x]\n", vec![(None, json!({"a": 1, "b": ["x"]}))]),
            ("null", vec![(None, json!(null))]),
        ] {
            let found = read(&source(text)).unwrap();
            let found: Vec<_> = found.into_iter().map(|document| (document.line, document.value)).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn empty_and_mislabeled_files_have_no_values() {
        for text in ["", " \n\n"] {
            assert!(read(&source(text)).unwrap_err().message.contains("the file is empty"));
        }
        for name in ["x.json", "x.jsonl"] {
            assert!(read(&Source { name: name.into(), ..source("not json") }).is_err());
        }
        assert_eq!(read(&source("not json")).unwrap().len(), 1);
        let named = |name: &str, text: &str| read(&Source { name: name.into(), ..source(text) });
        for (name, text) in [
            ("app.env", "DB_HOST=x\nDB_PORT=5432\n"),
            ("deploy/.env", "DB_HOST=x\n"),
            ("standard input", "a,b\n1,2\n"),
            ("app.toml", "[app]\nname = \"x\"\n"),
            ("app.ini", "name = x\n[app]\n"),
        ] {
            let error = named(name, text).unwrap_err();
            assert!(error.message.contains("neither JSON nor YAML"), "{name}: {}", error.message);
        }
        for (name, text) in [("a.yaml", "some\ntext\n"), ("a.txt", "\"a\n b\"\n"), ("app.conf", "a: 1\n")] {
            assert_eq!(named(name, text).unwrap().len(), 1, "{name}");
        }
    }

    #[test]
    fn only_generated_files_may_have_large_numbers() {
        for text in ["{\"a\": 9223372036854775807}", "a: 9223372036854775807"] {
            assert!(one(&source(text)).unwrap_err().message.contains("2^53"), "{text}");
            assert_eq!(generated(&source(text)).unwrap(), json!({"a": i64::MAX}).into());
        }
    }

    #[test]
    fn an_error_names_the_line() {
        for (text, line) in
            [("{\"a\": 1}\n{\"a\": }\n", 2), ("{\n\"a\": 1,\n}", 3), ("{\"a\": 1, \"a\": 2}", 1), ("a: 1\na: 2\n", 2)]
        {
            let error = read(&source(text)).unwrap_err();
            assert_eq!(error.problems[0].line, Some(line), "{text}: {error}");
        }
    }
}
