//! Manual pages and completions, `gc` and `doctor`.

use std::{
    ffi::OsStr,
    path::Path,
    time::{Duration, SystemTime},
};

use super::{
    wait::eventually,
    world::{DOMAIN_REF, World},
};

#[test]
fn install_man_writes_the_pages() {
    let world = World::new();
    let prefix = world.path("prefix").display().to_string();
    let answer = world.json(&world.root(), &["install", "man", "--prefix", &prefix]);
    let files: Vec<_> = answer["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap()).collect();
    for page in ["git-blue.1", "git-blue-status.1", "git-blue-realm-admin-domain.1", "git-blue-doctor.1"] {
        assert!(files.iter().any(|file| file.ends_with(&format!("/man1/{page}"))), "{page} is not in {files:?}");
    }
    let page = world.read("prefix/share/man/man1/git-blue-realm-check.1");
    assert!(page.contains("git blue realm check") && page.contains("Also fail on warnings"), "{page}");
    assert!(page.contains("\\fB\\-\\-base\\fR \\fIREF\\fR"), "the synopsis names values: {page}");
    for heading in ["EXAMPLES", "EXIT STATUS", "ENVIRONMENT", "FILES", "SEE ALSO"] {
        assert!(page.contains(&format!(".SH {heading}\n")), "{heading}: {page}");
    }
    assert!(!files.iter().any(|file| file.ends_with("git-blue-hook.1")), "plumbing has no page");
    let said = world.ok(&world.root(), &["install", "man", "--prefix", &prefix]).stdout;
    assert_eq!(said.trim_end(), format!("wrote {} files in {prefix}/share/man/man1", files.len()));
}

/// The stores of the realms are still there.
#[test]
fn lost_or_damaged_records_of_the_realms_can_be_made_again() {
    let world = World::pair();
    let access = world.path("access");
    for damage in [None, Some("[blue]\n\tx = y\n[[[\n")] {
        let config = world.path("home/blue/config");
        match damage {
            None => std::fs::remove_file(&config).unwrap(),
            Some(text) => world.write("home/blue/config", text),
        }
        let failed = world.blue(&access, &["status"]).exits(128);
        let doctor = world.blue(&access, &["doctor"]).exits(1);
        if damage.is_some() {
            let place = format!("{}:3: this is not in the format", config.display());
            assert!(failed.stderr.contains(&place) && doctor.stdout.contains(&place), "{failed}{doctor}");
            assert!(world.next_steps(&doctor).contains(&world.next_step(&failed)), "{doctor}");
            world.finish_shell(&access, &world.next_step(&failed)).exits(0);
        }
        let init = world.next_step(&world.blue(&access, &["status"]).exits(128));
        assert!(init.starts_with("git blue init --realm aperture  # use its store"), "{init}");
        let steps = world.next_steps(&world.blue(&access, &["status"]).exits(128));
        assert_eq!(steps.iter().filter(|step| step.contains("--realm aperture")).count(), 1, "{steps:?}");
        let asked = world.blue(&access, &["mcp", "test-tool", "realm_status"]);
        assert!(asked.all().contains("git blue init --realm aperture"), "{asked}");
        world.finish_shell(&access, &init).exits(0);
        let status = world.ok(&access, &["status"]);
        assert!(status.stdout.contains("1 import holds"), "{status}");
    }
}

#[test]
fn damaged_record_of_a_clone_is_reported_and_written_again() {
    let world = World::solo();
    let fungal = world.path("fungal");
    let records = world.path("home/blue/joined");
    let record = records.read_dir().unwrap().next().unwrap().unwrap().path();
    std::fs::write(&record, [0xff, 0xfe, 0]).unwrap();
    let doctor = world.ok(&fungal, &["doctor"]);
    assert!(doctor.stdout.contains("this clone is read-only: its record in "), "{doctor}");
    world.blue(&fungal, &["check"]).exits(0);
    world.finish_shell(&fungal, "git blue init  # record it again").exits(0);
    assert!(!world.ok(&fungal, &["doctor"]).stdout.contains("read-only"));
    world.bump("1.1.0");
    assert_eq!(world.version(), "1.1.0");
}

#[test]
fn doctor_lists_what_it_cannot_check() {
    let world = World::solo();
    let records = world.path("home/blue/joined");
    std::fs::rename(&records, world.path("aside")).unwrap();
    std::fs::write(&records, "").unwrap();
    let doctor = world.blue(&world.path("fungal"), &["doctor"]).exits(1);
    assert!(doctor.stdout.contains("error    clone     fungal    cannot read "), "{doctor}");
    assert!(doctor.stdout.contains("hooks     fungal"), "the rest is checked: {doctor}");
}

/// The repository's configuration names the URL, which the store knows too.
#[test]
fn lost_record_of_a_shared_realm_can_be_made_again() {
    let (world, hub) = crate::sync::shared();
    let fungal = world.path("fungal");
    let config = world.path("home/blue/config");
    std::fs::remove_file(&config).unwrap();
    let init = world.next_step(&world.blue(&fungal, &["status"]).exits(128));
    assert!(init.starts_with("git blue init --realm aperture  # use its store"), "{init}");
    world.finish_shell(&fungal, &init).exits(0);
    let url = world.line(&fungal, &["config", "--file", "../home/blue/config", "blue.realm.aperture.url"]);
    assert_eq!(url, hub);
    world.ok(&fungal, &["sync"]);
}

#[test]
fn doctor_asks_man_for_the_manual() {
    let world = World::pair();
    let fungal = world.path("fungal");
    let pages = world.path("home/.local/share/man").display().to_string();
    let man = |vars: &[(&str, &OsStr)]| {
        let doctor = world.blue_with(&fungal, &["doctor", "--json"], vars).json();
        doctor["checks"].as_array().unwrap().iter().find(|check| check["name"] == "man").unwrap().clone()
    };
    assert_eq!(man(&[])["next_step"]["command"], "git blue install man");
    world.script("bin/man", "exit 16");
    let installed = world.ok(&fungal, &["install", "man"]);
    let step = format!("export MANPATH={pages}:  # in the profile of your shell");
    assert!(installed.stdout.contains(&step), "{installed}");
    let lost = man(&[]);
    assert_eq!(lost["message"], format!("git blue --help does not work: man does not search {pages}"));
    assert_eq!(lost["next_step"]["command"], format!("export MANPATH={pages}:"));
    world.script("bin/man", &format!("echo {pages}/man1/git-blue.1"));
    let found = man(&[]);
    assert_eq!((&found["state"], &found["message"]), (&"ok".into(), &format!("{pages}/man1/git-blue.1").into()));
}

#[test]
fn man_pages_and_completions_are_removed_again() {
    let world = World::new();
    let prefix = world.path("prefix").display().to_string();
    let own = "prefix/share/man/man1/git-blue-own.1";
    for (part, left) in [("man", &[own][..]), ("completions", &[])] {
        world.write(own, "of another program");
        let args = |verb: &'static str| [verb, part, "--prefix", &prefix];
        let wrote = world.json(&world.root(), &args("install"));
        let removed = world.json(&world.root(), &args("uninstall"));
        assert_eq!(wrote["files"], removed["files"]);
        assert!(wrote["files"].as_array().unwrap().iter().all(|file| !Path::new(file.as_str().unwrap()).exists()));
        assert!(left.iter().all(|file| world.path(file).exists()));
        assert_eq!(world.ok(&world.root(), &args("uninstall")).stdout, "nothing to remove\n");
    }
}

#[test]
fn gc_packs_the_store_and_changes_no_answer() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.bump("1.1.0");
    let before = world.ok(&fungal, &["contract", "get", "s3-access/s3-permissions"]).stdout;
    // Partial objects: of a writer that was killed long ago, and of one at work.
    let half = |name: &str| world.store().join("objects/17").join(name);
    std::fs::create_dir_all(world.store().join("objects/17")).unwrap();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    std::fs::File::create(half(".tmpOld")).unwrap().set_modified(long_ago).unwrap();
    std::fs::File::create(half(".tmpNew")).unwrap();
    let answer = world.json(&fungal, &["gc"]);
    assert!(!half(".tmpOld").exists() && half(".tmpNew").exists());
    std::fs::remove_file(half(".tmpNew")).unwrap();
    assert!(answer["loose_objects_before"].as_u64().unwrap() > 10, "{answer}");
    // What remains is unreachable for less than two weeks.
    let left = world.git(&world.store(), &["fsck", "--unreachable", "--no-progress"]).stdout;
    assert_eq!(answer["loose_objects_after"], left.lines().count(), "{answer} {left}");
    assert_eq!(world.ok(&fungal, &["contract", "get", "s3-access/s3-permissions"]).stdout, before);
    // A store that has grown little is skipped unless requested.
    world.bump("1.2.0");
    let answer = world.json(&fungal, &["gc", "--auto"]);
    assert_eq!(answer["loose_objects_before"], answer["loose_objects_after"], "{answer}");
}

