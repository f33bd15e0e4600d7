//! Remotes that have another realm of the same name, or the realm at another place than expected.

use std::path::PathBuf;

use serde_json::Value;

use crate::{
    sync::{second, shared, tips},
    world::{DOMAIN_REF, REALM, World},
};

const OTHER: &str = "has another realm named aperture, created by Ada <ada@example.com> on 2026-";

fn hub_tips(world: &World) -> String {
    world.git(&world.path("hub.git"), &["for-each-ref", "--format=%(refname) %(objectname)"]).stdout
}

/// A realm of the same name on another machine, with one repository.
fn trial(world: &World) -> PathBuf {
    world.on("second").pass_days(1);
    let trial = world.repo("trial");
    world.ok(&trial, &["init", "--realm", REALM]);
    trial
}

#[test]
fn another_realm_of_the_same_name_is_not_merged() {
    let (world, hub) = shared();
    let before = hub_tips(&world);
    let trial = trial(&world);
    let (config, file) = (world.read("second/blue/config"), world.read("trial/.blue/config.yaml"));
    let fresh = world.repo("fresh");
    for (repo, args) in [
        (&trial, &["init", "--url", &hub][..]),
        (&trial, &["realm", "admin", "join", REALM, "--url", &hub]),
        (&fresh, &["init", "--url", &hub]),
        (&fresh, &["init", "--realm", REALM, "--url", &hub]),
    ] {
        let refused = world.blue(repo, args).exits(1);
        assert!(refused.stderr.contains(OTHER), "{refused}");
        assert_eq!(world.blue(repo, &[&["--json"], args].concat()).json()["code"], "other-realm");
        assert_eq!(world.read("second/blue/config"), config);
    }
    assert_eq!(world.read("trial/.blue/config.yaml"), file);
    // A remote that git was told.
    world.git(&world.store(), &["remote", "add", "origin", &hub]);
    for args in [&["sync"][..], &["sync", "--dry-run"]] {
        assert!(world.blue(&trial, args).exits(1).stderr.contains(OTHER));
    }
    world.git(&world.store(), &["remote", "remove", "origin"]);
    assert_eq!(hub_tips(&world), before);

    // Discarding the realm of this machine works as the message says.
    let refused = world.blue(&trial, &["init", "--url", &hub]).exits(1);
    let discard = world.next_steps(&refused).into_iter().find(|step| step.starts_with("mv ")).unwrap();
    assert_eq!(world.finish_shell(&trial, &discard).code, 0, "{discard}");
    world.ok(&trial, &["init", "--url", &hub]);
    world.ok(&trial, &["sync"]);
    world.ok(&fresh, &["init", "--url", &hub]);
    world.on("home").ok(&world.path("fungal"), &["sync"]);
    let realm = world.json(&world.path("fungal"), &["realm", "topology"]);
    assert!(realm.to_string().contains("trial"), "{realm}");
}

#[test]
fn another_realm_at_a_known_url_is_not_merged() {
    let (world, hub) = shared();
    let fungal = world.path("fungal");
    let before = tips(&world, "home");
    // The hub is replaced, and a third repository has the other realm as well.
    std::fs::rename(&hub, world.path("old.git")).unwrap();
    let (_, other) = (world.hub(), world.bare("other.git"));
    let trial = trial(&world);
    world.ok(&trial, &["init", "--url", &hub]);
    world.git(&world.store(), &["push", "--quiet", &other, "refs/blue/realm"]);
    world.on("home");
    let refused = world.blue(&fungal, &["sync"]).exits(1);
    assert!(refused.stderr.contains(OTHER), "{refused}");
    let doctor = world.blue(&fungal, &["doctor"]);
    assert!(doctor.stdout.contains(&world.next_step(&refused)), "{doctor}");
    let reseed = world.blue(&fungal, &["realm", "admin", "reseed", "--url", &other]).exits(1);
    assert!(reseed.stderr.contains(OTHER), "{reseed}");
    assert!(!world.read("home/blue/config").contains("other.git"));
    assert_eq!(tips(&world, "home"), before);
    let empty = world.bare("empty.git");
    world.ok(&fungal, &["realm", "admin", "reseed", "--url", &empty]);
}

#[test]
fn missing_history_is_not_another_realm() {
    let (world, hub) = shared();
    let fungal = world.path("fungal");
    let ours = world.line(&world.store(), &["cat-file", "commit", "refs/blue/realm"]);
    let tree = ours.lines().find(|line| line.starts_with("tree ")).unwrap().to_owned();
    let author = "Ada <ada@example.com> 1770000000 +0000";
    let lost = format!("{tree}\nparent {}\nauthor {author}\ncommitter {author}\n\nlost\n", "1".repeat(40));
    let args = ["hash-object", "-t", "commit", "-w", "--literally", "--stdin"];
    let lost = world.feed("git", &world.store(), &args, &lost).stdout.trim().to_owned();
    world.git(&world.store(), &["update-ref", "refs/blue/realm", &lost]);
    world.git(&PathBuf::from(&hub), &["update-ref", "-d", "refs/blue/domains/s3-access"]);
    for args in [&["sync"][..], &["sync", "--dry-run"]] {
        let run = world.blue(&fungal, args).exits(128);
        assert!(run.stderr.contains("the object 1111") && !run.stderr.contains(OTHER), "{run}");
    }
}

