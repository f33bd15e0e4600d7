//! An isolated world: its own home, a clock that advances a minute a command, and no variables, configuration or
//! hooks of the machine.

use std::{
    cell::{Cell, RefCell},
    ffi::OsStr,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value;

use crate::schemas;

#[path = "next_steps.rs"]
pub mod next_steps;
#[path = "run.rs"]
mod run;
#[path = "template.rs"]
mod template;

pub use run::Run;

/// The realm, domain and contract of most tests.
pub const REALM: &str = "aperture";
pub const CONTRACT_FILE: &str = ".blue/contracts/s3-access/s3-permissions.yaml";
pub const BINDING_FILE: &str = ".blue/bindings/s3-access.yaml";
pub const DOMAIN_REF: &str = "refs/blue/domains/s3-access";

/// The configuration of a new user, without background jobs.
const GIT_CONFIG: &str = "\
[user]
\tname = Ada
\temail = ada@example.com
[init]
\tdefaultBranch = main
[advice]
\tdetachedHead = false
[gc]
\tauto = 0
[maintenance]
\tauto = false
[protocol \"file\"]
\tallow = always
";

pub struct World {
    temp: tempfile::TempDir,
    minutes: Cell<i64>,
    /// The home of commands: that of the first machine, or another one.
    home: Cell<&'static str>,
    /// Additional environment variables.
    variables: RefCell<Vec<(&'static str, &'static str)>>,
}

/// The versions of git on this machine, oldest first, including `GIT_BLUE_TEST_GITS`.
#[expect(clippy::disallowed_methods, reason = "tests choose the programs that they run")]
pub fn gits() -> Vec<PathBuf> {
    let named = std::env::var_os("GIT_BLUE_TEST_GITS").unwrap_or_default();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let usual = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"].map(PathBuf::from);
    let folders = std::env::split_paths(&path).chain(usual).map(|folder| folder.join("git"));
    let mut found: Vec<(Vec<u32>, PathBuf)> = Vec::new();
    for git in std::env::split_paths(&named).chain(folders).filter(|git| git.is_file()) {
        let said = std::process::Command::new(&git).arg("--version").output().unwrap().stdout;
        let said = String::from_utf8(said).unwrap();
        let version = said.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect();
        found.push((version, git));
    }
    found.sort();
    found.dedup_by(|a, b| a.0 == b.0);
    found.into_iter().map(|(_, git)| git).collect()
}

impl World {
    /// An empty home.
    pub fn new() -> Self {
        let temp = tempfile::Builder::new().prefix("blue-e2e-").tempdir().unwrap();
        let world = Self { temp, minutes: Cell::new(0), home: Cell::new("home"), variables: RefCell::default() };
        std::fs::create_dir(world.root().join("home")).unwrap();
        std::fs::write(world.root().join("home/gitconfig"), GIT_CONFIG).unwrap();
        world
    }

    /// A realm with one domain, its provider `fungal`, which has published s3-permissions 1.0.0 through post-commit
    /// hooks, and its consumer `access`, which imports `>=1.0.0, <2.0.0`. Nothing is pending for either.
    pub fn pair() -> Self {
        Self::copy_of("pair", |world| {
            world.fill_solo();
            world.fill_pair();
        })
    }

    fn fill_pair(&self) {
        self.join("access");
        self.ok(&self.path("access"), &["realm", "admin", "domain", "--name", "s3-access", "--repos", "access"]);
        self.write("access/cdk/access_stack.py", "# uses s3-permissions\n");
        self.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0, <2.0.0"));
        self.commit("access", "Read from the masks");
        self.settle();
    }

    /// Like [`Self::pair`], with this git instead of the one in PATH.
    pub fn pair_with(git: &Path) -> Self {
        let world = Self::solo_with(git);
        world.fill_pair();
        world
    }

    /// [`Self::solo`] with this git.
    pub fn solo_with(git: &Path) -> Self {
        let world = Self::new();
        world.use_git(git);
        world.fill_solo();
        world
    }

    /// Puts this git first in PATH for later commands.
    pub fn use_git(&self, git: &Path) {
        std::fs::create_dir_all(self.path("bin")).unwrap();
        std::os::unix::fs::symlink(git, self.path("bin/git")).unwrap();
    }

    /// A realm, and a domain with one member, `fungal`, which has published s3-permissions 1.0.0.
    pub fn solo() -> Self {
        Self::copy_of("solo", Self::fill_solo)
    }

    /// A copy of a world that a test filled before with the same binary. Filling it takes longer than most tests.
    fn copy_of(name: &'static str, fill: impl Fn(&Self)) -> Self {
        let (world, template) = (Self::new(), template::Template::of(name));
        template.make(|| {
            let filled = Self::new();
            fill(&filled);
            let (root, minutes) = (filled.root(), filled.minutes.get());
            (filled, root, minutes)
        });
        world.minutes.set(template.copy_to(&world.root()));
        world
    }

    fn fill_solo(&self) {
        self.join("fungal");
        self.ok(&self.path("fungal"), &["realm", "admin", "domain", "--name", "s3-access", "--repos", "fungal"]);
        self.write("fungal/models/s3_paths.py", "# the paths\n");
        self.write(&format!("fungal/{BINDING_FILE}"), EXPORTING);
        self.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.0.0"));
        self.commit("fungal", "Agree on the paths");
    }

    /// Marks everything as seen, so that a test starts with nothing pending.
    pub fn settle(&self) {
        for repo in self.root().read_dir().unwrap().map(|entry| entry.unwrap().path()) {
            if repo.join(".blue/config.yaml").exists() {
                self.ok(&repo, &["status"]);
            }
        }
    }

    pub fn root(&self) -> PathBuf {
        // On some systems the temporary folder is a symbolic link.
        self.temp.path().canonicalize().unwrap()
    }

    pub fn path(&self, relative: &str) -> PathBuf {
        self.root().join(relative)
    }

    /// Returns the store of the realm.
    pub fn store(&self) -> PathBuf {
        self.path(&format!("{}/blue/realms/{REALM}.git", self.home.get()))
    }

    /// Creates an empty bare repository, `hub.git`. Returns its URL.
    pub fn hub(&self) -> String {
        self.bare("hub.git")
    }

    /// Creates an empty bare repository. Returns its URL.
    pub fn bare(&self, name: &str) -> String {
        self.git(&self.root(), &["init", "--quiet", "--bare", name]);
        self.path(name).display().to_string()
    }

    /// Switches to another machine, with a home of its own.
    pub fn on(&self, home: &'static str) -> &Self {
        std::fs::create_dir_all(self.path(home)).unwrap();
        self.home.set(home);
        self
    }

    /// Creates a repository with one commit.
    pub fn repo(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        self.git(&self.root(), &["init", "--quiet", name]);
        self.write(&format!("{name}/README.md"), &format!("# {name}\n"));
        self.commit(name, "Start");
        path
    }

    /// Creates a repository that has joined the realm, with hooks and a committed `.blue/config.yaml`.
    pub fn join(&self, name: &str) -> PathBuf {
        let path = self.repo(name);
        self.ok(&path, &["init", "--realm", REALM]);
        self.commit(name, "Join the realm");
        path
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Writes a script that can be executed.
    pub fn script(&self, path: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        self.write(path, text);
        std::fs::set_permissions(self.path(path), std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap()
    }

    /// Commits everything in a repository, and returns the output of git and the hook.
    pub fn commit(&self, repo: &str, message: &str) -> Run {
        let path = self.path(repo);
        self.git(&path, &["add", "--all"]);
        self.git(&path, &["commit", "--quiet", "--allow-empty", "-m", message])
    }

    /// Publishes a version of the contract by a commit and its hook.
    pub fn bump(&self, version: &str) -> Run {
        self.write(&format!("fungal/{CONTRACT_FILE}"), &contract(version));
        self.commit("fungal", &format!("Paths {version}"))
    }

    /// Runs git, and asserts success.
    pub fn git(&self, dir: &Path, args: &[&str]) -> Run {
        let run = self.try_git(dir, args);
        assert_eq!(run.code, 0, "{run:?}");
        run
    }

    pub fn try_git(&self, dir: &Path, args: &[&str]) -> Run {
        self.run(self.command("git", dir), "git", args)
    }

    /// Returns the first line of git's output.
    pub fn line(&self, dir: &Path, args: &[&str]) -> String {
        self.git(dir, args).stdout.lines().next().unwrap_or_default().to_owned()
    }

    /// Runs `git blue` through git.
    pub fn blue(&self, dir: &Path, args: &[&str]) -> Run {
        self.blue_with(dir, args, &[])
    }

    pub fn blue_with(&self, dir: &Path, args: &[&str], vars: &[(&str, &OsStr)]) -> Run {
        let mut command = self.command("git", dir);
        command.arg("blue").envs(vars.iter().copied());
        self.run(command, "git blue", args)
    }

    /// Runs `git blue`, and asserts success.
    pub fn ok(&self, dir: &Path, args: &[&str]) -> Run {
        let run = self.blue(dir, args);
        assert_eq!(run.code, 0, "{run:?}");
        run
    }

    /// Runs `git blue … --json`. Returns the answer, whatever the exit code.
    pub fn json(&self, dir: &Path, args: &[&str]) -> Value {
        self.blue(dir, &[args, &["--json"]].concat()).json()
    }

    /// Runs a program with this standard input.
    pub fn feed(&self, program: &str, dir: &Path, args: &[&str], input: &str) -> Run {
        let mut command = self.command(program, dir);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        self.outcome(child.wait_with_output().unwrap(), program, args)
    }

    /// Runs `git blue` with a closed standard output.
    pub fn blue_unread(&self, dir: &Path, args: &[&str]) -> Run {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = self.command("git", dir);
        command.arg("blue").args(args).stdin(Stdio::null()).stdout(writer).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        drop(command);
        self.outcome(child.wait_with_output().unwrap(), "git blue", args)
    }

    /// Advances the clock.
    pub fn pass_days(&self, days: i64) {
        self.pass_hours(days * 24);
    }

    pub fn pass_hours(&self, hours: i64) {
        self.minutes.set(self.minutes.get() + hours * 60);
    }

    /// Returns a command in the isolated environment, one minute after the last one.
    #[expect(clippy::disallowed_methods, reason = "the one reader of the environment of the tests")]
    pub fn command(&self, program: &str, dir: &Path) -> Command {
        self.minutes.set(self.minutes.get() + 1);
        let start: jiff::Timestamp = "2026-01-24T12:00:00Z".parse().unwrap();
        let now = (start + jiff::SignedDuration::from_mins(self.minutes.get())).to_string();
        let bin = Path::new(env!("CARGO_BIN_EXE_git-blue")).parent().unwrap().to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        // The world's own git comes first in PATH.
        let own = self.root().join("bin");
        let path = std::env::join_paths([own, bin].into_iter().chain(std::env::split_paths(&path))).unwrap();
        let home = self.root().join(self.home.get());
        let mut command = Command::new(program);
        command
            .current_dir(dir)
            .env_clear()
            .env("PATH", path)
            .env("HOME", &home)
            .env("GIT_BLUE_HOME", home.join("blue"))
            .env("GIT_BLUE_NOW", &now)
            .env("GIT_BLUE_SEED", "1")
            .env("GIT_AUTHOR_DATE", &now)
            .env("GIT_COMMITTER_DATE", &now)
            .env("GIT_CONFIG_GLOBAL", self.root().join("home/gitconfig"))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            // Repositories around the temporary folder are not found.
            .env("GIT_CEILING_DIRECTORIES", self.root())
            .env("GIT_EDITOR", "false")
            .env("LC_ALL", "C")
            .env("TZ", "UTC")
            .envs(self.variables.borrow().iter().copied());
        command
    }

    /// Sets a variable for later commands.
    pub fn set(&self, name: &'static str, value: &'static str) {
        self.variables.borrow_mut().push((name, value));
    }

    /// Runs a command from [`Self::command`], and returns its result.
    pub fn finish(&self, mut command: Command, name: &str) -> Run {
        let output = command.stdin(Stdio::null()).output().unwrap();
        self.outcome(output, name, &[])
    }

    /// Runs a line of shell.
    pub fn finish_shell(&self, dir: &Path, line: &str) -> Run {
        self.run(self.command("sh", dir), "sh", &["-c", line])
    }

    /// Returns the first command under `next` of a run.
    pub fn next_step(&self, run: &Run) -> String {
        self.next_steps(run).into_iter().next().unwrap_or_else(|| panic!("no next step: {run:?}"))
    }

    /// Returns the commands under `next` of a run.
    pub fn next_steps(&self, run: &Run) -> Vec<String> {
        let hints = run.stderr.lines().filter_map(|line| line.strip_prefix("hint: "));
        let steps = run.stdout.lines().skip_while(|line| *line != "next").skip(1);
        let steps = steps.take_while(|line| !line.is_empty()).map(str::trim);
        steps
            .chain(hints)
            .filter(|step| ["git ", "chmod ", "mv "].iter().any(|command| step.starts_with(command)))
            .map(str::to_owned)
            .collect()
    }

    fn run(&self, mut command: Command, name: &str, args: &[&str]) -> Run {
        let output = command.args(args).stdin(Stdio::null()).output().unwrap();
        self.outcome(output, name, args)
    }

    fn outcome(&self, output: Output, name: &str, args: &[&str]) -> Run {
        let run = Run {
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code().unwrap_or(-1),
            line: format!("{name} {}", args.join(" ")),
            root: self.root(),
        };
        if name == "git blue" {
            schemas::hold(args, &run.stdout);
            next_steps::hold(&self.next_steps(&run));
        }
        run
    }

    /// Returns the stored content of a path of the domain.
    pub fn stored(&self, path: &str) -> Value {
        let text = self.git(&self.store(), &["cat-file", "blob", &format!("{DOMAIN_REF}:{path}")]).stdout;
        serde_json::from_str(&text).unwrap()
    }

    /// Returns the current version in the store.
    pub fn version(&self) -> String {
        self.stored("contracts/s3-permissions.json")["version"].as_str().unwrap().to_owned()
    }

    /// Returns the target of a ref of the store, to assert that nothing was written.
    pub fn tip(&self, name: &str) -> String {
        self.line(&self.store(), &["rev-parse", name])
    }

    /// Writes a file into the domain with plain git, like damage or another program.
    pub fn plant(&self, path: &str, text: &str) {
        self.plant_in(DOMAIN_REF, path, text);
    }

    /// The same for another domain.
    pub fn plant_in(&self, name: &str, path: &str, text: &str) {
        let store = self.store();
        self.write("planted", text);
        let blob = self.line(&store, &["hash-object", "-w", self.path("planted").to_str().unwrap()]);
        let index = self.path("planted-index");
        let git = |args: &[&str]| {
            let mut command = self.command("git", &store);
            command.env("GIT_INDEX_FILE", &index);
            let run = self.run(command, "git", args);
            assert_eq!(run.code, 0, "{run:?}");
            run.stdout.trim().to_owned()
        };
        git(&["read-tree", name]);
        git(&["update-index", "--add", "--cacheinfo", &format!("100644,{blob},{path}")]);
        let tree = git(&["write-tree"]);
        let commit = git(&["commit-tree", "-p", name, "-m", "by other hands", &tree]);
        git(&["update-ref", name, &commit]);
    }
}

/// Compares runs with the snapshot of that name. Object ids are replaced, since they change with every stored byte.
#[track_caller]
pub fn snapshot(name: &str, runs: &[&Run]) {
    let text = runs.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n");
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_snapshot_path("../cli/snapshots");
    settings.set_omit_expression(true);
    settings.add_filter(r"notif-[0-9a-f]{12}", "[NOTIFICATION]");
    settings.add_filter(r"sess-[0-9a-f]{12}", "[SESSION]");
    settings.add_filter(r"\b[0-9a-f]{64}\b", "[HASH]");
    settings.add_filter(r"\b[0-9a-f]{40}\b", "[OID]");
    // Short ids: ours have ten digits, git's are first in a log line, or in an index line.
    settings.add_filter(r"\b[0-9a-f]{10}\b", "[ID]");
    settings.add_filter(r"(?m)^[0-9a-f]{7,10} ", "[ID] ");
    settings.add_filter(r"\b[0-9a-f]{7}\.\.[0-9a-f]{7}\b", "[ID]..[ID]");
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// The contract at a version; each version has its own value. The version is on line 2.
pub fn contract(version: &str) -> String {
    format!(
        "\
name: s3-permissions
version: \"{version}\"
owner: fungal
description: Paths that fungal writes and others read
values: free
schema:
  type: object
  required: [read]
  properties:
    read: {{ type: array, items: {{ type: string }} }}
value:
  read: [\"jobs/*/masks/*\", \"v{version}\"]
"
    )
}

/// The provider's binding.
pub const EXPORTING: &str = "\
role: provider
exports:
  - contract: s3-permissions
    source_files: [models/s3_paths.py]
";

/// A consumer's binding. The range is on line 4.
pub fn importing(range: &str) -> String {
    format!(
        "\
role: consumer
imports:
  - contract: s3-permissions
    version: \"{range}\"
    binding: cdk/access_stack.py
"
    )
}
