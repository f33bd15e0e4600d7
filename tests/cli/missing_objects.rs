//! Objects that are missing in a store or at a remote are reported, never treated as complete, and restored by the
//! suggested commands.

use std::{ffi::OsStr, fs, os::unix::fs::PermissionsExt as _, path::Path};

use super::sync::shared;
use crate::world::{CONTRACT_FILE, DOMAIN_REF, REALM, World, contract};

/// Unpacks all packed objects.
pub fn unpack(world: &World, repo: &Path) {
    let packs = repo.join("objects/pack");
    for pack in packs.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
        if pack.extension().is_some_and(|extension| extension == "pack") {
            let aside = world.path("aside.pack");
            fs::rename(&pack, &aside).unwrap();
            fs::remove_file(pack.with_extension("idx")).unwrap();
            let unpack = format!("git unpack-objects -q < '{}'", aside.display());
            assert!(world.command("sh", repo).args(["-c", &unpack]).status().unwrap().success());
        }
    }
}

/// Removes an object from a repository, wherever it is stored.
pub fn lose(world: &World, repo: &Path, id: &str) {
    unpack(world, repo);
    fs::remove_file(repo.join("objects").join(&id[..2]).join(&id[2..])).unwrap();
}

/// A pair whose realm is shared and synced.
pub fn synced() -> (World, String) {
    let (world, hub) = shared();
    world.ok(&world.path("fungal"), &["sync"]);
    (world, hub)
}

fn is_clean(world: &World, repo: &Path) -> bool {
    world.try_git(repo, &["fsck", "--strict", "--no-dangling"]).code == 0
}

#[test]
fn unreadable_domain_is_a_failure() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.ok(&fungal, &["realm", "admin", "domain", "--name", "other", "--repos", "fungal"]);
    lose(&world, &world.store(), &world.tip(DOMAIN_REF));
    // Cached content is still known, but not as what is stored now.
    world.ok(&fungal, &["realm", "admin", "cache", "clear"]);
    let status = world.blue(&fungal, &["status", "--all"]).exits(128);
    assert!(status.stdout.contains("domain other"), "the rest is shown: {status}");
    let status = world.blue(&fungal, &["status"]).exits(128);
    assert!(status.stderr.contains(DOMAIN_REF) && status.stderr.contains("git blue doctor --fix"), "{status}");
    // A program gets what can be read, as over HTTP and MCP, and the exit code says that it is not everything.
    let answer = world.blue(&fungal, &["status", "--json"]).exits(128).json();
    assert!(answer["unreadable_domains"][0].to_string().contains(DOMAIN_REF), "{answer}");
    let check = world.blue(&fungal, &["check"]).exits(1);
    assert!(check.stdout.contains(DOMAIN_REF) && !check.stdout.contains("has no domain"), "{check}");
    // A domain that never existed is still unknown.
    world.write("fungal/.blue/contracts/nowhere/x.yaml", &contract("1.0.0").replace("s3-permissions", "x"));
    let check = world.blue(&fungal, &["check", "--worktree"]).exits(1);
    assert!(check.stdout.contains("has no domain nowhere"), "{check}");
}

#[test]
fn doctor_fetches_missing_objects_from_the_remote() {
    for what in ["", "^{tree}", ":contracts/s3-permissions.json"] {
        let (world, _) = synced();
        let fungal = world.path("fungal");
        lose(&world, &world.store(), &world.tip(&format!("{DOMAIN_REF}{what}")));
        let sick = world.blue(&fungal, &["doctor"]).exits(1);
        assert!(sick.stdout.contains("git blue doctor --fix"), "{sick}");
        let mended = world.blue(&fungal, &["doctor", "--fix"]).exits(0);
        assert!(mended.stdout.contains("fetched missing objects from origin"), "{mended}");
        assert!(is_clean(&world, &world.store()), "{what:?}");
        world.ok(&fungal, &["status"]);
        world.bump("1.1.0");
        assert_eq!(world.version(), "1.1.0");
    }
}

