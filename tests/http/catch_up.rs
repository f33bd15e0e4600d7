//! The daemon publishes commits that no hook published.

use crate::{
    client::Daemon,
    wait::eventually,
    world::{CONTRACT_FILE, World, contract},
};

/// Commits a version with a git command that runs no hook.
fn unhooked(world: &World, version: &str) {
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract(version));
    let dir = world.path("fungal");
    world.git(&dir, &["add", "-A"]);
    world.git(&dir, &["-c", "core.hooksPath=/dev/null", "commit", "--quiet", "-m", version]);
}

fn comes(world: &World, version: &str) {
    eventually(&format!("{version} is published"), || world.version() == version);
}

#[test]
fn publishes_what_no_hook_published() {
    let world = World::pair();
    unhooked(&world, "1.1.0");
    assert_eq!(world.version(), "1.0.0");
    let daemon = Daemon::start_with(&world, &["--catch-up", "1"]);
    comes(&world, "1.1.0");
    unhooked(&world, "1.2.0");
    comes(&world, "1.2.0");
    let answer = daemon.get("/notifications?realm=aperture&repo=access").json();
    assert_eq!(answer["notifications"][0]["changes"]["new_version"], "1.2.0", "{answer}");
}

#[test]
fn unreadable_repository_hides_no_other() {
    let world = World::pair();
    std::fs::write(world.path("access/.git/HEAD"), "nonsense").unwrap();
    unhooked(&world, "1.1.0");
    let _daemon = Daemon::start(&world);
    comes(&world, "1.1.0");
}

#[test]
fn recurring_problem_is_logged_once() {
    let world = World::pair();
    let file = world.store().with_file_name("../daemon/log");
    let log = || std::fs::read_to_string(&file).unwrap();
    let _daemon = Daemon::start_with(&world, &["--catch-up", "1"]);
    std::fs::rename(world.store(), world.path("away.git")).unwrap();
    eventually("it is logged", || log().contains("cannot look for unpublished commits"));
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    assert_eq!(log().matches("cannot look").count(), 1, "{}", log());
}

#[test]
fn publishes_only_what_is_configured() {
    let world = World::pair();
    world.git(&world.path("fungal"), &["config", "blue.publish", "off"]);
    unhooked(&world, "1.1.0");
    let before = world.tip(crate::world::DOMAIN_REF);
    let daemon = Daemon::start_with(&world, &["--catch-up", "1"]);
    std::thread::sleep(std::time::Duration::from_millis(2_500));
    assert_eq!(world.tip(crate::world::DOMAIN_REF), before);
    drop(daemon);
    world.git(&world.path("fungal"), &["config", "blue.publish", "commit"]);
    let daemon = Daemon::start_with(&world, &["--catch-up", "0"]);
    daemon.get("/realms/aperture").is(200);
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert_eq!(world.tip(crate::world::DOMAIN_REF), before);
}