#[test]
fn branches_are_suggested_only_if_the_hub_refuses_other_refs() {
    let (world, hub) = shared();
    let fungal = world.path("fungal");
    world.script("hub.git/hooks/pre-receive", "#!/bin/sh\nprintf 'POLICY-42:\\033[31m not today\\n' >&2\nexit 1\n");
    world.bump("1.1.0");
    let declined = world.blue(&fungal, &["sync"]).exits(1);
    assert!(!declined.all().contains("--branches"), "{declined}");
    assert!(declined.all().contains("(pre-receive hook declined): POLICY-42:"), "{declined}");
    assert!(!declined.all().contains('\u{1b}'), "{declined}");
    // The hint is not given for a hub that has the realm already, and following an old one splits nothing.
    std::fs::remove_file(world.path("hub.git/hooks/pre-receive")).unwrap();
    let split = world.blue(&fungal, &["realm", "admin", "join", REALM, "--branches"]).exits(1);
    assert!(split.stderr.contains("has the realm at refs/blue/, not in branches"), "{split}");
    world.ok(&fungal, &["sync"]);
    assert!(!hub_tips(&world).contains("refs/heads"), "{}", hub_tips(&world));
    // Another machine that hides them gets the hint.
    let hidden = world.bare("hidden.git");
    world.git(&PathBuf::from(&hidden), &["config", "receive.hideRefs", "refs/blue"]);
    world.on("second").repo("access");
    let init = world.blue(&world.path("access"), &["init", "--realm", REALM, "--url", &hidden]).exits(1);
    assert!(init.all().contains("--branches  # store the realm in branches"), "{init}");
    drop(hub);
}

#[test]
fn realm_at_two_places_is_an_error() {
    let (world, hub) = shared();
    let access = second(&world, &hub);
    let fungal = world.on("home").path("fungal");
    world.ok(&fungal, &["sync"]);
    world.git(&world.store(), &["push", "--quiet", &hub, "refs/blue/realm:refs/heads/blue/realm"]);
    world.git(&world.store(), &["config", "remote.origin.blueRefs", "branches"]);
    let late = world.on("third").repo("late");
    let mut step = String::new();
    for (home, repo, args) in [
        ("home", &fungal, &["sync"][..]),
        ("home", &fungal, &["sync", "--dry-run"]),
        ("second", &access, &["sync"]),
        ("third", &late, &["init", "--url", &hub]),
    ] {
        let refused = world.on(home).blue(repo, args).exits(128);
        assert!(refused.stderr.contains("has the realm in two places: refs/blue/ and refs/heads/blue/"), "{refused}");
        step = world.next_step(&refused);
    }
    assert_eq!(world.finish_shell(&fungal, &step).code, 0, "{step}");
    world.on("second").ok(&access, &["sync"]);
    let refused = world.on("home").blue(&fungal, &["sync"]).exits(128);
    assert!(refused.stderr.contains("has the realm at refs/blue/, not at refs/heads/blue/"), "{refused}");
    let step = world.next_step(&refused);
    assert_eq!(world.finish_shell(&fungal, &step).code, 0, "{step}");
    world.ok(&fungal, &["sync"]);
    assert_eq!(tips(&world, "home"), tips(&world, "second"));
}

/// Each place may have what no machine has, as after a job of a pipeline published to it.
#[test]
fn realm_at_two_places_is_merged_without_loss() {
    let (world, hub) = shared();
    let fungal = world.path("fungal");
    world.ok(&fungal, &["sync"]);
    let before = world.tip(DOMAIN_REF);
    world.bump("1.1.0");
    world.git(&fungal, &["config", "blue.publish", "off"]);
    for name in ["realm", "domains/s3-access"] {
        let refspec = format!("refs/blue/{name}:refs/heads/blue/{name}");
        world.git(&world.store(), &["push", "--quiet", &hub, &refspec]);
    }
    world.git(&world.store(), &["update-ref", DOMAIN_REF, &before]);
    let refused = world.blue(&fungal, &["sync"]).exits(128);
    world.finish_shell(&fungal, &world.next_step(&refused)).exits(0);
    let copy = world.finish_shell(&fungal, "cd ~/realm-branches.git && pwd").exits(0).stdout;
    world.git(&world.store(), &["remote", "add", "copy", copy.trim()]);
    world.ok(&fungal, &["sync"]);
    assert_eq!(world.version(), "1.1.0");
    world.git(&world.store(), &["remote", "remove", "copy"]);
    world.ok(&fungal, &["sync"]);
    let tips = world.git(&PathBuf::from(&hub), &["for-each-ref", "--format=%(objectname)", DOMAIN_REF]).stdout;
    assert_eq!(tips.trim(), world.tip(DOMAIN_REF));
}

