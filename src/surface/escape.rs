//! Escapes characters that a terminal or page would interpret, reorder or hide.

use std::borrow::Cow;

/// Returns whether a terminal would interpret this character or hide it: control characters, characters that reorder
/// text (UAX #9), and invisible ones (UAX #44, `Default_Ignorable_Code_Point`), which only programs would read. This
/// includes all characters that XML excludes.
pub fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0e}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}'..='\u{ffff}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Returns JSON with all harmful characters escaped, which changes no value. Outside of strings, the only control
/// character in JSON is the line end, which stays.
pub fn escape_in_json(json: &str) -> String {
    let mut safe = String::with_capacity(json.len() + 1);
    // Nearly every answer is printable ASCII, which is quick to test.
    if json.bytes().all(|byte| matches!(byte, b'\n' | b' '..=b'~')) {
        safe.push_str(json);
        return safe;
    }
    for c in json.chars() {
        if is_harmful(c) && c != '\n' {
            let mut units = [0; 2];
            safe.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            safe.push(c);
        }
    }
    safe
}

/// Returns the text without characters that are markup in XML.
pub fn escape_in_xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Returns the text with all harmful characters escaped.
pub fn clean(text: &str) -> Cow<'_, str> {
    // Nearly every word is printable ASCII, which can be tested quickly.
    let is_plain = text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic());
    if is_plain || !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let spell = |c: char| if is_harmful(c) { c.escape_default().to_string() } else { c.to_string() };
    Cow::Owned(text.chars().map(spell).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// XML 1.0, section 2.2.
    #[test]
    fn characters_that_xml_excludes_are_escaped() {
        let is_in_xml = |c: char| {
            let rest = matches!(c, ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
            rest || matches!(c, '\t' | '\n' | '\r')
        };
        for c in ('\0'..=char::MAX).filter(|c| !is_in_xml(*c)) {
            assert!(is_harmful(c), "{c:?}");
        }
    }
}
