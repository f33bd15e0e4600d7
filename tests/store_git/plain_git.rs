//! A store as seen and changed by plain git.

use git_blue::{
    store::{Change, Edit, EntryKind, Objects as _, Parents, Store as _, StoreError, StoreRef, layout},
    testing::make::{self, put},
};

use super::{assert_clean, change, commit, domain, name, open, realm, source};

#[test]
fn git_log_is_readable() {
    let (sandbox, store) = realm();
    let at = domain("s3-access");
    commit(&store, &at, "add paths 1.0.0\n\nBlue-Repo: web\n", [put(layout::domain(), "{}")]).unwrap();
    commit(&store, &at, "paths 1.0.0 -> 1.1.0\n", [put(source("web"), "{}")]).unwrap();
    let log = |format: &str| sandbox.git(&store.path(), &["log", format, &at.to_string()]);
    assert_eq!(log("--format=%s"), "paths 1.0.0 -> 1.1.0\nadd paths 1.0.0");
    let by = "Ada <ada@example.org> 2026-01-24 12:00:00 +0100";
    assert_eq!(log("--format=%an <%ae> %ai"), format!("{by}\n{by}"));
    assert_eq!(log("--format=%cn <%ce> %ci"), format!("{by}\n{by}"));
    assert_eq!(log("--format=%(trailers:key=Blue-Repo,valueonly,separator=%x2C)"), "\nweb");
    let show = |path: &str| sandbox.git(&store.path(), &["show", &format!("{at}:{path}")]);
    assert_eq!(show("sources/web.json"), "{}");
}

#[test]
fn git_fsck_is_clean_after_every_kind_of_write() {
    let (sandbox, store) = realm();
    let (at, inbox) = (domain("s3"), StoreRef::Inbox(name("web"), Some(name("me"))));
    let version = |version: &str| layout::version(&name("paths"), &name(version));
    let first = commit(&store, &at, "One", [put(layout::domain(), "{}"), put(version("1.0.0"), "1")]).unwrap();
    commit(&store, &at, "Two\n", [put(version("1.0.0-rc.1"), "2"), put(layout::versions(&name("paths-2")), "x")])
        .unwrap();
    commit(&store, &at, "", [(version("1.0.0"), Edit::Remove)]).unwrap();
    let tree = store.commit(&first).unwrap().tree;
    let link = (layout::baseline(&name("s3")), Edit::Link(EntryKind::Tree, tree));
    commit(&store, &inbox, "Told\n", [link, put(layout::delivered(), "[]")]).unwrap();
    let alone = Change { parents: Parents::None, ..make::change("Told\n", [put(layout::delivered(), "[1]")]) };
    change(&store, &inbox, &alone).unwrap();
    commit(&store, &at, "Nothing left\n", ["domain", "versions"].map(|_| (version("1.0.0-rc.1"), Edit::Remove)))
        .unwrap();
    // Characters that git would strip from an identity would break the commit's header.
    let mut odd = make::change("Odd\n", [put(layout::domain(), "odd")]);
    (odd.author.name, odd.author.email) = (" A <d>\na\0 ".into(), "<a@b>\n".into());
    let id = change(&store, &at, &odd).unwrap();
    assert_eq!(store.commit(&id).unwrap().author, "A da <a@b>");
    (odd.author.name, odd.author.email) = (String::new(), String::new());
    odd.edits = vec![put(layout::domain(), "nobody")];
    change(&store, &at, &odd).unwrap();
    // A lost race leaves objects behind, but no damage.
    let lease = store.lock(&at).unwrap();
    store.commit_change(&at, Some(first), &make::change("Late\n", [put(layout::domain(), "late")])).unwrap_err();
    drop(lease);
    assert_clean(&sandbox, &store);
    assert!(!sandbox.git(&store.path(), &["for-each-ref", "refs/blue"]).is_empty());
}

#[test]
fn local_refs_are_not_served() {
    let (sandbox, store) = realm();
    commit(&store, &domain("s3"), "One", [put(layout::domain(), "{}")]).unwrap();
    commit(&store, &StoreRef::Inbox(name("web"), None), "Told", [put(layout::delivered(), "[]")]).unwrap();
    let served = sandbox.git(&sandbox.path(), &["ls-remote", "--refs", "aperture.git"]);
    let names: Vec<_> = served.lines().filter_map(|line| line.split('\t').nth(1)).collect();
    assert_eq!(names, ["refs/blue/domains/s3", "refs/blue/realm"]);
}

