//! Finds the lines of values in a document, by JSON Pointer (RFC 6901).

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_saphyr::Spanned;

use super::{jsonc, yaml};
use crate::model::{candidate::imported_name, pointer};

/// A value, with the steps and lines of its members and items. The line of a member is the line of its key.
enum Node {
    Leaf,
    Inner(Vec<(String, u32, Node)>),
}

/// Returns the lines of a contract's `name`, `version` and `owner`, and those of `/flow` and everything below `/schema`
/// and `/value`, by pointer. Returns none if the text cannot be parsed.
pub fn contract_lines(bytes: &[u8]) -> BTreeMap<String, u32> {
    let mut lines = BTreeMap::new();
    let Some(Node::Inner(members)) = read(bytes) else { return lines };
    for (key, line, node) in members {
        match &*key {
            "name" | "version" | "owner" => drop(lines.insert(key, line)),
            "schema" | "value" | "flow" => node.list(format!("/{key}"), line, &mut lines),
            _ => {}
        }
    }
    lines
}

/// Returns only the lines of a contract's `name` and `version`.
pub fn heading_lines(bytes: &[u8]) -> BTreeMap<String, u32> {
    scanned_heading(bytes).unwrap_or_else(|| {
        let mut lines = contract_lines(bytes);
        lines.retain(|key, _| key == "name" || key == "version");
        lines
    })
}

/// Returns the lines of a contract's `name` and `version` without parsing it, which takes much longer. Returns `None`
/// unless each of them begins one line, as in nearly every contract.
fn scanned_heading(bytes: &[u8]) -> Option<BTreeMap<String, u32>> {
    if bytes.contains(&b'\r') {
        return None;
    }
    let mut lines = BTreeMap::new();
    for (at, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        for key in ["name", "version"] {
            let is_key = line.strip_prefix(key.as_bytes()).is_some_and(|rest| rest.starts_with(b": "));
            if is_key && lines.insert(key.to_owned(), at).is_some() {
                return None;
            }
        }
    }
    Some(lines).filter(|lines| lines.len() == 2)
}

/// Returns the line of each pointer, or of its closest parent. Returns `None` if the text cannot be parsed.
pub fn lines_at<'a>(bytes: &[u8], pointers: impl IntoIterator<Item = &'a str>) -> Option<Vec<u32>> {
    let root = read_plain(bytes)?;
    Some(pointers.into_iter().map(|pointer| root.line(pointer).unwrap_or(1)).collect())
}

/// Returns the line of a pointer, or of its closest parent. Returns `None` if that is the document itself, or if the
/// text cannot be parsed.
pub fn line_at(bytes: &[u8], pointer: &str) -> Option<u32> {
    read_plain(bytes)?.line(pointer)
}

/// Reads JSON, with or without comments, or YAML, in which a text may look like a comment.
fn read_plain(bytes: &[u8]) -> Option<Node> {
    read(&jsonc::plain(bytes)).or_else(|| read(jsonc::without_mark(bytes)))
}

/// Returns the line of each contract that a binding names. For an import, this is the line of the
/// range; the line of the name has the key [`imported_name`].
pub fn binding_lines(bytes: &[u8]) -> BTreeMap<String, u32> {
    #[derive(Deserialize)]
    struct Lines {
        #[serde(default)]
        exports: Vec<Export>,
        #[serde(default)]
        imports: Vec<Import>,
    }
    #[derive(Deserialize)]
    struct Export {
        contract: Spanned<String>,
    }
    #[derive(Deserialize)]
    struct Import {
        contract: Spanned<String>,
        version: Spanned<String>,
    }
    let Ok(lines) = yaml::document::<Lines>(bytes) else {
        return BTreeMap::new();
    };
    let exports = lines.exports.into_iter().map(|export| (export.contract.value.clone(), line(&export.contract)));
    let imports = lines.imports.into_iter().flat_map(|Import { contract, version }| {
        [(imported_name(&contract.value), line(&contract)), (contract.value, line(&version))]
    });
    exports.chain(imports).collect()
}

fn read(bytes: &[u8]) -> Option<Node> {
    yaml::generated(bytes).ok()
}

fn line<T>(spanned: &Spanned<T>) -> u32 {
    u32::try_from(spanned.referenced.line()).unwrap_or(u32::MAX)
}

impl Node {
    fn list(&self, at: String, line: u32, lines: &mut BTreeMap<String, u32>) {
        if let Self::Inner(inner) = self {
            for (step, line, node) in inner {
                node.list(format!("{at}/{}", pointer::escape(step)), *line, lines);
            }
        }
        lines.insert(at, line);
    }

    fn line(&self, pointer: &str) -> Option<u32> {
        let (mut node, mut found) = (self, None);
        for step in pointer.split('/').skip(1).map(pointer::unescape) {
            let Self::Inner(inner) = node else { break };
            let Some((_, line, next)) = inner.iter().find(|(key, ..)| *key == step) else { break };
            (node, found) = (next, Some(*line));
        }
        found
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    scalar_visits!(Node::Leaf);

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Node, A::Error> {
        let mut inner = Vec::new();
        while let Some(item) = sequence.next_element::<Spanned<Node>>()? {
            inner.push((inner.len().to_string(), line(&item), item.value));
        }
        Ok(Node::Inner(inner))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut inner = Vec::new();
        while let Some((key, node)) = map.next_entry::<Spanned<String>, Node>()? {
            inner.push((key.value.clone(), line(&key), node));
        }
        Ok(Node::Inner(inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTRACT: &str = "\
name: paths
version: \"1.0.0\"
schema:
  properties:
    a/b: { type: string,
           maxLength: 3 }
  required:
    - a/b
    - c
value: null
";

    #[test]
    fn the_line_of_a_member_is_that_of_its_key() {
        let lines = contract_lines(CONTRACT.as_bytes());
        let of = |pointer: &str| lines.get(pointer).copied();
        assert_eq!((of("version"), of("/schema"), of("/schema/properties/a~1b")), (Some(2), Some(3), Some(5)));
        assert_eq!((of("/schema/properties/a~1b/maxLength"), of("/schema/required/1")), (Some(6), Some(9)));
        assert_eq!(of("/value"), Some(10));
        assert_eq!(heading_lines(CONTRACT.as_bytes()).len(), 2);
        assert_eq!(heading_lines(b"{name: a, version: b, owner: c}").len(), 2);
        assert_eq!(contract_lines(b"name: ["), BTreeMap::new());
    }

    #[test]
    fn the_heading_is_found_without_parsing() {
        let parsed = contract_lines(CONTRACT.as_bytes());
        let of = |key: &str| (key.to_owned(), parsed[key]);
        assert_eq!(scanned_heading(CONTRACT.as_bytes()), Some([of("name"), of("version")].into()));
        for other in
            ["{name: a, version: b}", "name: a\rversion: b", "name: a\nversion: b\nname: c", "\"name\": a\nversion: b"]
        {
            assert_eq!(scanned_heading(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn missing_members_have_the_line_of_their_parent() {
        let json = b"{\n  \"properties\": {\n    \"id\": { \"type\": \"string\" }\n  }\n}\n";
        let lines = lines_at(json, ["", "/properties", "/properties/id/type", "/properties/id/enum", "/required"]);
        assert_eq!(lines, Some(vec![1, 2, 3, 3, 1]));
        assert_eq!(lines_at(b"{", [""]), None);
    }

    #[test]
    fn the_line_of_an_import_is_that_of_its_range() {
        let lines = binding_lines(b"role: consumer\nimports:\n  - contract: paths\n    version: \">=1.0.0\"\n");
        assert_eq!(lines["paths"], 4);
    }
}
