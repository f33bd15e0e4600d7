//! Rollbacks: a version goes back only to a published one, and stays back until the branch changes the contract.

use crate::world::{BINDING_FILE, CONTRACT_FILE, DOMAIN_REF, Run, World, contract, importing, snapshot};

const CONTRACT: &str = "s3-access/s3-permissions";

/// Publishes by command, as after a git command that runs no hook.
fn publish(world: &World, repo: &str, more: &[&str]) -> Run {
    world.blue(&world.path(repo), &[&["contract", "publish"], more].concat())
}

/// Returns the short id of a commit, as in output.
fn short(world: &World, revision: &str) -> String {
    world.line(&world.path("fungal"), &["rev-parse", "--short=10", revision])
}

#[test]
fn rollback_holds_until_the_branch_changes_the_contract() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.bump("1.1.0");
    let (old, new) = (short(&world, "HEAD~1"), short(&world, "HEAD"));
    let back = publish(&world, "fungal", &["--commit", "HEAD~1", "--rollback", "--reason", "broke the masks"]).exits(0);
    let revert = format!(
        "git revert --no-edit {new}  # main still has that commit, and the next change on it would publish it again"
    );
    assert!(back.stdout.contains(&revert), "{back}");
    // Neither status nor a hook publishes the branch again.
    let status = world.ok(&provider, &["status"]);
    assert!(status.stdout.contains(&format!("not published: it has what was rolled back to {old}\n")), "{status}");
    assert!(status.stdout.contains(&revert) && status.stdout.contains("git blue contract publish  # or"), "{status}");
    world.write("fungal/other.txt", "elsewhere\n");
    world.commit("fungal", "Elsewhere");
    world.git(&provider, &["switch", "--quiet", "-c", "side"]);
    world.git(&provider, &["switch", "--quiet", "main"]);
    world.ok(&provider, &["status"]);
    assert_eq!(world.version(), "1.0.0");
    // A commit that has the same content is held as well, and says so.
    world.git(&provider, &["revert", "--no-edit", &new]);
    let again = world.git(&provider, &["revert", "--no-edit", "HEAD"]);
    let line =
        format!("not published: it has what was rolled back to {old}; git blue contract publish  # publish it again");
    assert!(again.stderr.contains(&line), "{again}");
    assert_eq!(world.version(), "1.0.0");
    // A commit that changes the contract is published.
    world.bump("1.2.0");
    assert_eq!(world.version(), "1.2.0");
}

/// A comment changes nothing that is published, and neither does another name of the repository.
#[test]
fn rollback_holds_after_a_comment_and_a_rename() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.bump("1.1.0");
    let old = short(&world, "HEAD~1");
    publish(&world, "fungal", &["--commit", "HEAD~1", "--rollback", "--reason", "broke the masks"]).exits(0);
    let held = format!("not published: it has what was rolled back to {old}");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &format!("# The paths\n{}", contract("1.1.0")));
    let comment = world.commit("fungal", "A comment");
    assert!(comment.stderr.contains(&held), "{comment}");
    world.ok(&provider, &["realm", "admin", "rename", "fungal", "mycelium"]);
    let renamed = world.commit("fungal", "Take the name mycelium");
    assert!(renamed.stderr.contains(&held), "{renamed}");
    let status = world.ok(&provider, &["status"]);
    assert!(status.stdout.contains(&held), "{status}");
    assert_eq!(world.version(), "1.0.0");
    // Other texts of the version that is current are published.
    let contract = |version: &str| contract(version).replace("owner: fungal", "owner: mycelium");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.0.0").replace("Paths that", "The paths that"));
    let described = world.commit("fungal", "Describe it");
    assert!(described.stderr.contains("updated s3-access/s3-permissions 1.0.0 (description)"), "{described}");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.2.0"));
    world.commit("fungal", "Paths 1.2.0");
    assert_eq!(world.version(), "1.2.0");
}

#[test]
fn binding_that_was_rolled_back_is_held_after_a_rename() {
    let world = World::pair();
    let consumer = world.path("access");
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0, <3.0.0"));
    world.commit("access", "Accept more");
    publish(&world, "access", &["--commit", "HEAD~1", "--rollback", "--reason", "too early"]).exits(0);
    world.ok(&consumer, &["realm", "admin", "rename", "access", "entry"]);
    let status = world.ok(&consumer, &["status"]);
    assert!(status.stdout.contains("not published: it has what was rolled back to"), "{status}");
    assert_eq!(world.stored("bindings/entry.json")["imports"][0]["version"], ">=1.0.0, <2.0.0");
}

