//! Properties of the git store: supported repositories, plain git commands, other writers, packers and their
//! leftovers.

mod concurrency;
mod damage;
#[path = "../testutils/left_out.rs"]
mod left_out;
mod locks;
mod open;
mod packing;
mod plain_git;

use std::{path::Path, str::FromStr, time::Duration};

use git_blue::{
    model::oid::Oid,
    store::{
        Change, Edit, Store as _, StoreError, StoreRef, TreePath,
        git::{self, GitStore, Options},
        layout,
    },
    testing::{make, sandbox::Sandbox},
};

/// Creates a realm's store in a sandbox.
fn realm() -> (Sandbox, GitStore) {
    let sandbox = Sandbox::new();
    let store = create(&sandbox.path().join("aperture.git")).unwrap();
    (sandbox, store)
}

fn create(path: &Path) -> Result<GitStore, StoreError> {
    git::create(path, &make::realm(name("aperture")), make::options())
}

/// Opens a store like another process.
fn open(path: &Path) -> GitStore {
    GitStore::open(path, make::options()).unwrap()
}

/// Opens a store with a short lock timeout.
fn impatient(path: &Path) -> GitStore {
    GitStore::open(path, Options { lock_timeout: Duration::from_millis(50), ..make::options() }).unwrap()
}

fn name<T: FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

fn domain(text: &str) -> StoreRef {
    StoreRef::Domain(name(text))
}

fn source(repo: &str) -> TreePath {
    layout::source(&name(repo))
}

/// Commits at the tip, under the lock.
fn commit(
    store: &GitStore,
    at: &StoreRef,
    message: &str,
    edits: impl IntoIterator<Item = (TreePath, Edit)>,
) -> Result<Oid, StoreError> {
    change(store, at, &make::change(message, edits))
}

fn change(store: &GitStore, at: &StoreRef, change: &Change) -> Result<Oid, StoreError> {
    let _lease = store.lock(at)?;
    store.commit_change(at, store.tip(at)?, change)
}

/// Asserts that git fsck finds nothing.
fn assert_clean(sandbox: &Sandbox, store: &GitStore) {
    let output = sandbox.try_git(&store.path(), &["fsck", "--strict", "--full", "--no-dangling", "--no-progress"]);
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    // A store has no branches, which git reports as a notice.
    let complaints: Vec<_> = said.lines().filter(|line| !line.starts_with("notice: ")).collect();
    assert!(output.status.success() && complaints.is_empty(), "{said}");
}
