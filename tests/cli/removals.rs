//! Files that are still committed for a domain that was removed, or that their repository left.

use std::path::Path;

use crate::world::{BINDING_FILE, CONTRACT_FILE, REALM, World, importing};

/// `git blue` names what was removed, and its first step that changes something is to remove the files.
fn told(world: &World, dir: &Path, what: &str, again: &str) {
    let remove = "git rm -r --ignore-unmatch :/.blue/contracts/s3-access :/.blue/bindings/s3-access.yaml && git commit -m \
                  \"Leave the domain s3-access\"";
    for args in [&["status"][..], &["check"], &["contract", "publish"]] {
        let run = world.blue(dir, args);
        assert!(run.all().contains(what), "{run}");
        let all = run.all();
        let (rm, create) = (all.find(remove), all.find(again));
        assert!(rm.is_some() && rm < create, "{run}");
    }
    let removed = world.finish_shell(dir, remove);
    assert_eq!(removed.code, 0, "{removed}");
    let check = world.blue(dir, &["check"]);
    assert!(!check.all().contains(what), "{check}");
    let status = world.json(dir, &["status"]);
    assert_eq!(status["unpublished"], serde_json::Value::Null, "{status}");
}

#[test]
fn removed_domain_is_not_made_again() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.git(&world.path("access"), &["rm", "-q", BINDING_FILE]);
    world.commit("access", "Leave s3-access");
    world.ok(&fungal, &["contract", "retire", "s3-access/s3-permissions", "--reason", "gone"]);
    world.git(&fungal, &["rm", "-q", BINDING_FILE]);
    world.commit("fungal", "Export nothing");
    world.ok(&fungal, &["realm", "admin", "remove-domain", "s3-access"]);
    let again = "git blue realm admin domain --name s3-access --repos fungal  # or create the domain again";
    told(&world, &fungal, "the domain s3-access was removed", again);
    assert_eq!(world.json(&fungal, &["realm", "topology"])["domains"], serde_json::json!([]));
    assert_eq!(world.json(&fungal, &["realm", "list"])["realms"][0]["domains"], 0);
    let unknown = world.blue(&fungal, &["contract", "list", "--domain", "s3-acces"]).exits(1);
    assert!(!unknown.all().contains("did you mean"), "{unknown}");
}

#[test]
fn removed_member_is_not_added_again() {
    let world = World::pair();
    let access = world.path("access");
    world.ok(&access, &["realm", "admin", "remove-member", "access", "--domain", "s3-access"]);
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0, <4.0.0"));
    world.commit("access", "Still here");
    let again = "git blue realm admin domain --name s3-access --repos access  # or add it again";
    told(&world, &access, "access is no longer a member of s3-access", again);
    assert_eq!(world.stored("domain.json")["members"], serde_json::json!(["fungal"]));
}

/// The commands of the documents remove a repository that is gone, so that its imports block nobody.
#[test]
fn repository_that_is_gone_is_removed_by_a_new_one() {
    let world = World::pair();
    let fungal = world.path("fungal");
    std::fs::remove_dir_all(world.path("access")).unwrap();
    let remove = ["realm", "admin", "remove-member", "access", "--domain", "s3-access"];
    let refused = world.blue(&fungal, &remove).exits(1);
    let step = "git blue realm admin reclaim --help  # if access is gone: a new repository leaves in its name";
    assert!(refused.stderr.contains(step), "{refused}");
    let retire = ["contract", "retire", "s3-access/s3-permissions", "--reason", "nobody reads it"];
    world.blue(&fungal, &retire).exits(1);

    let questions = include_str!("../../docs/faq.md");
    let (_, answer) = questions.split_once("## A repository was deleted without leaving").unwrap();
    let (_, block) = answer.split_once("```sh\n").unwrap();
    let (commands, _) = block.split_once("```").unwrap();
    let commands = commands.replace("billing", "access").replace("shop", REALM).replace('\n', " && ");
    let run = world.finish_shell(&world.root(), commands.trim_end_matches(" && "));
    assert_eq!(run.code, 0, "{run}");
    world.ok(&fungal, &retire);
    assert_eq!(world.stored("domain.json")["members"], serde_json::json!(["fungal"]));
}

