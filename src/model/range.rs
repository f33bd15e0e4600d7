//! Version ranges of imports: comparators that must all match, in cargo's syntax.

use std::{fmt, str::FromStr};

use super::{
    text::as_text,
    version::{self, Version},
};

/// The length limit of a range, in characters.
pub const MAX_LEN: usize = 256;

/// A range of versions. The original spelling is kept, but does not distinguish ranges.
#[derive(Clone)]
pub struct Range {
    written: Box<str>,
    req: semver::VersionReq,
}

impl PartialEq for Range {
    fn eq(&self, other: &Self) -> bool {
        self.req == other.req
    }
}

impl Eq for Range {}

/// The error for text that is not a range. It says what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a version range: {hint}")]
pub struct RangeError {
    text: String,
    hint: String,
}

impl Range {
    /// Returns whether `version` is in the range. A pre-release is in the range only if a comparator names a
    /// pre-release of the same `major.minor.patch`.
    pub fn matches(&self, version: &Version) -> bool {
        self.req.matches(version.semver())
    }

    /// Returns whether the same versions are in both ranges, as in `>=1.0` and `>=1.0.0`.
    pub fn has_same_versions(&self, other: &Self) -> bool {
        let is_judged = !self.names_prerelease() && !other.names_prerelease();
        self == other || (is_judged && self.bounds() == other.bounds())
    }

    /// Returns the range of all versions that are compatible with `version`: `>=2.0.0, <3.0.0` for 2.3.1.
    pub fn compatible(version: &Version) -> Self {
        let v = version.semver();
        let lower = if v.major > 0 { (v.major, 0) } else { (0, v.minor) };
        Self::between(&semver::Version::new(lower.0, lower.1, 0), Some(version.next_breaking().semver()))
    }

    /// Returns the range of compatible versions starting at `version`: `>=2.3.1, <3.0.0` for 2.3.1.
    pub fn since(version: &Version) -> Self {
        Self::between(version.semver(), Some(version.next_breaking().semver()))
    }

    /// Returns the range of `version` and all later ones: `>=2.3.1`.
    pub fn at_least(version: &Version) -> Self {
        Self::between(version.semver(), None)
    }

    /// Returns the range of this version only: `=2.3.1`.
    pub fn exactly(version: &Version) -> Self {
        Self::of(vec![comparator(semver::Op::Exact, version.semver())])
    }

    /// Returns the range without its upper bound. Returns `None` if it has none.
    pub fn without_end(&self) -> Option<Self> {
        let (lower, upper) = self.bounds();
        upper.map(|_| Self::between(&lower, None))
    }

    /// Returns a range that also accepts `version`, the versions compatible with it, and everything in between,
    /// because a range has no gaps. Returns `None` for a pre-release, or for a range that names one.
    pub fn widened(&self, version: &Version) -> Option<Self> {
        if version.is_prerelease() || self.names_prerelease() {
            return None;
        }
        let (lower, upper) = self.bounds();
        let upper = upper.map(|upper| upper.max(version.next_breaking().semver().clone()));
        Some(Self::between(&lower.min(version.semver().clone()), upper.as_ref()))
    }

    /// Returns whether all of its versions are above this one.
    pub fn is_above(&self, version: &Version) -> bool {
        self.bounds().0 > *version.semver()
    }

    /// Returns why no version is in the range, if none is. A range with a pre-release is not judged.
    pub fn emptiness(&self) -> Option<String> {
        if self.names_prerelease() {
            return None;
        }
        let (lowest, end) = self.bounds();
        let end = end.filter(|end| *end <= lowest)?;
        Some(format!("no version is in the range {self}: it starts at {lowest} and ends before {end}"))
    }

    /// Returns whether the range has an upper bound.
    pub fn is_bounded(&self) -> bool {
        self.bounds().1.is_some()
    }

    fn names_prerelease(&self) -> bool {
        self.req.comparators.iter().any(|comparator| !comparator.pre.is_empty())
    }

