//! A clone is read-only until its user joins it, and a name in the realm belongs to one repository.

use std::path::Path;

use serde_json::json;

use crate::world::{CONTRACT_FILE, DOMAIN_REF, Run, World, contract};

/// A realm with `fungal`, which has published 1.0.0, and a clone of a stranger's repository that claims the same
/// realm and name, with version 9.0.0.
fn strangers_clone() -> World {
    let world = World::solo();
    world.repo("evil");
    world.write("evil/.blue/config.yaml", "realm: { name: aperture }\nrepo: fungal\n");
    world.write(&format!("evil/{CONTRACT_FILE}"), &contract("9.0.0"));
    world.commit("evil", "Look here");
    world.git(&world.root(), &["clone", "--quiet", "evil", "look"]);
    world
}

/// The same with a fork of `fungal`, whose commits descend from the published one.
fn fork() -> World {
    let world = World::solo();
    world.git(&world.root(), &["clone", "--quiet", "fungal", "theirs"]);
    world.write(&format!("theirs/{CONTRACT_FILE}"), &contract("1.0.1"));
    world.commit("theirs", "Fix a typo");
    world.git(&world.root(), &["clone", "--quiet", "theirs", "look"]);
    world
}

/// Returns every ref of the store, to assert that nothing was written.
fn refs(world: &World) -> String {
    world.git(&world.store(), &["for-each-ref", "--format=%(refname) %(objectname)"]).stdout
}

/// Runs the commands that a curious user may try in a clone.
fn look_around(world: &World, look: &Path) {
    for args in [
        &["status"][..],
        &["check"],
        &["check", "--worktree"],
        &["contract", "list"],
        &["notifications", "list"],
        &["realm", "log"],
        &["hook", "post-commit"],
        &["hook", "post-merge"],
        &["hook", "post-checkout"],
        &["contract", "publish", "--dry-run"],
        &["mcp", "test-tool", "realm_status"],
        &["mcp", "test-tool", "realm_check"],
    ] {
        let run = world.blue(look, args);
        assert!(run.code <= 1, "{run}");
    }
}

#[test]
fn unjoined_clone_reads_and_never_writes() {
    for world in [strangers_clone(), fork()] {
        let look = world.path("look");
        let (before, config) = (refs(&world), world.read("home/blue/config"));
        look_around(&world, &look);
        for args in [
            &["contract", "publish"][..],
            &["session", "start"],
            &["notifications", "ack", "notif-000000000000"],
            &["contract", "retire", "s3-access/s3-permissions", "--reason", "x"],
            &["contract", "yank", "s3-access/s3-permissions", "1.0.0", "--reason", "x"],
            &["realm", "admin", "leave", "--force"],
            &["realm", "admin", "contract", "--domain", "s3-access", "--name", "x", "--owner", "fungal"],
            &["realm", "admin", "domain", "--name", "x", "--repos", "fungal"],
            &["realm", "admin", "binding", "--domain", "s3-access", "--repo", "fungal", "--role", "consumer"],
        ] {
            let run = world.blue(&look, args).exits(1);
            assert!(run.stderr.contains("not joined") || run.stderr.contains("another repository"), "{run}");
        }
        assert_eq!(refs(&world), before);
        assert_eq!(world.read("home/blue/config"), config);
        assert_eq!(world.version(), "1.0.0");
        // The owner is not affected.
        world.bump("1.1.0");
        assert_eq!(world.version(), "1.1.0");
    }
}

#[test]
fn status_says_that_a_clone_is_read_only_and_how_to_join() {
    let world = fork();
    let status = world.ok(&world.path("look"), &["status"]);
    assert!(status.stdout.contains("read-only: this clone has not joined the realm aperture as fungal"), "{status}");
    let next = world.json(&world.path("look"), &["status"])["next_steps"].clone();
    assert_eq!(next[0]["command"], "git blue init");
    let check = world.ok(&world.path("look"), &["check"]);
    let said = "read-only: this clone has not joined the realm aperture as fungal; git blue init";
    assert!(check.stdout.contains(said), "{check}");
}

