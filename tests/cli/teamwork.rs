//! Several clones of one repository of the realm, each on a machine of its own.

use std::path::PathBuf;

use serde_json::Value;

use crate::{
    sync::{second, shared, tips},
    world::{BINDING_FILE, CONTRACT_FILE, World, contract, importing},
};

const PATHS: &str = "s3-access/s3-permissions";

/// `fungal` on one machine, which has published and pushed 1.0.0, and a clone of it on another machine that has joined.
/// The realm is shared at `hub.git`, the code at `code.git`.
pub fn team() -> (World, PathBuf) {
    let world = World::solo();
    let (fungal, hub, code) = (world.path("fungal"), world.hub(), world.bare("code.git"));
    world.git(&fungal, &["remote", "add", "origin", &code]);
    world.ok(&fungal, &["init", "--url", &hub]);
    world.commit("fungal", "Share the realm");
    world.git(&fungal, &["push", "--quiet", "--set-upstream", "origin", "main"]);
    world.git(&world.root(), &["clone", "--quiet", &code, "mate"]);
    let mate = world.path("mate");
    world.on("second").ok(&mate, &["init", "--url", &hub]);
    world.ok(&mate, &["status"]);
    world.on("home");
    (world, mate)
}

/// Publishes the current commits of `fungal`, and pushes the realm and the code.
pub fn push(world: &World) {
    world.on("home").ok(&world.path("fungal"), &["sync"]);
    world.git(&world.path("fungal"), &["push", "--quiet", "origin", "main"]);
}

/// The teammate's machine knows of a published commit that its clone lacks, and the clone has an unpublished commit.
pub fn diverged() -> (World, PathBuf) {
    let (world, mate) = team();
    world.bump("1.1.0");
    push(&world);
    world.on("second").ok(&mate, &["sync"]);
    world.git(&mate, &["config", "blue.publish", "off"]);
    world.write(&format!("mate/{CONTRACT_FILE}"), &contract("1.2.0"));
    world.commit("mate", "Paths 1.2.0");
    (world, mate)
}

/// A clone with a commit of its own cannot publish it before it has pulled, and says so wherever it is mentioned.
#[test]
fn refused_commit_is_not_announced_as_published_soon() {
    let (world, mate) = diverged();
    world.git(&mate, &["config", "--unset", "blue.publish"]);
    let sync = world.ok(&mate, &["sync"]);
    assert!(sync.stdout.contains(" is not published: s3-access was published from"), "{sync}");
    let peek = world.ok(&mate, &["status", "--peek"]);
    assert!(peek.stdout.contains("fetch first, then merge it"), "{peek}");
    assert!(!peek.stdout.contains("will be published by the next hook"), "{peek}");
    assert!(world.next_step(&peek).starts_with("git pull"), "{peek}");
}

/// A machine that makes a repository a member records the member's baseline, and so does the member's own machine at
/// its next sync.
#[test]
fn member_that_another_machine_added_is_notified_of_what_follows() {
    let (world, _) = team();
    let (fungal, hub) = (world.path("fungal"), world.hub());
    let access = world.on("second").repo("access");
    world.ok(&access, &["init", "--url", &hub]);
    let add = ["realm", "admin", "domain", "--name", "s3-access", "--repos", "access"];
    world.on("home").ok(&fungal, &["sync"]);
    world.ok(&fungal, &add);
    push(&world);
    let sync = world.on("second").ok(&access, &["sync"]);
    assert!(!sync.stdout.contains("changed"), "{sync}");
    world.on("home").bump("1.1.0");
    push(&world);
    let sync = world.on("second").ok(&access, &["sync"]);
    assert!(sync.stdout.contains("fungal changed s3-access/s3-permissions 1.0.0 -> 1.1.0"), "{sync}");
    let list = world.json(&access, &["notifications", "list"]);
    assert_eq!(list["notifications"][0]["changes"]["new_version"], "1.1.0", "{list}");
}

