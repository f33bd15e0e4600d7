//! Reading a realm with damage from other programs: damaged files are named, and hide no others.

use git_blue::{
    model::{
        contract::Contract,
        domain::Domain,
        domain_view::{Damage, DomainView, Subject},
        name::{ContractName, DomainName, RepoName},
        session::{Session, Work},
    },
    store::{
        Edit, Store, StoreError, StoreRef, TreePath, codec, layout, read,
        sessions::{self, SessionFilter},
    },
    testing::{make::put, memory::MemoryStore},
};

use super::{commit, domain, memory, name, text};

pub fn an_unreadable_contract_is_named_and_hides_no_other(store: &dyn Store) {
    found(store, "s3", [put(layout::contract(&name("paths")), "{\n  \"name\": \"paths\""), current(&contract("keys"))]);
    let view = seen(store);
    let names: Vec<_> = view.contracts.keys().collect();
    assert_eq!(names, [&name::<ContractName>("keys")]);
    assert!(view.is_damaged(&name("paths")) && !view.is_damaged(&name("keys")));
    assert_eq!(view.damage.len(), 1, "{:?}", view.damage);
    let damage = &view.damage[0];
    assert_eq!(damage.file, "refs/blue/domains/s3:contracts/paths.json");
    assert_eq!(damage.subject, Subject::Contract(name("paths")));
    assert!(damage.problem.contains("(line 2, column 17)"), "{}", damage.problem);
}

pub fn every_kind_of_file_is_named(store: &dyn Store) {
    let renamed = codec::encode(&contract("other"));
    found(
        store,
        "s3",
        [
            current(&contract("keys")),
            put(layout::contract(&name("renamed")), renamed),
            put(layout::contract(&name("twice")), "{\"name\": \"twice\", \"name\": \"twice\"}"),
            put(layout::version(&name("old"), &name("1.0.0")), "null"),
            put(layout::binding(&name("web")), "{\"role\": \"bystander\"}"),
            put(layout::source(&name("web")), "{\"commit\": \"HEAD\"}"),
        ],
    );
    let contract = |text: &str| Subject::Contract(name(text));
    assert_eq!(
        subjects(&seen(store).damage),
        [
            ("refs/blue/domains/s3:contracts/renamed.json", contract("renamed")),
            ("refs/blue/domains/s3:contracts/twice.json", contract("twice")),
            ("refs/blue/domains/s3:versions/old/1.0.0.json", contract("old")),
            ("refs/blue/domains/s3:bindings/web.json", Subject::Binding(name("web"))),
            ("refs/blue/domains/s3:sources/web.json", Subject::Source(name("web"))),
        ]
    );
    assert!(seen(store).contracts.contains_key(&name("keys")));
    commit(store, &StoreRef::Realm, [put(layout::repo(&name("web")), "[")]);
    commit(store, &StoreRef::Realm, [put(layout::repo(&name("s3")), "{\"name\": \"s3\"}")]);
    let view = read::view(store).unwrap();
    assert_eq!(subjects(&view.damage), [("refs/blue/realm:repos/web.json", Subject::Other)]);
    assert!(view.repos.contains_key(&name("s3")) && view.domains.contains_key(&name("s3")));
}

pub fn a_domain_that_cannot_be_read_hides_no_other(store: &dyn Store) {
    found(store, "s3", []);
    commit(store, &domain("broken"), [put(layout::domain(), "{")]);
    commit(store, &domain("empty"), [put(layout::contract(&name("paths")), "{}")]);
    let elsewhere = Domain { name: name("elsewhere"), description: String::new(), members: [].into(), removed: false };
    commit(store, &domain("renamed"), [put(layout::domain(), codec::encode(&elsewhere))]);
    let view = read::view(store).unwrap();
    let names: Vec<_> = view.domains.keys().collect();
    assert_eq!(names, [&name::<DomainName>("s3")]);
    let problems: Vec<_> = view.damage.iter().map(|damage| damage.problem.as_str()).collect();
    assert!(problems[0].starts_with("refs/blue/domains/broken:domain.json cannot be read:"), "{}", problems[0]);
    assert_eq!(problems[1], "refs/blue/domains/empty cannot be read: there is no domain.json");
    assert_eq!(problems[2], "refs/blue/domains/renamed cannot be read: domain.json names elsewhere");
    let files = ["refs/blue/domains/broken", "refs/blue/domains/empty", "refs/blue/domains/renamed"];
    assert_eq!(
        subjects(&view.damage),
        files.map(|file| (file, Subject::Domain(name(file.rsplit('/').next().unwrap()))))
    );
    // Requested directly it is an error, and a missing one is not.
    assert!(matches!(read::domain(store, &name("broken")), Err(StoreError::Damaged { .. })));
    assert!(read::domain(store, &name("nowhere")).unwrap().is_none());
}

