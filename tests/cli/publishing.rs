//! Publishing goes forwards, is atomic, and never changes a version.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::world::{BINDING_FILE, CONTRACT_FILE, DOMAIN_REF, EXPORTING, Run, World, contract, importing, snapshot};

/// Publishes by command, as after a git command that runs no hook.
pub(crate) fn publish(world: &World, repo: &str, more: &[&str]) -> Run {
    world.blue(&world.path(repo), &[&["contract", "publish"], more].concat())
}

/// A hub, and two clones of the same repository of the realm: `fungal`, which has published and pushed 1.0.0, and
/// `second`.
pub(crate) fn clones() -> World {
    let world = World::solo();
    world.git(&world.root(), &["clone", "--quiet", "--bare", "fungal", "hub.git"]);
    let hub = world.path("hub.git");
    world.git(&world.path("fungal"), &["remote", "add", "origin", hub.to_str().unwrap()]);
    world.git(&world.root(), &["clone", "--quiet", "hub.git", "second"]);
    world.ok(&world.path("second"), &["init"]);
    world
}

#[test]
fn outdated_clone_cannot_publish_backwards() {
    let world = clones();
    world.bump("1.1.0");
    world.git(&world.path("fungal"), &["push", "--quiet", "origin", "main"]);
    let before = world.tip(DOMAIN_REF);

    // The outdated clone has a higher version, but not the published commit.
    world.write(&format!("second/{CONTRACT_FILE}"), &contract("1.2.0"));
    let commit = world.commit("second", "Paths 1.2.0");
    let run = publish(&world, "second", &[]).exits(1);
    assert!(run.stderr.contains("fetch first"), "{run}");
    snapshot("stale_clone", &[&commit, &run]);
    assert_eq!(world.tip(DOMAIN_REF), before);

    world.git(&world.path("second"), &["pull", "--quiet", "--rebase", "-X", "theirs"]);
    publish(&world, "second", &[]).exits(0);
    assert_eq!(world.version(), "1.2.0");
}

#[test]
fn fetched_but_unmerged_commit_counts_as_unknown() {
    let world = clones();
    world.bump("1.1.0");
    world.git(&world.path("fungal"), &["push", "--quiet", "origin", "main"]);
    world.git(&world.path("second"), &["fetch", "--quiet"]);
    world.write(&format!("second/{CONTRACT_FILE}"), &contract("1.2.0"));
    world.commit("second", "Paths 1.2.0");
    let run = publish(&world, "second", &[]).exits(1);
    assert!(run.stderr.contains("merge it first"), "{run}");
    assert_eq!(world.version(), "1.1.0");
}

#[test]
fn all_refusals_are_reported_with_their_place() {
    let world = World::pair();
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("0.9.0"));
    let wrong = contract("0.1.0").replace("s3-permissions", "wrong").replace("\"jobs/*/masks/*\"", "7");
    world.write("fungal/.blue/contracts/s3-access/wrong.yaml", &wrong);
    world.commit("fungal", "Two mistakes");
    let run = publish(&world, "fungal", &[]).exits(1);
    let problems = world.json(&world.path("fungal"), &["contract", "publish"])["problems"].clone();
    let places: Vec<_> = problems.as_array().unwrap().iter().map(|one| (&one["file"], &one["line"])).collect();
    let wrong = json!(".blue/contracts/s3-access/wrong.yaml");
    assert_eq!(places, [(&json!(CONTRACT_FILE), &json!(2)), (&wrong, &json!(12))]);
    snapshot("two_refusals", &[&run]);
}

#[test]
fn version_has_only_one_content() {
    let world = World::pair();
    let before = world.tip(DOMAIN_REF);
    let other = contract("1.0.0").replace("v1.0.0", "something else");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &other);
    let commit = world.commit("fungal", "Change it in place");
    let run = publish(&world, "fungal", &[]).exits(1);
    let answer = world.json(&world.path("fungal"), &["contract", "publish"]);
    assert_eq!((&answer["status"], &answer["code"]), (&json!("error"), &json!("version-reused")));
    assert!(answer["message"].as_str().unwrap().contains("bump to 1.0.1"), "{answer}");
    snapshot("version_reused", &[&commit, &run]);
    assert_eq!(world.tip(DOMAIN_REF), before);
}

