//! Advice on mistakes in YAML for which the parser's message is not helpful. It is derived from the line of the error
//! and the key above it.

use super::Problem;
use crate::model::{candidate::NOT_IN_LFS, nearest};

/// Returns a better message than the parser's, and the line and column of the mistake if they differ from the parser's
/// location.
pub fn advise(
    text: &str,
    (line, column): (Option<u32>, Option<u32>),
    said: &str,
) -> Option<(String, Option<(u32, u32)>)> {
    if let Some(place) = conflict_marker(text) {
        return Some((UNRESOLVED.into(), Some(place)));
    }
    let at = ErrorLocation { text, number: line.map_or(0, |line| usize::try_from(line).unwrap_or(usize::MAX)), column };
    if said.contains("found a tab") || said.contains("tab character") || said.contains("tabs disallowed") {
        return Some(("it is indented with a tab; indent with spaces".into(), tab(text)));
    }
    if said.contains("block scalar") || said.contains("unexpected character") {
        let range = range(at.line())?;
        return Some((format!("write \"{range}\" with quotes: > begins a text block in YAML"), None));
    }
    let advice = at.of_key(said).or_else(|| at.of_form(said)).or_else(|| at.of_kind(said))?;
    Some((advice, None))
}

/// The problem with a file that has conflict markers.
const UNRESOLVED: &str = "unresolved merge conflict: keep one side, and remove the markers";

/// The first bytes of a pointer that Git LFS commits in place of a file.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// Returns the problem with a file whose content is in Git LFS.
pub fn in_lfs(bytes: &[u8]) -> Option<Problem> {
    bytes.starts_with(LFS_POINTER).then(|| {
        Problem::whole(format!("its content is in Git LFS, and the commit has only a pointer to it: {NOT_IN_LFS}"))
    })
}

/// Returns the problem with a text, which may be JSON, if git left conflict markers or a pointer of Git LFS in it.
pub fn left_by_git(text: &[u8]) -> Option<Problem> {
    if let Some(problem) = in_lfs(text) {
        return Some(problem);
    }
    let (line, column) = conflict_marker(std::str::from_utf8(text).ok()?)?;
    Some(Problem { line: Some(line), column: Some(column), ..Problem::whole(UNRESOLVED) })
}

/// Returns whether a line, from 1, is within the imports of a binding.
pub fn is_in_imports(text: &str, line: u64) -> bool {
    key_above(text, usize::try_from(line).unwrap_or(usize::MAX)) == Some("imports")
}

/// The keys of a contract or binding that people do not write.
const OF_THE_REALM: [&str; 7] =
    ["schema_hash", "content_hash", "retired", "yanked", "resolved_version", "resolved_at", "adapted_version"];

/// The maximum number of unknown keys that a message names.
const MAX_UNKNOWN: usize = 10;

/// The location of a parser error.
struct ErrorLocation<'t> {
    text: &'t str,
    /// The line, from 1; 0 if it is unknown.
    number: usize,
    /// The column, from 1.
    column: Option<u32>,
}

