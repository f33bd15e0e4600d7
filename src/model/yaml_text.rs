//! Edits one place of a YAML file that a user wrote, preserving comments, order, indentation and line endings.
//!
//! This module understands the usual layouts of a mapping of scalars and lists, not all of YAML. It changes nothing in
//! a layout that it cannot parse. Callers parse the result and compare it with what they wanted.

use std::ops::Range;

/// A field of an item: its key, and its value as YAML.
pub type Field<'a> = (&'a str, String);

/// Returns the text with a scalar of the top-level mapping replaced.
pub fn set(text: &str, key: &str, scalar: &str) -> Option<String> {
    let line = find_key(&lines(text), key)?;
    let at = value_start(text, line.start + key.len() + 1)?;
    let end = scalar_end(text, at, false)?;
    Some(replaced(text, at..end, scalar))
}

/// Returns the text with a scalar in an item of a list replaced or added.
pub fn set_in_item(text: &str, list: &str, index: usize, field: &Field<'_>) -> Option<String> {
    let (key, scalar) = field;
    let item = find_list(text, list)?.items.get(index)?.clone();
    match find_in_item(text, &item, key) {
        Some(place) => Some(replaced(text, place, scalar)),
        None => add_to_item(text, &item, field),
    }
}

/// Returns the text with a field appended to a mapping within the top-level one.
pub fn add_below(text: &str, key: &str, field: &Field<'_>) -> Option<String> {
    let all = lines(text);
    let at = all.iter().position(|line| is_key(line.text, key))?;
    let behind = all[at].start + key.len() + 1;
    if let Some(open) = value_start(text, behind).filter(|open| text[*open..].starts_with('{')) {
        let last = scan_flow(text, open)?.0.pop()?;
        return Some(replaced(text, last.end..last.end, &format!(", {}: {}", field.0, field.1)));
    }
    let below = all[at + 1..].iter().take_while(|line| line.is_empty() || line.indent() > 0);
    let last = below.filter(|line| !line.is_empty() && !line.is_comment()).last()?;
    let first = all[at + 1..].iter().find(|line| !line.is_empty() && !line.is_comment())?;
    let newline = newline(text);
    let gap = if text[..last.end].ends_with('\n') { "" } else { newline };
    let line = format!("{gap}{}{}: {}{newline}", " ".repeat(first.indent()), field.0, field.1);
    Some(replaced(text, last.end..last.end, &line))
}

/// Returns the text with an item appended to a list, which is created if it is missing.
pub fn push(text: &str, list: &str, fields: &[Field<'_>]) -> Option<String> {
    let newline = newline(text);
    if find_key(&lines(text), list).is_none() {
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
        return Some(format!("{text}{gap}{list}:{newline}{}", block_item("  ", fields, newline)));
    }
    let Some(found) = find_list(text, list) else {
        // The key has no value; if it has one, the caller notices it.
        let key = find_key(&lines(text), list)?;
        let gap = if text[..key.end].ends_with('\n') { "" } else { newline };
        return Some(replaced(text, key.end..key.end, &format!("{gap}{}", block_item("  ", fields, newline))));
    };
    match &found.style {
        Style::Flow { open } => {
            let item = flow_item(fields);
            let (at, item) = match found.items.last() {
                Some(last) => (last.end, format!(", {item}")),
                None => (open + 1, item),
            };
            Some(replaced(text, at..at, &item))
        }
        Style::Block { indent } => {
            let last = found.items.last()?;
            let indent = " ".repeat(*indent);
            let is_flow = text[last.clone()].trim_start()[1..].trim_start().starts_with('{');
            let item = if is_flow {
                format!("{indent}- {}{newline}", flow_item(fields))
            } else {
                block_item(&indent, fields, newline)
            };
            let gap = if text[last.clone()].ends_with('\n') { "" } else { newline };
            Some(replaced(text, last.end..last.end, &format!("{gap}{item}")))
        }
    }
}

/// Returns the text without an item of a list, and without the list if it becomes empty.
pub fn remove(text: &str, list: &str, index: usize) -> Option<String> {
    let found = find_list(text, list)?;
    let item = found.items.get(index)?.clone();
    if found.items.len() == 1 {
        let key = find_key(&lines(text), list)?;
        let end = match &found.style {
            Style::Flow { open } => line_end(text, scan_flow(text, *open)?.1),
            Style::Block { .. } => item.end,
        };
        let kept = text.get(key.end..item.start).unwrap_or_default();
        let comments: String = kept.split_inclusive('\n').filter(|line| line.trim().starts_with('#')).collect();
        return Some(format!("{}{comments}{}", &text[..key.start], &text[end..]));
    }
    let place = match (&found.style, found.items.get(index + 1)) {
        (Style::Block { .. }, _) => item,
        (Style::Flow { .. }, Some(next)) => item.start..next.start,
        (Style::Flow { .. }, None) => found.items[index - 1].end..item.end,
    };
    Some(replaced(text, place, ""))
}

/// Returns a string as a double-quoted YAML scalar, which is the same as a JSON string.
pub fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns strings as a YAML list in brackets, each as in [`plain`].
pub fn plain_list(texts: &[String]) -> String {
    let texts: Vec<_> = texts.iter().map(|text| plain(text)).collect();
    format!("[{}]", texts.join(", "))
}

/// Returns a string as a YAML scalar, quoted only if needed.
pub fn plain(text: &str) -> String {
    let is_word = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
    let begins = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let ends = text.ends_with(|c: char| c.is_ascii_alphanumeric());
    let is_other = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_plain = begins && ends && is_word(text) && !is_other.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is_plain { text.to_owned() } else { quoted(text) }
}

/// A line of the text, without its line ending.
#[derive(Debug, Clone, Copy)]
struct Line<'a> {
    text: &'a str,
    start: usize,
    /// The offset of the next line.
    end: usize,
}

