//! Writing: commits, expectations, links, removals, and the retry loop.

use git_blue::{
    model::oid::Oid,
    store::{
        Change, Edit, EntryKind, Parents, Store, StoreError, StoreRef, TreePath, codec::MAX_BLOB, layout, write::write,
    },
    testing::make::{change, put},
};

use super::{commit, domain, entry, name, text, try_commit};

pub fn a_new_realm_has_no_domains(store: &dyn Store) {
    assert_eq!(store.domains().unwrap(), []);
    assert_eq!(store.tip(&domain("s3")).unwrap(), None);
    let realm = store.commit(&store.tip(&StoreRef::Realm).unwrap().unwrap()).unwrap();
    assert_eq!(realm.parents, []);
    assert_eq!(
        text(store, &StoreRef::Realm, "realm.json").unwrap(),
        "{\n  \"format\": 1,\n  \"name\": \"aperture\"\n}\n"
    );
}

pub fn what_is_committed_reads_back(store: &dyn Store) {
    let at = domain("s3");
    let bytes: Vec<u8> = (0..=255).collect();
    let first = commit(store, &at, [put(layout::domain(), bytes.clone()), put(version("1.0.0"), "")]);
    assert_eq!(store.tip(&at).unwrap(), Some(first));
    assert_eq!(store.domains().unwrap(), [(name("s3"), first)]);
    let change = change("paths 1.0.0 -> 1.1.0\n\nBlue-Repo: web\n", [put(version("1.1.0"), "é\n")]);
    let second = try_commit(store, &at, Some(first), &change).unwrap();
    let info = store.commit(&second).unwrap();
    assert_eq!(info.parents, [first]);
    assert_eq!(info.author, "Ada <ada@example.org>");
    assert_eq!(info.time.to_string(), "2026-01-24T11:00:00Z");
    assert_eq!(info.message, change.message);
    assert_eq!(store.blob(&entry(store, &at, "domain.json").unwrap().id).unwrap(), bytes);
    assert_eq!(text(store, &at, "versions/paths/1.0.0.json").unwrap(), "");
    assert_eq!(text(store, &at, "versions/paths/1.1.0.json").unwrap(), "é\n");
}

pub fn a_commit_leaves_the_rest_alone(store: &dyn Store) {
    let (s3, web) = (domain("s3"), domain("web"));
    let files = [put(layout::domain(), "s3"), put(version("1.0.0"), "one"), put(version("1.1.0"), "two")];
    let before = commit(store, &s3, files);
    let other = commit(store, &web, [put(layout::domain(), "web")]);
    commit(store, &s3, [put(version("1.1.0"), "three")]);
    assert_eq!(store.tip(&web).unwrap(), Some(other));
    assert_eq!(text(store, &s3, "domain.json").unwrap(), "s3");
    assert_eq!(text(store, &s3, "versions/paths/1.0.0.json").unwrap(), "one");
    assert_eq!(text(store, &s3, "versions/paths/1.1.0.json").unwrap(), "three");
    // The previous state can still be read.
    let tree = store.commit(&before).unwrap().tree;
    let old = git_blue::store::read::lookup(store, &tree, "versions/paths/1.1.0.json").unwrap().unwrap();
    assert_eq!(store.blob(&old.id).unwrap(), b"two");
}

pub fn a_file_too_large_to_read_is_not_written(store: &dyn Store) {
    let at = domain("s3");
    let tip = commit(store, &at, [put(layout::domain(), "one")]);
    let written = write(store, &at, |_| {
        let large = vec![b' '; MAX_BLOB + 1];
        Ok::<_, StoreError>(Some(change("Large\n", [put(version("1.0.0"), large)])))
    });
    assert!(matches!(written, Err(StoreError::TooLargeToWrite { size, .. }) if size == MAX_BLOB + 1), "{written:?}");
    assert_eq!(store.tip(&at).unwrap(), Some(tip));
}

