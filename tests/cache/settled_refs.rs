//! Once the refs have not changed for a while, they are not even listed. Every kind of change must be noticed
//! nevertheless.

use std::{fs, path::Path, time::Duration};

use crate::world::World;

/// Longer than the resolution of the coarsest file system clock.
const AT_REST: Duration = Duration::from_millis(3_100);

fn is_settled(kept: &Path) -> bool {
    kept.with_file_name("at-rest").exists()
}

#[test]
fn every_kind_of_change_is_seen_after_a_pause() {
    let world = World::new();
    world.domain(0).unwrap();
    world.contract(0, 0).unwrap();
    world.contract(0, 1).unwrap();
    world.agree("making it");

    let rest = || {
        std::thread::sleep(AT_REST);
        world.agree("a rest");
        assert!(is_settled(&world.kept()));
        fs::metadata(world.kept()).unwrap().modified().unwrap()
    };
    let before = rest();
    world.agree("nothing");
    assert_eq!(fs::metadata(world.kept()).unwrap().modified().unwrap(), before, "nothing is written for nothing");

    world.contract(0, 2).unwrap();
    world.agree("a write of ours");
    rest();
    world.in_store(&["update-ref", "refs/blue/domains/d0", "refs/blue/domains/d0~1"]);
    world.agree("git update-ref");
    rest();
    world.in_store(&["pack-refs", "--all"]);
    world.agree("git pack-refs");
    rest();
    world.in_store(&["update-ref", "refs/blue/domains/other", "refs/blue/domains/d0"]);
    world.agree("a ref of other hands");
    rest();
    world.in_store(&["update-ref", "-d", "refs/blue/domains/d0"]);
    world.agree("git update-ref -d");
}
