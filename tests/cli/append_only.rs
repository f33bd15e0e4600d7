//! Changes that anyone with push access can make at the hub with plain git: those that break a rule are set aside,
//! the hub is repaired, and the conflict is settled.

mod accepted;
mod forged;
mod other_names;
mod renames;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::world::{BINDING_FILE, DOMAIN_REF, Run, World, contract, importing};

const REALM_REF: &str = "refs/blue/realm";
const CURRENT: &str = "contracts/s3-permissions.json";
const PUBLISHED: &str = "versions/s3-permissions/1.0.0.json";

/// Three machines and one hub: `home` has the provider, `second` a consumer, and `third` another one.
struct Three {
    world: World,
    hub: PathBuf,
}

const MACHINES: [(&str, &str); 3] = [("home", "fungal"), ("second", "access"), ("third", "reader")];

impl Three {
    fn new() -> Self {
        let world = World::solo();
        world.hub();
        let hub = world.path("hub.git");
        world.ok(&world.path("fungal"), &["init", "--url", hub.to_str().unwrap()]);
        for (home, repo) in &MACHINES[1..] {
            world.on(home).repo(repo);
            let path = world.path(repo);
            world.ok(&path, &["init", "--url", hub.to_str().unwrap()]);
            world.ok(&path, &["realm", "admin", "domain", "--name", "s3-access", "--repos", repo]);
            world.write(&format!("{repo}/cdk/access_stack.py"), "# uses s3-permissions\n");
            world.write(&format!("{repo}/{BINDING_FILE}"), &importing(">=1.0.0, <2.0.0"));
            world.commit(repo, "Read from the masks");
            world.ok(&path, &["sync"]);
        }
        let three = Self { world, hub };
        for at in 0..3 {
            three.ok(at, &["sync"]);
            three.ok(at, &["status"]);
        }
        three.alike();
        three
    }

    fn path(&self, at: usize) -> PathBuf {
        self.world.on(MACHINES[at].0);
        self.world.path(MACHINES[at].1)
    }

    fn blue(&self, at: usize, args: &[&str]) -> Run {
        self.world.blue(&self.path(at), args)
    }

    #[track_caller]
    fn ok(&self, at: usize, args: &[&str]) -> Run {
        self.blue(at, args).exits(0)
    }

    fn json(&self, at: usize, args: &[&str]) -> Value {
        self.world.json(&self.path(at), args)
    }

    /// Runs a command as it is printed, with its comment, in a shell.
    #[track_caller]
    fn paste(&self, at: usize, command: &str) -> Run {
        let mut shell = self.world.command("sh", &self.path(at));
        shell.args(["-c", command]);
        self.world.finish(shell, "sh")
    }

    /// Runs git at the hub as Mal, or as the identity in these variables.
    fn git(&self, args: &[&str], vars: &[(&str, &str)]) -> String {
        let mut git = self.world.command("git", &self.hub);
        git.args(["-c", "user.name=Mal", "-c", "user.email=mal@example.org"]).args(args);
        git.env("GIT_INDEX_FILE", self.world.path("mal-index")).envs(vars.iter().copied());
        self.world.finish(git, "git").exits(0).stdout.trim().to_owned()
    }

    /// Returns the content of a path at the hub.
    fn at_hub(&self, name: &str, path: &str) -> Option<Value> {
        let run = self.world.try_git(&self.hub, &["cat-file", "blob", &format!("{name}:{path}")]);
        (run.code == 0).then(|| run.json())
    }

    /// Pushes a commit to the hub that changes or deletes these files. Returns the commit.
    fn push(&self, name: &str, files: &[(&str, Option<Value>)], message: &str, vars: &[(&str, &str)]) -> String {
        self.push_onto(&[name], name, files, message, vars)
    }