/// Members of a new domain on other machines are notified of its contracts, although the domain arrives with them.
#[test]
fn member_of_a_new_domain_is_notified_of_the_contracts_that_arrive_with_it() {
    let (world, _) = team();
    let (fungal, hub) = (world.path("fungal"), world.hub());
    let access = world.on("second").repo("access");
    world.ok(&access, &["init", "--url", &hub]);
    world.on("home").ok(&fungal, &["sync"]);
    world.ok(&fungal, &["contract", "new", "storage/paths", "--domain-members", "access"]);
    world.commit("fungal", "Add paths");
    world.ok(&fungal, &["sync"]);
    let sync = world.on("second").ok(&access, &["sync"]);
    assert!(sync.stdout.contains("fungal added storage/paths 1.0.0"), "{sync}");
    let sync = world.ok(&access, &["sync"]);
    assert!(!sync.stdout.contains("added"), "{sync}");

    // A machine that joins later knows what is there.
    world.git(&world.root(), &["clone", "--quiet", "access", "later"]);
    let later = world.on("third").path("later");
    world.ok(&later, &["init", "--url", &hub, "--repo", "access"]);
    assert_eq!(world.json(&later, &["notifications", "list"])["notifications"], serde_json::json!([]));
}

/// A clone that lacks the newest version must merge it before it chooses another.
#[test]
fn version_that_a_teammate_used_first_is_merged_first() {
    let (world, mate) = diverged();
    world.write(&format!("mate/{CONTRACT_FILE}"), &contract("1.1.0").replace("jobs/", "tasks/"));
    world.commit("mate", "Paths 1.1.0");
    let check = world.blue(&mate, &["check"]).exits(1);
    assert!(check.stdout.contains("1.1.0 has since been published with different content: merge"), "{check}");
    assert_eq!(
        world.next_step(&check).split("  # ").next(),
        Some("git fetch origin && git merge origin/main"),
        "{check}"
    );
}

/// A branch lacks what another one published, and must not bump its version for what it does not have.
#[test]
fn branch_merges_what_another_one_published_before_it_bumps() {
    let world = World::pair();
    let fungal = world.path("fungal");
    let with = |version: &str, items: &str| {
        let text = contract(version).replace("values: free\n", "");
        text.replace(&format!("\"v{version}\""), &format!("\"v1.0.0\", {items}"))
    };
    world.write(&format!("fungal/{CONTRACT_FILE}"), &with("1.1.0", "\"0\""));
    world.commit("fungal", "Base");
    world.git(&fungal, &["switch", "--quiet", "--create", "b"]);
    world.git(&fungal, &["switch", "--quiet", "main"]);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &with("1.2.0", "\"0\", \"a\""));
    world.commit("fungal", "A");
    let merge = format!("git merge {}  # ", world.line(&fungal, &["rev-parse", "--short=10", "main"]));
    world.git(&fungal, &["switch", "--quiet", "b"]);
    for version in ["1.2.0", "1.3.0"] {
        world.write(&format!("fungal/{CONTRACT_FILE}"), &with(version, "\"0\", \"b\""));
        world.commit("fungal", "B");
        let check = world.blue(&fungal, &["check"]).exits(1);
        let steps = world.next_steps(&check);
        assert!(steps.len() == 1 && steps[0].starts_with(&merge), "{check}");
        assert!(check.stdout.contains("merge"), "{check}");
        let bump = world.blue(&fungal, &["contract", "bump", PATHS]).exits(1);
        assert!(world.next_step(&bump).starts_with(&merge), "{bump}");
    }
    world.ok(&fungal, &["contract", "bump", PATHS, "major"]);
    world.git(&fungal, &["checkout", "--quiet", "."]);
    world.finish_shell(&fungal, &world.next_step(&world.blue(&fungal, &["check"])));
    // Nothing is lacking before the merge is committed.
    world.write(&format!("fungal/{CONTRACT_FILE}"), &with("1.2.0", "\"0\", \"a\", \"b\""));
    let check = world.blue(&fungal, &["check", "--worktree"]).exits(1);
    assert!(world.next_step(&check).starts_with("git blue contract bump"), "{check}");
    world.ok(&fungal, &["contract", "bump", PATHS]);
    assert!(world.read(&format!("fungal/{CONTRACT_FILE}")).contains("version: \"1.3.0\""));
    world.commit("fungal", "Merge");
    world.ok(&fungal, &["check"]);
}

