//! Changes of two machines that exclude each other, and names that collide.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::{
    sync::{clone, second, shared, tips},
    world::{CONTRACT_FILE, DOMAIN_REF, REALM, World, contract, snapshot},
};

#[test]
fn same_version_with_two_contents_is_the_same_conflict_everywhere() {
    let (world, hub) = shared();
    let other = clone(&world, "second", &hub);
    let fungal = world.path("fungal");
    world.on("home").bump("1.1.0");
    // The content with the smaller hash is selected, which is this machine's.
    world.on("second").write(&format!("fungal-second/{CONTRACT_FILE}"), &contract("1.1.0").replace("v1.1.0", "apart"));
    world.commit("fungal-second", "Paths 1.1.0, otherwise");
    world.ok(&other, &["sync"]);
    let conflict = world.on("home").json(&fungal, &["sync"]);
    let found = &conflict["remotes"][0]["conflicts"][0];
    assert_eq!((&found["code"], &found["version"]), (&"version-conflict".into(), &"1.1.0".into()), "{conflict}");
    let fetched = world.on("second").json(&other, &["sync"]);
    assert_eq!(fetched["remotes"][0]["conflicts"], conflict["remotes"][0]["conflicts"], "{fetched}");
    assert_eq!(world.json(&other, &["sync"])["remotes"][0]["conflicts"], serde_json::json!([]));
    assert_eq!(tips(&world, "home"), tips(&world, "second"));
    let lost = world.git(&world.store(), &["ls-tree", "-r", "--name-only", DOMAIN_REF, "conflicts/"]).stdout;
    assert_eq!(lost.lines().count(), 1, "{lost}");
    assert!(lost.starts_with("conflicts/contracts/s3-permissions/1.1.0/"), "{lost}");

    // Both report it until the owner resolves it.
    let status = world.ok(&other, &["status"]);
    let check = world.blue(&other, &["check", "--published"]).exits(1);
    snapshot("sync_conflict", &[&status, &check]);
    let judged = world.blue(&other, &["check"]).exits(1);
    assert!(!judged.stdout.contains("file-differs"), "neither version is newer: {judged}");
    // The intended content may also be that of the version in conflict.
    let next = world.on("home").ok(&fungal, &["contract", "bump", "s3-access/s3-permissions"]);
    assert!(world.read(&format!("fungal/{CONTRACT_FILE}")).contains("1.1.1"), "{next}");
    world.bump("1.2.0");
    // Only the yank is left to do.
    let open = world.json(&fungal, &["status"]);
    let yank = "git blue contract yank s3-access/s3-permissions 1.1.0 --reason \"published twice\"";
    assert_eq!(open["conflicts"][0]["resolution"], serde_json::json!([yank]), "{open}");
    world.ok(&fungal, &["sync"]);
    world.on("second").ok(&other, &["sync"]);
    world.on("home").finish_shell(&fungal, yank);
    world.ok(&fungal, &["sync"]);
    world.on("second").ok(&other, &["sync"]);
    assert_eq!(world.json(&other, &["status"])["conflicts"], serde_json::json!([]));
    let check = world.json(&other, &["check", "--published"]);
    assert_eq!(check["errors"], serde_json::json!([]), "{check}");
}

/// Only the owner can resolve it.
#[test]
fn importer_is_only_warned_of_a_conflict_about_a_version_that_it_does_not_get() {
    let (world, hub) = shared();
    let access = second(&world, &hub);
    let other = clone(&world, "third", &hub);
    let fungal = world.path("fungal");
    world.on("home").bump("1.1.0");
    world.on("third").write(&format!("fungal-third/{CONTRACT_FILE}"), &contract("1.1.0").replace("v1.1.0", "apart"));
    world.commit("fungal-third", "Paths 1.1.0, otherwise");
    world.ok(&other, &["sync"]);
    world.on("home").ok(&fungal, &["sync"]);
    world.on("second").ok(&access, &["sync"]);
    let check = world.blue(&access, &["check"]).exits(1);
    assert!(check.stdout.contains("s3-permissions 1.1.0 was published twice"), "{check}");
    world.on("home").bump("1.2.0");
    world.ok(&fungal, &["sync"]);
    world.on("second").ok(&access, &["sync"]);
    let check = world.blue(&access, &["check"]).exits(0);
    assert!(check.stdout.contains("s3-permissions 1.1.0 was published twice"), "{check}");
}