pub fn a_file_where_a_folder_belongs_is_named(store: &dyn Store) {
    // `versions/paths` is a file, `contracts/keys.json` a folder, and `versions/web` has no version.
    let inside = |folder: TreePath| put(layout::domain().below(&folder), "{}");
    found(
        store,
        "s3",
        [
            put(layout::versions(&name("paths")), "{}"),
            inside(layout::contract(&name("keys"))),
            inside(layout::versions(&name("web"))),
            current(&contract("good")),
        ],
    );
    let view = seen(store);
    let damage: Vec<_> = view.damage.iter().map(|damage| (damage.file.as_str(), damage.problem.as_str())).collect();
    assert_eq!(
        damage,
        [
            ("refs/blue/domains/s3:contracts/keys.json", "it is not a file"),
            ("refs/blue/domains/s3:versions/paths", "it is not a directory"),
            ("refs/blue/domains/s3:versions/web/domain.json", "its name is not VERSION.json"),
        ]
    );
    assert!(view.contracts.contains_key(&name("good")));
}

pub fn a_published_version_is_read_where_the_current_one_differs(store: &dyn Store) {
    let at = |contract: &str, version: &str| Contract { version: name(version), ..self::contract(contract) };
    let published = |doc: &Contract| put(layout::version(&doc.name, &doc.version), codec::encode(doc));
    let same = at("same", "1.0.0");
    let described = Contract { description: "Words".into(), ..at("differs", "1.1.0") };
    let files = [
        current(&same),
        published(&same),
        current(&described),
        published(&at("differs", "1.0.0")),
        published(&at("differs", "1.1.0")),
        published(&at("early", "0.2.0-rc.1")),
        published(&at("early", "0.2.0-rc.10")),
        published(&at("early", "0.2.0-rc.9")),
    ];
    let tip = found(store, "s3", files);
    let mut view = seen(store);
    assert_eq!(view.damage, []);
    let read: Vec<_> = view.published.keys().map(|(name, version)| format!("{name} {version}")).collect();
    assert_eq!(read, ["differs 1.1.0", "early 0.2.0-rc.10"]);
    assert_eq!(view.owner(&name("early")).unwrap().as_str(), "fungal");
    let versions: Vec<_> = view.versions[&name("early")].iter().map(ToString::to_string).collect();
    assert_eq!(versions, ["0.2.0-rc.1", "0.2.0-rc.9", "0.2.0-rc.10"]);
    // The others are read when requested.
    let tree = store.commit(&tip).unwrap().tree;
    for version in ["1.0.0", "7.0.0"] {
        read::load_version(store, &mut view, &tree, &name("differs"), &name(version)).unwrap();
    }
    assert!(view.published.contains_key(&(name("differs"), name("1.0.0"))));
    assert_eq!(view.published.len(), 3);
    let tip = commit(store, &domain("s3"), [put(layout::version(&name("differs"), &name("1.0.1")), "{")]);
    let tree = store.commit(&tip).unwrap().tree;
    read::load_version(store, &mut view, &tree, &name("differs"), &name("1.0.1")).unwrap();
    let damaged = "refs/blue/domains/s3:versions/differs/1.0.1.json";
    assert_eq!(subjects(&view.damage), [(damaged, Subject::Contract(name("differs")))]);
}

