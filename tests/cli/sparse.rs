//! Sparse checkouts, in which files below `.blue/` are missing in the working tree.

use serde_json::json;

use crate::world::{BINDING_FILE, CONTRACT_FILE, World};

const AT: &str = "s3-access/s3-permissions";

/// Two repositories whose indexes are up to date: git leaves out no file that may have changed.
fn world() -> World {
    let world = World::pair();
    for repo in ["fungal", "access"] {
        world.git(&world.path(repo), &["status"]);
    }
    world
}

#[test]
fn left_out_binding_is_not_replaced() {
    let world = world();
    let consumer = world.path("access");
    for folders in [&["set", "--cone", "cdk"][..], &["set", "--no-cone", "/*", "!/.blue/bindings/"]] {
        world.git(&consumer, &["sparse-checkout", "disable"]);
        let before = world.read(&format!("access/{BINDING_FILE}"));
        world.git(&consumer, &[&["sparse-checkout"], folders].concat());
        assert!(!consumer.join(BINDING_FILE).exists(), "{folders:?}");
        for edit in [&["import", AT, ">=1.0.0, <4.0.0"][..], &["unimport", AT]] {
            let refused = world.blue(&consumer, edit).exits(1);
            assert!(refused.stderr.contains("is not in the working tree, because the checkout is sparse"), "{refused}");
            assert!(!consumer.join(BINDING_FILE).exists(), "{refused}");
        }
        // The next step checks the file out, and then the import is changed in it.
        let refused = world.blue(&consumer, &["import", AT, ">=1.0.0, <4.0.0"]);
        assert_eq!(world.finish_shell(&consumer, &world.next_step(&refused)).code, 0, "{refused}");
        let changed = world.ok(&consumer, &["import", AT, ">=1.0.0, <4.0.0"]);
        let after = world.read(&format!("access/{BINDING_FILE}"));
        assert_eq!(after.replace(">=1.0.0, <4.0.0", ">=1.0.0, <2.0.0"), before);
        let committed = world.finish_shell(&consumer, &world.next_step(&changed));
        assert_eq!(committed.code, 0, "{committed}");
        world.git(&consumer, &["revert", "--no-edit", "HEAD"]);
    }
}

#[test]
fn new_file_can_be_added_where_the_checkout_is_sparse() {
    let world = world();
    let provider = world.path("fungal");
    world.git(&provider, &["sparse-checkout", "set", "--cone", "models"]);
    let made = world.ok(&provider, &["contract", "new", "s3-access/more"]);
    let committed = world.finish_shell(&provider, &world.next_step(&made));
    assert_eq!(committed.code, 0, "{committed}");
    assert_eq!(world.json(&provider, &["contract", "get", "s3-access/more"])["contract"]["version"], "1.0.0");
}

#[test]
fn left_out_contract_does_not_count_as_removed() {
    let world = world();
    let provider = world.path("fungal");
    world.git(&provider, &["sparse-checkout", "set", "models"]);
    assert!(!provider.join(CONTRACT_FILE).exists());
    let check = world.json(&provider, &["check", "--worktree"]);
    assert_eq!((&check["warnings"], &check["files"]), (&json!([]), &json!(2)), "{check:#}");
    let bump = world.blue(&provider, &["contract", "bump", AT, "minor"]).exits(1);
    assert!(bump.stderr.contains("the checkout is sparse"), "{bump}");
    // A file that is removed by hand is missing, even if others are left out.
    assert_eq!(world.finish_shell(&provider, &world.next_step(&bump)).code, 0, "{bump}");
    std::fs::remove_file(provider.join(CONTRACT_FILE)).unwrap();
    let check = world.blue(&provider, &["check", "--worktree"]);
    assert!(check.stdout.contains("[file-removed]"), "{check}");
}

/// A file that git has can be named, whether or not it is checked out. Only a file whose content is needed has to be.
#[test]
fn left_out_file_of_the_code_can_be_named() {
    let world = world();
    let (provider, consumer) = (world.path("fungal"), world.path("access"));
    world.write("fungal/models/paths.json", "{\"type\": \"object\"}\n");
    world.commit("fungal", "Schema");
    world.git(&provider, &["sparse-checkout", "set", "--cone", ".blue"]);
    world.git(&consumer, &["sparse-checkout", "set", "--no-cone", "/*", "!/cdk/"]);
    assert!(!provider.join("models").exists() && !consumer.join("cdk").exists());
    world.ok(&provider, &["export", AT, "--source", "models/s3_paths.py"]);
    world.ok(&provider.join(".blue"), &["export", AT, "--source", "../models/s3_paths.py"]);
    world.ok(&consumer, &["import", AT, ">=1.0.0, <4.0.0", "--used-in", "cdk/access_stack.py"]);
    let none = world.blue(&provider, &["export", AT, "--source", "models/none.py"]).exits(128);
    assert!(none.stderr.contains("no such file: models/none.py"), "{none}");
    let schema = ["contract", "new", "s3-access/more", "--schema", "models/paths.json"];
    let refused = world.blue(&provider, &schema).exits(1);
    assert!(refused.stderr.contains("models/paths.json is not in the working tree, because the checkout is sparse"));
    assert_eq!(world.finish_shell(&provider, &world.next_step(&refused)).code, 0, "{refused}");
    world.ok(&provider, &schema);
}

/// The realm would have the new name, and the files that nobody sees the old one.
#[test]
fn nothing_is_renamed_or_left_while_its_files_are_left_out() {
    let world = world();
    let fungal = world.path("fungal");
    let before = world.tip("refs/blue/realm");
    for command in [&["realm", "admin", "rename", "fungal", "mycelium"][..], &["leave", "--force"]] {
        for folders in [&["set", "--cone", "models"][..], &["set", "--no-cone", "/*", "!/.blue/"]] {
            world.git(&fungal, &[&["sparse-checkout"], folders].concat());
            let refused = world.blue(&fungal, command).exits(1);
            assert!(refused.stderr.contains("is not in the working tree, because the checkout is sparse"), "{refused}");
            assert_eq!(world.tip("refs/blue/realm"), before);
            world.finish_shell(&fungal, &world.next_step(&refused)).exits(0);
            assert!(fungal.join(CONTRACT_FILE).exists());
        }
    }
    world.ok(&fungal, &["realm", "admin", "rename", "fungal", "mycelium"]);
    assert!(world.read(&format!("fungal/{CONTRACT_FILE}")).contains("owner: mycelium"));
}
