//! `docs/schema/` is generated from the types that are serialized.

use std::{collections::BTreeSet, path::Path};

use git_blue::ops::{self, publish::editor_schemas};
use schemars::Schema;

use crate::{ROOT, is_update};

#[test]
fn they_are_what_the_types_say() {
    let answers = ops::schemas().into_iter().map(|(name, schema)| (name.to_owned(), schema));
    hold("docs/schema", answers.collect());
}

#[test]
fn the_schemas_of_files_are_what_the_types_say() {
    let files = editor_schemas::all().map(|one| (format!("{}.schema", one.kind), one.schema));
    hold("docs/schema/files", files.into());
}

fn hold(folder: &str, schemas: Vec<(String, Schema)>) {
    let folder = Path::new(ROOT).join(folder);
    let mut stale = Vec::new();
    let mut known = BTreeSet::new();
    for (name, schema) in schemas {
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
    let files = folder.read_dir().unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file());
    let found: BTreeSet<_> = files.map(|entry| entry.file_name().into_string().unwrap()).collect();
    stale.extend(found.difference(&known).map(|file| format!("{file} (of no operation)")));
    assert!(stale.is_empty(), "docs/schema is stale, UPDATE=1 cargo test --test docs: {stale:?}");
}