/// A fork cannot write, so these steps say where they can be run.
#[test]
fn steps_in_a_fork_name_a_joined_clone() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.git(&fungal, &["remote", "add", "origin", "https://h.example/acme/fungal.git"]);
    world.ok(&fungal, &["init"]);
    world.git(&world.root(), &["clone", "--quiet", "fungal", "theirs"]);
    let theirs = world.path("theirs");
    world.git(&theirs, &["remote", "set-url", "origin", "https://h.example/me/fungal.git"]);
    world.write(&format!("theirs/{CONTRACT_FILE}"), &contract("1.0.1").replace("required: [read]", "required: []"));
    world.commit("theirs", "Fix a typo");
    let check = world.blue(&theirs, &["check"]).exits(1);
    let steps = world.next_steps(&check);
    let of = |start: &str| steps.iter().find(|step| step.starts_with(start)).unwrap();
    assert!(of("git blue contract approve").ends_with(" (in a joined clone)"), "{check}");
    assert!(!of("git blue contract bump").contains("joined clone"), "{check}");
    let session = world.blue(&theirs, &["session", "start"]).exits(1);
    assert!(session.stderr.contains("hint: to write, use a joined clone of fungal"), "{session}");
}

#[test]
fn init_does_not_take_a_foreign_clone_for_the_repository() {
    let world = strangers_clone();
    let before = refs(&world);
    let init = world.blue(&world.path("look"), &["init"]).exits(1);
    assert!(init.stderr.contains("another repository has the name fungal"), "{init}");
    // No message suggests taking over the name.
    for args in [&["init"][..], &["status"], &["check"], &["contract", "publish"]] {
        assert!(!world.blue(&world.path("look"), args).all().contains("reclaim"), "{args:?}");
    }
    assert_eq!(refs(&world), before);
}

#[test]
fn marker_is_valid_for_one_name_and_linked_worktrees() {
    let world = World::pair();
    let fungal = world.path("fungal");
    let before = refs(&world);
    let edit = |dir: &Path, vars: &[(&str, &std::ffi::OsStr)]| -> Run {
        let args = ["contract", "retire", "s3-access/s3-permissions", "--reason", "x", "--force"];
        world.blue_with(dir, &args, vars)
    };
    let refused = edit(&world.path("access"), &[("GIT_BLUE_REPO", "fungal".as_ref())]).exits(1);
    assert!(refused.stderr.contains("joined the realm aperture as access"), "{refused}");
    assert_eq!(refs(&world), before);
    world.git(&fungal, &["worktree", "add", "--quiet", "../linked"]);
    edit(&world.path("linked"), &[]).exits(0);
    assert_ne!(refs(&world), before);
}

#[test]
fn copied_marker_is_invalid() {
    let world = World::pair();
    let mark = world.read("fungal/.git/blue-joined");
    world.git(&world.root(), &["clone", "--quiet", "fungal", "copy"]);
    world.write("copy/.git/blue-joined", &mark);
    // On a machine of another user, whose home does not know the number.
    world.on("other");
    let hub = world.path("hub.git");
    world.git(
        &world.root(),
        &["clone", "--quiet", "--mirror", world.path("home/blue/realms/aperture.git").to_str().unwrap(), "hub.git"],
    );
    world.repo("mine");
    world.ok(&world.path("mine"), &["init", "--url", hub.to_str().unwrap(), "--repo", "mine"]);
    world.write(
        "copy/.blue/config.yaml",
        &format!("realm: {{ name: aperture, url: {} }}\nrepo: fungal\n", hub.display()),
    );
    let run = world.blue(&world.path("copy"), &["session", "start"]).exits(1);
    assert!(run.stderr.contains("not joined"), "{run}");
}

