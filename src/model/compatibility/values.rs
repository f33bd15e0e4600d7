//! Compares the agreed values of two contract versions: which leaves were removed, changed or added, and what breaks
//! as a result.

use std::collections::HashSet;

use serde_json::Value;

use super::{
    answer::{ValueChange, ValuesCompared, VersionBump},
    numbers,
    rules::{short, short_pair},
};
use crate::model::{contract::Values, schema::uri};

/// The maximum number of differences that are listed. Further ones are only counted.
const MOST: usize = 20;

/// One kind of difference between two values, with an example.
#[derive(Debug, Clone, Copy)]
pub struct ValueRule {
    /// Its id, stable across releases.
    pub id: &'static str,
    /// What changed.
    pub text: &'static str,
    /// An old value, as JSON.
    pub old: &'static str,
    /// A new value, as JSON.
    pub new: &'static str,
}

/// A leaf was removed.
const REMOVED: ValueRule = ValueRule {
    id: "value-removed",
    text: "a member of the value, or an item of a list, was removed",
    old: r#"{"read":["a/*","b/*"]}"#,
    new: r#"{"read":["a/*"]}"#,
};
/// A leaf was changed.
const CHANGED: ValueRule = ValueRule {
    id: "value-changed",
    text: "a member of the value was changed",
    old: r#"{"bucket":"a"}"#,
    new: r#"{"bucket":"b"}"#,
};
/// A leaf was added.
const ADDED: ValueRule = ValueRule {
    id: "value-added",
    text: "a member of the value, or an item of a list, was added",
    old: r#"{"read":["a/*"]}"#,
    new: r#"{"read":["a/*","b/*"]}"#,
};
/// Every rule about values.
pub const VALUE_RULES: &[ValueRule] = &[REMOVED, CHANGED, ADDED];

impl ValueRule {
    /// Returns the smallest version bump that the difference needs under this promise.
    pub fn bump(&self, promised: Values) -> VersionBump {
        match promised {
            Values::Free => VersionBump::Patch,
            Values::Additive if self.id == ADDED.id => VersionBump::Minor,
            Values::Additive | Values::Frozen => VersionBump::Major,
        }
    }
}

/// Compares the agreed values of two versions. List items are matched by value, not by index. A null at the top level
/// means that nothing is agreed.
pub fn values(old: &Value, new: &Value, promised: Values) -> ValuesCompared {
    let mut walk =
        Walk { promised, breaking: Vec::new(), others: Vec::new(), more: 0, is_broken: false, is_equal: true };
    match (old, new) {
        (Value::Null, Value::Null) => {}
        (Value::Null, new) => walk.leaves(&ADDED, new, ""),
        (old, Value::Null) => walk.leaves(&REMOVED, old, ""),
        (old, new) => walk.compare(old, new, ["", ""]),
    }
    let Walk { breaking: mut differences, others, mut more, is_broken, is_equal, .. } = walk;
    differences.extend(others);
    more += differences.len().saturating_sub(MOST);
    differences.truncate(MOST);
    let bump = match promised {
        _ if is_broken => VersionBump::Major,
        Values::Additive if !is_equal => VersionBump::Minor,
        _ => VersionBump::Patch,
    };
    ValuesCompared { promised, differences, more, bump }
}

struct Walk {
    promised: Values,
    breaking: Vec<ValueChange>,
    others: Vec<ValueChange>,
    more: usize,
    is_broken: bool,
    is_equal: bool,
}

