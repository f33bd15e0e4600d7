//! Every writing system call of a command fails once with each error, and the process is killed at it once. In each
//! case: no panic, an error with the cause, a store without fsck errors, every ref old or new, and the same command,
//! run again, ends in the state without the fault.

use std::os::unix::process::ExitStatusExt as _;

use super::{
    trace::{self, Call},
    whole::is_full,
    world::{State, World},
};

/// The maximum number of system calls that are tried with one kind of fault. If a command makes more, each kind uses
/// others, so that together they cover all; `make torture` tries every call with every kind.
const MOST: usize = 30;

/// A fault at a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// The call fails with this error.
    Error(&'static str),
    /// The call is interrupted, and a second attempt succeeds.
    Interrupt,
    /// The process is killed.
    Kill,
}

const FAULTS: [Fault; 6] = [
    Fault::Kill,
    Fault::Error("ENOSPC"),
    Fault::Error("EIO"),
    Fault::Error("EACCES"),
    Fault::Error("EMFILE"),
    Fault::Interrupt,
];

impl Fault {
    fn hits(self, call: &Call) -> bool {
        match self {
            Self::Error("EMFILE") => call.name == "openat",
            // Linux interrupts no other calls on files, and no opening of a folder.
            Self::Interrupt => {
                ["openat", "write", "fsync", "ftruncate"].contains(&&*call.name) && !call.text.contains("O_DIRECTORY")
            }
            _ => !call.only_reads(),
        }
    }

    fn inject(self, call: &Call) -> String {
        let how = match self {
            Self::Error(error) => format!("error={error}"),
            Self::Interrupt => "error=EINTR".into(),
            Self::Kill => "signal=KILL".into(),
        };
        format!("{}:{how}:when={}", call.name, call.number)
    }
}

/// A command that writes.
struct Command {
    repo: &'static str,
    arguments: &'static [&'static str],
    /// The message of a second run if the first one succeeded without reporting it.
    done: Option<&'static str>,
}

impl Command {
    /// Tries all its fault points, and prints their number.
    fn walk(&self) {
        let world = World::new();
        let old = world.state();
        let folder = world.folder(self.repo);
        let (output, calls) = trace::run(&world.sandbox, &folder, self.arguments, None);
        assert!(output.status.success(), "{output:?}");
        let (new, past) = (world.state(), world.past());
        assert_ne!(old, new, "it changes something");
        let inside = world.sandbox.path().display().to_string();
        // Files that the loader opens are excluded, and so are writes to standard error.
        let ours =
            |call: &&Call| call.paths().iter().any(|path| path.starts_with(&inside)) || call.text.starts_with('1');
        let calls: Vec<_> = calls.iter().filter(ours).collect();
        let (mut walked, mut failed) = (0, 0);
        for (offset, fault) in FAULTS.into_iter().enumerate() {
            let hit: Vec<_> = calls.iter().filter(|call| fault.hits(call)).collect();
            let step = if is_full() { 1 } else { hit.len().div_ceil(MOST).max(1) };
            for call in hit.into_iter().skip(offset % step).step_by(step) {
                world.reset();
                let case = Case { command: self, world: &world, old: &old, new: &new, past: &past, fault, call };
                // All are tried before any is reported.
                let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case.run()));
                failed += u32::from(outcome.is_err());
                walked += 1;
            }
        }
        println!("{:?}: {} calls, {walked} fault points", self.arguments, calls.len());
        assert_eq!(failed, 0, "of {walked} cases");
    }
}

/// A fault at one system call.
struct Case<'a> {
    command: &'a Command,
    world: &'a World,
    old: &'a State,
    new: &'a State,
    past: &'a std::collections::BTreeMap<String, Vec<String>>,
    fault: Fault,
    call: &'a Call,
}

