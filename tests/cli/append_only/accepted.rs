//! Consumers hear of a published version whose changed content the owner accepted.

use serde_json::{Value, json};

use super::{CURRENT, PUBLISHED, Three, command};
use crate::world::DOMAIN_REF;

fn with_type(three: &Three, path: &str) -> Value {
    let mut document = three.at_hub(DOMAIN_REF, path).unwrap();
    for field in document["schema"]["properties"].as_object_mut().unwrap().values_mut() {
        *field = json!({"type": "boolean"});
    }
    for field in document["value"].as_object_mut().unwrap().values_mut() {
        *field = json!(true);
    }
    for hash in ["content_hash", "schema_hash"] {
        document.as_object_mut().unwrap().remove(hash);
    }
    document
}

#[test]
fn accepted_change_of_a_published_version_is_notified() {
    let three = Three::new();
    let files = [PUBLISHED, CURRENT].map(|path| (path, Some(with_type(&three, path))));
    let commit = three.push(DOMAIN_REF, &files, "tidy", &[]);
    let conflict = three.is_set_aside(&commit, &["contract-changed", "version-changed"]);
    three.paste(0, &command(&conflict, "accept")).exits(0);
    three.alike();
    let told = three.json(1, &["notifications", "list"])["notifications"][0].clone();
    assert_eq!(
        (&told["change_type"], &told["rank"], &told["import_state"]),
        (&json!("VersionChanged"), &json!("broken"), &json!("broken")),
        "{told:#}"
    );
    let shown = three.ok(1, &["notifications", "list"]);
    assert!(shown.stdout.contains("fungal changed s3-access/s3-permissions 1.0.0 in place"), "{shown}");
    let status = three.ok(1, &["status"]);
    assert!(status.stdout.contains("1.0.0 in place"), "{status}");
    assert!(status.stdout.contains("git blue contract log s3-access/s3-permissions"), "{status}");
}
