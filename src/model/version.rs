//! Contract versions: Semantic Versioning 2.0.0 without build metadata.

use std::{fmt, str::FromStr};

use super::text::as_text;

/// The length limit of a version, in bytes, because it is used as a file name.
pub const MAX_LEN: usize = 64;

/// A contract's version. Ordered as in section 11 of semver.org.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(semver::Version);

/// The error for text that is not a version. It says what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a version: {hint}")]
pub struct VersionError {
    text: String,
    hint: String,
}

/// One of the three numbers of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The first number: consumers may break.
    Major,
    /// The second number.
    Minor,
    /// The third number.
    Patch,
}

impl Version {
    /// Returns 0.1.0, the default first version of a contract.
    pub fn first() -> Self {
        Self(semver::Version::new(0, 1, 0))
    }

    /// Returns 1.0.0, the first version of a contract with automatic versions.
    pub fn one() -> Self {
        Self(semver::Version::new(1, 0, 0))
    }

    /// Returns the version before all others.
    pub fn lowest() -> Self {
        Self::placeholder("0")
    }

    /// Returns the placeholder for `version: auto` in a contract file, which publishing replaces.
    pub fn auto() -> Self {
        Self::placeholder("auto")
    }

    /// Returns the placeholder for `version: { from: FILE }` in a contract file, which reading that file replaces.
    pub fn from_file_placeholder() -> Self {
        Self::placeholder("from-file")
    }

    fn placeholder(name: &str) -> Self {
        let pre = semver::Prerelease::new(name).unwrap_or_default();
        Self(semver::Version { pre, ..semver::Version::new(0, 0, 0) })
    }

    /// Returns whether this is one of the placeholders.
    pub fn is_placeholder(&self) -> bool {
        self.is_auto() || *self == Self::from_file_placeholder()
    }

    /// Returns whether publishing chooses the version.
    pub fn is_auto(&self) -> bool {
        *self == Self::auto()
    }

    /// Returns whether this is a pre-release, which can be published but never becomes current.
    pub fn is_prerelease(&self) -> bool {
        !self.0.pre.is_empty()
    }

    /// Returns the version that an invalid text probably means: one with a leading `v`, in curly quotes, or with fewer
    /// numbers.
    pub fn guess_intended(text: &str) -> Option<Self> {
        let text = text.trim_matches(|c: char| "“”‘’\"'".contains(c) || c.is_whitespace());
        let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
        let missing = match text.matches('.').count() {
            0 => ".0.0",
            1 => ".0",
            _ => "",
        };
        semver::Version::parse(&format!("{text}{missing}")).ok().filter(|version| version.build.is_empty()).map(Self)
    }

    /// Returns the semver crate's representation, for matching ranges.
    pub fn semver(&self) -> &semver::Version {
        &self.0
    }

    /// Returns the version without its pre-release part.
    pub fn release(&self) -> Self {
        Self(semver::Version::new(self.0.major, self.0.minor, self.0.patch))
    }

    /// Returns the version with the pre-release part of another one.
    pub fn with_prerelease_of(&self, other: &Self) -> Self {
        Self(semver::Version { pre: other.0.pre.clone(), ..self.0.clone() })
    }

    /// Returns a later pre-release of the same release: `rc.2` follows `rc.1`, and `rc.1` follows `rc`.
    pub fn next_prerelease(&self) -> Self {
        let pre = self.0.pre.as_str();
        let (name, last) = pre.rsplit_once('.').map_or(("", pre), |(_, last)| (&pre[..pre.len() - last.len()], last));
        let next = match last.parse::<u64>().ok().and_then(|number| number.checked_add(1)) {
            Some(number) => format!("{name}{number}"),
            None => format!("{pre}.1"),
        };
        let pre = semver::Prerelease::new(&next).unwrap_or_else(|_| self.0.pre.clone());
        let next = Self(semver::Version { pre, ..self.0.clone() });
        if next.to_string().len() > MAX_LEN { self.clone() } else { next }
    }

