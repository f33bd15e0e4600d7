//! The sealed folder in which everything runs, and the clock.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Instant,
};

use super::{
    realm,
    rows::{Row, Side},
    scripted::Scripted,
};

/// The flag that makes this program run another command and measure its usage.
const MEASURE_USAGE: &str = "--measure-usage";

/// The resources that a command used, including all processes that it started.
pub struct Usage {
    /// The peak memory of its largest process.
    pub megabytes: f64,
    /// The number of page faults that needed no read from a disk.
    pub page_faults: i64,
}

/// A realm of a given size, and repositories in it.
pub struct Place {
    folder: Scripted,
    variables: Vec<(String, String)>,
    /// The number of generated contracts, and of their domains.
    pub contracts: usize,
    pub domains: usize,
    /// How many contracts one of these has.
    pub per_domain: usize,
}

/// The change of a contract that is measured: the next minor version, committed without hooks.
const CHANGE: &str = r#"
file=.blue/contracts/s3-access/s3-permissions.yaml
cd "${1:-aperture}"
minor=$(sed -n 's/^version: "1\.\([0-9]*\)\.0"/\1/p' "$file")
sed "s/^version: .*/version: \"1.$((minor + 1)).0\"/; s/^description: .*/description: change $minor/" "$file" >next
mv next "$file"
git -c core.hooksPath=/dev/null commit --quiet --all -m "Change $minor"
"#;

/// Sets up a second machine that shares the realm at a hub, and copies of the same refs for plain git, once. On
/// request, makes one change on each side.
const SHARE: &str = r#"
export GIT_BLUE_HOME="$PWD/shared"
if [ ! -d shared ]; then
	git init --quiet --bare hub.git
	git -C home/.blue/realms/aperture.git push --quiet "$PWD/hub.git" refs/blue/realm 'refs/blue/domains/*:refs/blue/domains/*'
	cp -R hub.git plain-hub.git
	git clone --quiet aperture sharing && git -C sharing remote remove origin
	git -C sharing blue init --quiet --url "$PWD/hub.git"
	git -C sharing blue status --quiet >/dev/null
	git init --quiet --bare plain.git
	git -C plain.git remote add origin "$PWD/plain-hub.git"
	git -C plain.git config remote.origin.fetch '+refs/blue/*:refs/blue-remotes/origin/*'
	git -C plain.git fetch --quiet origin 'refs/blue/*:refs/blue/*' '+refs/blue/*:refs/blue-remotes/origin/*'
fi
git -C sharing blue sync --quiet >/dev/null
if [ "$1" = change ]; then
	sh change.sh sharing
	git -C sharing blue contract publish --quiet >/dev/null
	cd plain.git
	GIT_INDEX_FILE="$PWD/change"
	export GIT_INDEX_FILE
	git read-tree refs/blue/domains/s3-access
	for path in contracts/s3-permissions.json versions/s3-permissions/1.$$.0.json sources/aperture.json; do
		git update-index --add --cacheinfo "100644,$(echo "$path $$" | git hash-object -w --stdin),$path"
	done
	git update-ref refs/blue/domains/s3-access \
		"$(git commit-tree -p refs/blue/domains/s3-access -m change "$(git write-tree)")"
fi
"#;

/// Starts processes that add contracts to the domain `many`.
const WRITE: &str = r#"
writers=
for process in $(seq "$1"); do
	for write in $(seq "$2"); do
		git blue realm admin contract --domain many --name "c$$-$process-$write" --owner fungal --quiet >/dev/null || exit 1
	done &
	writers="$writers $!"
done
for writer in $writers; do
	wait "$writer" || exit 1
done
"#;

