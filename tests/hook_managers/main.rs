//! Published hook managers: husky and lefthook from npm, pre-commit from PyPI. Whatever they do to our block, `hooks
//! status` reports it, and its advice works.
//!
//! `make peers` installs the hook managers, `make test-peers` runs these tests.

/// The tests of the command line validate answers against their schemas.
mod schemas {
    pub fn hold(_: &[&str], _: &str) {}
}

#[path = "../testutils/left_out.rs"]
mod left_out;
#[path = "../testutils/peers.rs"]
mod peers;
#[path = "../testutils/world.rs"]
#[allow(dead_code, reason = "not every test uses every helper")]
mod world;

use std::path::{Path, PathBuf};

use left_out::left_out;
use peers::peers;
use world::{Run, World, gits};

/// A provider with hooks, and one of the programs in PATH.
struct Managed {
    world: World,
    repo: PathBuf,
}

#[expect(clippy::disallowed_methods, reason = "tests look for the programs that they run")]
fn find(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let ours = ["node_modules/.bin", "venv/bin"].map(|folder| peers().join(folder));
    let mut candidates = ours.into_iter().chain(std::env::split_paths(&path)).map(|folder| folder.join(program));
    candidates.find(|path| path.is_file()).unwrap_or_else(|| panic!("{program} is missing: make peers installs it"))
}

impl Managed {
    fn new(program: &str, git: &Path) -> Self {
        let world = World::solo_with(git);
        std::os::unix::fs::symlink(find(program), world.path("bin").join(program)).unwrap();
        let repo = world.path("fungal");
        Self { world, repo }
    }

    fn run(&self, program: &str, args: &[&str]) -> Run {
        let mut command = self.world.command(program, &self.repo);
        command.args(args);
        self.world.finish(command, program).exits(0)
    }

    fn hooks(&self, verb: &str) -> Run {
        self.world.blue(&self.repo, &["hooks", verb])
    }

    /// Publishes by a commit, and asserts that the user's own hook ran again.
    #[track_caller]
    fn publishes(&self, version: &str, ran: usize) {
        let run = self.world.bump(version);
        assert_eq!(self.world.version(), version, "{run}");
        assert_eq!(self.ran(), ran, "{run}");
    }

    fn ran(&self) -> usize {
        std::fs::read_to_string(self.repo.join("ran")).unwrap_or_default().lines().count()
    }
}

fn with_oldest_and_newest_git(program: &str, test: fn(&Managed)) {
    let gits = gits();
    test(&Managed::new(program, gits.last().unwrap()));
    match &gits[..] {
        [oldest, _, ..] => test(&Managed::new(program, oldest)),
        _ => left_out("there is one version of git: name others in GIT_BLUE_TEST_GITS"),
    }
}

#[test]
fn husky() {
    with_oldest_and_newest_git("husky", husky_with);
}

fn husky_with(managed: &Managed) {
    let world = &managed.world;
    world.write("fungal/package.json", "{}\n");
    world.write("fungal/.husky/post-commit", "echo mine >>ran\n");
    managed.run("husky", &[]);
    let hidden = managed.hooks("status").exits(1);
    assert!(hidden.stdout.contains("core.hooksPath points elsewhere"), "{hidden}");
    assert!(hidden.stdout.contains("\n  git blue hooks install\n"), "{hidden}");
    let doctor = world.blue(&managed.repo, &["doctor"]);
    assert!(doctor.stdout.contains("core.hooksPath points elsewhere"), "{doctor}");
    managed.hooks("install").exits(0);
    managed.publishes("1.1.0", 1);
    let status = managed.hooks("status").exits(0);
    assert!(status.stdout.contains("husky rewrites this file"), "{status}");
    assert!(status.stdout.contains("npm pkg set scripts.prepare="), "{status}");
    // Its warning and its advice.
    managed.run("husky", &[]);
    managed.hooks("status").exits(1);
    let prepare = "{\"scripts\": {\"prepare\": \"husky && (git blue hooks install || true)\"}}\n";
    world.write("fungal/package.json", prepare);
    managed.run("sh", &["-c", "husky && (git blue hooks install || true)"]);
    assert!(!managed.hooks("status").exits(0).stdout.contains("anew"));
    managed.publishes("1.2.0", 2);
    managed.hooks("uninstall").exits(0);
    assert!(!world.read("fungal/.husky/_/post-commit").contains("git blue"));
    assert!(!world.path("fungal/.git/hooks/post-commit").exists());
    // Or husky runs our hook itself.
    world.write("fungal/.husky/post-commit", "echo mine >>ran\ngit blue hook post-commit\n");
    let status = managed.hooks("status");
    assert!(status.stdout.contains("husky runs it"), "{status}");
    managed.publishes("1.3.0", 3);
}