#[test]
fn realm_in_branches_is_found_by_a_machine_that_shares_later() {
    let (world, _) = shared();
    let branches = world.bare("branches.git");
    let refs = ["realm", "domains/s3-access"].map(|name| format!("refs/blue/{name}:refs/heads/blue/{name}"));
    world.git(&world.store(), &["push", "--quiet", &branches, &refs[0], &refs[1]]);
    world.git(&world.root(), &["clone", "--quiet", "--mirror", &world.store().display().to_string(), "copy.git"]);
    let copy = world.path("copy.git").display().to_string();
    world.on("second").repo("access");
    let access = world.path("access");
    world.ok(&access, &["realm", "admin", "init", "--name", REALM, "--path", &copy]);
    world.git(&world.path("copy.git"), &["config", "--remove-section", "remote.origin"]);
    world.ok(&access, &["init", "--realm", REALM, "--url", &branches]);
    let listed = world.git(&PathBuf::from(&branches), &["for-each-ref", "--format=%(refname)"]).stdout;
    assert!(!listed.contains("refs/blue"), "{listed}");
    assert_eq!(world.json(&access, &["sync"])["complete"], Value::Bool(true));
}

#[test]
fn hub_with_sha256_objects_is_not_tried_again() {
    let world = World::new();
    let repo = world.repo("fungal");
    world.git(&world.root(), &["init", "--quiet", "--bare", "--object-format=sha256", "h.git"]);
    let hub = world.path("h.git").display().to_string();
    let init = world.blue(&repo, &["init", "--realm", REALM, "--new", "--url", &hub]).exits(1);
    assert!(init.all().contains("git init --bare --object-format=sha1"), "{init}");
    let sync = world.blue(&repo, &["sync"]).exits(128);
    assert!(sync.stderr.contains("git init --bare --object-format=sha1"), "{sync}");
    assert!(!sync.stderr.contains("try again"), "{sync}");
}

/// A name in a copied or merged file must not take a repository out of its realm.
#[test]
fn joined_clone_does_not_join_a_second_realm() {
    let world = World::pair();
    let access = world.path("access");
    let other = world.repo("elsewhere");
    world.ok(&other, &["init", "--realm", "other"]);
    let config = world.read("access/.blue/config.yaml");
    world.write("access/.blue/config.yaml", &config.replace("name: aperture", "name: other"));
    let refused = world.blue(&access, &["init"]).exits(1);
    assert!(refused.stderr.contains("joined the realm aperture as access"), "{refused}");
    world.write("access/.blue/config.yaml", &config);
    world.ok(&access, &["check"]);
    // Once it left, it may join another realm.
    world.ok(&access, &["leave", "--force"]);
    world.write("access/.blue/config.yaml", &config.replace("name: aperture", "name: other"));
    world.ok(&access, &["init", "--realm", "other", "--repo", "access"]);
}

/// Nothing can be pushed to a file.
#[test]
fn realm_is_not_shared_at_a_bundle() {
    let world = World::pair();
    let (fungal, bundle) = (world.path("fungal"), world.path("realm.bundle").display().to_string());
    world.git(&world.store(), &["bundle", "create", "--quiet", &bundle, "--all"]);
    let refused = world.blue(&fungal, &["init", "--url", &bundle]).exits(129);
    assert!(refused.stderr.contains("is a file, but a realm can only be shared in a repository"), "{refused}");
    let step = world.next_step(&refused);
    assert_eq!(world.finish_shell(&fungal, &step).code, 0, "{step}");
}

#[test]
fn clone_of_a_shared_realm_does_not_join_another_of_the_same_name() {
    let (world, hub) = shared();
    let trial = trial(&world);
    world.git(&world.root(), &["clone", "--quiet", "fungal", "copy"]);
    let copy = world.path("copy");
    world.write("copy/.blue/config.yaml", &world.read("fungal/.blue/config.yaml"));
    let refused = world.blue(&copy, &["init"]).exits(128);
    assert!(refused.stderr.contains(&format!("is shared at {hub}, but the realm of that name")), "{refused}");
    assert!(refused.stderr.contains("GIT_BLUE_HOME=DIR git blue init --url"), "{refused}");
    let step = world.next_step(&refused);
    assert!(world.finish_shell(&copy, &step).stderr.contains(OTHER), "{step}");
    assert_eq!(world.json(&trial, &["realm", "list"])["realms"][0]["repos"], 1);
}