    /// Returns the lowest version in the range, and the lowest one above it, if there is an upper bound.
    fn bounds(&self) -> (semver::Version, Option<semver::Version>) {
        let comparators = self.req.comparators.iter();
        let lowest = comparators.clone().filter_map(lower).max().unwrap_or(semver::Version::new(0, 0, 0));
        (lowest, comparators.filter_map(upper).min())
    }

    fn between(lower: &semver::Version, upper: Option<&semver::Version>) -> Self {
        let upper = upper.map(|upper| comparator(semver::Op::Less, upper));
        Self::of(std::iter::once(comparator(semver::Op::GreaterEq, lower)).chain(upper).collect())
    }

    fn of(comparators: Vec<semver::Comparator>) -> Self {
        let req = semver::VersionReq { comparators };
        Self { written: req.to_string().into(), req }
    }

    /// Returns the range as written.
    pub fn as_str(&self) -> &str {
        &self.written
    }
}

fn comparator(op: semver::Op, version: &semver::Version) -> semver::Comparator {
    let semver::Version { major, minor, patch, ref pre, .. } = *version;
    semver::Comparator { op, major, minor: Some(minor), patch: Some(patch), pre: pre.clone() }
}

/// Returns the lowest version that a comparator accepts, if there is a lower bound.
fn lower(comparator: &semver::Comparator) -> Option<semver::Version> {
    use semver::Op::{Caret, Exact, Greater, GreaterEq, Tilde};
    match comparator.op {
        Exact | GreaterEq | Tilde | Caret => Some(first(comparator)),
        Greater => Some(after(comparator)),
        _ => None,
    }
}

/// Returns the lowest version above a comparator, if there is an upper bound.
fn upper(comparator: &semver::Comparator) -> Option<semver::Version> {
    use semver::{Op, Version};
    let semver::Comparator { major, minor, patch, .. } = *comparator;
    match (comparator.op, minor, patch) {
        (Op::Less, ..) => Some(first(comparator)),
        (Op::LessEq | Op::Exact, ..) => Some(after(comparator)),
        (Op::Tilde, Some(minor), _) => Some(Version::new(major, minor + 1, 0)),
        (Op::Tilde, None, _) => Some(Version::new(major + 1, 0, 0)),
        (Op::Caret, Some(0), Some(patch)) if major == 0 => Some(Version::new(0, 0, patch + 1)),
        (Op::Caret, Some(minor), _) if major == 0 => Some(Version::new(0, minor + 1, 0)),
        (Op::Caret, ..) => Some(Version::new(major + 1, 0, 0)),
        _ => None,
    }
}

/// Returns the lowest version that starts with the numbers of a comparator.
fn first(comparator: &semver::Comparator) -> semver::Version {
    let number = |part: Option<u64>| part.unwrap_or_default();
    let (minor, patch) = (number(comparator.minor), number(comparator.patch));
    semver::Version { pre: comparator.pre.clone(), ..semver::Version::new(comparator.major, minor, patch) }
}

/// Returns the lowest version above all versions that start with the numbers of a comparator.
fn after(comparator: &semver::Comparator) -> semver::Version {
    let major = comparator.major;
    match (comparator.minor, comparator.patch) {
        (Some(minor), Some(patch)) => semver::Version::new(major, minor, patch + 1),
        (Some(minor), None) => semver::Version::new(major, minor + 1, 0),
        (None, _) => semver::Version::new(major + 1, 0, 0),
    }
}

const OPERATORS: [&str; 7] = [">=", "<=", ">", "<", "=", "^", "~"];

fn explained(error: &semver::Error) -> String {
    if version::exceeds(error) { version::TOO_LARGE.to_owned() } else { error.to_string() }
}

