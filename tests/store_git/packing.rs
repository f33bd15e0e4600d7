//! A store with git's own pruning commands, and what packing removes.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs::{self, File},
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    time::{Duration, SystemTime},
};

use git_blue::{
    store::{Objects as _, Store as _, StoreRef, git::GitStore},
    testing::{make::put, sandbox::Sandbox},
};

use super::{assert_clean, commit, domain, layout, open, realm};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[test]
fn git_removes_nothing_from_a_new_store() {
    let (sandbox, store) = realm();
    let blob = write_blob(&sandbox, &store, "no ref leads to it");
    for args in [&["gc", "--prune=now"][..], &["prune", "--expire=now"], &["repack", "-a", "-d"]] {
        sandbox.try_git(&store.path(), args);
        assert!(loose(&store, &blob).exists(), "git {args:?}");
    }
    for args in [&["maintenance", "run", "--task=gc"][..], &["maintenance", "run", "--task=incremental-repack"]] {
        sandbox.try_git(&store.path(), args);
        sandbox.git(&store.path(), &["cat-file", "-e", &blob]);
    }
    assert_clean(&sandbox, &store);
    assert_eq!(fs::metadata(store.path()).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn next_write_marks_an_unmarked_store() {
    let (sandbox, store) = realm();
    let git = |args: &[&str]| sandbox.git(&store.path(), args);
    git(&["config", "core.repositoryformatversion", "0"]);
    git(&["config", "--unset", "extensions.preciousObjects"]);
    git(&["config", "remote.origin.url", "https://example.com/realm.git"]);
    let before = open(&store.path());
    // Reading changes nothing.
    before.domains().unwrap();
    assert!(!config(&store).contains("precious"));
    let at = domain("s3");
    commit(&before, &at, "One", [put(layout::domain(), "1")]).unwrap();
    assert_eq!(git(&["config", "extensions.preciousObjects"]).trim(), "true");
    assert_eq!(git(&["config", "core.repositoryformatversion"]).trim(), "1");
    assert_eq!(git(&["config", "remote.origin.url"]).trim(), "https://example.com/realm.git");
    let written = config(&store);
    commit(&open(&store.path()), &at, "Two", [put(layout::domain(), "2")]).unwrap();
    assert_eq!(config(&store), written);
    assert!(!store.path().join("config.lock").exists());
    assert_clean(&sandbox, &store);
}

#[test]
fn locked_configuration_is_left_for_the_next_write() {
    let (sandbox, store) = realm();
    sandbox.git(&store.path(), &["config", "--unset", "extensions.preciousObjects"]);
    let lock = store.path().join("config.lock");
    File::create(&lock).unwrap();
    commit(&open(&store.path()), &domain("s3"), "One", [put(layout::domain(), "1")]).unwrap();
    assert!(lock.exists() && !config(&store).contains("precious"));
    fs::remove_file(lock).unwrap();
    commit(&open(&store.path()), &domain("s3"), "Two", [put(layout::domain(), "2")]).unwrap();
    assert!(config(&store).contains("precious"));
}

#[test]
fn packing_removes_only_old_unreachable_objects() {
    let (sandbox, store) = realm();
    let at = domain("s3");
    let first = commit(&store, &at, "One", [put(layout::domain(), "1")]).unwrap();
    // An enabled reflog keeps undone commits reachable.
    sandbox.git(&store.path(), &["config", "core.logAllRefUpdates", "always"]);
    commit(&open(&store.path()), &at, "Two", [put(layout::domain(), "2")]).unwrap();
    sandbox.git(&store.path(), &["update-ref", &at.to_string(), &first.to_string()]);
    let [old, young, packed] = ["old", "young", "packed"].map(|text| write_blob(&sandbox, &store, text));
    age(&loose(&store, &old), 15);
    age(&loose(&store, &young), 13);
    let pack = pack_of(&sandbox, &store, &packed);
    age(&pack, 15);
    for file in every_loose(&store).iter().filter(|path| **path != loose(&store, &young)) {
        age(file, 20);
    }
    let before = every_reachable(&sandbox, &store);
    let done = store.pack(&vars()).unwrap();
    assert_eq!(done.removed, 2, "{done:?}");
    let is_there = |id: &str| sandbox.try_git(&store.path(), &["cat-file", "-e", id]).status.success();
    assert_eq!([&old, &young, &packed].map(|id| is_there(id)), [false, true, false]);
    assert_eq!(every_reachable(&sandbox, &store), before);
    assert!(!pack.exists() && packs(&store).len() == 1, "{:?}", packs(&store));
    assert_eq!(store.loose_objects().unwrap(), 1);
    assert_clean(&sandbox, &store);
    // Again, with nothing to do.
    assert_eq!(store.pack(&vars()).unwrap().removed, 0);
    assert_eq!(every_reachable(&sandbox, &store), before);
    commit(&store, &at, "Three", [put(layout::domain(), "3")]).unwrap();
    assert_clean(&sandbox, &store);
}

#[test]
fn many_writes_leave_few_packs() {
    let (sandbox, store) = realm();
    // Like another process that opened it before.
    let reader = open(&store.path());
    for number in 0..60 {
        let writer = open(&store.path());
        let put = put(layout::domain(), number.to_string());
        let tip = commit(&writer, &domain("s3"), "Once more", [put]).unwrap();
        assert!(packs(&store).len() <= 17, "{number}: {:?}", packs(&store));
        assert_eq!(reader.tip(&domain("s3")).unwrap(), Some(tip));
        assert!(reader.commit(&tip).is_ok());
    }
    assert_eq!(store.loose_objects().unwrap(), 0);
    let log = sandbox.git(&store.path(), &["log", "--format=%H", &domain("s3").to_string()]);
    assert_eq!(log.lines().count(), 60);
    every_reachable(&sandbox, &store);
    for pack in packs(&store) {
        sandbox.git(&store.path(), &["verify-pack", pack.to_str().unwrap()]);
    }
    assert_clean(&sandbox, &store);
}

#[test]
fn damaged_or_foreign_pack_is_not_merged() {
    let (sandbox, store) = realm();
    let kept = pack_of(&sandbox, &store, &write_blob(&sandbox, &store, "kept"));
    fs::write(kept.with_extension("keep"), "by hand\n").unwrap();
    let torn = pack_of(&sandbox, &store, &write_blob(&sandbox, &store, "torn"));
    let mut bytes = fs::read(&torn).unwrap();
    bytes[14] ^= 0xff;
    fs::set_permissions(&torn, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(&torn, bytes).unwrap();
    for number in 0..40 {
        commit(&open(&store.path()), &domain("s3"), "Once more", [put(layout::domain(), number.to_string())]).unwrap();
    }
    assert!(kept.exists() && torn.exists());
}

#[test]
fn concurrent_packing_is_not_disturbed() {
    let (_sandbox, store) = realm();
    let lock = File::create(store.path().join("blue/locks/_packing")).unwrap();
    lock.lock().unwrap();
    for number in 0..20 {
        commit(&store, &domain("s3"), "Once more", [put(layout::domain(), number.to_string())]).unwrap();
    }
    assert!(packs(&store).len() > 20, "{:?}", packs(&store));
    drop(lock);
    commit(&store, &domain("s3"), "At last", [put(layout::domain(), "over")]).unwrap();
    assert!(packs(&store).len() <= 2, "{:?}", packs(&store));
}

#[test]
fn nothing_is_removed_during_a_write_or_fetch() {
    let (sandbox, store) = realm();
    let blob = write_blob(&sandbox, &store, "soon a part of something");
    age(&loose(&store, &blob), 30);
    let impatient = super::impatient(&store.path());
    let other = open(&store.path());
    for lease in [other.lock(&StoreRef::Realm).unwrap(), other.keep().unwrap()] {
        assert_eq!(impatient.pack(&vars()).unwrap().removed, 0);
        assert!(loose(&store, &blob).exists());
        drop(lease);
    }
    assert_eq!(impatient.pack(&vars()).unwrap().removed, 1);
}

#[test]
fn young_garbage_is_packed_until_old() {
    let (sandbox, store) = realm();
    commit(&store, &domain("s3"), "One", [put(layout::domain(), "{}")]).unwrap();
    let folder = sandbox.path().join("many");
    fs::create_dir(&folder).unwrap();
    let mut paths = String::new();
    for number in 0..1_100 {
        let file = folder.join(number.to_string());
        fs::write(&file, number.to_string()).unwrap();
        paths += &format!("{}\n", file.display());
    }
    fs::write(sandbox.path().join("paths"), paths).unwrap();
    let line = "git hash-object -w --stdin-paths <../paths >../ids";
    assert!(sandbox.command("sh", &store.path()).args(["-c", line]).status().unwrap().success());
    let ids = fs::read_to_string(sandbox.path().join("ids")).unwrap();
    let first = ids.lines().next().unwrap();
    let is_there = || sandbox.try_git(&store.path(), &["cat-file", "-e", first]).status.success();
    assert_eq!(store.pack(&vars()).unwrap().removed, 0);
    assert_eq!((store.loose_objects().unwrap(), packs(&store).len(), is_there()), (0, 2, true));
    // It is unchanged, also after packing again.
    assert_eq!(store.pack(&vars()).unwrap().removed, 0);
    assert_eq!((store.loose_objects().unwrap(), packs(&store).len(), is_there()), (0, 2, true));
    for pack in packs(&store) {
        age(&pack, 15);
    }
    assert_eq!(store.pack(&vars()).unwrap().removed, 1_100);
    assert_eq!((store.loose_objects().unwrap(), packs(&store).len(), is_there()), (0, 1, false));
    assert_clean(&sandbox, &store);
}

#[test]
fn kept_pack_stays() {
    let (sandbox, store) = realm();
    let blob = write_blob(&sandbox, &store, "just fetched");
    let pack = pack_of(&sandbox, &store, &blob);
    fs::write(pack.with_extension("keep"), "fetch-pack 1 on here\n").unwrap();
    age(&pack, 30);
    store.pack(&vars()).unwrap();
    assert!(pack.exists());
}

fn vars() -> BTreeMap<OsString, OsString> {
    let env = git_blue::env::Env::from_process().unwrap();
    env.vars().clone()
}

fn config(store: &GitStore) -> String {
    fs::read_to_string(store.path().join("config")).unwrap()
}

fn write_blob(sandbox: &Sandbox, store: &GitStore, text: &str) -> String {
    let file = sandbox.path().join("blob");
    fs::write(&file, text).unwrap();
    sandbox.git(&store.path(), &["hash-object", "-w", file.to_str().unwrap()]).trim().to_owned()
}

fn loose(store: &GitStore, id: &str) -> PathBuf {
    store.path().join("objects").join(&id[..2]).join(&id[2..])
}

/// Puts one object into a pack.
fn pack_of(sandbox: &Sandbox, store: &GitStore, id: &str) -> PathBuf {
    let line = format!("echo {id} | git pack-objects -q objects/pack/pack && git prune-packed");
    let output = sandbox.command("sh", &store.path()).args(["-c", &line]).output().unwrap();
    let name = String::from_utf8(output.stdout).unwrap();
    store.path().join(format!("objects/pack/pack-{}.pack", name.trim()))
}

#[expect(clippy::disallowed_methods, reason = "the age of files is measured by the system's clock")]
fn age(path: &PathBuf, days: u32) {
    let mut permissions = path.metadata().unwrap().permissions();
    permissions.set_mode(0o644);
    fs::set_permissions(path, permissions).unwrap();
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - DAY * days).unwrap();
}

fn packs(store: &GitStore) -> Vec<PathBuf> {
    let entries = store.path().join("objects/pack").read_dir().unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|extension| extension == "pack")).collect()
}