/// Starting over with what the remote has would lose what was not pushed.
#[test]
fn doctor_fetches_missing_objects_of_the_realm_itself() {
    for what in ["", "^{tree}", ":realm.json"] {
        let (world, _) = synced();
        let fungal = world.path("fungal");
        world.ok(&fungal, &["realm", "admin", "domain", "--name", "later", "--repos", "fungal"]);
        lose(&world, &world.store(), &world.tip(&format!("refs/blue/realm{what}")));
        let sick = world.blue(&fungal, &["doctor"]).exits(1);
        assert!(sick.stdout.contains("git blue doctor --fix") && !sick.stdout.contains("mv "), "{sick}");
        let mended = world.blue(&fungal, &["doctor", "--fix"]).exits(0);
        assert!(mended.stdout.contains("fetched missing objects from origin"), "{mended}");
        assert!(is_clean(&world, &world.store()), "{what:?}");
        let later = world.ok(&fungal, &["realm", "topology"]);
        assert!(later.stdout.contains("later"), "{later}");
    }
}

#[test]
fn doctor_replaces_a_damaged_pack_by_what_the_remote_has() {
    let (world, _) = synced();
    let fungal = world.path("fungal");
    world.ok(&fungal, &["gc"]);
    let packs = world.store().join("objects/pack");
    let mut packs = packs.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let pack = packs.find(|path| path.extension().is_some_and(|extension| extension == "pack")).unwrap();
    let mut bytes = fs::read(&pack).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 64].iter_mut().for_each(|byte| *byte ^= 0x5a);
    fs::set_permissions(&pack, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&pack, bytes).unwrap();
    world.blue(&fungal, &["doctor"]).exits(1);
    let mended = world.blue(&fungal, &["doctor", "--fix"]).exits(0);
    assert!(mended.stdout.contains("fetched missing objects from origin"), "{mended}");
    assert!(is_clean(&world, &world.store()));
    world.ok(&fungal, &["realm", "admin", "cache", "clear"]);
    world.bump("1.1.0");
    assert_eq!(world.version(), "1.1.0");
}

#[test]
fn corrupt_object_that_nothing_needs_is_set_aside() {
    let world = World::solo();
    let fungal = world.path("fungal");
    let id = world.feed("git", &world.store(), &["hash-object", "-w", "--stdin"], "noise").stdout.trim().to_owned();
    let object = world.store().join("objects").join(&id[..2]).join(&id[2..]);
    fs::set_permissions(&object, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&object, "torn").unwrap();
    world.blue(&fungal, &["doctor"]).exits(1);
    let mended = world.blue(&fungal, &["doctor", "--fix"]).exits(0);
    assert!(mended.stdout.contains("corrupt, but nothing needs them: moved to "), "{mended}");
    assert!(is_clean(&world, &world.store()) && world.store().join("blue/corrupt").join(&id).exists());
}

#[test]
fn lost_objects_are_given_up_only_explicitly() {
    for lost in ["^{tree}", ""] {
        let world = World::pair();
        let fungal = world.path("fungal");
        world.bump("1.1.0");
        let (before, tip) = (world.tip(&format!("{DOMAIN_REF}~1")), world.tip(DOMAIN_REF));
        lose(&world, &world.store(), &world.tip(&format!("{DOMAIN_REF}{lost}")));
        let sick = world.blue(&fungal, &["doctor", "--fix"]).exits(1);
        let command = format!("git blue doctor --realm {REALM} --restore domains/s3-access --to {before}");
        assert!(sick.stdout.contains(&command), "{sick}");
        let is_named = sick.stdout.contains("\"publish s3-permissions 1.1.0") || sick.stdout.contains("1.0.0 -> 1.1.0");
        assert_eq!(is_named, lost == "^{tree}", "what a readable commit says is named: {sick}");
        assert_eq!(world.tip(DOMAIN_REF), tip, "nothing is given up that nobody asked for");
        let args: Vec<_> = command.split(' ').skip(2).collect();
        world.ok(&fungal, &args);
        assert_eq!(world.tip(DOMAIN_REF), before);
        world.ok(&fungal, &["status"]);
        // It is complete now: nothing is given up again.
        let again = world.blue(&fungal, &args).exits(1);
        assert!(again.stderr.contains("is complete"), "{again}");
        world.blue(&fungal, &["check"]).exits(0);
    }
}