#[test]
fn offer_that_another_one_replaces_is_reported() {
    let (world, hub) = shared();
    second(&world, &hub);
    let third = world.on("second").repo("third");
    world.ok(&third, &["init", "--url", &hub]);
    world.ok(&third, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "third"]);
    world.ok(&third, &["sync"]);
    let (fungal, other) = (world.path("fungal"), clone(&world, "third", &hub));
    world.on("home").ok(&fungal, &["sync"]);
    let offer = |to| ["contract", "transfer", "s3-access/s3-permissions", "--to", to];
    world.ok(&fungal, &offer("access"));
    world.on("third").ok(&other, &offer("third"));
    world.on("home").ok(&fungal, &["sync"]);
    let there = world.on("third").blue(&other, &["sync"]);
    let here = world.on("home").blue(&fungal, &["sync"]);
    let said = "another machine offered it at the same time";
    let count = [&there, &here].iter().filter(|run| run.all().contains(said) && run.code == 1).count();
    assert_eq!(count, 1, "{there} {here}");
}

/// No tree of a realm is checked out, so that both can be kept.
#[test]
fn names_that_differ_only_in_case_are_kept_and_reported() {
    let (world, hub) = shared();
    let access = second(&world, &hub);
    let (fungal, twin) = (world.path("fungal"), contract("1.0.0").replace("owner: fungal", "owner: access"));
    std::fs::rename(&hub, world.path("away.git")).unwrap();
    for (home, repo, name, text) in [("home", "fungal", "item", contract("1.0.0")), ("second", "access", "Item", twin)]
    {
        let text = text.replace("name: s3-permissions", &format!("name: {name}"));
        world.on(home).write(&format!("{repo}/.blue/contracts/s3-access/{name}.yaml"), &text);
        world.commit(repo, "Item");
    }
    let shop = world.on("home").repo("one/shop");
    world.ok(&shop, &["init", "--realm", REALM]);
    let other = world.on("second").repo("two/Shop");
    world.ok(&other, &["init", "--realm", REALM]);
    std::fs::rename(world.path("away.git"), &hub).unwrap();
    for (home, path) in [("home", &fungal), ("second", &access), ("home", &fungal)] {
        world.on(home).ok(path, &["sync"]);
    }
    assert_eq!(tips(&world, "home"), tips(&world, "second"));
    let check = world.blue(&access, &["check"]).exits(1);
    let said = "s3-access/Item differs from s3-access/item of fungal only in case";
    assert!(check.all().contains(said) && !check.all().contains("Shop"), "{check}");
    let check = world.blue(&other, &["check", "--published"]).exits(1);
    assert!(check.all().contains("the repository Shop differs from shop only in case"), "{check}");
    world.ok(&other, &["realm", "admin", "rename", "Shop", "store"]);
    world.ok(&access, &["contract", "retire", "s3-access/Item", "--reason", "renamed", "--force"]);
    let check = world.blue(&access, &["check", "--all"]);
    assert!(!check.all().contains("only in case"), "{check}");
}