/// The published commit is not at origin yet, so that merging origin does not bring it.
#[test]
fn merge_step_says_that_the_published_commit_may_not_be_pushed() {
    let (world, mate) = team();
    world.bump("1.1.0");
    world.ok(&world.path("fungal"), &["sync"]);
    world.on("second").ok(&mate, &["sync"]);
    world.write(&format!("mate/{CONTRACT_FILE}"), &contract("1.0.0").replace("jobs/", "tasks/"));
    let bump = world.blue(&mate, &["contract", "bump", PATHS]).exits(1);
    let step = world.next_step(&bump);
    assert!(step.starts_with("git fetch origin && git merge origin/main  # "), "{bump}");
    assert!(step.contains("if that commit is pushed"), "{bump}");
}

/// A commit that publishes another contract does not hide what is wrong with this one.
#[test]
fn version_that_nobody_else_touched_was_not_published_meanwhile() {
    let (world, mate) = team();
    let other = contract("1.0.0").replace("s3-permissions", "s3-paths");
    world.write("fungal/.blue/contracts/s3-access/s3-paths.yaml", &other);
    world.commit("fungal", "Another contract");
    push(&world);
    world.on("second").ok(&mate, &["sync"]);
    world.git(&mate, &["config", "blue.publish", "off"]);
    world.write(&format!("mate/{CONTRACT_FILE}"), &contract("1.0.0").replace("jobs/", "tasks/"));
    world.commit("mate", "Move the paths");
    for _ in 0..2 {
        let check = world.blue(&mate, &["check"]).exits(1);
        assert!(check.stdout.contains("1.0.0 was already published with different content"), "{check}");
        world.git(&mate, &["fetch", "--quiet"]);
    }
}

/// Two clones that publish different commits have published both. Neither publishes its own again over the other.
#[test]
fn commits_that_two_clones_published_are_not_published_again() {
    for order in [["home", "second"], ["second", "home"]] {
        let (world, mate) = team();
        let fungal = world.path("fungal");
        world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("auto"));
        world.commit("fungal", "Choose versions");
        push(&world);
        world.git(&mate, &["pull", "--quiet"]);
        world.on("second").ok(&mate, &["sync"]);
        for (machine, repo, path) in [("home", "fungal", "jobs/1/"), ("second", "mate", "jobs/2/")] {
            world.write(&format!("{repo}/{CONTRACT_FILE}"), &contract("auto").replace("jobs/", path));
            world.on(machine).commit(repo, "Move the paths");
        }
        let dir = |machine: &str| if machine == "home" { &fungal } else { &mate };
        let logs = || order.map(|machine| world.on(machine).ok(dir(machine), &["contract", "log", PATHS]).stdout);
        for machine in order.into_iter().chain(order) {
            world.on(machine).blue(dir(machine), &["sync"]);
        }
        let [first, second] = logs();
        assert_eq!(first, second, "{order:?}");
        let status = world.on("home").ok(&fungal, &["status"]);
        assert!(status.stdout.contains("this clone is behind: its main lacks the published commit"), "{status}");
        assert_eq!(logs(), [first, second], "status publishes nothing");
    }
}