impl Line<'_> {
    fn indent(&self) -> usize {
        self.text.len() - self.text.trim_start_matches(' ').len()
    }

    fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    fn is_comment(&self) -> bool {
        self.text.trim_start().starts_with('#')
    }

    fn is_item(&self) -> bool {
        let rest = self.text.trim_start();
        rest == "-" || rest.starts_with("- ")
    }
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let mut start = 0;
    let mut found = Vec::new();
    for whole in text.split_inclusive('\n') {
        let end = start + whole.len();
        found.push(Line { text: whole.trim_end_matches(['\n', '\r']), start, end });
        start = end;
    }
    found
}

fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn replaced(text: &str, place: Range<usize>, new: &str) -> String {
    format!("{}{new}{}", &text[..place.start], &text[place.end..])
}

fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |newline| at + newline + 1)
}

fn find_key<'a>(lines: &[Line<'a>], key: &str) -> Option<Line<'a>> {
    lines.iter().find(|line| is_key(line.text, key)).copied()
}

/// Returns whether the text starts with this key of a block mapping.
fn is_key(text: &str, key: &str) -> bool {
    let rest = text.strip_prefix(key).and_then(|rest| rest.strip_prefix(':'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// A list within the top-level mapping.
struct List {
    style: Style,
    /// The byte ranges of the items: whole lines in block style, first to last character in flow style.
    items: Vec<Range<usize>>,
}

enum Style {
    Block { indent: usize },
    Flow { open: usize },
}

fn find_list(text: &str, key: &str) -> Option<List> {
    let lines = lines(text);
    let at = lines.iter().position(|line| is_key(line.text, key))?;
    let behind = lines[at].start + key.len() + 1;
    let rest = lines[at].text[key.len() + 1..].trim_start();
    if rest.starts_with('[') {
        let open = value_start(text, behind)?;
        let (items, _) = scan_flow(text, open)?;
        return Some(List { style: Style::Flow { open }, items });
    }
    if !rest.is_empty() && !rest.starts_with('#') {
        return None;
    }
    let mut items: Vec<Range<usize>> = Vec::new();
    let mut dash = None;
    for line in lines[at + 1..].iter().filter(|line| !line.is_empty()) {
        match dash {
            None if line.is_comment() => {}
            None if !line.is_item() => return None,
            None => {
                dash = Some(line.indent());
                items.push(line.start..line.end);
            }
            Some(dash) if line.indent() == dash && line.is_item() => items.push(line.start..line.end),
            Some(dash) if line.indent() > dash => items.last_mut()?.end = line.end,
            Some(_) if line.is_comment() => {}
            Some(_) => break,
        }
    }
    Some(List { style: Style::Block { indent: dash? }, items })
}

/// Returns the offset of the value after a colon, if it is on the same line.
fn value_start(text: &str, behind: usize) -> Option<usize> {
    let rest = &text[behind..];
    let at = behind + (rest.len() - rest.trim_start_matches(' ').len());
    text[at..].chars().next().filter(|c| !c.is_whitespace() && *c != '#').map(|_| at)
}

/// Returns the end of the scalar at `at`.
fn scalar_end(text: &str, at: usize, in_flow: bool) -> Option<usize> {
    match text[at..].chars().next()? {
        quote @ ('"' | '\'') => quote_end(text, at, quote),
        '[' | '{' => scan_flow(text, at).map(|(_, close)| close + 1),
        '|' | '>' | '&' | '*' | '!' => None,
        _ => {
            let line = text[at..].lines().next()?;
            let line = line.find(" #").map_or(line, |end| &line[..end]);
            let line = if in_flow { line.find([',', '}', ']']).map_or(line, |end| &line[..end]) } else { line };
            Some(at + line.trim_end().len())
        }
    }
}

fn quote_end(text: &str, at: usize, quote: char) -> Option<usize> {
    let mut characters = text[at + 1..].char_indices().peekable();
    while let Some((index, c)) = characters.next() {
        match c {
            '\\' if quote == '"' => {
                characters.next();
            }
            '\'' if quote == '\'' && characters.peek().is_some_and(|(_, next)| *next == '\'') => {
                characters.next();
            }
            c if c == quote => return Some(at + 1 + index + 1),
            _ => {}
        }
    }
    None
}

/// Returns the items within the bracket or brace at `open`, and the offset of the closing one.
fn scan_flow(text: &str, open: usize) -> Option<(Vec<Range<usize>>, usize)> {
    let mut items = Vec::new();
    let mut first: Option<usize> = None;
    let (mut last, mut depth, mut at) = (open, 0usize, open);
    while at < text.len() {
        let c = text[at..].chars().next()?;
        let mut next = at + c.len_utf8();
        match c {
            '"' | '\'' => next = quote_end(text, at, c)?,
            '#' if text[..at].ends_with([' ', '\n', '\t']) => {
                at = line_end(text, at);
                continue;
            }
            '[' | '{' => depth += 1,
            ']' | '}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    items.extend(first.map(|first| first..last));
                    return Some((items, at));
                }
            }
            ',' if depth == 1 => {
                items.extend(first.take().map(|first| first..last));
                at = next;
                continue;
            }
            _ => {}
        }
        if at > open && !c.is_whitespace() {
            first.get_or_insert(at);
            last = next;
        }
        at = next;
    }
    None
}

/// Returns the range of the value of a key in an item.
fn find_in_item(text: &str, item: &Range<usize>, key: &str) -> Option<Range<usize>> {
    let open = flow_start(text, item);
    if let Some(open) = open {
        let (members, _) = scan_flow(text, open)?;
        let member = members.into_iter().find(|member| is_key(&text[member.clone()], key))?;
        let at = value_start(text, member.start + key.len() + 1)?;
        return Some(at..scalar_end(text, at, true)?);
    }
    let lines = lines(&text[item.clone()]);
    let column = lines.first()?.text.find("- ")? + 2;
    lines.iter().enumerate().find_map(|(index, line)| {
        let at = if index == 0 { column } else { line.indent() };
        let is_ours = at == column && line.text.get(at..).is_some_and(|rest| is_key(rest, key));
        let at = is_ours.then(|| value_start(text, item.start + line.start + at + key.len() + 1))??;
        Some(at..scalar_end(text, at, false)?)
    })
}

/// Returns the offset of an item's opening brace, if the item is in flow style.
fn flow_start(text: &str, item: &Range<usize>) -> Option<usize> {
    let written = &text[item.clone()];
    let behind = written.trim_start().strip_prefix('-').unwrap_or(written).trim_start();
    behind.starts_with('{').then(|| item.start + (written.len() - behind.len()))
}

fn add_to_item(text: &str, item: &Range<usize>, (key, scalar): &Field<'_>) -> Option<String> {
    if let Some(open) = flow_start(text, item) {
        let (members, _) = scan_flow(text, open)?;
        let end = members.last()?.end;
        return Some(replaced(text, end..end, &format!(", {key}: {scalar}")));
    }
    let lines = lines(&text[item.clone()]);
    let column = lines.first()?.text.find("- ")? + 2;
    let newline = newline(text);
    let gap = if text[item.clone()].ends_with('\n') { "" } else { newline };
    let line = format!("{gap}{}{key}: {scalar}{newline}", " ".repeat(column));
    Some(replaced(text, item.end..item.end, &line))
}

fn flow_item(fields: &[Field<'_>]) -> String {
    let fields: Vec<_> = fields.iter().map(|(key, value)| format!("{key}: {value}")).collect();
    format!("{{ {} }}", fields.join(", "))
}

fn block_item(indent: &str, fields: &[Field<'_>], newline: &str) -> String {
    let lines = fields.iter().enumerate().map(|(index, (key, value))| {
        let lead = if index == 0 { "- " } else { "  " };
        format!("{indent}{lead}{key}: {value}{newline}")
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item() -> Vec<Field<'static>> {
        vec![("contract", "new".to_owned()), ("version", quoted(">=1.0.0"))]
    }

    #[test]
    fn a_scalar_is_replaced_in_place() {
        for (text, expected) in [
            ("a: x\nversion: \"1.0.0\"   # always quoted\nb: y\n", "a: x\nversion: \"2\"   # always quoted\nb: y\n"),
            ("version: '1.0.0'\n", "version: \"2\"\n"),
            ("version: 1.0.0 # c\n", "version: \"2\" # c\n"),
            ("version: 1.0.0\r\nb: y\r\n", "version: \"2\"\r\nb: y\r\n"),
            ("a: {version: 3}\nversion: 1", "a: {version: 3}\nversion: \"2\""),
        ] {
            assert_eq!(set(text, "version", "\"2\"").as_deref(), Some(expected), "{text}");
        }
        for text in ["version:\n  1.0.0\n", "{version: 1}\n", "versions: 1\n", "version: |\n  1\n", "version: \"1"] {
            assert_eq!(set(text, "version", "\"2\""), None, "{text}");
        }
    }

    #[test]
    fn an_item_is_added_in_the_style_of_the_others() {
        let block = "  - contract: new\n    version: \">=1.0.0\"\n";
        let flow = "{ contract: new, version: \">=1.0.0\" }";
        for (text, expected) in [
            (String::new(), format!("imports:\n{block}")),
            ("role: both".into(), format!("role: both\nimports:\n{block}")),
            ("role: both\n".into(), format!("role: both\nimports:\n{block}")),
            (
                "imports:\n  - contract: a\n    # why\n    version: x\n\n# next\nb: 1\n".into(),
                format!("imports:\n  - contract: a\n    # why\n    version: x\n{block}\n# next\nb: 1\n"),
            ),
            ("imports:\n- { contract: a }\nb: 1\n".into(), format!("imports:\n- {{ contract: a }}\n- {flow}\nb: 1\n")),
            ("imports: [ { contract: a } ] # c\n".into(), format!("imports: [ {{ contract: a }}, {flow} ] # c\n")),
            ("imports: []\nb: 1\n".into(), format!("imports: [{flow}]\nb: 1\n")),
            (
                "imports: [\n  { contract: 'a, ]' }, # x ]\n]\n".into(),
                format!("imports: [\n  {{ contract: 'a, ]' }}, {flow}, # x ]\n]\n"),
            ),
            ("imports: # none\nb: 1\n".into(), format!("imports: # none\n{block}b: 1\n")),
            ("imports:\n  - contract: a".into(), format!("imports:\n  - contract: a\n{block}")),
        ] {
            assert_eq!(push(&text, "imports", &item()).as_deref(), Some(&*expected), "{text}");
        }
    }

    #[test]
    fn a_field_is_added_below_a_key() {
        for (text, expected) in [
            ("realm:\n  name: r # c\n\nrepo: a\n", "realm:\n  name: r # c\n  url: u\n\nrepo: a\n"),
            ("repo: a\nrealm:\n    name: r", "repo: a\nrealm:\n    name: r\n    url: u\n"),
            ("realm: { name: r } # c\nrepo: a\n", "realm: { name: r, url: u } # c\nrepo: a\n"),
        ] {
            assert_eq!(add_below(text, "realm", &("url", "u".into())).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn an_item_is_changed_or_extended() {
        let field = |scalar: &str| ("version", scalar.to_owned());
        for (text, expected) in [
            ("imports:\n  - contract: a\n    version: \"1\" # c\n", "imports:\n  - contract: a\n    version: 2 # c\n"),
            ("imports:\n  - version: 1\n    contract: a\n", "imports:\n  - version: 2\n    contract: a\n"),
            ("imports: [{contract: a, version: 1}]\n", "imports: [{contract: a, version: 2}]\n"),
            ("imports:\n  - { contract: a, version: '1' }\n", "imports:\n  - { contract: a, version: 2 }\n"),
            ("imports:\n  - contract: a\n", "imports:\n  - contract: a\n    version: 2\n"),
            ("imports: [ { contract: a } ]\n", "imports: [ { contract: a, version: 2 } ]\n"),
        ] {
            assert_eq!(set_in_item(text, "imports", 0, &field("2")).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn an_item_is_removed_and_its_surroundings_are_kept() {
        for (text, index, expected) in [
            ("x:\n  - a: 1\n    b: 2\n  # two\n  - a: 2\nz: 1\n", 0, "x:\n  # two\n  - a: 2\nz: 1\n"),
            ("x:\n  - a: 1\n  - a: 2\nz: 1\n", 1, "x:\n  - a: 1\nz: 1\n"),
            ("y: 1\nx: # list\n  # about\n  - a: 1\nz: 1\n", 0, "y: 1\n  # about\nz: 1\n"),
            ("x: [{a: 1}, {a: 2}]\n", 0, "x: [{a: 2}]\n"),
            ("x: [{a: 1}, {a: 2}]\n", 1, "x: [{a: 1}]\n"),
            ("x: [ {a: 1} ]\nz: 1\n", 0, "z: 1\n"),
        ] {
            assert_eq!(remove(text, "x", index).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(remove("x: []\n", "x", 0), None);
    }
}
