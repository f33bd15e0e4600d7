//! Every surface reports a break with the same verdict and witness.

use serde_json::{Value, json};

use crate::world::{BINDING_FILE, CONTRACT_FILE, DOMAIN_REF, World, contract, importing};

pub const AT: &str = "s3-access/s3-permissions";

/// Returns a contract whose `id` has this type, under `backwards: true`. Its value, which has to change with the type, may.
pub fn with_id(version: &str, kind: &str) -> String {
    let value = if kind == "integer" { "1" } else { "a" };
    format!(
        "\
name: s3-permissions
version: \"{version}\"
owner: fungal
compatibility: {{ backwards: true, forwards: false }}
schema:
  type: object
  required: [id]
  properties:
    id: {{ type: {kind} }}
value: {{ id: {value} }}
values: free
"
    )
}

/// Returns a world in which `access` imports `>=2.0.0, <3.0.0`, written against 2.2.0, in which `id` is a string.
pub fn ids() -> World {
    let world = World::pair();
    write(&world, "2.2.0", "string");
    world.commit("fungal", "2.2.0");
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=2.0.0, <3.0.0"));
    world.commit("access", "Follow");
    world.ok(&world.path("access"), &["status"]);
    world
}

pub fn write(world: &World, version: &str, kind: &str) {
    world.write(&format!("fungal/{CONTRACT_FILE}"), &with_id(version, kind));
}

/// Commits a version that breaks its promise, and returns the fingerprint with which it can be approved.
pub fn refused_break(world: &World) -> String {
    write(world, "2.3.0", "integer");
    world.commit("fungal", "2.3.0");
    let publish = world.blue(&world.path("fungal"), &["contract", "publish"]).exits(1);
    let mut words = publish.stderr.split_whitespace().skip_while(|word| *word != "approve");
    words.nth(2).unwrap().to_owned()
}

pub fn codes(answer: &Value, list: &str) -> Vec<String> {
    answer[list].as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap().to_owned()).collect()
}

fn is_break(verdict: &Value) {
    assert_eq!(verdict["verdict"], "breaks", "{verdict}");
    assert_eq!((&verdict["direction"], &verdict["reading"]), (&json!("backwards"), &json!("lenient")));
    let difference = &verdict["difference"];
    assert_eq!((&difference["rule"], &difference["at"]), (&json!("widened-type"), &json!("/id")), "{verdict}");
    assert_eq!(difference["witness"]["id"].as_i64().map(|_| ()), Some(()), "{verdict}");
}

#[test]
fn broken_promise_is_refused_with_witness_and_version_to_write() {
    let world = ids();
    let provider = world.path("fungal");
    write(&world, "2.3.0", "integer");
    let check = world.blue(&provider, &["check", "--worktree"]).exits(1);
    assert!(
        check.stdout.contains("2.2.0 -> 2.3.0 breaks its promise of backwards compatibility: 2.2.0 rejects {\"id\":")
    );
    assert!(check.stdout.contains("this requires 3.0.0, not 2.3.0 [breaks-promise]"), "{check}");
    assert!(check.stdout.contains("access imports s3-access/s3-permissions >=2.0.0, <3.0.0, and 2.3.0 breaks it"));
    assert!(check.stdout.contains("--> 2.2.0 /schema/properties/id/type"), "{check}");
    let answer = world.json(&provider, &["check", "--worktree"]);
    assert_eq!(codes(&answer, "errors"), ["import-broken", "breaks-promise"]);
    for error in answer["errors"].as_array().unwrap() {
        is_break(&error["verdict"]);
        assert_eq!(error["caused_by"], "this-change");
    }
    let only = world.json(&provider, &["check", "--worktree", "--mode", "compatibility"]);
    assert_eq!((codes(&only, "errors"), codes(&only, "warnings")), (codes(&answer, "errors"), vec![]));

    let commit = world.commit("fungal", "2.3.0");
    assert!(commit.stderr.contains("git blue: not published: "), "{commit}");
    assert!(
        commit.stderr.contains("; write version: \"3.0.0\", and commit, which publishes it as a breaking change"),
        "{commit}"
    );
    let publish = world.blue(&provider, &["contract", "publish"]).exits(1);
    let steps: Vec<_> = publish.stderr.lines().filter(|line| line.starts_with("hint: ")).collect();
    assert!(steps[0].contains("write version: \"3.0.0\"") && steps[1].contains("contract approve"), "{publish}");

    // Under a major version it is published: consumers that accept 3.x are notified, and broken.
    write(&world, "3.0.0", "integer");
    let commit = world.commit("fungal", "3.0.0");
    assert!(commit.stderr.contains("published s3-access/s3-permissions 2.2.0 -> 3.0.0; breaks access"), "{commit}");
    assert!(commit.stderr.contains("2.2.0 rejects {\"id\":"), "{commit}");
}