impl Place {
    /// Creates the realm and the repositories.
    pub fn new(contracts: usize, per_domain: usize) -> Self {
        let folder = Scripted::realm();
        let hook = "printf '#!/bin/sh\\n' >plain/.git/hooks/post-commit && chmod +x plain/.git/hooks/post-commit";
        let (code, output) = folder.shell(&format!("git clone --quiet fungal plain && {hook} && env"));
        assert_eq!(code, 0, "{output}");
        let pairs = output.lines().filter_map(|line| line.split_once('='));
        // Cargo sets it for the benchmark, and each program would look for its libraries there first.
        let pairs = pairs.filter(|(name, _)| *name != "LD_LIBRARY_PATH");
        let variables: Vec<_> = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        folder.write("change.sh", CHANGE);
        folder.write("write.sh", WRITE);
        folder.write("share.sh", SHARE);
        let store = folder.path().join("home/.blue/realms/aperture.git");
        let domains = realm::generate(&store, (contracts, per_domain), &variables);
        let place = Self { folder, variables, contracts, domains, per_domain };
        place.shell("git blue -C fungal realm admin domain --name many --repos fungal,aperture --quiet");
        place.shell("git blue -C aperture status --quiet >/dev/null; git blue -C fungal status --quiet >/dev/null");
        // Refs that have not changed for a while are no longer listed. That case is measured first.
        place.shell(
            "sleep 3; git blue -C fungal status --quiet >/dev/null; git blue -C aperture status --quiet >/dev/null",
        );
        place.shell(
            "git -C home/.blue/realms/aperture.git cat-file --batch-all-objects --batch-check='%(objectname)' >objects",
        );
        place
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> PathBuf {
        self.folder.path()
    }

    /// Returns the number of objects in the store.
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

    /// Prepares the measured side of a row.
    pub fn prepared<'r>(&self, row: &'r Row) -> Option<&'r Side> {
        self.shell(row.before);
        row.measured.input.is_none().then_some(&row.measured)
    }

    /// Returns a side as a command for another tool to run.
    pub fn under(&self, tool: &str, options: &[&str], side: &Side) -> Command {
        let mut command = self.prepare(Command::new(tool), side.folder);
        command.args(options).arg(self.program(side.arguments[0])).args(&side.arguments[1..]);
        command
    }

    /// Returns the resources that a command used.
    pub fn usage(&self, side: &Side) -> Usage {
        let this = git_blue::env::Env::from_process().unwrap().exe().to_owned();
        let mut command = self.prepare(Command::new(this), side.folder);
        command.arg(MEASURE_USAGE).arg(self.program(side.arguments[0])).args(&side.arguments[1..]);
        let output = command.stdout(Stdio::piped()).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let (megabytes, page_faults) = text.trim().split_once(' ').unwrap();
        Usage { megabytes: megabytes.parse().unwrap(), page_faults: page_faults.parse().unwrap() }
    }

    /// Runs a shell command in the folder.
    pub fn shell(&self, line: &str) {
        if !line.is_empty() {
            let mut command = self.prepare(Command::new("sh"), ".");
            assert!(command.args(["-c", line]).status().unwrap().success(), "{line}");
        }
    }

    fn time(&self, side: &Side) -> f64 {
        let mut command = self.command(side.arguments[0], side.folder);
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

    /// Returns a command that runs a program in a subfolder.
    pub fn command(&self, program: &str, folder: &str) -> Command {
        self.prepare(Command::new(self.program(program)), folder)
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

/// Returns whether this process was started to measure another one.
pub fn is_measuring_usage() -> bool {
    std::env::args().nth(1).is_some_and(|argument| argument == MEASURE_USAGE)
}

/// Runs the command after the flag. Prints the peak memory of its largest process in megabytes, and the page faults of
/// all its processes.
pub fn report_usage() {
    use std::io::Write as _;
    let arguments: Vec<_> = std::env::args_os().skip(2).collect();
    let status = Command::new(&arguments[0]).args(&arguments[1..]).stdout(Stdio::null()).status().unwrap();
    assert!(status.success(), "{arguments:?}: {status}");
    let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_CHILDREN).unwrap();
    let megabytes = usage.max_rss() as f64 / 1024.0;
    writeln!(std::io::stdout().lock(), "{megabytes:.1} {}", usage.minor_page_faults()).unwrap();
}