#[test]
fn ref_is_reset_only_to_a_complete_commit_of_its_own() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.ok(&fungal, &["realm", "admin", "domain", "--name", "other", "--repos", "fungal"]);
    for version in ["1.1.0", "1.2.0"] {
        world.bump(version);
    }
    let [tip, incomplete, complete] = ["", "~1", "~2"].map(|back| world.tip(&format!("{DOMAIN_REF}{back}")));
    let [realm, other] = ["realm", "domains/other"].map(|name| world.tip(&format!("refs/blue/{name}")));
    for lost in [&tip, &incomplete] {
        lose(&world, &world.store(), &world.tip(&format!("{lost}^{{tree}}")));
    }
    let restore = |name: &str, to: &str| world.blue(&fungal, &["doctor", "--restore", name, "--to", to]);
    let unknown = "1".repeat(40);
    for (name, to, code, said) in [
        ("domains/s3-access", &incomplete, 1, format!("{incomplete} is incomplete in this store")),
        ("domains/s3-access", &unknown, 1, format!("{unknown} is incomplete in this store")),
        ("domains/s3-access", &realm, 1, format!("{realm} is not a commit of {DOMAIN_REF}: ")),
        ("domains/s3-access", &other, 1, format!("{other} is not a commit of {DOMAIN_REF}: ")),
        ("domains/nowhere", &complete, 1, "refs/blue/domains/nowhere does not exist".to_owned()),
        ("../heads/main", &complete, 129, "\"../heads/main\" is not a ref of the realm".to_owned()),
    ] {
        let run = restore(name, to).exits(code);
        assert!(run.stderr.contains(&said), "{run}");
        assert_eq!(world.tip(DOMAIN_REF), tip, "{run}");
    }
    restore("domains/s3-access", &complete).exits(0);
    assert_eq!(world.tip(DOMAIN_REF), complete);
}

#[test]
fn damaged_hub_is_reported_and_repaired() {
    for lost in ["", "^{tree}", ":contracts/s3-permissions.json", "~1", "everything"] {
        let (world, url) = synced();
        let (fungal, hub) = (world.path("fungal"), world.path("hub.git"));
        if lost == "everything" {
            for entry in hub.join("objects").read_dir().unwrap().map(|entry| entry.unwrap().path()) {
                fs::remove_dir_all(&entry).unwrap();
                fs::create_dir(&entry).unwrap();
            }
        } else {
            let id = world.line(&hub, &["rev-parse", &format!("{DOMAIN_REF}{lost}")]);
            lose(&world, &hub, &id);
        }
        // Another machine cannot join, and is told why.
        let other = world.on("second").repo("access");
        let refused = world.blue(&other, &["init", "--url", &url]).exits(128);
        assert!(
            !refused.stderr.contains("tries again") || lost.is_empty() || lost == "everything",
            "{lost:?}: {refused}"
        );
        world.on("home");
        let mended = world.blue(&fungal, &["realm", "admin", "reseed"]).exits(0);
        assert!(mended.stdout.contains("restored") && mended.stdout.contains("domains/s3-access"), "{mended}");
        assert!(is_clean(&world, &hub), "{lost:?}");
        assert_eq!(world.line(&hub, &["rev-parse", DOMAIN_REF]), world.tip(DOMAIN_REF));
        let again = world.ok(&fungal, &["realm", "admin", "reseed"]);
        assert!(again.stdout.contains("already up to date"), "{again}");
        world.ok(&fungal, &["sync"]);
        world.on("second").ok(&other, &["init", "--url", &url]);
    }
}

/// A copy that lacks an object has all refs, so a sync has nothing to send.
#[test]
fn realm_that_moves_to_a_damaged_copy_repairs_it() {
    let (world, _) = synced();
    let (fungal, copy) = (world.path("fungal"), world.path("copy.git"));
    world.git(&world.root(), &["clone", "--quiet", "--mirror", "--no-local", "hub.git", "copy.git"]);
    let id = world.line(&copy, &["rev-parse", &format!("{DOMAIN_REF}^{{tree}}")]);
    lose(&world, &copy, &id);
    let url = copy.display().to_string();
    let moved = world.ok(&fungal, &["realm", "admin", "reseed", "--url", &url]);
    assert!(moved.stdout.contains("restored") && moved.stdout.contains("domains/s3-access"), "{moved}");
    assert!(is_clean(&world, &copy));
}

#[test]
fn sync_reports_a_damaged_hub() {
    let (world, url) = synced();
    let (fungal, hub) = (world.path("fungal"), world.path("hub.git"));
    let other = world.on("second").repo("access");
    world.ok(&other, &["init", "--url", &url]);
    world.on("home").bump("1.1.0");
    world.ok(&fungal, &["sync"]);
    let blob = world.line(&hub, &["rev-parse", &format!("{DOMAIN_REF}:contracts/s3-permissions.json")]);
    lose(&world, &hub, &blob);
    let sync = world.on("second").blue(&other, &["sync"]).exits(128);
    assert!(sync.stderr.contains("lacks objects of domains/s3-access"), "{sync}");
    assert!(sync.stderr.contains("git blue realm admin reseed") && !sync.stderr.contains("tries again"), "{sync}");
    // This clone lacks the commit, so it deletes nothing there.
    let refused = world.blue(&other, &["realm", "admin", "reseed"]).exits(1);
    assert!(refused.stdout.contains("run this in the clone that pushed it"), "{refused}");
    world.on("home").ok(&fungal, &["realm", "admin", "reseed"]);
    world.on("second").ok(&other, &["sync"]);
}

