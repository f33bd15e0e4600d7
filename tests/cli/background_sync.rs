//! Syncs that a hook or the daemon starts, and what is said about them.

use std::ffi::OsStr;

use crate::sync::{hub_tips, shared, tips};
use crate::{
    wait::eventually,
    world::{CONTRACT_FILE, Run, World, contract},
};

#[test]
fn hook_syncs_in_the_background_only_if_the_user_configured_it() {
    let (world, _) = shared();
    let fungal = world.path("fungal");
    world.git(&fungal, &["config", "blue.autoSync", "true"]);
    let before = hub_tips(&world);
    world.bump("1.1.0");
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    assert_eq!(hub_tips(&world), before, "the repository alone does not switch it on");
    let config = world.path("home/gitconfig").display().to_string();
    world.git(&world.root(), &["config", "--file", &config, "blue.autoSync", "true"]);
    world.bump("1.2.0");
    eventually("it is sent", || hub_tips(&world) == tips(&world, "home"));
    // Git sets such a path in post-receive.
    world.git(&fungal, &["config", "core.hooksPath", "/dev/null"]);
    world.bump("1.3.0");
    world.git(&fungal, &["--git-dir=.git", "blue", "contract", "publish"]);
    eventually("it is sent, too", || hub_tips(&world) == tips(&world, "home"));
}

/// The caller may read from another descriptor of a pipe, which the background process must not keep open.
#[test]
fn commit_does_not_wait_for_a_sync_in_the_background() {
    let (world, _) = shared();
    let config = world.path("home/gitconfig").display().to_string();
    world.git(&world.root(), &["config", "--file", &config, "blue.autoSync", "true"]);
    world.script("hub.git/hooks/pre-receive", "#!/bin/sh\nwhile [ -d hooks ]; do sleep 0.2; done\n");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0"));
    let mut command = world.command("sh", &world.path("fungal"));
    command.args(["-c", "exec 5>&1; git commit --quiet -a -m 'Paths 1.1.0'"]);
    let start = std::time::Instant::now();
    world.finish(command, "git commit").exits(0);
    assert!(start.elapsed() < std::time::Duration::from_secs(30));
}

#[test]
fn only_the_users_own_configuration_switches_syncing_on() {
    let (world, _) = shared();
    let fungal = world.path("fungal");
    let create = ["realm", "admin", "domain", "--repos", "fungal", "--name"];
    let step = |run: &Run| world.next_steps(run).contains(&"git blue sync  # not pushed yet".to_owned());
    assert!(step(&world.ok(&fungal, &[&create[..], &["one"]].concat())));
    let vars = ["GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=blue.autoSync", "GIT_CONFIG_VALUE_0=true"]
        .map(|var| var.split_once('=').unwrap());
    let vars = vars.map(|(name, value)| (name, OsStr::new(value)));
    let run = world.blue_with(&fungal, &[&create[..], &["two"]].concat(), &vars).exits(0);
    assert!(step(&run), "{run}");
    let config = world.path("home/gitconfig").display().to_string();
    world.git(&world.root(), &["config", "--file", &config, "blue.autoSync", "true"]);
    let run = world.ok(&fungal, &[&create[..], &["three"]].concat());
    assert!(!step(&run), "{run}");
}

#[test]
fn publish_says_whether_it_is_shared() {
    let (world, _) = shared();
    let fungal = world.path("fungal");
    world.git(&fungal, &["config", "blue.publish", "off"]);
    world.bump("1.1.0");
    let before = hub_tips(&world);
    let local = world.ok(&fungal, &["contract", "publish"]);
    assert!(local.stdout.contains("not pushed yet: git blue sync"), "{local:?}");
    assert_eq!(hub_tips(&world), before);
    world.bump("1.2.0");
    let shared = world.ok(&fungal, &["contract", "publish", "--sync"]);
    assert!(!shared.stdout.contains("not in sync yet"), "{shared:?}");
    assert_eq!(hub_tips(&world), tips(&world, "home"));
    std::fs::rename(world.path("hub.git"), world.path("away.git")).unwrap();
    world.bump("1.3.0");
    let failed = world.blue(&fungal, &["contract", "publish", "--sync"]);
    assert_ne!(failed.code, 0, "{failed:?}");
    assert!(failed.stderr.contains("it is published only on this machine"), "{failed:?}");
    assert_eq!(failed.stderr.matches("try again").count(), 1, "{failed:?}");
    std::fs::rename(world.path("away.git"), world.path("hub.git")).unwrap();
    world.ok(&fungal, &["contract", "publish", "--sync"]);
    assert_eq!(hub_tips(&world), tips(&world, "home"), "what was published before goes, too");
}

#[test]
fn status_reports_the_last_contact() {
    let (world, _) = shared();
    let fungal = world.path("fungal");
    world.ok(&fungal, &["sync"]);
    assert!(!world.ok(&fungal, &["status"]).stdout.contains("last contact"));
    let file = world.store().join("blue/sync/contact-origin");
    std::fs::write(file, "2026-01-21T09:00:00Z\n").unwrap();
    let status = world.ok(&fungal, &["status"]).stdout;
    assert!(status.contains("last contact with origin was 3 days ago: git blue sync"), "{status}");
}

/// The configuration of the store names a deploy key.
#[test]
fn sync_without_a_terminal_uses_the_ssh_command_of_the_store() {
    let world = World::solo();
    let store = world.store();
    world.script("bin/ssh", "#!/bin/sh\necho \"$*\" >>\"$HOME/ssh.log\"\nexit 255\n");
    world.git(&store, &["remote", "add", "origin", "ssh://git@host/realm.git"]);
    world.git(&store, &["config", "core.sshCommand", "ssh -i /deploy_key"]);
    world.blue(&world.path("fungal"), &["sync"]);
    let log = world.read("home/ssh.log");
    assert!(log.starts_with("-i /deploy_key -o BatchMode=yes "), "{log}");
}