#[test]
fn pre_release_is_published_but_not_current() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.bump("2.0.0-rc.1");
    assert_eq!(world.version(), "1.0.0");
    assert_eq!(world.stored("versions/s3-permissions/2.0.0-rc.1.json")["version"], "2.0.0-rc.1");
    let get = world.json(&provider, &["contract", "get", "s3-access/s3-permissions", "--version", "2.0.0-rc.1"]);
    assert_eq!(get["contract"]["value"]["read"][1], "v2.0.0-rc.1");
    assert_eq!(get["current_version"], "1.0.0");
    // It is immutable like any other.
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("2.0.0-rc.1").replace("v2", "w2"));
    world.commit("fungal", "Change the candidate");
    let refused = publish(&world, "fungal", &[]).exits(1);
    assert!(refused.all().contains("already published with different content: bump to 2.0.0-rc.2"), "{refused}");
    let check = world.blue(&provider, &["check"]).exits(1);
    assert!(check.stdout.ends_with("next\n  write version: \"2.0.0-rc.2\", and commit\n"), "{check}");
    world.bump("2.0.0");
    assert_eq!(world.version(), "2.0.0");
    // The release of this one could never be published.
    for late in ["2.0.0-rc.2", "1.1.0-rc.1"] {
        let refused = world.bump(late);
        assert!(refused.all().contains(&format!("would go back from 2.0.0 to {late}")), "{refused}");
        let rollback = publish(&world, "fungal", &["--rollback", "--reason", "no"]).exits(1);
        assert!(rollback.stderr.contains("was never published"), "{rollback}");
    }
}

#[test]
fn publishing_twice_changes_nothing() {
    let world = World::pair();
    world.bump("1.1.0");
    let before = world.tip(DOMAIN_REF);
    let again = publish(&world, "fungal", &[]).exits(0);
    assert_eq!(again.stdout, "nothing to publish\n");
    world.write("fungal/README.md", "more\n");
    let unrelated = world.commit("fungal", "Nothing of the realm's");
    assert_eq!(unrelated.all(), "");
    publish(&world, "fungal", &[]).exits(0);
    assert_eq!(world.tip(DOMAIN_REF), before);
}

#[test]
fn dry_run_changes_nothing() {
    let world = World::pair();
    world.git(&world.path("fungal"), &["config", "blue.publish", "off"]);
    world.bump("1.1.0");
    let before = world.tip(DOMAIN_REF);
    let run = publish(&world, "fungal", &["--dry-run"]).exits(0);
    snapshot("dry_run", &[&run]);
    let answer = world.json(&world.path("fungal"), &["contract", "publish", "--dry-run"]);
    assert_eq!(
        answer["published"],
        json!([{"domain": "s3-access", "contract": "s3-permissions", "change": "updated",
                "old_version": "1.0.0", "new_version": "1.1.0", "breaks": [], "broken": 0, "remarks": []}])
    );
    assert_eq!(world.tip(DOMAIN_REF), before);
}

#[test]
fn one_invalid_file_blocks_the_whole_publish() {
    let world = World::pair();
    let before = world.tip(DOMAIN_REF);
    let wrong = contract("0.1.0").replace("s3-permissions", "wrong");
    for (what, text) in [
        ("a value that fails", wrong.replace("read: [\"jobs/*/masks/*\", \"v0.1.0\"]", "read: [1, \"x\", true]")),
        ("a schema that is none", wrong.replace("type: object", "type: objekt")),
        ("a bare number", wrong.replace("\"0.1.0\"\n", "0.10\n")),
        ("an unknown field", wrong.replace("owner:", "ownr: x\nowner:")),
        ("no YAML", "name: [\n".to_owned()),
    ] {
        world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0"));
        world.write("fungal/.blue/contracts/s3-access/wrong.yaml", &text);
        let commit = world.commit("fungal", what);
        let run = publish(&world, "fungal", &[]).exits(1);
        assert!(run.stderr.contains("wrong"), "{what}: {run}");
        snapshot(&format!("invalid_{}", what.replace(' ', "_")), &[&commit, &run]);
        // Refused every time.
        publish(&world, "fungal", &[]).exits(1);
        assert_eq!(world.tip(DOMAIN_REF), before, "{what}");
    }
    world.git(&world.path("fungal"), &["rm", "--quiet", ".blue/contracts/s3-access/wrong.yaml"]);
    world.commit("fungal", "Take it away");
    assert_eq!(world.version(), "1.1.0");
}

