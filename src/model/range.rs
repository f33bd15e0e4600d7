//! Version ranges of imports: comparators that must all hold, as cargo reads them.

use std::{fmt, str::FromStr};

use super::{text::as_text, version::Version};

/// Longest range accepted, in bytes.
pub const MAX_LEN: usize = 256;

/// A range of versions, printed back exactly as it was written.
#[derive(Clone, PartialEq, Eq)]
pub struct Range {
    written: Box<str>,
    req: semver::VersionReq,
}

/// Says why a text is not a range, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a version range: {hint}")]
pub struct RangeError {
    text: String,
    hint: String,
}

impl Range {
    /// Returns whether `version` lies in the range. A pre-release does only if a comparator names
    /// a pre-release of the same `major.minor.patch`.
    pub fn matches(&self, version: &Version) -> bool {
        self.req.matches(version.semver())
    }

    /// Returns the range as it was written.
    pub fn as_str(&self) -> &str {
        &self.written
    }
}

const OPERATORS: [&str; 7] = [">=", "<=", ">", "<", "=", "^", "~"];

/// Returns the comparators of `text`, each an operator and a version, as semver reads them; in `text` an
/// operator may stand apart from its version.
fn comparators(text: &str) -> Result<String, String> {
    let mut found = String::with_capacity(text.len() + 8);
    let mut pending = None;
    for part in text.split(|c: char| c == ',' || c.is_ascii_whitespace()).filter(|part| !part.is_empty()) {
        if part.contains('|') && part.contains("||") {
            return Err("'||' is not supported; publish one range per import, or widen it: \">=1.2.0, <3.0.0\"".into());
        }
        if part == "-" {
            return Err("hyphen ranges are not supported; write \">=1.0.0, <=2.0.0\"".into());
        }
        let operator = OPERATORS.iter().find(|operator| part.starts_with(**operator));
        match (pending.take(), operator) {
            (Some(_), None) => found.push_str(part),
            (Some(before), Some(_)) => return Err(format!("'{before}' has no version behind it")),
            (None, Some(operator)) => {
                if !found.is_empty() {
                    found.push_str(", ");
                }
                found.push_str(part);
                pending = (part == *operator).then_some(part);
            }
            (None, None) if part == "*" => return Err("say it with an operator: \">=0.0.0\"".into()),
            (None, None) => {
                return Err(format!(
                    "'{part}' has no operator; write \"={part}\" for that version, \"^{part}\" for compatible ones"
                ));
            }
        }
    }
    match pending {
        Some(operator) => Err(format!("'{operator}' has no version behind it")),
        None if found.is_empty() => Err("it is empty; write for example \">=1.0.0, <2.0.0\"".into()),
        None => Ok(found),
    }
}

impl FromStr for Range {
    type Err = RangeError;

    fn from_str(text: &str) -> Result<Self, RangeError> {
        let refuse = |hint: String| RangeError { text: text.chars().take(80).collect(), hint };
        if text.len() > MAX_LEN {
            return Err(refuse("it is longer than 256 characters".into()));
        }
        let joined = comparators(text).map_err(refuse)?;
        let req = semver::VersionReq::parse(&joined).map_err(|error| refuse(error.to_string()))?;
        Ok(Self { written: text.into(), req })
    }
}

as_text!(Range);

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.written)
    }
}

impl fmt::Debug for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(range: &str, version: &str) -> bool {
        range.parse::<Range>().unwrap().matches(&version.parse().unwrap())
    }

    #[test]
    fn commas_and_spaces_both_mean_and() {
        for range in [">=1.0.0, <2.0.0", ">=1.0.0 <2.0.0", ">=1.0.0,<2.0.0", ">= 1.0.0 < 2.0.0"] {
            assert!(matches(range, "1.9.9"), "{range}");
            assert!(!matches(range, "2.0.0"), "{range}");
            assert!(!matches(range, "0.9.0"), "{range}");
            assert_eq!(range.parse::<Range>().unwrap().to_string(), range);
        }
    }

    #[test]
    fn refuses_what_other_tools_read_otherwise() {
        for (range, hint) in [
            ("1.0.0", "\"=1.0.0\""),
            ("*", ">=0.0.0"),
            ("1.0.0 - 2.0.0", "no operator"),
            (">=1.0.0 - <2.0.0", "hyphen"),
            ("^1 || ^2", "||"),
            (">=", "no version behind it"),
            (">= <2.0.0", "no version behind it"),
            ("", "empty"),
            (" , ", "empty"),
            (">=x", "unexpected"),
        ] {
            let error = range.parse::<Range>().unwrap_err().to_string();
            assert!(error.contains(hint), "{range}: {error}");
        }
    }

    #[test]
    fn a_prerelease_matches_only_where_it_is_named() {
        assert!(!matches(">=1.0.0", "1.1.0-rc.1"));
        assert!(matches(">=1.1.0-rc.1", "1.1.0-rc.2"));
    }

    proptest! {
        #[test]
        fn never_panics(text in ".{0,300}") {
            let _ = text.parse::<Range>();
        }

        #[test]
        fn what_parses_prints_as_written(text in "[<>=^~]{0,2} ?[0-9]{1,2}(\\.[0-9]{1,2}){0,2}([, ]+[<>=]{1,2}[0-9]\\.[0-9]\\.[0-9])?") {
            if let Ok(range) = text.parse::<Range>() {
                prop_assert_eq!(range.to_string(), text);
            }
        }
    }
}
