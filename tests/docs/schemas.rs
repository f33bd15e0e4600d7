//! `docs/schema/` is written from the types that are serialized.

use std::{collections::BTreeSet, path::Path};

use git_blue::ops;

use crate::{ROOT, is_update};

#[test]
fn they_are_what_the_types_say() {
    let folder = Path::new(ROOT).join("docs/schema");
    let mut stale = Vec::new();
    let mut known = BTreeSet::new();
    for (name, schema) in ops::schemas() {
        let file = format!("{name}.json");
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if is_update() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(&file), &text).unwrap();
        }
        if std::fs::read_to_string(folder.join(&file)).unwrap_or_default() != text {
            stale.push(file.clone());
        }
        assert!(jsonschema::meta::is_valid(schema.as_value()), "{name}: {text}");
        assert!(known.insert(file), "{name} is there twice");
    }
    let found: BTreeSet<_> =
        folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    stale.extend(found.difference(&known).map(|file| format!("{file} (of no operation)")));
    assert!(stale.is_empty(), "docs/schema is stale, UPDATE=1 cargo test --test docs: {stale:?}");
}
