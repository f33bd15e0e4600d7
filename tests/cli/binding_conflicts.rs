//! Two clones of one repository that publish different bindings.

use std::path::PathBuf;

use crate::{
    sync::{second, shared, tips},
    world::{BINDING_FILE, DOMAIN_REF, World, importing},
};

/// Two machines published different ranges of `access` in clones of it, whose folders are returned, and synced.
fn disputed() -> (World, PathBuf, PathBuf) {
    let (world, hub) = shared();
    let access = second(&world, &hub);
    world.on("third").git(&world.root(), &["clone", "--quiet", "access", "access-third"]);
    let third = world.path("access-third");
    world.ok(&third, &["init", "--url", &hub]);
    for (home, repo, range) in [("second", "access", ">=1.0.0, <1.5.0"), ("third", "access-third", ">=1.0.0, <1.7.0")] {
        world.on(home).write(&format!("{repo}/{BINDING_FILE}"), &importing(range));
        world.commit(repo, "Another range");
        let answer = world.json(&world.path(repo), &["sync"]);
        let found = answer["remotes"][0]["conflicts"][0]["code"].as_str();
        assert_eq!(found, (home == "third").then_some("binding-conflict"), "{answer}");
    }
    world.on("second").ok(&access, &["sync"]);
    (world, access, third)
}

#[test]
fn concurrent_bindings_are_a_conflict_until_published_again() {
    let (world, access, third) = disputed();
    assert_eq!(tips(&world, "second"), tips(&world, "third"));
    let folder = ["ls-tree", "-r", "--name-only", DOMAIN_REF, "conflicts/bindings/access/"];
    assert_eq!(world.git(&world.store(), &folder).stdout.lines().count(), 1);
    // Which commit is later is unknown: both report it, and neither overwrites the other's binding by looking or
    // syncing again.
    let before = tips(&world, "second");
    for (home, repo) in [("second", &access), ("third", &third)] {
        let status = world.on(home).json(repo, &["status"]);
        assert_eq!(status["conflicts"][0]["code"], "binding-conflict", "{status}");
        assert_eq!(status["published"], serde_json::json!([]));
        let problem = status["unpublished"]["problem"].as_str().unwrap();
        assert!(problem.contains("two machines wrote the binding of access in s3-access independently"), "{status}");
        world.blue(repo, &["check", "--published"]).exits(1);
        world.blue(repo, &["check"]).exits(1);
        world.ok(repo, &["sync"]);
        world.git(repo, &["checkout", "--quiet", "-b", "aside"]);
        world.git(repo, &["checkout", "--quiet", "main"]);
        assert_eq!(tips(&world, home), before);
    }
    // It concerns nobody else.
    world.on("home").ok(&world.path("fungal"), &["sync"]);
    let status = world.json(&world.path("fungal"), &["status", "--peek"]);
    assert_eq!(status["conflicts"], serde_json::json!([]), "{status}");
    // Publishing again resolves the conflict. The other clone is then outdated, and says so.
    world.on("second").ok(&access, &["contract", "publish"]);
    assert_eq!(world.json(&access, &["status"])["conflicts"], serde_json::json!([]));
    assert_eq!(world.stored("bindings/access.json")["imports"][0]["version"], ">=1.0.0, <1.5.0");
    assert_eq!(world.git(&world.store(), &folder).stdout, "");
    world.ok(&access, &["sync"]);
    world.on("third").ok(&third, &["sync"]);
    assert_eq!(tips(&world, "second"), tips(&world, "third"));
    let status = world.json(&third, &["status"]);
    assert!(status["unpublished"]["problem"].as_str().unwrap().contains("fetch first"), "{status}");
    assert_eq!(tips(&world, "second"), tips(&world, "third"));
}

/// A pull request is not to blame for a conflict at its base, and may be the one that resolves it.
#[test]
fn branch_that_resolves_a_conflict_passes() {
    let (world, access, _) = disputed();
    world.git(&access, &["switch", "--quiet", "-c", "unrelated"]);
    world.write("access/README.md", "more\n");
    world.commit("access", "Nothing of the realm's");
    // A commit of another branch does not confirm that of the publishing branch.
    assert_eq!(world.json(&access, &["status"])["conflicts"][0]["code"], "binding-conflict");
    world.blue(&access, &["check", "--base", "main"]).exits(0);
    world.git(&access, &["switch", "--quiet", "-c", "settle", "main"]);
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0, <1.6.0"));
    world.commit("access", "What both mean");
    // The conflict is open until the commit is published, and the pull request is not to blame for it.
    let proposed = world.blue(&access, &["check", "--base", "main"]).exits(0);
    assert!(proposed.stdout.contains("warning: two machines wrote the binding"), "{proposed}");
    world.blue(&access, &["check"]).exits(1);
    // Merging it resolves the conflict, and so would the step that is printed before.
    world.git(&access, &["switch", "--quiet", "main"]);
    let open = world.blue(&access, &["check"]).exits(1);
    let step = world.next_steps(&open).into_iter().find(|step| step.contains("at the intended commit")).unwrap();
    let pasted = world.finish_shell(&access, &step);
    assert_eq!(pasted.code, 0, "{pasted}");
    world.blue(&access, &["check"]).exits(0);
    world.git(&access, &["merge", "--quiet", "settle"]);
    assert_eq!(world.stored("bindings/access.json")["imports"][0]["version"], ">=1.0.0, <1.6.0");
}