#[test]
fn break_within_the_range_is_reported_everywhere() {
    let world = ids();
    let (provider, consumer) = (world.path("fungal"), world.path("access"));
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=2.0.0, <4.0.0"));
    world.commit("access", "Accept 3.x too");
    write(&world, "3.0.0", "integer");

    let impact = world.json(&provider, &["contract", "impact", AT, "--worktree"]);
    let importer = &impact["importers"][0];
    assert_eq!(
        (&impact["broken"], &importer["state"], &importer["judged_by"]),
        (&json!(1), &json!("broken"), &json!("schemas"))
    );
    is_break(&importer["verdict"]);
    let text = world.ok(&provider, &["contract", "impact", AT, "--worktree"]).stdout;
    assert!(text.contains("broken, although in range") && text.contains("access: 2.2.0 rejects {"), "{text}");

    let commit = world.commit("fungal", "3.0.0");
    assert!(commit.stderr.contains("; breaks access (cdk/access_stack.py): 2.2.0 rejects {\"id\":"), "{commit}");

    let told = world.json(&consumer, &["notifications", "list", "--state", "pending"])["notifications"][0].clone();
    assert_eq!((&told["import_state"], &told["judged_by"]), (&json!("broken"), &json!("schemas")), "{told}");
    is_break(&told["verdict"]);
    let check = world.json(&consumer, &["check"]);
    assert_eq!(codes(&check, "errors"), ["import-broken"]);
    assert_eq!(check["errors"][0]["caused_by"], "another-repository");
    is_break(&check["errors"][0]["verdict"]);
    let topology = world.json(&consumer, &["realm", "topology"]);
    assert_eq!(topology["broken"], 1);
    let status = world.json(&consumer, &["status"]);
    assert_eq!(
        (&status["imports"][0]["state"], &status["imports"][0]["resolved_version"]),
        (&json!("broken"), &json!("3.0.0"))
    );
    is_break(&status["imports"][0]["verdict"]);
    is_break(&status["notifications"][0]["verdict"]);
    let own = world.json(&provider, &["status"])["own_contracts"][0].clone();
    assert_eq!((&own["broken"], &own["importers"]), (&json!(["access"]), &json!([])), "{own}");
    let seen = world.json(&consumer, &["notifications", "list", "--state", "seen"]);
    let seen = seen["notifications"].as_array().unwrap();
    is_break(&seen.iter().find(|one| one["changes"]["new_version"] == "3.0.0").unwrap()["verdict"]);

    // Recording the adapted version settles it.
    world.ok(&consumer, &["contract", "adapted", AT]);
    world.blue(&consumer, &["check"]).exits(0);
    assert_eq!(world.json(&consumer, &["realm", "topology"])["broken"], 0);
    assert_eq!(world.json(&provider, &["status"])["own_contracts"][0]["broken"], json!([]));
}

#[test]
fn only_consumers_that_an_older_version_helps_are_listed_under_supported() {
    let world = ids();
    let provider = world.path("fungal");
    let members = ["wide", "picky"];
    for (repo, range) in members.into_iter().zip([">=2.0.0", ">=2.0.0, <3.0.0"]) {
        world.join(repo);
        world.ok(&provider, &["realm", "admin", "domain", "--name", "s3-access", "--repos", repo]);
        world.write(&format!("{repo}/{BINDING_FILE}"), &importing(range));
    }
    let expects = "    expects: { type: object, properties: { id: { type: boolean } } }\n";
    world.write(&format!("picky/{BINDING_FILE}"), &(importing(">=2.0.0, <3.0.0") + expects));
    for repo in members {
        world.commit(repo, "Follow");
    }
    write(&world, "3.0.0", "integer");
    for is_published in [false, true] {
        if is_published {
            world.commit("fungal", "3.0.0");
        }
        let impact = world.ok(&provider, &["contract", "impact", AT, "--worktree"]).stdout;
        let adapt = if is_published {
            "these repositories are not adapted to 3.0.0: wide\n"
        } else {
            "adapt before 3.0.0 is published, unless it keeps what they rely on: wide\n"
        };
        assert!(impact.contains("until these repositories are adapted to 3.0.0: access\n"), "{impact}");
        assert!(impact.contains(adapt), "{impact}");
        assert!(impact.contains("would not help these repositories: they must adapt to 3.0.0: picky\n"), "{impact}");
    }
}

