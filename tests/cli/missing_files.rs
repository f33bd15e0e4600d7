//! Contract files that git no longer has. The steps that bring them back overwrite nothing in the working tree.

use crate::world::{CONTRACT_FILE, World, contract};

const AT: &str = "s3-access/s3-permissions";

/// A provider that committed the removal of a contract's file, which is still in the working tree, with an edit.
fn untracked(world: &World, path: &str, ignored: bool) {
    let provider = world.path("fungal");
    let text = world.read(&format!("fungal/{path}"));
    if ignored {
        world.write("fungal/.gitignore", &format!("{path}\n"));
        world.git(&provider, &["add", ".gitignore"]);
    }
    world.write(&format!("fungal/{path}"), &format!("{text}# my own edit\n"));
    world.git(&provider, &["rm", "--quiet", "--cached", path]);
    world.git(&provider, &["commit", "--quiet", "-m", "Untrack it"]);
}

/// Runs a command, and returns whether the file has the edit afterwards.
fn keeps_edit(world: &World, command: &str, path: &str) -> bool {
    let run = world.finish_shell(&world.path("fungal"), command);
    assert_eq!(run.code, 0, "{command}: {run}");
    world.read(&format!("fungal/{path}")).contains("# my own edit")
}

#[test]
fn check_does_not_overwrite_a_contract_file_that_is_not_committed() {
    for ignored in [false, true] {
        let world = World::pair();
        let provider = world.path("fungal");
        untracked(&world, CONTRACT_FILE, ignored);
        let force = if ignored { "--force " } else { "" };
        let commit = format!("git add {force}{CONTRACT_FILE} && git commit -m \"Add the file of {AT}\"");
        for subject in ["--commit=HEAD", "--staged"] {
            let check = world.blue(&provider, &["check", subject]);
            let says = format!("is not committed, but {AT} stays in the realm until it is retired");
            assert!(check.stdout.contains(&says), "{check}");
            assert!(check.stdout.contains(&format!("; it is imported by access: {commit}, or ")), "{check}");
            assert!(!check.stdout.contains("contract get"), "{check}");
        }
        let status = world.ok(&provider, &["status"]);
        assert!(world.next_steps(&status).contains(&commit), "{status}");
        assert!(!status.stdout.contains("contract get"), "{status}");
        assert!(keeps_edit(&world, &commit, CONTRACT_FILE));
    }
}

/// No commit has the files of a new branch without history.
#[test]
fn check_before_the_first_commit_overwrites_nothing() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.git(&provider, &["checkout", "--quiet", "--orphan", "empty"]);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0"));
    let check = world.blue(&provider, &["check"]);
    assert!(check.stdout.contains(&format!("is not committed, but {AT} stays")), "{check}");
    assert!(!check.stdout.contains("contract get"), "{check}");
}

#[test]
fn restoring_the_configuration_keeps_the_file_in_the_working_tree() {
    for ignored in [false, true] {
        let world = World::pair();
        let provider = world.path("fungal");
        untracked(&world, ".blue/config.yaml", ignored);
        let restore = world.next_steps(&world.blue(&provider, &["check"]).exits(1)).remove(0);
        assert!(keeps_edit(&world, &restore, ".blue/config.yaml"), "{restore}");
        world.blue(&provider, &["check"]).exits(0);
    }
}

/// A contract that is imported cannot be retired.
#[test]
fn file_of_an_imported_contract_is_written_first() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.git(&provider, &["rm", "--quiet", CONTRACT_FILE]);
    let check = world.blue(&provider, &["check", "--staged"]);
    let says = "stays in the realm until it is retired; it is imported by access: mkdir -p ";
    assert!(check.stdout.contains(says), "{check}");
    let retire = format!("git blue contract retire {AT} --reason \"…\"");
    let when = "once this is published and nobody imports it";
    assert!(check.stdout.contains(&format!("writes the file, or {when}: {retire}")), "{check}");
    let commit = world.commit("fungal", "Remove it");
    let hint = format!("bring the file back, or retire it once nobody imports it: {retire}");
    assert!(commit.stderr.contains(&hint), "{commit}");
    let status = world.ok(&provider, &["status"]);
    let (write, or_retire) = ("  # write its file, which is missing here", format!("{retire}  # or retire it once"));
    assert!(status.stdout.find(write) < status.stdout.find(&or_retire), "{status}");
    let write = status.stdout.lines().find(|line| line.ends_with(write)).unwrap_or_else(|| panic!("{status}"));
    assert_eq!(world.finish_shell(&provider, write.trim()).code, 0, "{status}");
    world.commit("fungal", "Write it");
    assert!(!world.ok(&provider, &["status"]).stdout.contains("without a file"));
}

/// `status` that publishes the removal has the same step as the publication.
#[test]
fn retiring_is_proposed_once() {
    let world = World::solo();
    let provider = world.path("fungal");
    world.git(&provider, &["config", "blue.publish", "off"]);
    world.git(&provider, &["rm", "--quiet", CONTRACT_FILE]);
    world.commit("fungal", "Remove it");
    world.git(&provider, &["config", "--unset", "blue.publish"]);
    let status = world.ok(&provider, &["status"]);
    assert_eq!(status.stdout.matches("git blue contract retire").count(), 1, "{status}");
}

/// Publishing says the same as `status`.
#[test]
fn publishing_proposes_the_step_that_works() {
    let world = World::pair();
    let provider = world.path("fungal");
    let preview = || world.blue(&provider, &["contract", "publish", "--dry-run"]).exits(0);
    world.git(&provider, &["config", "blue.publish", "off"]);
    untracked(&world, CONTRACT_FILE, false);
    assert!(world.next_step(&preview()).starts_with(&format!("git add {CONTRACT_FILE} && git commit ")));
    std::fs::remove_file(provider.join(CONTRACT_FILE)).unwrap();
    let run = preview();
    let at = |what: &str| run.stdout.find(what).unwrap_or_else(|| panic!("{run}"));
    assert!(at("  # write its file, which is missing here") < at("  # or retire it once nobody imports it"), "{run}");
}
