//! The store is plain git: its log is readable, its diffs are those of the contracts, and fsck finds nothing.

use crate::world::{CONTRACT_FILE, DOMAIN_REF, World, snapshot};

/// Runs every kind of write once.
fn busy() -> World {
    let world = World::pair();
    let (provider, consumer) = (world.path("fungal"), world.path("access"));
    world.bump("1.1.0");
    world.bump("1.2.0-rc.1");
    world.bump("2.0.0");
    world.write("access/.blue/bindings/s3-access.yaml", &crate::world::importing(">=1.0.0, <3.0.0"));
    world.commit("access", "Accept the new paths");
    world.bump("1.1.0");
    world.ok(&provider, &["contract", "publish", "--rollback", "--reason", "2.0.0 lost the masks"]);
    world.ok(&provider, &["contract", "yank", "s3-access/s3-permissions", "2.0.0", "--reason", "it lost the masks"]);
    world.ok(&provider, &["contract", "retire", "s3-access/s3-permissions", "--reason", "moved", "--force"]);
    world.ok(&consumer, &["status"]);
    world
}

#[test]
fn domain_log_is_readable() {
    let world = busy();
    let log = world.git(&world.store(), &["log", "--oneline", DOMAIN_REF]);
    assert!(log.stdout.contains("s3-permissions 1.0.0 -> 1.1.0"), "{log}");
    let full = world.git(&world.store(), &["log", "-3", DOMAIN_REF]);
    assert!(full.stdout.contains("Blue-Repo: fungal"), "{full}");
    snapshot("domain_log", &[&log, &full]);
    let realm = world.git(&world.store(), &["log", "--oneline", "refs/blue/realm"]);
    snapshot("realm_log_in_git", &[&realm]);
}

#[test]
fn diff_between_commits_is_the_changed_contract_files() {
    let world = World::pair();
    let before = world.tip(DOMAIN_REF);
    world.bump("1.1.0");
    let names = world.git(&world.store(), &["diff", "--name-status", &before, DOMAIN_REF]);
    assert_eq!(
        names.stdout,
        "M\tcontracts/s3-permissions.json\nM\tsources/fungal.json\nA\tversions/s3-permissions/1.1.0.json\n"
    );
    let diff = world.git(&world.store(), &["diff", &before, DOMAIN_REF, "--", "contracts"]);
    snapshot("contract_diff_in_git", &[&diff]);
}

#[test]
fn fsck_is_clean_after_all_operations() {
    let world = busy();
    let fsck = world.git(&world.store(), &["fsck", "--strict", "--no-dangling"]);
    // fsck only notes that a store has no branch.
    assert_eq!(fsck.all(), "notice: HEAD points to an unborn branch (main)\n");
    for repo in ["fungal", "access"] {
        assert_eq!(world.git(&world.path(repo), &["fsck", "--strict", "--no-dangling"]).all(), "");
    }
}

#[test]
fn published_version_is_never_changed() {
    let world = busy();
    // A document that was written twice would show as modified, and a lost one as deleted.
    let log = world.git(&world.store(), &["log", "--format=", "--name-status", DOMAIN_REF, "--", "versions"]);
    assert_eq!(log.stdout.lines().count(), 4, "{log}");
    assert!(log.stdout.lines().all(|line| line.starts_with("A\t")), "{log}");
}

#[test]
fn log_commands_agree_with_git_log() {
    let world = busy();
    let provider = world.path("fungal");
    let realm = world.ok(&provider, &["realm", "log"]);
    let contract = world.ok(&provider, &["contract", "log", "s3-access/s3-permissions"]);
    snapshot("logs", &[&realm, &contract]);
    let subjects = world.git(&world.store(), &["log", "--format=%s", DOMAIN_REF]).stdout;
    let answer = world.json(&provider, &["realm", "log", "--domain", "s3-access", "--all"]);
    let ours: Vec<_> = answer["entries"].as_array().unwrap().iter().map(|e| e["subject"].as_str().unwrap()).collect();
    assert_eq!(ours, subjects.lines().collect::<Vec<_>>());
}

#[test]
fn code_repositories_are_never_written() {
    let world = World::pair();
    world.bump("1.1.0");
    for repo in ["fungal", "access"] {
        let path = world.path(repo);
        world.ok(&path, &["status"]);
        assert_eq!(world.git(&path, &["for-each-ref", "--format=%(refname)"]).stdout, "refs/heads/main\n");
        assert_eq!(world.git(&path, &["status", "--porcelain"]).stdout, "");
    }
}