#[test]
fn hub_that_refuses_deletion_is_replaced() {
    let (world, url) = synced();
    let (fungal, old) = (world.path("fungal"), world.path("hub.git"));
    let other = world.on("second").repo("access");
    world.ok(&other, &["init", "--url", &url]);
    world.on("home");
    let hook = old.join("hooks/update");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\ncase $3 in *[!0]*) ;; *) exit 1 ;; esac\n").unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    lose(&world, &old, &world.line(&old, &["rev-parse", &format!("{DOMAIN_REF}^{{tree}}")]));
    let refused = world.blue(&fungal, &["realm", "admin", "reseed"]).exits(1);
    assert!(refused.stdout.contains("refuses to delete it") && refused.stdout.contains("--url"), "{refused}");
    let new = world.bare("new.git");
    let moved = world.ok(&fungal, &["realm", "admin", "reseed", "--url", &new]);
    assert!(!moved.stdout.contains("problem"), "{moved}");
    assert!(is_clean(&world, &world.path("new.git")));
    world.bump("1.1.0");
    world.ok(&fungal, &["sync", "--realm", REALM]);
    world.on("second").ok(&other, &["realm", "admin", "reseed", "--url", &new]);
    assert_eq!(world.line(&world.path("new.git"), &["rev-parse", DOMAIN_REF]), world.tip(DOMAIN_REF));
    assert_eq!(world.version(), "1.1.0");
}

#[test]
fn fetch_is_limited_in_size() {
    let (world, url) = synced();
    let hub = world.path("hub.git");
    // The data cannot be reduced.
    let mut state = 1_u64;
    let bytes: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    })
    .take(400_000)
    .collect();
    fs::write(world.path("noise"), bytes).unwrap();
    let blob = world.line(&hub, &["hash-object", "-w", world.path("noise").to_str().unwrap()]);
    let tree = world.feed("git", &hub, &["mktree"], &format!("100644 blob {blob}\tnoise\n")).stdout;
    let commit = world.line(&hub, &["commit-tree", "-m", "much", tree.trim()]);
    world.git(&hub, &["update-ref", "refs/blue/domains/much", &commit]);
    world.git(&world.root(), &["config", "--file", "home/gitconfig", "blue.maxFetchSize", "100k"]);
    let fungal = world.path("fungal");
    let cut = world.blue(&fungal, &["sync"]).exits(128);
    assert!(cut.stderr.contains("sent more than 100 KiB") && cut.stderr.contains("blue.maxFetchSize"), "{cut}");
    let objects = world.store().join("objects");
    let names = objects.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(names.into_iter().all(|name| !name.starts_with("incoming-")), "nothing of it is kept");
    assert!(world.try_git(&world.store(), &["cat-file", "-e", &blob]).code != 0);
    let other = world.on("second").repo("access");
    world.blue(&other, &["init", "--url", &url]).exits(128);
    // With a higher limit, it is inspected, and refused for its content.
    world.git(&world.root(), &["config", "--file", "home/gitconfig", "blue.maxFetchSize", "1m"]);
    let unfit = world.on("home").blue(&fungal, &["sync"]).exits(1);
    assert!(unfit.stdout.contains("noise"), "{unfit}");
}

#[test]
fn write_reports_the_lock_it_waits_for() {
    let world = World::pair();
    let fungal = world.path("fungal");
    let lock = world.store().join("packed-refs.lock");
    fs::write(&lock, "").unwrap();
    let args = ["realm", "admin", "contract", "--domain", "s3-access", "--name", "one", "--owner", "fungal"];
    let patience = [("GIT_BLUE_LOCK_TIMEOUT_MS", OsStr::new("2500"))];
    let run = world.blue_with(&fungal, &args, &patience).exits(128);
    let said = format!("git blue: waiting for {}, held by another git process\n", lock.display());
    assert_eq!(run.stderr.matches(&said).count(), 1, "{run}");
    assert!(run.stderr.contains(&format!("git process is running there, remove {}\n", lock.display())), "{run}");
    let run = world.blue_with(&fungal, &[&args[..], &["--quiet"]].concat(), &patience).exits(128);
    assert!(!run.stderr.contains("waiting"), "{run}");
    assert!(lock.exists());
    // A hook prints at most one line, and does not wait.
    let commit = world.bump("1.1.0");
    assert!(!commit.stderr.contains("waiting") && commit.stderr.lines().count() <= 1, "{commit:?}");
    fs::remove_file(lock).unwrap();
    world.ok(&fungal, &args);
}