/// Returns the comparators of `text` in the form that semver parses: each an operator directly followed by a version.
/// In `text`, spaces between the two are allowed.
fn comparators(text: &str) -> Result<String, String> {
    if let Some((low, high)) = text.split_once(" - ")
        && ![low, high].iter().any(|part| part.contains(['<', '>', '=', '^', '~', '|']))
    {
        return Err(format!("hyphen ranges are not supported; write \">={}, <={}\"", low.trim(), high.trim()));
    }
    let pieces = || text.split(',').map(str::trim);
    let filled: Vec<_> = pieces().filter(|piece| !piece.is_empty()).collect();
    if !filled.is_empty() && filled.len() < pieces().count() {
        return Err(format!("there is nothing before or after a comma; write \"{}\"", filled.join(", ")));
    }
    let mut found = String::with_capacity(text.len() + 8);
    let mut pending = None;
    for part in text.split(|c: char| c == ',' || c.is_ascii_whitespace()).filter(|part| !part.is_empty()) {
        if part.contains('|') && part.contains("||") {
            return Err("'||' is not supported; write one range that covers both: \">=1.2.0, <3.0.0\"".into());
        }
        if part == "-" {
            return Err("hyphen ranges are not supported; write \">=1.0.0, <=2.0.0\"".into());
        }
        let operator = OPERATORS.iter().find(|operator| part.starts_with(**operator));
        if let Some(operator) = operator
            && part[operator.len()..].starts_with(['<', '>', '=', '^', '~'])
        {
            return Err(unknown_operator(part));
        }
        match (pending.take(), operator) {
            (Some(_), None) => found.push_str(part),
            (Some(before), Some(_)) => return Err(format!("'{before}' is not followed by a version")),
            (None, Some(operator)) => {
                if !found.is_empty() {
                    found.push_str(", ");
                }
                found.push_str(part);
                pending = (part == *operator).then_some(part);
            }
            (None, None) if part == "*" => return Err("use an operator: \">=0.0.0\"".into()),
            (None, None) => {
                return Err(match Version::guess_intended(part) {
                    Some(version) => format!(
                        "'{part}' has no operator; write \"={version}\" for that version, \"^{version}\" for \
                            compatible ones"
                    ),
                    None => format!("'{part}' is not a version; write for example \">=1.0.0, <2.0.0\""),
                });
            }
        }
    }
    match pending {
        Some(operator) => Err(format!("'{operator}' is not followed by a version")),
        None if found.is_empty() => Err("it is empty; write for example \">=1.0.0, <2.0.0\"".into()),
        None => Ok(found),
    }
}

/// Explains a comparator with an unsupported operator. In Ruby and Terraform, `~>` accepts changes
/// to the last number that is written.
fn unknown_operator(part: &str) -> String {
    let version = part.trim_start_matches(['<', '>', '=', '^', '~']);
    let operator = &part[..part.len() - version.len()];
    let intended = match operator {
        "~>" if version.matches('.').count() >= 2 => Some("~"),
        "~>" => Some("^"),
        "==" | "===" => Some("="),
        "=>" => Some(">="),
        "=<" => Some("<="),
        _ => None,
    };
    match intended.filter(|_| !version.is_empty()) {
        Some(intended) => format!("'{operator}' is not an operator; write \"{intended}{version}\""),
        None => format!("'{operator}' is not an operator; the operators are {}", OPERATORS.join(", ")),
    }
}

impl FromStr for Range {
    type Err = RangeError;

    fn from_str(text: &str) -> Result<Self, RangeError> {
        let refuse = |hint: String| RangeError { text: text.chars().take(80).collect(), hint };
        if text.chars().count() > MAX_LEN {
            return Err(refuse("it is longer than 256 characters".into()));
        }
        if text.contains('+') {
            return Err(refuse("versions have no build metadata: leave out the part from +".into()));
        }
        let joined = comparators(text).map_err(refuse)?;
        let req = semver::VersionReq::parse(&joined).map_err(|error| refuse(explained(&error)))?;
        // The same limit as for versions. It ensures that every number in a bound can be incremented without overflow.
        let largest = |one: &semver::Comparator| one.major.max(one.minor.unwrap_or(0)).max(one.patch.unwrap_or(0));
        if req.comparators.iter().any(|one| largest(one) > version::MAX_NUMBER) {
            return Err(refuse(version::TOO_LARGE.to_owned()));
        }
        Ok(Self { written: text.into(), req })
    }
}

