//! Finds the direct sub-schemas of a schema.

use super::{Tree, official};

/// Keywords whose value maps names to sub-schemas.
pub const NAMED: [&str; 4] = ["properties", "patternProperties", "dependentSchemas", "dependencies"];
/// Keywords without sub-schemas, or whose sub-schemas count only when referenced.
pub const SKIPPED: [&str; 7] = ["$defs", "definitions", "enum", "const", "default", "examples", official::MEMBER];
/// Keywords whose sub-schemas apply to the same place of the value.
pub const IN_PLACE: [&str; 9] =
    ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"];

/// Calls `take` with each direct sub-schema, and whether it applies to the same place of the value.
pub fn for_each_part_of_tree<'a>(schema: Tree<'a>, mut take: impl FnMut(bool, Tree<'a>)) {
    let is_schema = |tree: &Tree<'_>| tree.is_object() || tree.is_boolean();
    for (key, tree) in schema.members().filter(|(key, _)| !SKIPPED.contains(key)) {
        let in_place = IN_PLACE.contains(&key);
        match tree.is_object() {
            true if NAMED.contains(&key) => {
                tree.members().map(|(_, part)| part).filter(is_schema).for_each(|part| take(in_place, part));
            }
            true => take(in_place, tree),
            false => tree.items().filter(is_schema).for_each(|part| take(in_place, part)),
        }
    }
}