/// A clone that has left can still push its departure. Its old name remains committed until the removal of the
/// configuration file is committed.
#[test]
fn leaving_is_shared_by_the_printed_step() {
    let (world, mate) = team();
    let left = world.on("second").ok(&mate, &["leave", "--force"]);
    assert_eq!(world.next_step(&left), "git blue --realm aperture sync  # not pushed yet", "{left}");
    assert_eq!(world.finish_shell(&mate, &world.next_step(&left)).code, 0);
    let renamed = world.blue(&mate, &["init", "--realm", "aperture", "--repo", "depot"]).exits(1);
    assert!(renamed.stderr.contains("HEAD:.blue/config.yaml names this repository fungal"), "{renamed}");
    assert_eq!(world.finish_shell(&mate, &world.next_step(&renamed)).code, 0);
    world.ok(&mate, &["init", "--realm", "aperture", "--repo", "depot"]);
    // A clone that joins again has the committed file again.
    world.commit("mate", "Join again");
    world.ok(&mate, &["leave", "--force"]);
    let joined = world.ok(&mate, &["init", "--realm", "aperture"]);
    assert_eq!(world.git(&mate, &["status", "--short"]).stdout, "");
    let step = "git blue realm admin domain --name s3-access --repos depot  # this repository already has files for \
            that domain";
    assert!(world.next_steps(&joined).iter().any(|one| one == step), "{joined}");
    world.on("home").ok(&world.path("fungal"), &["sync"]);
    let status = world.json(&world.path("fungal"), &["realm", "topology"]);
    assert_eq!(status["domains"][0]["members"], serde_json::json!([]), "{status}");
}

/// A published commit that its author has not pushed cannot be pulled, and the step says so.
#[test]
fn commit_that_is_not_pushed_is_told_with_its_publisher() {
    let (world, mate) = team();
    world.git(&world.path("fungal"), &["config", "user.name", "Bob Byte"]);
    world.bump("1.1.0");
    let published = world.line(&world.path("fungal"), &["rev-parse", "--short=7", "HEAD"]);
    world.ok(&world.path("fungal"), &["sync"]);
    world.on("second").ok(&mate, &["sync"]);
    world.git(&mate, &["pull", "--quiet"]);
    let step = world.next_step(&world.ok(&mate, &["status"]));
    assert!(step.starts_with(&format!("git pull  # get the published commit, {published}")), "{step}");
    assert!(step.ends_with(" by Bob Byte; if it stays missing, it is not pushed yet"), "{step}");
    world.git(&world.path("fungal"), &["push", "--quiet", "origin", "main"]);
    world.git(&mate, &["fetch", "--quiet"]);
    let step = world.next_step(&world.ok(&mate, &["status"]));
    assert_eq!(step, "git pull  # get the published commit");
}

#[test]
fn member_that_published_on_another_machine_meanwhile_stays() {
    for publishes in [false, true] {
        let (world, hub) = shared();
        let access = second(&world, &hub);
        world.on("home").ok(&world.path("fungal"), &["sync"]);
        world.git(&world.root(), &["clone", "--quiet", "access", "again"]);
        let again = world.path("again");
        world.ok(&again, &["init", "--url", &hub]);
        world.ok(&again, &["realm", "admin", "remove-member", "access", "--domain", "s3-access"]);
        world.on("second");
        if publishes {
            let text = contract("1.0.0").replace("s3-permissions", "stacks").replace("owner: fungal", "owner: access");
            world.write("access/.blue/contracts/s3-access/stacks.yaml", &text);
        } else {
            world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0, <3.0.0"));
        }
        world.commit("access", "Publish");
        world.ok(&access, &["sync"]);
        world.on("home").ok(&again, &["sync"]);
        world.on("second").ok(&access, &["sync"]);
        for home in ["home", "second"] {
            world.on(home);
            assert_eq!(world.stored("domain.json")["members"], serde_json::json!(["access", "fungal"]), "{home}");
        }
        assert_eq!(tips(&world, "home"), tips(&world, "second"));
        world.on("second").ok(&access, &["check"]);
        world.ok(&access, &["check", "--published", "--all"]);
    }
}

