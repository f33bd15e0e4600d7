//! The sealed folder in which everything runs, and the clock beside it.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use super::{
    realm,
    rows::{Row, Side},
    scripted::{self, Scripted},
};

/// Names the command whose memory a process of this program is to measure.
const MEASURE_MEMORY: &str = "--measure-memory";

/// A realm of some size, and repositories in it.
pub struct Place {
    folder: Scripted,
    variables: Vec<(String, String)>,
    /// How many generated domains there are.
    pub domains: usize,
}

/// Every change of a contract that is measured: the next minor version, committed without hooks.
const CHANGE: &str = r#"
file=.blue/contracts/s3-access/s3-permissions.yaml
cd aperture
minor=$(sed -n 's/^version: "1\.\([0-9]*\)\.0"/\1/p' "$file")
sed "s/^version: .*/version: \"1.$((minor + 1)).0\"/; s/^description: .*/description: change $minor/" "$file" >next
mv next "$file"
git -c core.hooksPath=/dev/null commit --quiet --all -m "Change $minor"
"#;

/// Processes that add contracts to a domain of their own or, where they are many, to one together.
const WRITE: &str = r#"
for process in $(seq "$1"); do
	for write in $(seq "$2"); do
		git blue realm admin contract --domain many --name "c$$-$process-$write" --owner fungal --quiet >/dev/null || exit 1
	done &
done
wait
"#;

impl Place {
    /// Makes the realm and the repositories.
    pub fn new(contracts: usize) -> Self {
        let folder = Scripted::realm();
        let hook = "printf '#!/bin/sh\\n' >plain/.git/hooks/post-commit && chmod +x plain/.git/hooks/post-commit";
        let (code, output) = folder.shell(&format!("git clone --quiet fungal plain && {hook} && env"));
        assert_eq!(code, 0, "{output}");
        let pairs = output.lines().filter_map(|line| line.split_once('='));
        let variables: Vec<_> = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        folder.write("change.sh", CHANGE);
        folder.write("write.sh", WRITE);
        let store = folder.path().join("home/.blue/realms/aperture.git");
        let domains = realm::generate(&store, contracts, &variables);
        let place = Self { folder, variables, domains };
        place.shell("git blue -C fungal realm admin domain --name many --repos fungal,aperture --quiet");
        place.shell("git blue -C aperture status --quiet >/dev/null; git blue -C fungal status --quiet >/dev/null");
        // Refs at rest are not listed any more: that is what is measured first.
        place.shell("sleep 3; git blue -C fungal status --quiet >/dev/null");
        place.shell(
            "git -C home/.blue/realms/aperture.git cat-file --batch-all-objects --batch-check='%(objectname)' >objects",
        );
        place
    }

    fn path(&self) -> PathBuf {
        self.folder.path()
    }

    /// How many objects the store has.
    pub fn objects(&self) -> usize {
        std::fs::read_to_string(self.path().join("objects")).unwrap().lines().count()
    }

    /// Returns the medians of both sides of a row, in milliseconds.
    pub fn compare(&self, row: &Row) -> (f64, f64) {
        let (mut measured, mut floor) = (Vec::new(), Vec::new());
        for side in [&row.measured, &row.floor] {
            self.shell(row.before);
            self.time(side);
        }
        for _ in 0..row.runs {
            self.shell(row.before);
            measured.push(self.time(&row.measured));
            floor.push(self.time(&row.floor));
        }
        (median(measured), median(floor))
    }

    /// Returns the most memory that a command had, in megabytes.
    pub fn memory(&self, side: &Side) -> f64 {
        let this = git_blue::env::Env::from_process().unwrap().exe().to_owned();
        let mut command = self.prepare(Command::new(this), side.folder);
        let output = command.arg(MEASURE_MEMORY).args(side.arguments).stdout(Stdio::piped()).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
    }

    fn shell(&self, line: &str) {
        if !line.is_empty() {
            let mut command = self.prepare(Command::new("sh"), ".");
            assert!(command.args(["-c", line]).status().unwrap().success(), "{line}");
        }
    }

    fn time(&self, side: &Side) -> f64 {
        let mut command = self.prepare(Command::new(self.program(side.arguments[0])), side.folder);
        if let Some(input) = side.input {
            command.stdin(File::open(self.path().join(input)).unwrap());
        }
        command.args(&side.arguments[1..]).stdout(Stdio::null());
        let start = Instant::now();
        let status = command.status().unwrap();
        let taken = start.elapsed();
        assert!(status.success(), "{:?}: {status}", side.arguments);
        taken.as_secs_f64() * 1e3
    }

    fn prepare(&self, mut command: Command, folder: &str) -> Command {
        command.current_dir(self.path().join(folder)).env_clear().envs(self.variables.iter().cloned());
        command.stdin(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn program(&self, name: &str) -> PathBuf {
        if name == "git-blue" { Path::new(env!("CARGO_BIN_EXE_git-blue")).to_owned() } else { name.into() }
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Whether this process was started to measure another one's memory.
pub fn is_measuring_memory() -> bool {
    std::env::args().nth(1).is_some_and(|argument| argument == MEASURE_MEMORY)
}

/// Runs the command named after the flag, and prints the most memory that it, or a process of its
/// own, had.
pub fn report_memory() {
    use std::io::Write as _;
    let arguments: Vec<_> = std::env::args_os().skip(2).collect();
    let status = Command::new(&arguments[0]).args(&arguments[1..]).stdout(Stdio::null()).status().unwrap();
    assert!(status.success() || scripted::variable("BENCH_ROWS").is_none(), "{arguments:?}: {status}");
    let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_CHILDREN).unwrap();
    writeln!(std::io::stdout().lock(), "{:.1}", usage.max_rss() as f64 / 1024.0).unwrap();
}
