//! Rewrites patterns so that the validator reads them as ECMA-262 does.
//!
//! The validator passes patterns with look-arounds or back-references unchanged to an engine in
//! which `\d`, `\w` and `\b` apply to all scripts, `\s` matches other white space, and `\<` is the
//! beginning of a word. It refuses what ECMA-262 accepts without the `u` flag: a hyphen after such
//! a class, as in `[\w-.]`, braces and brackets that open or close nothing, and escaped surrogates.
//! It accepts a second quantifier, as in `a{2}{3}` or `a++`, which is a syntax error in ECMA-262.

use std::borrow::Cow;

use jsonschema_regex::is_valid_ecma_regex;
use serde_json::{Map, Value};

use super::rewriting;

/// Returns a pattern that the validator reads as ECMA-262 reads `pattern`.
pub fn pattern(pattern: &str) -> Cow<'_, str> {
    if !pattern.contains(['\\', '{', '}', ']', '*', '+', '?']) {
        return Cow::Borrowed(pattern);
    }
    if repeats_repetition(pattern) {
        // An open group is refused everywhere.
        return Cow::Owned(format!("{pattern}("));
    }
    let mut written = rewritten(pattern);
    if refers_by_name(pattern) {
        // The validator passes patterns that begin like this to an engine that knows `\k<name>`.
        written.insert_str(0, "(?=)");
    }
    if written == pattern { Cow::Borrowed(pattern) } else { Cow::Owned(written) }
}

/// Returns whether ECMA-262 accepts a pattern, with or without the `u` flag. The validator also accepts Rust's syntax.
pub fn is_valid(pattern: &str) -> bool {
    is_valid_ecma_regex(pattern) || is_valid_ecma_regex(&self::pattern(pattern))
}

/// Returns what to write instead of syntax that is not part of ECMA-262.
pub(super) fn instead_of(pattern: &str) -> &'static str {
    if pattern.starts_with("(?i)") {
        "write both cases, as in \"[aA]\""
    } else if pattern.contains(r"\A") {
        r#"write "^" instead of "\A""#
    } else if pattern.contains(r"\z") || pattern.contains(r"\Z") {
        r#"write "$" instead of "\z""#
    } else if pattern.contains("(?P<") {
        r#"write "(?<name>" instead of "(?P<name>""#
    } else {
        "write it in the syntax of ECMA-262 with the flag \"u\""
    }
}

fn rewritten(pattern: &str) -> String {
    let mut written = String::with_capacity(pattern.len() + 16);
    let mut letters = pattern.chars().peekable();
    let (mut in_class, mut opened) = (false, 0);
    let looks_around = looks_around(pattern);
    while let Some(letter) = letters.next() {
        match letter {
            '[' if !in_class && is_empty_class(letters.clone()) => {
                let is_any = letters.next() == Some('^');
                letters.next_if(|_| is_any);
                // Elsewhere, `[]a]` is a single class. Leave it unchanged, so that it is refused.
                if letters.clone().find(|letter| matches!(letter, '[' | ']')) == Some(']') {
                    return pattern.to_owned();
                }
                written.push_str(if is_any { r"[\s\S]" } else { r"[^\s\S]" });
            }
            '[' if !in_class => {
                in_class = true;
                written.push('[');
                written.extend(letters.next_if_eq(&'^'));
                opened = written.len();
            }
            ']' if in_class => {
                in_class = false;
                close_class(&mut written, opened);
            }
            '\\' if is_lone_surrogate(letters.clone()) => {
                letters.nth("uD800".len() - 1);
                lone_surrogate(in_class, &mut letters, &mut written);
            }
            // `{,3}` is text in ECMA-262 and a quantifier elsewhere, so the validator may refuse it.
            '{' if !in_class && (is_quantifier(letters.clone()) || letters.peek() == Some(&',')) => {
                written.push('{');
                copy_braces(&mut letters, &mut written);
            }
            '{' | '}' | ']' if !in_class => written.extend(['\\', letter]),
            '\\' => {
                let Some(escaped) = letters.next() else {
                    written.push('\\');
                    break;
                };
                match class(escaped, in_class).filter(|_| looks_around) {
                    Some(class) => written.push_str(&class),
                    None => escape(escaped, in_class, &mut letters, &mut written),
                }
                let is_class = in_class && "dDwWsS".contains(escaped);
                if is_class && letters.peek() == Some(&'-') {
                    letters.next();
                    written.push_str(if letters.peek() == Some(&']') { "-" } else { "\\-" });
                }
            }
            other => written.push(other),
        }
    }
    written
}

