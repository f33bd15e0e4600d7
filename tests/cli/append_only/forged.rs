//! Commits made by hand that break a rule in several steps, or with records that no merge wrote.

use serde_json::{Value, json};

use super::{CURRENT, PUBLISHED, REALM_REF, Three};
use crate::world::DOMAIN_REF;

const NEXT: &str = "versions/s3-permissions/2.0.0.json";

impl Three {
    /// Returns the current document of the contract as another repository would publish it.
    fn stolen(&self) -> Value {
        let mut document = self.with_value(CURRENT, "STOLEN");
        document["version"] = json!("2.0.0");
        document["owner"] = json!("access");
        document
    }

    /// Returns the accepted record of a commit that replaced the published version.
    fn accepted(&self, commit: &str, swapped: &Value) -> Value {
        self.world.write("swapped.json", &format!("{swapped:#}\n"));
        let file = self.world.path("swapped.json");
        let refused = self.git(&["hash-object", "-w", file.to_str().unwrap()], &[]);
        let kept = self.git(&["rev-parse", &format!("{DOMAIN_REF}:{PUBLISHED}")], &[]);
        json!({
            "commit": commit,
            "author": "Mal <mal@example.org>",
            "committer": "Mal <mal@example.org>",
            "time": "2026-01-01T00:00:00Z",
            "changes": [{
                "path": PUBLISHED, "rule": "version-changed", "owners": ["fungal"], "contract": "s3-permissions",
                "kept": kept, "refused": refused,
            }],
            "settled": { "verdict": "accepted", "by": "fungal" },
        })
    }

    /// Syncs all machines, and asserts that the owner and the published version are the same as before everywhere.
    #[track_caller]
    fn is_unchanged(&self) {
        for at in 0..3 {
            self.ok(at, &["sync"]);
        }
        self.alike();
        assert_eq!(self.at_hub(DOMAIN_REF, CURRENT).unwrap()["owner"], "fungal");
        assert_ne!(self.at_hub(DOMAIN_REF, PUBLISHED).unwrap()["value"], "SWAPPED");
        assert_eq!(self.at_hub(DOMAIN_REF, NEXT), None);
        for at in 0..3 {
            let conflicts = self.json(at, &["status", "--peek"])["conflicts"].clone();
            let authors: Vec<_> = conflicts.as_array().unwrap().iter().map(|one| &one["set_aside"]["author"]).collect();
            assert!(!authors.is_empty() && authors.iter().all(|one| *one == "Mal <mal@example.org>"), "{conflicts:#}");
            for conflict in conflicts.as_array().unwrap() {
                self.ok(at, &["realm", "conflict", "reject", conflict["set_aside"]["id"].as_str().unwrap()]);
            }
            self.ok(at, &["sync"]);
        }
        self.alike();
        for at in 0..3 {
            self.ok(at, &["check"]);
        }
    }
}

#[test]
fn record_that_says_accepted_is_set_aside_with_the_change() {
    let three = Three::new();
    let tip = three.git(&["rev-parse", DOMAIN_REF], &[]);
    let swapped = three.with_value(PUBLISHED, "SWAPPED");
    let record = three.accepted(&tip, &swapped);
    let path = format!("conflicts/set-aside/{}.json", &tip[..12]);
    three.push(DOMAIN_REF, &[(PUBLISHED, Some(swapped)), (&path, Some(record))], "tidy", &[]);
    three.is_unchanged();
    assert_eq!(three.at_hub(DOMAIN_REF, &path), None);
}

#[test]
fn record_of_the_commit_before_does_not_accept_it() {
    let three = Three::new();
    let swapped = three.with_value(PUBLISHED, "SWAPPED");
    let record = three.accepted(&"1".repeat(40), &swapped);
    let commit = three.push(DOMAIN_REF, &[(PUBLISHED, Some(swapped))], "tidy", &[]);
    let mut record = record;
    record["commit"] = json!(commit);
    let path = format!("conflicts/set-aside/{}.json", &commit[..12]);
    three.push(DOMAIN_REF, &[(&path, Some(record))], "tidy more", &[]);
    three.is_unchanged();
}

#[test]
fn contract_cannot_be_taken_over_in_two_commits() {
    for first in [Some(json!("garbage")), None] {
        let three = Three::new();
        let stolen = three.stolen();
        let version = three.at_hub(DOMAIN_REF, PUBLISHED).unwrap();
        let files = [(CURRENT, first.clone()), (PUBLISHED, first)];
        three.push(DOMAIN_REF, &files, "tidy\n\nBlue-Repo: access", &[]);
        let files = [(CURRENT, Some(stolen.clone())), (NEXT, Some(stolen)), (PUBLISHED, Some(version))];
        three.push(DOMAIN_REF, &files, "tidy\n\nBlue-Repo: access", &[]);
        three.is_unchanged();
    }
}