#[test]
fn same_name_for_two_repositories_is_a_conflict_until_renamed() {
    let (world, hub) = shared();
    // Both join while the hub cannot be reached.
    world.on("second").repo("tool");
    world.ok(&world.path("tool"), &["init", "--url", &hub]);
    std::fs::rename(&hub, world.path("away.git")).unwrap();
    let fungal = world.on("home").repo("one/shop");
    world.ok(&fungal, &["init", "--realm", REALM]);
    let other = world.on("second").repo("two/shop");
    world.ok(&other, &["init", "--realm", REALM]);
    std::fs::rename(world.path("away.git"), &hub).unwrap();
    world.on("home").ok(&fungal, &["sync"]);
    let answer = world.on("second").json(&other, &["sync"]);
    let conflicts = &answer["remotes"][0]["conflicts"];
    assert_eq!((&conflicts[0]["code"], &conflicts[0]["repo"]), (&"name-conflict".into(), &"shop".into()), "{answer}");
    world.on("home").ok(&fungal, &["sync"]);
    assert_eq!(tips(&world, "home"), tips(&world, "second"));
    let check = world.json(&fungal, &["check", "--published"]);
    assert_eq!(check["errors"][0]["code"], "name-conflict", "{check}");
    // One of them takes another name, which settles the conflict.
    for (home, path, name) in [("second", &other, "shop2"), ("home", &fungal, "shop3")] {
        world.on(home).ok(path, &["sync"]);
        if world.json(path, &["status"])["conflicts"] == serde_json::json!([]) {
            continue;
        }
        let config = path.join(".blue/config.yaml");
        std::fs::write(config, format!("realm:\n  name: {REALM}\nrepo: {name}\n")).unwrap();
        world.ok(path, &["init"]);
        world.ok(path, &["sync"]);
    }
    world.on("second").ok(&other, &["sync"]);
    assert_eq!(world.json(&other, &["status"])["conflicts"], serde_json::json!([]));
}

/// What the other repository of the name published is not missing here, and no other clone made it.
#[test]
fn repository_whose_name_is_taken_twice_is_not_behind() {
    let (world, hub) = shared();
    world.on("second").repo("tool");
    world.ok(&world.path("tool"), &["init", "--url", &hub]);
    std::fs::rename(&hub, world.path("away.git")).unwrap();
    let join = |home: &'static str, folder: &str, contract: &str| {
        let repo = world.on(home).repo(&format!("{folder}/shop"));
        world.ok(&repo, &["init", "--realm", REALM]);
        world.commit(&format!("{folder}/shop"), "Join");
        world.ok(&repo, &["contract", "new", contract, "--domain-members", "fungal"]);
        world.commit(&format!("{folder}/shop"), "A contract");
        repo
    };
    let repos = [("home", join("home", "one", "t/a")), ("second", join("second", "two", "t/b"))];
    std::fs::rename(world.path("away.git"), &hub).unwrap();
    for (home, repo) in [&repos[0], &repos[1], &repos[0], &repos[1]] {
        let mut runs = vec![world.on(home).ok(repo, &["sync"])];
        world.git(repo, &["commit", "--quiet", "--allow-empty", "-m", "More"]);
        runs.extend([world.ok(repo, &["status"]), world.blue(repo, &["check"])]);
        for run in &runs {
            for word in ["another clone", "behind", "git pull", "retire", "without a file"] {
                assert!(!run.all().contains(word), "{word}: {run}");
            }
        }
    }
    // The one that lost the name joins under another one. Its contract belongs to the other, which hands it over.
    let lost = |(home, repo): &(&'static str, PathBuf)| !world.on(home).json(repo, &["status"])["read_only"].is_null();
    let at = repos.iter().position(lost).unwrap();
    let ((home, other), (winner, repo)) = (&repos[at], &repos[1 - at]);
    let config = format!("realm:\n  name: {REALM}\nrepo: shop2\n");
    std::fs::write(other.join(".blue/config.yaml"), config).unwrap();
    world.on(home).ok(other, &["init"]);
    world.ok(other, &["realm", "admin", "domain", "--name", "t", "--repos", "shop2"]);
    world.ok(other, &["sync"]);
    world.on(winner).ok(repo, &["sync"]);
    let status = world.ok(repo, &["status"]);
    let transfer = format!("git blue contract transfer {} --to shop2", ["t/a", "t/b"][at]);
    assert_eq!(world.next_step(&status), format!("{transfer}  # if that repository made it"), "{status}");
    world.finish_shell(repo, &transfer);
}

