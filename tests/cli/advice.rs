//! Advice does not go in circles: no step leads back to the message that it came from, and messages name what to write.

use crate::world::{BINDING_FILE, CONTRACT_FILE, World, contract, importing};

pub(crate) const AT: &str = "s3-access/s3-permissions";

#[test]
fn bump_restores_the_published_version_of_the_same_content() {
    for version in ["0.9.0", "1.0.0"] {
        let world = World::solo();
        let fungal = world.path("fungal");
        world.bump("1.1.0");
        let path = format!("fungal/{CONTRACT_FILE}");
        let published = world.read(&path);
        world.write(&path, &published.replace("\"1.1.0\"", &format!("{version:?}")));
        let check = world.blue(&fungal, &["check", "--worktree"]);
        assert!(version == "0.9.0" || check.stdout.contains("bump to 1.1.0"), "{check}");
        let bump = world.ok(&fungal, &["contract", "bump", AT]);
        assert!(bump.stdout.contains(&format!("{version} -> 1.1.0 (published: 1.1.0)")), "{bump}");
        assert!(bump.stdout.contains("because the content is the same as in 1.1.0"), "{bump}");
        assert_eq!(world.read(&path), published);
        world.ok(&fungal, &["check", "--worktree"]);
    }
}

#[test]
fn refusal_says_that_nothing_else_was_published() {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.ok(&fungal, &["contract", "new", "billing/invoice", "--domain-members", "fungal"]);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.0.0").replace("masks", "inputs"));
    let commit = world.commit("fungal", "Change both");
    assert!(commit.stderr.contains("; nothing was published; write version: \"1.0.1\", and commit"), "{commit}");
    world.blue(&fungal, &["contract", "get", "billing/invoice"]).exits(1);
}