#[test]
fn status_works_without_recording() {
    let world = World::pair();
    let access = world.path("access");
    world.bump("1.1.0");
    let locks = world.store().join("blue/locks");
    fs::remove_dir_all(&locks).unwrap();
    // No lock file can be created here, not even by root.
    fs::write(&locks, "").unwrap();
    let status = world.blue(&access, &["status"]).exits(0);
    assert!(status.stdout.contains("1.1.0") && status.stderr.contains("cannot record"), "{status}");
}

#[test]
fn readable_store_is_reported_and_closed() {
    let world = World::solo();
    let fungal = world.path("fungal");
    let mode = || fs::metadata(world.store()).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o700);
    fs::set_permissions(world.store(), fs::Permissions::from_mode(0o755)).unwrap();
    let found = world.ok(&fungal, &["doctor"]);
    assert!(found.stdout.contains("other users of this machine can read"), "{found}");
    assert_eq!(mode(), 0o755);
    world.ok(&fungal, &["doctor", "--fix"]);
    assert_eq!(mode(), 0o700);
}

#[test]
fn all_local_git_versions_sync_and_pack_the_store() {
    for git in crate::world::gits() {
        let world = World::solo_with(&git);
        let url = world.hub();
        let fungal = world.path("fungal");
        world.ok(&fungal, &["init", "--url", &url]);
        world.ok(&fungal, &["sync"]);
        let other = world.on("second").repo("access");
        world.ok(&other, &["init", "--url", &url]);
        world.on("home");
        world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0"));
        world.commit("fungal", "More");
        world.ok(&fungal, &["sync"]);
        world.on("second").ok(&other, &["sync"]);
        assert_eq!(world.line(&world.store(), &["config", "extensions.preciousObjects"]), "true");
        world.ok(&other, &["gc"]);
        assert_eq!(world.version(), "1.1.0");
        assert!(is_clean(&world, &world.store()), "{git:?}");
    }
}

#[test]
fn object_that_the_code_repository_lost_is_not_looked_for_in_the_store() {
    let world = World::solo();
    let fungal = world.path("fungal");
    let blob = world.line(&fungal, &["rev-parse", &format!("HEAD:{CONTRACT_FILE}")]);
    let tree = world.line(&fungal, &["rev-parse", "HEAD:.blue"]);
    for id in [blob, tree] {
        let object = world.path("fungal/.git/objects").join(&id[..2]).join(&id[2..]);
        let aside = world.path("aside");
        fs::rename(&object, &aside).unwrap();
        let check = world.blue(&fungal, &["check"]).exits(128);
        assert!(check.stderr.contains(&id) && !check.stderr.contains("partial clone"), "{check}");
        let step = world.next_step(&check);
        assert!(step.contains(" fsck  # "), "{check}");
        assert!(world.finish_shell(&fungal, &step).all().contains(&id));
        fs::rename(&aside, &object).unwrap();
    }
}

/// A clone that was made with `--shared` has no objects of its own.
#[test]
fn clone_that_lost_the_repository_it_borrows_from_is_no_other_repository() {
    let world = World::solo();
    world.git(&world.root(), &["clone", "--quiet", "--shared", "fungal", "shared"]);
    let shared = world.path("shared");
    world.ok(&shared, &["init"]);
    fs::rename(world.path("fungal"), world.path("elsewhere")).unwrap();
    let problem = format!("this clone borrows objects from {}", world.path("fungal/.git/objects").display());
    for (args, code) in [(&["status"][..], 128), (&["doctor"], 1), (&["contract", "publish"], 128)] {
        let run = world.blue(&shared, args).exits(code);
        assert!(run.all().contains(&problem), "{run}");
        assert!(run.all().contains(".git/objects/info/alternates; otherwise clone again"), "{run}");
        assert!(!run.all().contains("another repository"), "{run}");
    }
}