/// Any repository may remove a domain that nobody uses, and the other machines accept it.
#[test]
fn removed_domain_stays_removed_on_other_machines() {
    let (world, mate) = team();
    let (fungal, hub) = (world.path("fungal"), world.hub());
    let access = world.on("second").repo("access");
    world.ok(&access, &["init", "--url", &hub]);
    world.on("home").ok(&fungal, &["sync"]);
    world.ok(&fungal, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "access"]);
    push(&world);
    world.on("second").ok(&access, &["sync"]);
    world.write(
        "access/.blue/bindings/s3-access.yaml",
        "role: consumer\nimports: [ { contract: s3-permissions, version: '*' } ]\n",
    );
    world.commit("access", "Import");
    world.git(&access, &["rm", "--quiet", "-r", ".blue/bindings"]);
    world.commit("access", "Import nothing");
    world.ok(&access, &["sync"]);
    world.on("home").ok(&fungal, &["sync"]);
    world.ok(&fungal, &["contract", "retire", "s3-access/s3-permissions", "--reason", "unused"]);
    world.git(&fungal, &["rm", "--quiet", "-r", ".blue/contracts", ".blue/bindings"]);
    world.commit("fungal", "Nothing is left");
    world.ok(&fungal, &["realm", "admin", "remove-domain", "s3-access"]);
    push(&world);
    for dir in [&access, &mate] {
        let sync = world.on("second").ok(dir, &["sync"]);
        assert!(!sync.all().contains("conflict") && !sync.all().contains("set-aside"), "{sync}");
        let list = world.json(dir, &["realm", "topology"]);
        assert_eq!(list["domains"], serde_json::json!([]), "{list}");
    }
    let sync = world.on("home").ok(&fungal, &["sync"]);
    assert!(!sync.all().contains("conflict"), "{sync}");
    assert_eq!(world.json(&fungal, &["realm", "topology"])["domains"], serde_json::json!([]));
}

/// What two machines published at the same time is merged, and is in the log under the name of its publisher.
#[test]
fn merged_publications_are_in_the_logs() {
    let (world, mate) = team();
    world.on("second").git(&mate, &["config", "user.name", "Bob Byte"]);
    world.write(
        "mate/.blue/contracts/s3-access/s3-paths.yaml",
        &contract("1.0.0").replace("s3-permissions", "s3-paths"),
    );
    world.commit("mate", "Paths");
    world.on("home").bump("1.1.0");
    world.ok(&world.path("fungal"), &["sync"]);
    world.on("second").ok(&mate, &["sync"]);
    world.on("home").ok(&world.path("fungal"), &["sync"]);
    let source = world.line(&world.path("fungal"), &["rev-parse", "HEAD"]);
    for home in ["home", "second"] {
        world.on(home);
        let dir = world.path(if home == "home" { "fungal" } else { "mate" });
        let entries = |args: &[&str]| world.json(&dir, args)["entries"].as_array().unwrap().clone();
        let by = |one: &Value| one["author"].as_str().unwrap().split(' ').next().unwrap().to_owned();
        let log = entries(&["contract", "log", "s3-access/s3-permissions"]);
        assert_eq!(log.iter().map(by).collect::<Vec<_>>(), ["Ada", "Ada"], "{home} {log:?}");
        assert_eq!(log[0]["source_commit"], source, "{home} {log:?}");
        let paths = entries(&["contract", "log", "s3-access/s3-paths"]);
        assert_eq!(paths.iter().map(by).collect::<Vec<_>>(), ["Bob"], "{home} {paths:?}");
        for (kind, expected) in [("contract_updated", "Ada"), ("contract_added", "Bob")] {
            let log = entries(&["realm", "log", "--kind", kind, "--limit", "1"]);
            assert_eq!(log.iter().map(by).collect::<Vec<_>>(), [expected], "{home} {kind} {log:?}");
        }
        assert_eq!(entries(&["realm", "log", "--commit", &source]).len(), 1);
        let timeline = entries(&["contract", "timeline", "s3-access/s3-permissions"]);
        assert_eq!(timeline[0]["source_commit"], source, "{home} {timeline:?}");
    }
}

