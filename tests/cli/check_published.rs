//! `check` compares the files of a repository with what it has published.

use serde_json::{Value, json};

use crate::{
    check_scope::{codes, pair},
    world::{BINDING_FILE, CONTRACT_FILE, DOMAIN_REF, World, contract, importing},
};

#[test]
fn removed_files_are_reported_until_retired_or_restored() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.git(&provider, &["rm", "--quiet", CONTRACT_FILE]);
    let commit = world.commit("fungal", "Remove it");
    let way_out = "git blue contract retire s3-access/s3-permissions --reason \"…\"";
    assert!(
        commit.stderr.contains(&format!("{CONTRACT_FILE} was removed")) && commit.stderr.contains(way_out),
        "{commit}"
    );
    // Later commits repeat it, also those that publish something else.
    let later = world.commit("fungal", "Later");
    assert!(
        later.stderr.contains(&format!("{CONTRACT_FILE} was removed")) && later.stderr.contains(way_out),
        "{later}"
    );
    world.write("fungal/.blue/contracts/s3-access/other.yaml", &contract("1.0.0").replace("s3-permissions", "other"));
    let other = world.commit("fungal", "Serve another one");
    assert!(
        other.stderr.contains("published s3-access/other 1.0.0; .blue/contracts/s3-access/s3-permissions"),
        "{other}"
    );
    assert_eq!(other.stderr.matches("was removed").count(), 1, "{other}");
    world.git(&provider, &["rm", "--quiet", ".blue/contracts/s3-access/other.yaml"]);
    world.commit("fungal", "Remove both");
    world.ok(&provider, &["contract", "retire", "s3-access/other", "--reason", "a try"]);
    for _ in 0..2 {
        world.blue(&provider, &["check", "--strict"]).exits(1);
        assert_eq!(
            codes(&world.json(&provider, &["check"]), "warnings"),
            [pair("file-removed", "already-in-the-realm")]
        );
        let status = world.json(&provider, &["status"]);
        assert_eq!(status["removed_files"][0]["file"], CONTRACT_FILE);
    }
    let status = world.ok(&provider, &["status"]);
    assert!(status.stdout.contains("is not committed; s3-access/s3-permissions stays"), "{status}");
    // Restored, removed again, and retired.
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.0.0"));
    let back = world.commit("fungal", "Bring it back");
    assert!(!back.stderr.contains("was removed"), "{back}");
    let quiet = world.commit("fungal", "Nothing to say any more");
    assert_eq!(quiet.stderr, "", "{quiet}");
    assert_eq!(world.json(&provider, &["status"])["removed_files"], json!([]));
    world.blue(&provider, &["check", "--strict"]).exits(0);
    world.git(&provider, &["rm", "--quiet", CONTRACT_FILE]);
    world.commit("fungal", "Remove it again");
    world.ok(&provider, &["contract", "retire", "s3-access/s3-permissions", "--reason", "moved", "--force"]);
    assert_eq!(codes(&world.json(&provider, &["check"]), "warnings"), [pair("import-retired", "already-in-the-realm")]);
    let retired = world.commit("fungal", "It is retired");
    assert_eq!(retired.stderr, "", "{retired}");
    // The consumer sees it beside the range.
    let consumer = world.ok(&world.path("access"), &["status"]);
    assert!(consumer.stdout.contains("accepts 1.0.0, but the contract is retired"), "{consumer}");
    // A new version brings it back, with a message.
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.1.0"));
    let check = world.blue(&world.path("fungal"), &["check", "--worktree"]);
    assert!(check.stdout.contains("[brought-back]"), "{check}");
    let commit = world.commit("fungal", "Serve it again");
    assert!(commit.stderr.contains("this publishes s3-permissions again, although it was retired"), "{commit}");
}

