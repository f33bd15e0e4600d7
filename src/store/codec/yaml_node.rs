//! A YAML document as a tree of places: which line says what a JSON Pointer leads to.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_saphyr::Spanned;

use crate::model::pointer;

/// A document without what it says: only where it says it.
pub(super) enum Node {
    Scalar,
    List(Vec<Spanned<Node>>),
    Map(Vec<(Spanned<Node>, Spanned<Node>)>),
}

/// Returns a scalar as it is written in the text, and where it starts.
pub(super) fn written<'t>(text: &'t str, node: &Spanned<Node>) -> Option<(usize, &'t str)> {
    let span = node.referenced.span();
    let (start, length) = (usize::try_from(span.byte_offset()?).ok()?, usize::try_from(span.byte_len()?).ok()?);
    Some((start, text.get(start..start.checked_add(length)?)?.trim_end()))
}

/// Returns the line, from 1, that says what a pointer leads to: of its key, where it has one. Where the document has no
/// such place, it is the line of the last step on the way that it has.
pub(super) fn line(text: &str, root: &Spanned<Node>, place: &str) -> Option<u32> {
    let (mut at, mut line) = (root, None);
    for step in place.split('/').skip(1).map(pointer::unescape) {
        let (said, next) = match &at.value {
            Node::Map(entries) => match entries.iter().find(|(key, _)| is_key(text, key, &step)) {
                Some((key, value)) => (key, value),
                None => break,
            },
            Node::List(items) => match step.parse::<usize>().ok().and_then(|index| items.get(index)) {
                Some(item) => (item, item),
                None => break,
            },
            Node::Scalar => break,
        };
        line = u32::try_from(said.referenced.line()).ok();
        at = next;
    }
    line
}

fn is_key(text: &str, key: &Spanned<Node>, name: &str) -> bool {
    let Some((_, written)) = written(text, key) else { return false };
    let inner = |quote: char| written.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    let said: Cow<'_, str> = match (inner('"'), inner('\'')) {
        (Some(_), _) => serde_json::from_str::<String>(written).map_or(Cow::Borrowed(written), Cow::Owned),
        (None, Some(inner)) => inner.replace("''", "'").into(),
        (None, None) => written.into(),
    };
    said == name
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

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_str<E>(self, _: &str) -> Result<Node, E> {
        Ok(Node::Scalar)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut found = Vec::new();
        while let Some(node) = seq.next_element()? {
            found.push(node);
        }
        Ok(Node::List(found))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut found = Vec::new();
        while let Some(entry) = map.next_entry()? {
            found.push(entry);
        }
        Ok(Node::Map(found))
    }
}
