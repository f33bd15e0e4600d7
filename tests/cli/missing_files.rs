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
            assert!(check.stdout.contains(&format!("is not committed, but {AT} stays")), "{check}");
            assert!(check.stdout.contains(&format!(": {commit}, or ")), "{check}");
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
