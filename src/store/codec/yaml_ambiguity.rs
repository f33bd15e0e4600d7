//! Finds scalars that YAML 1.1 and 1.2 read differently, because other programs that read contracts may use either:
//! `no` may be false, `0755` is 493 or 755, `1:30` is 90. Such a scalar must be quoted, and numbers must be written as
//! in JSON.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_saphyr::Spanned;

use super::Problem;

/// A document, reduced to the locations of its scalars.
pub(super) enum Node {
    Scalar,
    Inner(Vec<Spanned<Node>>),
}

/// Returns whether no word of a text can be an ambiguous scalar, whatever its context. If so, the scalars need not be
/// located, which takes longer than parsing the document. Texts with tags are left to the parser.
pub(super) fn is_plain(text: &str) -> bool {
    let ends_word = |c: char| c.is_whitespace() || matches!(c, ',' | '[' | ']' | '{' | '}' | '\u{feff}');
    !text.contains('!') && text.split(ends_word).all(is_plain_word)
}

/// Returns whether no part of a word between colons can be an ambiguous scalar: a colon after a quoted key needs no
/// space.
fn is_plain_word(word: &str) -> bool {
    let is_plain = |part: &str| complaint(part).is_none() && !is_non_finite(part);
    let starts = || std::iter::once(0).chain(word.match_indices(':').map(|(at, _)| at + 1));
    let ends = || word.match_indices(':').map(|(at, _)| at).chain(std::iter::once(word.len()));
    // A word with many colons is left to the parser.
    starts().take(5).count() < 5
        && starts().all(|start| ends().filter(|end| *end > start).all(|end| is_plain(&word[start..end])))
}

fn is_non_finite(part: &str) -> bool {
    let part = part.trim_start_matches(['+', '-']);
    [".inf", ".nan"].iter().any(|word| part.eq_ignore_ascii_case(word))
}

/// Returns a problem for the first ambiguous scalar.
pub(super) fn find(text: &str, node: &Spanned<Node>) -> Option<Problem> {
    find_after(text, node, &mut 0)
}

/// Returns a problem for the first ambiguous scalar. `end` is the end of the scalar before this node, and becomes the
/// end of the last scalar in it.
fn find_after(text: &str, node: &Spanned<Node>, end: &mut usize) -> Option<Problem> {
    match &node.value {
        Node::Inner(children) => children.iter().find_map(|child| find_after(text, child, end)),
        Node::Scalar => {
            let place = node.referenced;
            let (start, length) = (place.span().byte_offset()?, place.span().byte_len()?);
            let (start, length) = (usize::try_from(start).ok()?, usize::try_from(length).ok()?);
            let written = text.get(start..start.checked_add(length)?)?.trim_end();
            let before = text.get(*end..start).unwrap_or_default();
            *end = (*end).max(start + written.len());
            let message = if is_binary(before) {
                complaint(BINARY)?
            } else {
                complaint(written).filter(|_| !is_block(before))?
            };
            let number = |number: u64| u32::try_from(number).ok();
            Some(Problem { line: number(place.line()), column: number(place.column()), ..Problem::whole(message) })
        }
    }
}

/// The tag of base64 text. The parser would decode it, and other parsers return bytes, which JSON does not have.
const BINARY: &str = "!!binary";

/// Returns whether the text between two scalars contains the tag of base64 text, outside of comments.
fn is_binary(between: &str) -> bool {
    between.lines().any(|line| line.split('#').next().is_some_and(|line| line.contains(BINARY)))
}

/// Returns whether the text between two scalars makes the second a block scalar (`|`, `>-`), which is always a string.
fn is_block(between: &str) -> bool {
    let head = between.trim_end();
    let line = head.lines().next_back().unwrap_or_default();
    let line = line.split(" #").next().unwrap_or_default().trim_end();
    let last = line.rsplit([' ', '\t']).next().unwrap_or_default();
    let header = last.strip_prefix(['|', '>']);
    between[head.len()..].contains('\n')
        && header.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit() || c == '+' || c == '-'))
}

fn complaint(written: &str) -> Option<String> {
    if written.starts_with(BINARY) {
        return Some(format!("the tag {BINARY} is not allowed; write a string in quotes"));
    }
    if ["yes", "no", "on", "off"].iter().any(|word| written.eq_ignore_ascii_case(word)) {
        return Some(format!(
            "some YAML parsers read {written} as a boolean, others as a string; write \"{written}\", true or false"
        ));
    }
    if is_number_somewhere(written) && !is_json_number(written) {
        return Some(format!("YAML parsers disagree on the number {written}; write it in quotes, or as in JSON"));
    }
    None
}

/// Returns whether any YAML version reads this as a number, including `_` between digits, other bases, and base 60.
fn is_number_somewhere(written: &str) -> bool {
    let rest = written.strip_prefix(['+', '-']).unwrap_or(written);
    if !rest.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return false;
    }
    let of = |text: &str, digits: &str| {
        text.contains(|c: char| c.is_ascii_digit()) && text.chars().all(|c| c == '_' || digits.contains(c))
    };
    for (prefix, digits) in [("0x", "0123456789abcdefABCDEF"), ("0o", "01234567"), ("0b", "01")] {
        if let Some(digits_of) = rest.strip_prefix(prefix) {
            return !digits_of.is_empty() && digits_of.chars().all(|c| c == '_' || digits.contains(c));
        }
    }
    if let Some((first, sixties)) = rest.split_once(':') {
        let (sixties, fraction) = sixties.split_once('.').unwrap_or((sixties, "0"));
        let is_sixtieth = |part: &str| part.len() <= 2 && part.parse::<u8>().is_ok_and(|number| number < 60);
        return of(first, "0123456789") && of(fraction, "0123456789") && sixties.split(':').all(is_sixtieth);
    }
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    of(mantissa, "0123456789.") && mantissa.matches('.').count() <= 1 && of(exponent, "0123456789")
}

