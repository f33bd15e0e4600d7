//! Parses YAML written by people, strictly: one document, no anchors, no merge keys, no unknown tags or fields, and
//! limits on bytes, nodes and depth. Scalars that YAML 1.1 and 1.2 read differently must be quoted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;
use serde_saphyr::{
    Error, Options,
    budget::BudgetBreach,
    options::{MergeKeyPolicy, NonFiniteFloatPolicy},
};

use super::{MAX_FILE, MAX_SCHEMA, Problem, yaml_advice, yaml_ambiguity};
use crate::model::{
    binding::{Binding, Import, KEPT_BY_THE_REALM, MAX_PARTS},
    contract::{Compatibility, Contract, Flow},
    contract_forms::{VERSION_FORMS, VersionFrom},
    fault::Fault,
    json::{Json, MAX_DEPTH, MAX_VALUES},
    name::{ContractName, RealmName, RepoName},
    publish_policy::Policy,
    schema::is_keyword,
    version::Version,
};

/// The maximum number of nodes of a document.
const MAX_NODES: usize = 100_000;

/// Size limits of a document.
#[derive(Clone, Copy)]
pub(super) struct Size {
    bytes: usize,
    nodes: usize,
}

/// The limits for files written by people.
pub(super) const WRITTEN: Size = Size { bytes: MAX_FILE, nodes: MAX_NODES };
/// The limits for a schema in its own file. Its keys count as nodes too.
const GENERATED: Size = Size { bytes: MAX_SCHEMA, nodes: 2 * MAX_VALUES };

pub(super) fn strict(size: Size) -> Options {
    serde_saphyr::options! {
        strict_booleans: true,
        no_schema: true,
        merge_keys: MergeKeyPolicy::Error,
        reject_unsupported_tags: true,
        non_finite_float_policy: NonFiniteFloatPolicy::Reject,
        with_snippet: false,
        budget: serde_saphyr::budget! {
            max_aliases: 0,
            max_anchors: 0,
            max_documents: 1,
            max_depth: MAX_DEPTH + 2,
            max_nodes: size.nodes,
            max_events: 4 * size.nodes,
            max_total_scalar_bytes: size.bytes,
        },
    }
}

/// Parses a file written by people.
///
/// # Errors
/// Returns the location of the problem and what to write instead.
pub fn document<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    sized(bytes, WRITTEN)
}

/// Parses a document with the limits of a schema file, including scalars that YAML versions read differently.
pub(super) fn generated<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let text = text(bytes, GENERATED)?;
    serde_saphyr::from_str_with_options(text, strict(GENERATED)).map_err(|error| explain(&error, text, GENERATED))
}

fn sized<T: DeserializeOwned>(bytes: &[u8], size: Size) -> Result<T, Problem> {
    let text = text(bytes, size)?;
    let read = |error: Error| explain(&error, text, size);
    let document = serde_saphyr::from_str_with_options(text, strict(size)).map_err(read)?;
    if yaml_ambiguity::is_plain(text) {
        return Ok(document);
    }
    let nodes = serde_saphyr::from_str_with_options(text, strict(size)).map_err(read)?;
    yaml_ambiguity::find(text, &nodes).map_or(Ok(document), Err)
}

/// Returns the message for a file under `.blue/` that is larger than [`MAX_FILE`].
pub fn too_large() -> String {
    let limit = MAX_FILE >> 20;
    format!(
        "the file is larger than {limit} MiB; move its schema or value to another file: schema: {{ file: FILE }}, or value: {{ file: FILE }}"
    )
}

fn text(bytes: &[u8], size: Size) -> Result<&str, Problem> {
    if bytes.len() > size.bytes {
        let is_written = size.bytes == MAX_FILE;
        let message = format!("the file is larger than {} MiB", size.bytes >> 20);
        return Err(Problem::whole(if is_written { too_large() } else { message }));
    }
    if let Some(problem) = yaml_advice::in_lfs(bytes) {
        return Err(problem);
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        Problem { line: u32::try_from(line).ok(), ..Problem::whole("the text is not UTF-8") }
    })
}

