//! Advice leads on: no step leads back to the message that it came from, and messages name what to write.

use crate::world::{CONTRACT_FILE, World, contract};

const AT: &str = "s3-access/s3-permissions";

#[test]
fn bump_restores_the_published_version_of_the_same_content() {
    for version in ["0.9.0", "1.0.0"] {
        let world = World::solo();
        let fungal = world.path("fungal");
        world.bump("1.1.0");
        let path = format!("fungal/{CONTRACT_FILE}");
        let published = world.read(&path);
        world.write(&path, &published.replace("\"1.1.0\"", &format!("{version:?}")));
        let check = world.blue(&fungal, &["check", "--worktree"]);
        assert!(version == "0.9.0" || check.stdout.contains("bump to 1.1.0"), "{check}");
        let bump = world.ok(&fungal, &["contract", "bump", AT]);
        assert!(bump.stdout.contains(&format!("{version} -> 1.1.0 (published: 1.1.0)")), "{bump}");
        assert!(bump.stdout.contains("because the content is the same as in 1.1.0"), "{bump}");
        assert_eq!(world.read(&path), published);
        world.ok(&fungal, &["check", "--worktree"]);
    }
}

#[test]
fn refusal_says_that_nothing_else_was_published() {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.ok(&fungal, &["contract", "new", "billing/invoice", "--domain-members", "fungal"]);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.0.0").replace("masks", "inputs"));
    let commit = world.commit("fungal", "Change both");
    assert!(commit.stderr.contains("; nothing was published; write version: \"1.0.1\", and commit"), "{commit}");
    world.blue(&fungal, &["contract", "get", "billing/invoice"]).exits(1);
}