#[test]
fn version_in_another_file_is_written_there() {
    let world = World::solo();
    let fungal = world.path("fungal");
    let path = format!("fungal/{CONTRACT_FILE}");
    let from = |text: &str| text.replace("version: \"1.1.0\"", "version: { from: package.json }");
    world.write("fungal/package.json", r#"{"version": "1.1.0"}"#);
    world.write(&path, &from(&contract("1.1.0")));
    world.commit("fungal", "Read the version");
    world.write(&path, &from(&contract("1.1.0")).replace("masks", "inputs"));
    let step = "write the version 1.1.1 into package.json, and commit";
    let check = world.blue(&fungal, &["check", "--worktree"]).exits(1);
    assert!(check.stdout.contains(step) && !check.stdout.contains("contract bump"), "{check}");
    let bump = world.blue(&fungal, &["contract", "bump", AT]).exits(1);
    assert!(bump.stderr.contains(step), "{bump}");
    let commit = world.commit("fungal", "Change the value");
    assert!(commit.stderr.contains(step), "{commit}");
    world.write("fungal/package.json", r#"{"version": "1.0.0"}"#);
    let check = world.blue(&fungal, &["check", "--worktree"]).exits(1);
    assert!(check.stdout.contains(step), "{check}");
}

#[test]
fn unknown_commands_are_explained() {
    let world = World::new();
    let home = world.root();
    let foo = world.blue(&home, &["foo"]).exits(129);
    assert_eq!(
        foo.stderr,
        "error: unrecognized subcommand 'foo'\n\nUsage: git blue [OPTIONS] [COMMAND]\n\nFor more information, try 'git blue -h'.\n"
    );
    let hooky = world.blue(&home, &["hoo"]).exits(129);
    assert!(hooky.stderr.contains("'hooks'") && !hooky.stderr.contains("'hook'"), "{hooky}");
    let below = world.blue(&home, &["contract", "foo"]).exits(129);
    assert!(below.stderr.contains("For more information, try '--help'."), "{below}");
    for (command, code) in [("install", 129), ("status", 129), ("pre-commit", 0)] {
        let hook = world.blue(&home, &["hook", command]).exits(code);
        let is_meant = hook.stderr.contains(&format!("did you mean git blue hooks {command}?"));
        assert_eq!(is_meant, code != 0, "{hook}");
    }
}

#[test]
fn check_points_to_files_that_are_not_committed() {
    let world = World::new();
    let fungal = world.join("fungal");
    world.ok(&fungal, &["contract", "new", "orders/order", "--domain-members", "fungal"]);
    let check = world.blue(&fungal, &["check"]);
    let step = "git blue check --worktree  # the files under .blue are not committed yet";
    assert_eq!(world.next_steps(&check), [step], "{check}");
    assert!(check.stdout.contains("there are no committed files under .blue/contracts"), "{check}");
    world.ok(&fungal, &["check", "--worktree"]);
    world.commit("fungal", "Add it");
    let other = world.join("access");
    let check = world.ok(&other, &["check"]);
    assert!(check.stdout.contains("note: only the realm was checked"), "{check}");
    assert!(check.stdout.contains("1 contract checked"), "{check}");
    assert!(!check.stdout.contains("--worktree"), "{check}");
}

#[test]
fn import_of_an_own_contract_says_what_it_means() {
    let world = World::solo();
    let fungal = world.path("fungal");
    let import = world.ok(&fungal, &["import", AT]);
    let step = format!("git blue unimport {AT}  # fungal owns it, and is not notified of its own changes");
    assert!(world.next_steps(&import).contains(&step), "{import}");
    world.commit("fungal", "Import it");
    let check = world.blue(&fungal, &["check", "--strict"]).exits(1);
    assert!(check.stdout.contains(&format!("git blue unimport {AT} removes the import")), "{check}");
}

#[test]
fn import_refuses_what_cannot_be_meant() {
    let world = World::solo();
    let access = world.join("access");
    for (args, says) in [
        (&["--used-in", "."][..], ". is a directory: name its files"),
        (&["--used-in", ".git/config"], ".git/config is not in "),
        (&[">=2.0.0, <1.0.0"], "no version is in the range >=2.0.0, <1.0.0: it starts at 2.0.0 and ends before 1.0.0"),
    ] {
        let run = world.blue(&access, &[&["import", AT], args].concat());
        assert!(run.code != 0 && run.stderr.contains(says), "{run}");
        assert!(!world.path(&format!("access/{BINDING_FILE}")).exists());
    }
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=2.0.0, <1.0.0"));
    let check = world.blue(&access, &["check", "--worktree"]).exits(1);
    assert!(check.stdout.contains("no version is in the range"), "{check}");
}

/// A contract that was never released is withdrawn and given away by nothing that is suggested.
#[test]
fn contract_without_a_release_names_how_to_release_it() {
    let world = World::pair();
    let fungal = world.path("fungal");
    let file = ".blue/contracts/s3-access/next.yaml";
    world.write(&format!("fungal/{file}"), &contract("1.0.0-beta.1").replace("s3-permissions", "next"));
    world.commit("fungal", "A candidate");
    let step = format!("write version: \"1.0.0\" in {file}, and commit, to release it");
    for args in [
        &["retire", "s3-access/next", "--reason", "over", "--force"][..],
        &["yank", "s3-access/next", "1.0.0-beta.1", "--reason", "wrong"],
        &["transfer", "s3-access/next", "--to", "access"],
    ] {
        let run = world.blue(&fungal, &[&["contract"], args].concat()).exits(1);
        assert!(run.stderr.contains("s3-access/next has only pre-releases"), "{run}");
        assert!(run.stderr.contains(&format!("hint: {step}\n")), "{run}");
    }
}

#[test]
fn preview_of_a_pre_release_is_about_its_release() {
    let world = World::pair();
    let access = world.path("access");
    world.bump("2.0.0-rc.1");
    let impact = world.ok(&access, &["contract", "impact", AT, "--to", "2.0.0-rc.1"]);
    assert!(impact.stdout.contains("before 2.0.0 becomes current\n"), "{impact}");
    let adapted = ["contract", "adapted", AT, "2.0.0-rc.1"];
    let edit = "edit .blue/bindings/s3-access.yaml";
    let outside = world.ok(&access, &adapted);
    assert!(outside.stdout.contains(edit), "{outside}");
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0, <3.0.0"));
    world.commit("access", "Accept the next one");
    let inside = world.ok(&access, &adapted);
    assert!(!inside.stdout.contains(edit), "{inside}");
}

#[test]
fn import_needs_a_version_that_is_served() {
    let world = World::solo();
    world.bump("2.0.0");
    world.ok(&world.path("fungal"), &["contract", "yank", AT, "2.0.0", "--reason", "wrong"]);
    let access = world.join("access");
    let run = world.blue(&access, &["import", AT]).exits(1);
    assert!(run.stderr.contains("2.0.0, the current version of"), "{run}");
    assert!(run.stderr.contains("was yanked, and no other one is served"), "{run}");
    assert!(!world.path(&format!("access/{BINDING_FILE}")).exists());
    world.ok(&access, &["import", AT, ">=1.0.0, <3.0.0"]);
}

#[test]
fn file_that_was_renamed_in_case_only_is_renamed_back() {
    let world = World::solo();
    let fungal = world.path("fungal");
    let other = CONTRACT_FILE.replace("s3-permissions", "S3-permissions");
    world.git(&fungal, &["mv", CONTRACT_FILE, &other]);
    world.write(&format!("fungal/{other}"), &contract("1.1.0").replace("name: s3-", "name: S3-"));
    world.commit("fungal", "Rename it");
    let steps = world.next_steps(&world.ok(&fungal, &["status"]));
    let back = format!("git mv {other} {CONTRACT_FILE}  # and write name: s3-permissions in it, then commit");
    assert!(steps.contains(&back), "{steps:?}");
    assert!(!steps.iter().any(|step| step.contains("contract retire")), "{steps:?}");
}

#[test]
fn errors_name_what_to_write() {
    let world = World::solo();
    let fungal = world.path("fungal");
    let path = format!("fungal/{CONTRACT_FILE}");
    let (before, text) = (world.read(&path), contract("1.1.0"));
    let line = |text: &str, start: &str| text.lines().position(|line| line.trim().starts_with(start)).unwrap() + 1;
    let sunset = format!("{text}deprecated: {{ since: \"1.0.0\", sunset: 31.12.2026 }}\n");
    let schema = text.lines().take_while(|line| !line.starts_with("schema:")).collect::<Vec<_>>().join("\n");
    let schema = format!("{schema}\nschema: order.json\n");
    let owner = text.replace("owner: fungal", "owner: bob");
    for (text, at, says) in [
        (&sunset, "deprecated", "expected a date such as 2026-12-31, not 31.12.2026"),
        (&schema, "schema", "write schema: { file: order.json }"),
        (&owner, "owner", "names bob as its owner, but the file is in fungal: write owner: fungal"),
    ] {
        world.write(&path, text);
        let check = world.blue(&fungal, &["check", "--worktree"]).exits(1);
        let at = line(text, at);
        assert!(check.stdout.contains(&format!("{CONTRACT_FILE}:{at}:")), "{at}: {check}");
        assert!(check.stdout.contains(says), "{check}");
    }
    let commit = world.commit("fungal", "Another owner");
    assert!(commit.stderr.contains(&format!("{CONTRACT_FILE}:{}: ", line(&owner, "owner"))), "{commit}");
    world.write(&path, &before);
    let binding = "role: both\nimports:\n  - version: \">=1.0.0\"\n    contract: s3-permision\n";
    world.write(&format!("fungal/{BINDING_FILE}"), binding);
    let check = world.blue(&fungal, &["check", "--worktree"]).exits(1);
    assert!(check.stdout.contains(&format!("{BINDING_FILE}:4: error:")), "{check}");
    for (expects, says) in [
        ("f.json", "write expects: { file: f.json }"),
        ("'f.json#/$defs/o'", "write expects: { file: f.json, at: '#/$defs/o' }"),
        ("{ file: f.json, att: '#/$defs/o' }", "unknown field \"att\" beside file; the only other one is at"),
        ("{ file: f.json, type: object }", "unknown field \"type\" beside file; the only other one is at"),
        ("{ file: f.json, at: 3 }", "at is a JSON Pointer into the file: write at: '#/$defs/NAME'"),
    ] {
        let import = "role: both\nimports:\n  - contract: s3-permissions\n    version: \">=1.0.0\"\n";
        world.write(&format!("fungal/{BINDING_FILE}"), &format!("{import}    expects: {expects}\n"));
        let check = world.blue(&fungal, &["check", "--worktree"]).exits(1);
        assert!(check.stdout.contains(&format!("{BINDING_FILE}:5: error:")), "{check}");
        assert!(check.stdout.contains(says), "{check}");
    }
    world.write("fungal/.blue/bindings/other.yaml", "role: consumer\nimports: []\n");
    world.write(&format!("fungal/{BINDING_FILE}"), &importing(">=1.0.0"));
    let check = world.blue(&fungal, &["check", "--worktree"]).exits(1);
    assert!(check.stdout.contains("other.yaml, or rename the file"), "{check}");
}

#[test]
fn changes_that_are_not_pushed_say_so() {
    let world = World::new();
    let hub = world.bare("hub.git");
    let fungal = world.repo("fungal");
    world.ok(&fungal, &["init", "--realm", "aperture", "--url", &hub]);
    world.write("realm.yaml", "repos:\n  - name: access\ndomains:\n  - name: orders\n    repos: [fungal, access]\n");
    let step = "git blue sync  # not pushed yet".to_owned();
    let bootstrap = world.ok(&fungal, &["realm", "admin", "bootstrap", "--from", "../realm.yaml"]);
    assert_eq!(world.next_steps(&bootstrap)[0], step, "{bootstrap}");
    world.ok(&fungal, &["contract", "new", "orders/order"]);
    world.commit("fungal", "Add it");
    let yank = world.ok(&fungal, &["contract", "yank", "orders/order", "1.0.0", "--reason", "wrong"]);
    assert!(world.next_steps(&yank).contains(&step), "{yank}");
    let again = world.ok(&fungal, &["contract", "yank", "orders/order", "1.0.0", "--reason", "wrong"]);
    assert!(!world.next_steps(&again).contains(&step), "{again}");
    let retire = world.ok(&fungal, &["contract", "retire", "orders/order", "--reason", "over"]);
    assert!(world.next_steps(&retire).contains(&step), "{retire}");
    // The name was reserved by the file, and nobody has joined under it.
    let access = world.repo("access");
    let init = world.ok(&access, &["init", "--realm", "aperture"]);
    assert!(init.stdout.contains("\njoined as access\n"), "{init}");
}

#[test]
fn renamed_default_branch_is_looked_up() {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.bare("origin.git");
    world.git(&fungal, &["remote", "add", "origin", "../origin.git"]);
    world.git(&fungal, &["push", "-q", "origin", "main"]);
    world.git(&fungal, &["remote", "set-head", "origin", "main"]);
    world.git(&fungal, &["branch", "-q", "-m", "trunk"]);
    world.git(&fungal, &["push", "-q", "origin", "trunk"]);
    world.git(&world.path("origin.git"), &["symbolic-ref", "HEAD", "refs/heads/trunk"]);
    world.git(&fungal, &["push", "-q", "origin", ":main"]);
    world.git(&fungal, &["fetch", "-q", "--prune"]);
    let commit = world.bump("1.1.0");
    assert!(
        commit.stderr.contains("the publishing branch main no longer exists at origin; git remote set-head origin -a"),
        "{commit}"
    );
    let status = world.ok(&fungal, &["status", "--peek"]);
    let steps = world.next_steps(&status);
    assert!(steps.contains(&"git config blue.publishBranch trunk  # publish this branch".to_owned()), "{status}");
    world.finish_shell(&fungal, &steps[0]);
    assert_eq!(world.json(&fungal, &["status"])["unpublished"], serde_json::Value::Null);
    assert_eq!(world.version(), "1.1.0");
}

#[test]
fn bump_says_that_only_the_value_changed() {
    let world = World::solo();
    let fungal = world.path("fungal");
    let reason = |from: &str, to: &str| {
        world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.0.0").replace(from, to));
        world.ok(&fungal, &["contract", "bump", "s3-access/s3-permissions", "auto"]).stdout
    };
    let renamed = reason("jobs/*/masks/*", "jobs/*/labels/*");
    assert!(renamed.contains("because the value changed, which `values: free` allows"), "{renamed}");
    let reordered = reason("[\"jobs/*/masks/*\", \"v1.0.0\"]", "[\"v1.0.0\", \"jobs/*/masks/*\"]");
    assert!(reordered.contains("because the lists of the value have the same items as in 1.0.0"), "{reordered}");
}

#[test]
fn bump_says_that_the_requested_level_is_too_low() {
    let world = World::solo();
    let broken = contract("1.0.0").replace("type: array", "type: [array, boolean]");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &broken);
    let bump = world.ok(&world.path("fungal"), &["contract", "bump", "s3-access/s3-permissions", "patch"]);
    assert!(bump.stdout.contains("because requested, although it breaks a promise of 1.0.0"), "{bump}");
    let step =
        "git blue contract bump s3-access/s3-permissions  # it breaks a promise: let the change decide the level";
    assert_eq!(world.next_step(&bump), step);
}

#[test]
fn a_patch_of_a_supported_older_line_is_a_contract_of_its_own() {
    let world = World::solo();
    let supporting = |version: &str| contract(version) + "supported: [\"^1.0\"]\n";
    world.write(&format!("fungal/{CONTRACT_FILE}"), &supporting("2.0.0"));
    world.commit("fungal", "Paths 2.0.0");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &supporting("1.0.1"));
    let down = world.commit("fungal", "Mend 1.0");
    let said = "would go back from 2.0.0 to 1.0.1; `supported` can only list published versions";
    assert!(down.stderr.contains(said), "{down}");
    let publish = world.blue(&world.path("fungal"), &["contract", "publish"]).exits(1);
    let steps = world.next_steps(&publish);
    assert!(steps[0].starts_with("git blue contract new s3-access/s3-permissions-v1 "), "{publish}");
    assert!(!publish.stderr.contains("--rollback"), "{publish}");
}