#[test]
fn files_that_differ_from_the_realm_are_reported() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.write("edited.yaml", &contract("1.1.0"));
    let edited = world.path("edited.yaml");
    let run =
        world.ok(&provider, &["contract", "edit", "s3-access/s3-permissions", "--file", edited.to_str().unwrap()]);
    let get = format!("git blue contract get s3-access/s3-permissions --format yaml >{CONTRACT_FILE}");
    let bring = format!("git diff --stat --exit-code HEAD -- {CONTRACT_FILE} && {get}");
    assert!(run.stdout.contains(&bring), "{run}");
    let check = world.blue(&provider, &["check"]).exits(0);
    assert!(check.stdout.contains("[file-differs]") && check.stdout.contains(&bring), "{check}");
    // The suggested command works, but does not overwrite what is not committed.
    world.write(&format!("fungal/{CONTRACT_FILE}"), &(contract("1.0.0") + "description: A draft\n"));
    let shell = world.finish_shell(&provider, &bring);
    assert!(shell.code == 1 && shell.stdout.contains("s3-permissions.yaml"), "{shell}");
    world.git(&provider, &["checkout", "--quiet", CONTRACT_FILE]);
    let shell = world.finish_shell(&provider, &bring);
    assert_eq!(shell.code, 0, "{shell}");
    world.commit("fungal", "As the realm has it");
    world.blue(&provider, &["check", "--strict"]).exits(0);
    // The same for a binding.
    let set = ["realm", "admin", "binding", "--domain", "s3-access", "--repo", "fungal", "--role", "both"];
    let parts = ["--export", "s3-permissions:models/s3_paths.py", "--import", "s3-permissions@>=1.0.0"];
    let run = world.ok(&provider, &[&set[..], &parts[..]].concat());
    assert!(run.stdout.contains(BINDING_FILE), "{run}");
    let answer = world.json(&provider, &["check"]);
    let found: Vec<_> = codes(&answer, "warnings").into_iter().map(|(code, _)| code).collect();
    assert_eq!(found, ["imports-own", "file-differs"]);
    let message = answer["warnings"][1]["message"].as_str().unwrap();
    let command =
        message.split_once("update the file to match; ").unwrap().1.strip_suffix(" updates the realm").unwrap();
    assert_eq!(world.finish_shell(&provider, command).code, 0, "{command}");
    world.blue(&provider, &["check", "--strict"]).exits(0);
    // A command cannot name the script of an import, nor a file whose name has a comma.
    for import in ["validation: check.sh", "binding: [\"a,b.py\"]"] {
        let binding = importing(">=1.0.0").replace("binding: cdk/access_stack.py", import);
        world.write(&format!("access/{BINDING_FILE}"), &binding);
        world.commit("access", "Another binding");
        let set = ["realm", "admin", "binding", "--domain", "s3-access", "--repo", "access", "--role", "consumer"];
        world.ok(&world.path("access"), &[&set[..], &["--import", "s3-permissions@>=1.0.0, <3.0.0"]].concat());
        let check = world.ok(&world.path("access"), &["check"]);
        let there = "update the file to match; a commit that changes the file updates the realm";
        assert!(check.stdout.contains(there), "{check}");
    }
}

/// A branch of an older version must not merge the next major.
#[test]
fn reused_version_is_refused_on_a_branch_that_is_behind() {
    for (version, is_older_line) in [("1.1.0", false), ("2.0.0", true)] {
        let world = World::pair();
        let provider = world.path("fungal");
        world.git(&provider, &["switch", "--quiet", "-c", "topic"]);
        world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.0.0").replace("v1.0.0", "other"));
        world.commit("fungal", "1.0.0 with other content");
        world.git(&provider, &["switch", "--quiet", "main"]);
        world.bump(version);
        world.git(&provider, &["switch", "--quiet", "topic"]);
        let answer = world.json(&provider, &["check"]);
        assert_eq!(codes(&answer, "errors"), [pair("version-reused", "this-change")]);
        let check = world.blue(&provider, &["check"]);
        let own = "or, to patch an older version, add a separate contract on the publishing branch\n";
        assert!(world.next_step(&check).starts_with("git merge "), "{check}");
        assert_eq!(check.stdout.contains(own), is_older_line, "{check}");
        // A chosen level does not replace the merge, and asking for the level again would refuse.
        let bump = ["contract", "bump", "s3-access/s3-permissions"];
        let auto = world.blue(&provider, &bump).exits(1);
        assert!(world.next_step(&auto).starts_with("git merge "), "{auto}");
        assert_eq!(auto.stderr.contains(own), is_older_line, "{auto}");
        assert_eq!(auto.stderr.contains("pass major, minor or patch"), !is_older_line, "{auto}");
        let optional = contract("1.0.0").replace("required: [read]", "required: []");
        world.write(&format!("fungal/{CONTRACT_FILE}"), &optional);
        let chosen = world.ok(&provider, &[&bump[..], &["minor"]].concat());
        assert!(chosen.stdout.contains("requested, although it breaks a promise"), "{chosen}");
        assert!(world.next_step(&chosen).starts_with("git merge "), "{chosen}");
        assert!(!chosen.stdout.contains("contract bump"), "{chosen}");
        world.commit("fungal", "Two above");
        let check = world.blue(&provider, &["check"]);
        for run in [&chosen, &check] {
            assert_eq!(run.stdout.contains(own), is_older_line, "{run}");
        }
    }
}

