//! Names. Each kind is parsed into its own type, and no path or ref name is ever built from unparsed text.
//!
//! A name has 1 to 64 ASCII letters, digits, `.`, `_` or `-`. It starts with a letter or digit, contains no `..` and
//! does not end in `.` or `.lock`. So every name is a valid component of a git ref name (git-check-ref-format(1)) and
//! of a path on every file system, and names that start with `_` are free for the program's own files. The case of a
//! name is kept, but names must be unique ignoring case, because refs and files may be on a file system that ignores
//! it.

use std::{fmt, str::FromStr};

use super::text::as_text;

/// The length limit of a name, in bytes.
pub const MAX_LEN: usize = 64;

/// The rule on the characters of a name.
const NOT_ALLOWED: &str = "only the letters a to z and A to Z, digits, '.', '_' and '-' are allowed";

/// The error for text that is not a valid name. It says which rule the text breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {} name: {rule}", with_article(kind))]
pub struct NameError {
    /// The kind of name: `realm`, `repo`, `domain`, …
    pub kind: &'static str,
    /// The refused text, truncated.
    pub text: String,
    /// The rule that the text breaks.
    pub rule: &'static str,
}

/// Returns the everyday term for a kind of name, with its article.
fn with_article(kind: &str) -> String {
    match kind {
        "RFC" => "an RFC".to_owned(),
        "repo" => "a repository".to_owned(),
        kind => format!("a {kind}"),
    }
}

fn broken_rule(text: &str) -> Option<&'static str> {
    // Loops over bytes instead of searching substrings, because reading a realm checks thousands of names.
    let bytes = text.as_bytes();
    let allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
    let is_lock = |bytes: &[u8]| bytes.last_chunk::<5>().is_some_and(|end| end.eq_ignore_ascii_case(b".lock"));
    if text.is_empty() {
        Some("it is empty")
    } else if !bytes.iter().all(allowed) {
        Some(NOT_ALLOWED)
    } else if text.len() > MAX_LEN {
        Some("it is longer than 64 characters")
    } else if !bytes[0].is_ascii_alphanumeric() {
        Some("it must start with a letter or a digit")
    } else if bytes.windows(2).any(|pair| pair == b"..") {
        Some("'..' is not allowed")
    } else if bytes.ends_with(b".") {
        Some("it must not end with '.'")
    } else if is_lock(bytes) {
        Some("it must not end with '.lock'")
    } else {
        None
    }
}

fn parse(kind: &'static str, text: &str) -> Result<Box<str>, NameError> {
    match broken_rule(text) {
        None => Ok(text.into()),
        Some(rule) => Err(NameError { kind, text: text.chars().take(MAX_LEN + 16).collect(), rule }),
    }
}

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident, $kind:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Box<str>);

        impl $name {
            /// Returns the name as written.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Returns whether both names are equal ignoring case.
            pub fn collides_with(&self, other: &Self) -> bool {
                self.0.eq_ignore_ascii_case(&other.0)
            }
        }

        impl FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                parse($kind, text).map(Self)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        as_text!(
            $name,
            { "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$" },
            asked {
                "type": "string",
                "pattern": "^(?!.*[.][Ll][Oo][Cc][Kk]$)[A-Za-z0-9]([A-Za-z0-9_-]|[.](?=[A-Za-z0-9_-])){0,63}$"
            }
        );

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", self.0)
            }
        }
    };
}

name_type!(
    /// Names a realm: one shared space of contracts.
    RealmName,
    "realm"
);
name_type!(
    /// Names a repository within a realm.
    ///
    /// The kinds of names do not mix:
    /// ```compile_fail
    /// use git_blue::model::name::{DomainName, RepoName};
    /// let repo: RepoName = "fungal".parse::<DomainName>().unwrap();
    /// ```
    RepoName,
    "repo"
);
name_type!(
    /// Names a domain: a set of repositories that coordinate.
    DomainName,
    "domain"
);
name_type!(
    /// Names a contract within its domain.
    ContractName,
    "contract"
);
name_type!(
    /// Names a remote: a place where a realm is shared.
    RemoteName,
    "remote"
);
name_type!(
    /// The name of a reader of changes: the person at the command line, or one client session.
    ReaderName,
    "reader"
);

/// A contract and the domain that contains it, written `domain/contract`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContractRef {
    /// The domain.
    pub domain: DomainName,
    /// The contract within it.
    pub contract: ContractName,
}

impl FromStr for ContractRef {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let Some((domain, contract)) = text.split_once('/') else {
            return Err(NameError {
                kind: "contract",
                text: text.chars().take(MAX_LEN).collect(),
                rule: "write it as DOMAIN/CONTRACT",
            });
        };
        Ok(Self { domain: domain.parse()?, contract: contract.parse()? })
    }
}

