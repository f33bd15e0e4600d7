//! Reading: listings, objects and their limits, names.

use git_blue::{
    model::{
        contract::{Contract, Deprecated},
        domain::Domain,
        domain_summary::DomainSummary,
        name::{ContractName, DomainName},
        oid::Oid,
    },
    store::{
        Edit, EntryKind, Store, StoreError, StoreRef,
        codec::{self, MAX_BLOB},
        layout,
        read::{contracts_at, domain_at, folder, lookup, summary_of, summary_with},
    },
    testing::make::put,
};

use super::{commit, domain, entry, name, text};

pub fn domains_are_sorted(store: &dyn Store) {
    let mut tips = Vec::new();
    for text in ["web", "s3-access", "s3", "S4", "0", "s3.paths"] {
        tips.push((name::<DomainName>(text), commit(store, &domain(text), [put(layout::domain(), text)])));
    }
    tips.sort();
    assert_eq!(store.domains().unwrap(), tips);
    let names: Vec<_> = tips.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["0", "S4", "s3", "s3-access", "s3.paths", "web"]);
}

pub fn entries_are_in_gits_order(store: &dyn Store) {
    let at = domain("s3");
    // A folder sorts as if its name ended with '/', which is between '.' and '0'.
    let file = |text: &str| put(layout::versions(&name(text)), "file");
    let inside = put(layout::version(&name("a"), &name("1.0.0")), "in a folder");
    commit(store, &at, [file("a0"), inside, file("a.b"), file("B"), file("a-b")]);
    let entries = store.entries(&entry(store, &at, "versions").unwrap().id).unwrap();
    let names: Vec<_> = entries.iter().map(|entry| (entry.name.as_str(), entry.kind)).collect();
    let (blob, tree) = (EntryKind::Blob, EntryKind::Tree);
    assert_eq!(names, [("B", blob), ("a-b", blob), ("a.b", blob), ("a", tree), ("a0", blob)]);
}

pub fn a_missing_object_is_named(store: &dyn Store) {
    // Also an id of another object format, which never exists here.
    for nowhere in [name::<Oid>(&"12".repeat(20)), name(&"12".repeat(32))] {
        let missing = |error: StoreError| {
            assert!(matches!(error, StoreError::Missing { id } if id == nowhere), "{error}");
            assert_eq!(error.to_string(), format!("the object {nowhere} is missing"));
        };
        missing(store.entries(&nowhere).unwrap_err());
        missing(store.blob(&nowhere).unwrap_err());
        missing(store.commit(&nowhere).unwrap_err());
    }
}

pub fn an_object_of_another_kind_is_named(store: &dyn Store) {
    let at = domain("s3");
    let commit = commit(store, &at, [put(layout::domain(), "one")]);
    let tree = store.commit(&commit).unwrap().tree;
    let blob = entry(store, &at, "domain.json").unwrap().id;
    let wrong = |error: StoreError, expected: &str, id: Oid, found: &str| {
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
        assert_eq!(error.to_string(), format!("the {expected} {id} cannot be read: it is a {found}"));
    };
    wrong(store.entries(&commit).unwrap_err(), "tree", commit, "commit");
    wrong(store.entries(&blob).unwrap_err(), "tree", blob, "blob");
    wrong(store.blob(&commit).unwrap_err(), "blob", commit, "commit");
    wrong(store.blob(&tree).unwrap_err(), "blob", tree, "tree");
    wrong(store.commit(&tree).unwrap_err(), "commit", tree, "tree");
    wrong(store.commit(&blob).unwrap_err(), "commit", blob, "blob");
}

pub fn a_blob_is_read_up_to_a_bound(store: &dyn Store) {
    let at = domain("s3");
    commit(
        store,
        &at,
        [put(layout::domain(), vec![b' '; MAX_BLOB]), put(layout::delivered(), vec![b' '; MAX_BLOB + 1])],
    );
    assert_eq!(store.blob(&entry(store, &at, "domain.json").unwrap().id).unwrap().len(), MAX_BLOB);
    let large = entry(store, &at, "told.json").unwrap().id;
    let error = store.blob(&large).unwrap_err().to_string();
    assert_eq!(error, format!("the blob {large} cannot be read: it is 16777217 bytes, over the limit of 16 MiB"));
}

pub fn inboxes_are_apart_from_domains_and_each_other(store: &dyn Store) {
    // Names that would collide if paths were joined carelessly.
    let inboxes = [
        StoreRef::Inbox(name("web"), None),
        StoreRef::Inbox(name("web"), Some(name("shared"))),
        StoreRef::Inbox(name("web"), Some(name("reader"))),
        StoreRef::Inbox(name("shared"), None),
        StoreRef::Inbox(name("reader"), Some(name("web"))),
    ];
    for (number, inbox) in inboxes.iter().enumerate() {
        assert_eq!(store.tip(inbox).unwrap(), None);
        commit(store, inbox, [put(layout::delivered(), number.to_string())]);
    }
    for (number, inbox) in inboxes.iter().enumerate() {
        assert_eq!(text(store, inbox, "told.json"), Some(number.to_string()));
        assert_eq!(inbox.lock_name(), "_local");
    }
    assert_eq!(store.domains().unwrap(), []);
}

