//! JSON with comments, as editors write it in `.jsonc` files. Read as YAML, a comment would become part of the next key.

use std::borrow::Cow;

/// Returns the text without its byte-order mark (RFC 8259, section 8.1).
pub fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Returns the text without its byte-order mark and comments.
pub fn plain(bytes: &[u8]) -> Cow<'_, [u8]> {
    let bytes = without_mark(bytes);
    without_comments(bytes).map_or(Cow::Borrowed(bytes), Cow::Owned)
}

/// Replaces `//` and `/* */` comments and trailing commas with spaces, so that lines and columns
/// stay the same. Returns `None` if there are no comments, or the text does not begin like JSON.
pub fn without_comments(bytes: &[u8]) -> Option<Vec<u8>> {
    if !matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'[' | b'/')) {
        return None;
    }
    let (mut at, mut blank, mut commas) = (0, Vec::new(), Vec::new());
    // The last comma, if only space and comments follow it.
    let mut comma = None;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = match rest {
            [b'"', ..] => string(rest),
            // In YAML, `//` within a word such as a URL does not start a comment.
            [b'/', b'/', ..] if starts_comment(bytes, at) => {
                rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len())
            }
            [b'/', b'*', ..] if starts_comment(bytes, at) => {
                let end = rest[2..].windows(2).position(|pair| pair == b"*/");
                end.map_or(rest.len(), |end| end + 4)
            }
            _ => 1,
        };
        match rest[0] {
            b'/' if length > 1 => blank.push(at..at + length),
            b',' => comma = Some(at),
            b'}' | b']' => commas.extend(comma.take()),
            byte if byte.is_ascii_whitespace() => {}
            _ => comma = None,
        }
        at += length;
    }
    if blank.is_empty() {
        return None;
    }
    let mut plain = bytes.to_vec();
    for range in blank {
        plain[range].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    }
    commas.into_iter().for_each(|comma| plain[comma] = b' ');
    Some(plain)
}

fn starts_comment(bytes: &[u8], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| bytes[before]);
    before.is_none_or(|byte| byte.is_ascii_whitespace() || b"{}[],\"0123456789".contains(&byte))
}

/// Returns the length of the string that the text begins with.
fn string(text: &[u8]) -> usize {
    let mut at = 1;
    while at < text.len() {
        match text[at] {
            b'\\' => at += 1,
            b'"' => return at + 1,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_become_spaces() {
        for (text, expected) in [
            ("{ // a\n\"b\": 1 }", "{     \n\"b\": 1 }"),
            ("/* a\n b */{\"b\": [1, /* c */], }", "    \n     {\"b\": [1         ]  }"),
            ("{\"a\": \"// no \\\" // comment\" } // b", "{\"a\": \"// no \\\" // comment\" }     "),
            ("{\"a\": 1// b\n}", "{\"a\": 1    \n}"),
            ("\u{feff}{\"a\": 1}", "{\"a\": 1}"),
            ("\u{feff}a: 1", "a: 1"),
        ] {
            assert_eq!(String::from_utf8_lossy(&plain(text.as_bytes())), expected);
        }
        for text in
            ["{$id: https://example.com/a, b: 1}", "{\"a\": \"http://b\"}", "a: 1 // b", "{\"a\": 1,}", "{/*", "\"//"]
        {
            let plain = plain(text.as_bytes());
            assert!(*plain == *text.as_bytes() || text == "{/*", "{text}");
        }
    }
}