#[test]
fn break_that_the_range_refuses_too_is_judged_by_the_schemas() {
    let world = ids();
    let judged_by = |kind: &str| {
        write(&world, "3.0.0", kind);
        let impact = world.json(&world.path("fungal"), &["contract", "impact", AT, "--worktree"]);
        impact["importers"][0]["judged_by"].clone()
    };
    assert_eq!((judged_by("integer"), judged_by("string")), (json!("schemas"), json!("version-range")));
}

#[test]
fn several_versions_are_judged_as_one_step() {
    let world = ids();
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=2.0.0"));
    world.commit("access", "Accept all");
    write(&world, "3.0.0", "integer");
    world.commit("fungal", "There");
    world.blue(&world.path("access"), &["check"]).exits(1);
    write(&world, "4.0.0", "string");
    world.commit("fungal", "And back");
    let check = world.blue(&world.path("access"), &["check"]).exits(0);
    assert!(check.stdout.contains("ok: 0 errors, 0 warnings"), "{check}");
    let told = world.json(&world.path("access"), &["notifications", "list"])["notifications"][0].clone();
    assert_eq!((&told["import_state"], &told["judged_by"]), (&json!("satisfied"), &json!("schemas")));
}

#[test]
fn approval_covers_only_that_break() {
    let world = ids();
    let provider = world.path("fungal");
    let fingerprint = &refused_break(&world);
    let other = ["contract", "approve", AT, "0123456789abcdef", "--reason", "no"];
    assert!(world.blue(&provider, &other).exits(1).stderr.contains(fingerprint.as_str()));
    let stranger =
        world.blue(&world.path("access"), &["contract", "approve", AT, fingerprint, "--reason", "no"]).exits(1);
    let only = "only fungal, which owns s3-access/s3-permissions, can approve a break of it, not access";
    assert!(stranger.stderr.contains(only) && stranger.stderr.contains("run it in fungal"), "{stranger}");
    let approve = ["contract", "approve", AT, fingerprint, "--reason", "nobody reads it"];
    let approved = world.ok(&provider, &approve).stdout;
    assert!(approved.contains("after 2.2.0: it breaks backwards compatibility [widened-type]"), "{approved}");
    assert!(world.ok(&provider, &approve).stdout.starts_with("already approved"));
    let other = world.blue(&provider, &other).exits(1);
    assert!(other.stderr.contains(&format!("but {fingerprint}, which was approved")), "{other}");
    assert!(
        other.stderr.contains("hint: git blue contract publish") && !other.stderr.contains("approve s3"),
        "{other}"
    );
    let otherwise = world.blue(&provider, &[&approve[..5], &["nobody uses it"]].concat()).exits(1);
    assert!(otherwise.stderr.contains("was already approved: nobody reads it"), "{otherwise}");
    let dots = world.blue(&provider, &[&approve[..5], &["…"]].concat()).exits(129);
    assert!(dots.stderr.contains("write the reason in place of the dots"), "{dots}");
    let again = world.json(&provider, &approve);
    assert_eq!((&again["changed"], &again["directions"]), (&json!(false), &json!(["backwards"])));
    let check = world.blue(&provider, &["check"]).exits(0);
    assert!(check.stdout.contains("which was approved: nobody reads it [break-approved]"), "{check}");
    // With an automatic version, it is a minor one, and the reason says so.
    let file = format!("fungal/{CONTRACT_FILE}");
    let text = world.read(&file);
    world.write(&file, &text.replace("version: \"2.3.0\"", "version: auto"));
    let auto = world.blue(&provider, &["contract", "diff", AT, "--worktree", "--json"]).exits(0).json();
    assert_eq!(auto["new_version"], "2.3.0");
    world.write(&file, &text.replace("version: \"2.3.0\"", "version: \"2.2.0\""));
    let bump = world.ok(&provider, &["contract", "bump", AT, "auto"]).stdout;
    assert!(bump.contains("2.3.0") && bump.contains("the break was approved: nobody reads it"), "{bump}");
    world.write(&file, &text);
    let log = world.ok(&provider, &["contract", "log", AT]);
    let entry = format!("approve the break {fingerprint} of s3-permissions: nobody reads it");
    assert!(log.stdout.contains(&entry), "{log}");
    assert_eq!(world.json(&provider, &["contract", "log", AT])["entries"][0]["reason"], "nobody reads it");
    world.ok(&provider, &["contract", "publish"]);
    world.blue(&provider, &["check"]).exits(0);
    // The consumer is still broken, and another change needs another approval.
    world.blue(&world.path("access"), &["check"]).exits(1);
    write(&world, "2.4.0", "boolean");
    world.blue(&provider, &["check", "--worktree"]).exits(1);
    let tree = world.git(&world.store(), &["ls-tree", "-r", "--name-only", DOMAIN_REF, "approvals/"]);
    assert_eq!(tree.stdout.trim(), format!("approvals/s3-permissions/{fingerprint}.json"));
}