/// Once both commits are merged, even if that changes nothing, the merge is published.
#[test]
fn merging_both_sides_settles_a_binding_conflict() {
    let (world, access, third) = disputed();
    let status = world.on("third").json(&third, &["status"]);
    let steps = status["next_steps"].to_string();
    assert!(steps.contains("git pull --no-rebase origin main"), "{status}");
    let merged = world.try_git(&third, &["pull", "--quiet", "--no-rebase", "-s", "ours", "origin", "main"]);
    assert_eq!(merged.code, 0, "{merged}");
    let status = world.json(&third, &["status"]);
    assert_eq!((&status["conflicts"], &status["unpublished"]), (&serde_json::json!([]), &serde_json::Value::Null));
    assert_eq!(world.stored("bindings/access.json")["imports"][0]["version"], ">=1.0.0, <1.7.0");
    world.ok(&third, &["sync"]);
    world.on("second").ok(&access, &["sync"]);
    assert_eq!(tips(&world, "second"), tips(&world, "third"));
}

/// The next commit that changes the binding settles it too.
#[test]
fn next_commit_settles_a_binding_conflict() {
    let (world, access, third) = disputed();
    // Both commits are merged, as when people push code.
    world.on("third").try_git(&third, &["pull", "--quiet", "--no-rebase", "-X", "theirs", "origin", "main"]);
    world.write(&format!("access-third/{BINDING_FILE}"), &importing(">=1.0.0, <1.6.0"));
    world.commit("access-third", "What both mean");
    assert_eq!(world.json(&third, &["status"])["conflicts"], serde_json::json!([]));
    world.ok(&third, &["sync"]);
    world.on("second").ok(&access, &["sync"]);
    assert_eq!(tips(&world, "second"), tips(&world, "third"));
    assert_eq!(world.stored("bindings/access.json")["imports"][0]["version"], ">=1.0.0, <1.6.0");
    let status = world.on("second").json(&access, &["status"]);
    assert!(status["unpublished"]["problem"].as_str().unwrap().contains("fetch first"), "{status}");
    world.git(&access, &["pull", "--quiet", world.path("access-third").to_str().unwrap(), "main"]);
    assert_eq!(world.json(&access, &["status"])["unpublished"], serde_json::Value::Null);
    assert_eq!(tips(&world, "second"), tips(&world, "third"));
}

/// `access` on one machine edits or removes its import, and on another one names the adapted version meanwhile. Returns
/// the stored binding, which is the same on both once they are synced in this order.
fn adapted_elsewhere(order: [&'static str; 2], edit: impl Fn(&World)) -> Option<String> {
    let (world, hub) = shared();
    let access = second(&world, &hub);
    world.on("third").git(&world.root(), &["clone", "--quiet", "access", "access-third"]);
    let third = world.path("access-third");
    world.ok(&third, &["init", "--url", &hub]);
    world.on("home").bump("1.1.0");
    world.ok(&world.path("fungal"), &["sync"]);
    world.on("second").ok(&access, &["sync"]);
    world.on("third").ok(&third, &["sync"]);
    edit(&world);
    world.on("third").ok(&third, &["contract", "adapted", "s3-access/s3-permissions", "1.1.0"]);
    for machine in order.into_iter().chain(order) {
        let dir = if machine == "second" { &access } else { &third };
        world.on(machine).ok(dir, &["sync"]);
    }
    assert_eq!(tips(&world, "second"), tips(&world, "third"));
    let file = format!("{DOMAIN_REF}:bindings/access.json");
    let shown = world.command("git", &world.store()).args(["show", &file]).output().unwrap();
    shown.status.success().then(|| String::from_utf8(shown.stdout).unwrap())
}

#[test]
fn adapted_version_survives_an_edit_on_another_machine() {
    for order in [["second", "third"], ["third", "second"]] {
        let binding = adapted_elsewhere(order, |world| {
            let more = importing(">=1.0.0, <2.0.0") + "    validation: scripts/check.sh\n";
            world.on("second").write(&format!("access/{BINDING_FILE}"), &more);
            world.commit("access", "Test the import");
        });
        let binding: serde_json::Value = serde_json::from_str(&binding.unwrap()).unwrap();
        let import = &binding["imports"][0];
        assert_eq!((&import["adapted_version"], &import["validation"]), (&"1.1.0".into(), &"scripts/check.sh".into()));
    }
}

#[test]
fn removed_binding_stays_removed_when_another_machine_names_the_adapted_version() {
    for order in [["second", "third"], ["third", "second"]] {
        let binding = adapted_elsewhere(order, |world| {
            world.on("second").git(&world.path("access"), &["rm", "--quiet", BINDING_FILE]);
            world.commit("access", "Use it no more");
        });
        assert_eq!(binding, None, "{order:?}");
    }
}
