//! The id of a git object, SHA-1 or SHA-256, as 40 or 64 lower-case hex digits.

use std::{fmt, str::FromStr};

use super::{hash, text::as_text};

/// The id of a git object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Oid {
    len: u8,
    bytes: [u8; 32],
}

/// The error for text that is not an object id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an object id: expected 40 or 64 lower-case hex digits")]
pub struct OidError(String);

impl Oid {
    /// Returns the id with these raw bytes, or `None` unless there are 20 or 32 of them.
    pub fn from_bytes(raw: &[u8]) -> Option<Self> {
        if raw.len() != 20 && raw.len() != 32 {
            return None;
        }
        let mut bytes = [0; 32];
        bytes[..raw.len()].copy_from_slice(raw);
        Some(Self { len: raw.len() as u8, bytes })
    }

    /// Returns the raw bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Returns the first 10 hex digits, for display.
    pub fn short(&self) -> String {
        self.to_string()[..10].to_owned()
    }
}

impl FromStr for Oid {
    type Err = OidError;

    fn from_str(text: &str) -> Result<Self, OidError> {
        let refuse = || OidError(text.chars().take(80).collect());
        let digit = |c: u8| match c {
            b'0'..=b'9' => Some(c - b'0'),
            b'a'..=b'f' => Some(c - b'a' + 10),
            _ => None,
        };
        let read = || {
            let mut raw = [0; 32];
            let raw = raw.get_mut(..text.len() / 2).filter(|_| text.len().is_multiple_of(2))?;
            for (byte, pair) in raw.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
                *byte = digit(pair[0])? << 4 | digit(pair[1])?;
            }
            Self::from_bytes(raw)
        };
        read().ok_or_else(refuse)
    }
}

as_text!(Oid, pattern "^([0-9a-f]{40}|[0-9a-f]{64})$");

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hash::hex(self.as_bytes()))
    }
}

impl fmt::Debug for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ids_round_trip(raw in prop_oneof![
            proptest::collection::vec(any::<u8>(), 20),
            proptest::collection::vec(any::<u8>(), 32),
        ]) {
            let oid = Oid::from_bytes(&raw).unwrap();
            prop_assert_eq!(oid.to_string().parse::<Oid>().unwrap(), oid);
        }

        #[test]
        fn other_lengths_are_refused(text in "[0-9a-zA-Z]{0,70}") {
            prop_assume!(![40, 64].contains(&text.len()));
            prop_assert!(text.parse::<Oid>().is_err());
        }
    }
}