fn explain(error: &Error, text: &str, size: Size) -> Problem {
    let error = error.without_snippet();
    if let Some(problem) = plain_version(error, text) {
        return problem;
    }
    let message = match error {
        Error::DuplicateMappingKey { key: Some(key), .. } => format!("duplicate key {key:?}"),
        Error::DuplicateMappingKey { key: None, .. } => "duplicate key".into(),
        Error::QuotingRequired { value, .. } => unquoted(value, error, text),
        Error::MergeKeyNotAllowed { .. } => "merge keys (<<) are not allowed; write the keys out".into(),
        Error::NonFiniteFloat { value, .. } => {
            format!("{value} is not a number in JSON, or too large; leave it out, or write \"{value}\" as a string")
        }
        Error::UnsupportedTag { tag, .. } => format!("the tag {tag} is not allowed"),
        Error::MultipleDocuments { .. } => "there is more than one document (---); keep one".into(),
        Error::Eof { .. } if text.lines().all(|line| line.trim().is_empty() || line.trim().starts_with('#')) => {
            "it is empty".into()
        }
        Error::Eof { .. } => "unexpected end of file".into(),
        Error::Budget { breach, .. } => match breach {
            BudgetBreach::Aliases { .. } | BudgetBreach::Anchors { .. } => {
                "anchors and aliases (& and *) are not allowed; write the value out".into()
            }
            BudgetBreach::Documents { .. } => "there is more than one document (---); keep one".into(),
            BudgetBreach::Depth { .. } => format!("nested deeper than {MAX_DEPTH} levels"),
            BudgetBreach::Nodes { .. } => format!("it has more than {} values", size.nodes),
            _ => "it is too large".into(),
        },
        other => {
            let message = other.to_string();
            match message.split(" at line ").next().unwrap_or(&message) {
                // The scanner gives up before the depth is checked.
                message if message.contains("recursion limit") => format!("nested deeper than {MAX_DEPTH} levels"),
                message => message.to_owned(),
            }
        }
    };
    let place = error.location().filter(|place| place.line() > 0);
    let number = |number: u64| u32::try_from(number).ok();
    let line = place.and_then(|place| number(place.line()));
    let column = place.and_then(|place| number(place.column()));
    match yaml_advice::advise(text, (line, column), &message) {
        Some((message, Some((line, column)))) => {
            Problem { line: Some(line), column: Some(column), ..Problem::whole(message) }
        }
        Some((message, None)) => Problem { line, column, ..Problem::whole(message) },
        None => Problem { line, column, ..Problem::whole(message) },
    }
}

/// Returns what to write if a string needs quotes but has none.
fn unquoted(value: &str, error: &Error, text: &str) -> String {
    let whole = whole_version(value, error, text).unwrap_or_else(|| value.to_owned());
    if yaml_advice::is_in_imports(text, error.location().map_or(0, |place| place.line())) {
        return format!("{value} is not a version range; write \"^{whole}\" for compatible versions, with quotes");
    }
    let read_as = match value.parse::<f64>() {
        Ok(_) => "a number",
        Err(_) => "a number, a boolean or null",
    };
    format!("YAML reads {value} as {read_as}; write \"{whole}\" with quotes")
}

/// Explains a number after `version:`. A version may also be a map, so the parser reads the scalar as a number.
fn plain_version(error: &Error, text: &str) -> Option<Problem> {
    let line = u32::try_from(error.location()?.line()).ok()?;
    let written = text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
    let (before, rest) = written.split_once("version:")?;
    let value = rest.split(['#', ',', '}']).next()?.trim();
    if value.is_empty() || value.starts_with(['[', '{']) || !error.to_string().contains(VERSION_FORMS) {
        return None;
    }
    let indent = rest.len() - rest.trim_start().len();
    let column = before.chars().count() + "version:".len() + indent + 1;
    let message = unquoted(value, error, text);
    Some(Problem { line: Some(line), column: u32::try_from(column).ok(), ..Problem::whole(message) })
}

