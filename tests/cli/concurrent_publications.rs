//! Two clones of one repository that publish different commits before they sync.

use std::path::PathBuf;

use serde_json::json;

use crate::{
    teamwork::{push, team},
    two_machines::described,
    world::{CONTRACT_FILE, DOMAIN_REF, World, contract},
};

/// Both commits are published, and merged in the realm.
#[test]
fn switch_publishes_no_side_of_a_merge_again() {
    let (world, mate) = team();
    world.write(&format!("fungal/{CONTRACT_FILE}"), &described());
    world.commit("fungal", "Describe it");
    let deprecated = format!("{}deprecated: {{ since: \"1.0.0\" }}\n", contract("1.0.0"));
    world.on("second").write(&format!("mate/{CONTRACT_FILE}"), &deprecated);
    world.commit("mate", "Deprecate it");
    push(&world);
    world.on("second").ok(&mate, &["sync"]);
    world.on("home").ok(&world.path("fungal"), &["sync"]);
    for (home, repo) in [("home", "fungal"), ("second", "mate")] {
        let tip = world.on(home).tip(DOMAIN_REF);
        let switch = world.git(&world.path(repo), &["switch", "--quiet", "--create", "other"]);
        assert_eq!(switch.stderr, "");
        assert_eq!(world.tip(DOMAIN_REF), tip, "{repo}");
    }
}

/// Two machines published at the same time, and the second one, which lacks the commit of the first, has synced.
/// Returns that commit.
fn lacking_one_side() -> (World, PathBuf, String) {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &described());
    world.commit("fungal", "Describe it");
    let other = contract("1.0.0").replace("s3-permissions", "s3-paths");
    world.on("second").write("mate/.blue/contracts/s3-access/s3-paths.yaml", &other);
    world.commit("mate", "Paths");
    push(&world);
    let missing = world.line(&fungal, &["rev-parse", "--short=10", "HEAD"]);
    world.on("second").ok(&mate, &["sync"]);
    (world, mate, missing)
}

/// Publishing its whole files would undo what the other machine published.
#[test]
fn commit_on_one_side_of_a_merge_fetches_first() {
    for pull in ["--no-rebase", "--rebase"] {
        let (world, mate, missing) = lacking_one_side();
        let tip = world.tip(DOMAIN_REF);
        let refused = format!("was published from {missing}, which is not in the history of");
        // It changes another domain only, but would be recorded as published in this one.
        world.ok(&mate, &["contract", "new", "storage/paths", "--domain-members", "fungal"]);
        let commit = world.commit("mate", "Storage");
        assert!(commit.stderr.contains(&refused), "{commit}");
        let deprecated = format!("{}deprecated: {{ since: \"1.0.0\" }}\n", contract("1.0.0"));
        world.write(&format!("mate/{CONTRACT_FILE}"), &deprecated);
        let commit = world.commit("mate", "Deprecate it");
        assert!(commit.stderr.contains(&refused) && commit.stderr.contains("git pull  # "), "{commit}");
        world.blue(&mate, &["contract", "publish"]).exits(1);
        assert_eq!(world.tip(DOMAIN_REF), tip);

        world.git(&mate, &["pull", "--quiet", "--no-edit", pull]);
        world.ok(&mate, &["status"]);
        let stored = world.stored("contracts/s3-permissions.json");
        assert_eq!(stored["description"], "The paths that fungal writes and others read", "{pull}");
        assert_eq!(stored["deprecated"]["since"], "1.0.0", "{pull}");
    }
}

/// A commit that changes nothing in the domain has nothing to publish.
#[test]
fn commit_without_contracts_on_one_side_of_a_merge_is_behind() {
    let (world, mate, missing) = lacking_one_side();
    world.write("mate/code.py", "x");
    let commit = world.commit("mate", "Code");
    assert_eq!(commit.stderr, "");
    let status = world.ok(&mate, &["status"]);
    assert!(status.stdout.contains(&format!("its main lacks the published commit {missing}")), "{status}");
}

/// What one of two concurrent publications brought is taken back like anything else that was published, by a commit that
/// contains both.
#[test]
fn reverted_side_of_concurrent_publications_is_published() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    let deprecated = "deprecated: { since: \"1.0.0\" }\n";
    world.write(&format!("fungal/{CONTRACT_FILE}"), &(contract("1.0.0") + deprecated));
    world.commit("fungal", "Deprecate");
    let other = contract("1.0.0").replace("s3-permissions", "s3-paths");
    world.on("second").write("mate/.blue/contracts/s3-access/s3-paths.yaml", &other);
    world.commit("mate", "Paths");
    for (home, dir) in [("home", &fungal), ("second", &mate), ("home", &fungal)] {
        world.on(home).ok(dir, &["sync"]);
    }
    assert_eq!(world.stored("sources/fungal.json")["concurrent"].as_array().map(Vec::len), Some(2));
    let refused = world.git(&fungal, &["revert", "--no-edit", "HEAD"]);
    assert!(refused.stderr.contains("fetch first"), "{refused}");
    world.git(&fungal, &["push", "--quiet"]);
    world.on("second").git(&mate, &["pull", "--quiet", "--no-edit", "--no-rebase"]);
    let source = world.stored("sources/fungal.json");
    assert_eq!(source, json!({ "commit": world.line(&mate, &["rev-parse", "HEAD"]) }));
    assert!(world.stored("contracts/s3-permissions.json")["deprecated"].is_null());
    for args in [&["status"][..], &["check"], &["contract", "publish"]] {
        let run = world.ok(&mate, args);
        assert!(!run.all().contains("not published") && !run.all().contains("behind"), "{run}");
    }
}
