//! Published commits that an amend, a rebase or a reset dropped.

use crate::publishing::{clones, publish};
use crate::world::{BINDING_FILE, CONTRACT_FILE, DOMAIN_REF, EXPORTING, World, contract, importing, snapshot};

/// The clone that dropped a published commit by a force-push may be gone, with its reflog.
#[test]
fn dropped_commit_is_replaced_on_request() {
    let world = clones();
    let (fungal, second) = (world.path("fungal"), world.path("second"));
    world.git(&second, &["config", "blue.publish", "off"]);
    world.bump("1.1.0");
    world.git(&fungal, &["push", "--quiet", "origin", "main"]);
    world.git(&second, &["fetch", "--quiet"]);
    world.git(&fungal, &["config", "blue.publish", "off"]);
    world.git(&fungal, &["commit", "--quiet", "--amend", "-m", "Without the secret"]);
    world.bump("1.2.0");
    world.git(&fungal, &["push", "--quiet", "--force", "origin", "main"]);
    world.git(&second, &["pull", "--quiet"]);
    let run = publish(&world, "second", &[]).exits(1);
    let step = world
        .next_steps(&run)
        .into_iter()
        .find(|step| step.contains("was dropped from main, for example when its history was rewritten"));
    let step = step.unwrap_or_else(|| panic!("{run}"));
    assert_eq!(world.finish_shell(&second, &step.replace('…', "it had a secret")).code, 0, "{step}");
    assert_eq!(world.version(), "1.2.0");
    publish(&world, "second", &[]).exits(0);
}

/// Somebody published a commit and dropped it before pushing it. Its version reaches nobody.
#[test]
fn pushed_version_is_not_merely_behind_a_commit_that_nobody_has() {
    let world = clones();
    let (fungal, second) = (world.path("fungal"), world.path("second"));
    world.write(&format!("second/{CONTRACT_FILE}"), &contract("1.1.0"));
    world.git(&second, &["commit", "--quiet", "-am", "Paths 1.1.0"]);
    world.git(&second, &["reset", "--quiet", "--hard", "HEAD~1"]);
    world.bump("1.2.0");
    world.git(&fungal, &["push", "--quiet", "origin", "main"]);
    assert_eq!(world.version(), "1.1.0");
    let status = world.ok(&fungal, &["status"]);
    assert!(status.stdout.contains("has unpublished changes in s3-access"), "{status}");
    let step = world.next_steps(&status).into_iter().find(|step| step.contains("--rollback"));
    let step = step.unwrap_or_else(|| panic!("{status}"));
    world.finish_shell(&fungal, &step.replace('…', "it was never pushed")).exits(0);
    assert_eq!(world.version(), "1.2.0");
}

#[test]
fn pushed_binding_and_automatic_version_are_not_merely_behind_either() {
    let auto = |paths: &str| contract("1.0.0").replace("1.0.0", "auto").replace("jobs/", paths);
    let binding = |folder: &str| EXPORTING.replace("models/", folder);
    for (file, dropped, kept) in
        [(CONTRACT_FILE, auto("tasks/"), auto("items/")), (BINDING_FILE, binding("more/"), binding("other/"))]
    {
        let world = clones();
        let (fungal, second) = (world.path("fungal"), world.path("second"));
        let before = world.line(&second, &["rev-parse", "HEAD"]);
        world.write(&format!("second/{file}"), &dropped);
        world.commit("second", "Dropped");
        world.git(&second, &["reset", "--quiet", "--hard", &before]);
        world.write(&format!("fungal/{file}"), &kept);
        world.commit("fungal", "Kept");
        world.git(&fungal, &["push", "--quiet", "origin", "main"]);
        let status = world.ok(&fungal, &["status"]);
        assert!(status.stdout.contains("has unpublished changes in s3-access"), "{file}: {status}");
        // A clone without news is only behind.
        world.git(&fungal, &["reset", "--quiet", "--hard", &before]);
        let behind = world.ok(&fungal, &["status"]);
        assert!(behind.stdout.contains("this clone is behind"), "{file}: {behind}");
    }
}