impl<'t> ErrorLocation<'t> {
    fn line(&self) -> &'t str {
        self.text.lines().nth(self.number.saturating_sub(1)).unwrap_or_default()
    }

    /// Returns the key of the value at the error: the last key before it on its line, or else the top-level key above.
    fn key(&self) -> Option<&'t str> {
        let column = self.column.map_or(0, |column| usize::try_from(column).unwrap_or(0));
        let before = self.line().char_indices().nth(column.saturating_sub(1)).map_or("", |(at, _)| &self.line()[..at]);
        let inner = before.trim_end().strip_suffix(['[', '{']).unwrap_or(before).trim_end();
        let word = inner.strip_suffix(':').and_then(|inner| inner.rsplit([' ', '{', ',']).next());
        word.filter(|word| is_key(word)).or_else(|| key_above(self.text, self.number))
    }

    /// Explains a mistake in a key: it is unknown or missing, or its value is not one of the allowed words.
    fn of_key(&self, said: &str) -> Option<String> {
        if let Some(rest) = said.strip_prefix("unknown field `") {
            let (word, expected) = rest.split_once("`, ")?;
            return Some(self.unknown(word, &words(expected)));
        }
        if let Some(rest) = said.strip_prefix("missing field `") {
            let example = match rest.trim_end_matches('`') {
                "version" if key_above(self.text, self.number) == Some("imports") => "version: \">=1.0.0, <2.0.0\"",
                "version" => "version: \"1.0.0\"",
                "name" if key_above(self.text, self.number) == Some("realm") => "name: REALM",
                "name" => "name: NAME, as the file is called",
                "owner" => "owner: REPOSITORY",
                "contract" => "contract: NAME",
                "role" => "role: provider, consumer or both",
                "realm" => "realm: { name: NAME }",
                "repo" => "repo: NAME",
                key => return Some(format!("the key {key} is missing")),
            };
            return Some(format!("a key is missing here, such as {example}"));
        }
        let rest = said.strip_prefix("unknown variant `")?;
        let (word, expected) = rest.split_once("`, ")?;
        Some(format!("{} is {}, not {word}", self.key()?, choice(&words(expected))))
    }

    fn unknown(&self, word: &str, expected: &[String]) -> String {
        let known: Vec<_> = expected.iter().filter(|key| !OF_THE_REALM.contains(&key.as_str())).cloned().collect();
        // All unknown top-level keys are reported at once.
        let is_outermost = key(self.line()) == Some(word);
        let others = self.text.lines().skip(self.number).filter_map(key).filter(|key| is_outermost && *key != word);
        let others = others.filter(|other| !expected.iter().any(|known| known == other));
        let mut words = std::iter::once(word).chain(others);
        let told = words.by_ref().take(MAX_UNKNOWN);
        let told = told.map(|word| format!("{word:?}{}", nearest::did_you_mean(&word.to_owned(), &known)));
        let mut told: Vec<_> = told.collect();
        let more = words.count();
        told.extend((more > 0).then(|| format!("{more} more")));
        let are = if told.len() > 1 { "are" } else { "is" };
        format!("{} {are} not valid here; the keys are {}", told.join(" and "), known.join(", "))
    }

    /// Explains a syntax mistake.
    fn of_form(&self, said: &str) -> Option<String> {
        const FORMS: &[(&str, &str)] = &[
            ("invalid boolean", "write true or false"),
            (
                "unknown anchor",
                "anchors and aliases (& and *) are not allowed; write the value out, or a string in quotes",
            ),
            ("!!binary", "the tag !!binary is not allowed; write a string in quotes"),
            ("tagged scalar", "a tag (!) is not allowed here; write the value without it"),
            ("mapping values are not allowed", "a string with a colon and a space needs quotes"),
            ("simple key expected", "write KEY: VALUE, with a colon and a space"),
            ("trailing content after", "a comma or a quote is missing before this"),
            ("multiline quoted scalar", "unclosed quote"),
            ("unclosed quote", "this quote is not closed"),
            ("unclosed bracket", "this bracket is not closed"),
        ];
        let value = self.line().split_once(": ").map_or("", |(_, value)| value.trim_start());
        let is_named = said.contains("mapping values are not allowed") && value.starts_with(['&', '*']);
        let said = if is_named { "unknown anchor" } else { said };
        FORMS.iter().find(|(words, _)| said.contains(words)).map(|(_, advice)| (*advice).to_owned())
    }

    /// Explains which type of value was expected.
    fn of_kind(&self, said: &str) -> Option<String> {
        let key = self.key();
        Some(match (said, key) {
            ("expected mapping start", Some("imports")) => {
                "an import is { contract: NAME, version: \">=1.0.0, <2.0.0\" }".into()
            }
            ("expected mapping start", Some("exports")) => "an export is { contract: NAME }".into(),
            ("expected mapping start", Some("compatibility")) => {
                "compatibility is { backwards: true, forwards: false }".into()
            }
            ("expected mapping start", Some("evolution")) => {
                "an entry of evolution is { version: \"1.0.0\", changes: [\"what changed\"] }".into()
            }
            ("expected mapping start", Some("realm")) => {
                "realm is a mapping: write realm: { name: NAME, url: URL }".into()
            }
            ("expected mapping start", Some("deprecated")) => {
                "deprecated is { since: \"1.4.0\", sunset: 2027-01-31, replaced_by: NAME }".into()
            }
            ("expected mapping start", Some("validation")) => "validation is { exporter: FILE, importer: FILE }".into(),
            ("expected mapping start", _) => {
                "this is not a list of keys and values: write KEY: VALUE, with a colon and a space".into()
            }
            ("expected sequence start", Some(key)) => {
                format!("{key} is a list: start each entry with \"- \", or write [ENTRY]")
            }
            ("expected string scalar", Some(key)) => format!("{key} must be a string: write it without brackets"),
            ("externally tagged enum expected scalar or mapping", Some(key)) => {
                format!("{key} must be a single word: write it without brackets")
            }
            _ => {
                let (found, expected) = said.strip_prefix("invalid type: ")?.split_once(", expected ")?;
                let found = match found {
                    "unit value" => "nothing".to_owned(),
                    "sequence" => "a list".to_owned(),
                    "map" => "a mapping".to_owned(),
                    found => found.replace('`', ""),
                };
                format!("write {expected} here, not {found}")
            }
        })
    }
}

/// Returns the words that the parser expected.
fn words(expected: &str) -> Vec<String> {
    let listed = expected.trim_start_matches("expected ").trim_start_matches("one of ").replace('`', "");
    listed.replace(" or ", ", ").split(", ").map(str::to_owned).collect()
}

