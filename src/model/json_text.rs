//! Edits one place of a JSON file that a user wrote, preserving order, indentation and line endings.

use jsonc_parser::{
    ParseOptions,
    cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode},
};
use serde_json::Value;

/// The value to insert.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum New<'a> {
    /// A member of an object.
    Member(&'a str, &'a Value),
    /// Another item of an array.
    Item(&'a Value),
}

/// One step on the path from the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// The member of this name.
    Key(&'a str),
    /// Any item.
    Each,
}

/// The reason why a text cannot be edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditRefusal {
    /// The problem, as a sentence.
    pub message: String,
    /// The line and column, from 1, of a syntax error.
    pub place: Option<(usize, usize)>,
}

impl EditRefusal {
    fn new(message: String) -> Self {
        Self { message, place: None }
    }
}

/// Returns the text with `new` inserted at `path`. Missing members on the path are created.
///
/// # Errors
/// Returns an error if the text is not JSON, or a member has another type.
pub fn insert(text: &str, path: &[&str], new: New<'_>) -> Result<String, EditRefusal> {
    let root = parse(text)?;
    put_below(&root, path, new)?;
    Ok(root.to_string())
}

/// Returns the text of a new file that contains only this value.
pub fn file(path: &[&str], new: New<'_>) -> String {
    insert("{}\n", path, new).unwrap_or_else(|unfit| unreachable!("the file contains nothing else: {}", unfit.message))
}