impl Walk {
    /// Compares two parts. `at` has the pointers to them.
    fn compare(&mut self, old: &Value, new: &Value, at: [&str; 2]) {
        match (old, new) {
            (Value::Object(before), Value::Object(after)) => {
                for (name, old) in before {
                    let below = at.map(|at| at.to_owned() + &uri::step(name));
                    match after.get(name) {
                        Some(new) => self.compare(old, new, [&below[0], &below[1]]),
                        None => self.leaves(&REMOVED, old, &below[0]),
                    }
                }
                for (name, new) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
                    self.leaves(&ADDED, new, &(at[1].to_owned() + &uri::step(name)));
                }
            }
            (Value::Array(before), Value::Array(after)) => self.lists(before, after, at),
            _ if numbers::key(old) == numbers::key(new) => {}
            _ => {
                let [before, after] = short_pair(old, new);
                let message = format!("{before} became {after}");
                self.add(&CHANGED, message, Some(at[0]), Some(at[1]));
            }
        }
    }

    /// Compares lists as sets. Items in only one list are compared in order if they have parts themselves.
    fn lists(&mut self, before: &[Value], after: &[Value], [in_old, in_new]: [&str; 2]) {
        let (gone, fresh) = (alone(before, after), alone(after, before));
        let mut partners: Vec<_> = fresh.iter().copied().filter(|(_, item)| has_parts(item)).rev().collect();
        let mut is_paired = vec![false; after.len()];
        for (n, old) in gone {
            let below = format!("{in_old}/{n}");
            let partner = partners.pop_if(|(_, new)| has_parts(old) && new.is_array() == old.is_array());
            match partner {
                Some((other, new)) => {
                    is_paired[other] = true;
                    self.compare(old, new, [&below, &format!("{in_new}/{other}")]);
                }
                None => self.leaves(&REMOVED, old, &below),
            }
        }
        for (n, new) in fresh.into_iter().filter(|(n, _)| !is_paired[*n]) {
            self.leaves(&ADDED, new, &format!("{in_new}/{n}"));
        }
    }

    /// Adds a difference for each leaf of a part that only one side has.
    fn leaves(&mut self, rule: &ValueRule, value: &Value, at: &str) {
        match value {
            Value::Object(members) if !members.is_empty() => {
                for (name, member) in members {
                    self.leaves(rule, member, &(at.to_owned() + &uri::step(name)));
                }
            }
            Value::Array(items) if !items.is_empty() => {
                for (n, item) in items.iter().enumerate() {
                    self.leaves(rule, item, &format!("{at}/{n}"));
                }
            }
            leaf if rule.id == REMOVED.id => self.add(rule, format!("{} was removed", short(leaf)), Some(at), None),
            leaf => self.add(rule, format!("{} was added", short(leaf)), None, Some(at)),
        }
    }

    fn add(&mut self, rule: &ValueRule, message: String, old: Option<&str>, new: Option<&str>) {
        let bump = rule.bump(self.promised);
        self.is_equal = false;
        self.is_broken |= bump == VersionBump::Major;
        let list = if bump == VersionBump::Major { &mut self.breaking } else { &mut self.others };
        if list.len() >= MOST {
            self.more += 1;
            return;
        }
        let pointer = |pointer: Option<&str>| pointer.map(str::to_owned);
        let (old_pointer, new_pointer) = (pointer(old), pointer(new));
        list.push(ValueChange { rule: rule.id.to_owned(), message, old_pointer, new_pointer, bump });
    }
}

fn has_parts(value: &Value) -> bool {
    value.is_array() || value.is_object()
}