    /// Pushes a commit like [`Self::push`], but with these parents.
    fn push_onto(
        &self,
        parents: &[&str],
        name: &str,
        files: &[(&str, Option<Value>)],
        message: &str,
        vars: &[(&str, &str)],
    ) -> String {
        self.git(&["read-tree", name], vars);
        for (path, document) in files {
            match document {
                None => drop(self.git(&["rm", "--quiet", "--cached", path], vars)),
                Some(document) => {
                    self.world.write("mal.json", &format!("{document:#}\n"));
                    let file = self.world.path("mal.json");
                    let blob = self.git(&["hash-object", "-w", file.to_str().unwrap()], vars);
                    self.git(&["update-index", "--add", "--cacheinfo", &format!("100644,{blob},{path}")], vars);
                }
            }
        }
        let tree = self.git(&["write-tree"], vars);
        let parents = parents.iter().flat_map(|parent| ["-p", parent]);
        let commit = self
            .git(&["commit-tree"].into_iter().chain(parents).chain(["-m", message, &tree]).collect::<Vec<_>>(), vars);
        self.git(&["update-ref", name, &commit], vars);
        commit
    }

    /// Returns a document of the hub with one field changed and matching hashes.
    fn with_value(&self, path: &str, value: &str) -> Value {
        let mut document = self.at_hub(DOMAIN_REF, path).unwrap();
        document["value"] = json!(value);
        document.as_object_mut().unwrap().remove("content_hash");
        document
    }

    /// Syncs every machine until all of them and the hub are equal.
    #[track_caller]
    fn alike(&self) {
        for at in [0, 1, 2, 0, 1, 2] {
            self.ok(at, &["sync"]);
        }
        let tips = |dir: &Path| {
            let format = "--format=%(refname) %(objectname)";
            self.world.git(dir, &["for-each-ref", format, REALM_REF, "refs/blue/domains"]).stdout
        };
        let hub = tips(&self.hub);
        for (home, _) in MACHINES {
            assert_eq!(tips(&self.world.on(home).store()), hub, "{home}");
            self.world.git(&self.world.store(), &["fsck", "--strict", "--no-dangling"]);
        }
    }

    /// Returns the only conflict that a machine shows.
    #[track_caller]
    fn conflict(&self, at: usize) -> Value {
        let status = self.json(at, &["status", "--peek"]);
        let conflicts = status["conflicts"].as_array().unwrap();
        assert_eq!(conflicts.len(), 1, "{status:#}");
        conflicts[0].clone()
    }

    /// Returns whether `check` fails because of a change that was set aside.
    fn fails(&self, at: usize) -> bool {
        let check = self.blue(at, &["check", "--json"]);
        let answer = check.json();
        let named = |list: &Value| list.as_array().unwrap().iter().any(|one| one["code"] == "set-aside");
        let is_error = named(&answer["errors"]);
        assert_eq!(check.code == 1, is_error, "{check:?}");
        assert!(is_error || named(&answer["warnings"]) || named(&answer["elsewhere"]["findings"]), "{check:?}");
        is_error
    }

    /// Asserts that a commit is set aside: every machine reports it with the rule, and the hub is repaired.
    #[track_caller]
    fn is_set_aside(&self, commit: &str, rules: &[&str]) -> Value {
        let sync = self.ok(1, &["sync"]);
        assert!(sync.stdout.contains("conflict") && sync.stdout.contains("Mal <mal@example.org>"), "{sync:?}");
        self.alike();
        let shown = self.conflict(1);
        for at in 0..3 {
            let conflict = self.conflict(at);
            assert_eq!(conflict, shown);
            let status = self.ok(at, &["status", "--peek"]);
            assert!(status.stdout.contains("by Mal <mal@example.org>"), "{status:?}");
        }
        assert_eq!(shown["code"], "set-aside");
        let record = &shown["set_aside"];
        assert_eq!(record["commit"], commit);
        assert_eq!(record["author"], "Mal <mal@example.org>");
        assert_eq!(record["committer"], "Mal <mal@example.org>");
        let found: Vec<_> = record["changes"].as_array().unwrap().iter().map(|one| one["rule"].clone()).collect();
        assert_eq!(found, rules);
        shown
    }
}

