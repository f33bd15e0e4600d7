//! `blue.publish`: what hooks do if publishing waits for a push or CI, or is off.

use crate::pre_push::pushing;
use crate::world::{CONTRACT_FILE, World, contract};

#[test]
fn pushed_publishes_what_the_upstream_has() {
    let world = World::solo();
    let provider = pushing(&world, &[]);
    world.git(&provider, &["config", "blue.publish", "pushed"]);
    world.git(&provider, &["push", "--quiet", "-u", "origin", "main"]);
    assert_eq!(world.bump("1.1.0").stderr, "");
    let status = world.ok(&provider, &["status"]);
    assert!(status.stdout.contains("will be published once it is pushed"), "{status}");
    assert!(status.stdout.contains("git push origin main"), "{status}");
    assert_eq!(world.version(), "1.0.0");
    world.git(&provider, &["push", "--quiet"]);
    let peek = world.ok(&provider, &["status", "--peek"]);
    assert!(peek.stdout.contains("will be published by the next hook") && !peek.stdout.contains("git push"), "{peek}");
    world.bump("1.2.0");
    assert_eq!(world.version(), "1.1.0", "of what is committed, what is pushed");
    let status = world.json(&provider, &["status"]);
    assert_eq!(status["unpublished"]["policy"], "pushed");
}

/// What would be refused is not promised, whoever publishes it.
#[test]
fn commit_that_would_be_refused_is_not_said_to_be_published() {
    for (policy, again) in [("pushed", " --dry-run"), ("ci", " --dry-run"), ("off", "")] {
        let world = World::solo();
        let provider = pushing(&world, &[]);
        world.git(&provider, &["push", "--quiet", "-u", "origin", "main"]);
        world.git(&provider, &["config", "blue.publish", policy]);
        world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.0.0").replace("v1.0.0", "other"));
        world.commit("fungal", "Not bumped");
        let status = world.ok(&provider, &["status"]);
        let refused = "not published: .blue/contracts/s3-access/s3-permissions.yaml:2: ";
        assert!(status.stdout.contains(refused), "{policy}: {status}");
        let try_again = format!("git blue contract publish{again}  # try again once this is corrected\n");
        assert!(status.stdout.contains(&try_again), "{policy}: {status}");
        for promise in ["will be published", "must be published", "git push"] {
            assert!(!status.stdout.contains(promise), "{policy}: {status}");
        }
    }
}

/// Its author can still change it.
#[test]
fn hook_warns_of_a_commit_that_will_be_refused_or_breaks_a_consumer() {
    for policy in ["pushed", "ci", "off"] {
        let world = World::pair();
        let fungal = world.path("fungal");
        world.git(&fungal, &["config", "blue.publish", policy]);
        let broken = world.bump("2.0.0");
        let breaks =
            "git blue: not published yet: s3-access/s3-permissions 1.0.0 -> 2.0.0; breaks access (cdk/access_stack.py)";
        assert!(broken.stderr.starts_with(breaks) && broken.stderr.lines().count() == 1, "{policy}: {broken}");
        world.write("fungal/other", "");
        world.git(&fungal, &["add", "other"]);
        assert_eq!(world.commit("fungal", "Elsewhere").stderr, "", "{policy}");
        world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.0.0").replace("v1.0.0", "other"));
        let refused = world.commit("fungal", "Not bumped").stderr;
        assert!(
            refused.starts_with(&format!("git blue: cannot be published: {CONTRACT_FILE}:2: ")),
            "{policy}: {refused}"
        );
        assert_eq!(world.version(), "1.0.0");
    }
}

/// A refused commit that is corrected already has nothing to correct.
#[test]
fn correction_that_is_not_pushed_has_to_be_pushed() {
    let world = World::solo();
    let provider = pushing(&world, &[]);
    world.git(&provider, &["config", "blue.publish", "pushed"]);
    world.git(&provider, &["push", "--quiet", "-u", "origin", "main"]);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.0.0").replace("v1.0.0", "other"));
    world.commit("fungal", "Not bumped");
    world.git(&provider, &["push", "--quiet", "--no-verify"]);
    let refused = world.ok(&provider, &["status"]);
    assert!(refused.stdout.contains("failed: ") && refused.stdout.contains("# try again once"), "{refused}");
    world.bump("1.1.0");
    for args in [&["status"][..], &["status", "--peek"]] {
        let run = world.ok(&provider, args);
        assert!(run.stdout.contains("git push origin main  # the newer commits are not pushed yet"), "{run}");
        assert!(!run.stdout.contains("contract publish") && !run.stdout.contains("and commit\n"), "{run}");
    }
    world.git(&provider, &["push", "--quiet"]);
    world.ok(&provider, &["status"]);
    assert_eq!(world.version(), "1.1.0");
}

/// What was published before the policy was set is not published again from an older commit.
#[test]
fn policy_pushed_accepts_that_later_commits_are_published() {
    let world = World::solo();
    let provider = pushing(&world, &[]);
    world.git(&provider, &["push", "--quiet", "-u", "origin", "main"]);
    world.bump("1.1.0");
    world.git(&provider, &["config", "blue.publish", "pushed"]);
    assert_eq!(world.json(&provider, &["status"])["unpublished"], serde_json::Value::Null);
    assert_eq!(world.bump("1.2.0").stderr, "");
    let status = world.ok(&provider, &["status"]);
    assert!(status.stdout.contains("will be published once it is pushed"), "{status}");
    world.git(&provider, &["push", "--quiet"]);
    world.ok(&provider, &["status"]);
    assert_eq!(world.version(), "1.2.0");
}

#[test]
fn ci_and_off_publish_nothing_and_say_so() {
    for (policy, word) in [("ci", "will be published by CI"), ("off", "must be published by hand")] {
        let world = World::solo();
        let provider = world.path("fungal");
        world.git(&provider, &["config", "blue.publish", policy]);
        assert_eq!(world.bump("1.1.0").stderr, "");
        let status = world.ok(&provider, &["status"]);
        assert!(status.stdout.contains(word), "{status}");
        world.ok(&provider, &["check"]);
        assert_eq!(world.version(), "1.0.0");
        world.ok(&provider, &["contract", "publish"]);
        assert_eq!(world.version(), "1.1.0");
    }
}
