//! Finds the version that introduced each part of a document, as `git blame` does for lines.
//!
//! A part keeps its version for as long as it stays equal, even if its index in a list changes. Parts that were
//! removed are not shown; [`diff`](super::diff) shows them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    diff::{common, moved},
    pointer::{escape, unescape},
};

/// A document, with the version that introduced each part, as an index into the order of versions.
#[derive(Debug, Clone, Default)]
pub struct Blame {
    document: Value,
    root: Option<Node>,
}

/// The version that introduced a part of the document, and the nodes of its members or items, in document order.
#[derive(Debug, Clone)]
struct Node {
    version: usize,
    below: Vec<Node>,
}

/// A part that one version introduced as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Part<'a> {
    /// The place, as a JSON Pointer (RFC 6901).
    pub pointer: String,
    /// The value there.
    pub value: &'a Value,
    /// The version that introduced it.
    pub version: usize,
}

impl Blame {
    /// Advances to the document of the next version.
    pub fn next(&mut self, document: Value, version: usize) {
        let before = self.root.take().map(|root| (root, &self.document));
        self.root = Some(Node::carry(before, &document, version));
        self.document = document;
    }

    /// Returns the largest parts at and below a pointer that were each introduced by one version. Returns none if there
    /// is nothing at the pointer.
    pub fn parts(&self, pointer: &str) -> Vec<Part<'_>> {
        let is_pointer = pointer.is_empty() || pointer.starts_with('/');
        let mut place = self.root.as_ref().map(|root| (root, &self.document)).filter(|_| is_pointer);
        for step in pointer.split('/').skip(1) {
            place = place.and_then(|(node, value)| {
                let mut below = children(value).zip(&node.below);
                below.find(|((name, _), _)| unescape(name) == unescape(step)).map(|((_, value), node)| (node, value))
            });
        }
        let mut found = Vec::new();
        if let Some((node, value)) = place {
            node.parts(pointer.to_owned(), value, &mut found);
        }
        found
    }
}

/// Returns the members or items of a value, each with the step that leads to it in a pointer.
fn children(value: &Value) -> impl Iterator<Item = (String, &Value)> {
    let members = value.as_object().into_iter().flatten().map(|(key, member)| (escape(key), member));
    let items = value.as_array().into_iter().flatten().enumerate().map(|(at, item)| (at.to_string(), item));
    members.chain(items)
}

impl Node {
    fn new(value: &Value, version: usize) -> Self {
        Self { version, below: children(value).map(|(_, below)| Self::new(below, version)).collect() }
    }

    fn carry(before: Option<(Self, &Value)>, value: &Value, version: usize) -> Self {
        match (before, value) {
            (Some((node, old)), new) if old == new => node,
            (Some((Self { version: first, below }, Value::Object(old))), Value::Object(new)) => {
                let before = old.iter().zip(below).map(|((key, value), node)| (key, (node, value)));
                let mut before: BTreeMap<_, _> = before.collect();
                let member = |(key, value): (&String, &Value)| Self::carry(before.remove(key), value, version);
                Self { version: first, below: new.iter().map(member).collect() }
            }
            (Some((Self { version: first, below }, Value::Array(old))), Value::Array(new)) => {
                Self { version: first, below: carry_list(below, old, new, version) }
            }
            (_, value) => Self::new(value, version),
        }
    }

    /// Returns whether one version introduced the whole node.
    fn is_whole(&self) -> bool {
        self.below.iter().all(|node| node.version == self.version && node.is_whole())
    }

    fn parts<'a>(&self, pointer: String, value: &'a Value, found: &mut Vec<Part<'a>>) {
        if self.is_whole() {
            found.push(Part { pointer, value, version: self.version });
            return;
        }
        for ((step, value), node) in children(value).zip(&self.below) {
            node.parts(format!("{pointer}/{step}"), value, found);
        }
    }
}