#[test]
fn leaving_removes_the_marker() {
    let world = World::pair();
    let consumer = world.path("access");
    world.ok(&consumer, &["realm", "admin", "leave", "--force"]);
    assert!(!world.path("access/.git/blue-joined").exists());
    let known = world.path("home/blue/joined").read_dir().unwrap().count();
    assert_eq!(known, 1, "fungal's alone");
}

#[test]
fn root_commit_is_recorded_with_the_first_commit() {
    let world = World::new();
    world.git(&world.root(), &["init", "--quiet", "fungal"]);
    let fungal = world.path("fungal");
    world.ok(&fungal, &["init", "--realm", "aperture"]);
    let entry = || -> serde_json::Value {
        let text = world.git(&world.store(), &["show", "refs/blue/realm:repos/fungal.json"]).stdout;
        serde_json::from_str(&text).unwrap()
    };
    assert_eq!(entry()["roots"], json!([]));
    world.commit("fungal", "Join the realm");
    let root = world.line(&fungal, &["rev-parse", "HEAD"]);
    assert_eq!(entry()["roots"], json!([root]));
    let before = refs(&world);
    world.commit("fungal", "Go on");
    world.ok(&fungal, &["status"]);
    assert_eq!(refs(&world), before, "once is enough");

    // Another repository does not get the name, and the owner keeps it.
    world.repo("other/fungal");
    let other = world.blue(&world.path("other/fungal"), &["init", "--realm", "aperture"]).exits(1);
    assert!(other.stderr.contains("has the name fungal"), "{other}");
    world.ok(&fungal, &["init"]);
}

#[test]
fn name_without_a_commit_is_reserved_for_the_joined_clone() {
    let world = World::new();
    world.git(&world.root(), &["init", "--quiet", "fungal"]);
    world.ok(&world.path("fungal"), &["init", "--realm", "aperture"]);
    world.repo("other/fungal");
    let other = world.blue(&world.path("other/fungal"), &["init", "--realm", "aperture"]).exits(1);
    assert!(other.stderr.contains("has the name fungal"), "{other}");
    assert!(other.stderr.contains(world.path("fungal").to_str().unwrap()), "{other}");
}

#[test]
fn urls_are_compared_by_what_they_identify() {
    let world = World::new();
    let set = |repo: &str, url: &str| world.git(&world.path(repo), &["remote", "add", "origin", url]);
    let hub = world.hub();
    world.git(&world.root(), &["init", "--quiet", "ap"]);
    set("ap", "https://github.com/acme/ap.git");
    world.ok(&world.path("ap"), &["init", "--realm", "aperture", "--url", &hub]);
    world.commit("ap", "Join the realm");
    world.ok(&world.path("ap"), &["sync"]);

    world.on("second");
    for (name, url) in [("b", "git@github.com:acme/ap.git"), ("c", "https://GitHub.com/acme/ap")] {
        world.git(&world.root(), &["clone", "--quiet", "ap", name]);
        world.git(&world.path(name), &["remote", "set-url", "origin", url]);
        world.ok(&world.path(name), &["init", "--url", &hub]);
    }
    // A fork has the root commit and the file, but another URL.
    world.git(&world.root(), &["clone", "--quiet", "ap", "fork"]);
    world.git(&world.path("fork"), &["remote", "set-url", "origin", "https://github.com/mallory/ap"]);
    let fork = world.blue(&world.path("fork"), &["init"]).exits(1);
    assert!(fork.stderr.contains("another repository (https://github.com/acme/ap.git) has the name ap"), "{fork}");
    // A repository has one name.
    world.git(&world.root(), &["init", "--quiet", "again"]);
    set("again", "ssh://git@github.com/acme/ap.git");
    let again = world.blue(&world.path("again"), &["init", "--realm", "aperture", "--repo", "again"]).exits(1);
    assert!(again.stderr.contains("is in the realm already, as ap"), "{again}");
}

