//! How much an answer weighs. A client gets each answer twice in one message, as data and as text,
//! and some clients cut or refuse what is longer than they like.

use crate::surface::cli::text::is_harmful;

/// The longest message.
pub const MAX_MESSAGE: usize = 46_080;
/// What a message may weigh besides the answer itself.
pub const ENVELOPE: usize = 512;
/// What is kept free of an answer for what is told beside it.
pub const BESIDE: usize = 12_000;
/// The most that an answer itself may weigh.
pub const MAX_BODY: usize = MAX_MESSAGE - ENVELOPE - BESIDE;

/// Returns how many bytes of a message this piece of JSON takes, both times.
pub fn weight(json: &str) -> usize {
    let as_text = |c: char| match c {
        '"' | '\\' => 2,
        // Spelled out, and its backslash escaped.
        c if is_harmful(c) => 7,
        c => c.len_utf8(),
    };
    json.len() + json.chars().map(as_text).sum::<usize>()
}

/// Returns JSON in which whatever a terminal would obey is spelled out, which changes no value.
pub fn harmless(json: &str) -> String {
    if !json.contains(is_harmful) {
        return json.to_owned();
    }
    let mut safe = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_harmful(c) {
            let mut units = [0; 2];
            safe.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            safe.push(c);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_what_both_copies_take(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            let copy = harmless(&json);
            prop_assert!(!copy.contains(is_harmful));
            prop_assert_eq!(&serde_json::from_str::<String>(&copy).unwrap(), &text);
            let quoted = serde_json::to_string(&copy).unwrap();
            prop_assert_eq!(weight(&json), json.len() + quoted.len() - 2);
        }
    }
}
