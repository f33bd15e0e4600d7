//! Hostile input, end to end: files in a repository or a store, and arguments of scripts. Each is refused with its
//! own error that names the file and the place, with one of the program's exit codes, and nothing is written. Large
//! or deep input is read with 1 GiB of address space, so that a missing limit would end the program.

use std::{collections::BTreeMap, path::Path, path::PathBuf};

use git_blue::testing::sandbox::Sandbox;

const CONTRACT: &str = ".blue/contracts/s3/paths.yaml";
const GOOD: &str = "name: paths\nversion: \"1.0.0\"\nowner: code\n";
const NAMES: [&str; 8] = ["../x", "-x", "a..b", "a.lock", "a\nb", "a\u{202e}b", "", "\u{430}"];

/// A realm with one repository, which has published nothing.
struct World {
    sandbox: Sandbox,
}

/// The result of a command.
struct Ran {
    code: Option<i32>,
    said: String,
}

impl World {
    fn new() -> Self {
        let mut sandbox = Sandbox::new();
        let blue = sandbox.path().join("blue");
        sandbox.set("GIT_BLUE_HOME", blue);
        sandbox.set("GIT_BLUE_NOW", "2026-01-24T12:00:00Z");
        sandbox.set("GIT_BLUE_SEED", "1");
        let world = Self { sandbox };
        world.git(&["init", "-q", "--template=", world.code().to_str().unwrap()]);
        world.git(&["commit", "-q", "--allow-empty", "-m", "First"]);
        world.ok(&["init", "--realm", "r"]);
        world.ok(&["realm", "admin", "domain", "--name", "s3", "--repos", "code"]);
        world.git(&["config", "core.hooksPath", "/dev/null"]);
        world
    }

    fn code(&self) -> PathBuf {
        let folder = self.sandbox.path().join("code");
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn store(&self) -> PathBuf {
        self.sandbox.path().join("blue/realms/r.git")
    }

    fn git(&self, arguments: &[&str]) -> String {
        self.sandbox.git(&self.code(), arguments)
    }

    fn in_store(&self, arguments: &[&str]) -> String {
        self.sandbox.git(&self.store(), arguments)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.code().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn commit(&self) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", "Change"]);
    }

    /// Runs the binary with 1 GiB of address space.
    fn run(&self, arguments: &[&str]) -> Ran {
        let mut command = self.sandbox.command("sh", &self.code());
        command.args(["-c", "ulimit -v 1048576 && exec \"$@\"", "sh", env!("CARGO_BIN_EXE_git-blue")]).args(arguments);
        let output = command.output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        Ran { code: output.status.code(), said: String::from_utf8(said).unwrap() }
    }

    fn ok(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.code, Some(0), "{arguments:?}: {}", ran.said);
        ran.said
    }

    /// Runs a command that must be refused: asserts that it prints all of `hints`, and changes no file.
    fn refused(&self, arguments: &[&str], hints: &[&str]) {
        let before = self.listing();
        let Ran { code, said } = self.run(arguments);
        assert!(matches!(code, Some(1 | 128 | 129)), "{arguments:?}: {code:?}: {said}");
        for hint in hints {
            assert!(said.contains(hint), "{arguments:?} does not say {hint:?}: {said}");
        }
        assert!(said.len() < 4_000, "{arguments:?} says {} bytes", said.len());
        let harmful = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
        assert!(!said.contains(harmful), "{arguments:?}: {said:?}");
        assert_eq!(self.listing(), before, "{arguments:?} wrote something");
    }

    /// Returns every file of the sandbox with its content, except lock holders, caches and the log of publishing.
    fn listing(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        fn walk(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
            for entry in folder.read_dir().unwrap().map(Result::unwrap) {
                let (path, kind) = (entry.path(), entry.file_type().unwrap());
                if ["blue/locks", "blue/cache", "blue/log"].iter().any(|other| path.ends_with(other)) {
                    continue;
                }
                if kind.is_dir() {
                    found.insert(path.clone(), Vec::new());
                    walk(&path, found);
                } else if kind.is_file() {
                    found.insert(path.clone(), std::fs::read(&path).unwrap());
                } else if kind.is_symlink() {
                    found.insert(path.clone(), path.read_link().unwrap().into_os_string().into_encoded_bytes());
                }
            }
        }
        let mut found = BTreeMap::new();
        walk(&self.sandbox.path(), &mut found);
        found
    }
}

#[test]
fn unsafe_names_are_refused_on_the_command_line() {
    let world = World::new();
    let long = "a".repeat(300);
    for name in NAMES.iter().copied().chain([&*long]) {
        let given = |option: &str| format!("--{option}={name}");
        world.refused(&["init", &given("realm")], &["is not a realm name"]);
        world.refused(&["realm", "admin", "init", &given("name")], &["is not a realm name"]);
        world.refused(&["realm", "admin", "domain", &given("name"), "--repos=code"], &["is not a domain name"]);
        world.refused(&["realm", "admin", "domain", "--name=s3", &given("repos")], &["is not a repository name"]);
        let contract = ["realm", "admin", "contract", "--domain=s3", &given("name"), "--owner=code"];
        world.refused(&contract, &["is not a contract name"]);
        world.refused(&["contract", "get", "--", &format!("s3/{name}")], &["is not a contract name"]);
        world.refused(&["contract", "get", "--", &format!("{name}/paths")], &["is not a"]);
    }
}

