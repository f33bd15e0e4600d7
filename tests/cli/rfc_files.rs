//! `check --rfc` reads the files of several repositories. Errors name the repository whose file they are in.

use serde_json::json;

use super::merge_steps::{RFC, commit, tree};
use crate::world::{BINDING_FILE, CONTRACT_FILE, EXPORTING, World, contract, importing};

#[test]
fn place_in_another_repository_is_named_with_it() {
    let world = World::pair();
    world.ok(&world.path("fungal"), &["realm", "worktree", "create", "--rfc", RFC]);
    let fungal = tree(&world, "fungal");
    commit(&world, &fungal, CONTRACT_FILE, &contract("2.0.0"));
    let text = world.blue(&fungal, &["check", "--rfc", RFC]).exits(1);
    let place = format!("access: {BINDING_FILE}:4");
    assert!(text.stdout.starts_with(&format!("{place}: error: access imports")), "{text}");
    let error = world.blue(&fungal, &["check", "--rfc", RFC, "--json"]).exits(1).json()["errors"][0].clone();
    assert_eq!((&error["file"], &error["file_repo"]), (&json!(BINDING_FILE), &json!("access")));
    let annotations = world.blue(&fungal, &["check", "--rfc", RFC, "--format", "github"]).exits(1).stdout;
    assert!(annotations.contains(&place) && !annotations.contains(&format!("file={BINDING_FILE}")), "{annotations}");
    let own = world.blue(&tree(&world, "access"), &["check", "--rfc", RFC]).exits(1);
    assert!(own.stdout.starts_with(&format!("{BINDING_FILE}:4: error: access imports")), "{own}");

    commit(&world, &tree(&world, "access"), BINDING_FILE, &importing(">=1.0.0, <<3.0.0"));
    let unreadable = world.blue(&fungal, &["check", "--rfc", RFC]).exits(1);
    assert!(unreadable.stdout.contains(&format!("{place}:")), "{unreadable}");
    let step = format!("correct {BINDING_FILE}:4 of access (unreadable-file), and check again");
    assert!(unreadable.stdout.contains(&step), "{unreadable}");
}

/// Only the repository whose branch breaks the import has its commit.
#[test]
fn impact_is_shown_where_the_branch_is() {
    let world = World::pair();
    let file = ".blue/contracts/s3-access/jobs.yaml";
    let jobs =
        |version: &str| contract(version).replace("s3-permissions", "jobs").replace("owner: fungal", "owner: access");
    world.write(&format!("access/{file}"), &jobs("1.0.0"));
    world.commit("access", "Jobs");
    let both = EXPORTING.replace("role: provider", "role: both");
    let import = "imports: [ { contract: jobs, version: \"^1\" } ]\n";
    world.write(&format!("fungal/{BINDING_FILE}"), &(both + import));
    world.commit("fungal", "Read the jobs");
    let fungal = world.path("fungal");
    world.ok(&fungal, &["realm", "worktree", "create", "--rfc", RFC]);
    commit(&world, &tree(&world, "access"), file, &jobs("2.0.0"));
    let check = world.blue(&tree(&world, "fungal"), &["check", "--rfc", RFC]).exits(1);
    let step =
        format!("git blue contract impact s3-access/jobs --commit {RFC}  # in access: show which consumers it breaks");
    assert_eq!(world.next_step(&check), step, "{check}");
}

/// The working tree of the default branch is not what was judged.
#[test]
fn steps_outside_of_the_worktree_are_about_the_worktree() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.ok(&fungal, &["realm", "worktree", "create", "--rfc", RFC]);
    let tree = tree(&world, "fungal");
    let place = format!("git blue -C {} ", tree.display());
    commit(&world, &tree, CONTRACT_FILE, &contract("1.0.0").replace("read", "scan"));
    let reused = world.blue(&fungal, &["check", "--rfc", RFC]).exits(1);
    let step = world.next_step(&reused);
    assert!(step.starts_with(&format!("{place}contract bump ")), "{reused}");
    assert_eq!(world.finish_shell(&fungal, &step).code, 0);
    // The files of the working tree there, not of the one here.
    let edited = world.json(&fungal, &["check", "--rfc", RFC, "--worktree"]);
    assert_eq!((&edited["errors"][0]["code"], &edited["valid"]), (&json!("import-broken"), &json!(false)), "{edited}");
    world.git(&tree, &["commit", "-q", "-a", "-m", "Raise it"]);
    let broken = world.blue(&fungal, &["check", "--rfc", RFC]).exits(1);
    let step = world.next_step(&broken);
    assert!(step.starts_with(&format!("{place}contract impact ")), "{broken}");
    let impact = world.finish_shell(&fungal, &step);
    assert!(impact.stdout.contains("broken"), "{impact}");

    // Without a worktree, the branch has to be checked out first.
    world.git(&fungal, &["worktree", "remove", "--force", tree.to_str().unwrap()]);
    let step = format!("git switch {RFC}  # the files of {RFC} are on this branch");
    let broken = world.blue(&fungal, &["check", "--rfc", RFC]).exits(1);
    assert_eq!(world.next_step(&broken), step, "{broken}");
    let other = world.blue(&fungal, &["check", "--rfc", RFC, "--worktree"]).exits(1);
    assert!(other.stderr.contains(&format!("its branch {RFC} is not checked out")), "{other}");
    assert_eq!(world.next_step(&other), step, "{other}");
    world.git(&fungal, &["switch", "-q", RFC]);
    world.blue(&fungal, &["check", "--rfc", RFC, "--worktree"]).exits(1);
}