pub fn a_stale_expectation_is_a_conflict(store: &dyn Store) {
    let at = domain("s3");
    let stale = commit(store, &at, [put(layout::domain(), "one")]);
    let tip = commit(store, &at, [put(layout::domain(), "two")]);
    conflicts(store, &at, Some(stale), Some(tip));
}

pub fn a_ref_that_must_not_exist_conflicts_where_it_does(store: &dyn Store) {
    let at = domain("s3");
    let tip = commit(store, &at, [put(layout::domain(), "one")]);
    conflicts(store, &at, None, Some(tip));
}

pub fn a_ref_that_must_exist_conflicts_where_it_does_not(store: &dyn Store) {
    let elsewhere = commit(store, &domain("web"), [put(layout::domain(), "one")]);
    conflicts(store, &domain("s3"), Some(elsewhere), None);
}

/// Asserts that a commit with this expectation is refused, and that the ref does not move.
fn conflicts(store: &dyn Store, at: &StoreRef, expected: Option<Oid>, tip: Option<Oid>) {
    let change = change("Too late\n", [put(layout::domain(), "three")]);
    match try_commit(store, at, expected, &change) {
        Err(StoreError::Conflict { name }) => assert_eq!(name, at.to_string()),
        other => panic!("{other:?}"),
    }
    assert_eq!(store.tip(at).unwrap(), tip);
}

pub fn a_commit_without_parents_forgets_history(store: &dyn Store) {
    let at = StoreRef::Inbox(name("web"), None);
    let alone = |text: &str| Change { parents: Parents::None, ..change("Told\n", [put(layout::delivered(), text)]) };
    let first = try_commit(store, &at, None, &alone("[1]")).unwrap();
    let second = try_commit(store, &at, Some(first), &alone("[2]")).unwrap();
    assert_eq!(store.tip(&at).unwrap(), Some(second));
    assert_eq!(store.commit(&second).unwrap().parents, []);
    // It changes the tip's tree.
    let known = Change { parents: Parents::None, ..change("Known\n", [put(layout::baseline(&name("s3")), "x")]) };
    try_commit(store, &at, Some(second), &known).unwrap();
    assert_eq!(text(store, &at, "told.json").unwrap(), "[2]");
    // Its expectation is checked like any other.
    assert!(matches!(try_commit(store, &at, Some(first), &alone("[3]")), Err(StoreError::Conflict { .. })));
}

pub fn a_linked_folder_is_the_same_folder(store: &dyn Store) {
    let (at, inbox) = (domain("s3"), StoreRef::Inbox(name("web"), None));
    let old = commit(store, &at, [put(layout::domain(), "one"), put(version("1.0.0"), "one")]);
    let new = commit(store, &at, [put(version("1.1.0"), "two")]);
    let tree = |id: &Oid| store.commit(id).unwrap().tree;
    let link = |id: &Oid| (layout::baseline(&name("s3")), Edit::Link(EntryKind::Tree, tree(id)));
    commit(store, &inbox, [link(&old)]);
    let found = entry(store, &inbox, "baselines/s3").unwrap();
    assert_eq!((found.kind, found.id), (EntryKind::Tree, tree(&old)));
    // A folder replaces another one, instead of being added to it.
    commit(store, &inbox, [link(&new), put(layout::delivered(), "[]")]);
    assert_eq!(text(store, &inbox, "baselines/s3/versions/paths/1.1.0.json").unwrap(), "two");
    commit(store, &inbox, [link(&old)]);
    assert_eq!(entry(store, &inbox, "baselines/s3").unwrap().id, tree(&old));
    // A file can be linked, too.
    let blob = entry(store, &at, "domain.json").unwrap().id;
    commit(store, &inbox, [(layout::delivered(), Edit::Link(EntryKind::Blob, blob))]);
    assert_eq!(text(store, &inbox, "told.json").unwrap(), "one");
}