fn is_json_number(written: &str) -> bool {
    serde_json::from_str::<serde_json::Number>(written).is_ok()
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Nodes)
    }
}

struct Nodes;

impl<'de> Visitor<'de> for Nodes {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    scalar_visits!(Node::Scalar);

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut found = Vec::new();
        while let Some(node) = seq.next_element()? {
            found.push(node);
        }
        Ok(Node::Inner(found))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut found = Vec::new();
        while let Some((key, value)) = map.next_entry()? {
            found.extend([key, value]);
        }
        Ok(Node::Inner(found))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::{
        model::json::Json,
        store::codec::{self, yaml},
    };

    proptest! {
        /// Text that `is_plain` accepts has no ambiguous scalar.
        #[test]
        fn what_is_plain_holds_nothing_ambiguous(text in "(a|no|on|1|0|7|:|,| |\\{|\\}|\\[|\\]|\"|'|-|\n|x: |#|_|\\.|e|[|]){0,16}") {
            let options = yaml::strict(yaml::WRITTEN);
            if super::is_plain(&text)
                && let Ok(nodes) = serde_saphyr::from_str_with_options(&text, options)
            {
                prop_assert!(super::find(&text, &nodes).is_none(), "{text:?}");
            }
        }
    }

    #[test]
    fn most_documents_are_plain() {
        let text = "name: paths\nversion: \"1.0.0\"\nschema: { type: string, maxLength: 3 }\nvalue: [a, -1, 2.5]\n";
        assert!(super::is_plain(text));
        for other in ["a: !x 1", "a: .nan", "{\"a\":no}", "a:b:c:d:e:f"] {
            assert!(!super::is_plain(other), "{other}");
        }
    }

    #[test]
    fn ambiguous_scalars_must_be_quoted() {
        let ambiguous = "no Yes ON off 0755 00 08 1_000 0o17 0x1F 0b11 +1 .5 1. 1:30 190:20:30 1:30.5 -0755 +0x10 \
                         1_0.5 1_0e3";
        for plain in ambiguous.split(' ') {
            for text in [format!("a:\n  - {plain}\n"), format!("{{a: {plain}}}"), format!("{plain}: 1\n")] {
                assert!(!super::is_plain(&text), "{text}");
                let problem = codec::value(text.as_bytes()).map(|read| panic!("{text}: {read:?}")).unwrap_err();
                let says = ["YAML parsers", "with quotes"].iter().any(|hint| problem.message.contains(hint));
                assert!(says, "{text}: {problem}");
                assert!(problem.line.is_some() && problem.column.is_some(), "{text}: {problem:?}");
            }
            let written = Json::from(serde_json::json!({plain: [plain]}));
            let rendered = codec::render(&written);
            assert_eq!(codec::value(rendered.as_bytes()), Ok(written), "{rendered}");
            let quoted = format!("[\"{plain}\", '{plain}', \"\u{e9}\"]");
            assert_eq!(codec::value(quoted.as_bytes()).unwrap().value()[1], *plain);
            assert!(codec::value(format!("a: # |\n  {plain}\n").as_bytes()).is_err(), "{plain} is no block");
            for block in ["|", "|-", ">", ">-", "|2-", "| # why"] {
                let text = format!("a: {block}\n  {plain}\nb: 1\n");
                assert!(codec::value(text.as_bytes()).is_ok(), "{text}");
            }
        }
    }

    #[test]
    fn only_tags_are_refused_as_tags() {
        for text in [
            "!!binary aGk=\n",
            "a: !!binary aGk=\n",
            "a: !!binary 'aGk='\n",
            "a: !!binary |\n  aGk=\n",
            "a: !!binary # why\n  aGk=\n",
            "- !!binary aGk=\n",
            "[!!binary aGk=]",
            "[a, !!binary aGk=]",
            "!!binary aGk=: 1\n",
        ] {
            let problem = codec::value(text.as_bytes()).map(|read| panic!("{text}: {read:?}")).unwrap_err();
            assert!(problem.message.contains("!!binary is not allowed"), "{text}: {problem}");
        }
        for text in [
            "[\"the tag !!binary is not allowed\", 5, abc]",
            "['a !!binary', # !!binary\n  abc]",
            "a: 1 # !!binary\n\nb: [c, d]\n",
            "a: b !!binary\nc: d\n",
            "a: |\n  !!binary\nb: c\n",
        ] {
            assert!(codec::value(text.as_bytes()).is_ok(), "{text}: {:?}", codec::value(text.as_bytes()));
        }
        let begun = std::time::Instant::now();
        let long = format!("[\"!!binary\", {}]", "a, ".repeat(50_000));
        assert!(codec::value(long.as_bytes()).is_ok());
        assert!(begun.elapsed() < std::time::Duration::from_secs(30), "{:?}", begun.elapsed());
    }

    #[test]
    fn unambiguous_scalars_need_no_quotes() {
        let unambiguous =
            "0 -1 1.5 1e3 1.5e-3 true ~ null 1.2.3 2026-01-01 y n x note 8080:80 host:80 0xyz 1:2:x e3 _1";
        for plain in unambiguous.split(' ').chain(["1 000"]) {
            let text = format!("a: {plain}\n");
            assert!(codec::value(text.as_bytes()).is_ok(), "{text}");
        }
    }
}