#[test]
fn branch_that_lacks_a_published_version_is_merged_first() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.ok(&fungal, &["realm", "worktree", "create", "--rfc", RFC]);
    commit(&world, &tree(&world, "fungal"), CONTRACT_FILE, &contract("1.1.0").replace("read", "scan"));
    world.bump("1.1.0");
    let published = world.git(&fungal, &["rev-parse", "--short=10", "HEAD"]).stdout.trim().to_owned();
    let merge = format!("git -C {} merge {published}", tree(&world, "fungal").display());
    for repo in ["fungal", "access"] {
        let check = world.blue(&tree(&world, repo), &["check", "--rfc", RFC]).exits(1);
        assert!(check.stdout.contains("has since been published with different content"), "{check}");
        assert!(world.next_step(&check).starts_with(&merge), "{check}");
    }
    let status = world.ok(&fungal, &["realm", "pr", "status", "--rfc", RFC]).stdout;
    assert!(status.contains(&merge) && !status.contains("bump to"), "{status}");
}

/// Its files were changed on main since.
#[test]
fn merged_branch_is_judged_by_main() {
    let world = World::pair();
    let (fungal, access) = (world.path("fungal"), world.path("access"));
    world.ok(&fungal, &["realm", "worktree", "create", "--rfc", RFC]);
    commit(&world, &tree(&world, "access"), BINDING_FILE, &importing(">=1.0.0, <3.0.0"));
    world.git(&access, &["merge", "-q", RFC]);
    commit(&world, &access, BINDING_FILE, &importing(">=1.0.0, <4.0.0"));
    commit(&world, &tree(&world, "fungal"), CONTRACT_FILE, &contract("3.0.0"));
    let check = world.json(&fungal, &["check", "--rfc", RFC]);
    assert_eq!((&check["errors"], &check["valid"]), (&json!([]), &json!(true)), "{check:#}");
    let branches = [&check["branches"][0]["branch"], &check["branches"][1]["branch"]];
    assert_eq!(branches, ["refs/heads/main", "refs/heads/rfc-7"], "{check:#}");
}

/// Both are written before either is merged.
#[test]
fn contract_of_a_branch_can_be_imported_in_the_same_rfc() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.write("sample.json", "{\"id\": 1}");
    world.ok(&fungal, &["realm", "worktree", "create", "--rfc", RFC]);
    let (provider, consumer) = (tree(&world, "fungal"), tree(&world, "access"));
    let sample = world.path("sample.json");
    let import = ["import", "s3-access/orders", "--used-in", "cdk/access_stack.py"];
    assert!(world.blue(&consumer, &import).exits(1).stderr.contains("there is no contract s3-access/orders"));
    let new = world.ok(&provider, &["contract", "new", "s3-access/orders", "--from-samples", sample.to_str().unwrap()]);
    assert!(new.stdout.contains(&format!("in the worktree of each consumer for {RFC}")), "{new}");
    world.git(&provider, &["add", "--all"]);
    world.git(&provider, &["commit", "-q", "-m", "Orders"]);
    // Outside of the RFC, there is none yet.
    world.blue(&world.path("access"), &import).exits(1);
    let place = format!("s3-access/orders is on the branch of fungal for {RFC}, and is published when that is merged");
    let imported = world.ok(&consumer, &import);
    assert!(imported.stdout.contains(&format!("git blue check --rfc {RFC}  # {place}")), "{imported}");
    let binding = std::fs::read_to_string(consumer.join(BINDING_FILE)).unwrap();
    assert!(binding.contains("orders") && binding.contains(">=1.0.0, <2.0.0"), "{binding}");
    world.git(&consumer, &["commit", "-q", "-a", "-m", "Read the orders"]);
    let check = world.blue(&consumer, &["check"]).exits(1);
    assert!(check.stdout.contains(&place), "{check}");
    let step = world.next_step(&check);
    assert_eq!(step, format!("git blue check --rfc {RFC}  # check both together"), "{check}");
    world.finish_shell(&consumer, &step).exits(0);
}