#[test]
fn merge_onto_an_old_commit_breaks_the_same_rules() {
    let three = Three::new();
    let stolen = three.stolen();
    let oldest = three.git(&["rev-list", "--max-parents=0", DOMAIN_REF], &[]);
    let files = [(CURRENT, Some(stolen.clone())), (NEXT, Some(stolen))];
    three.push_onto(&[&oldest, DOMAIN_REF], DOMAIN_REF, &files, "merge\n\nBlue-Repo: access", &[]);
    three.is_unchanged();

    let mut domain = three.at_hub(DOMAIN_REF, "domain.json").unwrap();
    domain["removed"] = json!(true);
    three.push_onto(&[&oldest, DOMAIN_REF], DOMAIN_REF, &[("domain.json", Some(domain))], "merge", &[]);
    three.is_unchanged();
}

#[test]
fn conflicts_that_no_merge_recorded_are_set_aside() {
    let three = Three::new();
    let id = "0123456789ab";
    let lost = [
        (format!("conflicts/contracts/s3-permissions/1.0.0/{id}.json"), three.with_value(PUBLISHED, "LOST")),
        (format!("conflicts/bindings/access/{id}.json"), three.at_hub(DOMAIN_REF, "bindings/access.json").unwrap()),
    ];
    let files: Vec<_> = lost.iter().map(|(path, document)| (path.as_str(), Some(document.clone()))).collect();
    let commit = three.push(DOMAIN_REF, &files, "tidy", &[]);
    let mut repo = three.at_hub(REALM_REF, "repos/fungal.json").unwrap();
    repo["roots"] = json!(["1".repeat(40)]);
    three.push(REALM_REF, &[(&format!("conflicts/repos/fungal/{id}.json"), Some(repo))], "tidy", &[]);
    let tip = three.git(&["rev-parse", &format!("{commit}^")], &[]);
    let mut record = three.accepted(&tip, &three.with_value(PUBLISHED, "SWAPPED"));
    record.as_object_mut().unwrap().remove("settled");
    let path = format!("conflicts/set-aside/{}.json", &tip[..12]);
    three.push(DOMAIN_REF, &[(&path, Some(record))], "tidy", &[]);
    three.is_unchanged();
    for (path, _) in &lost {
        assert_eq!(three.at_hub(DOMAIN_REF, path), None);
    }
}

#[test]
fn owner_alone_may_accept_what_was_set_aside() {
    let three = Three::new();
    let commit = three.push(DOMAIN_REF, &[(PUBLISHED, Some(three.with_value(PUBLISHED, "SWAPPED")))], "tidy", &[]);
    three.is_set_aside(&commit, &["version-changed"]);
    let path = format!("conflicts/set-aside/{}.json", &commit[..12]);
    let mut record = three.at_hub(DOMAIN_REF, &path).unwrap();
    record["settled"] = json!({ "verdict": "accepted", "by": "fungal" });
    three.push(DOMAIN_REF, &[(&path, Some(record))], "tidy\n\nBlue-Repo: access", &[]);
    three.is_unchanged();
}

#[test]
fn later_change_by_somebody_else_is_kept_and_its_author_is_not_blamed() {
    let three = Three::new();
    let mut domain = three.at_hub(DOMAIN_REF, "domain.json").unwrap();
    domain["members"].as_array_mut().unwrap().retain(|member| member != "access");
    let commit = three.push(DOMAIN_REF, &[("domain.json", Some(domain))], "clean up", &[]);
    // A machine that knows only the hub adds a member.
    three.world.on("fourth").repo("late");
    let late = three.world.path("late");
    three.world.ok(&late, &["init", "--url", three.hub.to_str().unwrap()]);
    three.world.ok(&late, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "late"]);
    three.world.ok(&late, &["sync"]);
    three.is_set_aside(&commit, &["member-removed"]);
    three.world.on("fourth").ok(&late, &["sync"]);
    three.alike();
    assert_eq!(three.world.on("fourth").tip(DOMAIN_REF), three.world.line(&three.hub, &["rev-parse", DOMAIN_REF]));
    let domain = three.at_hub(DOMAIN_REF, "domain.json").unwrap();
    assert_eq!(domain["members"], json!(["access", "fungal", "late", "reader"]));
}

#[test]
fn owner_that_yanks_a_version_does_not_accept_what_somebody_changed_before() {
    let three = Three::new();
    let commit = three.push(DOMAIN_REF, &[(CURRENT, Some(three.with_value(CURRENT, "SWAPPED")))], "tidy", &[]);
    let mut yanked = three.at_hub(DOMAIN_REF, CURRENT).unwrap();
    yanked["yanked"] = json!([{ "version": "1.0.0", "reason": "bad" }]);
    three.push(DOMAIN_REF, &[(CURRENT, Some(yanked))], "yank it\n\nBlue-Repo: fungal", &[]);
    three.is_set_aside(&commit, &["contract-changed"]);
    let current = three.at_hub(DOMAIN_REF, CURRENT).unwrap();
    assert_ne!(current["value"], "SWAPPED");
    assert_eq!(current["yanked"][0]["version"], "1.0.0");
}