pub fn a_newer_format_is_refused(store: &dyn Store) {
    assert_eq!(read::realm(store).unwrap().name.as_str(), "aperture");
    // With unknown fields, in a format that this version could not read.
    let newer = "{\n  \"format\": 2,\n  \"name\": {\"en\": \"aperture\"},\n  \"shards\": 16\n}\n";
    commit(store, &StoreRef::Realm, [put(layout::realm(), newer)]);
    let error = read::realm(store).unwrap_err();
    assert!(matches!(error, StoreError::NewerFormat { found: 2, known: 1 }), "{error}");
    assert_eq!(
        error.to_string(),
        "the realm has storage format 2, but this version of git blue supports only formats up to 1"
    );
    assert_eq!(text(store, &StoreRef::Realm, "realm.json").unwrap(), newer);
}

pub fn a_realm_without_its_file_is_damaged(store: &dyn Store) {
    let error = |file: Edit| {
        commit(store, &StoreRef::Realm, [(layout::realm(), file)]);
        read::realm(store).unwrap_err().to_string()
    };
    let unreadable = "refs/blue/realm:realm.json cannot be read:";
    assert!(error(Edit::Put("{}".into())).starts_with(&format!("{unreadable} missing field `format`")));
    assert!(error(Edit::Put("{\"format\": 1}".into())).starts_with(&format!("{unreadable} missing field `name`")));
    assert!(error(Edit::Put("\u{feff}{}".into())).starts_with(unreadable));
    assert_eq!(error(Edit::Remove), "refs/blue/realm cannot be read: there is no realm.json");
}

/// Paths that no valid name produces, which only other programs write.
#[test]
fn invalid_names_are_reported() {
    let store = memory();
    found(&store, "s3", [current(&contract("good"))]);
    let at = domain("s3");
    for path in ["contracts/README.md", "contracts/-x.json", "versions/a b/1.0.0.json", "bindings/..json", "notes.txt"]
    {
        store.put_raw(&at, path, b"{}").unwrap();
    }
    store.put_raw(&StoreRef::Realm, "repos/.gitkeep", b"").unwrap();
    let view = seen(&store);
    let damage: Vec<_> = view.damage.iter().map(|damage| (damage.file.as_str(), damage.problem.as_str())).collect();
    assert_eq!(
        damage,
        [
            ("refs/blue/domains/s3:contracts/-x.json", "its name is not NAME.json"),
            ("refs/blue/domains/s3:contracts/README.md", "its name is not NAME.json"),
            ("refs/blue/domains/s3:versions/a b", "its name is not a contract name"),
            ("refs/blue/domains/s3:bindings/..json", "its name is not NAME.json"),
        ]
    );
    assert!(view.contracts.contains_key(&name("good")));
    assert_eq!(read::view(&store).unwrap().damage[0].file, "refs/blue/realm:repos/.gitkeep");
}

#[test]
fn symlink_is_never_followed() {
    let store = memory();
    let good = contract("good");
    found(&store, "s3", [current(&good)]);
    store.put_symlink(&domain("s3"), "contracts/linked.json", "good.json").unwrap();
    let view = seen(&store);
    assert_eq!(view.damage.len(), 1, "{:?}", view.damage);
    assert_eq!(view.damage[0].file, "refs/blue/domains/s3:contracts/linked.json");
    assert_eq!(view.damage[0].problem, "it is not a file");
    assert_eq!(view.contracts.len(), 1);

    // As if nothing had been published: then the domain is neither read nor written.
    store.put_symlink(&domain("s3"), "versions", "contracts").unwrap();
    let damage = read::view(&store).unwrap().damage;
    assert_eq!(damage.len(), 1, "{damage:?}");
    assert_eq!(damage[0].problem, "refs/blue/domains/s3:versions cannot be read: it is not a directory");
}