pub fn a_folder_is_linked_and_then_edited(store: &dyn Store) {
    let (at, inbox) = (domain("s3"), StoreRef::Inbox(name("web"), None));
    let tip = commit(store, &at, [put(layout::domain(), "one"), put(version("1.0.0"), "one")]);
    let tree = store.commit(&tip).unwrap().tree;
    let known = layout::baseline(&name("s3"));
    let inner = |path: TreePath| path.below(&known);
    commit(store, &inbox, [put(inner(version("0.9.0")), "old")]);
    let edits = [
        (known.clone(), Edit::Link(EntryKind::Tree, tree)),
        (inner(version("1.0.0")), Edit::Remove),
        put(inner(version("1.1.0")), "two"),
    ];
    commit(store, &inbox, edits);
    assert_eq!(text(store, &inbox, "baselines/s3/domain.json").unwrap(), "one");
    assert_eq!(entry(store, &inbox, "baselines/s3/versions/paths/0.9.0.json"), None);
    assert_eq!(entry(store, &inbox, "baselines/s3/versions/paths/1.0.0.json"), None);
    assert_eq!(text(store, &inbox, "baselines/s3/versions/paths/1.1.0.json").unwrap(), "two");
    // The link's target is unchanged.
    assert_eq!(text(store, &at, "versions/paths/1.0.0.json").unwrap(), "one");
    commit(store, &inbox, [(known.clone(), Edit::Remove), put(inner(layout::domain()), "new")]);
    assert_eq!(text(store, &inbox, "baselines/s3/domain.json").unwrap(), "new");
    assert_eq!(entry(store, &inbox, "baselines/s3/versions"), None);
}

pub fn a_link_leads_to_what_is_there(store: &dyn Store) {
    let (at, inbox) = (domain("s3"), StoreRef::Inbox(name("web"), None));
    let tip = commit(store, &at, [put(layout::domain(), "one")]);
    let blob = entry(store, &at, "domain.json").unwrap().id;
    let tree = store.commit(&tip).unwrap().tree;
    let nowhere: Oid = name(&"12".repeat(20));
    let refused = |kind, id| {
        let change = change("Link\n", [(layout::baseline(&name("s3")), Edit::Link(kind, id))]);
        let error = try_commit(store, &inbox, None, &change).unwrap_err();
        assert_eq!(store.tip(&inbox).unwrap(), None);
        error
    };
    assert!(matches!(refused(EntryKind::Tree, nowhere), StoreError::Missing { id } if id == nowhere));
    for (kind, id) in [
        (EntryKind::Tree, blob),
        (EntryKind::Tree, tip),
        (EntryKind::Blob, tree),
        (EntryKind::Other, blob),
        (EntryKind::Other, tip),
    ] {
        let error = refused(kind, id).to_string();
        assert!(error.contains(&id.to_string()), "{kind:?}: {error}");
    }
}

pub fn what_is_removed_is_gone_with_its_empty_folders(store: &dyn Store) {
    let at = domain("s3");
    let remove = |path: TreePath| (path, Edit::Remove);
    let source = layout::source(&name("web"));
    commit(
        store,
        &at,
        [
            put(layout::domain(), "{}"),
            put(version("1.0.0"), "one"),
            put(version("1.1.0"), "two"),
            put(source.clone(), ""),
        ],
    );
    commit(store, &at, [remove(version("1.0.0"))]);
    assert_eq!(entry(store, &at, "versions/paths/1.0.0.json"), None);
    assert_eq!(text(store, &at, "versions/paths/1.1.0.json").unwrap(), "two");
    commit(store, &at, [remove(version("1.1.0"))]);
    assert_eq!(entry(store, &at, "versions"), None);
    // A whole folder is removed.
    commit(store, &at, [put(version("1.0.0"), "one"), put(version("1.1.0"), "two")]);
    commit(store, &at, [remove(layout::versions(&name("paths")))]);
    assert_eq!(entry(store, &at, "versions"), None);
    // Everything: the ref stays, with an empty tree.
    let tip = commit(store, &at, [remove(layout::domain()), remove(source)]);
    assert_eq!(store.tip(&at).unwrap(), Some(tip));
    assert_eq!(store.entries(&store.commit(&tip).unwrap().tree).unwrap(), []);
}

