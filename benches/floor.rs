//! What `git blue` costs beside git itself. Every case runs in turn with the floor it is compared
//! with, in the same second on the same machine, and only the ratio of the two medians means much.
//!
//! The realm is the small one of `make_realm.sh`: this measures starting up, opening repositories
//! and deciding that there is nothing to do.

#[path = "../tests/scripted/mod.rs"]
mod scripted;

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use scripted::Scripted;

/// How often each side runs.
const RUNS: usize = 200;

/// A command in a folder.
struct Side {
    name: &'static str,
    folder: &'static str,
    arguments: &'static [&'static str],
}

/// What is measured, what it is compared with, and the most that it may cost (docs: budgets of
/// the design; `None` where there is none).
struct Case {
    measured: Side,
    floor: Side,
    most: Option<f64>,
}

const REV_PARSE: Side = Side { name: "git rev-parse HEAD", folder: "fungal", arguments: &["git", "rev-parse", "HEAD"] };
const COMMIT: &[&str] = &["git", "commit", "--quiet", "--allow-empty", "-m", "x"];

const CASES: &[Case] = &[
    Case {
        measured: Side { name: "git blue status", folder: "fungal", arguments: &["git", "blue", "status"] },
        floor: REV_PARSE,
        most: Some(4.0),
    },
    Case {
        measured: Side {
            name: "the hook alone, nothing to do",
            folder: "fungal",
            arguments: &["git-blue", "hook", "post-commit"],
        },
        floor: REV_PARSE,
        most: None,
    },
    Case {
        measured: Side { name: "a commit with the hook", folder: "fungal", arguments: COMMIT },
        floor: Side { name: "with an empty sh hook", folder: "plain", arguments: COMMIT },
        most: Some(1.6),
    },
];

/// The sealed environment in which everything runs.
struct Bench {
    place: Scripted,
    variables: Vec<(String, String)>,
}

impl Bench {
    fn new() -> Self {
        let place = Scripted::realm();
        let hook = "printf '#!/bin/sh\\n' >plain/.git/hooks/post-commit && chmod +x plain/.git/hooks/post-commit";
        let (code, output) = place.shell(&format!("git clone --quiet fungal plain && {hook}"));
        assert_eq!(code, 0, "{output}");
        let (_, variables) = place.shell("env");
        let pairs = variables.lines().filter_map(|line| line.split_once('='));
        let variables = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Self { place, variables }
    }

    fn time(&self, side: &Side) -> Duration {
        let mut command = Command::new(self.program(side.arguments[0]));
        command.args(&side.arguments[1..]).current_dir(self.place.path().join(side.folder)).env_clear();
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let start = Instant::now();
        let status = command.status().unwrap();
        let taken = start.elapsed();
        assert!(status.success(), "{}: {status}", side.name);
        taken
    }

    fn program(&self, name: &str) -> PathBuf {
        if name == "git-blue" { Path::new(env!("CARGO_BIN_EXE_git-blue")).to_owned() } else { name.into() }
    }
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e3
}

fn main() {
    let bench = Bench::new();
    let mut out = std::io::stdout().lock();
    for case in CASES {
        let (mut measured, mut floor) = (Vec::new(), Vec::new());
        for _ in 0..RUNS {
            measured.push(bench.time(&case.measured));
            floor.push(bench.time(&case.floor));
        }
        let (measured, floor) = (median(measured), median(floor));
        let ratio = measured / floor;
        let verdict = match case.most {
            Some(most) if ratio > most => format!("over the budget of {most} x"),
            Some(most) => format!("within {most} x"),
            None => String::new(),
        };
        let (name, against) = (case.measured.name, case.floor.name);
        writeln!(out, "{name:30} {measured:7.2} ms {ratio:6.2} x {against:22} {floor:7.2} ms  {verdict}").unwrap();
    }
}