/// A filter that removes a secret leaves no reflog. Merging the published commit would bring the secret back.
#[test]
fn rewritten_history_replaces_the_published_commit() {
    for reclaims in [false, true] {
        let world = World::pair();
        let provider = world.path("fungal");
        world.write("fungal/secret.txt", "secret\n");
        world.commit("fungal", "The secret");
        world.bump("1.1.0");
        let off = ["-c", "blue.publish=off"];
        world.git(&provider, &[&off[..], &["rm", "--quiet", "--cached", "secret.txt"]].concat());
        world.git(&provider, &[&off[..], &["checkout", "--quiet", "--orphan", "filtered"]].concat());
        world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.2.0"));
        world.commit("fungal", "Without the secret");
        world.git(&provider, &["branch", "--quiet", "-M", "main"]);
        world.git(&provider, &["reflog", "expire", "--expire=now", "--all"]);
        let status = world.ok(&provider, &["status"]);
        let steps = world.next_steps(&status);
        assert!(!status.all().contains("git merge"), "{status}");
        let wanted = if reclaims { "reclaim" } else { "--rollback" };
        let step = steps.iter().find(|step| step.contains(wanted)).unwrap_or_else(|| panic!("{status}"));
        let run = world.finish_shell(&provider, &step.replace('…', "filtered"));
        assert_eq!(run.code, 0, "{run}");
        if reclaims {
            assert_eq!(world.finish_shell(&provider, &world.next_step(&run)).code, 0, "{run}");
        }
        assert_eq!(world.version(), "1.2.0");
    }
}

#[test]
fn amended_commit_replaces_the_published_one() {
    let world = World::pair();
    world.bump("1.1.0");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.2.0"));
    let amend = world.git(&world.path("fungal"), &["commit", "--quiet", "-a", "--amend", "-m", "Paths 1.2.0"]);
    assert_eq!(amend.stderr, "git blue: published s3-access/s3-permissions 1.1.0 -> 1.2.0\n");
    let head = world.line(&world.path("fungal"), &["rev-parse", "HEAD"]);
    assert_eq!(world.stored("sources/fungal.json")["commit"], head);
}

#[test]
fn rebased_commits_replace_the_published_ones() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.git(&provider, &["switch", "--quiet", "-c", "base"]);
    world.write("fungal/other.txt", "elsewhere\n");
    world.commit("fungal", "Elsewhere");
    world.git(&provider, &["switch", "--quiet", "main"]);
    for version in ["1.1.0", "1.2.0", "1.3.0"] {
        world.bump(version);
    }
    world.git(&provider, &["rebase", "--quiet", "base"]);
    assert_eq!(publish(&world, "fungal", &[]).exits(0).stdout, "nothing to publish\n");
    // Work continues normally on the rebased history.
    let commit = world.bump("1.4.0");
    assert_eq!(commit.stderr, "git blue: published s3-access/s3-permissions 1.3.0 -> 1.4.0\n");
}

#[test]
fn reset_back_and_forth_publishes_nothing() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.bump("1.1.0");
    let before = world.tip(DOMAIN_REF);
    world.git(&provider, &["reset", "--quiet", "--hard", "HEAD~1"]);
    let back = publish(&world, "fungal", &[]).exits(1);
    assert!(back.stderr.contains("would go back from 1.1.0 to 1.0.0"), "{back}");
    world.git(&provider, &["reset", "--quiet", "--hard", "HEAD@{1}"]);
    let forth = publish(&world, "fungal", &[]).exits(0);
    assert_eq!(forth.stdout, "nothing to publish\n");
    assert_eq!(world.tip(DOMAIN_REF), before);

    // After a reset this clone still knows the published commit, and may continue from there.
    world.git(&provider, &["reset", "--quiet", "--hard", "HEAD~1"]);
    let commit = world.bump("1.2.0");
    assert_eq!(commit.stderr, "git blue: published s3-access/s3-permissions 1.1.0 -> 1.2.0\n");
    snapshot("reset", &[&back, &forth, &commit]);
}

#[test]
fn older_commit_does_not_restore_an_older_binding() {
    let world = World::pair();
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0, <3.0.0"));
    world.commit("access", "Accept more");
    let before = world.tip(DOMAIN_REF);
    let run = publish(&world, "access", &["--commit", "HEAD~1"]).exits(1);
    assert_eq!(world.tip(DOMAIN_REF), before);
    // Unless requested.
    let back = publish(&world, "access", &["--commit", "HEAD~1", "--rollback", "--reason", "too early"]).exits(0);
    snapshot("older_commit", &[&run, &back]);

    // Nothing can be rolled back to a version that was never published.
    world.git(&world.path("fungal"), &["config", "blue.publish", "off"]);
    world.bump("1.1.0");
    world.git(&world.path("fungal"), &["config", "blue.publish", "commit"]);
    world.bump("1.2.0");
    let run = publish(&world, "fungal", &["--commit", "HEAD~1"]).exits(1);
    assert!(run.stderr.contains("is older") && !run.stderr.contains("--rollback"), "{run}");
    assert_eq!(world.stored("bindings/access.json")["imports"][0]["version"], ">=1.0.0, <2.0.0");
    // The newer commit is published again.
    publish(&world, "access", &[]).exits(0);
    assert_eq!(world.stored("bindings/access.json")["imports"][0]["version"], ">=1.0.0, <3.0.0");
}