pub fn an_unchanged_tree_makes_no_commit(store: &dyn Store) {
    let at = domain("s3");
    let tip = commit(store, &at, [put(layout::domain(), "one"), put(version("1.0.0"), "one")]);
    assert_eq!(commit(store, &at, [put(version("1.0.0"), "one")]), tip);
    assert_eq!(commit(store, &at, [(version("9.0.0"), Edit::Remove)]), tip);
    assert_eq!(commit(store, &at, [(layout::source(&name("web")), Edit::Remove)]), tip);
    assert_eq!(commit(store, &at, []), tip);
    let alone = Change { parents: Parents::None, ..change("Again\n", [put(layout::domain(), "one")]) };
    assert_eq!(try_commit(store, &at, Some(tip), &alone).unwrap(), tip);
    assert_eq!(store.tip(&at).unwrap(), Some(tip));
}

pub fn a_lost_race_is_decided_anew(store: &dyn Store) {
    let at = domain("s3");
    let first = commit(store, &at, [put(layout::domain(), "one")]);
    let mut seen = Vec::new();
    let written = write(store, &at, |tip| {
        seen.push(text(store, &at, "domain.json").unwrap());
        if seen.len() < 3 {
            // Another process commits between the decision and the write.
            let theirs = change("Theirs\n", [put(layout::domain(), format!("theirs {}", seen.len()))]);
            store.commit_change(&at, tip, &theirs)?;
        }
        Ok::<_, StoreError>(Some(change("Mine\n", [put(version("1.0.0"), "mine")])))
    });
    assert_eq!(seen, ["one", "theirs 1", "theirs 2"]);
    let tip = written.unwrap();
    assert_eq!(store.tip(&at).unwrap(), tip);
    // Nothing was overwritten, and nothing of the lost race remains.
    assert_eq!(text(store, &at, "domain.json").unwrap(), "theirs 2");
    assert_eq!(text(store, &at, "versions/paths/1.0.0.json").unwrap(), "mine");
    let mut messages = Vec::new();
    let mut id = tip;
    while let Some(commit) = id.map(|id| store.commit(&id).unwrap()) {
        id = commit.parents.first().copied();
        messages.push(commit.message);
    }
    assert_eq!(messages, ["Mine\n", "Theirs\n", "Theirs\n", "A change\n"]);
    assert!(store.commit(&first).unwrap().parents.is_empty());
}

pub fn a_decision_to_do_nothing_does_nothing(store: &dyn Store) {
    let at = domain("s3");
    let tip = commit(store, &at, [put(layout::domain(), "one")]);
    let mut shown = None;
    let written = write(store, &at, |tip| {
        shown = tip;
        Ok::<_, StoreError>(None)
    });
    assert_eq!(written.unwrap(), None);
    assert_eq!((shown, store.tip(&at).unwrap()), (Some(tip), Some(tip)));
}

pub fn a_refusal_lets_go_of_the_lock(store: &dyn Store) {
    #[derive(Debug, PartialEq)]
    struct Refusal;
    impl From<StoreError> for Refusal {
        fn from(error: StoreError) -> Self {
            panic!("{error}")
        }
    }
    let at = domain("s3");
    assert_eq!(write(store, &at, |_| Err(Refusal)), Err(Refusal));
    assert_eq!(store.tip(&at).unwrap(), None);
    drop(store.lock(&at).unwrap());
    // A change that the store refuses releases the lock as well.
    let nowhere = Edit::Link(EntryKind::Blob, name(&"12".repeat(20)));
    let written =
        write(store, &at, |_| Ok::<_, StoreError>(Some(change("Link\n", [(layout::domain(), nowhere.clone())]))));
    assert!(matches!(written, Err(StoreError::Missing { .. })), "{written:?}");
    drop(store.lock(&at).unwrap());
}

fn version(version: &str) -> TreePath {
    layout::version(&name("paths"), &name(version))
}
