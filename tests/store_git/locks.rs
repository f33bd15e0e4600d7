//! Our locks and git's, held and left behind.

use std::{
    fs::{self, File},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use git_blue::{
    store::{Store as _, StoreError, StoreRef, git::GitStore},
    testing::make::put,
};

use super::{assert_clean, commit, domain, impatient, layout, name, open, realm, source};

#[test]
fn held_lock_is_reported_with_holder_and_age() {
    let (_sandbox, store) = realm();
    let other = impatient(&store.path());
    let lease = store.lock(&domain("s3")).unwrap();
    let (lock, holder) = locked(other.lock(&domain("s3")).err());
    assert_eq!(lock, store.path().join("blue/locks/s3"));
    assert_eq!(holder, Some(format!("process {}", std::process::id())));
    // It blocks no other ref.
    commit(&other, &domain("web"), "One", [put(layout::domain(), "{}")]).unwrap();
    commit(&other, &StoreRef::Realm, "Join", [put(layout::repo(&name("web")), "{}")]).unwrap();
    drop(lease);
    commit(&other, &domain("s3"), "One", [put(layout::domain(), "{}")]).unwrap();
}

#[test]
fn local_refs_share_a_lock() {
    let (_sandbox, store) = realm();
    let other = impatient(&store.path());
    let _lease = store.lock(&StoreRef::Inbox(name("web"), None)).unwrap();
    let (lock, _) = locked(other.lock(&StoreRef::Inbox(name("s3"), Some(name("me")))).err());
    assert_eq!(lock, store.path().join("blue/locks/_local"));
}

#[test]
fn lock_holder_is_described_as_far_as_known() {
    let (_sandbox, store) = realm();
    let path = store.path().join("blue/locks/s3");
    let impatient = impatient(&store.path());
    for (text, holder) in [
        ("pid 7 boot another\n", Some("process 7 of another machine or boot")),
        ("pid seven\n", None),
        ("", None),
        ("\u{1b}[31m\n", None),
    ] {
        fs::write(&path, text).unwrap();
        let file = File::open(&path).unwrap();
        file.lock().unwrap();
        assert_eq!(locked(impatient.lock(&domain("s3")).err()), (path.clone(), holder.map(str::to_owned)), "{text:?}");
    }
    // A lock file that nobody holds is no lock, whatever its content.
    fs::write(&path, "pid 7 boot another\n").unwrap();
    drop(impatient.lock(&domain("s3")).unwrap());
}

#[test]
fn foreign_lock_is_waited_for_and_reported() {
    let (sandbox, store) = realm();
    let at = domain("s3");
    let tip = commit(&store, &at, "One", [put(layout::domain(), "1")]).unwrap();
    let impatient = impatient(&store.path());
    for foreign in ["packed-refs.lock", "refs/blue/domains/s3.lock"] {
        let path = store.path().join(foreign);
        fs::write(&path, "").unwrap();
        let (lock, holder) = locked(commit(&impatient, &at, "Two", [put(layout::domain(), "2")]).err());
        assert_eq!((lock, holder.as_deref()), (path.clone(), Some("another git process")));
        assert!(path.exists(), "it is not ours to remove");
        assert_eq!(store.tip(&at).unwrap(), Some(tip));
        fs::remove_file(path).unwrap();
    }
    let left = store.path().join("packed-refs.lock");
    fs::write(&left, "").unwrap();
    let begin = std::time::Instant::now();
    assert_eq!(locked(commit(&open(&store.path()), &at, "Two", [put(layout::domain(), "2")]).err()).0, left);
    assert!(begin.elapsed() < std::time::Duration::from_secs(15), "it waited for {:?}", begin.elapsed());
    fs::remove_file(left).unwrap();
    let inbox = StoreRef::Inbox(name("web"), None);
    commit(&store, &inbox, "Told", [put(layout::delivered(), "[]")]).unwrap();
    let path = store.path().join("refs/blue/local/inbox/web/shared.lock");
    fs::write(&path, "").unwrap();
    let (lock, _) = locked(commit(&impatient, &inbox, "Told", [put(layout::delivered(), "[1]")]).err());
    assert_eq!(lock, path);
    fs::remove_file(path).unwrap();
    commit(&impatient, &at, "Two", [put(layout::domain(), "2")]).unwrap();
    assert_clean(&sandbox, &store);
}

#[test]
fn lock_of_a_dead_writer_is_removed() {
    let (sandbox, store) = realm();
    let at = domain("s3");
    commit(&store, &at, "One", [put(layout::domain(), "1")]).unwrap();
    let left = ["packed-refs.lock", "refs/blue/domains/s3.lock"];
    fs::write(store.path().join(left[1]), "").unwrap();
    // A lock recorded before it was taken, and one recorded after.
    let inode = inode(&store.path().join(left[1]));
    leave_note(&store, &format!("- {}\n{inode} {}\n", left[0], left[1]));
    fs::write(store.path().join(left[0]), "").unwrap();
    let tip = commit(&impatient(&store.path()), &at, "Two", [put(layout::domain(), "2")]).unwrap();
    assert_eq!(store.tip(&at).unwrap(), Some(tip));
    assert!(left.iter().all(|lock| !store.path().join(lock).exists()));
    assert_clean(&sandbox, &store);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the age of files is measured by the system's clock")]
fn lock_newer_than_the_dead_writer_is_kept() {
    let (_sandbox, store) = realm();
    let lock = store.path().join("packed-refs.lock");
    let hour = std::time::Duration::from_secs(60 * 60);
    for earlier in [true, false] {
        leave_note(&store, "- packed-refs.lock\n");
        let foreign = File::create(&lock).unwrap();
        let noted = File::options().write(true).open(store.path().join("blue/locks/_refs")).unwrap();
        let an_hour_ago = std::time::SystemTime::now() - hour;
        if earlier { foreign } else { noted }.set_modified(an_hour_ago).unwrap();
        let result = commit(&impatient(&store.path()), &domain("s3"), "One", [put(layout::domain(), "1")]);
        assert_eq!(locked(result.err()).0, lock);
        assert!(lock.exists(), "another program made it {}", if earlier { "before" } else { "after" });
        fs::remove_file(&lock).unwrap();
    }
}

#[test]
fn foreign_lock_is_not_recorded() {
    let (_sandbox, store) = realm();
    let lock = store.path().join("packed-refs.lock");
    fs::write(&lock, "").unwrap();
    let notes = || fs::read_to_string(store.path().join("blue/locks/_refs")).unwrap();
    let before = notes();
    let path = store.path();
    let writes = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let store = open(&path);
            writes.wait();
            commit(&store, &domain("s3"), "One", [put(layout::domain(), "1")]).unwrap();
        });
        writes.wait();
        for _ in 0..20 {
            std::thread::sleep(std::time::Duration::from_millis(10));
            assert_eq!(notes().lines().count(), before.lines().count(), "{}", notes());
        }
        fs::remove_file(&lock).unwrap();
        writer.join().unwrap();
    });
}

