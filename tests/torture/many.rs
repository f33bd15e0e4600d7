//! Concurrent writers, readers and packers.

use std::{
    collections::BTreeMap,
    path::Path,
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use git_blue::{
    env::Env,
    model::name::DomainName,
    store::{
        Change, Objects as _, Store as _, StoreError, StoreRef, codec,
        git::{GitStore, Options},
        layout, read,
        write::write,
    },
    testing::make,
};

use super::{World, scale};

const WRITERS: usize = 8;

#[test]
fn eight_processes_create_contracts_without_loss() {
    let each = scale(6, 50);
    let mut domains: Vec<String> = (0..WRITERS).map(|writer| format!("own-{writer}")).collect();
    domains.push("shared".into());
    let world = World::new(&domains);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let world = &world;
        scope.spawn(|| world.pack_until(&done));
        let reader = scope.spawn(|| {
            let mut seen = Vec::new();
            while !done.load(Ordering::Relaxed) {
                let now = world.contracts();
                assert!(seen.iter().all(|one| now.contains(one)), "a contract that was seen is gone");
                seen = now;
            }
        });
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                scope.spawn(move || {
                    for number in 0..each {
                        let domain = if number % 2 == 0 { "shared".into() } else { format!("own-{writer}") };
                        let name = format!("c-{writer}-{number}");
                        let args =
                            ["realm", "admin", "contract", "--domain", &domain, "--name", &name, "--owner", "aperture"];
                        world.blue(&args);
                    }
                })
            })
            .collect();
        let outcomes: Vec<_> = writers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        done.store(true, Ordering::Relaxed);
        outcomes.into_iter().for_each(|outcome| outcome.unwrap());
        reader.join().unwrap();
    });
    assert_eq!(world.contracts().len(), WRITERS * each);
    world.fsck();
    println!("{} of {} contracts are there", WRITERS * each, WRITERS * each);
}

/// Tells the test binary, run again, that it is a writer: of which store, which number, and how many changes over how
/// many domains.
const WORKER: &str = "GIT_BLUE_TEST_WORKER";

/// One of eight processes.
#[test]
#[ignore = "started by eight_processes_change_many_domains_without_loss"]
fn worker() {
    let env = Env::from_process().unwrap();
    let orders = env.text(WORKER).expect("the parent gives orders");
    let words: Vec<_> = orders.split('|').collect();
    let number = |at: usize| words[at].parse::<usize>().unwrap();
    let (writer, changes, domains) = (number(1), number(2), number(3));
    let store = open(Path::new(words[0]), writer as u64);
    for change in 0..changes {
        let domain: DomainName = format!("d-{}", (change * WRITERS + writer * 7) % domains).parse().unwrap();
        let at = StoreRef::Domain(domain);
        write(&store, &at, |tip| {
            let count = tip.map(|tip| count(&store, &tip)).transpose()?.unwrap_or_default();
            Ok::<_, StoreError>(Some(counted(count + 1)))
        })
        .unwrap();
    }
}

fn open(path: &Path, seed: u64) -> GitStore {
    GitStore::open(
        path,
        Options { lock_timeout: std::time::Duration::from_secs(120), seed, cache: true, holds: false, on_wait: None },
    )
    .unwrap()
}

/// A domain's `domain.json` is used as a counter: every change adds one, so a lost one shows.
fn counted(count: usize) -> Change {
    make::change("Count\n", [make::put(layout::domain(), codec::encode(&count))])
}

fn count(store: &GitStore, tip: &git_blue::model::oid::Oid) -> Result<usize, StoreError> {
    let tree = store.commit(tip)?.tree;
    let at = StoreRef::Realm;
    Ok(read::file(store, &at, &tree, &layout::domain())?.unwrap_or_default())
}

#[test]
fn eight_processes_change_many_domains_without_loss() {
    let (changes, domains) = (scale(15, 1_250), scale(10, 200));
    let world = World::new(&[]);
    let path = world.store();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let world = &world;
        scope.spawn(|| world.pack_until(&done));
        let reader = scope.spawn(|| {
            let store = open(&path, 99);
            let mut seen: BTreeMap<DomainName, usize> = BTreeMap::new();
            while !done.load(Ordering::Relaxed) {
                let now: BTreeMap<DomainName, usize> = store
                    .domains()
                    .unwrap()
                    .into_iter()
                    .map(|(domain, tip)| (domain, count(&store, &tip).unwrap()))
                    .collect();
                for (domain, before) in &seen {
                    assert!(now.get(domain) >= Some(before), "{domain} went back, or is gone");
                }
                seen = now;
            }
        });
        let start = |writer: usize| {
            let env = Env::from_process().unwrap();
            let orders = format!("{}|{writer}|{changes}|{domains}", path.display());
            let mut worker = Command::new(env.exe());
            worker
                .args(["--exact", "many::worker", "--ignored", "--nocapture"])
                .env(WORKER, orders)
                .stdout(Stdio::null());
            worker.spawn().unwrap()
        };
        let mut workers: Vec<_> = (0..WRITERS).map(start).collect();
        let ended: Vec<_> = workers.iter_mut().map(|worker| worker.wait().unwrap().success()).collect();
        done.store(true, Ordering::Relaxed);
        assert!(ended.iter().all(|success| *success), "a writer failed: {ended:?}");
        reader.join().unwrap();
    });
    let store = open(&path, 1);
    let all = store.domains().unwrap();
    assert_eq!(all.len(), domains);
    let sum: usize = all.iter().map(|(_, tip)| count(&store, tip).unwrap()).sum();
    assert_eq!(sum, WRITERS * changes);
    world.fsck();
    println!("{sum} of {} changes over {} domains are there", WRITERS * changes, all.len());
}
