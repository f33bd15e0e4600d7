//! `contract impact`: what a version breaks, before and after it is published.

use serde_json::json;

use crate::{
    verdicts::{AT, ids, refused_break, with_id},
    world::{CONTRACT_FILE, World, contract},
};

/// The version after the one that the code is adapted to breaks it too.
#[test]
fn impact_names_the_only_older_version_that_helps() {
    let world = ids();
    let provider = world.path("fungal");
    let fingerprint = refused_break(&world);
    world.ok(&provider, &["contract", "approve", AT, &fingerprint, "--reason", "agreed"]);
    world.ok(&provider, &["contract", "publish"]);
    let next = |supported: &str| {
        let text = with_id("3.0.0", "boolean").replace("id: a }", "id: true }");
        world.write(&format!("fungal/{CONTRACT_FILE}"), &(text + supported));
        world.ok(&provider, &["contract", "impact", AT, "--worktree"]).stdout
    };
    let impact = next("");
    let step = "add \"=2.2.0\" to `supported`, until these repositories are adapted to 3.0.0: access\n";
    assert!(impact.contains(step), "{impact}");
    let impact = next("supported: [\"^2\"]\n");
    let step = "write \"=2.2.0\" in `supported`, in place of the ranges with newer versions, until these repositories";
    assert!(impact.contains(step), "{impact}");
    let impact = next("supported: [\"=2.2.0\"]\n");
    assert!(impact.contains("2.2.0 is still served") && !impact.contains("`supported`"), "{impact}");
}

#[test]
fn impact_of_a_draft_knows_the_yanked_versions() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.ok(&provider, &["contract", "yank", AT, "1.0.0", "--reason", "wrong"]);
    let text = contract("2.0.0").replace("values: free", "values: free\nsupported: [\"^1\"]");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
    let impact = world.json(&provider, &["contract", "impact", AT, "--worktree"]);
    assert_eq!(impact["importers"][0]["state"], "broken", "{impact}");
}

#[test]
fn impact_of_a_published_pre_release_is_that_of_its_release() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.bump("1.1.0-rc.1");
    for candidate in [&["--to", "1.1.0-rc.1"][..], &["--commit", "HEAD"], &["--worktree"]] {
        let impact = world.json(&provider, &[&["contract", "impact", AT], candidate].concat());
        assert_eq!(impact["broken"], 0, "{candidate:?}: {impact}");
    }
}

#[test]
fn approved_break_is_no_broken_promise_in_its_impact() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0").replace("required: [read]", "required: []"));
    let impact = || world.json(&provider, &["contract", "impact", AT, "--worktree"])["breaks_promise"].clone();
    assert_eq!(impact().as_array().map(Vec::len), Some(1));
    let check = world.blue(&provider, &["check", "--worktree"]).exits(1);
    let steps = world.next_steps(&check);
    let approve = steps.iter().find(|step| step.contains("contract approve")).unwrap().replace('…', "agreed");
    world.finish_shell(&provider, &approve).exits(0);
    assert_eq!(impact(), json!([]));
}

#[test]
fn impact_of_a_pre_release_is_the_same_before_and_after_its_publication() {
    let world = World::pair();
    let provider = world.path("fungal");
    let breaking = contract("2.0.0-rc.1")
        .replace("type: string", "type: integer")
        .replace("read: [\"jobs/*/masks/*\", \"v2.0.0-rc.1\"]", "read: [1]");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &breaking);
    let impact = |candidate: &[&str]| {
        world.json(&provider, &[&["contract", "impact", AT], candidate].concat())["importers"][0]["state"].clone()
    };
    assert_eq!(impact(&["--worktree"]), "broken");
    world.commit("fungal", "A candidate");
    for candidate in [&["--to", "2.0.0-rc.1"][..], &["--commit", "HEAD"], &["--worktree"]] {
        assert_eq!(impact(candidate), "broken", "{candidate:?}");
    }
}
