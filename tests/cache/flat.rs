//! What one look costs does not grow with the realm.

use std::{rc::Rc, time::Duration};

use git_blue::{
    ops::{ctx::Acting, notify::pending},
    store::{Store, git::GitStore, overview::Overview},
    testing::{
        faulty::{Fault, FaultyStore},
        make,
    },
};

use crate::world::{CONSUMER, World, name};

/// Longer than the coarsest clock of a file system.
const AT_REST: Duration = Duration::from_millis(3_100);

/// Asks what is pending for a repository that was never told anything. Returns how often the store was asked.
fn look(world: &World) -> u32 {
    // Joining counts as being told.
    for told in world.in_store(&["for-each-ref", "--format=%(refname)", "refs/blue/local"]).lines() {
        world.in_store(&["update-ref", "-d", told]);
    }
    std::thread::sleep(AT_REST);
    let store: Rc<dyn Store> = Rc::new(GitStore::open(&world.store(), make::options()).unwrap());
    drop(Overview::open(&*store).unwrap());
    let counted = FaultyStore::new(store, Fault::Never);
    let overview = Overview::open(&counted).unwrap();
    let (realm, repo) = (name("r"), name(CONSUMER));
    let acting = Acting { realm: &realm, store: &counted, repo: &repo, code: None };
    let now = "2026-01-24T12:00:00Z".parse().unwrap();
    let found = pending::Pending::of(acting, &name("nobody"), now, &overview).unwrap();
    assert!(found.notifications.is_empty());
    counted.counter().get()
}

#[test]
fn who_was_never_told_reads_no_domain() {
    let world = World::new();
    let make = |domains: std::ops::Range<u8>| {
        for at in domains {
            world.domain(at).unwrap();
            world.contract(at, 0).unwrap();
            world.bind(at, 0, ">=0.1.0").unwrap();
        }
    };
    make(0..1);
    let one = look(&world);
    make(1..6);
    assert_eq!(look(&world), one, "six domains cost what one does");
}

#[test]
fn nothing_large_is_written_where_nothing_changed() {
    let world = World::new();
    world.domain(0).unwrap();
    world.contract(0, 0).unwrap();
    look(&world);
    let made = || std::fs::metadata(world.kept()).unwrap().modified().unwrap();
    let before = made();
    let folder = world.store().join("refs/blue/domains/x");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::remove_dir(&folder).unwrap();
    look(&world);
    assert_eq!(made(), before, "what is kept still holds");
    let noted = std::fs::read_to_string(world.kept().with_file_name("at-rest")).unwrap();
    assert!(noted.len() < 1_000, "{noted}");
}