/// `unimport` edits a file. An import that only the realm has is removed in the realm.
#[test]
fn import_of_an_own_contract_in_the_realm_alone_is_removed_there() {
    let world = World::solo();
    let fungal = world.path("fungal");
    let set = ["realm", "admin", "binding", "--domain", "s3-access", "--repo", "fungal"];
    world.ok(
        &fungal,
        &[&set[..], &["--role", "both", "--export", "s3-permissions", "--import", "s3-permissions@>=1.0.0"]].concat(),
    );
    let check = world.blue(&fungal, &["check"]);
    let step = "remove it with git blue realm admin binding --domain s3-access --repo fungal …, leaving it out";
    assert!(check.stdout.contains(step) && !check.stdout.contains("git blue unimport"), "{check}");
    world.ok(&fungal, &[&set[..], &["--role", "provider", "--export", "s3-permissions"]].concat());
    let check = world.blue(&fungal, &["check"]);
    assert!(!check.stdout.contains("imports-own"), "{check}");
}

/// Publishing reads the schema from the commit, so `contract new` refuses what publishing would refuse.
#[test]
fn schema_outside_of_the_commit_is_not_referred_to() {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.repo("lib");
    world.write("lib/s.json", r#"{"type": "object"}"#);
    world.commit("lib", "A schema");
    world.git(&fungal, &["submodule", "--quiet", "add", "../lib", "lib"]);
    std::os::unix::fs::symlink("lib/s.json", fungal.join("linked.json")).unwrap();
    let in_submodule = "it is in a submodule, so the commits of this repository do not contain it";
    let linked = "it is not a regular file of this repository; symbolic links are not followed";
    for (file, why) in [("lib/s.json", in_submodule), ("linked.json", linked)] {
        let new = ["contract", "new", "s3-access/x", "--schema", file];
        let refused = world.blue(&fungal, &new).exits(1);
        assert!(refused.stderr.contains(&format!("{file}: {why}")), "{refused}");
        assert!(refused.stderr.contains("pass --inline to copy the schema"), "{refused}");
        assert!(!fungal.join(".blue/contracts/s3-access/x.yaml").exists());
    }
    let new = ["blue", "contract", "new", "s3-access/x", "--schema", "-"];
    let refused = world.feed("git", &fungal, &new, "{}").exits(129);
    assert!(refused.stderr.contains("cannot refer to standard input\nhint: pass --inline"), "{refused}");
    world.ok(&fungal, &["contract", "new", "s3-access/x", "--schema", "lib/s.json", "--inline"]);
}

/// A hook that was disabled or failed did not publish the commit.
#[test]
fn bump_before_the_first_publication_publishes_the_commit() {
    let world = World::solo();
    let fungal = world.path("fungal");
    let other = contract("1.0.0").replace("s3-permissions", "s3-paths");
    world.write("fungal/.blue/contracts/s3-access/s3-paths.yaml", &other);
    let bump = || world.blue(&fungal, &["contract", "bump", "s3-access/s3-paths", "patch"]).exits(1);
    let add = world.next_step(&bump());
    assert!(add.starts_with("git add "), "{add}");
    world.git(&fungal, &["add", "--all"]);
    world.git(&fungal, &["-c", "core.hooksPath=/dev/null", "commit", "--quiet", "-m", "Paths"]);
    let publish = world.next_step(&bump());
    assert_eq!(world.finish_shell(&fungal, &publish).code, 0, "{publish}");
    world.ok(&fungal, &["contract", "bump", "s3-access/s3-paths", "patch"]);
}

#[test]
fn yank_without_the_file_brings_it_back() {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.git(&fungal, &["rm", "--quiet", CONTRACT_FILE]);
    world.commit("fungal", "Remove it");
    let yank = world.ok(&fungal, &["contract", "yank", "s3-access/s3-permissions", "1.0.0", "--reason", "wrong"]);
    let step = yank.stdout.lines().find(|line| line.trim_start().starts_with("mkdir -p ")).unwrap();
    assert_eq!(world.finish_shell(&fungal, step).code, 0, "{yank}");
    world.ok(&fungal, &["contract", "bump", "s3-access/s3-permissions", "patch"]);
}

#[test]
fn yank_suggests_a_bump_only_of_a_contract_in_use() {
    let world = World::solo();
    let fungal = world.path("fungal");
    let yank = || world.ok(&fungal, &["contract", "yank", AT, "1.0.0", "--reason", "wrong"]);
    let step = world.next_step(&yank());
    assert!(step.starts_with(&format!("git blue contract bump {AT}")), "{step}");
    let bumped = world.finish_shell(&fungal, &step);
    // The file may be right already.
    assert!(world.read(&format!("fungal/{CONTRACT_FILE}")).contains("1.0.1"), "{bumped}");
    world.ok(&fungal, &["contract", "retire", AT, "--reason", "over"]);
    let retired = yank();
    assert!(!retired.all().contains("bump"), "{retired}");
}

#[test]
fn missing_files_and_commits_are_named() {
    let world = World::solo();
    let access = world.join("access");
    world.write("access/src/policy.py", "");
    std::fs::create_dir_all(world.path("access/deep")).unwrap();
    let import = ["import", AT, "--used-in", "src/policy.py"];
    let run = world.blue(&world.path("access/deep"), &import).exits(128);
    assert!(run.stderr.contains("hint: paths are relative to the current directory"), "{run}");
    let run = world.blue(&access, &["import", AT, "--used-in", "src/none.py"]).exits(128);
    assert!(run.stderr.ends_with("no such file: src/none.py\n"), "{run}");
    let run = world.blue(&world.path("fungal"), &["compat", "HEAD:none.json", "HEAD:none.json"]).exits(128);
    assert!(run.stderr.contains("HEAD:none.json: path 'none.json' does not exist"), "{run}");
    let unborn = world.repo("unborn");
    world.ok(&unborn, &["init", "--realm", "aperture"]);
    let run = world.blue(&unborn, &["check", "--base", "NOPE"]).exits(128);
    assert!(run.stderr.contains("cannot find the commit \"NOPE\""), "{run}");
}

#[test]
fn folders_and_comments_are_not_taken_for_contracts() {
    let world = World::solo();
    let fungal = world.path("fungal");
    world.write("fungal/.blue/contracts/s3-access/deep/z.yaml", &contract("1.0.0"));
    world.write("fungal/.blue/contracts/s3-access/c.yaml", "\n# later\n");
    let run = world.blue(&fungal, &["check", "--worktree"]).exits(1);
    let says = "deep: error: it is not a regular file; contracts belong at .blue/contracts/DOMAIN/NAME.yaml";
    assert!(run.stdout.contains(says) && run.stdout.contains("c.yaml:3:1: error: it is empty"), "{run}");
}

#[test]
fn missing_options_are_listed() {
    let world = World::solo();
    let run = world.blue(&world.path("fungal"), &["contract", "transfer", AT]).exits(129);
    assert!(run.stderr.contains("<--to <REPO>|--cancel>"), "{run}");
    for hub in ["one", "two"] {
        let url = world.bare(&format!("{hub}.git"));
        world.git(&world.store(), &["remote", "add", hub, &url]);
    }
    let run = world.blue(&world.path("fungal"), &["realm", "admin", "reseed"]).exits(129);
    assert!(run.stderr.contains("choose one with --remote: one, two"), "{run}");
}

/// `access` owned the contract before, and still has its file.
#[test]
fn a_contract_that_is_offered_back_is_accepted_by_the_printed_step() {
    let world = World::pair();
    let (fungal, access) = (world.path("fungal"), world.path("access"));
    let accept = |repo: &str, version: &str| {
        world.write(
            &format!("{repo}/{CONTRACT_FILE}"),
            &contract(version).replace("owner: fungal", &format!("owner: {repo}")),
        );
        world.commit(repo, "Take it")
    };
    world.ok(&fungal, &["contract", "transfer", AT, "--to", "access"]);
    accept("access", "1.0.0");
    accept("access", "1.1.0");
    world.ok(&access, &["contract", "transfer", AT, "--to", "fungal"]);
    let (status, check) = (world.ok(&fungal, &["status"]), world.blue(&fungal, &["check"]));
    assert!(
        check.stdout.contains("is older than the offer of s3-access/s3-permissions to fungal: git diff")
            && !check.stdout.contains("git rm"),
        "{check}"
    );
    let stale = world.read(&format!("fungal/{CONTRACT_FILE}"));
    world.write(&format!("fungal/{CONTRACT_FILE}"), &(stale + "# again\n"));
    let check = world.blue(&fungal, &["check", "--worktree"]).exits(1);
    assert!(check.stdout.contains("committing this version accepts the contract"), "{check}");
    assert!(!check.stdout.contains("--rollback"), "{check}");
    let step = status.stdout.lines().find(|line| line.contains("| sed ")).unwrap();
    world.finish_shell(&fungal, step).exits(0);
    world.commit("fungal", "Take it back");
    let held = world.stored("contracts/s3-permissions.json");
    assert_eq!((&held["owner"], &held["version"]), (&"fungal".into(), &"1.1.0".into()));
}
