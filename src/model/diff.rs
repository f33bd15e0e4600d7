//! Finds the differences between two JSON documents, each with its JSON Pointer (RFC 6901).
//!
//! Objects are compared key by key. In lists, a longest common subsequence counts as unchanged, so
//! inserting an element at the front is one addition rather than a change to every other element. In the agreed value
//! of a contract, the order of list items does not matter.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{json::Json, pointer::escape, schema::Forest};

/// The maximum number of comparisons for one pair of lists. Beyond it, only a common prefix and suffix count as
/// unchanged.
const MAX_CELLS: usize = 1 << 20;

/// A difference.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// A JSON Pointer into the newer document, or into the older one for what was removed.
    pub pointer: String,
    /// The kind of change.
    pub change: Kind,
    /// The old value; null if it was added.
    pub old: Json,
    /// The new value; null if it was removed.
    pub new: Json,
}

/// The kind of change of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The part was added.
    Added,
    /// The part was removed.
    Removed,
    /// The value was replaced.
    Changed,
}

/// Returns the differences in document order; empty if the documents are equal.
pub fn diff<T: Serialize>(old: &T, new: &T) -> Vec<Difference> {
    differences(old, new, Token::Root)
}

/// Returns the differences between two contracts. Their agreed values, under `value`, are compared as by [`of_values`].
pub fn of_contracts<T: Serialize>(old: &T, new: &T) -> Vec<Difference> {
    differences(old, new, Token::Contract)
}

/// Returns the differences between two agreed values, in which the order of list items does not matter.
pub fn of_values<T: Serialize>(old: &T, new: &T) -> Vec<Difference> {
    differences(old, new, Token::Value)
}

fn differences<T: Serialize>(old: &T, new: &T, token: Token<'_>) -> Vec<Difference> {
    let mut forest = Forest::default();
    // Reading their text takes a tenth of the memory of their values.
    let parts = [old, new].map(|document| {
        let text = serde_json::to_vec(document).unwrap_or_default();
        forest.read(&mut serde_json::Deserializer::from_slice(&text)).unwrap_or_else(|_| forest.add(&Value::Null))
    });
    let [old, new] = parts.map(|part| forest.tree(part));
    let [old, new] = [old.without_equal(new), new.without_equal(old)];
    let mut found = Vec::new();
    compare(&Place { above: None, token }, &old, &new, &mut found);
    found
}

/// A place in both documents, linked to its parents.
struct Place<'a> {
    above: Option<&'a Place<'a>>,
    token: Token<'a>,
}

enum Token<'a> {
    Root,
    /// The root of a contract.
    Contract,
    /// The root of an agreed value.
    Value,
    Key(&'a str),
    /// The index in the old list and in the new one. They differ after additions and removals.
    Index(usize, usize),
}

impl Place<'_> {
    fn below<'a>(&'a self, token: Token<'a>) -> Place<'a> {
        Place { above: Some(self), token }
    }

    fn pointer(&self, in_old: bool) -> String {
        let above = self.above.map(|above| above.pointer(in_old)).unwrap_or_default();
        match self.token {
            Token::Root | Token::Contract | Token::Value => above,
            Token::Key(key) => format!("{above}/{}", escape(key)),
            Token::Index(old, new) => format!("{above}/{}", if in_old { old } else { new }),
        }
    }

    /// Returns whether the place is in an agreed value.
    fn is_in_value(&self) -> bool {
        match (self.above, &self.token) {
            (None, token) => matches!(token, Token::Value),
            (Some(Place { token: Token::Contract, .. }), token) => matches!(token, Token::Key("value")),
            (Some(above), _) => above.is_in_value(),
        }
    }

    fn found(&self, change: Kind, old: Option<&Value>, new: Option<&Value>) -> Difference {
        let json = |value: Option<&Value>| Json::from(value.cloned().unwrap_or_default());
        Difference { pointer: self.pointer(change == Kind::Removed), change, old: json(old), new: json(new) }
    }

    fn added(&self, new: &Value) -> Difference {
        self.found(Kind::Added, None, Some(new))
    }

    fn removed(&self, old: &Value) -> Difference {
        self.found(Kind::Removed, Some(old), None)
    }
}

