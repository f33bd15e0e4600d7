//! Finds the version that introduced each part of a document, as `git blame` does for lines.
//!
//! A part keeps its version for as long as it stays equal, even if its index in a list changes. Parts that were
//! removed are not shown; [`diff`](super::diff) shows them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    diff::common,
    pointer::{escape, unescape},
};

/// A document, with the version that introduced each part, as an index into the order of versions.
#[derive(Debug, Clone, Default)]
pub struct Blame {
    document: Value,
    root: Option<Node>,
}

/// A part of the document.
#[derive(Debug, Clone)]
struct Node {
    version: usize,
    below: Below,
}

#[derive(Debug, Clone)]
enum Below {
    Nothing,
    Object(BTreeMap<String, Node>),
    List(Vec<Node>),
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
    /// Continues with the document of the next version.
    pub fn next(&mut self, document: Value, version: usize) {
        let before = self.root.take().map(|root| (root, &self.document));
        self.root = Some(Node::carry(before, &document, version));
        self.document = document;
    }

    /// Returns the largest parts at and below a pointer that were each introduced by one version. Returns none if there
    /// is nothing at the pointer.
    pub fn parts(&self, pointer: &str) -> Vec<Part<'_>> {
        let mut found = Vec::new();
        if let (Some(value), Some(node)) = (self.document.pointer(pointer), self.node(pointer)) {
            node.parts(pointer.to_owned(), value, &mut found);
        }
        found
    }

    fn node(&self, pointer: &str) -> Option<&Node> {
        pointer.split('/').skip(1).try_fold(self.root.as_ref()?, |node, token| match &node.below {
            Below::Nothing => None,
            Below::Object(members) => members.get(&unescape(token)),
            Below::List(items) => items.get(token.parse::<usize>().ok()?),
        })
    }
}

impl Node {
    fn new(value: &Value, version: usize) -> Self {
        let below = match value {
            Value::Object(members) => {
                Below::Object(members.iter().map(|(key, value)| (key.clone(), Self::new(value, version))).collect())
            }
            Value::Array(items) => Below::List(items.iter().map(|item| Self::new(item, version)).collect()),
            _ => Below::Nothing,
        };
        Self { version, below }
    }

    fn carry(before: Option<(Self, &Value)>, value: &Value, version: usize) -> Self {
        match (before, value) {
            (Some((node, old)), new) if old == new => node,
            (
                Some((Self { version: first, below: Below::Object(mut nodes) }, Value::Object(old))),
                Value::Object(new),
            ) => {
                let member = |(key, value): (&String, &Value)| {
                    let before = nodes.remove(key).zip(old.get(key));
                    (key.clone(), Self::carry(before, value, version))
                };
                Self { version: first, below: Below::Object(new.iter().map(member).collect()) }
            }
            (Some((Self { version: first, below: Below::List(nodes) }, Value::Array(old))), Value::Array(new)) => {
                Self { version: first, below: Below::List(carry_list(nodes, old, new, version)) }
            }
            (_, value) => Self::new(value, version),
        }
    }

    /// Returns the version that introduced the whole node, if there is only one.
    fn sole(&self) -> Option<usize> {
        let is_same = |node: &Self| node.sole() == Some(self.version);
        let all_same = match &self.below {
            Below::Nothing => true,
            Below::Object(members) => members.values().all(is_same),
            Below::List(items) => items.iter().all(is_same),
        };
        all_same.then_some(self.version)
    }

    fn parts<'a>(&self, pointer: String, value: &'a Value, found: &mut Vec<Part<'a>>) {
        match (&self.below, value) {
            (_, value) if self.sole().is_some() => found.push(Part { pointer, value, version: self.version }),
            (Below::Object(nodes), Value::Object(members)) => {
                for (key, node) in nodes {
                    if let Some(value) = members.get(key) {
                        node.parts(format!("{pointer}/{}", escape(key)), value, found);
                    }
                }
            }
            (Below::List(nodes), Value::Array(items)) => {
                for (at, (node, value)) in nodes.iter().zip(items).enumerate() {
                    node.parts(format!("{pointer}/{at}"), value, found);
                }
            }
            _ => {}
        }
    }
}

/// Keeps the versions of elements that are in both lists. Between those, compares elements at the same offset.
fn carry_list(nodes: Vec<Node>, old: &[Value], new: &[Value], version: usize) -> Vec<Node> {
    let mut nodes: Vec<Option<Node>> = nodes.into_iter().map(Some).collect();
    let (mut from_old, mut from_new, mut carried) = (0, 0, Vec::with_capacity(new.len()));
    for (to_old, to_new) in common(old, new).into_iter().chain([(old.len(), new.len())]) {
        for (step, value) in new[from_new..to_new].iter().enumerate() {
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

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![Just(json!(null)), (0..3).prop_map(|n| json!(n)), "[ab]".prop_map(|text| json!(text))];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-c/~]", inner, 0..4).prop_map(|map| json!(map)),
            ]
        })
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