fn every_loose(store: &GitStore) -> Vec<PathBuf> {
    let fans = store.path().join("objects").read_dir().unwrap().map(|entry| entry.unwrap().path());
    let fans = fans.filter(|fan| fan.file_name().unwrap().len() == 2);
    fans.flat_map(|fan| fan.read_dir().unwrap()).map(|entry| entry.unwrap().path()).collect()
}

fn every_reachable(sandbox: &Sandbox, store: &GitStore) -> Vec<String> {
    let list = sandbox.git(&store.path(), &["rev-list", "--objects", "--no-object-names", "--all", "--reflog"]);
    let mut all: Vec<_> = list.lines().map(str::to_owned).collect();
    all.sort();
    for id in &all {
        assert!(sandbox.try_git(&store.path(), &["cat-file", "-e", id]).status.success(), "{id}");
    }
    all
}

#[test]
fn killed_git_does_not_block_the_store() {
    let (sandbox, store) = realm();
    let (lock, unfinished) = (store.path().join("packed-refs.lock"), store.path().join("packed-refs.new"));
    let bin = sandbox.path().join("bin");
    fs::create_dir(&bin).unwrap();
    // It dies as git does that runs out of memory: while it writes, with its lock taken.
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *pack-refs*) : >'{}'; : >'{}'; kill -9 $$ ;; esac\nexit 1\n",
        lock.display(),
        unfinished.display()
    );
    fs::write(bin.join("git"), script).unwrap();
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut deadly = vars();
    let path = deadly.get(&OsString::from("PATH")).cloned().unwrap_or_default();
    deadly.insert("PATH".into(), format!("{}:{}", bin.display(), path.display()).into());
    let error = store.pack(&deadly).unwrap_err();
    assert!(error.to_string().contains("SIGKILL"), "{error}");
    assert!(!lock.exists(), "the lock of a dead process is removed");
    commit(&store, &domain("s3"), "One", [put(layout::domain(), "{}")]).unwrap();
    // git refuses to overwrite what the dead process left unfinished.
    assert!(unfinished.exists());
    store.pack(&vars()).unwrap();
    assert!(!unfinished.exists());
    assert_clean(&sandbox, &store);
}