/// git skips a ref that it cannot read, so its objects would look unreachable.
#[test]
fn gc_removes_nothing_if_a_ref_cannot_be_read() {
    let world = World::pair();
    let ref_file = world.store().join(DOMAIN_REF);
    std::fs::remove_file(&ref_file).unwrap();
    std::os::unix::fs::symlink("s3-access", &ref_file).unwrap();
    let run = world.blue(&world.path("fungal"), &["gc"]).exits(128);
    assert!(run.stderr.contains(&format!("cannot read {}", ref_file.display())), "{run}");
}

#[test]
fn gc_removes_readers_inactive_for_a_month() {
    let world = World::pair();
    let access = world.path("access");
    world.bump("1.1.0");
    world.ok(&access, &["status"]);
    let reader = |name: &str| format!("refs/blue/local/inbox/access/reader/{name}");
    world.git(&world.store(), &["update-ref", &reader("agent"), &reader("cli")]);
    world.pass_days(31);
    let answer = world.json(&access, &["gc"]);
    // Looking leaves no trace if nothing is new, so the person at the command line may have looked every day.
    assert_eq!(answer["forgotten_readers"], serde_json::json!(["access/agent"]), "{answer}");
    assert!(answer["forgotten_notifications"].as_u64().unwrap() > 0, "{answer}");
    // Seen notifications are not shown again.
    let status = world.json(&access, &["status"]);
    assert_eq!(status["notifications"], serde_json::json!([]));
}

