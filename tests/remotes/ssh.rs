//! Sync over ssh.

use std::time::{Duration, Instant};

use crate::{sshd::Sshd, world::World};

/// Two machines that reach the hub by ssh, each with a published contract.
fn two() -> (World, Sshd) {
    let mut world = World::new();
    let sshd = Sshd::start(&world.sandbox);
    world.set("GIT_SSH_COMMAND", sshd.client("client"));
    let hub = world.path("hub.git").display().to_string();
    // Both URL forms of git.
    world.join("alpha", &format!("ssh://{}@127.0.0.1:{}{hub}", sshd.user, sshd.port));
    world.ok("alpha", &["sync"]);
    world.join("beta", &format!("{}@127.0.0.1:{hub}", sshd.user));
    world.ok("beta", &["sync"]);
    world.ok("alpha", &["sync"]);
    world.all_alike(&["alpha", "beta"]);
    (world, sshd)
}

#[test]
fn two_machines_share_a_realm_over_ssh() {
    let (world, _sshd) = two();
    for version in 0..3 {
        world.publish("alpha", version);
        world.publish("beta", version);
        world.ok("alpha", &["sync"]);
        world.ok("beta", &["sync"]);
        world.ok("alpha", &["sync"]);
        world.all_alike(&["alpha", "beta"]);
    }
    let versions = world.sandbox.git(&world.store("alpha"), &["ls-tree", "-r", "--name-only", "refs/blue/domains/s3"]);
    assert_eq!(versions.lines().filter(|path| path.starts_with("versions/")).count(), 6, "{versions}");
}

#[test]
fn refused_key_is_an_error_without_prompt() {
    let (mut world, sshd) = two();
    world.publish("alpha", 0);
    world.set("GIT_SSH_COMMAND", sshd.client("stranger"));
    world.fails("alpha", &["Permission denied (publickey)"]);
    world.set("GIT_SSH_COMMAND", sshd.client("client"));
    world.ok("alpha", &["sync"]);
    world.ok("beta", &["sync"]);
    world.all_alike(&["alpha", "beta"]);
}

#[test]
fn unknown_host_is_an_error_without_prompt() {
    let (world, sshd) = two();
    world.publish("alpha", 0);
    sshd.forget_host();
    world.fails("alpha", &["Host key verification failed"]);
}

#[test]
fn unreachable_server_is_an_error_until_it_is_back() {
    let (world, mut sshd) = two();
    world.publish("alpha", 0);
    sshd.stop();
    world.fails("alpha", &["Connection refused"]);
    sshd.start_again();
    world.ok("alpha", &["sync"]);
    world.ok("beta", &["sync"]);
    world.all_alike(&["alpha", "beta"]);
}

#[test]
fn interrupted_connection_loses_nothing() {
    let (mut world, sshd) = two();
    // Larger than any buffer in between.
    world.publish_value("alpha", 0, &noise(200_000));
    let client = sshd.client("client");
    for bytes in [0, 100, 3_000, 60_000] {
        // The connection is cut after this many bytes.
        let script = world.path("cut");
        let cut =
            format!("case \"$*\" in *receive-pack*) head -c {bytes} | {client} \"$@\" ;; *) {client} \"$@\" ;; esac");
        std::fs::write(&script, format!("#!/bin/sh\n{cut}\n")).unwrap();
        world.set("GIT_SSH_COMMAND", format!("sh {}", script.display()));
        world.set("GIT_SSH_VARIANT", "ssh");
        let start = Instant::now();
        let run = world.blue("alpha", &["sync"]);
        assert_ne!(run.code, 0, "{bytes}: {run:?}");
        assert!(start.elapsed() < Duration::from_secs(30), "{bytes}: {:?}", start.elapsed());
        assert!(!run.all().contains("--branches"), "it is no question of names: {run:?}");
        let fsck = world.sandbox.try_git(&world.path("hub.git"), &["fsck", "--strict", "--no-dangling"]);
        assert!(fsck.status.success(), "{fsck:?}");
    }
    world.set("GIT_SSH_COMMAND", client);
    world.ok("alpha", &["sync"]);
    world.ok("beta", &["sync"]);
    world.all_alike(&["alpha", "beta"]);
}

/// Returns incompressible text.
pub fn noise(length: usize) -> String {
    let mut state = 7u64;
    let digit = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(b'a' + u8::try_from((state >> 33) % 26).unwrap_or_default())
    };
    (0..length).map(digit).collect()
}