#[test]
fn log_filters_by_time_repository_and_kind() {
    let world = World::pair();
    let (provider, consumer) = (world.path("fungal"), world.path("access"));
    world.pass_days(30);
    world.bump("1.1.0");
    let entries = |args: &[&str]| world.json(&provider, args)["entries"].as_array().unwrap().clone();
    let contract = ["contract", "log", "s3-access/s3-permissions"];
    assert_eq!(entries(&contract).len(), 2);
    let recent = entries(&[&contract[..], &["--since", "1 week ago"]].concat());
    assert!(recent.len() == 1 && recent[0]["subject"].as_str().unwrap().contains("1.1.0"), "{recent:?}");
    let old = entries(&[&contract[..], &["--until", "3w"]].concat());
    assert!(old.len() == 1 && old[0]["subject"].as_str().unwrap().contains("1.0.0"), "{old:?}");
    let day = &recent[0]["time"].as_str().unwrap()[..10];
    assert_eq!(entries(&["realm", "log", "--since", day, "--until", day]), recent);

    let by = |repo: &str| entries(&["realm", "log", "--all", "--repo", repo]);
    assert!(!by("fungal").is_empty() && by("fungal").iter().all(|entry| entry["repo"] == "fungal"));
    // A filtered page continues correctly.
    let first = world.json(&provider, &["realm", "log", "--repo", "fungal", "--limit", "1"]);
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = entries(&["realm", "log", "--repo", "fungal", "--all", "--cursor", cursor]);
    assert_eq!(rest, by("fungal")[1..]);

    let of_kind = |kind: &str| entries(&["realm", "log", "--all", "--kind", kind]);
    let subjects = |kind: &str| -> Vec<String> {
        of_kind(kind).iter().map(|entry| entry["subject"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(subjects("contract_updated"), ["s3-permissions 1.0.0 -> 1.1.0"]);
    assert_eq!(subjects("contract_added"), ["add s3-permissions 1.0.0, bind fungal"]);
    assert_eq!(subjects("binding_added").len(), 2);
    assert_eq!(subjects("binding_removed"), [""; 0]);
    assert_eq!(entries(&[&contract[..], &["--kind", "contract_updated"]].concat()), of_kind("contract_updated"));
    assert_eq!(entries(&[&contract[..], &["--kind", "binding_added"]].concat()), [] as [serde_json::Value; 0]);
    world.blue(&provider, &["realm", "log", "--kind", "contract_update"]).exits(129);

    let list = |args: &[&str]| {
        let answer = world.json(&consumer, &[&["notifications", "list"], args].concat());
        let found = answer["notifications"].as_array().unwrap().clone();
        assert_eq!(answer["total"], found.len());
        found
    };
    assert_eq!(list(&["--kind", "contract_updated", "--repo", "fungal", "--since", "1d"]).len(), 1);
    for nothing in [["--kind", "contract_retired"], ["--repo", "access"], ["--until", "1 week ago"]] {
        assert_eq!(list(&nothing), [] as [serde_json::Value; 0], "{nothing:?}");
    }
    world.blue(&provider, &["realm", "log", "--since", "tomorrow"]).exits(129);
}

#[test]
fn log_filters_by_commit() {
    let world = World::pair();
    let (provider, consumer) = (world.path("fungal"), world.path("access"));
    // One commit is published in two domains.
    let more = crate::world::contract("1.1.0");
    world.ok(&provider, &["realm", "admin", "domain", "--name", "s3-more", "--repos", "fungal,access"]);
    world.write("fungal/.blue/contracts/s3-more/s3-permissions.yaml", &more);
    world.write(&format!("fungal/{}", crate::world::CONTRACT_FILE), &more);
    world.commit("fungal", "In both");
    let both = world.line(&provider, &["rev-parse", "HEAD"]);
    world.bump("1.2.0");
    let entries = |dir: &std::path::Path, command: &[&str], commit: &str| {
        world.json(dir, &[command, &["--all", "--commit", commit]].concat())["entries"].as_array().unwrap().clone()
    };
    let log = entries(&provider, &["realm", "log"], &both);
    let mut domains: Vec<_> = log.iter().map(|entry| entry["domain"].as_str().unwrap()).collect();
    domains.sort_unstable();
    assert_eq!(domains, ["s3-access", "s3-more"]);
    assert!(log.iter().all(|entry| entry["source_commit"] == *both), "{log:?}");
    // By name in its own repository, and by its first digits in others.
    assert_eq!(entries(&provider, &["realm", "log"], "HEAD~1"), log);
    assert_eq!(entries(&consumer, &["realm", "log"], &both[..7].to_uppercase()), log);
    assert_eq!(entries(&consumer, &["contract", "log", "s3-access/s3-permissions"], &both).len(), 1);
    let list = |commit: &str| {
        let answer = world.json(&consumer, &["notifications", "list", "--commit", commit]);
        let of = |one: &serde_json::Value| one["domain"].as_str().unwrap().to_owned();
        answer["notifications"].as_array().unwrap().iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(list(&both), ["s3-more"], "the later version stands for the other domain");
    assert_eq!(list(&world.line(&provider, &["rev-parse", "HEAD"])), ["s3-access"]);
    assert_eq!(list(&"0".repeat(40)), [""; 0]);
    for unknown in ["HEAD~99", "abc", "no-such"] {
        let refused = world.blue(&consumer, &["realm", "log", "--commit", unknown]).exits(128);
        assert!(refused.stderr.contains("is not a commit"), "{refused}");
    }
}

#[test]
fn the_log_tells_a_deprecation_from_its_withdrawal() {
    let world = World::solo();
    let provider = world.path("fungal");
    let file = format!("fungal/{CONTRACT_FILE}");
    let plain = world.read(&file);
    world.write(&file, &format!("{plain}deprecated: {{ since: 1.0.0 }}\n"));
    let deprecated = world.commit("fungal", "Deprecate it");
    world.write(&file, &plain);
    let withdrawn = world.commit("fungal", "Keep it");
    assert!(deprecated.stderr.contains("s3-permissions 1.0.0 (deprecated)"), "{deprecated}");
    assert!(withdrawn.stderr.contains("s3-permissions 1.0.0 (no longer deprecated)"), "{withdrawn}");
    let log = world.ok(&provider, &["contract", "log", "s3-access/s3-permissions"]).stdout;
    assert!(log.contains("describe s3-permissions 1.0.0 (deprecated)"), "{log}");
    assert!(log.contains("describe s3-permissions 1.0.0 (no longer deprecated)"), "{log}");
}
