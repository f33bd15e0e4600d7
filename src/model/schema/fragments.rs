//! Encodes references so that the validator accepts them.
//!
//! Generators name definitions after types, such as `#/definitions/X<(number[]|null)>`. The validator accepts only the
//! percent-encoded form `#/definitions/X%3C(number%5B%5D%7Cnull)%3E`.

use crate::model::percent;

/// Returns a reference with its fragment encoded, if that changes it.
pub(super) fn encoded_reference(reference: &str) -> Option<String> {
    let (before, fragment) = reference.split_once('#')?;
    let encoded = encode_fragment(fragment);
    (encoded != fragment).then(|| format!("{before}#{encoded}"))
}

/// Percent-encodes characters that are not allowed in a fragment (RFC 3986, section 3.5).
fn encode_fragment(fragment: &str) -> String {
    let mut encoded = String::with_capacity(fragment.len());
    let bytes = fragment.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let is_escape = percent::escaped(&bytes[at..]).is_some();
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(byte) || is_escape {
            encoded.push(char::from(*byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}