fn compare(at: &Place<'_>, old: &Value, new: &Value, found: &mut Vec<Difference>) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let mut keys: Vec<_> = old.keys().chain(new.keys()).collect();
            keys.sort_unstable();
            keys.dedup();
            for key in keys {
                let at = at.below(Token::Key(key));
                match (old.get(key), new.get(key)) {
                    (Some(old), Some(new)) => compare(&at, old, new, found),
                    (Some(old), None) => found.push(at.removed(old)),
                    (None, Some(new)) => found.push(at.added(new)),
                    (None, None) => {}
                }
            }
        }
        (Value::Array(old), Value::Array(new)) => lists(at, old, new, found),
        _ if old == new => {}
        _ => found.push(at.found(Kind::Changed, Some(old), Some(new))),
    }
}

/// Compares the elements between common ones in pairs. Elements without a counterpart were removed or added.
fn lists(at: &Place<'_>, old: &[Value], new: &[Value], found: &mut Vec<Difference>) {
    let common = common(old, new);
    let moved = if at.is_in_value() { moved(old, new, &common) } else { BTreeMap::new() };
    let moved_from: BTreeSet<usize> = moved.values().copied().collect();
    let (mut from_old, mut from_new) = (0, 0);
    for (to_old, to_new) in common.into_iter().chain([(old.len(), new.len())]) {
        let olds: Vec<_> = (from_old..to_old).filter(|index| !moved_from.contains(index)).collect();
        let news: Vec<_> = (from_new..to_new).filter(|index| !moved.contains_key(index)).collect();
        for (in_old, in_new) in olds.iter().copied().zip(news.iter().copied()) {
            compare(&at.below(Token::Index(in_old, in_new)), &old[in_old], &new[in_new], found);
        }
        let item = |index: &usize| at.below(Token::Index(*index, *index));
        found.extend(olds.iter().skip(news.len()).map(|index| item(index).removed(&old[*index])));
        found.extend(news.iter().skip(olds.len()).map(|index| item(index).added(&new[*index])));
        (from_old, from_new) = (to_old + 1, to_new + 1);
    }
}

/// Returns the elements that are equal to one elsewhere in the old list, by their indexes in the new one. Each element
/// counts once, and those in `common` do not count.
pub(super) fn moved(old: &[Value], new: &[Value], common: &[(usize, usize)]) -> BTreeMap<usize, usize> {
    let (in_old, in_new): (BTreeSet<usize>, BTreeSet<usize>) = common.iter().copied().unzip();
    let mut left: HashMap<&Value, Vec<usize>> = HashMap::new();
    for (index, value) in old.iter().enumerate().rev().filter(|(index, _)| !in_old.contains(index)) {
        left.entry(value).or_default().push(index);
    }
    let others = new.iter().enumerate().filter(|(index, _)| !in_new.contains(index));
    others.filter_map(|(index, value)| Some((index, left.get_mut(value)?.pop()?))).collect()
}

/// Returns the indexes in both lists of a longest common subsequence.
pub(super) fn common(old: &[Value], new: &[Value]) -> Vec<(usize, usize)> {
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let end = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(|(old, new)| old == new).count();
    let (old_middle, new_middle) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    let mut pairs: Vec<_> = (0..start).map(|index| (index, index)).collect();
    pairs.extend(longest(old_middle, new_middle).into_iter().map(|(in_old, in_new)| (start + in_old, start + in_new)));
    pairs.extend((0..end).map(|index| (old.len() - end + index, new.len() - end + index)));
    pairs
}