#[test]
fn doctor_reports_and_repairs_problems() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.blue(&fungal, &["doctor"]).exits(0);
    // A lock file that no program has held for hours.
    let lock = world.store().join("objects/info/commit-graph.lock");
    std::fs::create_dir_all(lock.parent().unwrap()).unwrap();
    let file = std::fs::File::create(&lock).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)).unwrap();
    let sick = world.blue(&fungal, &["doctor", "--json"]).exits(1).json();
    let of = |answer: &serde_json::Value, name: &str| -> serde_json::Value {
        answer["checks"].as_array().unwrap().iter().find(|check| check["name"] == name).unwrap().clone()
    };
    assert_eq!(of(&sick, "locks")["state"], "error");
    assert!(of(&sick, "locks")["message"].as_str().unwrap().contains("commit-graph.lock"));
    assert!(lock.exists(), "nothing is removed that nobody asked for");
    // A lock file that a program may still hold is not reported as removed.
    let young = world.store().join("packed-refs.lock");
    let file = std::fs::File::create(&young).unwrap();
    file.set_modified(file.metadata().unwrap().modified().unwrap() - Duration::from_secs(600)).unwrap();
    let mended = world.blue(&fungal, &["doctor", "--fix", "--json"]).exits(0).json();
    let locks = |check: &&serde_json::Value| check["name"] == "locks";
    let locks: Vec<_> = mended["checks"].as_array().unwrap().iter().filter(locks).collect();
    assert_eq!((&locks[0]["fixed"], &locks[1]["fixed"]), (&true.into(), &false.into()), "{mended}");
    assert!(!locks[0]["message"].as_str().unwrap().contains("packed-refs.lock"), "{mended}");
    assert_eq!(locks[1]["state"], "warning", "{mended}");
    assert!(!lock.exists() && young.exists());
    std::fs::remove_file(young).unwrap();
    // An unreadable file of the realm.
    world.plant("contracts/s3-permissions.json", "{");
    let sick = world.blue(&fungal, &["doctor", "--json"]).exits(1).json();
    assert!(of(&sick, "files")["message"].as_str().unwrap().contains("contracts/s3-permissions.json"), "{sick}");
    assert_eq!(of(&sick, "objects")["state"], "ok");
}