#[test]
fn relative_path_of_origin_is_resolved() {
    let world = World::new();
    let hub = world.hub();
    world.git(&world.root(), &["init", "--quiet", "--bare", "ap.git"]);
    world.git(&world.root(), &["init", "--quiet", "ap"]);
    world.git(&world.path("ap"), &["remote", "add", "origin", "../ap.git"]);
    world.ok(&world.path("ap"), &["init", "--realm", "aperture", "--url", &hub]);
    world.commit("ap", "Join the realm");
    world.commit("ap", "Second");
    world.git(&world.path("ap"), &["push", "--quiet", "origin", "HEAD:refs/heads/main"]);
    world.ok(&world.path("ap"), &["sync"]);

    world.on("second");
    let url = format!("file://{}", world.path("ap.git").display());
    world.git(&world.root(), &["clone", "--quiet", "--depth", "1", "--branch", "main", &url, "shallow"]);
    let joined = world.ok(&world.path("shallow"), &["init", "--url", &hub]);
    assert!(joined.stdout.contains("joined as ap"), "{joined}");
}

#[test]
fn repository_from_the_same_template_is_another_one() {
    let world = World::new();
    world.repo("template");
    for name in ["api", "web", "other/api"] {
        world.git(&world.root(), &["clone", "--quiet", "template", name]);
        world.git(&world.path(name), &["remote", "remove", "origin"]);
        world.commit(name, name);
    }
    for name in ["api", "web"] {
        world.ok(&world.path(name), &["init", "--realm", "aperture"]);
        world.commit(name, "Join the realm");
    }
    let other = world.blue(&world.path("other/api"), &["init", "--realm", "aperture"]).exits(1);
    assert!(other.stderr.contains("shares a root commit"), "{other}");

    // A repository that was moved is found only by its marker.
    std::fs::create_dir(world.path("moved")).unwrap();
    std::fs::rename(world.path("web"), world.path("moved/web")).unwrap();
    let api = world.path("api");
    world.ok(&api, &["realm", "admin", "domain", "--name", "d", "--repos", "api,web"]);
    let create = || world.json(&api, &["realm", "worktree", "create", "--rfc", "x", "--repos", "web"]);
    assert_eq!(create()["errors"][0]["code"], "path-gone");
    world.git(&api, &["config", "blue.root", world.root().to_str().unwrap()]);
    assert_eq!(create()["errors"], json!([]));
    assert!(world.read("home/blue/config").contains("moved/web"));

    // If two qualify, both are named.
    world.git(&world.root(), &["clone", "--quiet", "moved/web", "twin"]);
    world.ok(&world.path("twin"), &["init"]);
    std::fs::rename(world.path("twin"), world.path("twins")).unwrap();
    let twice = create();
    let message = twice["errors"][0]["message"].as_str().unwrap();
    assert!(message.contains("moved/web") && message.contains("twins"), "{twice}");
    assert_eq!(twice["errors"][0]["code"], "ambiguous-clone");
}

#[test]
fn reclaim_restores_a_lost_name() {
    let world = strangers_clone();
    // State from an earlier version: a commit of another repository was published.
    world.plant("sources/fungal.json", "{\n  \"commit\": \"1111111111111111111111111111111111111111\"\n}\n");
    let entry = "{\n  \"name\": \"fungal\",\n  \"roots\": [\"3333333333333333333333333333333333333333\"],\n  \"url\": null\n}\n";
    world.plant_in("refs/blue/realm", "repos/fungal.json", entry);
    let fungal = world.path("fungal");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0"));
    world.commit("fungal", "Paths 1.1.0");
    let refused = world.blue(&fungal, &["contract", "publish"]).exits(1);
    assert!(refused.stderr.contains("git blue realm admin reclaim"), "{refused}");
    let init = world.blue(&fungal, &["init"]);
    assert_eq!(init.code, 0, "the user joined this clone before: {init}");

    world.plant_in("refs/blue/realm", "repos/fungal.json", entry);
    let answer = world.json(&fungal, &["realm", "admin", "reclaim", "--reason", "it was never theirs"]);
    assert_eq!(answer["identity_changed"], true, "{answer}");
    assert_eq!(answer["domains"], json!(["s3-access"]));
    world.ok(&fungal, &["contract", "publish"]);
    assert_eq!(world.version(), "1.1.0");
    let log = world.git(&world.store(), &["log", "--format=%s %b", DOMAIN_REF]).stdout;
    assert!(log.contains("reclaim fungal it was never theirs"), "{log}");
}