type Letters<'p> = std::iter::Peekable<std::str::Chars<'p>>;

/// Returns whether the class that was just opened contains no characters: `[]`, or `[^]` for any.
fn is_empty_class(mut letters: Letters<'_>) -> bool {
    letters.next_if_eq(&'^');
    letters.next() == Some(']')
}

/// `\b` in ECMA-262: a word is on one side only. Its characters are those of `\w`.
const BOUNDARY: &str = "(?:(?<=[A-Za-z0-9_])(?![A-Za-z0-9_])|(?<![A-Za-z0-9_])(?=[A-Za-z0-9_]))";
/// `\B` in ECMA-262.
const NO_BOUNDARY: &str = "(?:(?<=[A-Za-z0-9_])(?=[A-Za-z0-9_])|(?<![A-Za-z0-9_])(?![A-Za-z0-9_]))";

/// Writes an escape as the validator understands it.
fn escape(escaped: char, in_class: bool, letters: &mut Letters<'_>, written: &mut String) {
    let character = if escaped == 'u' { surrogates(letters.clone()) } else { None };
    if let Some(character) = character {
        letters.nth(r"D83D\uDE00".len() - 1);
        written.push_str(&format!("\\u{{{:X}}}", u32::from(character)));
        return;
    }
    match escaped {
        // The validator reads them as the beginning and the end of a word.
        '<' | '>' => written.push(escaped),
        'b' if !in_class => written.push_str(BOUNDARY),
        'B' if !in_class => written.push_str(NO_BOUNDARY),
        '0' if !letters.peek().is_some_and(char::is_ascii_digit) => written.push_str("\\x00"),
        'b' if in_class => written.push_str("\\x08"),
        _ => {
            written.extend(['\\', escaped]);
            if "pPux".contains(escaped) && letters.peek() == Some(&'{') {
                copy_braces(letters, written);
            }
        }
    }
}

/// Copies everything up to and including a closing brace.
fn copy_braces(letters: &mut Letters<'_>, written: &mut String) {
    for letter in letters {
        written.push(letter);
        if letter == '}' {
            break;
        }
    }
}

/// Returns the character that two escaped surrogates stand for. The first `\u` was already read.
fn surrogates(mut letters: Letters<'_>) -> Option<char> {
    let unit = |letters: &mut Letters<'_>| {
        let digits: String = letters.by_ref().take(4).collect();
        u16::from_str_radix(&digits, 16).ok().filter(|_| digits.len() == 4)
    };
    let high = unit(&mut letters)?;
    let is_pair = letters.next() == Some('\\') && letters.next() == Some('u');
    let low = unit(&mut letters).filter(|_| is_pair)?;
    char::decode_utf16([high, low]).next()?.ok().filter(|character| u32::from(*character) > 0xFFFF)
}

/// Returns whether the escape of a surrogate without its other half follows a backslash.
fn is_lone_surrogate(mut letters: Letters<'_>) -> bool {
    let is_escape = letters.next() == Some('u');
    let digits: String = letters.clone().take(4).collect();
    let unit = u16::from_str_radix(&digits, 16).ok().filter(|_| is_escape && digits.len() == 4);
    unit.is_some_and(|unit| (0xD800..0xE000).contains(&unit)) && surrogates(letters).is_none()
}