#[test]
fn unsafe_names_are_refused_in_files() {
    let world = World::new();
    let long = "a".repeat(300);
    for name in NAMES.iter().copied().chain(["a\0b", &*long]) {
        // A JSON string is valid YAML too.
        let quoted = serde_json::to_string(name).unwrap();
        world.write(CONTRACT, format!("name: paths\nversion: \"1.0.0\"\nowner: {quoted}\n"));
        world.commit();
        world.refused(&["contract", "publish"], &[&format!("{CONTRACT}:3:"), "is not a repository name"]);
        world.refused(&["check"], &[&format!("{CONTRACT}:3:"), "is not a repository name"]);
    }
}

#[test]
fn unsafe_file_and_folder_names_are_refused() {
    let world = World::new();
    for path in ["s3/-x.yaml", "s3/a..b.yaml", "s3/a.lock.yaml", "s3/a\nb.yaml", "s3/a\u{202e}b.yaml", "-x/a.yaml"] {
        let path = format!(".blue/contracts/{path}");
        world.write(&path, GOOD);
        world.commit();
        world.refused(&["contract", "publish"], &[".blue/contracts/", " name: "]);
        std::fs::remove_file(world.code().join(path)).unwrap();
    }
}

#[test]
fn ambiguous_files_are_refused_with_their_place() {
    let world = World::new();
    let cases: [(&str, u32, &str); 17] = [
        ("name: paths\nversion: \"1.0.0\"\nowner: code\nvalue: {mode: 0755}\n", 4, "write it in quotes"),
        ("name: paths\nversion: \"1.0.0\"\nowner: code\nvalue: {on: 1}\n", 4, "write \"on\""),
        ("name: paths\nversion: \"1.0.0\"\nowner: code\nvalue:\n  limit: 1_000\n", 5, "write it in quotes"),
        ("name: paths\nversion: 1.10\nowner: code\n", 2, "\"1.10.0\" with quotes"),
        ("name: paths\nversion: no\nowner: code\n", 2, "is not a version"),
        ("name: paths\nversion: .inf\nowner: code\n", 2, ".inf"),
        ("name: paths\nversion: 18446744073709551616\nowner: code\n", 2, "with quotes"),
        ("name: paths\nversion: \"1.0.0\"\nowner: code\nvalue: {a: 18446744073709551616}\n", 4, "2^53"),
        ("name: paths\nversion: \"1.0.0\"\nowner: code\nvalue: {a: .inf}\n", 4, "is not a number in JSON"),
        ("name: paths\nversion: \"1.0.0\"\nowner: code\nowner: code\n", 4, "duplicate key"),
        ("name: paths\nversion: \"1.0.0\"\nowner: code\nvalue: {a: 1, a: 2}\n", 4, "duplicate key"),
        ("name: paths\nversion: \"1.0.0\"\nowner: code\nvalue: [&a [x], *a]\n", 4, "anchors"),
        ("name: paths\nversion: \"1.0.0\"\nowner: code\nvalue: {<<: {a: 1}}\n", 4, "merge keys"),
        ("name: paths\nversion: \"1.0.0\"\nowner: code\nvalue: !ruby/object:X {}\n", 4, "tag"),
        ("name: paths\nversion: \"1.0.0\"\nowner: code\nsurprise: 1\n", 4, "surprise"),
        ("name: paths\nversion: \"1.0.0\"\nowner: code\n---\nname: x\n", 4, "more than one document"),
        ("name: paths\nversion: \"1.0.0\"\nowner: code\n# \u{0}\n", 4, "unexpected character"),
    ];
    for (text, line, hint) in cases {
        world.write(CONTRACT, text);
        world.commit();
        world.refused(&["contract", "publish"], &[&format!("{CONTRACT}:{line}"), hint]);
    }
}

#[test]
fn bombs_cost_bounded_memory() {
    let world = World::new();
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
    let doubling: String = (0..60).map(|level| format!("  a{level}: &a{level} [*a{0}, *a{0}]\n", level + 1)).collect();
    let files: [(String, &str); 6] = [
        (format!("{GOOD}value: {}\n", deep("[", "]")), "nested deeper than"),
        (format!("{GOOD}value: {}\n", deep("{a: ", "}")), "nested deeper than"),
        (
            format!("{GOOD}value:\n{}", (1..1_000).map(|n| format!("{}a:\n", " ".repeat(n))).collect::<String>()),
            "nested deeper than",
        ),
        (format!("{GOOD}value:\n{doubling}"), "anchors and aliases"),
        (format!("{GOOD}value: \"{}\"\n", "x".repeat(50 << 20)), "larger than 1 MiB"),
        (format!("{GOOD}value: [{}]\n", "1,".repeat(400_000)), "more than 100000 values"),
    ];
    for (text, hint) in files {
        world.write(CONTRACT, text);
        world.commit();
        world.refused(&["contract", "publish"], &[CONTRACT, hint]);
        world.refused(&["check", "--worktree"], &[CONTRACT, hint]);
    }
    let given: [(&str, String, &str); 4] = [
        ("deep.json", deep("[", "]"), "nested deeper than"),
        ("large.json", format!("\"{}\"", "x".repeat(50 << 20)), "larger than 8 MiB"),
        ("twice.json", "{\"a\": 1,\n \"a\": 2}".into(), "duplicate key"),
        ("number.json", "[\n18446744073709551616]".into(), "2^53"),
    ];
    for (file, text, hint) in given {
        world.write(file, text);
        let contract = ["realm", "admin", "contract", "--domain=s3", "--name=x", "--owner=code", "--value", file];
        world.refused(&contract, &[file, hint]);
    }
}