/// Keeps the versions of elements that are in both lists. Between those, compares elements at the same offset.
fn carry_list(nodes: Vec<Node>, old: &[Value], new: &[Value], version: usize) -> Vec<Node> {
    let mut nodes: Vec<Option<Node>> = nodes.into_iter().map(Some).collect();
    let common = common(old, new);
    let mut elsewhere: BTreeMap<usize, Node> = BTreeMap::new();
    for (at, from) in moved(old, new, &common) {
        elsewhere.extend(nodes.get_mut(from).and_then(Option::take).map(|node| (at, node)));
    }
    let (mut from_old, mut from_new, mut carried) = (0, 0, Vec::with_capacity(new.len()));
    for (to_old, to_new) in common.into_iter().chain([(old.len(), new.len())]) {
        for (step, value) in new[from_new..to_new].iter().enumerate() {
            if let Some(node) = elsewhere.remove(&(from_new + step)) {
                carried.push(node);
                continue;
            }
            let at = from_old + step;
            let before = nodes.get_mut(at).filter(|_| at < to_old).and_then(Option::take);
            carried.push(Node::carry(before.zip(old.get(at)), value, version));
        }
        carried.extend(nodes.get_mut(to_old).and_then(Option::take));
        (from_old, from_new) = (to_old + 1, to_new + 1);
    }
    carried
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::model::json::tests::any_json;

    fn blame(versions: &[Value]) -> Blame {
        let mut blame = Blame::default();
        for (number, document) in versions.iter().enumerate() {
            blame.next(document.clone(), number);
        }
        blame
    }

    fn told(versions: &[Value], pointer: &str) -> String {
        let blame = blame(versions);
        let parts =
            blame.parts(pointer).into_iter().map(|part| format!("{}:{}={}", part.version, part.pointer, part.value));
        parts.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_part_keeps_the_version_that_introduced_it() {
        let first = json!({"a": {"x": 1, "y": 2}, "b": [1, 2]});
        assert_eq!(told(std::slice::from_ref(&first), ""), r#"0:={"a":{"x":1,"y":2},"b":[1,2]}"#);
        let second = json!({"a": {"x": 1, "y": 3}, "b": [1, 2]});
        assert_eq!(told(&[first.clone(), second.clone()], ""), "0:/a/x=1 1:/a/y=3 0:/b=[1,2]");
        // A value that was changed back counts as introduced again.
        assert_eq!(told(&[first.clone(), second, first.clone()], "/a/y"), "2:/a/y=2");
        assert_eq!(told(&[first.clone(), first], "/b/1"), "0:/b/1=2");
    }

    #[test]
    fn an_element_that_moves_in_its_list_keeps_its_version() {
        let versions = [json!(["b", "c"]), json!(["a", "b", "c"]), json!(["a", "c", {"d": 1}])];
        assert_eq!(told(&versions, ""), r#"1:/0="a" 0:/1="c" 2:/2={"d":1}"#);
        assert_eq!(told(&[json!(["a", "b"]), json!(["b", "a"])], ""), r#"0:=["b","a"]"#);
        let versions = [json!([{"k": 1, "v": 1}]), json!([{"k": 1, "v": 2}])];
        assert_eq!(told(&versions, ""), "0:/0/k=1 1:/0/v=2");
    }

    #[test]
    fn a_part_that_changes_type_is_introduced_again() {
        let versions = [json!({"a/b": {"x": 1}}), json!({"a/b": [1]}), json!({"a/b": [1], "c~": null})];
        assert_eq!(told(&versions, ""), r#"1:/a~1b=[1] 2:/c~0=null"#);
        assert_eq!(told(&versions, "/a~1b/0"), "1:/a~1b/0=1");
        assert_eq!(told(&versions, "/a~1b/1"), "");
        assert_eq!(told(&versions, "/nothing"), "");
    }

    proptest! {
        #[test]
        fn every_part_is_at_its_pointer_and_in_its_version(versions in prop::collection::vec(any_json(), 1..5)) {
            let blame = blame(&versions);
            let last = &versions[versions.len() - 1];
            let parts = blame.parts("");
            prop_assert!(!parts.is_empty() || matches!(last, Value::Array(_) | Value::Object(_)));
            for part in parts {
                prop_assert_eq!(last.pointer(&part.pointer), Some(part.value));
                let brought = versions[part.version].to_string();
                // Later versions may have removed something from an object or a list.
                let is_scalar = !part.value.is_object() && !part.value.is_array();
                prop_assert!(!is_scalar || brought.contains(&part.value.to_string()), "{} not in {}", part.value, brought);
            }
        }
    }
}
