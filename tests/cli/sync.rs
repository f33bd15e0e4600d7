//! Several machines, each with its own home, that share a realm through a git repository.

use std::path::PathBuf;

use serde_json::json;

use crate::{
    receiver::deaf_address,
    world::{BINDING_FILE, CONTRACT_FILE, DOMAIN_REF, REALM, World, contract, importing, snapshot},
};

/// A realm that the machine `home` shares at a bare repository, with `fungal`, which has published s3-permissions
/// 1.0.0.
pub fn shared() -> (World, String) {
    let world = World::solo();
    let hub = world.hub();
    world.ok(&world.path("fungal"), &["init", "--url", &hub]);
    (world, hub)
}

/// 1 means that a part was synced.
#[test]
fn sync_of_a_realm_that_is_not_shared_cannot_run() {
    let world = World::solo();
    let sync = world.blue(&world.path("fungal"), &["sync"]).exits(128);
    assert!(sync.stderr.contains("this realm has no remote"), "{sync}");
}

/// A second machine with a clone of `access`, a consumer, which joins by URL.
pub fn second(world: &World, hub: &str) -> PathBuf {
    world.on("second").repo("access");
    let access = world.path("access");
    world.ok(&access, &["init", "--url", hub]);
    world.ok(&access, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "access"]);
    world.write("access/cdk/access_stack.py", "# uses s3-permissions\n");
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0, <2.0.0"));
    world.commit("access", "Read from the masks");
    world.ok(&access, &["sync"]);
    world.ok(&access, &["status"]);
    access
}

/// Clones `fungal` to another machine, at the same commit.
pub fn clone(world: &World, home: &'static str, hub: &str) -> PathBuf {
    world.on(home);
    let name = format!("fungal-{home}");
    world.git(&world.root(), &["clone", "--quiet", "fungal", &name]);
    let path = world.path(&name);
    world.git(&path, &["remote", "remove", "origin"]);
    world.ok(&path, &["init", "--url", hub]);
    path
}

pub fn tips(world: &World, home: &'static str) -> String {
    world.on(home);
    world
        .git(
            &world.store(),
            &["for-each-ref", "--format=%(refname) %(objectname)", "refs/blue/realm", "refs/blue/domains"],
        )
        .stdout
}

pub(crate) fn hub_tips(world: &World) -> String {
    world.git(&world.path("hub.git"), &["for-each-ref", "--format=%(refname) %(objectname)"]).stdout
}

#[test]
fn second_machine_joins_by_url_and_exchanges_changes() {
    let (world, hub) = shared();
    let access = second(&world, &hub);
    let fungal = world.path("fungal");

    world.on("home").bump("1.1.0");
    let went = world.ok(&fungal, &["sync"]);
    world.on("second");
    let came = world.ok(&access, &["sync"]);
    let status = world.ok(&access, &["status"]);
    let nothing = world.ok(&access, &["sync"]);
    snapshot("sync_two_machines", &[&went, &came, &status, &nothing]);

    assert_eq!(tips(&world, "home"), tips(&world, "second"));
    assert_eq!(tips(&world, "home"), hub_tips(&world), "nothing else is there");
    let clean = world.git(&world.path("hub.git"), &["fsck", "--strict"]);
    assert_eq!(clean.stdout.trim(), "");
}

#[test]
fn sync_counts_all_changes() {
    let (world, hub) = shared();
    let access = second(&world, &hub);
    for n in 0..25 {
        let text = contract("1.0.0").replace("s3-permissions", &format!("c{n}"));
        world.write(&format!("fungal/.blue/contracts/s3-access/c{n}.yaml"), &text);
    }
    world.on("home").commit("fungal", "Many");
    world.ok(&world.path("fungal"), &["sync"]);
    let came = world.on("second").ok(&access, &["sync"]);
    assert!(came.stdout.contains("25 changes you have not seen"), "{came}");
    assert!(came.stdout.contains("and 5 more: git blue notifications list --state pending"), "{came}");
}

