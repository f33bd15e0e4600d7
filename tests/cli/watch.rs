//! `notifications watch`, with real processes on both sides.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    daemon::Daemon,
    left_out::left_out,
    wait::eventually,
    world::{BINDING_FILE, EXPORTING, World, contract},
};

/// A watching process and its lines, with their times.
struct Watching {
    child: Child,
    lines: Receiver<(Instant, String)>,
}

impl Watching {
    fn start(world: &World, more: &[&str]) -> Self {
        let mut command = world.command(env!("CARGO_BIN_EXE_git-blue"), &world.path("access"));
        command.args(["notifications", "watch"]).args(more).stdin(Stdio::null());
        Self::spawn(command)
    }

    fn spawn(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let (sender, lines) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            for line in out.lines() {
                if sender.send((Instant::now(), line.unwrap())).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    fn next(&self) -> (Instant, String) {
        self.lines.recv_timeout(Duration::from_secs(60)).expect("a line comes")
    }

    fn ticks(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap();
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        fields.split(' ').skip(11).take(2).map(|field| field.parse::<u64>().unwrap()).sum()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn changes_are_printed_once_as_they_arrive() {
    let world = World::pair();
    world.bump("1.1.0");
    let mut watching = Watching::start(&world, &["--json", "--mark"]);
    let line = watching.next().1;
    crate::schemas::hold(&["notifications", "watch", "--json"], &line);
    let first: Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&first["changes"]["new_version"], &first["state"]), (&"1.1.0".into(), &"pending".into()));
    let mut waits = Vec::new();
    for minor in 2..8 {
        // A packed ref is a ref, and git removes the folder of refs that became packed.
        if minor % 2 == 0 {
            world.git(&world.store(), &["pack-refs", "--all", "--prune"]);
        }
        world.bump(&format!("1.{minor}.0"));
        let published = Instant::now();
        let (at, line) = watching.next();
        let one: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(one["changes"]["new_version"], format!("1.{minor}.0"));
        assert_eq!(one["version_count"], 1, "what was shown is known");
        waits.push(at.saturating_duration_since(published));
    }
    waits.sort();
    assert!(waits[waits.len() / 2] < Duration::from_secs(2), "{waits:?}");
    let before = watching.ticks();
    std::thread::sleep(Duration::from_millis(1500));
    assert!(watching.ticks() - before <= 5, "it waits, and does not look again and again");
    assert!(watching.lines.try_recv().is_err());
    assert!(watching.child.try_wait().unwrap().is_none());
    let status = world.json(&world.path("access"), &["status"]);
    assert_eq!(status["notifications"].as_array().unwrap().len(), 0, "they were marked");
}

#[test]
fn without_mark_changes_stay_pending() {
    let world = World::pair();
    let watching = Watching::start(&world, &[]);
    world.bump("1.1.0");
    let line = watching.next().1;
    assert!(line.contains("fungal changed s3-access/s3-permissions 1.0.0 -> 1.1.0"), "{line}");
    let status = world.json(&world.path("access"), &["status"]);
    assert_eq!(status["notifications"].as_array().unwrap().len(), 1);
}

#[test]
fn ends_when_stdout_closes_or_on_interrupt() {
    let world = World::pair();
    let mut command = world.command(env!("CARGO_BIN_EXE_git-blue"), &world.path("access"));
    command.args(["notifications", "watch"]).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    drop(child.stdout.take());
    eventually("it ends", || child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().code(), Some(0));

    let mut watching = Watching::start(&world, &["--json"]);
    world.bump("1.1.0");
    assert!(watching.next().1.ends_with('}'));
    let kill = std::process::Command::new("kill").args(["-INT", &watching.child.id().to_string()]).status();
    assert!(kill.unwrap().success());
    assert!(!watching.child.wait().unwrap().success());
    assert!(watching.lines.recv_timeout(Duration::from_secs(5)).is_err(), "no half line");
}

#[test]
fn exec_gets_each_change_on_standard_input() {
    let world = World::pair();
    let file = world.path("told");
    let line = format!("cat >>{}; echo \"args $#\" >>{}", file.display(), file.display());
    let watching = Watching::start(&world, &["--exec", &line, "--bell", "--rank", "broken"]);
    world.bump("1.1.0");
    world.bump("2.0.0");
    let shown = watching.next().1;
    assert!(shown.contains("2.0.0") && shown.contains("broken"), "only what matters so much: {shown}");
    let told = || std::fs::read_to_string(&file).unwrap_or_default();
    eventually("the command is run", || told().contains("args"));
    let told = told();
    let (json, rest) = told.split_once('\n').unwrap();
    let one: Value = serde_json::from_str(json).unwrap();
    assert_eq!((&one["rank"], &one["changes"]["new_version"]), (&"broken".into(), &"2.0.0".into()));
    assert_eq!(rest, "args 0\n");
    world.write("fungal/.blue/contracts/s3-access/other.yaml", &contract("1.0.0").replace("s3-permissions", "other"));
    world.commit("fungal", "Another contract");
    let other = Watching::start(&world, &["--contract", "s3-access/other"]);
    world.bump("2.1.0");
    world.write("fungal/.blue/contracts/s3-access/other.yaml", &contract("1.1.0").replace("s3-permissions", "other"));
    world.commit("fungal", "Change the other contract");
    let shown = other.next().1;
    assert!(shown.contains("s3-access/other"), "the first is of another contract: {shown}");
}

#[test]
fn output_of_exec_stays_out_of_the_json() {
    let world = World::pair();
    let watching = Watching::start(&world, &["--json", "--exec", "echo done"]);
    for version in ["1.1.0", "1.2.0"] {
        world.bump(version);
        let line = watching.next().1;
        assert!(line.starts_with('{') && line.contains(version), "{line}");
    }
}

#[test]
fn failing_exec_stops_nothing() {
    let world = World::pair();
    let watching = Watching::start(&world, &["--exec", "exit 3"]);
    world.bump("1.1.0");
    assert!(watching.next().1.contains("1.1.0"));
    world.bump("1.2.0");
    assert!(watching.next().1.contains("1.2.0"));
}

#[test]
fn change_stays_pending_if_its_exec_failed() {
    for (exec, pending) in [("exit 3", 1), ("true", 0)] {
        let world = World::pair();
        let watching = Watching::start(&world, &["--mark", "--exec", exec]);
        world.bump("1.1.0");
        watching.next();
        let count = || world.json(&world.path("access"), &["notifications", "list"])["summary"]["pending"].clone();
        if pending == 0 {
            eventually("it is marked", || count() == 0);
        } else {
            std::thread::sleep(std::time::Duration::from_millis(500));
            assert_eq!(count(), pending);
        }
    }
}

#[test]
fn desktop_notifications_are_sent_or_refused() {
    let world = World::pair();
    let watch = |folders: &str| {
        let mut command = world.command(env!("CARGO_BIN_EXE_git-blue"), &world.path("access"));
        command.args(["notifications", "watch", "--desktop"]).env("PATH", folders);
        command
    };
    let run = world.finish(watch("/nowhere"), "git-blue notifications watch").exits(128);
    assert!(run.stderr.contains("is not installed"), "{run:?}");
    if cfg!(target_os = "linux") {
        let (bin, file) = (world.path("desktop"), world.path("shown"));
        world.script("desktop/notify-send", &format!("#!/bin/sh\nprintf '%s\\n' \"$@\" >{}\n", file.display()));
        world.bump("2.0.0");
        let path = std::env::join_paths([bin.as_path(), "/usr/bin".as_ref(), "/bin".as_ref()]).unwrap();
        let mut child = watch(path.to_str().unwrap()).stdout(Stdio::null()).spawn().unwrap();
        eventually("it is shown", || file.metadata().is_ok_and(|file| file.len() > 0));
        child.kill().unwrap();
        child.wait().unwrap();
        let shown = std::fs::read_to_string(&file).unwrap();
        assert!(shown.contains("s3-access/s3-permissions 1.0.0 -&gt; 2.0.0: your import is broken"), "{shown}");
    }
}

/// Returns whether a process has an inotify instance. Only Linux reports this.
fn looks_itself(watching: &Watching) -> bool {
    let files = std::fs::read_dir(format!("/proc/{}/fd", watching.child.id())).unwrap();
    let targets = files.filter_map(|file| std::fs::read_link(file.unwrap().path()).ok());
    targets.into_iter().any(|target| target.display().to_string().contains("inotify"))
}

/// Waits until it has one, or no longer has.
fn waits_until_it_looks(watching: &Watching, itself: bool) {
    eventually(&format!("looks itself: {itself}"), || looks_itself(watching) == itself);
}

/// Watches while the daemon runs, stops, and runs again.
fn watch_across_daemons(world: &World, more: &[&str]) {
    let version = |watching: &Watching| -> String {
        let one: Value = serde_json::from_str(&watching.next().1).unwrap();
        one["changes"]["new_version"].as_str().unwrap().to_owned()
    };
    world.bump("1.1.0");
    let daemon = Daemon::start(world);
    let watching = Watching::start(world, more);
    // It finds the changes that were pending before on its own.
    assert_eq!(version(&watching), "1.1.0");
    world.bump("1.2.0");
    assert_eq!(version(&watching), "1.2.0");
    assert!(!looks_itself(&watching));
    drop(daemon);
    waits_until_it_looks(&watching, true);
    world.bump("1.3.0");
    assert_eq!(version(&watching), "1.3.0");
    let _daemon = Daemon::start(world);
    waits_until_it_looks(&watching, false);
    world.bump("1.4.0");
    assert_eq!(version(&watching), "1.4.0");
    std::thread::sleep(Duration::from_millis(500));
    assert!(watching.lines.try_recv().is_err(), "each was told once");
}

#[test]
#[cfg(target_os = "linux")]
fn uses_the_daemon_and_loses_nothing_when_it_stops() {
    watch_across_daemons(&World::pair(), &["--json"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_change_that_was_undone_and_is_made_again_is_shown_again() {
    let world = World::pair();
    let file = format!("fungal/{BINDING_FILE}");
    let _daemon = Daemon::start(&world);
    let watching = Watching::start(&world, &["--json"]);
    let change = |watching: &Watching| -> (Value, Value) {
        let one: Value = serde_json::from_str(&watching.next().1).unwrap();
        (one["type"].clone(), one["id"].clone())
    };
    world.bump("1.1.0");
    change(&watching);
    world.write(&file, &EXPORTING.replace("s3_paths.py", "other_paths.py"));
    world.write("fungal/models/other_paths.py", "# the paths\n");
    world.commit("fungal", "Change the binding");
    let first = change(&watching);
    world.write(&file, EXPORTING);
    world.bump("1.2.0");
    assert_ne!(change(&watching), first);
    world.write(&file, &EXPORTING.replace("s3_paths.py", "other_paths.py"));
    world.commit("fungal", "Change the binding again");
    assert_eq!(change(&watching), first);
}

#[test]
#[cfg(target_os = "linux")]
fn changes_from_the_daemon_are_marked_too() {
    let world = World::pair();
    watch_across_daemons(&world, &["--json", "--mark"]);
    let status = world.json(&world.path("access"), &["status"]);
    assert_eq!(status["notifications"].as_array().unwrap().len(), 0);
}

#[test]
#[cfg(target_os = "linux")]
fn works_without_inotify() {
    let world = World::pair();
    // A user namespace has its own limits, so others are not affected.
    let line = "echo 0 >/proc/sys/user/max_inotify_instances && exec \"$0\" notifications watch --json";
    let mut command = world.command("unshare", &world.path("access"));
    command.args(["--user", "--map-root-user", "sh", "-c", line, env!("CARGO_BIN_EXE_git-blue")]);
    command.stdin(Stdio::null()).stderr(Stdio::piped());
    let mut watching = Watching::spawn(command);
    let mut said = BufReader::new(watching.child.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    if line.contains("unshare:") || line.contains("sh:") {
        return left_out(&format!("this machine gives no user namespace: {line}"));
    }
    assert_eq!(
        line,
        "git blue: polling for changes 40 times a second, because fs.inotify.max_user_instances is too low\n"
    );
    for minor in 1..4 {
        world.bump(&format!("1.{minor}.0"));
        let one: Value = serde_json::from_str(&watching.next().1).unwrap();
        assert_eq!(one["changes"]["new_version"], format!("1.{minor}.0"));
    }
}

#[test]
fn continues_under_a_new_name_and_ends_when_the_repository_leaves() {
    for has_daemon in [false, true] {
        let world = World::pair();
        let access = world.path("access");
        let _daemon = has_daemon.then(|| Daemon::start(&world));
        let mut watching = Watching::start(&world, &["--json"]);
        world.bump("1.1.0");
        assert!(watching.next().1.contains("1.1.0"));
        world.ok(&access, &["realm", "admin", "rename", "access", "reader"]);
        world.bump("2.0.0");
        while !watching.next().1.contains("2.0.0") {}
        world.ok(&access, &["leave", "--force"]);
        eventually("it ends", || watching.child.try_wait().unwrap().is_some());
        assert_eq!(watching.child.wait().unwrap().code(), Some(128), "daemon: {has_daemon}");
    }
}