/// Both repositories create `q` before they sync, and `access` owns it then. Returns the world on the machine of
/// `fungal`, which does not know that yet, and both clones.
fn rivals() -> (World, [PathBuf; 2]) {
    rivals_after(&["status"])
}

/// Does the same as [`rivals`], with another command that `fungal` runs after it publishes.
fn rivals_after(command: &[&str]) -> (World, [PathBuf; 2]) {
    let (world, hub) = shared();
    let fungal = world.path("fungal");
    let access = world.on("third").repo("access");
    world.ok(&access, &["init", "--url", &hub]);
    world.ok(&access, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "access"]);
    world.ok(&access, &["sync"]);
    world.on("home").ok(&fungal, &["sync"]);
    publish_q(&world, "fungal", "1.0.0");
    world.ok(&fungal, command);
    world.ok(&fungal, &["sync"]);
    world.on("third");
    for version in ["1.0.0", "2.0.0"] {
        publish_q(&world, "access", version);
    }
    world.ok(&access, &["sync"]);
    world.ok(&access, &["contract", "yank", Q, "1.0.0", "--reason", "published twice"]);
    world.ok(&access, &["sync"]);
    world.on("home");
    (world, [fungal, access])
}

const Q: &str = "s3-access/q";
const Q_FILE: &str = ".blue/contracts/s3-access/q.yaml";

fn publish_q(world: &World, owner: &str, version: &str) {
    let text = format!("name: q\nversion: \"{version}\"\nowner: {owner}\nschema: {{ title: {owner} {version} }}\n");
    world.write(&format!("{owner}/{Q_FILE}"), &text);
    world.commit(owner, &format!("q {version}"));
}

/// What the loser says about its contract does not concern the winner's, without a transfer between them.
#[test]
fn retirement_of_a_contract_that_was_lost_does_not_retire_the_winners() {
    let (world, [fungal, access]) = rivals();
    world.ok(&fungal, &["contract", "retire", Q, "--reason", "not needed"]);
    world.git(&fungal, &["rm", "-q", Q_FILE]);
    world.commit("fungal", "Drop q");
    world.ok(&fungal, &["sync"]);
    let held = world.stored("contracts/q.json");
    assert_eq!((&held["owner"], &held["version"], &held["retired"]), (&json!("access"), &json!("2.0.0"), &Value::Null));
    let told = world.ok(&fungal, &["status"]).stdout;
    assert!(told.contains("access also created s3-access/q, and owns it now at 2.0.0"), "{told}");
    world.on("third").ok(&access, &["sync"]);
    let status = world.json(&access, &["status"]);
    assert_eq!((&status["notifications"], &status["conflicts"]), (&json!([]), &json!([])), "{status}");
    world.ok(&access, &["check"]);
}

/// A version that the loser published before it knew is a conflict, and the winner keeps the contract.
#[test]
fn version_of_a_contract_that_was_lost_is_a_conflict() {
    let (world, [fungal, _]) = rivals();
    publish_q(&world, "fungal", "3.0.0");
    let synced = world.json(&fungal, &["sync"]);
    assert_eq!(synced["remotes"][0]["conflicts"][0]["version"], "3.0.0", "{synced}");
    assert_eq!(world.stored("contracts/q.json")["owner"], "access");
}

/// Nobody took the contract over.
#[test]
fn winner_of_a_contract_is_said_to_have_created_it_too() {
    let (world, [fungal, _]) = rivals();
    world.ok(&fungal, &["sync"]);
    let told = world.ok(&fungal, &["status"]).stdout;
    assert!(told.contains("access also created s3-access/q, and owns it now at 2.0.0; it had 1.0.0 yanked"), "{told}");
    assert!(!told.contains("took over"), "{told}");
}

