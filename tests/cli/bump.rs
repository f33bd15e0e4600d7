//! `contract bump` edits the file of a contract, and nothing else in it.

use crate::{
    authoring::CONTRACT,
    world::{CONTRACT_FILE, World, snapshot},
};

#[test]
fn bump_follows_the_change_and_keeps_comments() {
    let world = World::pair();
    let dir = world.path("fungal");
    let path = format!("fungal/{CONTRACT_FILE}");
    let file = world.read(&path);
    let commented = file.replace("version: \"1.0.0\"", "version: \"1.0.0\" # in quotes");
    let bump = |args: &[&str]| world.blue(&dir, &[&["contract", "bump", CONTRACT][..], args].concat());
    world.write(&path, &commented);
    let same = bump(&[]);
    // A property that a lenient sender now sends, and that the old schema accepts.
    let widened = commented.replace("properties:\n", "properties:\n    list: { type: boolean }\n");
    assert_ne!(widened, commented);
    world.write(&path, &widened);
    let minor = bump(&["-m", "Say \"list\": too"]);
    let text = world.read(&path);
    assert!(text.contains("version: \"1.1.0\" # in quotes"), "{text}");
    assert!(text.contains("changes: [\"Say \\\"list\\\": too\"]"), "{text}");
    // Running it again changes nothing.
    assert_eq!(world.json(&dir, &["contract", "bump", CONTRACT])["changed"], false);
    assert_eq!(world.read(&path), text);
    // A second bump to the same version adds to its entry.
    let again = bump(&["-m", "Say \"list\": too", "-m", "Explain it"]).exits(0);
    assert!(
        world.read(&format!("fungal/{CONTRACT_FILE}")).contains(r#"["Say \"list\": too", "Explain it"]"#),
        "{again}"
    );
    // Values that the old schema refuses.
    world.write(&path, &world.read(&path).replace("type: array", "type: [array, boolean]"));
    let major = bump(&["auto", "-m", "Allow a flag"]);
    let too_small = bump(&["patch"]);
    snapshot("authoring_bump", &[&same, &minor, &major, &too_small]);
    bump(&["major"]).exits(0);
    let text = world.read(&path);
    assert!(text.contains("version: \"2.0.0\" # in quotes"), "{text}");
    assert!(text.contains("compatible: false"), "{text}");
    // The versions of earlier bumps were never published.
    assert!(
        text.contains(r#"["Say \"list\": too", "Explain it", "Allow a flag"]"#) && !text.contains("1.1.0"),
        "{text}"
    );
    world.write(&path, &text.replace("[array, boolean]", "array"));
    bump(&["minor"]).exits(0);
    let lowered = world.read(&path);
    assert!(lowered.contains("version: \"1.1.0\"") && !lowered.contains("2.0.0"), "{lowered}");
    world.write(&path, &text);
    // The suggested command works.
    world.commit("fungal", "Allow a flag");
    assert_eq!(world.json(&dir, &["contract", "get", CONTRACT])["contract"]["version"], "2.0.0");
}

/// A version that somebody chose is not lowered, and a pre-release is not released.
#[test]
fn bump_keeps_a_higher_version_and_pre_releases() {
    let world = World::pair();
    let dir = world.path("fungal");
    let path = format!("fungal/{CONTRACT_FILE}");
    let file = world.read(&path).replace("properties:\n", "properties:\n    list: { type: boolean }\n");
    let bumped = |from: &str, file: &str| {
        world.write(&path, &file.replace("\"1.0.0\"", &format!("\"{from}\"")));
        let bump = world.blue(&dir, &["contract", "bump", CONTRACT]).exits(0);
        assert!(!bump.stdout.contains("major  # it breaks a promise"), "{bump}");
        world.json(&dir, &["contract", "bump", CONTRACT])["new_version"].as_str().unwrap().to_owned()
    };
    let breaking = file.replace("type: array", "type: [array, boolean]");
    for version in ["2.0.0", "1.5.0", "1.1.0-rc.1", "2.0.0-beta"] {
        assert_eq!(bumped(version, &file), version);
    }
    assert_eq!(bumped("1.1.0-rc.1", &breaking), "2.0.0-rc.1");
    world.commit("fungal", "Try it");
    assert_eq!(bumped("2.0.0-rc.1", &breaking), "2.0.0-rc.1", "it is published");
    assert_eq!(bumped("2.0.0-rc.1", &breaking.replace("boolean", "integer")), "2.0.0-rc.2");

    // Nothing but a pre-release is published.
    let other = breaking.replace("s3-permissions", "other").replace("\"1.0.0\"", "\"1.0.0-rc\"");
    let path = "fungal/.blue/contracts/s3-access/other.yaml";
    world.write(path, &other);
    world.commit("fungal", "Try another");
    world.write(path, &other.replace("boolean", "integer"));
    let check = world.blue(&dir, &["check", "--worktree"]).exits(1);
    assert!(check.stdout.contains("  write version: \"1.0.0-rc.1\", and commit\n"), "{check}");
    let bump = world.blue(&dir, &["contract", "bump", "s3-access/other"]).exits(1);
    let step = format!("hint: write version: \"1.0.0-rc.1\" in {}, or \"1.0.0\" to release it\n", &path[7..]);
    assert!(bump.stderr.ends_with(&step), "{bump}");
}

#[test]
fn bump_of_an_outdated_file_does_not_undo_what_was_published() {
    let world = World::pair();
    let dir = world.path("fungal");
    world.write("new.yaml", &crate::world::contract("1.1.0"));
    world.ok(&dir, &["contract", "edit", CONTRACT, "--file", "../new.yaml"]);
    let before = world.read(&format!("fungal/{CONTRACT_FILE}"));
    let refused = world.blue(&dir, &["contract", "bump", CONTRACT]).exits(1);
    assert!(refused.stderr.contains("is unchanged since 1.0.0, and the realm has s3-access/s3-permissions 1.1.0"));
    assert_eq!(world.read(&format!("fungal/{CONTRACT_FILE}")), before);
    world.finish_shell(&dir, &world.next_step(&refused)).exits(0);
    let bump = world.ok(&dir, &["contract", "bump", CONTRACT]);
    assert!(bump.stdout.contains("1.1.0"), "{bump}");
}