#[test]
fn symlinks_below_blue_are_not_followed() {
    use std::os::unix::fs::symlink;
    let world = World::new();
    let secret = world.sandbox.path().join("secret.yaml");
    std::fs::write(&secret, "secret: 12345\n").unwrap();
    let file = world.code().join(CONTRACT);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    symlink(&secret, &file).unwrap();
    world.commit();
    world.refused(&["contract", "publish"], &[CONTRACT, "symbolic links are not followed"]);
    world.refused(&["check", "--worktree"], &[CONTRACT, "symbolic links are not followed"]);
    assert!(!world.run(&["check", "--worktree"]).said.contains("12345"));

    let folder = world.code().join(".blue/contracts");
    std::fs::remove_dir_all(&folder).unwrap();
    symlink(world.sandbox.path(), &folder).unwrap();
    world.commit();
    world.refused(&["contract", "publish"], &[".blue/contracts", "symbolic links are not followed"]);

    std::fs::rename(world.code().join(".blue"), world.sandbox.path().join("elsewhere")).unwrap();
    symlink(world.sandbox.path().join("elsewhere"), world.code().join(".blue")).unwrap();
    world.refused(&["status"], &[".blue", "symbolic links are not followed"]);
    world.refused(&["init", "--realm", "r"], &[".blue", "symbolic links are not followed"]);
}

/// A world whose store has a contract, and the id of one of its objects.
fn published(object: &str) -> (World, String) {
    let world = World::new();
    world.write(CONTRACT, GOOD);
    world.commit();
    world.ok(&["contract", "publish"]);
    let id = world.in_store(&["rev-parse", &format!("refs/blue/domains/s3{object}")]);
    (world, id)
}

#[test]
fn blob_in_place_of_a_tree_is_reported() {
    let (world, blob) = published(":contracts/paths.json");
    for folder in ["contracts", "versions", "sources"] {
        let kept = world.in_store(&["ls-tree", "refs/blue/domains/s3"]);
        let kept = kept.lines().filter(|line| !line.ends_with(&format!("\t{folder}")));
        let entries: String = kept.map(|line| format!("{line}\n")).collect();
        std::fs::write(world.store().join("entries"), format!("{entries}100644 blob {blob}\t{folder}\n")).unwrap();
        let output = world.sandbox.command("sh", &world.store()).args(["-c", "git mktree < entries"]).output().unwrap();
        let tree = String::from_utf8(output.stdout).unwrap().trim().to_owned();
        let commit = world.in_store(&["commit-tree", "-m", "Hostile", &tree]);
        let old = world.in_store(&["rev-parse", "refs/blue/domains/s3"]);
        world.in_store(&["update-ref", "refs/blue/domains/s3", &commit]);
        let commands = [&["check"][..], &["contract", "publish"], &["contract", "get", "s3/paths"]];
        // Readers do not need the source of a contract.
        let reading = if folder == "sources" { 2 } else { 3 };
        for arguments in &commands[..reading] {
            world.refused(arguments, &[&format!("refs/blue/domains/s3:{folder}"), "it is not a directory"]);
        }
        world.in_store(&["update-ref", "refs/blue/domains/s3", &old]);
    }
}

#[test]
fn commit_that_is_a_tree_is_reported() {
    let (world, tree) = published("^{tree}");
    std::fs::write(world.store().join("refs/blue/domains/s3"), format!("{tree}\n")).unwrap();
    for arguments in [&["contract", "get", "s3/paths"][..], &["check"]] {
        world.refused(arguments, &[&tree]);
    }
}

#[test]
fn truncated_object_is_reported() {
    for object in [":contracts/paths.json", ":contracts", "^{tree}", ""] {
        let (world, id) = published(object);
        // As a loose object, so that only it is damaged.
        let unpack = "mv objects/pack ../aside && mkdir objects/pack && \
                      for pack in ../aside/*.pack; do git unpack-objects -q <$pack || exit 1; done";
        assert!(world.sandbox.command("sh", &world.store()).args(["-c", unpack]).status().unwrap().success());
        let file = world.store().join("objects").join(&id[..2]).join(&id[2..]);
        let bytes = std::fs::read(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
        for arguments in [&["contract", "get", "s3/paths"][..], &["check"]] {
            world.refused(arguments, &[&id]);
        }
    }
}