pub fn sessions_are_apart_from_domains_and_inboxes(store: &dyn Store) {
    let path = layout::session(&name("sess-1a"));
    for repo in ["web", "Web2", "0"] {
        let at = StoreRef::Sessions(name(repo));
        assert_eq!(store.tip(&at).unwrap(), None);
        commit(store, &at, [put(path.clone(), repo)]);
        assert_eq!(text(store, &at, "sess-1a.json").as_deref(), Some(repo));
        assert!(!at.is_local(), "it travels, so it is written as durably as the realm");
        assert_eq!(at.lock_name(), format!("_sessions-{repo}"));
    }
    let listed: Vec<_> = store.sessions().unwrap().into_iter().map(|(repo, _)| repo.to_string()).collect();
    assert_eq!(listed, ["0", "Web2", "web"]);
    assert_eq!((store.domains().unwrap(), store.inboxes().unwrap()), (vec![], vec![]));
}

pub fn names_of_every_kind_come_back(store: &dyn Store) {
    let long = "n".repeat(64);
    let names = ["a", "0", "A.b_c-d", "HEAD", "locks", "a.json", "packed-refs", "1.0.0", long.as_str()];
    for text in names {
        commit(store, &domain(text), [put(layout::domain(), text)]);
        for inbox in [StoreRef::Inbox(name(text), None), StoreRef::Inbox(name(text), Some(name(text)))] {
            commit(store, &inbox, [put(layout::baseline(&name(text)), text)]);
        }
        commit(store, &StoreRef::Realm, [put(layout::repo(&name(text)), text)]);
        let at = domain("holder");
        let version = layout::version(&name(text), &name("1.0.0-rc.1"));
        commit(store, &at, [put(layout::contract(&name(text)), text), put(version, text)]);
        commit(store, &at, [put(layout::binding(&name(text)), text), put(layout::source(&name(text)), text)]);
    }
    let listed: Vec<_> = store.domains().unwrap().into_iter().map(|(name, _)| name.to_string()).collect();
    for text in names {
        assert!(listed.contains(&text.to_owned()), "{text} is not in {listed:?}");
        let at = |at: &StoreRef, path: String| assert_eq!(super::text(store, at, &path).as_deref(), Some(text));
        at(&domain(text), "domain.json".into());
        at(&StoreRef::Inbox(name(text), None), format!("baselines/{text}"));
        at(&StoreRef::Inbox(name(text), Some(name(text))), format!("baselines/{text}"));
        at(&StoreRef::Realm, format!("repos/{text}.json"));
        for folder in ["contracts", "bindings", "sources"] {
            at(&domain("holder"), format!("{folder}/{text}.json"));
        }
        at(&domain("holder"), format!("versions/{text}/1.0.0-rc.1.json"));
    }
}

pub fn looking_up_a_path_never_fails_for_what_is_not_there(store: &dyn Store) {
    let at = domain("s3");
    let tip = commit(store, &at, [put(layout::domain(), "one"), put(layout::contract(&name("paths")), "two")]);
    let tree = store.commit(&tip).unwrap().tree;
    for path in ["contracts/other.json", "contracts/paths.json/deeper", "other/paths.json", "domain.json/x/y", "", "/"]
    {
        assert_eq!(lookup(store, &tree, path).unwrap(), None, "{path:?}");
        assert_eq!(folder(store, &tree, path).unwrap(), [], "{path:?}");
    }
    assert_eq!(folder(store, &tree, "domain.json").unwrap(), []);
    assert_eq!(folder(store, &tree, "contracts").unwrap().len(), 1);
    // A broken link is an error, not a missing file.
    let missing: Oid = name(&"12".repeat(20));
    assert!(matches!(lookup(store, &missing, "domain.json"), Err(StoreError::Missing { .. })));
    commit(store, &at, [(layout::contract(&name("paths")), Edit::Remove)]);
    assert_eq!(entry(store, &at, "contracts/paths.json"), None);
}