#[test]
fn concurrent_changes_are_merged_and_converge() {
    let (world, hub) = shared();
    let access = second(&world, &hub);
    let fungal = world.path("fungal");
    // Concurrently: a version here, a binding there.
    world.on("home").bump("1.1.0");
    world.on("second").write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0, <3.0.0"));
    world.commit("access", "Accept more");
    world.ok(&access, &["sync"]);
    let merged = world.on("home").ok(&fungal, &["sync"]);
    assert!(merged.stdout.contains("merged with local changes"), "{merged:?}");
    world.on("second").ok(&access, &["sync"]);
    assert_eq!(tips(&world, "home"), tips(&world, "second"));
    assert_eq!(world.version(), "1.1.0");
    assert_eq!(world.stored("bindings/access.json")["imports"][0]["version"], ">=1.0.0, <3.0.0");
    let parents = world.line(&world.store(), &["log", "--merges", "--format=%s", DOMAIN_REF]);
    assert_eq!(parents, "merge domains/s3-access from origin");
    world.git(&world.store(), &["fsck", "--strict"]);
}

/// A machine retires the contract while another one publishes a version.
#[test]
fn change_is_notified_with_its_own_author() {
    let (world, hub) = shared();
    let access = second(&world, &hub);
    let other = clone(&world, "third", &hub);
    world.git(&other, &["config", "user.name", "Eve"]);
    world.git(&other, &["config", "user.email", "eve@example.com"]);
    let fungal = world.path("fungal");
    let retire = ["contract", "retire", "s3-access/s3-permissions", "--reason", "old", "--force"];
    world.on("home").ok(&fungal, &retire);
    world.on("third").write(&format!("fungal-third/{CONTRACT_FILE}"), &contract("1.1.0"));
    world.commit("fungal-third", "Paths 1.1.0");
    for (home, path) in [("home", &fungal), ("third", &other), ("second", &access)] {
        world.on(home).ok(path, &["sync"]);
    }
    let list = world.json(&access, &["notifications", "list"]);
    let told = &list["notifications"][0];
    assert_eq!((&told["type"], &told["also"]), (&json!("contract_retired"), &json!(["VersionChanged"])), "{list}");
    assert_eq!(told["author"], "Ada <ada@example.com>", "{list}");
}

#[test]
fn dry_run_changes_nothing() {
    let (world, hub) = shared();
    let access = second(&world, &hub);
    let fungal = world.path("fungal");
    world.on("home").ok(&fungal, &["sync"]);
    world.bump("1.1.0");
    let before = (tips(&world, "home"), hub_tips(&world));
    let answer = world.on("home").json(&fungal, &["sync", "--dry-run"]);
    assert_eq!(answer["dry_run"], true);
    assert_eq!(answer["remotes"][0]["sent"][0]["domain"], "s3-access", "{answer}");
    assert_eq!((tips(&world, "home"), hub_tips(&world)), before);
    world.on("home").ok(&fungal, &["sync"]);
    let answer = world.on("second").json(&access, &["sync", "--dry-run"]);
    assert_eq!(answer["remotes"][0]["received"][0]["update"], "fast-forward", "{answer}");
}

#[test]
fn unreachable_remote_is_reported_and_nothing_lost() {
    let (world, _) = shared();
    let fungal = world.path("fungal");
    world.bump("1.1.0");
    std::fs::rename(world.path("hub.git"), world.path("gone.git")).unwrap();
    let offline = world.blue(&fungal, &["sync"]).exits(128);
    assert_eq!(world.version(), "1.1.0");
    let status = world.ok(&fungal, &["status"]);
    snapshot("sync_offline", &[&offline, &status]);
    std::fs::rename(world.path("gone.git"), world.path("hub.git")).unwrap();
    world.ok(&fungal, &["sync"]);
    assert_eq!(tips(&world, "home"), hub_tips(&world));
}