/// Returns the items of a list that are not in another, without duplicates, with their indexes.
fn alone<'v>(items: &'v [Value], others: &[Value]) -> Vec<(usize, &'v Value)> {
    let mut seen: HashSet<String> = others.iter().map(numbers::key).collect();
    items.iter().enumerate().filter(|(_, item)| seen.insert(numbers::key(item))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn found(old: &Value, new: &Value, promised: Values) -> Vec<String> {
        let compared = values(old, new, promised);
        let line = |one: &ValueChange| {
            let pointer = |pointer: &Option<String>| pointer.clone().unwrap_or_else(|| "-".into());
            format!("{} {} {}: {}", one.rule, pointer(&one.old_pointer), pointer(&one.new_pointer), one.message)
        };
        compared.differences.iter().map(line).collect()
    }

    #[test]
    fn every_example_triggers_its_rule() {
        for rule in VALUE_RULES {
            let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
            let compared = values(&parse(rule.old), &parse(rule.new), Values::Additive);
            assert_eq!(compared.differences.iter().map(|one| &*one.rule).collect::<Vec<_>>(), [rule.id]);
            assert_eq!(compared.bump, rule.bump(Values::Additive), "{}", rule.id);
        }
    }

    #[test]
    fn leaves_are_named_on_both_sides() {
        let old = json!({"read": ["a", "b", "c"], "bucket": "x", "limits": {"a/b": 1, "deep": {"n": [1, 2]}}});
        let new = json!({"read": ["c", "d", "a"], "bucket": "y", "limits": {"deep": {"n": [2.0, 1]}}, "more": {}});
        assert_eq!(
            found(&old, &new, Values::Additive),
            [
                "value-changed /bucket /bucket: \"x\" became \"y\"",
                "value-removed /limits/a~1b -: 1 was removed",
                "value-removed /read/1 -: \"b\" was removed",
                "value-added - /read/1: \"d\" was added",
                "value-added - /more: {} was added",
            ]
        );
    }

    #[test]
    fn long_texts_are_shown_from_their_difference() {
        let text =
            |end: &str| json!(format!("{}{end}", "service Ledger { rpc Post (Entry) returns (Receipt); }\n".repeat(3)));
        let message = &values(&text("int64 a;"), &text("int32 a;"), Values::Frozen).differences[0].message;
        assert_eq!(message, r#""…pt); }\nint64 a;" became "…pt); }\nint32 a;""#);
        let message = &values(&json!("x"), &text(&"y".repeat(99)), Values::Frozen).differences[0].message;
        assert!(message.starts_with(r#""x" became "service Ledger { rpc"#) && message.ends_with("…\""), "{message}");
    }

    #[test]
    fn the_promise_decides_what_breaks() {
        let (less, more, other) = (json!({"a": [1]}), json!({"a": [1, 2]}), json!({"a": "x"}));
        for (old, new, free, additive, frozen) in [
            (&less, &less, VersionBump::Patch, VersionBump::Patch, VersionBump::Patch),
            (&less, &more, VersionBump::Patch, VersionBump::Minor, VersionBump::Major),
            (&more, &less, VersionBump::Patch, VersionBump::Major, VersionBump::Major),
            (&less, &other, VersionBump::Patch, VersionBump::Major, VersionBump::Major),
            (&Value::Null, &less, VersionBump::Patch, VersionBump::Minor, VersionBump::Major),
            (&less, &Value::Null, VersionBump::Patch, VersionBump::Major, VersionBump::Major),
            (&Value::Null, &Value::Null, VersionBump::Patch, VersionBump::Patch, VersionBump::Patch),
        ] {
            let bump = |promised| values(old, new, promised).bump;
            assert_eq!((bump(Values::Free), bump(Values::Additive), bump(Values::Frozen)), (free, additive, frozen));
        }
    }

    #[test]
    fn order_and_repetition_in_lists_are_ignored() {
        let old = json!([["b", "a"], {"x": 1, "y": [true, null]}, "s", "s"]);
        let new = json!(["s", {"y": [true, null], "x": 1.0}, ["b", "a"]]);
        assert_eq!(found(&old, &new, Values::Frozen), [""; 0]);
        // Items with parts are compared part by part, in their remaining order.
        let (old, new) = (json!([{"k": 1, "v": 1}, {"k": 2, "v": 2}]), json!([{"k": 2, "v": 3}, {"k": 1, "v": 1}]));
        assert_eq!(found(&old, &new, Values::Additive), ["value-changed /1/v /0/v: 2 became 3"]);
        assert_eq!(found(&json!([{"a": 1}]), &json!([["a"]]), Values::Additive).len(), 2);
    }

    #[test]
    fn breaks_come_first_and_the_rest_is_counted() {
        let old = json!({"z": 1});
        let new: Value = (0..100).map(|at| (format!("a{at}"), json!(at))).collect::<serde_json::Map<_, _>>().into();
        let compared = values(&old, &new, Values::Additive);
        assert_eq!((compared.differences.len(), compared.more, compared.bump), (MOST, 81, VersionBump::Major));
        assert_eq!(compared.differences[0].rule, "value-removed");
    }
}
