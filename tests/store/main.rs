//! The contract of a store: one suite, run on the store in memory and on git.

mod append_only;
mod damage;
mod merging;
mod read;
mod write;

use std::str::FromStr;

use git_blue::{
    model::oid::Oid,
    store::{
        Change, Edit, Entry, Store, StoreError, StoreRef, TreePath,
        git::{self, GitStore},
    },
    testing::{make, memory::MemoryStore},
};

/// Runs every function of the suite on both stores.
macro_rules! suite {
    ($($module:ident: [$($name:ident),+ $(,)?])+) => {
        mod on_memory {
            $(mod $module { $(#[test] fn $name() { crate::$module::$name(&crate::memory()) })+ })+
        }
        mod on_git {
            $(mod $module {
                $(#[test] fn $name() {
                    let folder = tempfile::tempdir().unwrap();
                    crate::$module::$name(&crate::git(folder.path()))
                })+
            })+
        }
    };
}

suite! {
    write: [
        a_new_realm_has_no_domains,
        what_is_committed_reads_back,
        a_commit_leaves_the_rest_alone,
        a_file_too_large_to_read_is_not_written,
        a_stale_expectation_is_a_conflict,
        a_ref_that_must_not_exist_conflicts_where_it_does,
        a_ref_that_must_exist_conflicts_where_it_does_not,
        a_commit_without_parents_forgets_history,
        a_linked_folder_is_the_same_folder,
        a_folder_is_linked_and_then_edited,
        a_link_leads_to_what_is_there,
        what_is_removed_is_gone_with_its_empty_folders,
        an_unchanged_tree_makes_no_commit,
        a_lost_race_is_decided_anew,
        a_decision_to_do_nothing_does_nothing,
        a_refusal_lets_go_of_the_lock,
    ]
    read: [
        domains_are_sorted,
        entries_are_in_gits_order,
        a_missing_object_is_named,
        an_object_of_another_kind_is_named,
        a_blob_is_read_up_to_a_bound,
        a_part_of_a_domain_is_as_in_the_whole,
        a_part_of_a_domain_has_the_contracts_that_replace_it,
        documents_are_given_one_by_one_as_in_the_whole,
        inboxes_are_apart_from_domains_and_each_other,
        sessions_are_apart_from_domains_and_inboxes,
        names_of_every_kind_come_back,
        looking_up_a_path_never_fails_for_what_is_not_there,
    ]
    damage: [
        an_unreadable_contract_is_named_and_hides_no_other,
        every_kind_of_file_is_named,
        a_domain_that_cannot_be_read_hides_no_other,
        a_file_where_a_folder_belongs_is_named,
        a_published_version_is_read_where_the_current_one_differs,
        a_newer_format_is_refused,
        a_realm_without_its_file_is_damaged,
        a_session_that_cannot_be_read_hides_no_other,
    ]
}

fn memory() -> MemoryStore {
    MemoryStore::create(&make::realm(name("aperture"))).unwrap()
}

fn git(folder: &std::path::Path) -> GitStore {
    git::create(&folder.join("aperture.git"), &make::realm(name("aperture")), make::options()).unwrap()
}

fn name<T: FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

fn domain(text: &str) -> StoreRef {
    StoreRef::Domain(name(text))
}

/// Commits at the tip, under the lock.
fn commit(store: &dyn Store, at: &StoreRef, edits: impl IntoIterator<Item = (TreePath, Edit)>) -> Oid {
    try_commit(store, at, store.tip(at).unwrap(), &make::change("A change\n", edits)).unwrap()
}

/// Commits at an expected tip, under the lock.
fn try_commit(store: &dyn Store, at: &StoreRef, expected: Option<Oid>, change: &Change) -> Result<Oid, StoreError> {
    let _lease = store.lock(at)?;
    store.commit_change(at, expected, change)
}

/// Returns the entry at a path of the ref's tip.
fn entry(store: &dyn Store, at: &StoreRef, path: &str) -> Option<Entry> {
    let tip = store.tip(at).unwrap()?;
    git_blue::store::read::lookup(store, &store.commit(&tip).unwrap().tree, path).unwrap()
}

/// Returns the file at a path of the ref's tip, as text.
fn text(store: &dyn Store, at: &StoreRef, path: &str) -> Option<String> {
    let bytes = store.blob(&entry(store, at, path)?.id).unwrap();
    Some(String::from_utf8(bytes).unwrap())
}