#[test]
fn oversized_contract_is_reported() {
    let store: MemoryStore = memory();
    found(&store, "s3", [current(&contract("good"))]);
    store.put_raw(&domain("s3"), "contracts/large.json", &vec![b' '; codec::MAX_BLOB + 1]).unwrap();
    let view = seen(&store);
    assert_eq!(
        subjects(&view.damage),
        [("refs/blue/domains/s3:contracts/large.json", Subject::Contract(name("large")))]
    );
    assert!(view.damage[0].problem.contains("over the limit of 16 MiB"));
}

/// Creates a domain with these files.
fn found<const N: usize>(store: &dyn Store, text: &str, files: [(TreePath, Edit); N]) -> git_blue::model::oid::Oid {
    let info =
        Domain { name: name(text), description: String::new(), members: [name("fungal")].into(), removed: false };
    let info = put(layout::domain(), codec::encode(&info));
    commit(store, &domain(text), files.into_iter().chain([info]))
}

/// Returns the domain `s3` as the realm reads it.
fn seen(store: &dyn Store) -> DomainView {
    read::domain(store, &name("s3")).unwrap().unwrap()
}

fn contract(text: &str) -> Contract {
    Contract::new(name(text), name("fungal")).sealed()
}

fn current(contract: &Contract) -> (TreePath, Edit) {
    put(layout::contract(&contract.name), codec::encode(contract))
}

fn subjects(damage: &[Damage]) -> Vec<(&str, Subject)> {
    damage.iter().map(|damage| (damage.file.as_str(), damage.subject.clone())).collect()
}

pub fn a_session_that_cannot_be_read_hides_no_other(store: &dyn Store) {
    let repo: RepoName = name("web");
    let at = StoreRef::Sessions(repo.clone());
    let session = |id: &str, ended: bool| {
        let started_at = "2026-01-24T10:00:00Z".parse().unwrap();
        let session = Session {
            id: name(id),
            repo: repo.clone(),
            started_at,
            last_activity: started_at,
            active_rfc: None,
            start: Default::default(),
            ended: None,
        };
        codec::encode(&if ended { session.ended(started_at, Work::default()) } else { session })
    };
    let open = |id: &str, bytes: Vec<u8>| put(layout::session(&name(id)), bytes);
    let over = |id: &str, bytes: Vec<u8>| put(layout::ended_session(&name(id)), bytes);
    let tip = commit(
        store,
        &at,
        [
            open("sess-1", session("sess-1", false)),
            open("sess-2", b"{".to_vec()),
            open("sess-3", session("sess-1", false)),
            open("sess-4", session("sess-4", true)),
            over("sess-5", session("sess-5", true)),
            over("sess-6", session("sess-6", false)),
            put(layout::domain(), "{}"),
        ],
    );
    let read = |which| {
        let (found, damage) = sessions::at(store, &repo, &tip, which).unwrap();
        let ids: Vec<_> = found.iter().map(|session| session.id.to_string()).collect();
        (ids, damage.into_iter().map(|damage| format!("{}: {}", damage.file, damage.problem)).collect::<Vec<_>>())
    };
    let (ids, damage) = read(SessionFilter::Open);
    assert_eq!(ids, ["sess-1"]);
    assert_eq!(
        damage,
        [
            "refs/blue/sessions/web:domain.json: its name is not ID.json",
            "refs/blue/sessions/web:sess-2.json: EOF while parsing an object (line 1, column 1)",
            "refs/blue/sessions/web:sess-3.json: it is sess-1 of web",
            "refs/blue/sessions/web:sess-4.json: it is in the wrong place",
        ]
    );
    let (ids, damage) = read(SessionFilter::Ended);
    assert_eq!(ids, ["sess-5"]);
    assert_eq!(damage, ["refs/blue/sessions/web:ended/sess-6.json: it is in the wrong place"]);
    let open = |id: &str| sessions::open(store, &repo, &name(id));
    assert_eq!(open("sess-1").unwrap().unwrap().id, name("sess-1"));
    assert_eq!((open("sess-5").unwrap(), open("sess-9").unwrap()), (None, None));
    let error = open("sess-2").unwrap_err();
    assert!(error.is_damage() && error.to_string().contains("sess-2.json"), "{error}");
    assert!(open("sess-3").unwrap_err().is_damage());
}