/// A limit on the size of files stands for a full disk: an empty file can be created, but not written.
#[test]
fn doctor_notices_that_nothing_can_be_written() {
    let world = World::solo();
    let line = "trap '' XFSZ; ulimit -f 0; git-blue doctor";
    let run = world.finish_shell(&world.path("fungal"), line).exits(1);
    assert!(run.stdout.contains("error    home") && run.stdout.contains("cannot be written: "), "{run}");
}

#[test]
fn doctor_notices_that_a_store_cannot_be_written() {
    let world = World::solo();
    let locks = world.store().join("blue/locks");
    std::fs::remove_dir_all(&locks).unwrap();
    // No lock file can be created here, not even by root.
    std::fs::write(&locks, "").unwrap();
    let doctor = world.blue(&world.path("fungal"), &["doctor"]).exits(1);
    assert!(doctor.stdout.contains("the realm can be read, but not written: "), "{doctor}");
}

/// A sync refuses to push them.
#[test]
fn doctor_reads_old_versions_and_stray_files() {
    for path in ["versions/s3-permissions/0.9.0.json", "approvals/s3-permissions/0123456789ab.json", "stray"] {
        let world = World::pair();
        world.plant(path, "{ oops");
        let doctor = world.blue(&world.path("fungal"), &["doctor"]).exits(1);
        assert_eq!(doctor.stdout.matches(&format!("{DOMAIN_REF}:{path}: ")).count(), 1, "{doctor}");
    }
}

#[test]
fn doctor_names_repositories_that_the_realm_lost() {
    let world = World::pair();
    let doctor = || world.ok(&world.path("fungal"), &["doctor"]).stdout;
    assert!(!doctor().contains("members"));
    let first = world.line(&world.store(), &["rev-list", "--max-parents=0", "refs/blue/realm"]);
    world.git(&world.store(), &["update-ref", "refs/blue/realm", &first]);
    let found = doctor();
    assert!(found.contains("not in the realm, although domains name them: access, fungal"), "{found}");
    assert!(found.contains("git blue init --realm aperture  # in each one that should take part"), "{found}");
    for repo in ["access", "fungal"] {
        world.ok(&world.path(repo), &["init", "--realm", "aperture"]);
    }
    assert!(!doctor().contains("members"));
}