#[test]
fn invalid_file_that_was_added_and_deleted_leaves_nothing() {
    let three = Three::new();
    three.push(DOMAIN_REF, &[("contracts/zzz.json", Some(json!("no contract")))], "tidy", &[]);
    three.push(DOMAIN_REF, &[("contracts/zzz.json", None)], "tidy more", &[]);
    three.alike();
    for at in 0..3 {
        three.ok(at, &["check"]);
    }
    assert_eq!(three.at_hub(DOMAIN_REF, "contracts/zzz.json"), None);
}

#[test]
fn each_owner_accepts_only_its_own_files() {
    let three = Three::new();
    let files = [(CURRENT, Some(three.with_value(CURRENT, "EVIL"))), ("bindings/access.json", None)];
    let commit = three.push(DOMAIN_REF, &files, "tidy", &[]);
    let conflict = three.is_set_aside(&commit, &["binding-changed", "contract-changed"]);
    let accepted = three.ok(1, &["realm", "conflict", "accept", conflict["set_aside"]["id"].as_str().unwrap()]);
    assert!(accepted.stdout.contains("bindings/access.json") && !accepted.stdout.contains(CURRENT), "{accepted}");
    three.alike();
    assert_eq!(three.at_hub(DOMAIN_REF, "bindings/access.json"), None);
    assert_ne!(three.at_hub(DOMAIN_REF, CURRENT).unwrap()["value"], "EVIL");
}

#[test]
fn change_without_an_owner_is_accepted_everywhere() {
    let three = Three::new();
    let commit = three.push(DOMAIN_REF, &[(CURRENT, Some(three.with_value(CURRENT, "EVIL")))], "tidy", &[]);
    three.is_set_aside(&commit, &["contract-changed"]);
    three.ok(1, &["realm", "conflict", "reject", &commit[..12]]);
    three.alike();
    let path = format!("conflicts/set-aside/{}.json", &commit[..12]);
    let commit = three.push(DOMAIN_REF, &[(&path, None)], "tidy", &[]);
    three.is_set_aside(&commit, &["record-removed"]);
    three.ok(2, &["realm", "conflict", "accept", &commit[..12]]);
    three.alike();
    for at in 0..3 {
        assert_eq!(three.json(at, &["status", "--peek"])["conflicts"], json!([]), "{at}");
    }
    assert_eq!(three.at_hub(DOMAIN_REF, &path), None);
}

#[test]
fn accepted_change_is_not_taken_back_by_others() {
    let three = Three::new();
    let before = [CURRENT, PUBLISHED].map(|path| (path, three.at_hub(DOMAIN_REF, path)));
    let swapped = three.with_value(PUBLISHED, "SWAPPED");
    let files = [(PUBLISHED, Some(swapped.clone())), (CURRENT, Some(swapped))];
    let commit = three.push(DOMAIN_REF, &files, "tidy", &[]);
    three.is_set_aside(&commit, &["contract-changed", "version-changed"]);
    three.ok(0, &["realm", "conflict", "accept", &commit[..12]]);
    three.alike();
    let commit = three.push(DOMAIN_REF, &before, "back", &[]);
    three.is_set_aside(&commit, &["contract-changed", "version-changed"]);
    assert_eq!(three.at_hub(DOMAIN_REF, PUBLISHED).unwrap()["value"], "SWAPPED");
}

#[test]
fn repository_is_renamed_only_in_its_own_name() {
    let three = Three::new();
    let mut entry = three.at_hub(REALM_REF, "repos/fungal.json").unwrap();
    for copies in [true, false] {
        entry["name"] = json!("ev");
        if !copies {
            entry["url"] = json!("https://example.org/ev");
        }
        let files = [
            ("repos/ev.json", Some(entry.clone())),
            ("repos/fungal.json", None),
            ("renames/fungal.json", Some(json!({ "from": "fungal", "to": "ev" }))),
        ];
        let commit = three.push(REALM_REF, &files, "rename\n\nBlue-Repo: ev", &[]);
        three.is_set_aside(&commit, &["identity-changed", "identity-changed"]);
        three.ok(0, &["realm", "conflict", "reject", &commit[..12]]);
        three.alike();
        assert!(three.at_hub(REALM_REF, "repos/fungal.json").is_some());
        three.push(REALM_REF, &[("repos/ev.json", None)], "leave\n\nBlue-Repo: ev", &[]);
        three.alike();
    }
}