#[test]
fn revert_makes_a_rollback_last() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.bump("1.1.0");
    world.bump("1.2.0");
    world.write("fungal/other.txt", "elsewhere\n");
    world.commit("fungal", "Elsewhere");
    let old = short(&world, "HEAD~3");
    let back = publish(&world, "fungal", &["--commit", &old, "--rollback", "--reason", "broke the masks"]).exits(0);
    let restore = format!("git restore --source={old} --staged --worktree :/.blue");
    let step = format!(
        "git diff --stat --exit-code HEAD -- :/.blue && {restore} && git commit -m 'Roll back to {old}' -- :/.blue"
    );
    assert!(back.stdout.contains(&format!("{step}  # main still has that commit")), "{back}");
    // It neither overwrites uncommitted work, nor commits what else is staged.
    let committed = world.read(&format!("fungal/{CONTRACT_FILE}"));
    for stage in [&["status"][..], &["add", CONTRACT_FILE]] {
        world.write(&format!("fungal/{CONTRACT_FILE}"), &format!("{committed}# my own edit\n"));
        world.git(&provider, stage);
        let refused = world.finish_shell(&provider, &step);
        assert!(refused.code == 1 && refused.stdout.contains("1 file changed"), "{refused}");
        assert!(world.read(&format!("fungal/{CONTRACT_FILE}")).contains("# my own edit"));
    }
    world.git(&provider, &["checkout", "--quiet", "HEAD", "--", CONTRACT_FILE]);
    world.write("fungal/staged.txt", "later\n");
    world.git(&provider, &["add", "staged.txt"]);
    world.feed("sh", &provider, &["-c", &step], "").exits(0);
    assert!(world.path("fungal/other.txt").is_file(), "other commits stay");
    assert_eq!(world.git(&provider, &["status", "--short"]).stdout, "A  staged.txt\n");
    let status = world.ok(&provider, &["status"]);
    assert!(!status.stdout.contains("unpublished"), "{status}");
    assert_eq!(world.version(), "1.0.0");
    world.bump("1.3.0");
    assert_eq!(world.version(), "1.3.0");
}

#[test]
fn version_goes_down_only_with_rollback() {
    let world = World::pair();
    world.bump("1.1.0");
    let down = world.bump("1.0.0");
    assert!(down.stderr.contains("would go back from 1.1.0 to 1.0.0"), "{down}");
    assert_eq!(world.version(), "1.1.0");
    let without = publish(&world, "fungal", &["--rollback"]).exits(129);
    let dry = publish(&world, "fungal", &["--rollback", "--reason", "broke the masks", "--dry-run"]).exits(0);
    assert_eq!(world.version(), "1.1.0");
    let run = publish(&world, "fungal", &["--rollback", "--reason", "broke the masks"]).exits(0);
    assert_eq!(world.version(), "1.0.0");
    assert!(world.git(&world.store(), &["log", "-1", DOMAIN_REF]).stdout.contains("broke the masks"));
    // A rollback must go to a published version.
    world.bump("0.9.0");
    let never = publish(&world, "fungal", &["--rollback", "--reason", "no"]).exits(1);
    snapshot("rollback", &[&down, &without, &dry, &run, &never]);
}

/// A rollback restores all contracts of a commit, so it would be refused.
#[test]
fn rollback_is_not_offered_for_a_commit_with_other_changes() {
    let world = World::pair();
    let other = |text: &str| {
        let text = text.replace("name: s3-permissions", "name: other");
        world.write("fungal/.blue/contracts/s3-access/other.yaml", &text);
    };
    other(&contract("1.0.0"));
    world.bump("1.1.0");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.0.0"));
    other(&contract("auto").replace("jobs/", "tasks/"));
    let refused = world.commit("fungal", "One goes back, the other on");
    assert!(refused.stderr.contains("would go back from 1.1.0 to 1.0.0"), "{refused}");
    assert!(refused.stderr.trim_end().ends_with("; write a version above 1.1.0, and commit"), "{refused}");
    let status = world.ok(&world.path("fungal"), &["status"]);
    assert!(!status.stdout.contains("--rollback"), "{status}");
    // A rollback is possible without the other change.
    other(&contract("1.0.0"));
    let refused = world.commit("fungal", "Only one");
    assert!(refused.stderr.contains("git blue contract publish --rollback"), "{refused}");
    publish(&world, "fungal", &["--rollback", "--reason", "broke the masks"]).exits(0);
    assert_eq!(world.version(), "1.0.0");
}

/// Commits a contract with this version and another schema.
fn commit(world: &World, version: &str, schema: (&str, &str)) -> Run {
    let text = contract(version).replace(&format!("\"v{version}\""), "\"v1.0.0\"");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &text.replace(schema.0, schema.1));
    world.commit("fungal", version)
}

const SAME: (&str, &str) = ("", "");
/// Consumers of the schema read a property that may be missing now.
const BREAK: (&str, &str) = ("required: [read]", "required: []");
const OPTIONAL: (&str, &str) = ("  properties:\n", "  properties:\n    extra: { type: string }\n");

fn roll_back(world: &World, commit: &str) -> Run {
    publish(world, "fungal", &["--commit", commit, "--rollback", "--reason", "broke the masks"])
}

