//! Runs the program and observes its effects.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use crate::world::World;

/// The time limit of a command, on a busy machine.
pub const LIMIT: Duration = Duration::from_secs(90);
/// The memory limit of a process, in KiB.
const MEMORY: i64 = 256 << 10;
/// The file that payloads would create if they were executed.
pub const CANARY: &str = "canary";

/// The output of a command.
pub struct Ran {
    pub said: String,
}

/// Runs `git blue` without a terminal, and asserts what holds for every command.
#[track_caller]
pub fn blue(world: &World, folder: &Path, arguments: &[&str]) -> Ran {
    let mut command = world.command("git", folder);
    command.arg("blue").args(arguments).env("GIT_BLUE_CHECK_TIMEOUT_MS", "5000");
    finish(command, &format!("git blue {arguments:?}"))
}

/// Runs a command to its end, or to its time limit.
#[track_caller]
pub fn finish(mut command: std::process::Command, name: &str) -> Ran {
    let file = tempfile::tempfile().unwrap();
    let (out, err) = (file.try_clone().unwrap(), file.try_clone().unwrap());
    let mut child = command.stdin(Stdio::null()).stdout(out).stderr(err).spawn().unwrap();
    let begun = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if begun.elapsed() > LIMIT => {
                child.kill().unwrap();
                child.wait().unwrap();
                panic!("{name} takes longer than {LIMIT:?}");
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let mut said = Vec::new();
    let mut file = file;
    std::io::Seek::rewind(&mut file).unwrap();
    std::io::Read::read_to_end(&mut file, &mut said).unwrap();
    let said = String::from_utf8(said).unwrap_or_else(|error| panic!("{name} prints no text: {error}"));
    let code = status.code().unwrap_or_else(|| panic!("{name} was ended: {status}: {said}"));
    assert!([0, 1, 128, 129].contains(&code), "{name}: {code}: {said}");
    assert!(!said.contains("panicked at"), "{name}: {said}");
    assert!(!said.contains(is_harmful), "{name}: {said:?}");
    Ran { said }
}

/// Returns whether a character affects a terminal.
fn is_harmful(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t') || ('\u{202a}'..='\u{202e}').contains(&c)
}

/// Returns every file of a world that no command may change, with its length.
pub fn outside(world: &World) -> BTreeMap<PathBuf, u64> {
    fn walk(folder: &Path, root: &Path, found: &mut BTreeMap<PathBuf, u64>) {
        for entry in folder.read_dir().unwrap().map(Result::unwrap) {
            let path = entry.path();
            let below = path.strip_prefix(root).unwrap();
            if ["home/blue", "fungal", "hub.git", "object", "pristine"].iter().any(|own| below.starts_with(own)) {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                walk(&path, root, found);
            } else {
                found.insert(below.to_owned(), entry.metadata().unwrap().len());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(&world.root(), &world.root(), &mut found);
    // Payloads may run elsewhere. Another user may have such a file.
    let elsewhere = std::env::temp_dir().join(CANARY);
    found.extend(elsewhere.metadata().ok().map(|file| (elsewhere, file.len())));
    found
}

/// Returns the files with a name, in any folder of a world.
fn named(folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in folder.read_dir().unwrap().map(Result::unwrap) {
        if entry.file_name() == name {
            found.push(entry.path());
        }
        if entry.file_type().unwrap().is_dir() {
            found.extend(named(&entry.path(), name));
        }
    }
    found
}

/// Asserts that nothing was executed, and that no process exceeded the memory limit.
#[track_caller]
pub fn nothing_happened(world: &World, before: &BTreeMap<PathBuf, u64>) {
    assert_eq!(&outside(world), before, "something was written outside");
    assert_eq!(named(&world.root(), CANARY), Vec::<PathBuf>::new(), "something ran");
    // In KiB on Linux.
    #[cfg(target_os = "linux")]
    {
        use nix::sys::resource::{UsageWho, getrusage};
        let most = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss();
        assert!(most < MEMORY, "a process took {most} KiB");
    }
}
