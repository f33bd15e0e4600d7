//! Two machines that share a realm without manual syncs.
#![expect(clippy::print_stdout, reason = "latencies are shown")]

use std::time::{Duration, Instant};

use crate::{
    client::Daemon,
    receiver::{Manner, Receiver},
    wait::eventually,
    whole::is_full,
    world::{BINDING_FILE, World, importing},
};

/// The provider `fungal` on the machine `home`, and the consumer `access` on the machine `second`; both sync
/// automatically.
fn machines() -> World {
    let world = World::solo();
    let hub = world.hub();
    let said = world.ok(&world.path("fungal"), &["init", "--url", &hub, "--auto-sync"]).stdout;
    assert!(said.contains("automatic sync is on"), "{said}");
    world.on("second").repo("access");
    let access = world.path("access");
    world.ok(&access, &["init", "--url", &hub, "--auto-sync"]);
    world.ok(&access, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "access"]);
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0, <2.0.0"));
    world.commit("access", "Read from the masks");
    world.ok(&access, &["sync"]);
    world.ok(&access, &["status"]);
    world
}

/// Returns the newest version of the contract that is pending for `access`, according to its daemon.
fn heard(daemon: &Daemon<'_>, version: &str) -> bool {
    let answer = daemon.get("/notifications?realm=aperture&repo=access&state=pending").json();
    let all = answer["notifications"].as_array().cloned().unwrap_or_default();
    all.iter().any(|one| one["changes"]["new_version"] == version)
}

/// Returns the contract at the hub.
fn on_hub(world: &World) -> String {
    let file = "refs/blue/domains/s3-access:contracts/s3-permissions.json";
    world.git(&world.path("hub.git"), &["show", file]).stdout
}

#[test]
fn commit_is_notified_elsewhere_even_after_a_hub_outage() {
    let world = machines();
    let there = Daemon::start_with(&world, &["--sync-interval", "1", "--catch-up", "0"]);
    world.on("home");
    let here = Daemon::start_with(&world, &["--sync-interval", "1", "--catch-up", "0"]);
    world.bump("1.1.0");
    eventually("1.1.0 comes", || heard(&there, "1.1.0"));
    std::fs::rename(world.path("hub.git"), world.path("away.git")).unwrap();
    world.bump("1.2.0");
    world.bump("1.3.0");
    std::thread::sleep(Duration::from_secs(3));
    assert!(!heard(&there, "1.3.0"));
    std::fs::rename(world.path("away.git"), world.path("hub.git")).unwrap();
    eventually("1.3.0 comes", || heard(&there, "1.3.0"));
    world.on("second");
    let listed = world.json(&world.path("access"), &["notifications", "list"]);
    assert_eq!(listed["notifications"][0]["version_count"], 3, "none is lost: {listed}");
    drop(there);
    world.on("home");
    drop(here);
}

#[test]
fn merge_brings_changes_of_others() {
    let world = machines();
    world.on("home").bump("1.1.0");
    eventually("1.1.0 leaves", || on_hub(&world).contains("\"1.1.0\""));
    world.on("second");
    let access = world.path("access");
    assert_eq!(world.version(), "1.0.0");
    world.git(&access, &["switch", "--quiet", "--create", "topic"]);
    world.commit("access", "On a branch");
    world.git(&access, &["switch", "--quiet", "main"]);
    world.git(&access, &["merge", "--quiet", "--no-ff", "--no-edit", "topic"]);
    eventually("1.1.0 comes", || world.version() == "1.1.0");
    let answer = world.json(&access, &["notifications", "list", "--state", "pending"]);
    assert_eq!(answer["notifications"][0]["changes"]["new_version"], "1.1.0", "{answer}");
}

/// Not only hooks change the realm.
#[test]
fn commands_push_what_they_change() {
    let world = machines();
    world.on("home");
    let provider = world.path("fungal");
    world.bump("1.1.0");
    eventually("1.1.0 leaves", || on_hub(&world).contains("\"1.1.0\""));
    let yank = ["contract", "yank", "s3-access/s3-permissions", "1.0.0", "--reason", "wrong paths"];
    assert!(!world.ok(&provider, &yank).stdout.contains("not pushed yet"));
    eventually("the yank leaves", || on_hub(&world).contains("wrong paths"));
    world.ok(&provider, &["leave", "--force"]);
    let is_gone = || {
        let members = world.git(&world.path("hub.git"), &["show", "refs/blue/domains/s3-access:domain.json"]).stdout;
        !members.contains("fungal")
    };
    eventually("the repository leaves", is_gone);
}