as_text!(
    Range,
    { "type": "string" },
    asked {
        "type": "string",
        "pattern": "^(>=|<=|>|<|=|\\^|~)(0|[1-9][0-9]{0,8})([.](0|[1-9][0-9]{0,8})){2}\
            (, (>=|<=|>|<)(0|[1-9][0-9]{0,8})([.](0|[1-9][0-9]{0,8})){2})?$",
        "maxLength": 100
    }
);

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

    #[test]
    fn ranges_with_the_same_versions_are_recognized() {
        let range = |text: &str| text.parse::<Range>().unwrap();
        for (one, other, is_same) in [
            (">=1.0", ">=1.0.0", true),
            ("^1", ">=1.0.0, <2.0.0", true),
            (">=1.0.0", ">1.0.0", false),
            ("^1", "^1.1", false),
            (">=1.0.0-rc.1", ">=1.0.0", false),
        ] {
            assert_eq!(range(one).has_same_versions(&range(other)), is_same, "{one} and {other}");
        }
    }

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
    fn refuses_syntax_that_other_tools_read_differently() {
        for (range, hint) in [
            ("1.0.0", "\"=1.0.0\""),
            ("*", ">=0.0.0"),
            ("1.0.0 - 2.0.0", "write \">=1.0.0, <=2.0.0\""),
            (">=1.0.0 - <2.0.0", "hyphen"),
            ("^1 || ^2", "||"),
            (">=", "not followed by a version"),
            (">= <2.0.0", "not followed by a version"),
            ("", "empty"),
            (" , ", "empty"),
            (">=1.0.0,", "write \">=1.0.0\""),
            (",>=1.0.0", "write \">=1.0.0\""),
            (">=1.0.0,,<3", "write \">=1.0.0, <3\""),
            ("~>1.2", "write \"^1.2\""),
            ("~>1.2.3", "write \"~1.2.3\""),
            ("~> 1.2", "the operators are >="),
            ("==1.0.0", "write \"=1.0.0\""),
            ("^1.0.0+b", "no build metadata"),
            (">=1.0.0 =<2.0.0", "write \"<=2.0.0\""),
            (">=x", "unexpected"),
            ("=1.0.18446744073709551615", "4294967295"),
            ("<=1.4294967296", "4294967295"),
            (">=4294967296.0.0-rc.1", "4294967295"),
        ] {
            let error = range.parse::<Range>().unwrap_err().to_string();
            assert!(error.contains(hint), "{range}: {error}");
        }
    }

    #[test]
    fn the_largest_numbers_have_a_next_version() {
        let range: Range = "=1.0.4294967295".parse().unwrap();
        assert_eq!(range.emptiness(), None);
        assert_eq!(range.widened(&"1.0.0".parse().unwrap()).unwrap().to_string(), ">=1.0.0, <2.0.0");
        assert!("~1.4294967295, <2.0.0".parse::<Range>().unwrap().is_bounded());
    }

    #[test]
    fn the_limit_counts_characters() {
        let problem = |length: usize| "é".repeat(length).parse::<Range>().unwrap_err().to_string();
        assert!(!problem(MAX_LEN).contains("longer"));
        assert!(problem(MAX_LEN + 1).ends_with("it is longer than 256 characters"));
    }

    #[test]
    fn a_prerelease_matches_only_where_it_is_named() {
        assert!(!matches(">=1.0.0", "1.1.0-rc.1"));
        assert!(matches(">=1.1.0-rc.1", "1.1.0-rc.2"));
    }

    #[test]
    fn a_wider_range_accepts_the_old_versions_and_the_new_one() {
        for (range, version, wider) in [
            (">=1.0.0, <2.0.0", "2.0.0", ">=1.0.0, <3.0.0"),
            (">=2.0.0 <3.0.0", "3.1.0", ">=2.0.0, <4.0.0"),
            ("^1.2.0", "2.0.0", ">=1.2.0, <3.0.0"),
            ("~1.2", "1.4.0", ">=1.2.0, <2.0.0"),
            ("=1.2.3", "1.3.0", ">=1.2.3, <2.0.0"),
            ("^0.2.1", "0.3.0", ">=0.2.1, <0.4.0"),
            (">1.2, <=1.5", "2.0.0", ">=1.3.0, <3.0.0"),
            (">=3.0.0, <4.0.0", "2.1.0", ">=2.1.0, <4.0.0"),
            (">=3.0.0", "2.1.0", ">=2.1.0"),
            ("<2.0.0", "2.0.0", ">=0.0.0, <3.0.0"),
        ] {
            let wider_range = range.parse::<Range>().unwrap().widened(&version.parse().unwrap()).unwrap();
            assert_eq!(wider_range.to_string(), wider, "{range} and {version}");
            assert_eq!(wider.parse::<Range>().unwrap(), wider_range);
        }
        assert_eq!(">=1.0.0".parse::<Range>().unwrap().widened(&"2.0.0-rc.1".parse().unwrap()), None);
        assert_eq!(Range::compatible(&"2.3.1".parse().unwrap()).to_string(), ">=2.0.0, <3.0.0");
        assert_eq!(Range::compatible(&"0.3.1".parse().unwrap()).to_string(), ">=0.3.0, <0.4.0");
        assert!("^1.0.0".parse::<Range>().unwrap().is_bounded() && !">=1.0.0".parse::<Range>().unwrap().is_bounded());
    }

    #[test]
    fn ranges_without_a_version_are_recognized() {
        for range in [">=2.0.0, <1.0.0", ">=1.0.0, <1.0.0", "<0.0.0", "^1.0.0, ^2.0.0", "~1.2, >=1.3.0", ">1, <2"] {
            assert!(range.parse::<Range>().unwrap().emptiness().is_some(), "{range}");
        }
        for range in [">=1.0.0, <1.0.1", "=1.0.0", "<0.0.1", ">1.0.0-a, <=1.0.0", "^0.0.3", ">=1, <=1", ">=1.0.0"] {
            assert_eq!(range.parse::<Range>().unwrap().emptiness(), None, "{range}");
        }
    }

    proptest! {
        #[test]
        fn a_wider_range_accepts_everything_that_the_narrow_one_did(
            range in "(>=|>|<=|<|=|\\^|~)[0-3]\\.[0-3]\\.[0-3]",
            (major, minor, patch) in (0u64..4, 0u64..4, 0u64..4),
            (other_major, other_minor) in (0u64..4, 0u64..4),
        ) {
            let version = |text: String| text.parse::<Version>().unwrap();
            let new = version(format!("{other_major}.{other_minor}.0"));
            let range: Range = range.parse().unwrap();
            let wider = range.widened(&new).unwrap();
            prop_assert!(wider.matches(&new));
            let old = version(format!("{major}.{minor}.{patch}"));
            prop_assert!(!range.matches(&old) || wider.matches(&old), "{range} {wider} {old}");
        }

        #[test]
        fn never_panics(text in ".{0,300}") {
            let _ = text.parse::<Range>();
        }

        #[test]
        fn parsed_ranges_print_as_written(text in "[<>=^~]{0,2} ?[0-9]{1,2}(\\.[0-9]{1,2}){0,2}([, ]+[<>=]{1,2}[0-9]\\.[0-9]\\.[0-9])?") {
            if let Ok(range) = text.parse::<Range>() {
                prop_assert_eq!(range.to_string(), text);
            }
        }
    }
}
