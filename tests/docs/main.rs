//! Documents match the program: console blocks show its output, and the references are generated. `UPDATE=1 cargo
//! test --test docs` updates them.

mod ci;
mod ci_files;
#[allow(dead_code, reason = "the suite of the packages uses more of it")]
#[path = "../testutils/distribution.rs"]
mod distribution;
mod document;
mod examples;
mod links;
mod packaging;
mod reference;
mod routes;
mod rules;
mod schemas;
#[path = "../testutils/scripted.rs"]
mod scripted;
mod tools;
mod troubleshooting;

use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Returns all documents, sorted.
fn documents() -> Vec<PathBuf> {
    let mut found = vec![Path::new(ROOT).join("README.md")];
    let mut folders = vec![Path::new(ROOT).join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in folder.read_dir().unwrap().map(Result::unwrap) {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path if path.extension().is_some_and(|extension| extension == "md") => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// Returns whether documents are to be updated.
fn is_update() -> bool {
    scripted::variable("UPDATE").is_some_and(|value| value == "1")
}

/// Compares the part of a document between `<!-- name -->` and `<!-- /name -->` with the generated text, or updates it.
#[track_caller]
fn check_section(document: &str, name: &str, text: &str) {
    let path = Path::new(ROOT).join(document);
    let written = std::fs::read_to_string(&path).unwrap();
    let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->\n"));
    let (before, rest) = written.split_once(&start).unwrap();
    let (found, after) = rest.split_once(&end).unwrap();
    if is_update() {
        std::fs::write(&path, format!("{before}{start}{text}{end}{after}")).unwrap();
    } else {
        assert!(found == text, "{document} is stale: UPDATE=1 cargo test --test docs");
    }
}

#[test]
fn readme_is_short() {
    let commands = document::commands(&Path::new(ROOT).join("README.md"));
    assert!((1..=25).contains(&commands.len()), "README.md has {} commands:\n{}", commands.len(), commands.join("\n"));
}

#[test]
fn documents_match_the_program() {
    let mut wrong = Vec::new();
    for path in documents() {
        wrong.extend(document::differences(&path).into_iter().map(|text| format!("{}{text}", path.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