impl Three {
    /// Like [`Self::alike`], after the third machine's repository has left.
    fn alike_but_reader(&self) {
        self.blue(2, &["sync"]);
        for at in [0, 1, 0] {
            self.ok(at, &["sync"]);
        }
    }
}

/// Returns the command of a conflict for `verb`.
fn command(conflict: &Value, verb: &str) -> String {
    let commands = conflict["resolution"].as_array().unwrap().iter();
    let found = commands.map(|one| one.as_str().unwrap()).find(|one| one.contains(verb));
    found.unwrap_or_else(|| panic!("{conflict:#}")).to_owned()
}

#[test]
fn change_by_a_non_owner_is_set_aside() {
    let three = Three::new();
    let mut evil = three.with_value(CURRENT, "EVIL");
    evil["version"] = json!("1.1.0");
    let commit = three.push(DOMAIN_REF, &[(CURRENT, Some(evil))], "tidy", &[]);
    let conflict = three.is_set_aside(&commit, &["contract-changed"]);
    assert_eq!(three.at_hub(DOMAIN_REF, CURRENT).unwrap()["version"], "1.0.0");
    for at in 0..3 {
        assert!(three.fails(at));
    }
    // Others are informed, and their check passes.
    let run = three.paste(1, &command(&conflict, "accept")).exits(1);
    assert!(run.stderr.contains("access cannot accept this change") && run.stderr.contains("in fungal"), "{run:?}");
    three.paste(1, &command(&conflict, "reject")).exits(0);
    three.alike();
    for at in 0..3 {
        three.ok(at, &["check"]);
        assert_eq!(three.json(at, &["status", "--peek"])["conflicts"], json!([]));
    }
    let again = three.blue(0, &["realm", "conflict", "accept", conflict["set_aside"]["id"].as_str().unwrap()]).exits(1);
    assert!(again.stderr.contains("was already rejected by access"), "{again:?}");
    three.world.on("home").bump("1.1.0");
    three.alike();
    assert_eq!(three.world.version(), "1.1.0");
    assert_eq!(three.json(1, &["status", "--peek"])["conflicts"], json!([]));
}

#[test]
fn replaced_published_version_is_set_aside_and_can_be_accepted() {
    let three = Three::new();
    let swapped = three.with_value(PUBLISHED, "SWAPPED");
    let files = [(PUBLISHED, Some(swapped.clone())), (CURRENT, Some(swapped))];
    let commit = three.push(DOMAIN_REF, &files, "tidy", &[]);
    let conflict = three.is_set_aside(&commit, &["contract-changed", "version-changed"]);
    let get = three.ok(1, &["contract", "get", "s3-access/s3-permissions", "--version", "1.0.0"]);
    assert!(!get.stdout.contains("SWAPPED"), "{get:?}");
    assert_ne!(three.at_hub(DOMAIN_REF, PUBLISHED).unwrap()["value"], "SWAPPED");
    // A clone that nobody joined decides nothing in the owner's name.
    let world = &three.world;
    world.git(&world.root(), &["clone", "--quiet", "fungal", "look"]);
    for verb in ["accept", "reject"] {
        let id = conflict["set_aside"]["id"].as_str().unwrap();
        world.on("home").blue(&world.path("look"), &["realm", "conflict", verb, id]).exits(1);
    }
    let accepted = three.paste(0, &command(&conflict, "accept")).exits(0);
    assert!(accepted.stdout.contains("git blue sync  # not pushed yet"), "{accepted}");
    let again = three.paste(0, &command(&conflict, "accept")).exits(0);
    assert!(!again.stdout.contains("git blue sync"), "{again}");
    three.alike();
    for at in 0..3 {
        assert_eq!(three.json(at, &["status", "--peek"])["conflicts"], json!([]));
        let get = three.ok(at, &["contract", "get", "s3-access/s3-permissions", "--version", "1.0.0"]);
        assert!(get.stdout.contains("SWAPPED"), "{get:?}");
    }
}