/// Returns the version that a number after `version:` stands for, with missing parts added.
fn whole_version(value: &str, error: &Error, text: &str) -> Option<String> {
    let line = usize::try_from(error.location()?.line()).ok()?;
    let written = text.lines().nth(line.checked_sub(1)?)?;
    Version::guess_intended(value).filter(|_| written.contains("version:")).map(|whole| whole.to_string())
}

/// Parses a contract in `.blue/contracts/<domain>/<name>.yaml`.
///
/// # Errors
/// Returns the location of the problem and what to write instead.
pub fn contract(bytes: &[u8], name: &ContractName) -> Result<Contract, Problem> {
    let mut contract: Contract = document(bytes)?;
    if contract.flow == Flow::ConsumerToProvider {
        promise_to_senders(bytes, &mut contract.compatibility)?;
    }
    if let Some(message) = misspelt_reference("schema", &contract.schema) {
        return Err(problem_at(bytes, "/schema", message));
    }
    if contract.name != *name {
        let message =
            format!("the contract is named {}, but its file is {name}.yaml: use the same name", contract.name);
        return Err(problem_at(bytes, "/name", message));
    }
    let own = [
        ("schema_hash", contract.schema_hash.is_some()),
        ("content_hash", contract.content_hash.is_some()),
        ("retired", contract.retired.is_some()),
        ("yanked", !contract.yanked.is_empty()),
    ];
    if let Some((field, _)) = own.into_iter().find(|(_, set)| *set) {
        let message = format!("{field} is set by the realm; remove it from the file");
        return Err(problem_at(bytes, &format!("/{field}"), message));
    }
    Ok(contract)
}

/// Sets the default promise if importers of the contract are the senders: the values that they send stay accepted.
fn promise_to_senders(bytes: &[u8], promise: &mut Compatibility) -> Result<(), Problem> {
    #[derive(Deserialize, Default)]
    struct Written {
        #[serde(default)]
        compatibility: Directions,
    }
    #[derive(Deserialize, Default)]
    struct Directions {
        backwards: Option<bool>,
        forwards: Option<bool>,
    }
    let written = document::<Written>(bytes)?.compatibility;
    let by_default = Compatibility::from(Flow::ConsumerToProvider);
    promise.backwards = written.backwards.unwrap_or(by_default.backwards);
    promise.forwards = written.forwards.unwrap_or(by_default.forwards);
    Ok(())
}

/// Returns the file that a contract's version is read from, if the contract names one.
pub fn version_from(bytes: &[u8]) -> Option<VersionFrom> {
    #[derive(Deserialize)]
    struct Only {
        version: VersionFrom,
    }
    document::<Only>(bytes).ok().map(|only| only.version)
}

/// Returns the name that a contract's file declares, even if the rest of the contract is not valid.
pub fn name_of(bytes: &[u8]) -> Option<ContractName> {
    #[derive(Deserialize)]
    struct Only {
        name: ContractName,
    }
    document::<Only>(bytes).ok().map(|only| only.name)
}

/// Parses a binding in `.blue/bindings/<domain>.yaml`.
///
/// # Errors
/// Returns the location of the problem and what to write instead.
pub fn binding(bytes: &[u8]) -> Result<Binding, Problem> {
    let binding: Binding = document(bytes)?;
    if binding.exports.len() + binding.imports.len() > MAX_PARTS {
        return Err(Problem::whole(format!("it has more than {MAX_PARTS} exports and imports")));
    }
    if let Some(index) = binding.imports.iter().position(|import| *import != import.as_written()) {
        let message = format!("{KEPT_BY_THE_REALM} are set by the realm; remove them from the file");
        return Err(problem_at(bytes, &format!("/imports/{index}"), message));
    }
    let misspelt =
        |(index, import): (usize, &Import)| Some((index, misspelt_reference("expects", import.expects.as_ref()?)?));
    if let Some((index, message)) = binding.imports.iter().enumerate().find_map(misspelt) {
        return Err(problem_at(bytes, &format!("/imports/{index}/expects"), message));
    }
    match binding.contradiction() {
        Some(Fault { pointer, message }) => Err(problem_at(bytes, &pointer, message)),
        None => Ok(binding),
    }
}