/// The commit that is lacking may be one that the rebase makes again later.
#[test]
fn bump_during_a_rebase_continues_it() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.commit("fungal", "First");
    world.bump("1.1.0");
    let edit = ["-c", "sequence.editor=sed -i.bak 1s/pick/edit/", "rebase", "--quiet", "-i", "HEAD~2"];
    world.git(&provider, &edit);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.0.0").replace("v1.0.0", "other"));
    let bump = world.blue(&provider, &["contract", "bump", "s3-access/s3-permissions"]).exits(1);
    assert!(world.next_step(&bump).starts_with("git rebase --continue"), "{bump}");
    assert!(!bump.stderr.contains("git merge"), "{bump}");
}

/// Returns the codes of errors for a candidate: by `check`, and by publishing it.
fn refusals(world: &World, files: &[(&str, String)]) -> (Vec<String>, Vec<String>) {
    let provider = world.path("fungal");
    world.git(&provider, &["switch", "--quiet", "-C", "candidate", "main"]);
    for (path, text) in files {
        world.write(&format!("fungal/{path}"), text);
    }
    world.commit("fungal", "A candidate");
    let check = world.json(&provider, &["check"]);
    let stops = |one: &&Value| one["code"] != "import-broken";
    let of = |list: &Value| -> Vec<String> {
        let mut codes: Vec<_> = list
            .as_array()
            .into_iter()
            .flatten()
            .filter(stops)
            .map(|one| one["code"].as_str().unwrap().to_owned())
            .collect();
        codes.sort();
        codes
    };
    world.git(&provider, &["config", "blue.publishBranch", "candidate"]);
    let publish = world.json(&provider, &["contract", "publish", "--dry-run"]);
    world.git(&provider, &["config", "--unset", "blue.publishBranch"]);
    let refused = match (&publish["problems"], &publish["code"]) {
        (problems @ Value::Array(_), _) => of(problems),
        (_, Value::String(code)) => vec![code.clone()],
        _ => Vec::new(),
    };
    (of(&check["errors"]), refused)
}

#[test]
fn automatic_version_says_what_its_file_would_publish() {
    let world = World::pair();
    let provider = world.path("fungal");
    let auto = |text: &str| contract("1.0.0").replace("\"1.0.0\"", "auto") + text;
    world.write(&format!("fungal/{CONTRACT_FILE}"), &auto(""));
    world.commit("fungal", "Let git-blue choose");
    world.write("edited.yaml", &contract("2.0.0"));
    let edited = world.path("edited.yaml");
    world.ok(&provider, &["contract", "edit", "s3-access/s3-permissions", "--file", edited.to_str().unwrap()]);
    let check = world.ok(&provider, &["check"]);
    let said = "the next change to the file publishes its content as 2.0.1";
    assert!(check.stdout.contains(said), "{check}");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &auto("# a comment\n"));
    world.commit("fungal", "A comment");
    assert_eq!(world.version(), "2.0.1");
}

#[test]
fn check_and_publish_refuse_the_same() {
    let world = World::pair();
    for version in ["1.1.0", "1.2.0"] {
        world.bump(version);
    }
    world.ok(&world.path("fungal"), &["contract", "yank", "s3-access/s3-permissions", "1.1.0", "--reason", "leaks"]);
    let other = |version: &str| contract(version).replace("jobs/*", "other/*");
    let mine = ".blue/contracts/s3-access/mine.yaml";
    let candidates: [(&str, Vec<(&str, String)>); 9] = [
        ("", vec![(CONTRACT_FILE, contract("1.3.0"))]),
        ("", vec![(CONTRACT_FILE, contract("2.0.0"))]),
        ("version-reused", vec![(CONTRACT_FILE, other("1.2.0"))]),
        ("version-reused", vec![(CONTRACT_FILE, other("1.0.0"))]),
        ("yanked-version", vec![(CONTRACT_FILE, contract("1.1.0"))]),
        ("version-down", vec![(CONTRACT_FILE, contract("1.1.5"))]),
        (
            "version-down",
            vec![(CONTRACT_FILE, contract("1.0.0")), (mine, contract("1.0.0").replace("s3-permissions", "mine"))],
        ),
        ("not-owner", vec![(mine, contract("1.0.0").replace("s3-permissions", "mine").replace("fungal", "access"))]),
        ("unreadable-file", vec![(mine, "name: mine\nversion: 1.0\n".into())]),
    ];
    for (expected, files) in candidates {
        let (check, publish) = refusals(&world, &files);
        assert_eq!(check, publish, "{files:?}");
        assert_eq!(check.first().map_or("", String::as_str), expected, "{files:?}");
    }
}