/// Replaces the escape of a lone surrogate, which no text contains: by a class that matches nothing or, within a class,
/// by nothing or the nearest character if it limits a range.
fn lone_surrogate(in_class: bool, letters: &mut Letters<'_>, written: &mut String) {
    if !in_class {
        written.push_str(r"[^\s\S]");
        return;
    }
    let is_text = ["\\-", "[-", "[^-"].iter().any(|hyphen| written.ends_with(hyphen));
    if written.ends_with('-') && !is_text {
        written.push_str(r"\uD7FF");
        return;
    }
    let mut after = letters.clone();
    if after.next() != Some('-') || after.peek() == Some(&']') {
        return;
    }
    if after.next() == Some('\\') && is_lone_surrogate(after) {
        letters.nth(r"-\uD800".len() - 1);
    } else {
        written.push_str(r"\uE000");
    }
}

/// Closes a class. It has become empty if nothing was written since it was opened.
fn close_class(written: &mut String, opened: usize) {
    if written.len() > opened {
        written.push(']');
    } else if written.ends_with('^') {
        written.replace_range(opened - "[^".len().., r"[\s\S]");
    } else {
        written.replace_range(opened - "[".len().., r"[^\s\S]");
    }
}

/// Returns whether a quantifier such as `{2,3}` follows its opening brace.
fn is_quantifier(mut letters: Letters<'_>) -> bool {
    let mut digits = 0;
    while letters.next_if(char::is_ascii_digit).is_some() {
        digits += 1;
    }
    if letters.next_if_eq(&',').is_some() {
        while letters.next_if(char::is_ascii_digit).is_some() {}
    }
    digits > 0 && letters.next() == Some('}')
}

/// Returns whether a quantifier follows another one, as in `a?{2}` or `a++`. After the first, `?` makes it lazy.
pub fn repeats_repetition(pattern: &str) -> bool {
    let mut letters = pattern.chars().peekable();
    let (mut in_class, mut quantifiers) = (false, 0);
    while let Some(letter) = letters.next() {
        let repeats =
            !in_class && (matches!(letter, '*' | '+' | '?') || letter == '{' && is_quantifier(letters.clone()));
        if repeats && letter == '{' {
            letters.by_ref().find(|letter| *letter == '}');
        }
        if repeats && quantifiers > usize::from(letter == '?') {
            return true;
        }
        match letter {
            '[' => in_class = true,
            ']' => in_class = false,
            '\\' => {
                let has_braces = letters.next().is_some_and(|escaped| "pPux".contains(escaped));
                if has_braces && letters.next_if_eq(&'{').is_some() {
                    letters.by_ref().find(|letter| *letter == '}');
                }
            }
            // The question mark of a group quantifies nothing.
            '(' if !in_class => drop(letters.next_if_eq(&'?')),
            _ => {}
        }
        quantifiers = if repeats { quantifiers + 1 } else { 0 };
    }
    false
}

/// Returns whether the rewritten pattern has look-arounds or back-references, so the validator does not translate it.
pub fn looks_around(pattern: &str) -> bool {
    let (mut is_escaped, mut in_class) = (false, false);
    pattern.char_indices().any(|(at, letter)| {
        let rest = &pattern[at..];
        in_class = if is_escaped { in_class } else { letter == '[' || in_class && letter != ']' };
        let found = match letter {
            _ if is_escaped => matches!(letter, '1'..='9' | 'k') || matches!(letter, 'b' | 'B') && !in_class,
            '(' => ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|look| rest.starts_with(look)),
            _ => false,
        };
        is_escaped = letter == '\\' && !is_escaped;
        found
    })
}

/// Returns whether a pattern has a back-reference such as `\k<name>`.
fn refers_by_name(pattern: &str) -> bool {
    let mut is_escaped = false;
    pattern.char_indices().any(|(at, letter)| {
        let found = is_escaped && pattern[at..].starts_with("k<");
        is_escaped = letter == '\\' && !is_escaped;
        found
    })
}

