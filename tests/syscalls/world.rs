//! A small world, created once and copied for every case: a realm's store, and three code repositories.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::Output,
};

use git_blue::testing::sandbox::Sandbox;

/// The trees of every ref of every store, and the text of every other file that a command writes.
pub type State = BTreeMap<String, String>;

/// Files outside of the stores that the commands write.
const FILES: [&str; 3] = ["blue/config", "joiner/.blue/config.yaml", "joiner/.git/hooks/post-commit"];

/// The repositories with a running session.
const AT_WORK: [&str; 2] = ["aperture", "fungal"];

/// The world. Its path is fixed, because paths are recorded in it.
pub struct World {
    /// Its environment.
    pub sandbox: Sandbox,
}

impl World {
    /// Creates it: `aperture` has a commit that publishes a new version, `fungal` has not seen the previous one and
    /// is in a session, and `joiner` has not joined.
    pub fn new() -> Self {
        let mut sandbox = Sandbox::new();
        let top = sandbox.path();
        std::fs::create_dir(top.join("world")).unwrap();
        sandbox.set("GIT_BLUE_HOME", top.join("world/blue"));
        sandbox.set("GIT_BLUE_NOW", "2026-01-24T12:00:00Z");
        sandbox.set("GIT_BLUE_SEED", "1");
        sandbox.set("GIT_BLUE_LOCK_TIMEOUT_MS", "1000");
        let world = Self { sandbox };
        for repo in ["aperture", "fungal", "joiner"] {
            let folder = world.folder(repo);
            world.git(&top, &["init", "-q", "--template=", folder.to_str().unwrap()]);
            world.git(&folder, &["commit", "-q", "--allow-empty", "-m", "First"]);
        }
        world.blue("aperture", &["init", "--realm", "r"]);
        world.blue("fungal", &["init", "--realm", "r"]);
        world.blue("aperture", &["realm", "admin", "domain", "--name", "s3", "--repos", "aperture,fungal"]);
        world.commit("1.0.0");
        world.blue("aperture", &["contract", "publish"]);
        world.commit("1.1.0");
        world.blue("fungal", &["session", "start"]);
        // Sample hooks, which would be copied for every case.
        std::fs::remove_dir_all(world.stores()[0].join("hooks")).unwrap();
        world.copy("world", "seed");
        world
    }

    /// Restores the initial state.
    pub fn reset(&self) {
        std::fs::remove_dir_all(self.sandbox.path().join("world")).unwrap();
        self.copy("seed", "world");
    }

    fn copy(&self, from: &str, to: &str) {
        let output = self.sandbox.command("cp", &self.sandbox.path()).args(["-a", from, to]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    /// Returns the folder of a code repository.
    pub fn folder(&self, repo: &str) -> PathBuf {
        self.sandbox.path().join("world").join(repo)
    }

    fn git(&self, folder: &Path, arguments: &[&str]) -> String {
        self.sandbox.git(folder, arguments)
    }

    /// Commits a contract's version without the publishing hook.
    fn commit(&self, version: &str) {
        let folder = self.folder("aperture");
        std::fs::create_dir_all(folder.join(".blue/contracts/s3")).unwrap();
        let text = format!(
            "name: paths\nversion: \"{version}\"\nowner: aperture\nvalues: free\nvalue: {{at: \"{version}\"}}\n"
        );
        std::fs::write(folder.join(".blue/contracts/s3/paths.yaml"), text).unwrap();
        self.git(&folder, &["add", "."]);
        self.git(&folder, &["-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", version]);
    }

    /// Runs the binary in a code repository, without faults.
    pub fn try_blue(&self, repo: &str, arguments: &[&str]) -> Output {
        let mut command = self.sandbox.command(env!("CARGO_BIN_EXE_git-blue"), &self.folder(repo));
        command.args(arguments).output().unwrap()
    }

    fn blue(&self, repo: &str, arguments: &[&str]) {
        let output = self.try_blue(repo, arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }

    /// Returns the existing stores.
    pub fn stores(&self) -> Vec<PathBuf> {
        let entries = self.sandbox.path().join("world/blue/realms").read_dir().unwrap();
        let mut stores: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        stores.retain(|path| path.extension().is_some_and(|extension| extension == "git"));
        stores.sort();
        stores
    }

    /// Returns the current state.
    pub fn state(&self) -> State {
        let mut state = State::new();
        for store in self.stores() {
            let refs = self.git(&store, &["for-each-ref", "--format=%(refname) %(tree)"]);
            // Only a notification's age depends on the arrival of a change (decision 17).
            let of_arrivals = ["refs/blue/local/arrivals/", "refs/blue/local/known/"];
            let counts = |(at, _): &(&str, &str)| !of_arrivals.iter().any(|prefix| at.starts_with(prefix));
            let named = refs.lines().filter_map(|line| line.split_once(' ')).filter(counts);
            let name = store.file_name().unwrap().to_string_lossy();
            state.extend(named.map(|(at, tree)| (format!("{name} {at}"), tree.to_owned())));
        }
        let files = FILES.iter().filter_map(|file| {
            let text = std::fs::read_to_string(self.sandbox.path().join("world").join(file)).ok()?;
            Some(((*file).to_owned(), text))
        });
        state.extend(files);
        state.extend(AT_WORK.map(|repo| (format!("session of {repo}"), self.session(repo))));
        state
    }

    /// Returns the session of a working tree. A marker of an ended or missing session counts as none.
    fn session(&self, repo: &str) -> String {
        let mark = std::fs::read_to_string(self.folder(repo).join(".git/blue-session")).unwrap_or_default();
        let id = mark.split(' ').next().unwrap_or_default().to_owned();
        let file = format!("refs/blue/sessions/{repo}:{id}.json");
        let is_open = |store: &PathBuf| self.sandbox.try_git(store, &["cat-file", "-e", &file]).status.success();
        if !id.is_empty() && self.stores().iter().any(is_open) { id } else { "none".into() }
    }

    /// Returns every tree that a ref of the current state ever had, by the ref's name in a state.
    pub fn past(&self) -> BTreeMap<String, Vec<String>> {
        let mut past = BTreeMap::new();
        for store in self.stores() {
            let name = store.file_name().unwrap().to_string_lossy().into_owned();
            for at in self.git(&store, &["for-each-ref", "--format=%(refname)"]).lines() {
                let trees = self.git(&store, &["log", "--format=%T", at]);
                past.insert(format!("{name} {at}"), trees.lines().map(str::to_owned).collect());
            }
        }
        past
    }

    /// Asserts that git fsck finds nothing in any store.
    pub fn assert_clean(&self, when: &str) {
        for store in self.stores() {
            let output = self.sandbox.try_git(&store, &["fsck", "--strict", "--no-dangling", "--no-progress"]);
            let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            // A store has no branches, which git reports as a notice.
            let is_clean = output.status.success() && said.lines().all(|line| line.starts_with("notice: "));
            assert!(is_clean, "{when}: {said}");
        }
    }

    /// Returns every lock file of git.
    pub fn lock_files(&self) -> Vec<PathBuf> {
        fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
            for entry in folder.read_dir().unwrap().map(Result::unwrap) {
                let path = entry.path();
                // An incomplete realm is not a realm, and nobody waits for its locks.
                if entry.file_name().to_string_lossy().starts_with(".new-realm-") {
                    continue;
                }
                if entry.file_type().unwrap().is_dir() {
                    walk(&path, found);
                } else if path.extension().is_some_and(|extension| extension == "lock") {
                    found.push(path);
                }
            }
        }
        let mut found = Vec::new();
        walk(&self.sandbox.path().join("world"), &mut found);
        found
    }
}
