//! Finds the direct sub-schemas of a schema.

use super::{
    Tree, official,
    words::{DEFINITIONS, IN_PLACE, NAMED, VALUES},
};

/// Returns whether a keyword has no sub-schemas, or only ones that count when referenced.
fn is_skipped(keyword: &str) -> bool {
    VALUES.contains(&keyword) || DEFINITIONS.contains(&keyword) || keyword == official::MEMBER
}

/// Returns whether the sub-schemas of a keyword apply to the same place of the value.
fn is_in_place(keyword: &str) -> bool {
    IN_PLACE.contains(&keyword) || matches!(keyword, "dependentSchemas" | "dependencies")
}

/// Calls `take` with each direct sub-schema, and whether it applies to the same place of the value.
pub fn for_each_part<'a>(schema: Tree<'a>, mut take: impl FnMut(bool, Tree<'a>)) {
    let is_schema = |tree: &Tree<'_>| tree.is_object() || tree.is_boolean();
    for (key, tree) in schema.members().filter(|(key, _)| !is_skipped(key)) {
        let in_place = is_in_place(key);
        if !tree.is_object() {
            tree.items().filter(is_schema).for_each(|part| take(in_place, part));
        } else if NAMED.contains(&key) {
            tree.members().map(|(_, part)| part).filter(is_schema).for_each(|part| take(in_place, part));
        } else {
            take(in_place, tree);
        }
    }
}