fn choice(words: &[String]) -> String {
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// Returns the location of the first merge conflict marker.
fn conflict_marker(text: &str) -> Option<(u32, u32)> {
    let is_marker = |line: &str| ["<<<<<<< ", ">>>>>>> "].iter().any(|marker| line.starts_with(marker));
    let line = text.lines().position(is_marker)?;
    Some((u32::try_from(line + 1).ok()?, 1))
}

/// Returns the location of the first tab in an indentation.
fn tab(text: &str) -> Option<(u32, u32)> {
    text.lines().zip(1u32..).find_map(|(line, number)| {
        let indent = &line[..line.len() - line.trim_start().len()];
        let column = indent.find('\t')?;
        Some((number, u32::try_from(column + 1).ok()?))
    })
}

/// Returns the unquoted range after a colon on a line.
fn range(line: &str) -> Option<&str> {
    let at = line.find(": >").or_else(|| line.find(": <"))? + 2;
    let rest = &line[at..];
    // In flow style, a comma either continues or ends the range, depending on whether another comparator or a key
    // follows.
    let mut end = rest.len();
    for (comma, _) in rest.match_indices(',') {
        if !rest[comma + 1..].trim_start().starts_with(['<', '>', '=']) {
            end = end.min(comma);
        }
    }
    let rest = rest[..end].split(['}', ']']).next()?.split(" #").next()?.trim();
    rest.contains(|c: char| c.is_ascii_digit()).then_some(rest)
}

/// Returns the top-level key at or above a line.
fn key_above(text: &str, line: usize) -> Option<&str> {
    text.lines().take(line).filter_map(key).last()
}

fn key(line: &str) -> Option<&str> {
    let key = line.split_once(':')?.0;
    is_key(key).then_some(key)
}

fn is_key(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use crate::store::codec::{self, Problem};

    fn read(text: &str) -> Result<crate::model::contract::Contract, Problem> {
        codec::contract(text.as_bytes(), &"paths".parse().unwrap())
    }

    #[test]
    fn only_some_of_many_unknown_keys_are_named() {
        let keys: String = (0..2_000).map(|at| format!("key{at}: 1\n")).collect();
        let problem = read(&format!("name: paths\nversion: \"1.0.0\"\nowner: a\n{keys}")).unwrap_err();
        let end = "\"key9\" and 1990 more are not valid here; the keys are name,";
        assert!(problem.message.contains(end), "{problem}");
    }

    #[test]
    fn common_mistakes_are_explained() {
        let head = "name: paths\nversion: \"1.0.0\"\nowner: a\n";
        let contract = |text: &str| read(text).unwrap_err();
        let binding = |text: &str| codec::binding(text.as_bytes()).unwrap_err();
        for (problem, line, hint) in [
            (
                binding("role: consumer\nimports:\n  - contract: c\n    version: >=1.0.0\n"),
                4,
                "write \">=1.0.0\" with quotes",
            ),
            (
                binding("role: consumer\nimports:\n  - { contract: c, version: >=1.0.0, <2.0.0 }\n"),
                3,
                "write \">=1.0.0, <2.0.0\" with quotes",
            ),
            (binding("role: consumer\nimports:\n  - { version: >=1.0.0, contract: c }\n"), 3, "write \">=1.0.0\" with"),
            (binding("role: consumer\nimports:\n  - s3-permissions\n"), 3, "an import is { contract: NAME"),
            (binding("role: consumer\nimports: { contract: c }\n"), 2, "imports is a list"),
            (binding("role: provider\nexports: [c]\n"), 2, "an export is { contract: NAME }"),
            (binding("role: client\n"), 1, "role is provider, consumer or both, not client"),
            (binding("<<<<<<< HEAD\nrole: consumer\n=======\nrole: both\n>>>>>>> x\n"), 1, "unresolved merge conflict"),
            (binding("role: both\n<<<<<<< HEAD\n=======\n>>>>>>> x\n"), 2, "unresolved merge conflict"),
            (contract(&format!("{head}compatibility: backwards\n")), 4, "{ backwards: true, forwards: false }"),
            (contract(&format!("{head}evolution: [started]\n")), 4, "an entry of evolution is"),
            (contract("name: paths\n\tversion: \"1.1.0\"\n"), 2, "indent with spaces"),
            (contract("name: paths\nversion: 1.2\nowner: a\n"), 2, "write \"1.2.0\" with quotes"),
            (contract("name: paths\nversion: 2\nowner: a\n"), 2, "write \"2.0.0\" with quotes"),
            (contract("just words\n"), 1, "write KEY: VALUE"),
            (contract("name:paths\nversion: \"1.0.0\"\n"), 1, "with a colon and a space"),
            (contract("name: paths\nversion = \"1.0.0\"\nowner: a\n"), 2, "write KEY: VALUE"),
            (contract("name: paths\nversion: v1.2\nowner: a\n"), 2, "write \"1.2.0\""),
            (contract("name: paths\nversion: “1.2.0”\nowner: a\n"), 2, "write \"1.2.0\""),
            (contract("name: paths\nversion: { file: package.json }\nowner: a\n"), 2, "the keys are from, at"),
            (contract("name: paths\nversion: \"1.0.0\"\n"), 2, "owner: REPOSITORY"),
            (contract("name: paths\nversion: \"1.0.0\"\nowner: [a]\n"), 3, "owner must be a string"),
            (
                contract("name: paths\nversion: \"1.0.0\"\nownr: a\nvalu: 1\n"),
                3,
                "\"ownr\" (did you mean owner?) and \"valu\" (did you mean value?) are not valid here",
            ),
            (contract(&format!("{head}compatibility: {{ backward: true }}\n")), 4, "did you mean backwards?"),
            (contract(&format!("{head}compatibility: {{ backwards: yes }}\n")), 4, "write true or false"),
            (contract(&format!("{head}evolution: [{{ version: \"1.0.0\", changes: x }}]\n")), 4, "changes is a list"),
            (contract(&format!("{head}deprecated: true\n")), 4, "deprecated is { since"),
            (contract(&format!("{head}validation: test.sh\n")), 4, "validation is { exporter"),
            (contract(&format!("{head}flow: [both]\n")), 4, "flow must be a single word"),
            (contract(&format!("{head}description: a: b\n")), 4, "needs quotes"),
            (contract(&format!("{head}schema: &a {{ type: object }}\n")), 4, "anchors and aliases"),
            (contract(&format!("{head}value: {{ a: *x }}\n")), 4, "anchors and aliases"),
            (contract(&format!("{head}retired: {{ reason: x }}\n")), 4, "set by the realm"),
            (contract("{\"name\": \"paths\" \"owner\": \"a\"}"), 1, "a comma or a quote is missing"),
            (contract("name: other\nversion: \"1.0.0\"\nowner: a\n"), 1, "use the same name"),
            (binding("role: consumer\nimports:\n  - { contract: c, version: 1.0 }\n"), 3, "write \"^1.0.0\""),
            (binding("role: consumer\nimports:\n  - { contract: c, version: \"1.x\" }\n"), 3, "\">=1.0.0, <2.0.0\""),
            (binding("role: consumer\nimports:\n  - { contract: c, version: latest }\n"), 3, "\">=1.0.0, <2.0.0\""),
            (binding("role: consumer\nimports:\n  - { contract: c }\n"), 3, "version: \">=1.0.0, <2.0.0\""),
            (binding("role: consumer\nimports:\n  - { contract: c, verison: x }\n"), 3, "did you mean version?"),
            (
                binding("role: consumer\nimports:\n  - { contract: c, version: \">=1.0.0\", binding: 7 }\n"),
                3,
                "write a file or a list of files",
            ),
            (binding("role: consumer\nimports:\n  - { contract: c, version: \">=1.0.0\"\n"), 3, "not closed"),
            (binding("role: consumer\nimports:\n\t- contract: c\n"), 3, "indent with spaces"),
            (binding("role: [consumer]\n"), 1, "role must be a single word"),
            (binding("roles: consumer\n"), 1, "did you mean role?"),
            (binding("imports: []\n"), 1, "role: provider, consumer or both"),
            (binding("role: provider\nimports: [{ contract: c, version: \">=1.0.0\" }]\n"), 1, "write role: both"),
            (
                binding(
                    "role: consumer\nimports:\n  - { contract: c, version: ^1.0.0 }\n  - { contract: c, version: \
                        ^2.0.0 }\n",
                ),
                4,
                "imported twice",
            ),
            (
                codec::config(b"realm: team\nrepo: shop\n").unwrap_err(),
                1,
                "realm is a mapping: write realm: { name: NAME, url: URL }",
            ),
            (codec::config(b"realm: { nam: team }\nrepo: shop\n").unwrap_err(), 1, "did you mean name?"),
            (codec::config(b"realm: { name: team }\n").unwrap_err(), 1, "repo: NAME"),
            (codec::config(b"realm:\nrepo: shop\n").unwrap_err(), 1, "such as name: REALM"),
            (contract("name: paths\nversion: [1, 0, 0]\nowner: a\n"), 2, ", not a list"),
            (contract("name: paths\nversion:\nowner: a\n"), 2, ", not nothing"),
        ] {
            assert!(problem.message.contains(hint), "{hint}: {problem:?}");
            assert_eq!(problem.line, Some(line), "{hint}: {problem:?}");
        }
    }
}