/// `evolution` is what people read about a version, so it should not claim the opposite of what is proved.
#[test]
fn version_described_as_compatible_that_breaks_is_a_warning() {
    let world = ids();
    let provider = world.path("fungal");
    let entry = |more: &str| format!("evolution:\n  - version: 3.0.0\n    changes: [Numbers]\n{more}");
    for (more, expected) in [("", 1), ("    compatible: true\n", 1), ("    compatible: false\n", 0)] {
        world.write(&format!("fungal/{CONTRACT_FILE}"), &(with_id("3.0.0", "integer") + &entry(more)));
        let check = world.blue(&provider, &["check", "--worktree", "--json"]).json();
        let warnings = check["warnings"].as_array().unwrap();
        let found: Vec<_> = warnings.iter().filter(|one| one["code"] == "breaking-evolution").collect();
        assert_eq!(found.len(), expected, "{more}{check}");
        assert!(found.iter().all(|one| one["line"] == 12), "{check}");
    }
}

/// The contract promises nothing, so that a minor version is enough.
#[test]
fn bump_describes_a_break_that_no_promise_forbids() {
    let world = ids();
    let provider = world.path("fungal");
    let free = |text: String| text.replace("backwards: true", "backwards: false");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &free(with_id("2.3.0", "string")));
    world.commit("fungal", "Promise nothing");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &free(with_id("2.3.0", "[string, integer]")));
    let bump = world.ok(&provider, &["contract", "bump", AT, "-m", "Numbers too"]);
    assert!(bump.stdout.contains("from 2.3.0; it breaks consumers, which no promise protects"), "{bump}");
    let text = world.read(&format!("fungal/{CONTRACT_FILE}"));
    assert!(text.contains("2.4.0") && text.contains("compatible: false"), "{text}");
    let check = world.blue(&provider, &["check", "--worktree", "--json"]).json();
    assert!(!codes(&check, "warnings").contains(&"breaking-evolution".to_owned()), "{check}");
}

/// Readers of old values may break, although importers keep working, and a changed promise is a change.
#[test]
fn evolution_says_what_promises_were_broken_and_changed() {
    let world = ids();
    let publish = |version: &str, id: &str, from: &str, to: &str| {
        let text = with_id(version, id).replace(from, to);
        world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
        world.commit("fungal", version);
        let held = world.stored("contracts/s3-permissions.json");
        assert_eq!(held["version"], version);
        held["evolution"].as_array().unwrap().iter().find(|one| one["version"] == version).unwrap().clone()
    };
    let both = ("forwards: false", "forwards: true, reading: strict");
    let entry = publish("2.3.0", "string", both.0, both.1);
    assert_eq!(entry["changes"], json!(["promises backwards and forwards compatibility, read strictly"]));
    assert_eq!(entry["compatible"], true);
    let entry = publish("3.0.0", "string, maxLength: 9", both.0, both.1);
    assert_eq!(entry["compatible"], false);
    let entry = publish("3.1.0", "string, maxLength: 9", "values: free", "values: frozen");
    let rules = ["promises backwards compatibility", "promises not to change the agreed value"];
    assert_eq!((&entry["changes"], &entry["compatible"]), (&json!(rules), &json!(true)));
    let reversed = "forwards: false }\nflow: consumer-to-provider";
    let entry = publish("4.0.0", "string, maxLength: 9", "forwards: false }", reversed);
    let flow = "reverses the flow: consumers received the values, and now send them";
    let rules = [flow, "promises nothing about the agreed value"];
    assert_eq!((&entry["changes"], &entry["compatible"]), (&json!(rules), &json!(false)));
}

