//! Ancestry, replaced commits, and the identity of a repository.

use git_blue::{model::oid::Oid, store::StoreError};

use super::{Code, discover, name};

#[test]
fn amended_commit_is_replaced() {
    let code = Code::new(&[]);
    let old = code.second;
    code.git(&["commit", "-q", "--amend", "--allow-empty", "-m", "Amended"]);
    let new = code.id("HEAD");
    let repo = code.open();
    assert!(!repo.is_ancestor(&old, &new).unwrap());
    assert!(repo.replaced("main", &old).unwrap());
    // It was never on another branch, and no other commit on this one.
    code.git(&["branch", "-q", "topic"]);
    let repo = code.open();
    assert!(!repo.replaced("topic", &old).unwrap());
    assert!(!repo.replaced("nowhere", &old).unwrap());
    assert!(!repo.replaced("main", &name(&"12".repeat(20))).unwrap());
}

#[test]
fn reset_or_rebased_commit_is_replaced() {
    let code = Code::new(&[]);
    code.git(&["commit", "-q", "--allow-empty", "-m", "Third"]);
    let third = code.id("HEAD");
    code.git(&["reset", "-q", "--hard", "HEAD~2"]);
    let repo = code.open();
    assert!(repo.replaced("main", &third).unwrap() && repo.replaced("main", &code.second).unwrap());
    code.git(&["reset", "-q", "--hard", &third.to_string()]);
    code.git(&["checkout", "-q", "-b", "base", "HEAD~2"]);
    code.git(&["commit", "-q", "--allow-empty", "-m", "Base"]);
    code.git(&["rebase", "-q", "--empty=keep", "base", "main"]);
    let repo = code.open();
    assert!(!repo.is_ancestor(&third, &code.id("main")).unwrap());
    assert!(repo.replaced("main", &third).unwrap());
}

#[test]
fn branch_reflog_is_read_from_every_worktree() {
    let code = Code::new(&[]);
    code.git(&["worktree", "add", "-q", "-b", "topic", "../linked"]);
    code.git(&["commit", "-q", "--amend", "--allow-empty", "-m", "Amended"]);
    let linked = discover(&code.sandbox, &code.sandbox.path().join("linked"));
    assert!(linked.replaced("main", &code.second).unwrap());
    code.git(&["pack-refs", "--all"]);
    let linked = discover(&code.sandbox, &code.sandbox.path().join("linked"));
    assert!(linked.replaced("main", &code.second).unwrap());
}

#[test]
fn replacement_in_another_clone_is_unknown() {
    let code = Code::new(&[]);
    let top = code.sandbox.path();
    code.sandbox.git(&top, &["clone", "-q", "code", "clone"]);
    code.git(&["commit", "-q", "--amend", "--allow-empty", "-m", "Amended"]);
    let clone = top.join("clone");
    code.sandbox.git(&clone, &["fetch", "-q"]);
    let repo = discover(&code.sandbox, &clone);
    assert!(repo.has(&code.id("HEAD")));
    assert!(!repo.replaced("main", &code.id("HEAD")).unwrap());
    // Without a reflog nothing was replaced: a bare repository has none.
    code.sandbox.git(&top, &["clone", "-q", "--bare", "code", "bare.git"]);
    let bare = discover(&code.sandbox, &top.join("bare.git"));
    assert!(!bare.replaced("main", &code.id("HEAD")).unwrap());
}

#[test]
fn ancestors_are_found_through_merges() {
    let code = Code::new(&[]);
    code.git(&["checkout", "-q", "-b", "topic", "HEAD~1"]);
    code.git(&["commit", "-q", "--allow-empty", "-m", "Topic"]);
    let topic = code.id("topic");
    code.git(&["checkout", "-q", "main"]);
    let repo = code.open();
    assert!(!repo.is_ancestor(&topic, &code.second).unwrap());
    assert!(!repo.is_ancestor(&code.second, &topic).unwrap());
    code.git(&["merge", "-q", "--no-edit", "topic"]);
    let merge = code.id("HEAD");
    let repo = code.open();
    for old in [code.first, code.second, topic, merge] {
        assert!(repo.is_ancestor(&old, &merge).unwrap());
    }
    assert!(!repo.is_ancestor(&merge, &topic).unwrap());
    assert_eq!(repo.roots(&merge).unwrap(), [code.first]);
}

#[test]
fn histories_without_a_common_root() {
    let code = Code::new(&[]);
    code.git(&["checkout", "-q", "--orphan", "other"]);
    code.git(&["commit", "-q", "--allow-empty", "-m", "Another beginning"]);
    let other = code.id("other");
    let repo = code.open();
    assert!(!repo.is_ancestor(&code.first, &other).unwrap());
    assert_eq!(repo.roots(&other).unwrap(), [other]);
    assert_eq!(repo.roots(&code.second).unwrap(), [code.first]);
    code.git(&["merge", "-q", "--no-edit", "--allow-unrelated-histories", "main"]);
    let mut both: Vec<Oid> = vec![code.first, other];
    both.sort();
    assert_eq!(code.open().roots(&code.id("HEAD")).unwrap(), both);
}

#[test]
fn unknown_commit_is_not_an_ancestor() {
    let code = Code::new(&[]);
    let repo = code.open();
    // A commit that is not in this clone, and one of another object format.
    for foreign in [name::<Oid>(&"12".repeat(20)), name(&"12".repeat(32))] {
        assert!(!repo.is_ancestor(&foreign, &code.second).unwrap());
        assert!(!repo.is_ancestor(&code.second, &foreign).unwrap());
        assert!(repo.roots(&foreign).is_err());
        let error = repo.tree_of(&foreign).unwrap_err();
        let StoreError::DamagedRepo { error, .. } = error else { panic!("{error:?}") };
        assert!(matches!(*error, StoreError::Missing { id } if id == foreign), "{error:?}");
    }
}
