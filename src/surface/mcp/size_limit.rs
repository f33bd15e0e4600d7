//! The size limit of messages. Each answer is in a message twice, as data and as text, and some clients cut or refuse
//! long messages.

use crate::surface::escape::is_harmful;

/// The maximum size of a message, in bytes.
pub const MAX_MESSAGE: usize = 46_080;
/// The number of bytes that are reserved for the message around the answer.
pub const ENVELOPE: usize = 512;
/// The number of bytes that are reserved for notifications.
pub const NOTIFICATIONS: usize = 12_000;
/// The maximum number of bytes that an answer takes in a message.
pub const MAX_BODY: usize = MAX_MESSAGE - ENVELOPE - NOTIFICATIONS;

/// Returns the bytes that this JSON takes in a message, as data and as text together.
pub fn message_bytes(json: &str) -> usize {
    if is_plain(json) {
        return 2 * json.len() + json.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count();
    }
    let as_text = |c: char| match c {
        '"' | '\\' => 2,
        // Each unit of UTF-16 is written as `\uXXXX`, and its backslash is escaped in the text.
        c if is_harmful(c) => 7 * c.len_utf16(),
        c => c.len_utf8(),
    };
    json.len() + json.chars().map(as_text).sum::<usize>()
}

/// Returns whether a text is printable ASCII, which is quick to test and contains nothing harmful. Most texts are.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::escape::escape_in_json;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_bytes_are_those_of_both_copies(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            let copy = escape_in_json(&json);
            prop_assert!(!copy.contains(is_harmful));
            prop_assert_eq!(&serde_json::from_str::<String>(&copy).unwrap(), &text);
            let quoted = serde_json::to_string(&copy).unwrap();
            prop_assert_eq!(message_bytes(&json), json.len() + quoted.len() - 2);
        }
    }
}