/// A value that is null looks like a missing one in JSON.
#[test]
fn witness_null_is_shown_also_by_a_cached_verdict() {
    let world = ids();
    let provider = world.path("fungal");
    let text = with_id("2.3.0", "string").replace("type: object", "type: [object, \"null\"]");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
    for _ in 0..2 {
        let check = world.blue(&provider, &["check", "--worktree"]).exits(1);
        assert!(check.stdout.contains("rejects null ("), "{check}");
    }
}

/// The owner's promise allows it, so it is no error.
#[test]
fn patch_that_changes_which_values_are_valid_or_sent_is_a_warning() {
    let world = ids();
    let provider = world.path("fungal");
    for (version, kind, expected) in [
        ("2.2.1", "string, maxLength: 3", 1),
        ("2.3.0", "string, maxLength: 3", 0),
        ("2.2.1", "string, title: Its id", 0),
        ("2.2.1", "string }\n    note: { title: Any note", 1),
    ] {
        write(&world, version, kind);
        let check = world.blue(&provider, &["check", "--worktree", "--json"]).exits(0).json();
        let found = codes(&check, "warnings").iter().filter(|code| *code == "small-bump").count();
        assert_eq!(found, expected, "{version} {kind}: {check:#}");
    }
}

/// Answers over MCP and HTTP have witnesses of at most 2 KB.
#[test]
fn diff_on_the_command_line_has_witnesses_of_any_size() {
    let world = World::pair();
    let provider = world.path("fungal");
    write(&world, "2.0.0", "string, maxLength: 10");
    world.commit("fungal", "Short");
    write(&world, "3.0.0", "string, minLength: 3000");
    let diff = world.json(&provider, &["contract", "diff", AT, "--worktree"]);
    let one = &diff["compared"]["backwards"]["lenient"]["difference"];
    assert!(one["witness_bytes"].as_u64() > Some(3_000), "{one}");
    for witness in [&one["witness"], &diff["compared"]["differences"][0]["witness"]] {
        assert!(witness["id"].as_str().is_some_and(|id| id.len() >= 3_000), "{diff}");
    }
    let text = world.ok(&provider, &["contract", "diff", AT, "--worktree"]).stdout;
    assert!(text.contains(" bytes; --json shows all)"), "{text}");
}

/// The agreed value compares lists as sets.
#[test]
fn reordered_list_of_the_value_is_no_change() {
    let world = World::pair();
    let value =
        |version: &str, list: &str| contract(version).replace(&format!("[\"jobs/*/masks/*\", \"v{version}\"]"), list);
    for (version, list) in [("1.1.0", "[a, b, c]"), ("1.1.1", "[c, a, b]")] {
        world.write(&format!("fungal/{CONTRACT_FILE}"), &value(version, list));
        world.commit("fungal", version);
    }
    let name = "s3-access/s3-permissions";
    let evolution = &world.stored("contracts/s3-permissions.json")["evolution"];
    assert!(evolution.as_array().unwrap().iter().all(|one| one["version"] != "1.1.1"), "{evolution}");
    let diff = world.json(&world.path("fungal"), &["contract", "diff", name, "1.1.0", "1.1.1"]);
    assert_eq!(diff["changes"], json!([]), "{diff}");
    let blame = world.ok(&world.path("fungal"), &["contract", "blame", name, "/value"]);
    assert!(!blame.stdout.contains("1.1.1"), "{blame}");
}

#[test]
fn release_is_what_a_change_of_a_pre_release_needs() {
    let world = World::pair();
    world.bump("2.0.0-rc.1");
    let other = contract("2.0.0-rc.2").replace("type: string", "type: integer");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &other.replace("[\"jobs/*/masks/*\", \"v2.0.0-rc.2\"]", "[1]"));
    let diff = ["contract", "diff", "s3-access/s3-permissions", "2.0.0-rc.1", "--worktree"];
    let diff = world.ok(&world.path("fungal"), &diff);
    assert!(diff.stdout.contains("needs version 2.0.0 or later: a pre-release promises nothing"), "{diff}");
}
