//! Remotes that have another realm of the same name.

use std::path::PathBuf;

use crate::{
    sync::{shared, tips},
    world::{REALM, World},
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
        let run = world.blue(&fungal, args);
        assert!(!run.all().contains("another realm"), "{run}");
    }
}