/// Returns the root commits that the realm has recorded.
fn recorded_roots(world: &World) -> serde_json::Value {
    let text = world.git(&world.store(), &["show", "refs/blue/realm:repos/fungal.json"]).stdout;
    serde_json::from_str::<serde_json::Value>(&text).unwrap()["roots"].clone()
}

/// git removes the former root commit months later, and then nothing else shows that this is the same repository.
#[test]
fn rewritten_root_commit_is_recorded_while_the_former_one_is_there() {
    let world = World::solo();
    let provider = world.path("fungal");
    let root = |of: &str| world.line(&provider, &["rev-list", "--max-parents=0", of]);
    let former = root("main");
    world.git(&provider, &["-c", "core.editor=true", "rebase", "--quiet", "--root", "--force-rebase"]);
    world.git(&provider, &["commit", "--quiet", "--allow-empty", "-m", "Go on"]);
    let wanted = [former, root("main")];
    assert_ne!(wanted[0], wanted[1]);
    assert_eq!(recorded_roots(&world), serde_json::json!(wanted));

    world.git(&provider, &["reflog", "expire", "--expire=now", "--all"]);
    world.git(&provider, &["gc", "--quiet", "--prune=now"]);
    let commit = world.bump("1.1.0");
    assert_eq!(commit.stderr, "git blue: published s3-access/s3-permissions 1.0.0 -> 1.1.0\n");
    world.git(&world.root(), &["clone", "--quiet", "--no-local", "fungal", "copy"]);
    world.ok(&world.path("copy"), &["init"]);
}

#[test]
fn clone_of_a_rewritten_history_is_told_who_can_record_it() {
    let world = World::solo();
    let provider = world.path("fungal");
    world.git(&provider, &["config", "blue.publish", "off"]);
    world.git(&provider, &["-c", "core.editor=true", "rebase", "--quiet", "--root", "--force-rebase"]);
    world.git(&world.root(), &["clone", "--quiet", "--no-local", "fungal", "copy"]);
    let init = world.blue(&world.path("copy"), &["init"]).exits(1);
    let step =
        "or run git blue init and git blue sync in a joined clone of fungal with the new history, if it was rewritten";
    assert!(init.stderr.contains(step), "{init}");
    world.ok(&provider, &["init"]);
    world.ok(&world.path("copy"), &["init"]);
}

/// Nothing shows whether the branch was reset in a repository without reflogs, and `check` reads only the files.
#[test]
fn check_names_a_published_commit_that_has_to_be_merged() {
    let world = World::solo();
    let provider = world.path("fungal");
    world.git(&provider, &["config", "core.logAllRefUpdates", "false"]);
    std::fs::remove_dir_all(provider.join(".git/logs")).unwrap();
    world.bump("1.1.0");
    world.git(&provider, &["branch", "--quiet", "kept"]);
    world.git(&provider, &["reset", "--quiet", "--hard", "HEAD~1"]);
    let commit = world.bump("1.2.0");
    assert!(commit.stderr.contains(": merge it first; git merge "), "{commit}");
    let check = world.ok(&provider, &["check"]);
    assert!(check.stdout.contains("not published: ") && check.stdout.contains(": merge it first\n"), "{check}");
    assert!(world.next_step(&check).starts_with("git merge "), "{check}");
    // The commit is that of a branch of this repository.
    assert!(!world.ok(&provider, &["status"]).stdout.contains("reclaim"));
}

#[test]
fn rewritten_history_needs_a_newer_version_first() {
    let world = World::solo();
    let provider = world.path("fungal");
    world.git(&provider, &["config", "core.logAllRefUpdates", "false"]);
    std::fs::remove_dir_all(provider.join(".git/logs")).unwrap();
    world.bump("2.0.0");
    world.git(&provider, &["reset", "--quiet", "--hard", "HEAD~1"]);
    world.git(&provider, &["gc", "--quiet", "--prune=now"]);
    world.bump("1.2.0");
    let status = world.ok(&provider, &["status"]);
    let at = |what: &str| status.stdout.find(what).unwrap_or_else(|| panic!("{status}"));
    assert!(at("write a version above 2.0.0, and commit") < at("--rollback"), "{status}");
    let refused = publish(&world, "fungal", &["--rollback", "--reason", "dropped"]).exits(1);
    assert!(refused.stderr.contains("1.2.0 was never published"), "{refused}");
    assert!(refused.stderr.contains("hint: write a version above 2.0.0, and commit"), "{refused}");
    world.bump("2.1.0");
    publish(&world, "fungal", &["--rollback", "--reason", "dropped"]).exits(0);
    assert_eq!(world.version(), "2.1.0");
}