#[test]
fn doctor_reports_a_damaged_object_and_a_missing_realm() {
    let world = World::pair();
    let fungal = world.path("fungal");
    let tip = world.tip("refs/blue/domains/s3-access");
    crate::missing_objects::unpack(&world, &world.store());
    let object = world.store().join("objects").join(&tip[..2]).join(&tip[2..]);
    let mut permissions = object.metadata().unwrap().permissions();
    #[expect(clippy::permissions_set_readonly_false, reason = "a file of the test's own")]
    permissions.set_readonly(false);
    std::fs::set_permissions(&object, permissions).unwrap();
    std::fs::write(&object, "torn").unwrap();
    let sick = world.blue(&fungal, &["doctor"]).exits(1);
    assert!(sick.stdout.contains(&tip), "{sick:?}");
    std::fs::remove_dir_all(world.store()).unwrap();
    let sick = world.blue(&world.root(), &["doctor"]).exits(1);
    assert!(sick.stdout.contains("the store of the realm aperture is missing"), "{sick:?}");
}

/// Packing is started by a write and runs in the background, so this waits for at most a minute.
#[test]
fn write_with_much_garbage_starts_packing() {
    let world = World::pair();
    let store = world.store();
    // As many loose objects as make git pack automatically (gc.auto).
    let blobs = (0..9_000).map(|n| format!("blob\nmark :{}\ndata {}\n{n}\n", n + 1, n.to_string().len()));
    let files = (0..9_000).map(|n| format!("M 100644 :{} {n}\n", n + 1));
    let commit = "commit refs/heads/many\ncommitter A <a@example.com> 0 +0000\ndata 0\n".to_owned();
    let input: String = blobs.chain([commit]).chain(files).collect();
    let imported = world.feed("git", &store, &["fast-import", "--quiet"], &input);
    assert_eq!(imported.code, 0, "{imported:?}");
    let aside = world.path("aside");
    std::fs::rename(store.join("objects/pack"), &aside).unwrap();
    std::fs::create_dir(store.join("objects/pack")).unwrap();
    for pack in aside.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
        if pack.extension().is_some_and(|extension| extension == "pack") {
            let unpack = format!("git unpack-objects -q < '{}'", pack.display());
            assert!(world.command("sh", &store).args(["-c", &unpack]).status().unwrap().success());
        }
    }
    let loose = || store.join("objects/17").read_dir().map_or(0, Iterator::count);
    assert!(loose() > 26, "{} are too few", loose());
    world.bump("1.1.0");
    eventually("objects are packed", || loose() <= 26);
    world.ok(&world.path("fungal"), &["contract", "get", "s3-access/s3-permissions"]);
}

#[test]
fn cache_can_be_inspected_and_cleared() {
    let world = World::pair();
    let dir = world.path("fungal");
    let stats = |args: &[&str]| world.json(&dir, &[&["realm", "admin", "cache", "stats"], args].concat());
    world.ok(&dir, &["realm", "admin", "cache", "clear"]);
    assert_eq!((stats(&[])["usable"].clone(), stats(&[])["bytes"].clone()), (false.into(), serde_json::Value::Null));
    world.ok(&dir, &["check", "--published", "--advisory"]);
    let kept = stats(&[]);
    assert_eq!(kept["usable"], true, "{kept}");
    assert_eq!([&kept["domains"], &kept["examined"], &kept["contracts"]], [1, 1, 1], "{kept}");
    assert_eq!(stats(&["--no-cache"])["file"], serde_json::Value::Null);
    let freed = world.json(&dir, &["realm", "admin", "cache", "clear"]);
    assert_eq!(freed["freed_bytes"], kept["bytes"]);
    assert_eq!(world.json(&dir, &["realm", "admin", "cache", "clear"])["freed_bytes"], 0);
}

#[test]
fn doctor_reports_a_configuration_that_cannot_be_read() {
    let world = World::pair();
    let fungal = world.path("fungal");
    let config = world.read("fungal/.blue/config.yaml");
    world.write("fungal/.blue/config.yaml", &format!("{config}x: 1\n"));
    let doctor = world.blue(&fungal, &["doctor"]).exits(1);
    assert!(doctor.stdout.contains(".blue/config.yaml:"), "{doctor}");
    // Outside a realm, there is nothing to report.
    let alone = world.repo("alone");
    world.ok(&alone, &["doctor"]);
}
