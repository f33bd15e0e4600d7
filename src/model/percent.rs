//! Percent-encoding in URLs (RFC 3986, section 2.1).

/// Encodes each byte that is neither an ASCII letter, a digit, one of `-._~`, nor in `also`.
pub fn encode(text: &str, also: &[u8]) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || also.contains(&byte);
    text.bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// Decodes `%XX` escapes. Returns text that does not decode to UTF-8 unchanged.
pub fn decode(text: &str) -> String {
    String::from_utf8(decoded(text).0).unwrap_or_else(|_| text.to_owned())
}

/// Decodes the `%XX` escapes. Returns `None` if a `%` is not followed by two hexadecimal digits.
pub fn decode_strictly(text: &str) -> Option<Vec<u8>> {
    let (bytes, is_correct) = decoded(text);
    is_correct.then_some(bytes)
}

/// Returns the decoded bytes, and whether every `%` begins an escape.
fn decoded(text: &str) -> (Vec<u8>, bool) {
    let (mut bytes, mut is_correct) = (Vec::with_capacity(text.len()), true);
    let mut rest = text.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let escaped = escaped(rest);
        is_correct &= *first != b'%' || escaped.is_some();
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &rest[3..] } else { behind };
    }
    (bytes, is_correct)
}

/// Returns the byte that an escape at the start of the text stands for.
pub fn escaped(text: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    match text {
        [b'%', high, low, ..] => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_have_two_hexadecimal_digits() {
        assert_eq!(decode("/definitions/X%3C%22"), "/definitions/X<\"");
        assert_eq!(decode_strictly("a%2fb").as_deref(), Some(&b"a/b"[..]));
        for odd in ["%", "a%4", "%zz", "%+1", "%é"] {
            assert_eq!((decode(odd).as_str(), decode_strictly(odd)), (odd, None));
        }
        assert_eq!((decode("%ff").as_str(), decode_strictly("%ff")), ("%ff", Some(vec![0xff])));
    }

    #[test]
    fn other_characters_are_escaped() {
        assert_eq!(encode("a/b c-é", b"/"), "a/b%20c-%C3%A9");
        assert_eq!(encode("a/b", b""), "a%2Fb");
    }
}
