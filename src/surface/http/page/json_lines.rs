//! Renders JSON line by line, with the location that each line shows.

use serde_json::Value;

use crate::model::pointer::escape;

/// A line of a document.
#[derive(Debug, PartialEq, Eq)]
pub struct Line {
    /// The JSON Pointer to the part that the line shows, opens or closes.
    pub pointer: String,
    /// The line, indented.
    pub text: String,
}

/// Returns whether one location is the same as another, or inside of it.
pub fn is_part(pointer: &str, whole: &str) -> bool {
    pointer.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the lines of a document, which is located at `root`.
pub fn lines(value: &Value, root: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    add(&mut lines, value, &Place { pointer: root.to_owned(), depth: 0, key: String::new(), comma: "" });
    lines
}

/// The position of a part.
struct Place<'a> {
    pointer: String,
    depth: usize,
    /// The key before it, as JSON.
    key: String,
    comma: &'a str,
}

impl Place<'_> {
    fn line(&self, text: &str) -> Line {
        Line { pointer: self.pointer.clone(), text: format!("{:1$}{text}", "", self.depth * 2) }
    }
}

fn add(lines: &mut Vec<Line>, value: &Value, place: &Place<'_>) {
    let parts: Vec<(String, String, &Value)> = match value {
        Value::Object(fields) => {
            fields.iter().map(|(key, part)| (escape(key), format!("{}: ", Value::from(&**key)), part)).collect()
        }
        Value::Array(items) => {
            items.iter().enumerate().map(|(at, part)| (at.to_string(), String::new(), part)).collect()
        }
        _ => Vec::new(),
    };
    let (key, comma) = (&place.key, place.comma);
    if parts.is_empty() {
        lines.push(place.line(&format!("{key}{value}{comma}")));
        return;
    }
    let (open, close) = if value.is_object() { ("{", "}") } else { ("[", "]") };
    lines.push(place.line(&format!("{key}{open}")));
    let last = parts.len() - 1;
    for (at, (step, key, part)) in parts.into_iter().enumerate() {
        let pointer = format!("{}/{step}", place.pointer);
        let comma = if at < last { "," } else { "" };
        add(lines, part, &Place { pointer, depth: place.depth + 1, key, comma });
    }
    lines.push(place.line(&format!("{close}{comma}")));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_are_those_of_pretty_json() {
        for value in [
            json!(null),
            json!({}),
            json!([]),
            json!({"a/b": {"~": [1, "two", {}], "empty": []}, "\"": "line\nbreak"}),
            json!([[1], [], {"a": null}]),
        ] {
            let text: Vec<_> = lines(&value, "").into_iter().map(|line| line.text).collect();
            assert_eq!(text.join("\n"), format!("{value:#}"));
        }
    }

    #[test]
    fn each_line_has_its_location() {
        let found = lines(&json!({"a/b": [1], "c": 2}), "/schema");
        let pointers: Vec<_> = found.iter().map(|line| &*line.pointer).collect();
        assert_eq!(pointers, ["/schema", "/schema/a~1b", "/schema/a~1b/0", "/schema/a~1b", "/schema/c", "/schema"]);
        assert!(is_part("/schema/a~1b/0", "/schema/a~1b") && is_part("/schema", "/schema"));
        assert!(!is_part("/ab", "/a"), "a longer key is another place");
    }
}