#[test]
fn two_domains_are_published_atomically() {
    let world = World::solo();
    world.ok(&world.path("fungal"), &["realm", "admin", "domain", "--name", "events", "--repos", "fungal"]);
    world.bump("1.1.0");
    let before = world.tip("refs/blue/domains/events");
    let tip = world.tip(DOMAIN_REF);
    // `events` comes first and is valid; `s3-access` is refused.
    world.write("fungal/.blue/contracts/events/jobs.yaml", &contract("1.0.0").replace("s3-permissions", "jobs"));
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.0.0"));
    world.commit("fungal", "One good, one bad");
    publish(&world, "fungal", &[]).exits(1);
    assert_eq!((world.tip("refs/blue/domains/events"), world.tip(DOMAIN_REF)), (before, tip));
}

/// Retiring it would take back what the user only moved.
#[test]
fn renamed_contract_file_does_not_count_as_removed() {
    for other in ["moved.yaml", "S3-permissions.yaml"] {
        let world = World::pair();
        let fungal = world.path("fungal");
        let moved = CONTRACT_FILE.replace("s3-permissions.yaml", other);
        world.git(&fungal, &["mv", CONTRACT_FILE, &moved]);
        world.commit("fungal", "Move the file");
        let status = world.ok(&fungal, &["status"]);
        let check = world.blue(&fungal, &["check"]).exits(1);
        for run in [&status, &check] {
            assert!(!run.all().contains("retire") && !run.all().contains("without a file"), "{run}");
        }
        assert!(check.stdout.contains(other), "{check}");
    }
}

#[test]
fn removed_contract_file_is_reported_and_contract_kept() {
    let world = World::pair();
    world.git(&world.path("fungal"), &["config", "blue.publish", "off"]);
    world.git(&world.path("fungal"), &["rm", "--quiet", CONTRACT_FILE]);
    world.commit("fungal", "Remove the contract");
    let check = world.blue(&world.path("fungal"), &["check"]).exits(0);
    assert!(check.stdout.contains("file-removed"), "{check}");
    let run = publish(&world, "fungal", &[]).exits(0);
    snapshot("contract_removed", &[&check, &run]);
    let fungal = world.path("fungal");
    assert!(world.ok(&fungal, &["status"]).stdout.contains(&format!("--format yaml >{CONTRACT_FILE}")));
    // A file that was written again is not overwritten.
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0"));
    let status = world.ok(&fungal, &["status"]).stdout;
    assert!(!status.contains("--format yaml >") && !status.contains("contract retire"), "{status}");
    assert_eq!(world.version(), "1.0.0");
    let answer = world.json(&world.path("access"), &["notifications", "list"]);
    assert_eq!(answer["notifications"], json!([]));
}

#[test]
fn publishing_by_hand_says_that_a_binding_is_removed() {
    let world = World::pair();
    let access = world.path("access");
    world.git(&access, &["rm", "--quiet", BINDING_FILE]);
    world.git(&access, &["-c", "core.hooksPath=/dev/null", "commit", "--quiet", "-m", "Read nothing"]);
    let dry = world.ok(&access, &["contract", "publish", "--dry-run"]);
    assert!(dry.stdout.starts_with("would remove  the binding in s3-access\n"), "{dry}");
    let publish = world.ok(&access, &["contract", "publish"]);
    assert!(publish.stdout.starts_with("removed  the binding in s3-access\n"), "{publish}");
}

#[test]
fn removing_a_binding_file_removes_the_binding() {
    let world = World::pair();
    world.git(&world.path("access"), &["rm", "--quiet", BINDING_FILE]);
    let commit = world.commit("access", "Read nothing any more");
    assert_eq!(commit.stderr, "git blue: removed the binding in s3-access\n");
    let bindings = world.json(&world.path("fungal"), &["status", "--peek"])["domains"][0]["bindings"].clone();
    assert_eq!(bindings.as_array().unwrap().len(), 1);
    let told = world.json(&world.path("fungal"), &["status"])["notifications"].clone();
    assert_eq!((&told[0]["change_type"], &told[0]["contract"]), (&json!("BindingRemoved"), &Value::Null));
}

