//! No document leads nowhere.

use crate::documents;

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