/// Returns the values at `steps`.
///
/// # Errors
/// Returns an error if the text is not JSON, or names the same member twice.
pub fn find(text: &str, steps: &[Step<'_>]) -> Result<Vec<Value>, EditRefusal> {
    let mut found = Vec::new();
    if let Some(top) = parse(text)?.value() {
        remove_below(&top, steps, &mut |value| {
            found.push(value.clone());
            false
        })?;
    }
    Ok(found)
}

/// Returns the text without the values at `steps` that `is_meant` accepts, and without parents that become empty.
///
/// # Errors
/// Returns an error if the text is not JSON, or names the same member twice.
pub fn remove(text: &str, steps: &[Step<'_>], mut is_meant: impl FnMut(&Value) -> bool) -> Result<String, EditRefusal> {
    let root = parse(text)?;
    if let Some(top) = root.value() {
        remove_below(&top, steps, &mut is_meant)?;
    }
    Ok(root.to_string())
}

/// Refuses comments and trailing commas. The functions of this module accept them, but not every program that reads
/// such files does.
///
/// # Errors
/// Returns an error if the text is not JSON by RFC 8259.
pub fn require_plain(text: &str) -> Result<(), EditRefusal> {
    serde_json::from_str::<Value>(text).map(drop).map_err(|error| {
        let said = error.to_string();
        let message = said.split_once(" at line ").map_or(&*said, |(message, _)| message).to_owned();
        EditRefusal { message, place: Some((error.line(), error.column())) }
    })
}

fn parse(text: &str) -> Result<CstRootNode, EditRefusal> {
    CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| EditRefusal {
        message: error.kind().to_string(),
        place: Some((error.line_display(), error.column_display())),
    })
}

fn put_below(root: &CstRootNode, path: &[&str], new: New<'_>) -> Result<(), EditRefusal> {
    let expected = |what: &str, at: &[&str]| {
        let place = if at.is_empty() { "at the top level".to_owned() } else { format!("in {}", at.join(".")) };
        EditRefusal::new(format!("{what} is expected {place}"))
    };
    let mut holder = root.object_value().ok_or_else(|| expected("an object", &[]))?;
    let (objects, list) = match (new, path.split_last()) {
        (New::Item(_), Some((last, before))) => (before, Some(*last)),
        _ => (path, None),
    };
    for (at, key) in objects.iter().enumerate() {
        one(&holder, key)?;
        holder = holder.object_value_or_create(key).ok_or_else(|| expected("an object", &path[..=at]))?;
    }
    match (new, list) {
        (New::Member(key, value), _) => {
            one(&holder, key)?;
            holder.append(key, input(value));
        }
        (New::Item(value), Some(key)) => {
            one(&holder, key)?;
            let list = holder.array_value_or_create(key).ok_or_else(|| expected("an array", path))?;
            list.append(input(value));
        }
        (New::Item(_), None) => return Err(expected("an array", &[])),
    }
    Ok(())
}

/// The rest of a value after a removal.
#[derive(PartialEq, Eq)]
enum Remainder {
    /// The value is unchanged.
    All,
    /// Something was removed, and other content is left.
    Some,
    /// Nothing is left.
    Nothing,
}

fn remove_below(
    node: &CstNode,
    steps: &[Step<'_>],
    is_meant: &mut impl FnMut(&Value) -> bool,
) -> Result<Remainder, EditRefusal> {
    let Some((step, below)) = steps.split_first() else {
        let value = node.to_serde_value().unwrap_or_default();
        return Ok(if is_meant(&value) { Remainder::Nothing } else { Remainder::All });
    };
    match step {
        Step::Key(key) => {
            // A value of another type was not written by this program and contains nothing to remove.
            let Some(object) = node.as_object() else { return Ok(Remainder::All) };
            let Some(value) = one(&object, key)? else { return Ok(Remainder::All) };
            if remove_below(&value, below, is_meant)? != Remainder::Nothing {
                return Ok(Remainder::All);
            }
            if let Some(member) = object.get(key) {
                member.remove();
            }
            Ok(if object.properties().is_empty() { Remainder::Nothing } else { Remainder::Some })
        }
        Step::Each => {
            let Some(array) = node.as_array() else { return Ok(Remainder::All) };
            let before = array.elements().len();
            for item in array.elements() {
                // An item is removed once its member on the path is gone, even if it has other members.
                if remove_below(&item, below, is_meant)? != Remainder::All {
                    item.remove();
                }
            }
            Ok(left_of(&array, before))
        }
    }
}

fn left_of(array: &CstArray, before: usize) -> Remainder {
    match array.elements().len() {
        now if now == before => Remainder::All,
        0 => Remainder::Nothing,
        _ => Remainder::Some,
    }
}

/// Returns the value of the member with this name.
fn one(object: &CstObject, key: &str) -> Result<Option<CstNode>, EditRefusal> {
    let mut named = object.properties().into_iter().filter(|member| {
        let name = member.name().and_then(|name| name.decoded_value().ok());
        name.is_some_and(|name| name == key)
    });
    let first = named.next();
    match named.next() {
        Some(_) => Err(EditRefusal::new(format!("duplicate key {key:?}"))),
        None => Ok(first.and_then(|member| member.value())),
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::model::json::tests::json_with;

    const PATH: [&str; 2] = ["hooks", "SessionStart"];
    const STEPS: [Step<'_>; 5] =
        [Step::Key("hooks"), Step::Key("SessionStart"), Step::Each, Step::Key("hooks"), Step::Each];

    fn group() -> Value {
        json!({"hooks": [{"command": "ours"}]})
    }

    fn is_ours(value: &Value) -> bool {
        value["command"] == "ours"
    }

    fn with(text: &str) -> String {
        insert(text, &PATH, New::Item(&group())).unwrap()
    }

    #[test]
    fn insert_preserves_the_formatting() {
        assert_eq!(
            with("{\n\t\"b\": 1.50,\n\t\"a\": \"\\u00e9\"\n}"),
            "{\n\t\"b\": 1.50,\n\t\"a\": \"\\u00e9\",\n\t\"hooks\": {\n\t\t\"SessionStart\": \
                [\n\t\t\t{\n\t\t\t\t\"hooks\": [\n\t\t\t\t\t{\n\t\t\t\t\t\t\"command\": \
                \"ours\"\n\t\t\t\t\t}\n\t\t\t\t]\n\t\t\t}\n\t\t]\n\t}\n}",
        );
        let windows = with("{\r\n  \"a\": {}\r\n}\r\n");
        assert_eq!(windows.matches('\n').count(), windows.matches("\r\n").count());
    }

    #[test]
    fn remove_also_removes_parents_that_become_empty() {
        for (before, after) in [
            (r#"{"hooks":{"SessionStart":[{"hooks":[{"command":"ours"}]}]}}"#, json!({})),
            (r#"{"a":1, "hooks":{"SessionStart":[{"hooks":[{"command":"ours"}]}]}}"#, json!({"a": 1})),
            (
                r#"{"hooks":{"SessionStart":[{"matcher":"","hooks":[{"command":"ours"}]}], "b":[]}}"#,
                json!({"hooks": {"b": []}}),
            ),
            (
                r#"{"hooks":{"SessionStart":[{"hooks":[{"command":"ours"},{"command":"x"},{"command":"ours"}]}]}}"#,
                json!({"hooks": {"SessionStart": [{"hooks": [{"command": "x"}]}]}}),
            ),
            (r#"{"hooks":{"SessionStart":3}}"#, json!({"hooks": {"SessionStart": 3}})),
            (r#"{"hooks":[]}"#, json!({"hooks": []})),
        ] {
            let removed = remove(before, &STEPS, is_ours).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&removed).unwrap(), after, "{before}");
        }
    }

    #[test]
    fn texts_that_cannot_be_edited_are_refused_with_a_reason() {
        for (text, place, message) in [
            ("[]", None, "an object is expected at the top level"),
            ("{\n \"hooks\": 3}", None, "an object is expected in hooks"),
            ("{\"hooks\": {\"SessionStart\": {}}}", None, "an array is expected in hooks.SessionStart"),
            ("{\"hooks\": {},\n\"hooks\": {}}", None, "duplicate key \"hooks\""),
        ] {
            let error = insert(text, &PATH, New::Item(&group())).unwrap_err();
            assert_eq!((error.place, &*error.message), (place, message), "{text}");
        }
    }

    #[test]
    fn comments_are_kept_where_they_are_allowed() {
        let text = "{\n  // mine\n  \"a\": 1,\n}\n";
        let with = with(text);
        assert!(with.starts_with("{\n  // mine\n  \"a\": 1,\n"), "{with}");
        assert!(remove(&with, &STEPS, is_ours).unwrap().contains("// mine"));
        for (text, place, message) in [
            ("", (1, 0), "EOF while parsing a value"),
            ("{\n  // mine\n}", (2, 3), "key must be a string"),
            ("{\"a\":1,}", (1, 8), "trailing comma"),
        ] {
            let error = require_plain(text).unwrap_err();
            assert_eq!((error.place, &*error.message), (Some(place), message), "{text}");
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        json_with(".{0,6}", "[a-c\"\\\\]{0,2}|hooks")
    }

    proptest! {
        #[test]
        fn insert_and_remove_change_nothing_else(rest in proptest::collection::btree_map("[a-c]{1,2}", any_json(), 0..4), others in proptest::collection::vec(any_json(), 0..3), is_pretty: bool) {
            let mut value = Value::Object(rest.into_iter().collect());
            if !others.is_empty() {
                value["hooks"] = json!({"SessionStart": others});
            }
            let before = if is_pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
            let after = with(&before);
            let mut expected = value.clone();
            if others.is_empty() {
                expected["hooks"] = json!({"SessionStart": []});
            }
            expected["hooks"]["SessionStart"].as_array_mut().unwrap().push(group());
            prop_assert_eq!(serde_json::from_str::<Value>(&after).unwrap(), expected);
            let removed = remove(&after, &STEPS, is_ours).unwrap();
            prop_assert_eq!(serde_json::from_str::<Value>(&removed).unwrap(), value);
            prop_assert_eq!(find(&after, &STEPS).unwrap().iter().filter(|one| is_ours(one)).count(), 1);
        }
    }
}