impl fmt::Display for ContractRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.domain, self.contract)
    }
}

/// The length limit of an RFC name, in bytes.
const MAX_RFC_LEN: usize = 200;

/// Names a piece of work, like a branch name: one or more names joined by `/`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RfcName(Box<str>);

impl FromStr for RfcName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let rule = match text.split('/').find_map(broken_rule) {
            None if text.len() > MAX_RFC_LEN => Some("it is longer than 200 characters"),
            Some(NOT_ALLOWED) => Some("only the letters a to z and A to Z, digits, '.', '_', '-' and '/' are allowed"),
            rule => rule,
        };
        match rule {
            None => Ok(Self(text.into())),
            Some(rule) => Err(NameError { kind: "RFC", text: text.chars().take(MAX_LEN + 16).collect(), rule }),
        }
    }
}

impl fmt::Display for RfcName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// A contract in requests that name the domain and the contract separately.
#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
pub struct ContractFields {
    /// The domain
    pub domain: DomainName,
    /// The contract in the domain
    pub contract: ContractName,
}

impl ContractFields {
    /// Parses the contract that the fields name. It has this name for `#[serde(with = "ContractFields")]`.
    ///
    /// # Errors
    /// Returns an error if either field is missing or is not a valid name.
    pub fn deserialize<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<ContractRef, D::Error> {
        let Self { domain, contract } = serde::Deserialize::deserialize(deserializer)?;
        Ok(ContractRef { domain, contract })
    }
}

as_text!(
    ContractRef,
    { "type": "string" },
    asked {
        "type": "string",
        "pattern": "^(?!.*[.][Ll][Oo][Cc][Kk](/|$))[A-Za-z0-9]([A-Za-z0-9_-]|[.](?=[A-Za-z0-9_-])){0,63}/[A-Za-z0-9]([A-Za-z0-9_-]|[.](?=[A-Za-z0-9_-])){0,63}$"
    }
);
as_text!(
    RfcName,
    { "type": "string" },
    asked {
        "type": "string",
        "pattern": "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}(/[A-Za-z0-9][A-Za-z0-9_-]{0,63})*$",
        "maxLength": 100
    }
);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_rfc_is_names_joined_by_slashes() {
        for text in ["rfc-0042-new-api", "team/rfc-0042", "a/b/c"] {
            assert_eq!(text.parse::<RfcName>().unwrap().to_string(), text);
        }
        let long = vec!["a".repeat(MAX_LEN); 4].join("/");
        for text in ["", "/a", "a/", "a//b", "../../x", "a/../b", "a/-b", "a/b.lock", "a\\b", &long] {
            assert!(text.parse::<RfcName>().is_err(), "{text:?} was accepted");
        }
    }

    #[test]
    fn invalid_names_are_refused() {
        let long = "a".repeat(MAX_LEN + 1);
        for text in [
            "",
            "../x",
            "-x",
            ".x",
            "_x",
            "a..b",
            "a.",
            "a.lock",
            "A.LOCK",
            "a/b",
            "a b",
            "a\nb",
            "a\0b",
            "ä",
            "а", /* cyrillic */
            "a\u{202e}b",
            &long,
        ] {
            assert!(text.parse::<RepoName>().is_err(), "{text:?} was accepted");
        }
    }

    #[test]
    fn errors_quote_the_text_truncated_and_escaped() {
        let error = format!("{}\u{1b}[31m", "x".repeat(10_000)).parse::<RealmName>().unwrap_err();
        assert!(error.to_string().len() < 300);
        let error = "a\u{1b}[31m".parse::<RealmName>().unwrap_err();
        assert!(!error.to_string().contains('\u{1b}'));
    }

    #[test]
    fn a_contract_ref_needs_both_parts() {
        assert_eq!("s3-access/s3".parse::<ContractRef>().unwrap().to_string(), "s3-access/s3");
        for text in ["s3", "a/b/c", "/b", "a/", "/"] {
            assert!(text.parse::<ContractRef>().is_err(), "{text:?} was accepted");
        }
    }

    proptest! {
        #[test]
        fn every_parsed_name_is_a_safe_path_component(text in ".{0,80}") {
            if let Ok(name) = text.parse::<DomainName>() {
                prop_assert_eq!(name.as_str(), text.as_str());
                let path = std::path::Path::new(name.as_str());
                prop_assert_eq!(path.components().count(), 1);
                prop_assert!(!name.as_str().starts_with(['.', '-', '_']));
            }
        }

        #[test]
        fn names_round_trip(text in "[A-Za-z0-9][A-Za-z0-9_-]{0,63}") {
            let name: RepoName = text.parse().unwrap();
            let json = serde_json::to_string(&name).unwrap();
            prop_assert_eq!(serde_json::from_str::<RepoName>(&json).unwrap(), name);
        }
    }
}
