//! Opening and creating stores.

use git_blue::{
    store::{Store as _, StoreError, git::GitStore},
    testing::{
        make::{options, put},
        sandbox::Sandbox,
    },
};

use super::{assert_clean, commit, create, domain, layout, left_out::left_out, open, realm};

#[test]
fn store_is_opened_after_creation() {
    let (_sandbox, store) = realm();
    let tip = commit(&store, &domain("s3"), "First", [put(layout::domain(), "{}")]).unwrap();
    assert_eq!(open(&store.path()).tip(&domain("s3")).unwrap(), Some(tip));
}

#[test]
fn reftable_store_is_refused() {
    let sandbox = Sandbox::new();
    if !sandbox.has_git(2, 45) {
        return left_out("git is older than 2.45, and has no reftable");
    }
    sandbox.git(&sandbox.path(), &["init", "-q", "--bare", "--ref-format=reftable", "realm.git"]);
    let path = sandbox.path().join("realm.git");
    let error = GitStore::open(&path, options()).unwrap_err();
    assert!(matches!(&error, StoreError::Reftable { path: named } if *named == path), "{error:?}");
    assert!(error.to_string().contains("reftable"), "{error}");
}

#[test]
fn store_converted_to_reftable_is_refused() {
    let (sandbox, store) = realm();
    if !sandbox.has_git(2, 46) {
        return left_out("git is older than 2.46, and cannot migrate refs");
    }
    let path = store.path();
    sandbox.git(&path, &["refs", "migrate", "--ref-format=reftable"]);
    assert!(matches!(GitStore::open(&path, options()), Err(StoreError::Reftable { .. })));
    sandbox.git(&path, &["refs", "migrate", "--ref-format=files"]);
    assert_eq!(open(&path).domains().unwrap(), []);
}

#[test]
fn non_store_is_refused() {
    let sandbox = Sandbox::new();
    let top = sandbox.path();
    sandbox.git(&top, &["init", "-q", "code"]);
    sandbox.git(&top.join("code"), &["commit", "-q", "--allow-empty", "-m", "First"]);
    // Even if somebody added a realm's ref to it.
    sandbox.git(&top.join("code"), &["update-ref", "refs/blue/realm", "HEAD"]);
    sandbox.git(&top, &["init", "-q", "--bare", "no-realm.git"]);
    std::fs::create_dir(top.join("empty")).unwrap();
    std::fs::write(top.join("file"), "").unwrap();
    for place in ["code", "code/.git", "no-realm.git", "empty", "file", "nowhere"] {
        let path = top.join(place);
        match GitStore::open(&path, options()) {
            Err(StoreError::NotAStore { path: named }) => assert_eq!(named, path),
            other => panic!("{place}: {other:?}"),
        }
    }
}

#[test]
fn parent_folders_are_not_searched() {
    let (_sandbox, store) = realm();
    let inside = store.path().join("refs/blue");
    assert!(matches!(GitStore::open(&inside, options()), Err(StoreError::NotAStore { .. })));
}

#[test]
fn existing_folder_is_not_overwritten() {
    let sandbox = Sandbox::new();
    let parent = sandbox.path().join("realms");
    let path = parent.join("aperture.git");
    std::fs::create_dir_all(path.join("mine")).unwrap();
    let error = create(&path).unwrap_err();
    assert!(matches!(&error, StoreError::Io { path: named, .. } if *named == path), "{error:?}");
    let left: Vec<_> = std::fs::read_dir(&parent).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["aperture.git"]);
    assert!(path.join("mine").is_dir());
    // An empty folder may be used.
    std::fs::remove_dir(path.join("mine")).unwrap();
    assert_clean(&sandbox, &create(&path).unwrap());
    create(&path).unwrap_err();
}
