//! Damage by disks, power failures and plain git is reported, hides nothing else, and is repaired where possible.

use git_blue::{
    model::{contract::Contract, domain::Domain, domain_view::Subject, oid::Oid},
    store::{Edit, Objects as _, Store as _, StoreError, TreePath, codec, git::GitStore, layout, read},
    testing::{
        make::{self, put},
        sandbox::Sandbox,
    },
};

use super::{assert_clean, commit, domain, name, open, realm, source};

/// Creates the domain `s3` with these contracts. Returns its tree.
fn make_s3(store: &GitStore, contracts: &[&str]) -> Oid {
    let info = Domain { name: name("s3"), description: String::new(), members: [].into(), removed: false };
    let contracts = contracts.iter().map(|contract| file(contract));
    let files = contracts.chain([put(layout::domain(), codec::encode(&info))]);
    let tip = commit(store, &domain("s3"), "One", files).unwrap();
    store.commit(&tip).unwrap().tree
}

fn file(contract: &str) -> (TreePath, Edit) {
    let contract = Contract::new(name(contract), name("web")).sealed();
    put(layout::contract(&contract.name), codec::encode(&contract))
}

#[test]
fn ref_without_an_id_is_reported() {
    let (sandbox, store) = realm();
    let path = store.path();
    commit(&store, &domain("s3"), "One", [put(layout::domain(), "1")]).unwrap();
    sandbox.git(&path, &["symbolic-ref", "refs/blue/domains/linked", "refs/blue/domains/s3"]);
    let error = store.tip(&domain("linked")).unwrap_err().to_string();
    assert_eq!(error, "refs/blue/domains/linked cannot be read: it is a symbolic ref");
    std::fs::write(path.join("refs/blue/domains/torn"), "0123").unwrap();
    let error = store.tip(&domain("torn")).unwrap_err();
    assert!(matches!(&error, StoreError::Damaged { what, .. } if what == "refs/blue/domains/torn"), "{error}");
    // They are named, and hide no others.
    let domains: Vec<_> = store.domains().unwrap().into_iter().map(|(domain, _)| domain).collect();
    assert_eq!(domains, [name("s3")]);
    let broken = store.domain_refs().unwrap().broken;
    assert_eq!(broken.len(), 2, "{broken:?}");
    assert!(broken.iter().any(|(name, _)| name == "refs/blue/domains/torn"), "{broken:?}");
    assert!(broken.iter().any(|(name, _)| name == "refs/blue/domains/linked"), "{broken:?}");
}

#[test]
fn temporary_errors_are_not_damage() {
    let (_sandbox, store) = realm();
    commit(&store, &domain("s3"), "One", [put(layout::domain(), "1")]).unwrap();
    // For example too many open files: a temporary error.
    let path = store.path().join("refs/blue/domains/round");
    std::os::unix::fs::symlink("round", &path).unwrap();
    let error = store.tip(&domain("round")).unwrap_err();
    assert!(!error.is_damage() && error.to_string().contains("refs/blue/domains/round"), "{error:?}");
}

#[test]
fn invalid_tree_entries_hide_no_other() {
    let (sandbox, store) = realm();
    make_s3(&store, &["good"]);
    add_odd_entries(&sandbox, &store);
    let view = read::view(&store).unwrap();
    let s3 = &view.domains[&name("s3")];
    assert!(s3.contracts.contains_key(&name("good")));
    let damage: Vec<_> = s3.damage.iter().map(|damage| (damage.file.as_str(), damage.problem.as_str())).collect();
    assert_eq!(
        damage,
        [
            ("refs/blue/domains/s3:contracts/\u{fffd}.json", "its name is not NAME.json"),
            ("refs/blue/domains/s3:contracts/link.json", "it is not a file"),
            ("refs/blue/domains/s3:contracts/module.json", "it is not a file"),
        ]
    );
    assert_eq!(s3.damage[1].subject, Subject::Contract(name("link")));
}

#[test]
fn torn_object_is_reported_and_hides_no_other() {
    let (_sandbox, store) = realm();
    let tree = make_s3(&store, &["cut", "empty", "gone", "good"]);
    for (text, left) in [("cut", Some(20)), ("empty", Some(0)), ("gone", None)] {
        tear(&store, &read::lookup(&store, &tree, &format!("contracts/{text}.json")).unwrap().unwrap().id, left);
    }
    let view = read::view(&open(&store.path())).unwrap();
    let s3 = &view.domains[&name("s3")];
    assert!(s3.contracts.contains_key(&name("good")));
    let files: Vec<_> = s3.damage.iter().map(|damage| damage.file.as_str()).collect();
    let file = |text: &str| format!("refs/blue/domains/s3:contracts/{text}.json");
    assert_eq!(files, [file("cut"), file("empty"), file("gone")]);
    assert!(s3.damage[2].problem.ends_with("is missing"), "{:?}", s3.damage[2]);
}