#[test]
fn version_with_a_forged_owner_stays_immutable() {
    let three = Three::new();
    let swapped = three.with_value(PUBLISHED, "SWAPPED");
    let commit = three.push(DOMAIN_REF, &[(PUBLISHED, Some(swapped))], "tidy\n\nBlue-Repo: fungal", &[]);
    three.is_set_aside(&commit, &["version-changed"]);
}

#[test]
fn repository_identity_cannot_be_changed_by_others() {
    let three = Three::new();
    let path = "repos/fungal.json";
    let held = three.at_hub(REALM_REF, path).unwrap();
    let mut evil = held.clone();
    evil["roots"] = json!(["3".repeat(40)]);
    evil["url"] = json!("https://evil.example/fungal.git");
    let commit = three.push(REALM_REF, &[(path, Some(evil))], "tidy", &[]);
    let conflict = three.is_set_aside(&commit, &["identity-changed"]);
    assert_eq!(three.at_hub(REALM_REF, path), Some(held));
    assert!(three.fails(0));
    assert!(!three.fails(1));
    three.ok(0, &["init"]);
    three.paste(2, &command(&conflict, "reject")).exits(0);
    three.alike();
    three.ok(0, &["check"]);
}

#[test]
fn only_the_member_itself_leaves() {
    let three = Three::new();
    let mut domain = three.at_hub(DOMAIN_REF, "domain.json").unwrap();
    domain["members"] = json!(["fungal", "reader"]);
    let commit = three.push(DOMAIN_REF, &[("domain.json", Some(domain))], "tidy", &[]);
    let conflict = three.is_set_aside(&commit, &["member-removed"]);
    assert!(three.fails(1));
    assert!(!three.fails(0) && !three.fails(2));
    let id = conflict["set_aside"]["id"].as_str().unwrap();
    assert_eq!(three.json(1, &["realm", "conflict", "accept", id])["status"], "success");
    three.alike();
    assert_eq!(three.at_hub(DOMAIN_REF, "domain.json").unwrap()["members"], json!(["fungal", "reader"]));
    // A member may leave by itself.
    three.ok(2, &["realm", "admin", "leave", "--force"]);
    three.alike_but_reader();
    assert_eq!(three.at_hub(DOMAIN_REF, "domain.json").unwrap()["members"], json!(["fungal"]));
    assert_eq!(three.json(0, &["status", "--peek"])["conflicts"], json!([]));
}

#[test]
fn deleted_contract_is_restored_with_all_versions() {
    let three = Three::new();
    let commit = three.push(DOMAIN_REF, &[(CURRENT, None), (PUBLISHED, None)], "tidy", &[]);
    let conflict = three.is_set_aside(&commit, &["contract-removed", "version-removed"]);
    assert!(three.at_hub(DOMAIN_REF, CURRENT).is_some() && three.at_hub(DOMAIN_REF, PUBLISHED).is_some());
    assert_eq!(three.json(1, &["status"])["notifications"], json!([]));
    three.paste(0, &command(&conflict, "reject")).exits(0);
    three.alike();
    for at in 0..3 {
        three.ok(at, &["check"]);
    }
}

#[test]
fn binding_and_source_belong_to_their_repository() {
    let three = Three::new();
    let (source, binding) = ("sources/fungal.json", "bindings/access.json");
    let older = three.world.line(&three.world.path("fungal"), &["rev-list", "--max-parents=0", "HEAD"]);
    let files = [(source, Some(json!({ "commit": older }))), (binding, None)];
    let commit = three.push(DOMAIN_REF, &files, "tidy", &[]);
    let conflict = three.is_set_aside(&commit, &["binding-changed", "source-changed"]);
    let run = three.paste(2, &command(&conflict, "accept")).exits(1);
    assert!(
        run.stderr.contains("reader cannot accept this change: it concerns what access and fungal own\n"),
        "{run:?}"
    );
}

