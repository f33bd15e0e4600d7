//! The labeled pairs of `pairs.txt`.

use serde_json::{Value, json};

use crate::world::{compare, label, unconfirmed};

/// Returns a schema of the file under the draft of its section.
fn schema(text: &str, draft: &str) -> Value {
    let schema: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let scheme = if draft.starts_with("draft/") { "https" } else { "http" };
    match schema {
        Value::Object(mut members) => {
            members.insert("$schema".into(), json!(format!("{scheme}://json-schema.org/{draft}/schema")));
            Value::Object(members)
        }
        // A boolean schema cannot name its draft.
        other => other,
    }
}

#[test]
fn pairs_match_their_labels() {
    let (mut draft, mut count, mut wrong) = ("", 0, Vec::new());
    for line in include_str!("pairs.txt").lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        if let Some(section) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            draft = section;
            continue;
        }
        let parts: Vec<_> = line.split(" | ").collect();
        let [expected, old, new, why] = parts[..] else { panic!("{line}") };
        let (old, new) = (schema(old, draft), schema(new, draft));
        let found = compare(&old, &new);
        let unconfirmed = unconfirmed(&old, &new, &found);
        if label(&found) != expected || !unconfirmed.is_empty() {
            wrong.push(format!(
                "{draft}: {expected}, found {}: {why}\n  {old}\n  {new}\n  {unconfirmed:?}",
                label(&found)
            ));
        }
        count += 1;
    }
    assert!(count >= 400, "{count} pairs");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}