#[test]
fn record_for_another_ref_is_followed() {
    let (_sandbox, store) = realm();
    let lock = store.path().join("refs/blue/domains/web.lock");
    commit(&store, &domain("s3"), "One", [put(layout::domain(), "1")]).unwrap();
    fs::write(&lock, "").unwrap();
    leave_note(&store, &format!("{} refs/blue/domains/web.lock\n", inode(&lock)));
    commit(&store, &domain("s3"), "Two", [put(layout::domain(), "2")]).unwrap();
    assert!(!lock.exists());
}

#[test]
fn lock_that_replaced_the_recorded_one_is_kept() {
    let (_sandbox, store) = realm();
    let lock = store.path().join("packed-refs.lock");
    fs::write(&lock, "").unwrap();
    leave_note(&store, &format!("{} packed-refs.lock\n", inode(&lock) + 1));
    let result = commit(&impatient(&store.path()), &domain("s3"), "One", [put(layout::domain(), "1")]);
    assert_eq!(locked(result.err()).0, lock);
    assert!(lock.exists());
    // It does not become ours because we waited for it.
    locked(commit(&impatient(&store.path()), &domain("s3"), "One", [put(layout::domain(), "1")]).err());
    assert!(lock.exists());
}

#[test]
fn record_leads_only_to_git_locks_in_the_store() {
    let (sandbox, store) = realm();
    let outside = sandbox.path().join("precious.lock");
    let inside = store.path().join("config");
    fs::write(&outside, "").unwrap();
    let id = |path: &Path| inode(path);
    leave_note(
        &store,
        &format!(
            "{0} ../precious.lock\n{0} {1}\n{0} refs/../../precious.lock\n{2} config\nnonsense\n\n",
            id(&outside),
            outside.display(),
            id(&inside)
        ),
    );
    commit(&store, &domain("s3"), "One", [put(layout::domain(), "1")]).unwrap();
    assert!(outside.exists() && inside.exists());
}

#[test]
fn finished_writer_leaves_no_record() {
    let (_sandbox, store) = realm();
    commit(&store, &domain("s3"), "One", [put(source("web"), "1")]).unwrap();
    let text = fs::read_to_string(store.path().join("blue/locks/_refs")).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
}

/// Writes the lock file of a killed writer.
fn leave_note(store: &GitStore, notes: &str) {
    fs::write(store.path().join("blue/locks/_refs"), format!("pid 1 boot gone\n{notes}")).unwrap();
}

fn inode(path: &Path) -> u64 {
    path.metadata().unwrap().ino()
}

/// Returns the lock in an error, and its holder. The error must include its age, too.
fn locked(error: Option<StoreError>) -> (PathBuf, Option<String>) {
    match error {
        Some(StoreError::Locked { lock, holder, age: Some(_) }) => (lock, holder),
        other => panic!("{other:?}"),
    }
}