#[test]
fn work_tree_is_not_published() {
    let world = World::pair();
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0"));
    publish(&world, "fungal", &[]).exits(0);
    world.git(&world.path("fungal"), &["add", "--all"]);
    publish(&world, "fungal", &[]).exits(0);
    assert_eq!(world.version(), "1.0.0");
}

#[test]
fn publishing_trigger_is_configurable() {
    let world = clones();
    let provider = world.path("fungal");
    let set = |value: &str| {
        world.git(&provider, &["config", "blue.publish", value]);
    };
    for never in ["off", "ci"] {
        set(never);
        assert_eq!(world.bump("1.1.0").all(), "");
        assert_eq!(world.version(), "1.0.0");
        world.git(&provider, &["reset", "--quiet", "--hard", "HEAD~1"]);
    }
    set("pushed");
    world.git(&provider, &["fetch", "--quiet"]);
    assert_eq!(world.bump("1.1.0").all(), "");
    assert_eq!(world.version(), "1.0.0");
    set("always");
    let wrong = world.bump("1.2.0");
    assert!(wrong.stderr.contains("expected commit, pushed, ci or off"), "{wrong}");
    set("commit");
    world.bump("1.3.0");
    assert_eq!(world.version(), "1.3.0");
}

#[test]
fn only_the_exporter_needs_an_existing_contract() {
    // A consumer may bind before the contract is published, and is notified when it is.
    let world = World::new();
    world.join("fungal");
    let consumer = world.join("access");
    world.ok(&consumer, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "access,fungal"]);
    world.write(&format!("access/{BINDING_FILE}"), &importing("^1.0.0"));
    world.commit("access", "Wait for it");
    assert_eq!(world.stored("bindings/access.json")["imports"][0]["resolved_version"], Value::Null);
    world.write(&format!("fungal/{BINDING_FILE}"), EXPORTING);
    world.bump("1.0.0");
    let told = world.json(&consumer, &["status"])["notifications"].clone();
    let kinds: Vec<_> = told.as_array().unwrap().iter().map(|one| one["change_type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["ContractAdded", "BindingAdded"]);
    assert_eq!(told[0]["import_state"], "satisfied");
}

#[test]
fn missing_domain_is_answered_with_the_command_to_create_it() {
    let world = World::pair();
    let file = world.read(&format!("fungal/{CONTRACT_FILE}"));
    world.write("fungal/.blue/contracts/weather/s3-permissions.yaml", &file);
    world.commit("fungal", "A domain that nobody made");
    let dir = world.path("fungal");
    let refused = publish(&world, "fungal", &[]).exits(1);
    let step = "git blue realm admin domain --name weather --repos fungal";
    assert!(refused.stderr.contains(step), "{refused}");
    world.ok(&dir, &step.split(' ').skip(2).collect::<Vec<_>>());
    world.ok(&dir, &["contract", "publish"]);
    assert!(world.ok(&dir, &["contract", "list"]).stdout.contains("weather/s3-permissions"));
}

/// The team's policy counts in every clone, as soon as it is on the publishing branch.
#[test]
fn policy_is_shared_in_the_config_file() {
    let world = World::solo();
    let fungal = world.path("fungal");
    let config = world.read("fungal/.blue/config.yaml");
    world.write("fungal/.blue/config.yaml", &format!("{config}publish: ci\n"));
    world.commit("fungal", "Publish from CI");
    assert_eq!(world.bump("1.1.0").stderr, "");
    assert_eq!(world.version(), "1.0.0");
    let status = world.ok(&fungal, &["status"]);
    assert!(status.stdout.contains("will be published by CI (publish is ci in .blue/config.yaml)"), "{status}");
    assert_eq!(world.json(&fungal, &["status"])["unpublished"]["policy_source"], "config-file");
    // A branch from before that decision changes nothing.
    world.git(&fungal, &["switch", "--quiet", "--create", "older", "HEAD~2"]);
    world.git(&fungal, &["commit", "--quiet", "--allow-empty", "-m", "Work"]);
    assert_eq!(world.version(), "1.0.0");
    world.git(&fungal, &["switch", "--quiet", "main"]);
    // The user's own setting comes first.
    world.git(&fungal, &["config", "blue.publish", "off"]);
    let status = world.ok(&fungal, &["status"]);
    assert!(status.stdout.contains("must be published by hand (blue.publish is off)"), "{status}");
    world.git(&fungal, &["config", "blue.publish", "commit"]);
    world.ok(&fungal, &["status"]);
    assert_eq!(world.version(), "1.1.0");
}

/// Commits a contract and its correction under one version on the branch `series`, and returns to main.
fn series(world: &World) -> PathBuf {
    let provider = world.path("fungal");
    world.git(&provider, &["switch", "--quiet", "--create", "series"]);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0").replace("\"v1.1.0\"", "\"wrong\""));
    world.commit("fungal", "Paths 1.1.0");
    world.write("fungal/notes.txt", "series\n");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0"));
    world.commit("fungal", "Correct them");
    world.git(&provider, &["switch", "--quiet", "main"]);
    provider
}