/// The characters of `\d`, `\w` and `\s` in ECMA-262, and all others, as ranges.
const CLASSES: [(char, &str, &str); 3] = [
    ('d', "0-9", r"\x00-\x2F\x3A-\u{10FFFF}"),
    ('w', "A-Za-z0-9_", r"\x00-\x2F\x3A-\x40\x5B-\x5E\x60\x7B-\u{10FFFF}"),
    (
        's',
        r"\x09-\x0D\x20\xA0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF",
        r"\x00-\x08\x0E-\x1F\x21-\x9F\xA1-\u167F\u1681-\u1FFF\u200B-\u2027\u202A-\u202E\u2030-\u205E\u2060-\u2FFF\u3001-\uFEFE\uFF00-\u{10FFFF}",
    ),
];

/// Returns the characters of `\d` and similar, within brackets or with their own.
fn class(letter: char, in_class: bool) -> Option<String> {
    let (_, all, others) = CLASSES.into_iter().find(|(name, ..)| *name == letter.to_ascii_lowercase())?;
    Some(match (letter.is_ascii_uppercase(), in_class) {
        (true, false) => format!("[^{all}]"),
        (true, true) => others.to_owned(),
        (false, true) => all.to_owned(),
        (false, false) => format!("[{all}]"),
    })
}

/// Returns a schema with all patterns rewritten. It is borrowed if none changes.
pub fn patterns(schema: &Value) -> Cow<'_, Value> {
    rewriting::rewritten(schema, &needs, &rewrite)
}

fn needs(schema: &Map<String, Value>) -> bool {
    let changes = |text: &str| matches!(pattern(text), Cow::Owned(_));
    let named = schema.get("patternProperties").and_then(Value::as_object);
    schema.get("pattern").and_then(Value::as_str).is_some_and(changes)
        || named.is_some_and(|named| named.keys().any(|name| changes(name)))
}