#[test]
fn invalid_binding_is_reported_at_its_commit() {
    let world = World::pair();
    let said = |text: &str| {
        world.write(&format!("access/{BINDING_FILE}"), text);
        world.commit("access", "Another binding").stderr
    };
    let typo = said(&importing("^1.0.0").replace("contract: s3-permissions", "contract: s3-permisions"));
    assert_eq!(
        typo,
        "git blue: published the binding in s3-access; it imports s3-permisions, which does not exist (did you mean s3-permissions?)\n"
    );
    let check = world.blue(&world.path("access"), &["check"]).exits(1);
    assert!(check.stdout.contains("(did you mean s3-permissions?)"), "{check}");
    assert_eq!(
        codes(&world.json(&world.path("access"), &["check"]), "errors"),
        [pair("missing-contract", "already-in-the-realm")]
    );
    let range = said(&importing(">=7.0.0"));
    assert!(range.contains("it imports s3-permissions >=7.0.0, but the current version is 1.0.0"), "{range}");
    let export = said(
        "role: both\nexports: [{ contract: nothing }]\nimports: [{ contract: s3-permissions, version: ^1.0.0 }]\n",
    );
    assert!(export.contains("it exports nothing, which does not exist"), "{export}");
    world.git(&world.path("access"), &["rm", "--quiet", BINDING_FILE]);
    assert_eq!(world.commit("access", "Give it up").stderr, "git blue: removed the binding in s3-access\n");
}

#[test]
fn reused_version_is_answered_with_the_version_to_write() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.git(&provider, &["switch", "--quiet", "-c", "proposal"]);
    let renamed = |version: &str| contract(version).replace("read", "input");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &renamed("1.0.0"));
    world.commit("fungal", "Rename it, under the old number");
    let reused = world.blue(&provider, &["check"]).exits(1);
    assert!(
        reused.stdout.contains("bump to 2.0.0 (it breaks backwards compatibility: {\"input\":[]} (removed-required"),
        "{reused}"
    );
    world.write(&format!("fungal/{CONTRACT_FILE}"), &renamed("1.1.0"));
    world.commit("fungal", "Rename it, as a minor version");
    let check = world.blue(&provider, &["check"]).exits(1);
    assert!(check.stdout.contains("[breaks-promise]") && check.stdout.contains("this requires 2.0.0"), "{check}");
    world.git(&provider, &["switch", "--quiet", "main"]);
    let merge = world.git(&provider, &["merge", "--quiet", "--ff-only", "proposal"]);
    assert!(merge.all().contains("git blue: not published: "), "{merge}");
    assert_eq!(world.tip(DOMAIN_REF).len(), 40);
}

/// Whatever is in the base is published before the files that are merged into it.
#[test]
fn version_of_the_base_is_not_reused() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.git(&provider, &["config", "blue.publish", "off"]);
    world.bump("1.1.0");
    world.git(&provider, &["switch", "--quiet", "-c", "topic"]);
    let other = |version: &str| contract(version).replace(&format!("\"v{version}\""), "other");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &other("1.1.0"));
    world.commit("fungal", "Something else");
    world.blue(&provider, &["check"]).exits(0);
    let queue = format!("refs/heads/gh-readonly-queue/main/pr-2-{}", world.line(&provider, &["rev-parse", "main"]));
    let on_base = || world.blue(&provider, &["check", "--base", "main"]);
    for check in [on_base(), world.blue_with(&provider, &["check"], &[("GITHUB_REF", queue.as_ref())])] {
        let said = "1.1.0 is also in the base, with different content, and that is published first: bump to 1.1.1";
        let check = check.exits(1);
        assert!(check.stdout.contains(said), "{check}");
        assert!(check.stdout.contains("write the version 1.1.1, and commit"), "{check}");
    }
    // Once it is published, this is said once.
    world.ok(&provider, &["contract", "publish", "--commit", "main"]);
    let published = world.json(&provider, &["check", "--base", "main"]);
    assert_eq!(codes(&published, "errors"), [pair("version-reused", "this-change")], "{published:#}");
    assert!(published["errors"][0]["message"].as_str().unwrap().contains("already published"), "{published:#}");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &other("1.2.0"));
    world.commit("fungal", "Under its own version");
    on_base().exits(0);
}

