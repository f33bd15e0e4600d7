//! Tests of the cases in which this store is stricter than git, and of its helpers. `tests/store/` tests the behavior
//! that both share.

use super::*;
use crate::{
    store::{Edit, TreePath, layout, write::write},
    testing::make::{self, put},
};

fn domain() -> StoreRef {
    StoreRef::Domain("s3".parse().unwrap())
}

fn change(edits: Vec<(TreePath, Edit)>) -> Change {
    make::change("A change\n", edits)
}

fn versions() -> TreePath {
    layout::versions(&"paths".parse().unwrap())
}

fn version(version: &str) -> TreePath {
    layout::version(&"paths".parse().unwrap(), &version.parse().unwrap())
}

/// Commits under the lock.
fn commit(store: &MemoryStore, edits: Vec<(TreePath, Edit)>) -> Result<Oid, StoreError> {
    let _lease = store.lock(&domain())?;
    store.commit_change(&domain(), store.tip(&domain())?, &change(edits))
}

fn names(store: &MemoryStore) -> Vec<String> {
    let tip = store.tip(&domain()).unwrap().unwrap();
    let tree = store.commit(&tip).unwrap().tree;
    store.entries(&tree).unwrap().into_iter().map(|entry| entry.name).collect()
}

#[test]
fn a_ref_is_written_only_under_its_own_lock() {
    let store = MemoryStore::new();
    let first = change(vec![put(layout::domain(), "{}")]);
    let unlocked = |error: StoreError| error.to_string().contains("its lock is not held");
    assert!(unlocked(store.commit_change(&domain(), None, &first).unwrap_err()));
    let other = store.lock(&StoreRef::Realm).unwrap();
    assert!(unlocked(store.commit_change(&domain(), None, &first).unwrap_err()));
    drop(other);
    let lease = store.lock(&domain()).unwrap();
    store.commit_change(&domain(), None, &first).unwrap();
    drop(lease);
    let tip = store.tip(&domain()).unwrap();
    assert!(unlocked(store.commit_change(&domain(), tip, &change(vec![])).unwrap_err()));
}

#[test]
fn a_lock_cannot_be_taken_twice() {
    let store = MemoryStore::new();
    let lease = store.lock(&domain()).unwrap();
    let error = store.lock(&domain()).err().unwrap();
    assert_eq!(error.to_string(), "blue/locks/s3 is locked by this very process");
    drop(lease);
    assert!(store.lock(&domain()).is_ok());
}

#[test]
fn a_stale_expectation_is_a_conflict_even_if_nothing_changes() {
    let store = MemoryStore::new();
    let old = commit(&store, vec![put(layout::domain(), "{}")]).unwrap();
    store.put_raw(&domain(), "domain.json", b"other").unwrap();
    let _lease = store.lock(&domain()).unwrap();
    let same = change(vec![put(layout::domain(), "{}")]);
    assert!(matches!(store.commit_change(&domain(), Some(old), &same), Err(StoreError::Conflict { .. })));
}

#[test]
fn no_path_is_both_a_file_and_a_folder() {
    let store = MemoryStore::new();
    commit(&store, vec![put(version("1.0.0"), "one")]).unwrap();
    let tree = store.commit(&store.tip(&domain()).unwrap().unwrap()).unwrap().tree;
    let error = commit(&store, vec![put(versions(), "file")]).unwrap_err().to_string();
    assert!(error.contains("paths would be both a file and a folder"), "{error}");

    store.put_raw(&domain(), "versions/paths", b"file").unwrap();
    let error = commit(&store, vec![put(version("1.0.0"), "one")]).unwrap_err().to_string();
    assert!(error.contains("paths would be both a file and a folder"), "{error}");
    let error = commit(&store, vec![(versions(), Edit::Link(EntryKind::Tree, tree))]).unwrap_err().to_string();
    assert!(error.contains("paths would be both a file and a folder"), "{error}");
    // Such a path may be removed, and a path below a file does not exist.
    let before = store.tip(&domain()).unwrap();
    assert_eq!(commit(&store, vec![(version("1.0.0"), Edit::Remove)]).ok(), before);
    commit(&store, vec![(versions(), Edit::Remove)]).unwrap();
    commit(&store, vec![put(version("1.0.0"), "one")]).unwrap();
}

#[test]
fn overlapping_edits_of_one_change_are_refused() {
    let store = MemoryStore::new();
    for edits in [
        vec![put(layout::domain(), "a"), put(layout::domain(), "b")],
        vec![put(version("1.0.0"), "a"), (versions(), Edit::Remove)],
        vec![put(version("1.0.0"), "a"), (version("1.0.0"), Edit::Remove)],
    ] {
        let error = commit(&store, edits).unwrap_err().to_string();
        assert!(error.contains("one change edits"), "{error}");
    }
    // A folder may be removed and then edited, and two paths with a common prefix do not overlap.
    commit(&store, vec![(versions(), Edit::Remove), put(version("1.0.0"), "a")]).unwrap();
    commit(&store, vec![(versions(), Edit::Remove)]).unwrap();
    let longer = layout::versions(&"paths-2".parse().unwrap());
    commit(&store, vec![put(versions(), "a"), put(longer, "b")]).unwrap();
}

#[test]
fn other_programs_may_write_anything() {
    let store = MemoryStore::new();
    commit(&store, vec![put(version("1.0.0"), "one")]).unwrap();
    store.put_raw(&domain(), "versions", b"\xff").unwrap();
    assert_eq!(names(&store), ["versions"]);
    store.put_raw(&domain(), "versions/.. /x", b"").unwrap();
    store.put_symlink(&domain(), "domain.json", "/etc/passwd").unwrap();
    assert_eq!(names(&store), ["domain.json", "versions"]);
    let tip = store.commit(&store.tip(&domain()).unwrap().unwrap()).unwrap();
    assert_eq!(store.entries(&tip.tree).unwrap()[0].kind, EntryKind::Other);
    assert_eq!(tip.author, "Other Writer <other@example.org>");
    assert_eq!(tip.parents.len(), 1);
}

#[test]
fn write_gives_up_after_too_many_races() {
    let store = MemoryStore::new();
    let mut tries = 0;
    let result = write(&store, &domain(), |_| {
        tries += 1;
        store.race_next_with("domain.json", b"theirs");
        Ok(Some(change(vec![put(layout::domain(), "{}")])))
    });
    assert!(matches!(result, Err(StoreError::Conflict { name }) if name == "refs/blue/domains/s3"));
    assert_eq!(tries, 17);
    assert!(store.lock(&domain()).is_ok(), "the lock was let go");
}