#[test]
fn series_of_commits_is_published_once() {
    for how in ["git cherry-pick main..series", "git format-patch --quiet --stdout main..series | git am --quiet"] {
        let world = World::pair();
        let run = world.finish_shell(&series(&world), how).exits(0);
        let told: Vec<_> = run.stderr.lines().filter(|line| line.starts_with("git blue:")).collect();
        assert_eq!(told, ["git blue: published s3-access/s3-permissions 1.0.0 -> 1.1.0"], "{run}");
    }
}

#[test]
fn series_that_stops_is_published_at_its_end() {
    for (start, command) in
        [("cherry-pick main~1..series", "cherry-pick"), ("format-patch -q --stdout main~1..series | git am -q", "am")]
    {
        let world = World::pair();
        let provider = series(&world);
        world.write("fungal/notes.txt", "main\n");
        world.commit("fungal", "Notes");
        let stopped = world.finish_shell(&provider, &format!("git {start}"));
        assert_ne!(stopped.code, 0, "{stopped}");
        let status = world.ok(&provider, &["status"]);
        assert!(status.stdout.contains(&format!("git {command} is still in progress")), "{status}");
        assert!(world.next_step(&status).starts_with(&format!("git {command} --continue  # ")), "{status}");
        assert_eq!(world.version(), "1.0.0");
        world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0"));
        world.write("fungal/notes.txt", "both\n");
        world.git(&provider, &["add", "."]);
        let end = world.git(&provider, &["-c", "core.editor=true", command, "--continue"]);
        assert!(end.stderr.contains("published s3-access/s3-permissions 1.0.0 -> 1.1.0"), "{end}");
    }
}

/// The middle of a series is not published by the other worktrees either.
#[test]
fn series_that_stops_in_another_worktree_is_published_there() {
    let world = World::pair();
    let provider = series(&world);
    world.write("fungal/notes.txt", "main\n");
    world.commit("fungal", "Notes");
    world.git(&provider, &["switch", "--quiet", "--create", "topic"]);
    world.git(&provider, &["worktree", "add", "--quiet", "../on main", "main"]);
    let there = world.path("on main");
    assert_ne!(world.finish_shell(&there, "git cherry-pick main~1..series").code, 0);
    let unrelated = world.git(&provider, &["commit", "--quiet", "--allow-empty", "-m", "Unrelated"]);
    assert!(!unrelated.stderr.contains("git blue"), "{unrelated}");
    let status = world.ok(&provider, &["status"]);
    assert!(status.stdout.contains("git cherry-pick is still in progress"), "{status}");
    let step = format!("git -C '{}' cherry-pick --continue", there.display());
    assert!(world.next_step(&status).starts_with(&step), "{status}");
    assert_eq!(world.version(), "1.0.0");
    world.write("on main/notes.txt", "both\n");
    world.git(&there, &["add", "notes.txt"]);
    assert_eq!(world.finish_shell(&provider, &format!("GIT_EDITOR=true {step}")).code, 0);
    assert_eq!(world.version(), "1.1.0");
}