/// Computes a longest common subsequence with the standard algorithm: a table of the length from each pair of indexes
/// to the end. Equal elements get the same number first, since each is compared with many.
fn longest(old: &[Value], new: &[Value]) -> Vec<(usize, usize)> {
    if old.len().saturating_mul(new.len()) > MAX_CELLS {
        return Vec::new();
    }
    let mut numbers = HashMap::new();
    for value in old.iter().chain(new) {
        let next = numbers.len();
        numbers.entry(value).or_insert(next);
    }
    let [old, new] = [old, new].map(|list| list.iter().map(|value| numbers.get(value)).collect::<Vec<_>>());
    let width = new.len() + 1;
    let mut lengths = vec![0_u32; (old.len() + 1) * width];
    for row in (0..old.len()).rev() {
        for column in (0..new.len()).rev() {
            lengths[row * width + column] = if old[row] == new[column] {
                lengths[(row + 1) * width + column + 1] + 1
            } else {
                lengths[(row + 1) * width + column].max(lengths[row * width + column + 1])
            };
        }
    }
    let (mut row, mut column, mut pairs) = (0, 0, Vec::new());
    while row < old.len() && column < new.len() {
        if old[row] == new[column] {
            pairs.push((row, column));
            (row, column) = (row + 1, column + 1);
        } else if lengths[(row + 1) * width + column] >= lengths[row * width + column + 1] {
            row += 1;
        } else {
            column += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::json::tests::any_json;
    use proptest::prelude::*;
    use serde_json::json;

    fn lines(old: Value, new: Value) -> Vec<String> {
        let line = |one: Difference| match one.change {
            Kind::Added => format!("+{} {}", one.pointer, one.new),
            Kind::Removed => format!("-{} {}", one.pointer, one.old),
            Kind::Changed => format!("~{} {} {}", one.pointer, one.old, one.new),
        };
        diff(&old, &new).into_iter().map(line).collect()
    }

    #[test]
    fn objects_differ_by_key() {
        let found = lines(json!({"a": 1, "b": {"c": 1}, "d": null}), json!({"a": 1, "b": {"c": 2}, "e": []}));
        assert_eq!(found, ["~/b/c 1 2", "-/d null", "+/e []"]);
        assert_eq!(lines(json!(1), json!({})), ["~ 1 {}"]);
        assert!(lines(json!([{"a": [1]}]), json!([{"a": [1]}])).is_empty());
    }

    #[test]
    fn keys_are_escaped_as_in_rfc_6901() {
        assert_eq!(
            lines(json!({"a/b": {"m~n": 0, "": 1}}), json!({"a/b": {"m~n": 1}})),
            ["-/a~1b/ 1", "~/a~1b/m~0n 0 1"]
        );
    }

    #[test]
    fn an_element_inserted_at_the_front_is_one_addition() {
        assert_eq!(lines(json!(["b", "c"]), json!(["a", "b", "c"])), [r#"+/0 "a""#]);
        assert_eq!(lines(json!(["a", "b", "c"]), json!(["a", "c"])), [r#"-/1 "b""#]);
        assert_eq!(lines(json!([1, 2, 3, 4]), json!([0, 2, 5, 3, 9])), ["~/0 1 0", "+/2 5", "~/4 4 9"]);
        assert_eq!(lines(json!([{"a": 1}, 7]), json!([{"a": 2}, 7])), ["~/0/a 1 2"]);
        // A removed element has its old index, even if the list before it has grown.
        assert_eq!(lines(json!([9, {"a": 0}]), json!([8, 9, {}])), ["+/0 8", "-/1/a 0"]);
    }

    #[test]
    fn order_of_lists_in_an_agreed_value_is_no_difference() {
        let (old, new) = (json!({"read": ["z", "a", "b", "a"]}), json!({"read": ["b", "a", "z", "c"]}));
        let pointers = |found: Vec<Difference>| found.into_iter().map(|one| one.pointer).collect::<Vec<_>>();
        assert_eq!(pointers(of_values(&old, &new)), ["/read/1", "/read/3"]);
        let contract = |value: &Value| json!({"schema": {"enum": value["read"]}, "value": value});
        let found = pointers(of_contracts(&contract(&old), &contract(&new)));
        assert_eq!(found.iter().filter(|pointer| pointer.starts_with("/value")).count(), 2);
        assert!(found.iter().any(|pointer| pointer.starts_with("/schema")), "{found:?}");
        assert!(of_values(&json!([[1, 2], 3]), &json!([3, [1, 2]])).is_empty());
    }

    #[test]
    fn long_lists_take_bounded_work() {
        let list = |offset: u32| Value::from((0..5_000).map(|n| n * 2 + offset).collect::<Vec<_>>());
        assert_eq!(diff(&list(0), &list(1)).len(), 5_000);
    }

    proptest! {
        #[test]
        fn every_pointer_resolves_to_its_value(old in any_json(), new in any_json()) {
            let found = diff(&old, &new);
            prop_assert_eq!(found.is_empty(), old == new);
            for one in found {
                match one.change {
                    Kind::Removed => prop_assert_eq!(old.pointer(&one.pointer), Some(&*one.old.value())),
                    Kind::Added | Kind::Changed => prop_assert_eq!(new.pointer(&one.pointer), Some(&*one.new.value())),
                }
                prop_assert!(one.change != Kind::Changed || one.old != one.new);
            }
        }
    }
}
