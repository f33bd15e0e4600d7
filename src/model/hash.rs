//! Content hashes: SHA-256 over canonical JSON (RFC 8785), so that equal content has the same hash regardless of its
//! formatting.

use serde::Serialize;
use sha2::{Digest, Sha256};

/// Returns the SHA-256 of `value`'s canonical JSON as 64 lower-case hex digits.
pub fn canonical<T: Serialize>(value: &T) -> String {
    // Values were parsed strictly (`super::json`), with finite numbers and string keys, so they always have a
    // canonical form.
    let bytes = serde_jcs::to_vec(value).unwrap_or_default();
    hex(&Sha256::digest(bytes))
}

/// Returns the SHA-256 of a text or of bytes.
pub fn of_text(text: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(text))
}

/// Returns `bytes` as lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
    // `write!` takes many times as long, and reading a realm formats thousands of ids.
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)])).collect()
}

/// Returns the first 12 hex digits of a hash over `parts`, which are separated by NUL bytes.
pub fn short_id(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    hex(&hash.finalize()[..6])
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn key_order_and_number_spelling_are_ignored() {
        let a: serde_json::Value = serde_json::from_str(r#"{"b":1.0,"a":[1e2,"ä"]}"#).unwrap();
        let b: serde_json::Value = serde_json::from_str(r#"{ "a": [100, "\u00e4"], "b": 1 }"#).unwrap();
        assert_eq!(canonical(&a), canonical(&b));
        assert_ne!(canonical(&a), canonical(&json!({"a": [100, "ä"], "b": 2})));
    }

    /// The example of RFC 8785, section 3.2.
    #[test]
    fn follows_rfc_8785() {
        let value: serde_json::Value = serde_json::from_str(
            r#"{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}"#,
        )
        .unwrap();
        let canonical = serde_jcs::to_string(&value).unwrap();
        assert_eq!(
            canonical,
            "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}"
        );
    }
}