#[test]
fn refused_url_does_not_stop_the_other_remotes() {
    let (world, _) = shared();
    world.git(&world.store(), &["remote", "add", "bad", "ext::sh -c true"]);
    world.bump("1.1.0");
    let answer = world.json(&world.path("fungal"), &["sync"]);
    let of = |name: &str| answer["remotes"].as_array().unwrap().iter().find(|one| one["remote"] == *name).unwrap();
    assert_eq!(of("origin")["problems"], json!([]), "{answer}");
    assert_ne!(of("origin")["sent"], json!([]), "{answer}");
    assert_eq!(of("bad")["problems"][0]["code"], "usage", "{answer}");
    assert_eq!(world.blue(&world.path("fungal"), &["sync"]).code, 1);
}

#[test]
fn rewound_remote_is_reported_and_restored() {
    let (world, hub) = shared();
    let access = second(&world, &hub);
    let fungal = world.path("fungal");
    world.on("home").ok(&fungal, &["sync"]);
    world.bump("1.1.0");
    world.ok(&fungal, &["sync"]);
    let hub = world.path("hub.git");
    world.git(&hub, &["update-ref", DOMAIN_REF, &format!("{DOMAIN_REF}~1")]);
    let answer = world.json(&fungal, &["sync"]);
    assert_eq!(answer["remotes"][0]["rewound"][0]["update"], "rewound", "{answer}");
    assert_eq!(tips(&world, "home"), hub_tips(&world));
    world.git(&hub, &["update-ref", "-d", DOMAIN_REF]);
    let answer = world.json(&fungal, &["sync"]);
    assert_eq!(answer["remotes"][0]["rewound"][0]["update"], "deleted", "{answer}");
    assert_eq!(tips(&world, "home"), hub_tips(&world));
    world.on("second").ok(&access, &["sync"]);
    assert_eq!(tips(&world, "second"), hub_tips(&world));
}

#[test]
fn another_realm_at_the_url_is_refused() {
    let (world, hub) = shared();
    world.on("second").repo("else");
    let other = world.path("else");
    let refused = world.blue(&other, &["init", "--realm", "other", "--url", &hub]).exits(1);
    assert!(refused.stderr.contains("contains the realm aperture, not other"), "{refused:?}");
    assert!(!world.path("second/blue/realms/other.git").exists());
    // Without a name, the realm that is found is used.
    let joined = world.ok(&other, &["init", "--url", &hub]);
    assert!(joined.stdout.contains(REALM), "{joined:?}");
}

#[test]
fn url_without_a_realm_needs_a_name() {
    let world = World::new();
    let hub = world.hub();
    let repo = world.repo("fungal");
    let run = world.blue(&repo, &["init", "--url", &hub]).exits(129);
    assert!(run.stderr.contains("--realm …"), "{run:?}");
    world.ok(&repo, &["init", "--realm", REALM, "--url", &hub]);
    assert_eq!(tips(&world, "home"), hub_tips(&world), "it went there at once");
}

#[test]
fn branches_only_remote_gets_branches() {
    let world = World::new();
    let hub_url = world.hub();
    let hook = "#!/bin/sh\ncase $1 in refs/heads/*) ;; *) echo 'only branches here'; exit 1;; esac\n";
    world.script("hub.git/hooks/update", hook);
    let repo = world.repo("fungal");
    let offered = world.blue(&repo, &["init", "--realm", REALM, "--url", &hub_url]).exits(1);
    assert!(offered.all().contains("join aperture --branches"), "{offered:?}");
    assert_eq!(hub_tips(&world), "");
    world.ok(&repo, &["realm", "admin", "join", REALM, "--branches"]);
    assert!(hub_tips(&world).starts_with("refs/heads/blue/realm "), "{}", hub_tips(&world));
    // The next machine detects them.
    world.on("second").repo("access");
    let access = world.path("access");
    world.ok(&access, &["init", "--url", &hub_url]);
    world.ok(&access, &["sync"]);
    world.on("home").ok(&repo, &["sync"]);
    assert_eq!(tips(&world, "home"), tips(&world, "second"));
}