#[test]
fn ci_of_a_repository_that_moved_names_the_step() {
    let world = World::solo();
    let (hub, fungal) = (world.hub(), world.path("fungal"));
    world.git(&fungal, &["remote", "add", "origin", "https://git.example.com/fungal.git"]);
    world.ok(&fungal, &["init", "--url", &hub]);
    world.on("runner").git(&world.root(), &["clone", "--quiet", "fungal", "job"]);
    let job = world.path("job");
    world.git(&job, &["remote", "set-url", "origin", "https://git.example.com/moved.git"]);
    let run = world.blue(&job, &["contract", "publish", "--realm-url", &hub]).exits(1);
    let step = "hint: run git blue init and git blue sync in a joined clone of fungal, if it has moved to this URL";
    assert!(run.stderr.contains(step), "{run}");
}

#[test]
fn ci_publishes_by_url_and_stores_nothing() {
    let world = World::solo();
    let hub = world.hub();
    world.ok(&world.path("fungal"), &["init", "--url", &hub]);
    world.git(&world.path("fungal"), &["config", "blue.publish", "ci"]);
    world.bump("1.1.0");
    assert_eq!(world.version(), "1.0.0");

    world.on("runner").git(&world.root(), &["clone", "--quiet", "fungal", "job"]);
    let job = world.path("job");
    world.git(&job, &["checkout", "--quiet", "--detach"]);
    let publish = ["contract", "publish", "--realm-url", &hub];
    // Like a runner of GitLab: no branch, and no `origin/HEAD`.
    world.git(&job, &["branch", "--quiet", "-D", "main"]);
    world.git(&job, &["remote", "set-head", "origin", "--delete"]);
    world.blue(&job, &publish).exits(1);
    world.set("CI_DEFAULT_BRANCH", "main");
    let dry = world.ok(&job, &[&publish[..], &["--dry-run"]].concat());
    assert!(dry.stdout.contains("would publish"), "{dry}");
    let published = world.ok(&job, &publish);
    assert!(published.stdout.contains("1.0.0 -> 1.1.0"), "{published}");
    let at_hub = |path: &str| world.git(&world.path("hub.git"), &["show", &format!("{DOMAIN_REF}:{path}")]).stdout;
    assert!(at_hub("contracts/s3-permissions.json").contains("\"1.1.0\""));
    assert!(!world.path("runner/blue").exists(), "nothing is kept on the runner");
    assert!(!world.path("job/.git/blue-joined").exists());
    world.ok(&job, &publish);
    // The job of an older commit, which was queued or is run again, has nothing to do.
    let older = world.ok(&job, &[&publish[..], &["--commit", "HEAD~1"]].concat());
    assert!(older.stdout.contains("nothing to publish") && older.stdout.contains("was already published"), "{older}");

    // Another repository cannot publish under the name, whatever its files say.
    world.repo("evil");
    world.write("evil/.blue/config.yaml", "realm: { name: aperture }\nrepo: fungal\n");
    world.write(&format!("evil/{CONTRACT_FILE}"), &contract("9.0.0"));
    world.commit("evil", "Look here");
    let evil = world.blue(&world.path("evil"), &publish).exits(1);
    assert!(evil.stderr.contains("the name fungal belongs to another repository"), "{evil}");
    world.repo("nameless");
    world.blue(&world.path("nameless"), &publish).exits(128);
    let unknown = world.blue(&world.path("nameless"), &[&publish[..], &["--repo", "nobody"]].concat()).exits(1);
    assert!(unknown.stderr.contains("nobody is not in the realm"), "{unknown}");
}
