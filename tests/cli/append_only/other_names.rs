//! Writes under the names of repositories that left, or of others, and commits from the future.

use serde_json::{Value, json};

use super::{CURRENT, MACHINES, Three};
use crate::world::{DOMAIN_REF, contract};

#[test]
fn write_under_another_name_is_refused() {
    let three = Three::new();
    three.world.write("evil.yaml", &contract("1.1.0"));
    let file = three.world.path("evil.yaml").display().to_string();
    let edit = ["contract", "edit", "s3-access/s3-permissions", "--file", &file];
    three.blue(2, &edit).exits(1);
    let before = three.world.on("third").tip(DOMAIN_REF);
    let as_fungal = [("GIT_BLUE_REPO", std::ffi::OsStr::new("fungal"))];
    for args in [&edit[..], &["contract", "yank", "s3-access/s3-permissions", "1.0.0", "--reason", "x"]] {
        let run = three.world.blue_with(&three.path(2), args, &as_fungal).exits(1);
        assert!(run.stderr.contains("joined the realm aperture as reader, so it cannot write as fungal"), "{run:?}");
        let run = three.world.blue_with(&three.path(2), &[args, &["--json"]].concat(), &as_fungal);
        assert_eq!(run.json()["code"], "joined-as-other");
    }
    assert_eq!(three.world.tip(DOMAIN_REF), before);
    let status = three.world.blue_with(&three.path(2), &["status", "--peek", "--json"], &as_fungal).exits(0);
    assert_eq!(status.json()["current_repo"], "fungal");
}

#[test]
fn owner_is_notified_of_writes_under_its_name() {
    let three = Three::new();
    let mut evil = three.with_value(CURRENT, "EVIL");
    evil["version"] = json!("1.1.0");
    let files = [(CURRENT, Some(evil.clone())), ("versions/s3-permissions/1.1.0.json", Some(evil))];
    three.push(DOMAIN_REF, &files, "s3-permissions 1.0.0 -> 1.1.0\n\nBlue-Repo: fungal", &[]);
    // The trailer is only a claim, and breaks no rule. Each machine makes a merge of its own.
    for (at, _) in MACHINES.iter().enumerate() {
        three.ok(
            at,
            &["realm", "admin", "domain", "--name", "s3-access", "--repos", "fungal", "--description", MACHINES[at].1],
        );
    }
    three.alike();
    let status = three.json(0, &["status", "--peek"]);
    let told = &status["notifications"][0];
    assert_eq!(
        (&told["author"], &told["changed_by_other"]),
        (&json!("Mal <mal@example.org>"), &json!(true)),
        "{status:#}"
    );
    let status = three.ok(0, &["status"]);
    assert!(
        status.stdout.contains("warning: changed by Mal <mal@example.org>, although this repository owns it"),
        "{status:?}"
    );
    assert_eq!(three.json(0, &["status"])["notifications"], json!([]), "once");
    let other = three.json(1, &["status"]);
    assert_eq!(other["notifications"][0]["author"], "Mal <mal@example.org>");
    assert_eq!(other["notifications"][0]["changed_by_other"], false);
    let other = three.ok(2, &["notifications", "list"]);
    assert!(other.stdout.contains("by Mal <mal@example.org>"), "{other:?}");
}

#[test]
fn commit_from_the_future_is_accepted_and_not_used_for_sorting() {
    let three = Three::new();
    let added = three.with_value(CURRENT, "x");
    for (date, name) in [("2099-01-01T00:00:00Z", "later"), ("4000000000 +0000", "latest")] {
        let mut added = added.clone();
        added["name"] = json!(name);
        let files = [
            (format!("contracts/{name}.json"), Some(added.clone())),
            (format!("versions/{name}/1.0.0.json"), Some(added)),
        ];
        let files: Vec<_> = files.iter().map(|(path, document)| (path.as_str(), document.clone())).collect();
        let vars = [("GIT_COMMITTER_DATE", date), ("GIT_AUTHOR_DATE", date)];
        three.push(DOMAIN_REF, &files, &format!("add {name}\n\nBlue-Repo: fungal"), &vars);
    }
    three.alike();
    three.ok(1, &["realm", "admin", "domain", "--name", "other", "--repos", "access"]);
    let log = three.json(1, &["realm", "log"]);
    let entries = log["entries"].as_array().unwrap();
    assert_eq!(entries[0]["subject"], "create domain other with access");
    assert_eq!(entries[1]["subject"], "add latest");
    assert_eq!((&entries[1]["in_future"], &entries[1]["author"]), (&json!(true), &json!("Mal <mal@example.org>")));
    let log = three.ok(1, &["realm", "log"]);
    assert!(log.stdout.contains("by Mal <mal@example.org>, dated in the future"), "{log:?}");
    let log = three.ok(1, &["contract", "log", "s3-access/later"]);
    assert!(log.stdout.contains("dated in the future"), "{log:?}");
    let list = three.json(1, &["notifications", "list", "--state", "pending"]);
    let ahead =
        |list: &Value| list["notifications"].as_array().unwrap().iter().filter(|one| one["in_future"] == true).count();
    assert_eq!(ahead(&list), 2, "{list:#}");
    three.world.pass_days(8);
    let list = three.json(1, &["notifications", "list", "--state", "expired"]);
    assert_eq!(ahead(&list), 2, "{list:#}");
}
