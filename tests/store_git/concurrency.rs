//! Concurrent writers, and git's own packer: no acknowledged write is lost.

use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use git_blue::{
    store::{Objects as _, Store as _, StoreError, StoreRef, git::GitStore, write::write},
    testing::{
        make::{self, put},
        sandbox::Sandbox,
    },
};

use super::{assert_clean, domain, name, open, realm, source};

const WRITERS: usize = 4;
const WRITES: usize = 25;

#[test]
fn concurrent_writers_of_one_domain_lose_nothing() {
    let (sandbox, store) = realm();
    beside_a_packer(&sandbox, &store.path(), |path, writer| write_all(path, writer, &domain("shared")));
    assert_eq!(history(&store, &domain("shared")), WRITERS * WRITES);
    assert_all_there(&store, |_| domain("shared"));
    assert_clean(&sandbox, &store);
}

#[test]
fn concurrent_writers_of_different_domains_lose_nothing() {
    let (sandbox, store) = realm();
    let own = |writer: usize| domain(&format!("domain-{writer}"));
    beside_a_packer(&sandbox, &store.path(), |path, writer| write_all(path, writer, &own(writer)));
    for writer in 0..WRITERS {
        assert_eq!(history(&store, &own(writer)), WRITES);
    }
    assert_eq!(store.domains().unwrap().len(), WRITERS);
    assert_all_there(&store, own);
    assert_clean(&sandbox, &store);
}

/// Runs `work` once for each writer while git packs refs continuously.
fn beside_a_packer(sandbox: &Sandbox, path: &Path, work: impl Fn(&Path, usize) + Sync) {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let packer = scope.spawn(|| {
            let mut packed = 0;
            while !is_over.load(Ordering::Relaxed) {
                // It may fail if a writer holds a lock for too long.
                packed += usize::from(sandbox.try_git(path, &["pack-refs", "--all"]).status.success());
            }
            packed
        });
        let work = &work;
        let writers: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(move || work(path, writer))).collect();
        let results: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        is_over.store(true, Ordering::Relaxed);
        let packed = packer.join().unwrap();
        results.into_iter().for_each(|result| result.unwrap());
        assert!(packed > 0, "there was no packer to race with");
    });
}

/// Writes one file after the other, each in its own commit.
fn write_all(path: &Path, writer: usize, at: &StoreRef) {
    let store = open(path);
    let mut decisions = 0;
    for number in 0..WRITES {
        let file = put(source(&format!("writer-{writer}-{number}")), number.to_string());
        let change = make::change(&format!("Write {writer} {number}\n"), [file]);
        let written = write(&store, at, |_| {
            decisions += 1;
            Ok::<_, StoreError>(Some(change.clone()))
        });
        assert!(written.unwrap().is_some());
    }
    // Under the lock, a packer is not a conflicting writer: it moves no ref, and must not be mistaken for one.
    assert_eq!(decisions, WRITES);
}

fn assert_all_there(store: &GitStore, at: impl Fn(usize) -> StoreRef) {
    for writer in 0..WRITERS {
        let tree = store.commit(&store.tip(&at(writer)).unwrap().unwrap()).unwrap().tree;
        for number in 0..WRITES {
            let path = source(&format!("writer-{writer}-{number}"));
            let found = git_blue::store::read::lookup(store, &tree, path.as_str()).unwrap();
            assert!(found.is_some(), "write {number} of writer {writer} is lost");
        }
    }
}

/// Returns the number of commits of a ref.
fn history(store: &GitStore, at: &StoreRef) -> usize {
    let mut next = store.tip(at).unwrap();
    let mut count = 0;
    while let Some(id) = next {
        next = store.commit(&id).unwrap().parents.first().copied();
        count += 1;
    }
    count
}

#[test]
fn writer_sees_what_git_wrote_meanwhile() {
    let (sandbox, store) = realm();
    let at = domain("s3");
    let git = |args: &[&str]| sandbox.git(&store.path(), args);
    let mut tips = Vec::new();
    let written = write(&store, &at, |tip| {
        tips.push(tip);
        if tips.len() == 1 {
            let tree = git(&["mktree", "--missing"]);
            let theirs = git(&["commit-tree", "-m", "By hand", &tree]);
            git(&["update-ref", &at.to_string(), &theirs]);
            git(&["pack-refs", "--all", "--prune"]);
        }
        Ok::<_, StoreError>(Some(make::change("Ours", [put(source("web"), "1")])))
    });
    let id = written.unwrap().unwrap();
    assert_eq!(tips[0], None);
    assert_eq!(store.commit(&id).unwrap().parents, [tips[1].unwrap()]);
    assert_eq!(store.domains().unwrap(), [(name("s3"), id)]);
    assert_clean(&sandbox, &store);
}

/// Every fetch of a hundred objects or more adds a pack, and nothing merges them in between.
#[test]
fn packs_added_while_open_are_read() {
    const PACKS: usize = 20;
    let (sandbox, store) = realm();
    let pack = |from: usize| {
        for number in from..from + PACKS {
            let at = domain(&format!("d-{number}"));
            let change = || make::change("add\n", [put(source("fungal"), number.to_string())]);
            write(&store, &at, |_| Ok::<_, StoreError>(Some(change()))).unwrap();
            // Objects that are not in a pack yet.
            sandbox.git(&store.path(), &["repack", "--quiet"]);
            sandbox.git(&store.path(), &["prune-packed"]);
        }
    };
    pack(0);
    let other = open(&store.path());
    pack(PACKS);
    for store in [&store, &other, &open(&store.path())] {
        for (_, tip) in store.domains().unwrap() {
            store.entries(&store.commit(&tip).unwrap().tree).unwrap();
        }
        assert_eq!(store.domains().unwrap().len(), 2 * PACKS);
    }
}
