//! Every write-related system call of a command fails once with each error, and the process is
//! killed at it once. Whatever happens: no panic, an error that says what went wrong, a store that
//! git finds nothing wrong with, every ref as it was or as it was to be, and the same command, run
//! once more, ends where it would have without the fault.

use std::os::unix::process::ExitStatusExt as _;

use super::{
    trace::{self, Call},
    world::{State, World},
};

/// Most system calls that are walked with one kind of fault. Of a command that makes more, each kind
/// takes other ones, so that together they reach all; `make torture` walks every one with every kind.
const MOST: usize = 30;

/// What happens at a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// It fails with this error.
    Error(&'static str),
    /// It is interrupted, and a second attempt would succeed.
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
            // Linux interrupts no other call on files, and no open of a folder.
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
    /// What a second run says where the first one did everything and could not say so.
    done: Option<&'static str>,
}

impl Command {
    /// Walks all its fault points, and prints how many these were.
    fn walk(&self) {
        let world = World::new();
        let old = world.state();
        let folder = world.folder(self.repo);
        let (output, calls) = trace::run(&world.sandbox, &folder, self.arguments, None);
        assert!(output.status.success(), "{output:?}");
        let (new, past) = (world.state(), world.past());
        assert_ne!(old, new, "it changes something");
        let inside = world.sandbox.path().display().to_string();
        // What the loader opens is not ours; nor is there anybody to tell where standard error fails.
        let ours =
            |call: &&Call| call.paths().iter().any(|path| path.starts_with(&inside)) || call.text.starts_with('1');
        let calls: Vec<_> = calls.iter().filter(ours).collect();
        let everything = git_blue::env::Env::from_process().unwrap().text("GIT_BLUE_TORTURE") == Some("full");
        let (mut walked, mut failed) = (0, 0);
        for (offset, fault) in FAULTS.into_iter().enumerate() {
            let hit: Vec<_> = calls.iter().filter(|call| fault.hits(call)).collect();
            let step = if everything { 1 } else { hit.len().div_ceil(MOST).max(1) };
            for call in hit.into_iter().skip(offset % step).step_by(step) {
                world.reset();
                let case = Case { command: self, world: &world, old: &old, new: &new, past: &past, fault, call };
                // All are walked before any is reported.
                let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case.run()));
                failed += u32::from(outcome.is_err());
                walked += 1;
            }
        }
        println!("{:?}: {} calls, {walked} fault points", self.arguments, calls.len());
        assert_eq!(failed, 0, "of {walked} cases");
    }
}

/// One fault at one system call.
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
        if output.status.success() {
            assert_eq!(&after, self.new, "{when}: it said that it was done");
        }
        let again = world.try_blue(self.command.repo, self.command.arguments);
        let complaint = String::from_utf8_lossy(&again.stderr).into_owned();
        let was_done = after == *self.new && self.command.done.is_some_and(|done| complaint.contains(done));
        assert!(again.status.success() || was_done, "{when}\nfirst: {said}\nonce more: {complaint}");
        assert_eq!(lasting(&world.state()), lasting(self.new), "{when}: once more");
        // Where everything was done already, the next command that writes finds what was left.
        if !world.lock_files().is_empty() {
            let further = ["realm", "admin", "domain", "--name", "further", "--repos", self.command.repo];
            let further = world.try_blue(self.command.repo, &further);
            assert!(further.status.success() && world.lock_files().is_empty(), "{when}: {:?}", world.lock_files());
        }
    }

    /// It neither panicked nor aborted, and where it failed it said with what.
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

    /// No ref has a state that it would not have had without the fault, and the same holds for files.
    fn assert_old_or_new(&self, after: &State, when: &str) {
        for (at, found) in after {
            let is_known = self.old.get(at) == Some(found)
                || self.new.get(at) == Some(found)
                || self.past.get(at).is_some_and(|trees| trees.contains(found))
                // Written once for the realm and once more for where the repository lies.
                || (at == "blue/config" && self.new[at].starts_with(found));
            assert!(is_known, "{when}: {at} is neither as it was nor as it was to be: {found}");
        }
        let lost = self.old.keys().find(|at| !after.contains_key(*at));
        assert_eq!(lost, None, "{when}: it is gone");
    }
}

/// Returns what must be the same again. What a repository's other readers were told is marked after
/// the reader's own: where that is lost, they are told twice.
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
    Command { repo: "aperture", arguments, done: Some("exists already") }.walk();
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