/// Returns what to write instead, if `key` names the file of a schema, but not as a reference has to be written.
fn misspelt_reference(key: &str, schema: &Json) -> Option<String> {
    let members = match schema.parsed().ok()? {
        Value::String(place) => {
            let place = match place.split_once("#/") {
                Some((file, pointer)) => format!("file: {file}, at: '#/{pointer}'"),
                None => format!("file: {place}"),
            };
            let what = format!("{key} is a JSON Schema, or the file that contains it");
            return Some(format!("{what}: write {key}: {{ {place} }}"));
        }
        schema => schema.as_object()?,
    };
    let file = members.get("file")?.as_str()?;
    // Some other program's schemas may have such an annotation.
    if members.keys().any(|word| is_keyword(word)) && ![".json", ".yaml", ".yml"].iter().any(|end| file.ends_with(end))
    {
        return None;
    }
    match members.keys().find(|word| !matches!(&***word, "file" | "at")) {
        Some(unknown) => Some(format!("unknown field {unknown:?} beside file; the only other one is at")),
        None if members.get("at").is_some_and(|at| !at.is_string()) => {
            Some("at is a JSON Pointer into the file: write at: '#/$defs/NAME'".to_owned())
        }
        None => None,
    }
}

/// Returns a problem with the line of a pointer into the document.
fn problem_at(bytes: &[u8], pointer: &str, message: impl Into<String>) -> Problem {
    Problem { line: super::line_at(bytes, pointer), ..Problem::whole(message) }
}

/// Parses any schema or value in its own file. JSON is valid YAML.
///
/// # Errors
/// Returns the location of the problem and what to write instead.
pub fn value(bytes: &[u8]) -> Result<Json, Problem> {
    value_as(bytes)
}

/// Parses any schema or value in its own file, as [`value`] does, into another type.
///
/// # Errors
/// Returns the location of the problem and what to write instead.
pub fn value_as<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    sized(bytes, GENERATED)
}

/// The realm and name that `.blue/config.yaml` proposes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The realm of the repository.
    pub realm: ProposedRealm,
    /// The name of the repository in the realm.
    pub repo: RepoName,
    /// When each clone publishes commits, unless its `git config blue.publish` says otherwise: `commit`, `pushed`, `ci` or
    /// `off`. It counts once it is on the publishing branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub publish: Option<Policy>,
}

/// A realm in `.blue/config.yaml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProposedRealm {
    /// Its name.
    pub name: RealmName,
    /// The URL it is shared at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// Parses `.blue/config.yaml`.
///
/// # Errors
/// Returns the location of the problem and what to write instead.
pub fn config(bytes: &[u8]) -> Result<Config, Problem> {
    document(bytes)
}

#[cfg(test)]
mod tests {
    use super::{
        super::yaml_render::{Typed, render},
        *,
    };
    use crate::model::contract::Values;
    use proptest::prelude::*;

    const GOOD: &str = "name: paths\nversion: \"1.4.0\"\nowner: fungal\n";

    fn read(text: &str) -> Result<Contract, Problem> {
        contract(text.as_bytes(), &"paths".parse().unwrap())
    }

    #[test]
    fn ambiguous_text_is_refused_with_its_location() {
        for (text, line, hint) in [
            ("name: paths\nversion: \"1.0.0\"\nowner: a\nvalue: 9007199254740993\n", 4, "2^53"),
            ("name: paths\nversion: \"1.0.0\"\nowner: &x a\n", 3, "anchors"),
            ("name: paths\nversion: \"1.0.0\"\nowner: a\nvalue: [a, !!binary aGk=]\n", 4, "!!binary is not allowed"),
            ("name: paths\nversion: \"1.0.0\"\nowner: a\nvalue: !!timestamp 2026-01-01\n", 4, "a tag (!)"),
        ] {
            let problem = read(text).unwrap_err();
            assert!(problem.message.contains(hint), "{text}\n{problem:?}");
            assert_eq!(problem.line, Some(line), "{text}\n{problem:?}");
        }
        for text in ["", "---\n---\n", "[", "name: paths\n---\nname: paths\n"] {
            read(text).unwrap_err();
        }
    }

