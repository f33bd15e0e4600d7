//! Realms, homes and hubs that were moved, and realms of the same name.

use crate::world::{REALM, World};

/// A realm shared at `hub.git`, joined by `fungal`.
fn shared() -> (World, String) {
    let world = World::solo();
    let hub = world.hub();
    world.ok(&world.path("fungal"), &["init", "--url", &hub]);
    world.commit("fungal", "Share the realm");
    world.ok(&world.path("fungal"), &["sync"]);
    (world, hub)
}

#[test]
fn home_that_was_moved_still_has_its_stores() {
    let (world, hub) = shared();
    let fungal = world.path("fungal");
    std::fs::create_dir(world.path("moved")).unwrap();
    std::fs::rename(world.path("home/blue"), world.path("moved/blue")).unwrap();
    world.on("moved");
    world.ok(&fungal, &["status"]);
    world.bump("1.1.0");
    assert_eq!(world.version(), "1.1.0");
    world.ok(&fungal, &["sync"]);
    let list = world.ok(&fungal, &["realm", "list"]);
    assert!(list.stdout.contains("moved/blue/realms"), "{list}");

    // A store without a record is taken up again, with what it has not pushed.
    world.bump("1.2.0");
    let config = world.path("moved/blue/config");
    let config = config.to_str().unwrap();
    world.git(&fungal, &["config", "--file", config, "--remove-section", &format!("blue.realm.{REALM}")]);
    world.blue(&fungal, &["status"]).exits(128);
    world.ok(&fungal, &["init", "--url", &hub]);
    assert_eq!(world.version(), "1.2.0");
    world.ok(&fungal, &["status"]);
}

#[test]
fn missing_store_is_obtained_again_by_the_printed_step() {
    let (world, _) = shared();
    let fungal = world.path("fungal");
    for remove in [true, false] {
        std::fs::remove_dir_all(world.store()).unwrap();
        if !remove {
            std::fs::create_dir(world.store()).unwrap();
        }
        let status = world.blue(&fungal, &["status"]).exits(128);
        let step = world.next_step(&status);
        let again = world.finish_shell(&fungal, &step);
        assert_eq!(again.code, 0, "{step}: {again}");
        world.ok(&fungal, &["status"]);
    }
}

#[test]
fn unreadable_store_is_not_called_something_else() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let world = World::solo();
    if world.root().metadata().unwrap().uid() == 0 {
        return println!("left out: root may read everything");
    }
    for part in ["", "objects", "HEAD"] {
        let path = world.store().join(part);
        let mode = path.metadata().unwrap().permissions();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o0)).unwrap();
        let run = world.blue(&world.path("fungal"), &["status"]).exits(128);
        std::fs::set_permissions(&path, mode).unwrap();
        assert!(run.stderr.contains("Permission denied") && !run.stderr.contains("remove-section"), "{part}: {run}");
    }
}

#[test]
fn store_is_not_its_own_hub() {
    let (world, _) = shared();
    let fungal = world.path("fungal");
    let store = world.store().display().to_string();
    for url in [store.clone(), format!("file://{store}")] {
        for args in [
            &["realm", "admin", "reseed", "--url", &url][..],
            &["init", "--url", &url],
            &["realm", "admin", "join", REALM, "--url", &url],
        ] {
            let run = world.blue(&fungal, args).exits(129);
            assert!(run.stderr.contains("is the store of a realm on this machine"), "{run}");
        }
    }
    world.ok(&fungal, &["sync"]);
}