#[test]
fn lefthook() {
    with_oldest_and_newest_git("lefthook", lefthook_with);
}

fn lefthook_with(managed: &Managed) {
    let world = &managed.world;
    world.write("fungal/lefthook.yml", "post-commit:\n  commands:\n    mine:\n      run: echo mine >>ran\n");
    managed.run("lefthook", &["install"]);
    let moved = managed.hooks("status").exits(1);
    assert!(moved.stdout.contains("moved to post-commit.old, which is never run"), "{moved}");
    let theirs = world.read("fungal/.git/hooks/post-commit");
    managed.hooks("install").exits(0);
    managed.publishes("1.1.0", 1);
    assert!(managed.hooks("status").exits(0).stdout.contains("lefthook rewrites this file"));
    managed.hooks("uninstall").exits(0);
    assert_eq!(world.read("fungal/.git/hooks/post-commit"), theirs);
    assert!(!world.path("fungal/.git/hooks/post-commit.old").exists(), "there was none before ours");
    // Or lefthook runs our hook itself.
    let ours = "post-commit:\n  commands:\n    mine:\n      run: echo mine >>ran\n    blue:\n      run: git blue hook post-commit\n";
    world.write("fungal/lefthook.yml", ours);
    managed.run("lefthook", &["install", "--force"]);
    let status = managed.hooks("status");
    assert!(status.stdout.contains("lefthook runs it"), "{status}");
    managed.publishes("1.2.0", 2);
    managed.hooks("install").exits(0);
    assert!(!world.read("fungal/.git/hooks/post-commit").contains("git blue"), "once is enough");
}

const PRE_COMMIT: &str = "\
repos:
  - repo: local
    hooks:
      - id: mine
        name: mine
        entry: sh -c 'echo mine >>ran'
        language: system
        always_run: true
        pass_filenames: false
        stages: [post-commit]
";

#[test]
fn pre_commit() {
    with_oldest_and_newest_git("pre-commit", pre_commit_with);
}

fn pre_commit_with(managed: &Managed) {
    let world = &managed.world;
    world.write("fungal/.pre-commit-config.yaml", PRE_COMMIT);
    world.commit("fungal", "Use pre-commit");
    managed.run("pre-commit", &["install", "--hook-type", "post-commit"]);
    let status = managed.hooks("status").exits(0);
    assert!(status.stdout.contains("pre-commit runs post-commit.legacy"), "{status}");
    managed.publishes("1.1.0", 1);
    let theirs = world.read("fungal/.git/hooks/post-commit");
    managed.hooks("install").exits(0);
    assert_eq!(world.read("fungal/.git/hooks/post-commit"), theirs, "once is enough");
    managed.hooks("uninstall").exits(0);
    assert!(!world.path("fungal/.git/hooks/post-commit.legacy").exists());
    assert_eq!(world.read("fungal/.git/hooks/post-commit"), theirs);
    // At the top of its own file, from which it moved nothing.
    managed.hooks("install").exits(0);
    managed.publishes("1.2.0", 2);
    managed.hooks("uninstall").exits(0);
    assert_eq!(world.read("fungal/.git/hooks/post-commit"), theirs);
    // It overwrites the file on request, which is reported.
    managed.hooks("install").exits(0);
    managed.run("pre-commit", &["install", "--hook-type", "post-commit", "--overwrite"]);
    let gone = managed.hooks("status").exits(1);
    assert!(gone.stdout.contains("\n  git blue hooks install\n"), "{gone}");
}
