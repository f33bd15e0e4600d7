//! Links in documents are valid.

use std::path::{Path, PathBuf};

use crate::{ROOT, documents};

#[test]
fn relative_links_lead_to_files() {
    let mut broken = Vec::new();
    for path in documents() {
        let text = std::fs::read_to_string(&path).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap();
            let is_file = !target.is_empty() && !target.contains("://");
            // README has this name in the book.
            let is_begin = path.ends_with("SUMMARY.md") && target == "begin.md";
            if is_file && !is_begin && !path.parent().unwrap().join(target).exists() {
                broken.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Returns the Rust files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    entries.flat_map(below).filter(|path| path.extension().is_some_and(|end| end == "rs")).collect()
}

#[test]
fn sources_that_documents_name_exist() {
    let known: Vec<_> =
        ["src", "tests", "benches", "examples"].iter().flat_map(|name| sources(&Path::new(ROOT).join(name))).collect();
    let exists = |name: &str| Path::new(ROOT).join(name).exists() || known.iter().any(|path| path.ends_with(name));
    let mut missing = Vec::new();
    for path in documents() {
        let text = std::fs::read_to_string(&path).unwrap();
        // Every second part is in backticks.
        let quoted = text.split('`').skip(1).step_by(2);
        let named = quoted.filter(|word| word.ends_with(".rs") && !word.contains(['<', '*', ' ', '…']));
        missing.extend(named.filter(|name| !exists(name)).map(|name| format!("{}: {name}", path.display())));
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// Returns the anchor of a heading.
fn anchor(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = words.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[test]
fn heading_links_lead_to_headings() {
    let mut broken = Vec::new();
    for path in documents() {
        let text = std::fs::read_to_string(&path).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let Some((file, fragment)) = link.split_once('#').filter(|(file, _)| !file.contains("://")) else {
                continue;
            };
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            let headings = std::fs::read_to_string(&target).unwrap_or_default();
            if !headings.lines().any(|line| line.starts_with('#') && anchor(line) == fragment) {
                broken.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn book_has_every_document() {
    let folder = Path::new(ROOT).join("docs");
    let summary = std::fs::read_to_string(folder.join("SUMMARY.md")).unwrap();
    let decisions = folder.join("decisions");
    let is_chapter = |path: &Path| path.starts_with(&folder) && path.parent() != Some(&decisions);
    for path in documents().iter().filter(|path| is_chapter(path) && !path.ends_with("SUMMARY.md")) {
        let name = path.strip_prefix(&folder).unwrap().display().to_string();
        assert!(summary.contains(&format!("]({name})")), "docs/SUMMARY.md lacks {name}");
    }
}

#[test]
fn decisions_have_the_same_parts_and_are_indexed() {
    let folder = Path::new(ROOT).join("docs/decisions");
    let index = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let parts = ["Context", "Decision", "Consequences", "What was measured", "Rejected"];
    for path in documents().iter().filter(|path| path.parent() == Some(&folder) && !path.ends_with("README.md")) {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(index.contains(&format!("]({name})")), "the index lacks {name}");
        let text = std::fs::read_to_string(path).unwrap();
        let title = text.lines().next().and_then(|line| line.split_once(". ")).unwrap().1;
        assert_eq!(name[5..].strip_suffix(".md"), Some(slug(title).as_str()), "{name}: named after its title");
        let found: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        assert_eq!(found.get(..2), Some(&parts[..2]), "{name}");
        assert!(found.iter().all(|part| parts.contains(part)), "{name}: {found:?}");
    }
}

/// Returns a title as part of a file name: lower case, with hyphens.
fn slug(title: &str) -> String {
    let plain = title.to_lowercase().replace(['\'', '`'], "");
    plain.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
}