/// What a teammate publishes from another clone is ordinary work, and no alarm.
#[test]
fn version_of_a_teammate_is_no_alarm() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    // The contract is new, and this reader has never been told of it.
    let other = |version: &str| contract(version).replace("s3-permissions", "s3-paths");
    world.write("fungal/.blue/contracts/s3-access/s3-paths.yaml", &other("1.0.0"));
    world.commit("fungal", "Paths");
    push(&world);
    for (key, value) in [("user.name", "Bob Byte"), ("user.email", "bob@example.com")] {
        world.git(&mate, &["config", key, value]);
    }
    world.on("second").git(&mate, &["pull", "--quiet"]);
    world.ok(&mate, &["sync"]);
    world.write("mate/.blue/contracts/s3-access/s3-paths.yaml", &other("1.1.0"));
    world.commit("mate", "Paths 1.1.0");
    world.ok(&mate, &["sync"]);
    world.git(&mate, &["push", "--quiet"]);
    for command in [&["sync"][..], &["status", "--peek"]] {
        let run = world.on("home").ok(&fungal, command);
        let line = "fungal changed s3-access/s3-paths 1.0.0 -> 1.1.0  by Bob Byte <bob@example.com>, in another clone of fungal";
        assert!(run.stdout.contains(line), "{run}");
        assert!(!run.stdout.contains("warning"), "{run}");
    }
    let told = &world.json(&fungal, &["status", "--peek"])["notifications"][0];
    assert_eq!((&told["rank"], &told["changed_by_other"]), (&"contract".into(), &false.into()), "{told}");
    world.git(&fungal, &["pull", "--quiet"]);
    assert_eq!(world.json(&fungal, &["status"])["notifications"], serde_json::json!([]));
}

/// The domain may exist on the teammate's machine only. Creating it here as well would make another history of it.
#[test]
fn domain_that_a_teammate_created_is_fetched_first() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    world.ok(&fungal, &["realm", "admin", "domain", "--name", "jobs", "--repos", "fungal"]);
    world.write("fungal/.blue/contracts/jobs/job.yaml", &contract("1.0.0").replace("s3-permissions", "job"));
    world.commit("fungal", "Jobs");
    push(&world);
    world.on("second").git(&mate, &["pull", "--quiet"]);
    for args in [&["check"][..], &["contract", "publish"]] {
        let run = world.blue(&mate, args).exits(1);
        assert_eq!(world.next_step(&run), "git blue sync  # if it was created on another machine", "{run}");
    }
    world.ok(&mate, &["sync"]);
    world.ok(&mate, &["check"]);
}

/// No clone has the commits of a branch that was rewritten elsewhere, so only a user can say that they are gone.
#[test]
fn published_commit_that_was_dropped_elsewhere_is_replaced_on_request() {
    let (world, mate) = team();
    let fungal = world.path("fungal");
    world.bump("1.1.0");
    push(&world);
    world.on("second").git(&mate, &["fetch", "--quiet"]);
    world.on("home").git(&fungal, &["config", "blue.publish", "off"]);
    world.git(&fungal, &["commit", "--quiet", "--amend", "--message", "Without the secret"]);
    world.git(&fungal, &["push", "--quiet", "--force", "origin", "main"]);
    world.on("second").ok(&mate, &["sync"]);
    world.git(&mate, &["fetch", "--quiet"]);
    world.git(&mate, &["reset", "--quiet", "--hard", "origin/main"]);
    world.git(&mate, &["reflog", "expire", "--expire=now", "--all"]);
    world.git(&mate, &["config", "blue.publish", "off"]);
    world.write(&format!("mate/{CONTRACT_FILE}"), &contract("1.2.0"));
    world.commit("mate", "Paths 1.2.0");
    let refused = world.blue(&mate, &["contract", "publish"]).exits(1);
    let steps = world.next_steps(&refused);
    let step = steps.iter().find(|step| step.contains("--rollback --reason")).unwrap().replace('…', "it had a secret");
    let again = world.finish_shell(&mate, &step).exits(0);
    assert!(again.stdout.contains("1.1.0 -> 1.2.0"), "{again}");
    world.ok(&mate, &["status"]);
}
