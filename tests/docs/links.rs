//! No document leads nowhere.

use std::path::Path;

use crate::{ROOT, documents};

#[test]
fn every_relative_link_leads_to_a_file() {
    let mut broken = Vec::new();
    for path in documents() {
        let text = std::fs::read_to_string(&path).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let target = link.split('#').next().unwrap();
            let is_file = !target.is_empty() && !target.contains("://");
            if is_file && !path.parent().unwrap().join(target).exists() {
                broken.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_decision_has_the_same_parts_and_is_in_the_index() {
    let folder = Path::new(ROOT).join("docs/decisions");
    let index = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let parts = ["Context", "Decision", "Consequences", "What was measured", "Rejected"];
    for path in documents().iter().filter(|path| path.parent() == Some(&folder) && !path.ends_with("README.md")) {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(index.contains(&format!("]({name})")), "the index lacks {name}");
        let text = std::fs::read_to_string(path).unwrap();
        let found: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        assert_eq!(found.get(..2), Some(&parts[..2]), "{name}");
        assert!(found.iter().all(|part| parts.contains(part)), "{name}: {found:?}");
    }
}