/// Contracts are never deleted, so those that are retired may belong to a repository that left.
#[test]
fn owner_of_retired_contracts_may_leave() {
    let world = World::solo();
    let (fungal, other) = (world.path("fungal"), world.join("other"));
    world.ok(&other, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "other"]);
    world.ok(&fungal, &["contract", "retire", "s3-access/s3-permissions", "--reason", "gone"]);
    world.git(&fungal, &["rm", "-q", CONTRACT_FILE, BINDING_FILE]);
    world.commit("fungal", "Retire the contract");
    let removed = world.ok(&fungal, &["realm", "admin", "remove-member", "fungal", "--domain", "s3-access"]);
    assert!(!removed.all().contains("git rm"), "its files are gone already: {removed}");
    world.ok(&fungal, &["check"]);
    world.ok(&fungal, &["leave"]);
    for args in [&["check", "--all"][..], &["check", "--published", "--all"]] {
        world.ok(&other, args);
    }
}

/// A repository that is no member but still owns a contract, because it published on one machine and left on another,
/// has to be added again to retire the contract.
#[test]
fn removed_owner_is_added_again() {
    let world = World::solo();
    let fungal = world.path("fungal");
    let members = world.stored("domain.json").to_string().replace("\"fungal\"", "");
    world.plant("domain.json", &members);
    let add = "git blue realm admin domain --name s3-access --repos fungal";
    let check = world.blue(&fungal, &["check"]).exits(1);
    assert!(world.next_step(&check).starts_with(add), "{check}");
    world.bump("1.1.0");
    let status = world.blue(&fungal, &["status"]);
    assert!(world.next_step(&status).starts_with(add), "{status}");
    assert!(!status.all().contains("git rm"), "{status}");
    // Without files, there is nothing to publish.
    world.git(&fungal, &["rm", "-rq", ".blue/contracts", ".blue/bindings"]);
    world.commit("fungal", "Leave");
    let status = world.json(&fungal, &["status"]);
    assert_eq!(status["unpublished"], serde_json::Value::Null, "{status}");
    let check = world.blue(&fungal, &["check"]).exits(1);
    assert!(world.next_steps(&check).iter().any(|step| step.starts_with(add)), "{check}");
    world.finish_shell(&fungal, add);
    world.ok(&fungal, &["contract", "retire", "s3-access/s3-permissions", "--reason", "gone"]);
}

/// Once the missing member is added, the failure is over.
#[test]
fn refused_member_that_was_added_has_no_failure() {
    let world = World::solo();
    let other = world.join("other");
    world.write(&format!("other/{BINDING_FILE}"), &importing(">=1.0.0, <2.0.0"));
    let refused = world.commit("other", "Read");
    assert!(refused.all().contains("has no member other"), "{refused}");
    let failed = |world: &World| world.ok(&other, &["status", "--peek"]).all().contains("failed");
    assert!(failed(&world));
    world.ok(&world.path("fungal"), &["realm", "admin", "domain", "--name", "s3-access", "--repos", "other"]);
    assert!(!failed(&world));
}

/// A branch that removes a file removes nothing before it is merged.
#[test]
fn file_that_only_a_branch_removes_is_not_retired() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.git(&fungal, &["switch", "--quiet", "--create", "feature"]);
    std::fs::remove_file(fungal.join(CONTRACT_FILE)).unwrap();
    world.commit("fungal", "Move it elsewhere");
    let status = world.ok(&fungal, &["status"]);
    assert!(!status.stdout.contains("retire"), "{status}");
    let check = world.ok(&fungal, &["check"]);
    assert!(check.stdout.contains("once this is published and nobody imports it: git blue contract retire"), "{check}");
    world.git(&fungal, &["switch", "--quiet", "main"]);
    world.git(&fungal, &["merge", "--quiet", "feature"]);
    assert!(world.ok(&fungal, &["status"]).stdout.contains("git blue contract retire"));
}