    #[test]
    fn values_and_flow_round_trip() {
        let contract = read(&format!("{GOOD}values: frozen\nflow: consumer-to-provider\n")).unwrap();
        assert_eq!((contract.values, contract.flow), (Values::Frozen, Flow::ConsumerToProvider));
        assert_eq!(read(&render(&Typed::from(&contract))).unwrap(), contract);
        let plain = render(&Typed::from(&read(&format!("{GOOD}values: additive\n")).unwrap()));
        assert!(!plain.contains("values") && !plain.contains("flow"), "{plain}");
        for (line, words) in [
            ("values: growing\n", &["free", "additive", "frozen"][..]),
            ("flow: both\n", &["provider-to-consumer", "consumer-to-provider"]),
        ] {
            let problem = read(&format!("{GOOD}{line}")).unwrap_err();
            assert!(words.iter().all(|word| problem.message.contains(word)), "{problem:?}");
            assert_eq!(problem.line, Some(4), "{problem:?}");
        }
    }

    #[test]
    fn expects_of_an_import_round_trips() {
        let text =
            "role: consumer\nimports:\n  - contract: paths\n    version: \">=1.0.0\"\n    expects: {type: object}\n";
        let read = binding(text.as_bytes()).unwrap();
        assert_eq!(read.imports[0].expects, Some(serde_json::json!({"type": "object"}).into()));
        assert_eq!(binding(render(&read.as_written()).as_bytes()), Ok(read.clone()));
        let stored: Binding = crate::store::codec::decode(&crate::store::codec::encode(&read)).unwrap();
        assert_eq!(stored, read);
        let without = binding(text.replace("    expects: {type: object}\n", "").as_bytes()).unwrap();
        let stored = String::from_utf8(crate::store::codec::encode(&without)).unwrap();
        assert!(!stored.contains("expects"), "{stored}");
    }

    #[test]
    fn fields_that_the_realm_writes_are_refused() {
        let problem = read(&format!("{GOOD}yanked: [{{version: \"1.0.0\", reason: x}}]\n")).unwrap_err();
        assert!(problem.message.contains("set by the realm"));
    }

    #[test]
    fn size_and_depth_are_bounded() {
        for open in ["[", "{a: ", "- "] {
            let deep = format!("{GOOD}value:\n  {}", open.repeat(100_000));
            let problem = read(&deep).unwrap_err();
            assert!(problem.message.contains("deeper than 64"), "{open}: {problem:?}");
        }
        let large = vec![b' '; MAX_FILE + 1];
        assert!(contract(&large, &"paths".parse().unwrap()).unwrap_err().message.contains("1 MiB"));
        let many = format!("{GOOD}value: [{}]", "1,".repeat(MAX_NODES));
        assert!(read(&many).unwrap_err().message.contains("100000 values"));
    }

    #[test]
    fn rendered_documents_round_trip() {
        let config = Config {
            realm: ProposedRealm { name: "1.10".parse().unwrap(), url: None },
            repo: "no".parse().unwrap(),
            publish: None,
        };
        for publish in [None, Some(Policy::Ci), Some(Policy::Off)] {
            let config = Config { publish, ..config.clone() };
            assert_eq!(super::config(render(&config).as_bytes()).unwrap(), config);
        }
        let mut contract = read(GOOD).unwrap();
        contract.value = Json::from(
            serde_json::json!({"a": "1.10", "b": [null, true, "yes", 1.5, "~", "2026-01-01", "#x"], "é": "a: b\n  c"}),
        );
        assert_eq!(read(&render(&Typed::from(&contract))).unwrap(), contract);
    }

    proptest! {
        #[test]
        fn arbitrary_text_never_panics(text in "[ -~\n\t]{0,200}") {
            let _ = read(&text);
            let _ = binding(text.as_bytes());
            let _ = config(text.as_bytes());
        }
    }
}
