//! Changing one place of a JSON file that its user wrote, and not a byte of the rest: his order,
//! indentation and line ends stay.

mod scan;

use serde::Serialize as _;
use serde_json::{Map, Value, json};

use self::scan::{Children, Node, parse};

/// What to put in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum New<'a> {
    /// A member of an object.
    Member(&'a str, &'a Value),
    /// One more item of an array.
    Item(&'a Value),
}

/// One step from the top towards what is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step<'a> {
    /// The member of this name.
    Key(&'a str),
    /// Any item.
    Each,
}

/// Text, and where it belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Insertion {
    /// Behind so many bytes.
    pub at: usize,
    /// The text.
    pub text: String,
}

impl Insertion {
    /// Returns the text with it.
    pub fn put_into(&self, text: &str) -> String {
        [&text[..self.at], &self.text, &text[self.at..]].concat()
    }
}

/// Why a text cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfit {
    /// What is wrong with it.
    pub message: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

/// Returns what makes `new` stand below the members that `path` names, which are made where they are
/// missing.
///
/// # Errors
/// Where the text is not JSON, or something else stands there.
pub fn insert(text: &str, path: &[&str], new: New<'_>) -> Result<Insertion, Unfit> {
    let root = parse(text)?;
    let (mut node, mut rest) = (&root, path);
    while let Some((key, below)) = rest.split_first() {
        let Some(found) = node.member(key, text)? else { break };
        (node, rest) = (found, below);
    }
    let wrapped;
    let new = match rest.split_first() {
        None => new,
        Some((first, below)) => {
            wrapped = wrapped_in(below, new);
            New::Member(first, &wrapped)
        }
    };
    match (&node.children, new) {
        (Children::Object(_), New::Member(..)) | (Children::Array(_), New::Item(_)) => {}
        (_, New::Member(..)) => return Err(unfit(text, node.start, "an object is expected here")),
        (_, New::Item(_)) => return Err(unfit(text, node.start, "an array is expected here")),
    }
    Ok(root.insertion(node, text, new))
}