/// It is told the same if it never looked at its own contract, and what it still has to do once the conflict is settled.
#[test]
fn repository_that_lost_a_contract_is_told_what_to_do_with_its_file() {
    let (world, [fungal, access]) = rivals_after(&["status", "--peek"]);
    world.ok(&fungal, &["sync"]);
    let status = world.ok(&fungal, &["status"]).stdout;
    assert!(status.contains("access also created s3-access/q, and owns it now at 2.0.0"), "{status}");
    let declares = format!("{Q_FILE} declares {Q}, but access also created it, on another machine, and owns it now");
    let steps = [
        format!("rename {Q_FILE} and the contract in it, and commit"),
        format!("git rm :/{Q_FILE} && git blue import {Q}"),
    ];
    for expected in steps.iter().chain([&declares]) {
        assert!(status.contains(expected), "{expected}\n{status}");
    }
    assert!(world.ok(&fungal, &[]).stdout.contains("1 conflict"));
    assert!(world.ok(&fungal, &["prime"]).stdout.contains("Unresolved: 1 conflict"));
    let checked = world.blue(&fungal, &["check"]).exits(1);
    let published = world.blue(&fungal, &["contract", "publish"]).exits(1);
    for told in [checked.all(), published.all()] {
        assert!(told.contains(&declares) && steps.iter().all(|step| told.contains(step)), "{told}");
    }
    // The owner has nothing to do.
    assert_eq!(world.on("third").json(&access, &["status"])["conflicts"], json!([]));
    world.ok(&access, &["contract", "publish"]);

    // Its next change to the file is refused with the same step.
    world.on("home");
    publish_q(&world, "fungal", "1.1.0");
    let refused = world.blue(&fungal, &["contract", "publish"]).exits(1);
    assert!(
        refused.stderr.contains("rename the file and the contract in it, or make the change in access"),
        "{refused}"
    );
    world.git(&fungal, &["reset", "-q", "--hard", "HEAD~"]);
    world.git(&fungal, &["mv", Q_FILE, ".blue/contracts/s3-access/r.yaml"]);
    let text = world.read("fungal/.blue/contracts/s3-access/r.yaml").replace("name: q", "name: r");
    world.write("fungal/.blue/contracts/s3-access/r.yaml", &text);
    world.commit("fungal", "Rename q");
    assert_eq!(world.json(&fungal, &["status"])["conflicts"], json!([]));
    assert_eq!(world.stored("contracts/r.json")["owner"], "fungal");
    world.ok(&fungal, &["contract", "publish"]);
    world.ok(&fungal, &["check"]);
}

/// A machine published a version and rolled it back, while the other one published it with different content. Only the
/// latter is current, whichever has the smaller hash.
#[test]
fn content_of_a_version_in_conflict_is_that_of_the_current_document() {
    for (rolled_back, current) in [("apart", "together"), ("together", "apart")] {
        let (world, hub) = shared();
        let other = clone(&world, "second", &hub);
        let fungal = world.path("fungal");
        let publish = |dir: &str, words: &str| {
            world.write(&format!("{dir}/{CONTRACT_FILE}"), &contract("1.1.0").replace("v1.1.0", words));
            world.commit(dir, "Paths 1.1.0");
        };
        world.on("home");
        publish("fungal", rolled_back);
        world.git(&fungal, &["revert", "--no-edit", "HEAD"]);
        world.ok(&fungal, &["contract", "publish", "--rollback", "--reason", "too early"]);
        world.ok(&fungal, &["sync"]);
        world.on("second");
        publish("fungal-second", current);
        world.ok(&other, &["sync"]);
        world.on("home").ok(&fungal, &["sync"]);
        assert_eq!(tips(&world, "home"), tips(&world, "second"));
        let (held, kept) =
            (world.stored("contracts/s3-permissions.json"), world.stored("versions/s3-permissions/1.1.0.json"));
        assert_eq!((&held["version"], &held["schema"]), (&json!("1.1.0"), &kept["schema"]));
        let lost = world.git(&world.store(), &["ls-tree", "-r", "--name-only", DOMAIN_REF, "conflicts/"]).stdout;
        assert_eq!(lost.lines().count(), 1, "{lost}");
    }
}
