//! What to write instead, where the words of the parser tell that to nobody: by the line that it
//! stumbled over, and the key that the line stands below.

/// Returns what to say instead of the parser's own words, and the line and column of the mistake where the
/// parser names another place.
pub fn advise(text: &str, line: Option<u32>, said: &str) -> Option<(String, Option<(u32, u32)>)> {
    if let Some(place) = conflict_marker(text) {
        return Some((
            "this looks like a merge that is not finished: keep one side, and remove the markers".into(),
            Some(place),
        ));
    }
    let number = line.map_or(0, |line| usize::try_from(line).unwrap_or(usize::MAX));
    let at = text.lines().nth(number.saturating_sub(1)).unwrap_or_default();
    if said.contains("found a tab") || said.contains("tab character") {
        let place = tab(text);
        return Some(("it is indented with a tab; indent with spaces".into(), place));
    }
    if said.contains("block scalar") || said.contains("unexpected character") {
        return range(at).map(|range| (format!("write \"{range}\" with quotes: > begins a text block in YAML"), None));
    }
    if let Some(rest) = said.strip_prefix("unknown variant `") {
        let (word, expected) = rest.split_once("`, expected one of ")?;
        let key = key_above(text, number)?;
        let expected = expected.replace('`', "");
        let words: Vec<_> = expected.split(", ").collect();
        let (last, others) = words.split_last()?;
        return Some((format!("{key} is {} or {last}, not {word}", others.join(", ")), None));
    }
    let key = key_above(text, number);
    let advice = match (said, key) {
        ("expected mapping start", Some("imports")) => "an import is { contract: NAME, version: \">=1.0.0, <2.0.0\" }",
        ("expected mapping start", Some("exports")) => "an export is { contract: NAME }",
        ("expected mapping start", Some("compatibility")) => "compatibility is { backwards: true, forwards: false }",
        ("expected mapping start", Some("evolution")) => {
            "an entry of evolution is { version: \"1.0.0\", changes: [\"what changed\"] }"
        }
        ("expected mapping start", Some("realm")) => "realm is { name: NAME, url: URL }",
        ("expected mapping start", _) => "this is not a list of keys and values: write KEY: VALUE",
        ("expected sequence start", Some(key)) => {
            return Some((format!("{key} is a list: begin each of its entries with \"- \""), None));
        }
        _ => return None,
    };
    Some((advice.to_owned(), None))
}

/// Returns the place of the first marker that a merge left.
fn conflict_marker(text: &str) -> Option<(u32, u32)> {
    let is_marker = |line: &str| ["<<<<<<< ", ">>>>>>> "].iter().any(|marker| line.starts_with(marker));
    let line = text.lines().position(is_marker)?;
    Some((u32::try_from(line + 1).ok()?, 1))
}

/// Returns the place of the first tab among what a line is indented with.
fn tab(text: &str) -> Option<(u32, u32)> {
    text.lines().zip(1u32..).find_map(|(line, number)| {
        let indent = &line[..line.len() - line.trim_start().len()];
        let column = indent.find('\t')?;
        Some((number, u32::try_from(column + 1).ok()?))
    })
}

/// Returns the range that stands without quotes behind a colon of a line.
fn range(line: &str) -> Option<&str> {
    let at = line.find(": >").or_else(|| line.find(": <"))? + 2;
    let rest = &line[at..];
    // In braces, a comma may belong to the range or end it: another comparator follows, or another key does.
    let mut end = rest.len();
    for (comma, _) in rest.match_indices(',') {
        if !rest[comma + 1..].trim_start().starts_with(['<', '>', '=']) {
            end = end.min(comma);
        }
    }
    let rest = rest[..end].split(['}', ']']).next()?.split(" #").next()?.trim();
    rest.contains(|c: char| c.is_ascii_digit()).then_some(rest)
}

/// Returns the outermost key that a line stands at or below.
fn key_above(text: &str, line: usize) -> Option<&str> {
    text.lines().take(line).filter_map(key).last()
}

fn key(line: &str) -> Option<&str> {
    let key = line.split_once(':')?.0;
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_key.then_some(key)
}