#[test]
fn packed_refs_are_read_and_updated() {
    let (sandbox, store) = realm();
    let at = domain("s3");
    let first = commit(&store, &at, "One", [put(layout::domain(), "1")]).unwrap();
    sandbox.git(&store.path(), &["pack-refs", "--all", "--prune"]);
    assert!(!store.path().join(at.to_string()).exists());
    assert_eq!(store.domains().unwrap(), [(name("s3"), first)]);
    let conflict = |expected| {
        let _lease = store.lock(&at).unwrap();
        let result = store.commit_change(&at, expected, &make::change("Late", [put(layout::domain(), "late")]));
        assert!(matches!(result, Err(StoreError::Conflict { .. })), "{result:?}");
    };
    conflict(None);
    let second = commit(&store, &at, "Two", [put(layout::domain(), "2")]).unwrap();
    assert_eq!(store.commit(&second).unwrap().parents, [first]);
    sandbox.git(&store.path(), &["pack-refs", "--all", "--prune"]);
    conflict(Some(first));
    assert_eq!(store.tip(&at).unwrap(), Some(second));
    assert_clean(&sandbox, &store);
}

#[test]
fn open_store_sees_external_changes() {
    let (sandbox, store) = realm();
    let other = open(&store.path());
    let tips = || (store.tip(&domain("s3")).unwrap(), store.domains().unwrap().len());
    assert_eq!(tips(), (None, 0));
    let first = commit(&other, &domain("s3"), "One", [put(layout::domain(), "1")]).unwrap();
    assert_eq!(tips(), (Some(first), 1));
    sandbox.git(&store.path(), &["pack-refs", "--all", "--prune"]);
    assert_eq!(tips(), (Some(first), 1));
    let second = commit(&other, &domain("s3"), "Two", [put(layout::domain(), "2")]).unwrap();
    sandbox.git(&store.path(), &["gc", "-q"]);
    assert_eq!(tips(), (Some(second), 1));
    assert_eq!(store.commit(&second).unwrap().parents, [first]);
    sandbox.git(&store.path(), &["update-ref", "-d", "refs/blue/domains/s3"]);
    assert_eq!(tips(), (None, 0));
    commit(&store, &domain("s3"), "Anew", [put(layout::domain(), "3")]).unwrap();
    assert_clean(&sandbox, &store);
}

#[test]
fn reflog_in_the_store_is_harmless() {
    let (sandbox, store) = realm();
    let path = store.path();
    sandbox.git(&path, &["config", "core.logAllRefUpdates", "always"]);
    let store = open(&path);
    let tip = commit(&store, &domain("s3"), "One", [put(layout::domain(), "1")]).unwrap();
    commit(&store, &StoreRef::Inbox(name("web"), None), "Told", [put(layout::delivered(), "[]")]).unwrap();
    let log = sandbox.git(&path, &["reflog", "show", "--format=%gn <%ge> %H", "refs/blue/domains/s3"]);
    assert_eq!(log, format!("Ada <ada@example.org> {tip}"));
    assert_clean(&sandbox, &store);
}

#[test]
fn unknown_refs_are_ignored() {
    let (sandbox, store) = realm();
    let path = store.path();
    let tip = commit(&store, &domain("s3"), "One", [put(layout::domain(), "1")]).unwrap();
    for odd in ["refs/blue/domains/a/b", "refs/blue/domains/_own", "refs/blue/domains/ä", "refs/blue/other"] {
        sandbox.git(&path, &["update-ref", odd, &tip.to_string()]);
    }
    // Files left by a killed git are no domains either.
    std::fs::write(path.join("refs/blue/domains/web.lock"), "").unwrap();
    assert_eq!(store.domains().unwrap(), [(name("s3"), tip)]);
    sandbox.git(&path, &["pack-refs", "--all", "--prune"]);
    assert_eq!(store.domains().unwrap(), [(name("s3"), tip)]);
}