#[test]
fn code_repository_or_another_store_carries_the_realm() {
    let (world, _) = shared();
    // The store of the first machine is the remote of the second.
    let store = world.store().display().to_string();
    world.on("second").repo("access");
    let access = world.path("access");
    world.ok(&access, &["init", "--url", &store]);
    world.ok(&access, &["sync"]);
    assert_eq!(tips(&world, "home"), tips(&world, "second"));
    let hidden = world.git(&world.store(), &["ls-remote", &store]).stdout;
    assert!(!hidden.contains("refs/blue/local"), "{hidden}");
    // A code repository with a working tree is the remote of the third.
    let code = world.repo("carrier").display().to_string();
    world.on("home").git(&world.store(), &["remote", "add", "carrier", &code]);
    world.ok(&world.path("fungal"), &["sync", "--remote", "carrier"]);
    world.on("third").repo("third-repo");
    world.ok(&world.path("third-repo"), &["init", "--url", &format!("file://{code}")]);
    assert_eq!(world.line(&world.path("carrier"), &["status", "--porcelain"]), "");
    assert!(world.line(&world.path("carrier"), &["log", "--format=%s", "refs/blue/realm"]).contains("third-repo"));
}

#[test]
fn ci_checks_against_a_realm_by_url() {
    let (world, hub) = shared();
    let access = second(&world, &hub);
    let clone = |name: &str| {
        world.git(&world.root(), &["clone", "--quiet", "--depth=1", &format!("file://{}", access.display()), name]);
        world.path(name)
    };
    let runner = world.on("runner").path("access");
    assert!(runner.is_dir());
    let runner = clone("access-ci");
    let url = format!("file://{hub}");
    let good = world.ok(&runner, &["check", "--realm-url", &url]);
    assert!(!world.path("runner/blue").exists(), "nothing is recorded");
    let mut homeless = world.command("git-blue", &runner);
    homeless.args(["check", "--realm-url", &url]).env_remove("HOME").env_remove("GIT_BLUE_HOME");
    world.finish(homeless, "check").exits(0);
    world.write(&format!("access-ci/{BINDING_FILE}"), &importing(">=2.0.0"));
    let bad = world.blue(&runner, &["check", "--worktree", "--realm-path", &hub]).exits(1);
    snapshot("sync_ci", &[&good, &bad]);
    world.blue(&runner, &["check"]).exits(128);
    let nothing = world.blue(&runner, &["check", "--realm-url", &runner.display().to_string()]).exits(128);
    assert!(nothing.stderr.contains("contains no realm"), "{nothing:?}");
    let unreachable = world.blue(&runner, &["check", "--realm-url", "./nowhere.git"]).exits(128);
    assert!(unreachable.stderr.contains(" ls-remote "));
    let url = format!("https://{}/realm.git", deaf_address());
    let elsewhere = world.blue(&runner, &["check", "--realm-url", &url]).exits(128);
    assert!(elsewhere.stderr.contains(&format!("hint: git -C / ls-remote {url}  # must work there")), "{elsewhere}");
    assert!(!unreachable.stderr.contains("git blue sync"), "a runner has nothing to sync: {unreachable}");
    world.blue(&runner, &["check", "--realm-url", "ext::sh -c id"]).exits(129);
}

#[test]
fn sessions_are_shared_only_if_configured() {
    let (world, hub) = shared();
    let access = second(&world, &hub);
    world.ok(&access, &["session", "start"]);
    world.ok(&access, &["sync"]);
    assert!(!hub_tips(&world).contains("sessions"));
    let config = world.path("home/gitconfig").display().to_string();
    world.git(&world.root(), &["config", "--file", &config, "blue.shareSessions", "true"]);
    world.ok(&access, &["sync"]);
    assert!(hub_tips(&world).contains("refs/blue/sessions/access"));
    let fungal = world.on("home").path("fungal");
    world.ok(&fungal, &["sync"]);
    assert_eq!(world.json(&fungal, &["session", "list"])["sessions"][0]["repo"], "access");
    // It ends there, and is over here too.
    world.on("second").ok(&access, &["session", "stop"]);
    world.ok(&access, &["sync"]);
    world.on("home").ok(&fungal, &["sync"]);
    let left = world.json(&fungal, &["session", "list"]);
    assert!(left["sessions"].as_array().unwrap().iter().all(|one| one["state"] == "ended"), "{left}");
}
