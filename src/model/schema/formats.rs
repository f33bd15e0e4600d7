//! Formats that differ between two schemas, but which no comparison considers, since their draft does not assert them.

use super::{
    Draft, KeywordKind, KeywordWarning, Tree,
    words::{NAMED, VALUES, asserts_format},
};
use crate::model::pointer::escape;

/// Returns a warning for each place where `format` differs between two schemas although neither format is asserted.
/// Pointers lead into the new schema.
pub fn uncompared_formats(old: Tree<'_>, new: Tree<'_>) -> Vec<KeywordWarning> {
    let drafts = [old, new].map(draft_of);
    let mut found = Vec::new();
    let mut waiting = vec![(String::new(), old, new)];
    while let Some((pointer, old, new)) = waiting.pop() {
        if old.id() == new.id() {
            continue;
        }
        let formats = [old, new].map(|schema| schema.get("format").and_then(Tree::as_str));
        let is_asserted =
            formats.iter().zip(drafts).any(|(one, draft)| one.is_some_and(|one| asserts_format(one, draft)));
        if formats[0] != formats[1] && !is_asserted {
            found.push(warning(&pointer, formats, drafts[1]));
        }
        waiting.extend(below(&pointer, old, new));
    }
    found.sort_by(|a, b| a.pointer.cmp(&b.pointer));
    found
}

fn draft_of(schema: Tree<'_>) -> Draft {
    schema.get("$schema").and_then(Tree::as_str).and_then(Draft::of).unwrap_or(Draft::D2020)
}

/// Returns the sub-schemas that both schemas have at the same place.
fn below<'t>(pointer: &str, old: Tree<'t>, new: Tree<'t>) -> Vec<(String, Tree<'t>, Tree<'t>)> {
    let mut found = Vec::new();
    for (word, old) in old.members().filter(|(word, _)| !VALUES.contains(word)) {
        let Some(new) = new.get(word) else { continue };
        let pointer = format!("{pointer}/{}", escape(word));
        if NAMED.contains(&word) {
            let shared = old.members().filter_map(|(name, old)| Some((name, old, new.get(name)?)));
            found.extend(shared.map(|(name, old, new)| (format!("{pointer}/{}", escape(name)), old, new)));
        } else {
            let items = old.items().zip(new.items()).enumerate();
            found.extend(items.map(|(at, (old, new))| (format!("{pointer}/{at}"), old, new)));
            found.push((pointer, old, new));
        }
    }
    found
}

fn warning(pointer: &str, [old, new]: [Option<&str>; 2], draft: Draft) -> KeywordWarning {
    let change = match (old, new) {
        (Some(old), Some(new)) => format!("it changed from {old:?} to {new:?}"),
        (Some(old), None) => format!("{old:?} was removed"),
        (None, new) => format!("{:?} was added", new.unwrap_or_default()),
    };
    let place = if new.is_some() { "/format" } else { "" };
    let (pointer, suggestion) = (format!("{pointer}{place}"), format!("{change}: ask those who rely on it"));
    KeywordWarning { pointer, keyword: "format".to_owned(), kind: KeywordKind::UncomparedFormat(draft), suggestion }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::model::schema::Forest;

    fn found(old: &Value, new: &Value) -> Vec<String> {
        let mut forest = Forest::default();
        let [old, new] = [forest.add(old), forest.add(new)];
        uncompared_formats(forest.tree(old), forest.tree(new)).into_iter().map(|one| one.pointer).collect()
    }

    #[test]
    fn only_formats_that_are_not_asserted_are_found() {
        let of = |schema: &str, format: &str| json!({"$schema": schema, "properties": {"format": {"format": format}}});
        let place = ["/properties/format/format".to_owned()];
        for draft in [Draft::D2019, Draft::D2020] {
            let [old, new] = ["date", "time"].map(|format| of(draft.uri(), format));
            assert_eq!(found(&old, &new), place);
            assert!(found(&old, &old).is_empty());
        }
        assert!(found(&of(Draft::D7.uri(), "date"), &of(Draft::D7.uri(), "time")).is_empty());
        assert!(found(&of(Draft::D7.uri(), "date"), &of(Draft::D7.uri(), "int32")).is_empty());
        assert_eq!(found(&of(Draft::D7.uri(), "int64"), &of(Draft::D7.uri(), "int32")), place);
    }

    #[test]
    fn added_and_removed_formats_are_found_below_lists_but_not_in_values() {
        let of = |one: Value, value: &str| json!({"allOf": [{}, one], "default": {"format": value}});
        let (with, without) = (of(json!({"format": "date"}), "a"), of(json!({}), "b"));
        assert_eq!(found(&without, &with), ["/allOf/1/format"]);
        assert_eq!(found(&with, &without), ["/allOf/1"]);
    }
}