#[test]
fn machine_that_joined_meanwhile_accepts_the_restored_content() {
    let three = Three::new();
    let swapped = three.with_value(PUBLISHED, "SWAPPED");
    let commit = three.push(DOMAIN_REF, &[(PUBLISHED, Some(swapped))], "tidy", &[]);
    // It never saw another state: the first fetch is trusted.
    three.world.on("fourth").repo("late");
    let late = three.world.path("late");
    three.world.ok(&late, &["init", "--url", three.hub.to_str().unwrap()]);
    let get = ["contract", "get", "s3-access/s3-permissions", "--version", "1.0.0"];
    assert!(three.world.ok(&late, &get).stdout.contains("SWAPPED"));
    three.is_set_aside(&commit, &["version-changed"]);
    three.world.on("fourth").ok(&late, &["sync"]);
    assert!(!three.world.ok(&late, &get).stdout.contains("SWAPPED"));
    three.alike();
    let hub = three.world.line(&three.hub, &["rev-parse", DOMAIN_REF]);
    assert_eq!(three.world.on("fourth").tip(DOMAIN_REF), hub);
}

#[test]
fn machines_that_set_the_same_aside_converge() {
    let three = Three::new();
    // Each makes a change of its own while the hub is unreachable.
    let commit = three.push(DOMAIN_REF, &[(CURRENT, None), (PUBLISHED, None)], "tidy", &[]);
    let hook = three.hub.join("hooks/pre-receive");
    std::fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    three.world.on("home").bump("1.1.0");
    for at in 0..3 {
        three.blue(at, &["sync"]).exits(1);
        assert_eq!(three.conflict(at)["set_aside"]["commit"], json!(commit));
    }
    let conflict = three.conflict(0);
    let id = conflict["set_aside"]["id"].as_str().unwrap();
    assert_eq!(three.json(1, &["realm", "conflict", "reject", id])["status"], "success");
    std::fs::remove_file(&hook).unwrap();
    three.alike();
    for at in 0..3 {
        three.ok(at, &["check"]);
        assert_eq!(three.world.version(), "1.1.0");
    }
}

#[test]
fn dry_run_lists_what_would_be_set_aside() {
    let three = Three::new();
    let before = three.world.on("second").tip(DOMAIN_REF);
    three.push(DOMAIN_REF, &[(CURRENT, None)], "tidy", &[]);
    let run = three.ok(1, &["sync", "--dry-run"]);
    assert!(run.stdout.contains("by Mal <mal@example.org>"), "{run:?}");
    assert_eq!(three.world.tip(DOMAIN_REF), before);
}

#[test]
fn changes_by_the_owner_break_no_rule() {
    let three = Three::new();
    let none = |three: &Three| {
        three.alike();
        for at in 0..3 {
            assert_eq!(three.json(at, &["status", "--peek"])["conflicts"], json!([]));
        }
    };
    three.world.on("home").bump("1.1.0");
    none(&three);
    three.world.write("edited.yaml", &contract("1.2.0"));
    let file = three.world.path("edited.yaml");
    three.ok(0, &["contract", "edit", "s3-access/s3-permissions", "--file", file.to_str().unwrap()]);
    three.ok(0, &["contract", "yank", "s3-access/s3-permissions", "1.1.0", "--reason", "wrong"]);
    none(&three);
    three.ok(0, &["contract", "retire", "s3-access/s3-permissions", "--reason", "gone", "--force"]);
    none(&three);
    three.ok(2, &["realm", "admin", "contract", "--domain", "s3-access", "--name", "queues", "--owner", "reader"]);
    none(&three);
    none(&three);
    let import = ["--role", "consumer", "--import", "queues@>=0.1.0"];
    three.ok(1, &[&["realm", "admin", "binding", "--domain", "s3-access", "--repo", "access"], &import[..]].concat());
    none(&three);
}