pub fn a_part_of_a_domain_is_as_in_the_whole(store: &dyn Store) {
    let info =
        Domain { name: name("s3"), description: String::new(), members: [name("fungal")].into(), removed: false };
    let contract = |of: &str, version: &str| {
        let contract = Contract::new(name(of), name("fungal"));
        Contract { version: name(version), supported: vec![name(">=1.0.0")], ..contract }.sealed()
    };
    let mut edits = vec![put(layout::domain(), codec::encode(&info))];
    for (of, version) in
        [("a", "1.0.0"), ("a", "1.1.0"), ("b", "2.0.0"), ("draft", "0.1.0-rc.1"), ("draft", "0.1.0-rc.2")]
    {
        edits.push(put(layout::version(&name(of), &name(version)), codec::encode(&contract(of, version))));
    }
    // `bare`, as from another program, has no published version.
    for (of, version) in [("a", "1.1.0"), ("b", "2.0.0"), ("bare", "1.0.0")] {
        edits.push(put(layout::contract(&name(of)), codec::encode(&contract(of, version))));
    }
    let tip = commit(store, &domain("s3"), edits);
    let whole = domain_at(store, &name("s3"), &tip).unwrap();
    for only in ["a", "b", "bare", "draft", "none"] {
        let part = contracts_at(store, &name("s3"), &tip, &[name(only)].into()).unwrap();
        let only = name(only);
        assert_eq!(
            part.contracts.keys().collect::<Vec<_>>(),
            whole.contracts.keys().filter(|of| **of == only).collect::<Vec<_>>()
        );
        assert_eq!(part.contracts.get(&only), whole.contracts.get(&only));
        let some = |versions: Option<&std::collections::BTreeSet<_>>| versions.cloned().unwrap_or_default();
        assert_eq!(some(part.versions.get(&only)), some(whole.versions.get(&only)));
        assert_eq!(part.owner(&only), whole.owner(&only), "{only}");
        // All names are listed, since two that differ only in case would be the same file.
        assert_eq!(part.versions.keys().map(|of| of.as_str()).collect::<Vec<_>>(), ["a", "b", "bare", "draft"]);
    }
    let tree = store.commit(&tip).unwrap().tree;
    assert_eq!(summary_of(store, &name("s3"), &tree).unwrap(), DomainSummary::from(&whole));
}

pub fn a_part_of_a_domain_has_the_contracts_that_replace_it(store: &dyn Store) {
    let info =
        Domain { name: name("s3"), description: String::new(), members: [name("fungal")].into(), removed: false };
    let mut edits = vec![put(layout::domain(), codec::encode(&info))];
    for (of, replaced_by) in [("a", Some("b")), ("b", Some("c")), ("c", Some("a")), ("d", Some("lost")), ("e", None)] {
        let deprecated =
            replaced_by.map(|other| Deprecated { since: name("1.0.0"), replaced_by: Some(name(other)), sunset: None });
        let contract = Contract { version: name("1.0.0"), deprecated, ..Contract::new(name(of), name("fungal")) };
        edits.push(put(layout::contract(&name(of)), codec::encode(&contract.sealed())));
    }
    let tip = commit(store, &domain("s3"), edits);
    for (only, with) in [("a", "abc"), ("b", "abc"), ("d", "d"), ("e", "e"), ("lost", "")] {
        let part = contracts_at(store, &name("s3"), &tip, &[name(only)].into()).unwrap();
        assert_eq!(part.contracts.keys().map(ContractName::as_str).collect::<String>(), with, "{only}");
    }
}

pub fn documents_are_given_one_by_one_as_in_the_whole(store: &dyn Store) {
    let info =
        Domain { name: name("s3"), description: String::new(), members: [name("fungal")].into(), removed: false };
    let contract = |of: &str, version: &str| {
        Contract { version: name(version), ..Contract::new(name(of), name("fungal")) }.sealed()
    };
    let mut edits = vec![put(layout::domain(), codec::encode(&info))];
    for (of, version) in [("a", "1.0.0"), ("a", "1.1.0"), ("b", "2.0.0"), ("draft", "0.1.0-rc.1")] {
        edits.push(put(layout::version(&name(of), &name(version)), codec::encode(&contract(of, version))));
    }
    let changed = Contract { description: "changed later".into(), ..contract("b", "2.0.0") };
    for document in [contract("a", "1.1.0"), changed, contract("bare", "1.0.0")] {
        edits.push(put(layout::contract(&document.name), codec::encode(&document)));
    }
    edits.push(put(layout::version(&name("lost"), &name("1.0.0")), "{"));
    let tip = commit(store, &domain("s3"), edits);
    let (tree, whole) = (store.commit(&tip).unwrap().tree, domain_at(store, &name("s3"), &tip).unwrap());
    let mut given = Vec::new();
    let summary = summary_with(store, &name("s3"), &tree, |contract, published, versions| {
        given.push((contract.clone(), published.cloned(), versions.clone()));
    });
    assert_eq!(summary.unwrap(), DomainSummary::from(&whole));
    assert_eq!(whole.damage.len(), 1);
    let published = |one: &Contract| whole.published.get(&(one.name.clone(), one.version.clone())).cloned();
    let versions = |one: &Contract| whole.versions.get(&one.name).cloned().unwrap_or_default();
    let expected: Vec<_> = whole.contracts.values().map(|one| (one.clone(), published(one), versions(one))).collect();
    assert_eq!(given, expected);
    assert_eq!(given.iter().filter(|(_, published, _)| published.is_some()).count(), 1);
}