impl Case<'_> {
    fn run(&self) {
        let Self { world, fault, call, .. } = self;
        let when = format!("{:?}, {fault:?} at {} {}: {}", self.command.arguments, call.name, call.number, call.text);
        let folder = world.folder(self.command.repo);
        let (output, calls) = trace::run(&world.sandbox, &folder, self.command.arguments, Some(&fault.inject(call)));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        if *fault == Fault::Kill {
            assert_eq!(output.status.signal(), Some(9), "{when}: {output:?}");
        } else {
            let hit = calls.iter().any(|made| made.name == call.name && made.text.contains("(INJECTED)"));
            assert!(hit, "{when}: the fault was not met");
            self.assert_civil(&output, &said, &when);
        }
        world.assert_clean(&when);
        let after = world.state();
        self.assert_old_or_new(&after, &when);
        // If the hooks belong to somebody else, the answer names another way to publish.
        let lacks_hooks = String::from_utf8_lossy(&output.stdout).contains("no hook can be written");
        if output.status.success() && !lacks_hooks {
            assert_eq!(&after, self.new, "{when}: it said that it was done");
        }
        let again = world.try_blue(self.command.repo, self.command.arguments);
        let complaint = String::from_utf8_lossy(&again.stderr).into_owned();
        let was_done = after == *self.new && self.command.done.is_some_and(|done| complaint.contains(done));
        assert!(again.status.success() || was_done, "{when}\nfirst: {said}\nonce more: {complaint}");
        assert_eq!(lasting(&world.state()), lasting(self.new), "{when}: once more");
        // If everything was done already, the next writing command finds the leftovers.
        if !world.lock_files().is_empty() {
            let further = ["realm", "admin", "domain", "--name", "further", "--repos", self.command.repo];
            let further = world.try_blue(self.command.repo, &further);
            assert!(further.status.success() && world.lock_files().is_empty(), "{when}: {:?}", world.lock_files());
        }
    }

    /// Asserts that it neither panicked nor aborted, and that a failure names its cause.
    fn assert_civil(&self, output: &std::process::Output, said: &str, when: &str) {
        let code = output.status.code().unwrap_or_else(|| panic!("{when}: {output:?}"));
        match code {
            0 => {}
            1 | 128 => {
                let first = said.lines().next().unwrap_or_default();
                let is_named = first.contains("cannot ") || first.contains('/');
                assert!(first.starts_with("fatal: ") || first.starts_with("error: "), "{when}: {said:?}");
                assert!(is_named, "{when}: it names neither a file nor what was done: {said:?}");
            }
            _ => panic!("{when}: exit code {code}: {said}"),
        }
        if self.fault == Fault::Interrupt {
            assert_eq!(code, 0, "{when}: an interrupted call is made again: {said}");
        }
    }

    /// Asserts that no ref and no file has a state that it would not have had without the fault.
    fn assert_old_or_new(&self, after: &State, when: &str) {
        for (at, found) in after {
            let is_known = self.old.get(at) == Some(found)
                || self.new.get(at) == Some(found)
                || self.past.get(at).is_some_and(|trees| trees.contains(found))
                // Written once for the realm and again for the repository's path.
                || (at == "blue/config" && self.new[at].starts_with(found));
            assert!(is_known, "{when}: {at} is neither as it was nor as it was to be: {found}");
        }
        let lost = self.old.keys().find(|at| !after.contains_key(*at));
        assert_eq!(lost, None, "{when}: it is gone");
    }
}

/// Returns the part of a state that must be equal. Receipts of a repository's other readers are written after the
/// reader's own; losing them repeats notifications.
fn lasting(state: &State) -> State {
    let is_kept = |at: &String| !(at.contains("/local/") && at.ends_with("/shared"));
    state.iter().filter(|(at, _)| is_kept(at)).map(|(at, is)| (at.clone(), is.clone())).collect()
}

#[test]
fn publish() {
    Command { repo: "aperture", arguments: &["contract", "publish"], done: None }.walk();
}

#[test]
fn admin_domain() {
    let arguments = &["realm", "admin", "domain", "--name", "new", "--repos", "aperture,fungal"];
    Command { repo: "aperture", arguments, done: None }.walk();
}

#[test]
fn admin_contract() {
    let arguments = &["realm", "admin", "contract", "--domain", "s3", "--name", "topics", "--owner", "aperture"];
    Command { repo: "aperture", arguments, done: Some("already exists") }.walk();
}

#[test]
fn inbox_mark() {
    Command { repo: "fungal", arguments: &["notifications", "ack", "--all"], done: None }.walk();
}

#[test]
fn init() {
    Command { repo: "joiner", arguments: &["init", "--realm", "new"], done: None }.walk();
}

#[test]
fn session_start() {
    Command { repo: "aperture", arguments: &["session", "start", "--rfc", "rfc-0042"], done: None }.walk();
}

#[test]
fn session_stop() {
    Command { repo: "fungal", arguments: &["session", "stop"], done: Some("there is no session") }.walk();
}