/// Returns the values that `steps` lead to.
///
/// # Errors
/// Where the text is not JSON, or names the same member twice.
pub fn find(text: &str, steps: &[Step<'_>]) -> Result<Vec<Value>, Unfit> {
    let root = parse(text)?;
    let mut found = Vec::new();
    root.walk(text, steps, &mut Vec::new(), &mut |trail, node| {
        if !trail.is_empty() {
            found.push(node.value(text));
        }
        false
    })?;
    Ok(found)
}

/// Returns the text without the values that `steps` lead to and `is_meant` accepts, and without what
/// holds nothing else.
///
/// # Errors
/// Where the text is not JSON, or names the same member twice.
pub fn remove(text: &str, steps: &[Step<'_>], is_meant: impl Fn(&Value) -> bool) -> Result<String, Unfit> {
    let mut text = text.to_owned();
    loop {
        let root = parse(&text)?;
        let mut trail = Vec::new();
        let was_found = root.walk(&text, steps, &mut trail, &mut |_, node| is_meant(&node.value(&text)))?;
        let Some((start, end)) = was_found.then(|| root.span(&trail, steps)).flatten() else {
            return Ok(text);
        };
        text.replace_range(start..end, "");
    }
}

/// Returns a value as a file that holds nothing else.
pub fn file(path: &[&str], new: New<'_>) -> String {
    rendered(&wrapped_in(path, new), "  ", "", "\n") + "\n"
}

fn wrapped_in(path: &[&str], new: New<'_>) -> Value {
    let innermost = match new {
        New::Member(key, value) => json!({ key: value }),
        New::Item(value) => json!([value]),
    };
    path.iter().rev().fold(innermost, |value, key| Value::Object(Map::from_iter([((*key).to_owned(), value)])))
}

impl Node {
    fn value(&self, text: &str) -> Value {
        serde_json::from_str(&text[self.start..self.end]).unwrap_or_default()
    }

    fn member(&self, key: &str, text: &str) -> Result<Option<&Self>, Unfit> {
        let Children::Object(members) = &self.children else {
            return Err(unfit(text, self.start, "an object is expected here"));
        };
        let mut named = members.iter().filter(|member| member.key == key);
        let found = named.next();
        match named.next() {
            Some(again) => Err(unfit(text, again.start, &format!("the key {key:?} is there twice"))),
            None => Ok(found.map(|member| &member.value)),
        }
    }

    /// Where each child starts and ends, the names of members with them.
    fn spans(&self) -> Vec<(usize, usize)> {
        match &self.children {
            Children::Object(members) => members.iter().map(|member| (member.start, member.value.end)).collect(),
            Children::Array(items) => items.iter().map(|item| (item.start, item.end)).collect(),
            Children::None => Vec::new(),
        }
    }

    fn child(&self, at: usize) -> Option<&Self> {
        match &self.children {
            Children::Object(members) => members.get(at).map(|member| &member.value),
            Children::Array(items) => items.get(at),
            Children::None => None,
        }
    }

    /// Goes wherever the steps lead, until `visit` says that this is it. `trail` is then the way.
    fn walk(
        &self,
        text: &str,
        steps: &[Step<'_>],
        trail: &mut Vec<usize>,
        visit: &mut impl FnMut(&[usize], &Self) -> bool,
    ) -> Result<bool, Unfit> {
        let Some((step, below)) = steps.split_first() else { return Ok(visit(trail, self)) };
        let children: Vec<(usize, &Self)> = match (step, &self.children) {
            (Step::Key(key), Children::Object(members)) => {
                self.member(key, text)?;
                let at = members.iter().position(|member| member.key == *key);
                at.and_then(|at| Some((at, self.child(at)?))).into_iter().collect()
            }
            (Step::Each, Children::Array(items)) => items.iter().enumerate().collect(),
            // What stands there is somebody else's, and nothing of ours is in it.
            _ => Vec::new(),
        };
        for (at, child) in children {
            trail.push(at);
            if child.walk(text, below, trail, visit)? {
                return Ok(true);
            }
            trail.pop();
        }
        Ok(false)
    }

    /// Returns what to cut so that the value at the end of the trail is gone, with what holds nothing
    /// else, and with the item of a list that was there for it.
    fn span(&self, trail: &[usize], steps: &[Step<'_>]) -> Option<(usize, usize)> {
        let mut nodes = vec![self];
        for at in trail {
            nodes.push(nodes.last()?.child(*at)?);
        }
        let mut level = trail.len().checked_sub(1)?;
        while level > 0 && nodes[level].spans().len() == 1
            || (level > 0 && steps[level - 1] == Step::Each && level + 1 < trail.len())
        {
            level -= 1;
        }
        let (holder, at) = (nodes[level], trail[level]);
        let spans = holder.spans();
        Some(match (at.checked_sub(1), spans.get(at + 1)) {
            (Some(before), _) => (spans[before].1, spans[at].1),
            (None, Some(after)) => (spans[at].0, after.0),
            (None, None) => (holder.start + 1, holder.end - 1),
        })
    }

    /// Puts something behind the last child of `holder`, in the way of what is there already.
    fn insertion(&self, holder: &Self, text: &str, new: New<'_>) -> Insertion {
        let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let unit = self.spans().first().and_then(|(start, _)| indent(text, *start)).filter(|unit| !unit.is_empty());
        let is_spread = unit.is_some() || self.spans().is_empty();
        let unit = unit.unwrap_or("  ");
        let content = |indent: &str, is_spread: bool| {
            let value = |value: &Value| match is_spread {
                true => rendered(value, unit, indent, line_end),
                false => value.to_string(),
            };
            match new {
                New::Member(key, member) => format!("{}: {}", Value::from(key), value(member)),
                New::Item(item) => value(item),
            }
        };
        match holder.spans().last() {
            Some((start, end)) => {
                let text = match indent(text, *start) {
                    Some(indent) => format!(",{line_end}{indent}{}", content(indent, true)),
                    None => format!(", {}", content("", false)),
                };
                Insertion { at: *end, text }
            }
            None if !is_spread => Insertion { at: holder.start + 1, text: content("", false) },
            None => {
                let around = line_indent(text, holder.start);
                let within = format!("{around}{unit}");
                let mut inserted = format!("{line_end}{within}{}", content(&within, true));
                if !text[holder.start..holder.end].contains('\n') {
                    inserted += &format!("{line_end}{around}");
                }
                Insertion { at: holder.start + 1, text: inserted }
            }
        }
    }
}

/// Returns the white space before `at`, if nothing else stands before it in its line.
fn indent(text: &str, at: usize) -> Option<&str> {
    let line = text[..at].rfind('\n')? + 1;
    let before = &text[line..at];
    before.bytes().all(|byte| matches!(byte, b' ' | b'\t')).then_some(before)
}

/// Returns the white space at the start of the line that `at` is in.
fn line_indent(text: &str, at: usize) -> &str {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let rest = &text[line..at];
    &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
}

fn rendered(value: &Value, unit: &str, indent: &str, line_end: &str) -> String {
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    value.serialize(&mut serializer).unwrap_or_else(|error| unreachable!("values have a JSON form: {error}"));
    // Strings hold no bare line ends.
    String::from_utf8_lossy(&bytes).replace('\n', &format!("{line_end}{indent}"))
}

fn unfit(text: &str, at: usize, message: &str) -> Unfit {
    let before = &text[..at];
    let line = before.matches('\n').count() + 1;
    let column = before.rfind('\n').map_or(at, |end| at - end - 1) + 1;
    Unfit { message: message.to_owned(), line, column }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
        insert(text, &PATH, New::Item(&group())).unwrap().put_into(text)
    }

    #[test]
    fn what_is_there_keeps_its_looks() {
        for (before, after) in [
            (
                "{\n\t\"a\": 1\n}",
                "{\n\t\"a\": 1,\n\t\"hooks\": {\n\t\t\"SessionStart\": [\n\t\t\t{\n\t\t\t\t\"hooks\": [\n\t\t\t\t\t{\n\t\t\t\t\t\t\"command\": \"ours\"\n\t\t\t\t\t}\n\t\t\t\t]\n\t\t\t}\n\t\t]\n\t}\n}",
            ),
            (r#"{"a":1}"#, r#"{"a":1, "hooks": {"SessionStart":[{"hooks":[{"command":"ours"}]}]}}"#),
            (
                r#"{"hooks":{"SessionStart":[{"hooks":[]}]}}"#,
                r#"{"hooks":{"SessionStart":[{"hooks":[]}, {"hooks":[{"command":"ours"}]}]}}"#,
            ),
            (r#"{"hooks":{}}"#, r#"{"hooks":{"SessionStart": [{"hooks":[{"command":"ours"}]}]}}"#),
        ] {
            assert_eq!(with(before), after);
        }
        let windows = with("{\r\n  \"a\": {}\r\n}\r\n");
        assert_eq!(windows.matches('\n').count(), windows.matches("\r\n").count());
        assert_eq!(with("{}\n"), file(&PATH, New::Item(&group())));
        assert_eq!(with("{\n}\n"), file(&PATH, New::Item(&group())));
    }

    #[test]
    fn what_is_taken_out_takes_with_it_what_it_was_alone_in() {
        for (before, after) in [
            (r#"{"hooks":{"SessionStart":[{"hooks":[{"command":"ours"}]}]}}"#, "{}"),
            (r#"{"a":1, "hooks":{"SessionStart":[{"hooks":[{"command":"ours"}]}]}}"#, r#"{"a":1}"#),
            (
                r#"{"hooks":{"SessionStart":[{"matcher":"","hooks":[{"command":"ours"}]}], "b":[]}}"#,
                r#"{"hooks":{"b":[]}}"#,
            ),
            (
                r#"{"hooks":{"SessionStart":[{"hooks":[{"command":"ours"},{"command":"x"},{"command":"ours"}]}]}}"#,
                r#"{"hooks":{"SessionStart":[{"hooks":[{"command":"x"}]}]}}"#,
            ),
            (r#"{"hooks":{"SessionStart":3}}"#, r#"{"hooks":{"SessionStart":3}}"#),
            (r#"{"hooks":[]}"#, r#"{"hooks":[]}"#),
        ] {
            assert_eq!(remove(before, &STEPS, is_ours).unwrap(), after);
        }
    }

    #[test]
    fn what_cannot_be_changed_says_where() {
        for (text, expected) in [
            ("", "1:0 EOF while parsing a value"),
            ("{\n  // mine\n}", "2:3 key must be a string"),
            ("{\"a\":1,}", "1:8 trailing comma"),
            ("[]", "1:1 an object is expected here"),
            ("{\n \"hooks\": 3}", "2:11 an object is expected here"),
            ("{\"hooks\": {\"SessionStart\": {}}}", "1:28 an array is expected here"),
            ("{\"hooks\": {},\n\"hooks\": {}}", "2:1 the key \"hooks\" is there twice"),
        ] {
            let error = insert(text, &PATH, New::Item(&group())).unwrap_err();
            assert_eq!(format!("{}:{} {}", error.line, error.column, error.message), expected, "{text}");
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,6}".prop_map(Value::from)
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map("[a-c\"\\\\]{0,2}|hooks", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_rest_stays_and_comes_back(rest in proptest::collection::btree_map("[a-c]{1,2}", any_json(), 0..4), others in proptest::collection::vec(any_json(), 0..3), is_pretty: bool) {
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
            prop_assert_eq!(remove(&after, &STEPS, is_ours).unwrap(), before);
            prop_assert_eq!(find(&after, &STEPS).unwrap().iter().filter(|one| is_ours(one)).count(), 1);
        }
    }
}