    /// Returns the version with this number incremented, and the lower ones set to zero. After the largest number, the
    /// one before it is incremented. Returns the highest version if there is none above.
    pub fn raised(&self, level: Level) -> Self {
        let v = &self.0;
        Self(match level {
            Level::Patch if v.patch < MAX_NUMBER => semver::Version::new(v.major, v.minor, v.patch + 1),
            Level::Minor | Level::Patch if v.minor < MAX_NUMBER => semver::Version::new(v.major, v.minor + 1, 0),
            _ if v.major < MAX_NUMBER => semver::Version::new(v.major + 1, 0, 0),
            _ => semver::Version::new(MAX_NUMBER, MAX_NUMBER, MAX_NUMBER),
        })
    }

    /// Returns the next version for a breaking change. Below 1.0.0, that raises the minor number, as in cargo and npm.
    pub fn next_breaking(&self) -> Self {
        self.raised(if self.0.major == 0 { Level::Minor } else { Level::Major })
    }

    /// Returns the next version for a compatible change.
    pub fn next_compatible(&self) -> Self {
        self.raised(if self.0.major == 0 { Level::Patch } else { Level::Minor })
    }
}

/// The largest number in a version or a range.
pub(super) const MAX_NUMBER: u64 = u32::MAX as u64;
/// The hint for a larger number.
pub(super) const TOO_LARGE: &str = "a number in it is larger than 4294967295";

/// Returns whether a version could not be parsed because of the size of a number.
pub(super) fn exceeds(error: &semver::Error) -> bool {
    error.to_string().contains("u64::MAX")
}

impl FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        let refuse = |hint: String| VersionError { text: text.chars().take(MAX_LEN).collect(), hint };
        if text.len() > MAX_LEN {
            return Err(refuse("it is longer than 64 characters".into()));
        }
        let version = semver::Version::parse(text).map_err(|error| {
            refuse(match Self::guess_intended(text) {
                Some(meant) => format!("a version is MAJOR.MINOR.PATCH; write \"{meant}\""),
                None if exceeds(&error) => TOO_LARGE.into(),
                None if !text.starts_with(|c: char| c.is_ascii_digit()) => {
                    "write MAJOR.MINOR.PATCH, for example \"1.4.0\"".to_owned()
                }
                None => format!("{error}; write MAJOR.MINOR.PATCH, for example \"1.4.0\""),
            })
        })?;
        if !version.build.is_empty() {
            let without = semver::Version { build: semver::BuildMetadata::EMPTY, ..version };
            return Err(refuse(format!("build metadata is not supported; write \"{without}\"")));
        }
        // Larger numbers lose precision when a JSON parser converts them to floats.
        if version.major.max(version.minor).max(version.patch) > MAX_NUMBER {
            return Err(refuse(TOO_LARGE.into()));
        }
        Ok(Self(version))
    }
}

as_text!(
    Version,
    { "type": "string" },
    asked {
        "type": "string",
        "pattern": "^(0|[1-9][0-9]{0,8})([.](0|[1-9][0-9]{0,8})){2}(-[a-z][0-9a-z]*([.][a-z][0-9a-z]*)*)?$",
        "maxLength": 64
    }
);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.to_string())
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn errors_say_what_to_write_instead() {
        for (text, hint) in [
            ("1.10", "MAJOR.MINOR.PATCH"),
            ("v1.0.0", "MAJOR.MINOR.PATCH"),
            ("1.0.0+build", "write \"1.0.0\""),
            ("99999999999.0.0", "4294967295"),
            ("99999999999999999999.0.0", "4294967295"),
        ] {
            let error = text.parse::<Version>().unwrap_err().to_string();
            assert!(error.contains(hint), "{error}");
        }
    }

    #[test]
    fn breaking_changes_below_1_0_0_bump_the_minor_number() {
        assert_eq!(v("1.4.2").next_compatible(), v("1.5.0"));
        assert_eq!(v("1.4294967295.0").next_compatible(), v("2.0.0"));
        assert_eq!(v("0.0.4294967295").next_compatible(), v("0.1.0"));
        assert_eq!(v("4294967295.0.0").next_breaking().next_breaking(), v("4294967295.4294967295.4294967295"));
        assert_eq!(v("1.4.2").next_breaking(), v("2.0.0"));
        assert_eq!(v("0.4.2").next_compatible(), v("0.4.3"));
        assert_eq!(v("0.4.2").next_breaking(), v("0.5.0"));
    }

    #[test]
    fn orders_prereleases_before_their_release() {
        assert!(v("1.0.0-rc.2") < v("1.0.0-rc.10"));
        assert!(v("1.0.0-rc.10") < v("1.0.0"));
    }
}