/// A merge of the branch brings the newer binding.
#[test]
fn import_that_was_adapted_on_the_publishing_branch_is_a_warning() {
    let world = World::pair();
    let consumer = world.path("access");
    world.git(&consumer, &["branch", "topic"]);
    world.bump("2.0.0");
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=2.0.0, <3.0.0"));
    world.commit("access", "Adapt to it");
    world.git(&consumer, &["switch", "--quiet", "topic"]);
    world.write("access/README.md", "more\n");
    world.git(&consumer, &["add", "README.md"]);
    for subject in ["--staged", "--worktree", "--commit=HEAD"] {
        let answer = world.ok(&consumer, &["check", subject, "--json"]).json();
        assert_eq!(codes(&answer, "warnings"), [pair("behind", "this-change")], "{answer:#}");
        assert!(answer["warnings"][0]["message"].as_str().unwrap().contains("older here than in the realm"));
    }
    // What the branch itself changes is not older.
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0, <1.5.0"));
    let changed = world.json(&consumer, &["check", "--worktree"]);
    assert_eq!(codes(&changed, "errors"), [pair("import-broken", "this-change")], "{changed:#}");
    // Nor is an import that the newer binding does not repair.
    world.git(&consumer, &["checkout", "--quiet", "HEAD", "--", "."]);
    world.bump("3.0.0");
    world.blue(&consumer, &["check"]).exits(1);
}

/// What the realm's own binding breaks, no merge repairs.
#[test]
fn import_that_is_broken_in_the_realm_too_is_not_older() {
    let world = World::pair();
    let consumer = world.path("access");
    world.git(&consumer, &["branch", "topic"]);
    world.bump("2.0.0");
    world.write("access/.blue/contracts/s3-access/other.yaml", &other_contract());
    world.commit("access", "Serve another one");
    world.git(&consumer, &["switch", "--quiet", "topic"]);
    let answer = world.json(&consumer, &["check"]);
    assert_eq!(codes(&answer, "errors"), [pair("import-broken", "another-repository")], "{answer:#}");
}

fn other_contract() -> String {
    contract("1.0.0").replace("s3-permissions", "other").replace("owner: fungal", "owner: access")
}

/// The first difference is the same, and so is their number.
#[test]
fn further_break_at_the_same_place_is_an_error() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0, <9.0.0"));
    world.commit("access", "Accept what comes");
    let with = |version: &str, items: &str| {
        let text = contract(version).replace("items: { type: string }", &format!("items: {items}"));
        world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
    };
    with("2.0.0", "{ type: [string, integer] }");
    world.commit("fungal", "Numbers too");
    world.git(&provider, &["switch", "--quiet", "-c", "topic"]);
    with("3.0.0", "{ type: [string, integer, boolean] }");
    let answer = world.json(&provider, &["check", "--worktree"]);
    assert_eq!(codes(&answer, "errors"), [pair("import-broken", "this-change")], "{answer:#}");
    with("3.0.0", "{ type: [string, integer], maxLength: 99 }");
    let answer = world.json(&provider, &["check", "--worktree"]);
    assert_eq!(codes(&answer, "errors"), Vec::<(String, String)>::new(), "{answer:#}");
}

/// One break that the consumer may not even notice hides no other one.
#[test]
fn break_that_grows_is_an_error() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0, <9.0.0"));
    world.commit("access", "Accept what comes");
    let optional = |version: &str| contract(version).replace("required: [read]", "required: []");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &optional("2.0.0"));
    world.commit("fungal", "It may be missing");
    world.git(&provider, &["switch", "--quiet", "-c", "topic"]);
    let check = |text: &str, base: &[&str]| {
        world.write(&format!("fungal/{CONTRACT_FILE}"), text);
        world.json(&provider, &[&["check", "--worktree"], base].concat())
    };
    let worse = optional("3.0.0").replace("items: { type: string }", "items: { type: [string, integer] }");
    for base in [&[][..], &["--base", "main"]] {
        let answer = check(&worse, base);
        assert_eq!(codes(&answer, "errors"), [pair("import-broken", "this-change")], "{answer:#}");
        let notes = answer["errors"][0]["notes"].to_string();
        assert!(notes.contains("it was broken before, and is broken further now"), "{notes}");
    }
    let same = optional("3.0.0").replace("read: {", "write: { type: string }\n    read: {");
    let answer = check(&same, &[]);
    assert_eq!(codes(&answer, "errors"), Vec::<(String, String)>::new(), "{answer:#}");
    assert_eq!(codes(&answer, "warnings"), [pair("import-broken", "already-in-the-realm")]);
}