#[test]
fn file_in_place_of_a_refs_folder_is_reported_at_once() {
    let (sandbox, store) = realm();
    sandbox.git(&store.path(), &["pack-refs", "--all"]);
    let file = store.path().join("refs/blue/domains");
    let _ = std::fs::remove_dir_all(&file);
    std::fs::write(&file, "in the way").unwrap();
    let start = std::time::Instant::now();
    let error = commit(&store, &domain("s3"), "One", [put(layout::domain(), "{}")]).unwrap_err().to_string();
    // It does not wait as for a lock.
    assert!(start.elapsed() < make::options().lock_timeout);
    assert!(error.contains("refs/blue/domains") && error.contains("a file where refs need a directory"), "{error}");
}

#[test]
fn rewriting_repairs_objects() {
    let (sandbox, store) = realm();
    let edits = || [put(layout::domain(), "{}"), put(source("web"), "{\n}\n")];
    let tip = commit(&store, &domain("s3"), "One", edits()).unwrap();
    let tree = store.commit(&tip).unwrap().tree;
    // The first attempt was killed before its objects were flushed and its ref moved.
    sandbox.git(&store.path(), &["update-ref", "-d", "refs/blue/domains/s3"]);
    let torn = ["domain.json", "sources", "sources/web.json"]
        .map(|path| read::lookup(&store, &tree, path).unwrap().unwrap().id);
    for (id, len) in torn.into_iter().chain([tree, tip]).zip([0, 0, 5, 0, 30]) {
        tear(&store, &id, Some(len));
    }
    let store = open(&store.path());
    assert_eq!(commit(&store, &domain("s3"), "One", edits()).unwrap(), tip);
    assert_clean(&sandbox, &store);
}

/// Truncates or removes the file of an object, like a power failure before a flush, or a failing disk.
fn tear(store: &GitStore, id: &Oid, left: Option<u64>) {
    use std::os::unix::fs::PermissionsExt as _;
    unpack(store);
    let hex = id.to_string();
    let path = store.path().join("objects").join(&hex[..2]).join(&hex[2..]);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    match left {
        Some(len) => std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(len).unwrap(),
        None => std::fs::remove_file(&path).unwrap(),
    }
}

/// Unpacks all packed objects.
fn unpack(store: &GitStore) {
    let objects = store.path().join("objects");
    let aside = store.path().join("aside");
    std::fs::rename(objects.join("pack"), &aside).unwrap();
    std::fs::create_dir(objects.join("pack")).unwrap();
    for file in aside.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
        if file.extension().is_some_and(|extension| extension == "pack") {
            let pack = std::fs::File::open(&file).unwrap();
            let mut git = std::process::Command::new("git");
            git.arg("-C").arg(store.path()).args(["unpack-objects", "-q"]).stdin(pack);
            assert!(git.status().unwrap().success());
        }
    }
    std::fs::remove_dir_all(aside).unwrap();
}

/// Adds an invalid name, a symbolic link and a submodule to the contracts of `s3` with plain git.
fn add_odd_entries(sandbox: &Sandbox, store: &GitStore) {
    use std::os::unix::ffi::OsStrExt as _;
    let at = domain("s3").to_string();
    let path = store.path();
    let git = |args: &[&str]| sandbox.git(&path, args);
    git(&["read-tree", &at]);
    let blob = git(&["rev-parse", &format!("{at}:domain.json")]);
    let info = |mode: &str, id: &str, name: &[u8]| {
        let entry = [format!("{mode},{id},contracts/").as_bytes(), name].concat();
        let entry = std::ffi::OsStr::from_bytes(&entry);
        let mut command = sandbox.command("git", &path);
        assert!(command.args(["update-index", "--add", "--cacheinfo"]).arg(entry).status().unwrap().success());
    };
    info("100644", &blob, b"\xff.json");
    info("120000", &blob, b"link.json");
    info("160000", &git(&["rev-parse", &at]), b"module.json");
    let tree = git(&["write-tree"]);
    let id = git(&["commit-tree", "-p", &at, "-m", "By other hands", &tree]);
    git(&["update-ref", &at, &id]);
}