fn rewrite(schema: &mut Map<String, Value>) {
    if let Some(Value::String(text)) = schema.get_mut("pattern") {
        *text = pattern(text).into_owned();
    }
    if let Some(Value::Object(named)) = schema.get_mut("patternProperties") {
        *named = std::mem::take(named).into_iter().map(|(name, part)| (pattern(&name).into_owned(), part)).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_patterns_that_the_validator_misreads_are_rewritten() {
        for (written, expected) in [
            (r"^\d+$", r"^\d+$"),
            (r"^(?!a)\d[\w-]\D$", r"^(?!a)[0-9][A-Za-z0-9_-][^0-9]$"),
            (r"^[\w-.]+$", r"^[\w\-.]+$"),
            (r"^[^\d-x]$", r"^[^\d\-x]$"),
            (r"^[a-z]\w-\d$", r"^[a-z]\w-\d$"),
            (r"^(a)\1\W$", r"^(a)\1[^A-Za-z0-9_]$"),
            (r"^\(?=\d$", r"^\(?=\d$"),
            (r"\\d(?=a)", r"\\d(?=a)"),
            (r"(?<year>\d)", r"(?<year>\d)"),
            (r"^(?<q>['`]).*\k<q>$", r"(?=)^(?<q>['`]).*\k<q>$"),
            (r"\\k<", r"\\k<"),
            (r"(?!a)[\d\D\]]\d", r"(?!a)[0-9\x00-\x2F\x3A-\u{10FFFF}\]][0-9]"),
            (r"^\<[^\>]+\>$", r"^<[^>]+>$"),
            (r"^\$\{[a-z]+}$", r"^\$\{[a-z]+\}$"),
            (r"^{a}]$", r"^\{a\}\]$"),
            (r"^a{2}b{1,}c{0,3}$", r"^a{2}b{1,}c{0,3}$"),
            (r"^a{,3}$", r"^a{,3}$"),
            (r"^[{}]\p{L}\u{1F600}\\{$", r"^[{}]\p{L}\u{1F600}\\\{$"),
            (r"^\uD83D\uDE00[\ud83d\ude00]\u00e9\ud83d$", r"^\u{1F600}[\u{1F600}]\u00e9[^\s\S]$"),
            (r"^[ -\uD7FF\uD800\uDBFF-\uDC00\uDFFF\r]*$", r"^[ -\uD7FF\r]*$"),
            (r"[\u0020-\uDBFF][\uDC00-\uFFFF][a\uD800-]", r"[\u0020-\uD7FF][\uE000-\uFFFF][a-]"),
            (r"[\uD800-\uDFFF][^\uD800-\uDFFF]\[\uD800]", r"[^\s\S][\s\S]\[[^\s\S]\]"),
            (
                r"^(?!a)[^\W_]\s[\S]$",
                concat!(
                    r"^(?!a)[^\x00-\x2F\x3A-\x40\x5B-\x5E\x60\x7B-\u{10FFFF}_]",
                    r"[\x09-\x0D\x20\xA0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000\uFEFF]",
                    r"[\x00-\x08\x0E-\x1F\x21-\x9F\xA1-\u167F\u1681-\u1FFF\u200B-\u2027\u202A-\u202E\u2030-\u205E\u2060-\u2FFF",
                    r"\u3001-\uFEFE\uFF00-\u{10FFFF}]$",
                ),
            ),
            (r"^[^][]$", r"^[\s\S][^\s\S]$"),
            (r"^[[]\[[x[][^[][^{}[][[\uD800]$", r"^[[]\[[x[][^[][^{}[][[]$"),
            (r"^[^]]\<$", r"^[^]]\<$"),
            (r"^[\b]\0\01$", r"^[\x08]\x00\01$"),
        ] {
            assert_eq!(pattern(written), expected, "{written}");
        }
    }

    #[test]
    fn quantifier_of_a_quantifier_is_refused() {
        for refused in
            [r"^a{2}{3}$", r"a?{2}", r"a*{2,}", r"(?:a+){1}{2}", r"\}+{2}", r"[{2}]?{3}", "a++", "a{2}+", "a**", "a+??"]
        {
            assert!(jsonschema::validator_for(&json!({"pattern": pattern(refused)})).is_err(), "{refused}");
        }
        for accepted in [
            r"^\u{61}{2}\p{L}{3}$",
            r"^(?:a{2}){3}$",
            r"a{2}?",
            r"a??b{2}",
            "(?:a+)+b+?",
            "[a+]+",
            r"[?{2}]",
            r"\?{2}",
            r"(?:{2})?",
            r"a{2}b{3}",
            r"{2}",
        ] {
            assert!(!repeats_repetition(accepted), "{accepted}");
        }
    }

    /// The answers are those of other implementations of ECMA-262.
    #[test]
    fn classes_and_boundaries_are_those_of_ecma_262() {
        for (text, value, is_valid) in [
            (r"^(?!x)[^\W_]+$", "é", false),
            (r"^(?=.*[\W_]).{2}$", "aé", true),
            (r"^(?!\s*$)", "\u{FEFF}", false),
            (r"^(?!\s*$)", "\u{85}", true),
            (r"(?=a)[\S]\s", "a\u{3000}", true),
            (r"\bcafé\b", "café", false),
            (r"\bcaf\b", "café", true),
            (r"é\Bà", "éà", true),
        ] {
            let validator = jsonschema::validator_for(&json!({"pattern": pattern(text)})).unwrap();
            assert_eq!(validator.is_valid(&json!(value)), is_valid, "{text} {value:?}");
        }
    }

    #[test]
    fn patterns_are_read_as_in_ecma_262() {
        let schema = json!({"pattern": r"^(?=.)[\w-.]\s?$", "enum": [{"pattern": r"[\w-.]"}],
            "patternProperties": {r"^(?!x)\d$": {"properties": {"pattern": {"pattern": r"[\d-.]"}}}}});
        let found = patterns(&schema);
        assert_eq!(found["enum"], schema["enum"]);
        assert_eq!(found["patternProperties"]["^(?!x)[0-9]$"]["properties"]["pattern"]["pattern"], r"[\d\-.]");
        let validator = jsonschema::validator_for(&json!({"pattern": found["pattern"]})).unwrap();
        for (text, is_valid) in
            [("a", true), ("-", true), (".\u{2003}", true), ("-٠", false), ("٠", false), ("é", false)]
        {
            assert_eq!(validator.is_valid(&json!(text)), is_valid, "{text}");
        }
    }
}
