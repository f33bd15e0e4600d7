//! Types that are a single string in JSON and YAML.

use std::{fmt, marker::PhantomData, path::Path, str::FromStr};

use serde::{
    Deserializer,
    de::{Error, Visitor},
};

/// Parses a string during deserialization, so that errors have a position.
pub fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: FromStr<Err: fmt::Display>,
    D: Deserializer<'de>,
{
    struct Text<T>(PhantomData<T>);

    impl<T: FromStr<Err: fmt::Display>> Visitor<'_> for Text<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string in quotes")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }
    }

    deserializer.deserialize_str(Text(PhantomData))
}

/// Parses a reason, which is stored in the history.
///
/// # Errors
/// Returns an error if it is empty, too long, or the `…` of a suggested command.
pub fn reason(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("give a reason".into()),
        "…" | "..." => Err("write the reason in place of the dots".into()),
        text if text.chars().count() > 1_000 => Err("it is longer than 1,000 characters".into()),
        text => Ok(text.to_owned()),
    }
}

/// Returns a number with its noun, as in `1 file` or `2 files`.
pub fn count(number: impl fmt::Display + PartialEq + From<u8>, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1.into() { one } else { many })
}

/// Returns items separated by commas, as in `a, b`.
pub fn comma_separated(items: impl IntoIterator<Item: ToString>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

/// Returns the first items separated by commas, and the number of the others, as in `a, b and 3 more`.
pub fn comma_separated_at_most(max: usize, items: impl IntoIterator<Item: ToString>) -> String {
    let mut items = items.into_iter();
    let shown = comma_separated(items.by_ref().take(max));
    match items.count() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Returns the whole seconds of a duration, as in `1 second` and `30 seconds`.
pub fn seconds(duration: std::time::Duration) -> String {
    count(duration.as_secs(), "second", "seconds")
}

/// Returns the first `most` characters of a text, with … if there are more.
pub fn cut(text: impl Into<String>, most: usize) -> String {
    let mut text = text.into();
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Returns the first digits of a commit that is given as text.
pub fn short_commit(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}

/// Quotes a word for a shell, if it contains characters other than those of paths, URLs and names.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:@%=,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else if word.contains(char::is_control) {
        // Output shows control characters escaped, so plain quotes would not preserve them. Interactive shells expand
        // this.
        format!("$'{}'", escaped(word))
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Escapes text for `$'…'` in a shell.
fn escaped(word: &str) -> String {
    let mut text = String::new();
    for c in word.chars() {
        match c {
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\\' | '\'' => text.extend(['\\', c]),
            // Three octal digits for each byte, since more digits may follow.
            c if c.is_control() => {
                c.to_string().bytes().for_each(|byte| text += &format!("\\{byte:03o}"));
            }
            c => text.push(c),
        }
    }
    text
}

/// Returns a path as one word for a POSIX shell.
pub fn shell_path(path: &Path) -> String {
    shell_word(&path.display().to_string())
}

/// Implements serde and JSON Schema for a type with `FromStr` and `Display`, as a string in JSON and YAML. The pattern
/// is part of its JSON Schema. `asked` is a stricter pattern for input: every string that matches it is accepted.
macro_rules! as_text {
    ($name:ident) => {
        $crate::model::text::as_text!($name, { "type": "string" });
    };
    ($name:ident, pattern $pattern:literal) => {
        $crate::model::text::as_text!($name, { "type": "string", "pattern": $pattern });
    };
    ($name:ident, $schema:tt) => {
        $crate::model::text::as_text!($name, $schema, asked $schema);
    };
    ($name:ident, $schema:tt, asked $asked:tt) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::model::text::deserialize(deserializer)
            }
        }

        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                if generator.contract().is_deserialize() {
                    schemars::json_schema!($asked)
                } else {
                    schemars::json_schema!($schema)
                }
            }
        }
    };
}

pub(crate) use as_text;

/// The error for text that is not an id of some kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not {expected}")]
pub struct IdError {
    /// The refused text, truncated.
    pub text: String,
    /// The kind of id and its form.
    pub expected: &'static str,
}

/// Defines a type for ids that consist of a prefix and a number of lower-case hex digits.
macro_rules! hex_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal, $digits:expr, $expected:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(Box<str>);

        impl std::str::FromStr for $name {
            type Err = $crate::model::text::IdError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
                match text.strip_prefix($prefix) {
                    Some(hex) if $digits.contains(&hex.len()) && hex.bytes().all(is_digit) => Ok(Self(text.into())),
                    _ => Err($crate::model::text::IdError { text: text.chars().take(80).collect(), expected: $expected }),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

pub(crate) use hex_id;

#[cfg(test)]
mod tests {
    use super::{reason, shell_word};

    #[test]
    fn a_word_is_quoted_for_a_shell() {
        for (word, quoted) in [
            ("a/b.json", "a/b.json"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("a\nb'\\", r"$'a\nb\'\\'"),
            ("\u{1}\u{85}", r"$'\001\302\205'"),
        ] {
            assert_eq!(shell_word(word), quoted);
        }
    }

    #[test]
    fn a_reason_is_written_by_the_user() {
        assert_eq!(reason(" nobody reads it\n"), Ok("nobody reads it".to_owned()));
        assert_eq!(reason("\u{2026}"), Err("write the reason in place of the dots".to_owned()));
        assert!(reason(" ").is_err() && reason("...").is_err() && reason(&"x".repeat(1_001)).is_err());
        assert!(reason(&"é".repeat(1_000)).is_ok() && reason(&"é".repeat(1_001)).is_err());
    }
}