#[test]
fn automatic_versions_are_rolled_back_to_the_one_that_was_published() {
    let world = World::pair();
    commit(&world, "auto", SAME);
    commit(&world, "auto", BREAK);
    assert_eq!(world.version(), "2.0.0");
    let refused = publish(&world, "fungal", &["--commit", "HEAD~1"]).exits(1);
    assert!(refused.all().contains("--rollback --reason"), "{refused}");
    roll_back(&world, "HEAD~1").exits(0);
    assert_eq!(world.version(), "1.0.0");
    world.git(
        &world.path("fungal"),
        &["-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--allow-empty", "-m", "x"],
    );
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("auto").replace("type: string", "type: integer"));
    world
        .git(&world.path("fungal"), &["-c", "core.hooksPath=/dev/null", "commit", "--quiet", "-am", "Never published"]);
    let never = publish(&world, "fungal", &["--rollback", "--reason", "no"]).exits(1);
    assert!(never.stderr.contains("this content was never published"), "{never}");
}

#[test]
fn versions_after_a_rollback_follow_the_current_one() {
    let world = World::pair();
    let provider = world.path("fungal");
    commit(&world, "1.0.0", SAME);
    commit(&world, "2.0.0", BREAK);
    roll_back(&world, "HEAD~1").exits(0);
    world.git(&provider, &["revert", "--no-edit", "HEAD"]);
    let text = contract("1.0.0").replace(OPTIONAL.0, OPTIONAL.1);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
    let check = world.blue(&provider, &["check", "--worktree"]).exits(1);
    assert!(check.stdout.contains("bump to 1.1.0"), "{check}");
    assert_eq!(world.json(&provider, &["contract", "bump", CONTRACT])["new_version"], "1.1.0");
    commit(&world, "auto", OPTIONAL);
    assert_eq!(world.version(), "1.1.0");
    // A published version is not used again.
    commit(&world, "auto", BREAK);
    assert_eq!(world.version(), "3.0.0");
}

#[test]
fn rollback_keeps_the_promise_of_a_higher_version() {
    let world = World::pair();
    let refused = commit(&world, "1.1.0", BREAK);
    assert!(refused.stderr.contains("breaks its promise"), "{refused}");
    let run = publish(&world, "fungal", &["--rollback", "--reason", "not a way around"]).exits(1);
    assert!(run.stderr.contains("breaks its promise"), "{run}");
    assert_eq!(world.version(), "1.0.0");
}

#[test]
fn pre_release_is_never_rolled_back_to() {
    let world = World::pair();
    world.bump("1.1.0-rc.1");
    world.bump("1.1.0");
    let older = publish(&world, "fungal", &["--commit", "HEAD~1"]).exits(1);
    assert!(!older.all().contains("--rollback"), "{older}");
    let run = roll_back(&world, "HEAD~1").exits(1);
    assert!(run.stderr.contains("a pre-release never becomes the current version"), "{run}");
    assert!(!world.ok(&world.path("fungal"), &["status"]).stdout.contains("rolled back"));
}

#[test]
fn version_that_was_rolled_back_is_not_served() {
    let world = World::pair();
    for version in ["1.1.0", "2.0.0"] {
        commit(&world, version, ("values: free", "values: free\nsupported: [\">=1.0.0\"]"));
    }
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=2.0.0, <3.0.0"));
    world.commit("access", "Read 2.0.0");
    roll_back(&world, "HEAD~1").exits(0);
    let status = world.json(&world.path("access"), &["status"]);
    assert_eq!(status["imports"][0]["state"], "broken", "{status}");
    world.blue(&world.path("access"), &["check"]).exits(1);
}

#[test]
fn rollback_restores_what_a_command_changed() {
    let world = World::pair();
    world.write("fungal/next.yaml", &contract("1.1.0"));
    world.ok(&world.path("fungal"), &["contract", "edit", CONTRACT, "--file", "next.yaml"]);
    assert_eq!(world.version(), "1.1.0");
    roll_back(&world, "HEAD").exits(0);
    assert_eq!(world.version(), "1.0.0");
    assert_eq!(world.stored("contracts/s3-permissions.json")["value"]["read"][1], "v1.0.0");
}

#[test]
fn second_rollback_is_made_last_by_restoring_the_files() {
    let world = World::pair();
    let provider = world.path("fungal");
    for version in ["1.1.0", "1.2.0", "1.3.0"] {
        world.bump(version);
    }
    publish(&world, "fungal", &["--commit", "HEAD~2", "--rollback", "--reason", "bad"]).exits(0);
    let back = publish(&world, "fungal", &["--commit", "HEAD~3", "--rollback", "--reason", "worse"]).exits(0);
    let step = world.next_step(&back);
    assert!(step.contains(&format!("git restore --source={} ", short(&world, "HEAD~3"))), "{back}");
    world.finish_shell(&provider, &step).exits(0);
    world.ok(&provider, &["status"]);
    assert_eq!(world.version(), "1.0.0");
}

/// git would overwrite a file that it does not track.
#[test]
fn file_in_the_way_of_a_rollback_is_named() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.bump("1.1.0");
    world.git(&provider, &["rm", "--quiet", "--cached", CONTRACT_FILE]);
    world.git(&provider, &["commit", "--quiet", "-m", "Untrack it"]);
    let back = publish(&world, "fungal", &["--commit", "HEAD~2", "--rollback", "--reason", "bad"]).exits(0);
    assert!(back.stdout.contains(&format!("  move {CONTRACT_FILE} elsewhere, then roll .blue/ back to")), "{back}");
    assert!(!back.stdout.contains("git restore"), "{back}");
}