#[test]
fn nothing_syncs_without_consent() {
    let world = machines();
    world.on("home");
    let said = world.ok(&world.path("fungal"), &["init", "--no-auto-sync"]).stdout;
    assert!(said.contains("automatic sync is off: run git blue sync"), "{said}");
    let daemon = Daemon::start_with(&world, &["--sync-interval", "1"]);
    let line = world.bump("1.1.0").stderr;
    assert!(line.contains("not pushed yet: git blue sync"), "{line}");
    std::thread::sleep(Duration::from_millis(2_500));
    assert!(!on_hub(&world).contains("1.1.0"));
    drop(daemon);
}

/// Returns the old and new versions in a receiver's events, each event once.
fn told(receiver: &Receiver) -> Vec<(String, String, Instant)> {
    let mut seen = std::collections::BTreeSet::new();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let first = receiver.taken().into_iter().filter(|one| seen.insert(one.id()));
    let changes = first.map(|one| (one.json()["data"]["changes"][0]["changes"].clone(), one.at));
    changes.map(|(change, at)| (text(&change["old_version"]), text(&change["new_version"]), at)).collect()
}

/// Prints the times, and returns the longest.
fn show(what: &str, mut times: Vec<Duration>) -> Duration {
    times.sort();
    let (Some(first), Some(last)) = (times.first(), times.last()) else { return Duration::ZERO };
    println!("{what}: {} times, {first:?} to {last:?}, half of them within {:?}", times.len(), times[times.len() / 2]);
    *last
}

#[test]
fn each_commit_is_one_event_elsewhere() {
    let world = machines();
    // Delays use the wall clock.
    world.set("GIT_BLUE_NOW", "");
    let receiver = Receiver::start();
    let file = world.path("second/blue/config").display().to_string();
    world.git(&world.root(), &["config", "--file", &file, "blue.notify.team.url", &receiver.url]);
    let there = Daemon::start_with(&world, &["--sync-interval", "1", "--catch-up", "0"]);
    eventually("the receiver is looked at", || {
        world.try_git(&world.store(), &["rev-parse", "--verify", "-q", "refs/blue/local/notify/team"]).code == 0
    });
    world.on("home");
    let here = Daemon::start_with(&world, &["--sync-interval", "1", "--catch-up", "0"]);
    let (mut plain, mut away, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    let rounds = if is_full() { 50 } else { 4 };
    for round in 1..=rounds {
        let version = format!("1.{round}.0");
        let (is_away, is_refused) = (round % 5 == 3, round % 5 == 4);
        if is_away {
            std::fs::rename(world.path("hub.git"), world.path("away.git")).unwrap();
        }
        if is_refused {
            receiver.then([Manner::Answer(500), Manner::TakeAndDrop]);
        }
        let start = Instant::now();
        world.bump(&version);
        if is_away {
            std::thread::sleep(Duration::from_secs(2));
            assert!(!told(&receiver).iter().any(|(_, new, _)| *new == version));
            std::fs::rename(world.path("away.git"), world.path("hub.git")).unwrap();
        }
        eventually(&format!("{version} comes"), || told(&receiver).iter().any(|(_, new, _)| *new == version));
        let at = told(&receiver).into_iter().find(|(_, new, _)| *new == version).unwrap().2;
        let times = if is_away {
            &mut away
        } else if is_refused {
            &mut refused
        } else {
            &mut plain
        };
        times.push(at.duration_since(start));
    }
    drop(here);
    world.on("second");
    drop(there);
    let expected: Vec<_> = (0..rounds).map(|round| (format!("1.{round}.0"), format!("1.{}.0", round + 1))).collect();
    let heard: Vec<_> = told(&receiver).into_iter().map(|(old, new, _)| (old, new)).collect();
    assert_eq!(heard, expected, "none is lost, none comes twice, and in order");
    let longest = show("commit to event", plain);
    show("with the hub away for 2 s", away);
    show("refused once, then dropped", refused);
    assert!(longest < Duration::from_secs(10), "{longest:?}");
}
