//! Secrets, which are never printed.

use std::fmt;

/// A token or a password.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Returns the secret in the first line of a variable, a file or a program's output. Returns `None` if it is empty
    /// or not valid in an HTTP header.
    pub fn of(text: &str) -> Option<Self> {
        let line = text.lines().next().unwrap_or_default().trim();
        let is_plain = line.chars().all(|c| c.is_ascii_graphic());
        (!line.is_empty() && is_plain && line.len() <= 4_096).then(|| Self(line.to_owned()))
    }

    /// Returns the secret itself, for sending it to its forge.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns the text with all occurrences of the secret replaced.
    pub fn redact(&self, text: &str) -> String {
        text.replace(&self.0, "***")
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_never_shown() {
        let secret = Secret::of("ghp_abc\n").unwrap();
        assert_eq!(format!("{secret:?}"), "Secret(***)");
        assert_eq!(secret.redact("bad token ghp_abc!"), "bad token ***!");
        for text in ["", "  \n", "two words", "a\u{7}b"] {
            assert_eq!(Secret::of(text), None, "{text:?}");
        }
    }
}
