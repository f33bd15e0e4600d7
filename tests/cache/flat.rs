//! The cost of looking for changes does not grow with the realm.

use std::{rc::Rc, time::Duration};

use git_blue::{
    ops::{
        ctx::ActingRepo,
        inboxes::{inbox, pending::Pending},
    },
    store::{
        Store,
        git::{GitStore, Options},
        overview::Overview,
    },
    testing::{
        faulty::{Fault, FaultyStore},
        make,
    },
};

use crate::world::{CONSUMER, World, name};

/// Longer than the resolution of the coarsest file system clock.
const AT_REST: Duration = Duration::from_millis(3_100);

/// Lists the pending changes of a repository that was never notified. Returns the number of store accesses.
fn look(world: &World) -> u32 {
    // Joining counts as being notified.
    for told in world.in_store(&["for-each-ref", "--format=%(refname)", "refs/blue/local"]).lines() {
        world.in_store(&["update-ref", "-d", told]);
    }
    let ctx = world.ctx(CONSUMER, true);
    std::thread::sleep(AT_REST);
    let store: Rc<dyn Store> = Rc::new(GitStore::open(&world.store(), make::options()).unwrap());
    drop(Overview::open(&*store).unwrap());
    let counted = FaultyStore::new(store, Fault::Never);
    let overview = Overview::open(&counted).unwrap();
    let (realm, repo) = (name("r"), name(CONSUMER));
    let acting = ActingRepo { realm: &realm, store: &counted, repo: &repo, code: None };
    let found = Pending::of(&ctx, acting, &name("nobody"), &overview, &ctx.judge()).unwrap();
    assert!(found.notifications().next().is_none());
    counted.counter().get()
}

#[test]
fn new_reader_reads_no_domain() {
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
fn unchanged_realm_causes_no_large_write() {
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

/// Returns a store that caches decoded objects and counts accesses.
fn holding(world: &World) -> FaultyStore {
    let options = Options { holds: true, ..make::options() };
    let store: Rc<dyn Store> = Rc::new(GitStore::open(&world.store(), options).unwrap());
    FaultyStore::new(store, Fault::Never)
}

/// Returns the pending changes of a reader of the consumer.
fn pending(world: &World, store: &dyn Store, reader: &str) -> Pending {
    let (realm, repo) = (name("r"), name(CONSUMER));
    let acting = ActingRepo { realm: &realm, store, repo: &repo, code: None };
    let (ctx, overview) = (world.ctx(CONSUMER, true), Overview::open(store).unwrap());
    Pending::of(&ctx, acting, &name(reader), &overview, &ctx.judge()).unwrap()
}

fn record(world: &World, store: &dyn Store, reader: &str, receipt: &inbox::Receipt) {
    let now = || world.ctx(CONSUMER, true).env.now_here();
    inbox::record(store, &name(CONSUMER), &name(reader), receipt, now).unwrap();
}

/// Creates domains in which the consumer's code was written against another version than the current one.
fn behind(world: &World, domains: std::ops::Range<u8>) {
    for at in domains {
        world.domain(at).unwrap();
        world.contract(at, 0).unwrap();
        world.bind(at, 0, ">=0.1.0").unwrap();
        world.edit(at, 0, "1.1.0").unwrap();
    }
}

/// Lists the pending changes of a repository that was never notified, twice. Returns the number of store accesses of
/// the second time.
fn again(world: &World) -> u32 {
    for told in world.in_store(&["for-each-ref", "--format=%(refname)", "refs/blue/local"]).lines() {
        world.in_store(&["update-ref", "-d", told]);
    }
    std::thread::sleep(AT_REST);
    let store = holding(world);
    let first = pending(world, &store, "nobody");
    let before = store.counter().get();
    assert!(pending(world, &store, "nobody").notifications().eq(first.notifications()));
    assert!(first.notifications().next().is_some());
    store.counter().get() - before
}

#[test]
fn server_reads_pending_changes_once() {
    let world = World::new();
    behind(&world, 0..1);
    let one = again(&world);
    behind(&world, 1..6);
    assert_eq!(again(&world), one + 5, "of each domain it asks only when changes came here");
}

#[test]
fn pending_changes_are_recorded_once() {
    let world = World::new();
    behind(&world, 0..3);
    let store = holding(&world);
    let told = |receipt: &inbox::Receipt| (receipt.baselines.len(), receipt.delivered.len());
    let first = pending(&world, &store, "a").receipt(|_| false);
    record(&world, &store, "a", &first);
    let nothing = pending(&world, &store, "a").receipt(|_| false);
    assert_eq!(told(&nothing), (0, 0), "it is recorded that all of it is pending");
    let first_of_all = pending(&world, &store, "a").notifications().next().unwrap().id.clone();
    let one = pending(&world, &store, "a").receipt(|one| one.id == first_of_all);
    assert_eq!(told(&one), (1, 1), "only the domain of what was told is recorded anew");
    record(&world, &store, "a", &one);
    assert_eq!(pending(&world, &store, "a").notifications().count(), first.baselines.len() - 1);
}

#[test]
fn reader_gets_notifications_regardless_of_other_readers() {
    let world = World::new();
    world.domain(0).unwrap();
    world.contract(0, 0).unwrap();
    let store = holding(&world);
    for reader in ["a", "b"] {
        record(&world, &store, reader, &pending(&world, &store, reader).receipt(|_| true));
        assert!(pending(&world, &store, reader).receipt(|_| true).baselines.is_empty(), "there is nothing to record");
    }
    world.edit(0, 0, "1.1.0").unwrap();
    for reader in ["a", "b"] {
        let found = pending(&world, &store, reader);
        assert_eq!(found.notifications().count(), 1, "{reader}");
        record(&world, &store, reader, &found.receipt(|_| true));
    }
}

#[test]
fn changed_domain_is_appended() {
    let world = World::new();
    for at in 0..2 {
        world.domain(at).unwrap();
        world.contract(at, 0).unwrap();
    }
    world.agree("making it");
    let (file, before) = (world.parts(), std::fs::read(world.parts()).unwrap());
    world.contract(1, 1).unwrap();
    world.agree("a change");
    let after = std::fs::read(world.parts()).unwrap();
    assert_eq!(world.parts(), file);
    assert!(after.starts_with(&before) && after.len() > before.len(), "{} then {}", before.len(), after.len());
}

#[test]
fn unused_parts_are_removed() {
    let world = World::new();
    world.domain(0).unwrap();
    world.contract(0, 0).unwrap();
    world.agree("making it");
    let first = world.parts();
    // A snapshot refers only to what it needs, so this has the effect of a thousand changes.
    let mut parts = std::fs::OpenOptions::new().append(true).open(&first).unwrap();
    std::io::Write::write_all(&mut parts, &vec![b' '; 2 << 20]).unwrap();
    world.contract(0, 1).unwrap();
    world.agree("a change");
    assert!(!first.exists());
    assert!(std::fs::metadata(world.parts()).unwrap().len() < 1 << 20);
}
