//! `version: auto`, and changes of which it is unknown what version they need.

use serde_json::json;

use crate::{
    verdicts::{AT, codes, ids, with_id},
    world::{BINDING_FILE, CONTRACT_FILE, World, importing, snapshot},
};

/// A version number would claim what is unknown, so the owner must choose it.
#[test]
fn auto_selects_no_version_if_it_is_unknown_which_one_the_change_needs() {
    let world = World::pair();
    let (provider, file) = (world.path("fungal"), format!("fungal/{CONTRACT_FILE}"));
    let with = |version: &str, pattern: &str| {
        let text = with_id("auto", &format!("string, pattern: '{pattern}'"));
        text.replace("version: \"auto\"", version).replace("id: a }", "id: aa }")
    };
    world.write(&file, &with("version: auto", r"^(a*)\1$"));
    world.commit("fungal", "Pairs");
    let held = world.version();
    world.write(&file, &with("version: auto", r"^(a*)(?:\1)$"));
    let check = world.blue(&provider, &["check", "--worktree", "--json"]).exits(1);
    assert_eq!(codes(&check.json(), "errors"), ["undecided"], "{check}");
    let choose = &check.json()["next_steps"][0]["reason"];
    assert_eq!(choose, "write version: \"3.0.0\" if it may break consumers, or \"2.1.0\" if it does not");
    world.commit("fungal", "The same pairs");
    assert_eq!(world.version(), held);
    let publish = world.blue(&provider, &["contract", "publish"]).exits(1);
    let bump = world.blue(&provider, &["contract", "bump", AT]).exits(1);
    assert!(bump.stderr.contains("publishing cannot choose the version: it is unknown"), "{bump}");
    snapshot("verdicts_auto_undecided", &[&publish]);
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0"));
    world.commit("access", "Accept all");
    world.write(&file, &with("version: 3.0.0", r"^(a*)(?:\1)$"));
    world.commit("fungal", "Choose");
    assert_eq!(world.version(), "3.0.0");
    let get = world.ok(&provider, &["contract", "get", AT]).stdout;
    let entry = get.lines().find(|line| line.contains("it is unknown whether consumers keep working"));
    assert!(entry.is_some_and(|line| line.ends_with("unknown")), "{get}");
    let topology = world.ok(&provider, &["realm", "topology"]).stdout;
    assert!(topology.contains("-> access  >=1.0.0  unknown"), "{topology}");
    let check = world.blue(&world.path("access"), &["check"]).exits(0);
    assert!(check.stdout.contains("which accepts 3.0.0, but it is unknown whether 3.0.0 breaks it"), "{check}");
    assert!(check.stdout.contains("[compatibility-unknown]"), "{check}");
    world.blue(&world.path("access"), &["check", "--strict"]).exits(1);
}

#[test]
fn promise_that_cannot_be_decided_is_a_warning() {
    let world = World::solo();
    let with = |version: &str, pattern: &str| {
        let text = with_id(version, &format!("string, pattern: '{pattern}'")).replace("id: a }", "id: aa }");
        world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
    };
    with("2.0.0", r"^(a*)\1$");
    world.commit("fungal", "Pairs");
    with("2.1.0", r"^(a*)(?:\1)$");
    let check = world.blue(&world.path("fungal"), &["check", "--worktree"]).exits(0);
    let said = "it is unknown whether s3-permissions 2.0.0 -> 2.1.0 breaks backwards compatibility";
    assert!(check.stdout.contains(said) && check.stdout.contains("[compatibility-unknown]"), "{check}");
}

#[test]
fn auto_selects_the_version_that_the_change_needs() {
    let world = ids();
    let (provider, file) = (world.path("fungal"), format!("fungal/{CONTRACT_FILE}"));
    let auto = |kind: &str, more: &str| with_id("auto", kind).replace("version: \"auto\"", "version: auto") + more;
    let steps = [
        ("string", "description: The same\n", "2.2.0"),
        ("string", "evolution: []\nsupported: []\n", "2.2.0"),
        ("integer", "", "3.0.0"),
        ("[integer]", "", "3.0.1"),
    ];
    for (kind, more, expected) in steps {
        world.write(&file, &auto(kind, more).replace("id: a }", if kind == "string" { "id: a }" } else { "id: 1 }" }));
        world.blue(&provider, &["check", "--worktree"]);
        world.commit("fungal", &format!("Towards {expected}"));
        assert_eq!(world.version(), expected, "{kind} {more}");
        world.blue(&provider, &["contract", "diff", AT, "--worktree"]);
    }
    let narrower = auto("integer", "").replace("type: integer", "type: integer, minimum: 0");
    world.write(&file, &narrower.replace("id: a }", "id: 1 }"));
    world.commit("fungal", "Towards 3.1.0");
    let held = world.stored("contracts/s3-permissions.json");
    assert_eq!(held["version"], "3.1.0");
    let evolution = held["evolution"].as_array().unwrap();
    let of = |version: &str| evolution.iter().find(|one| one["version"] == version).unwrap();
    assert_eq!(
        of("3.1.0")["changes"],
        json!(["adds schema/properties/id/minimum", "changes schema/properties/id/type"])
    );
    assert_eq!((&of("3.1.0")["compatible"], &of("3.0.0")["compatible"]), (&json!(true), &json!(false)));
    // A first version is 1.0.0, and fields that the realm fills in are no difference.
    let check = world.json(&provider, &["check"]);
    assert!(!codes(&check, "warnings").contains(&"file-differs".to_owned()), "{check}");
    world.write(
        "fungal/.blue/contracts/s3-access/more.yaml",
        "name: more\nversion: auto\nowner: fungal\nschema: { type: object }\nvalue: {}\n",
    );
    world.commit("fungal", "More");
    assert_eq!(world.stored("contracts/more.json")["version"], "1.0.0");
}

/// A hostname is an IPv4 address or not, depending on the validator.
#[test]
fn unknown_change_says_that_the_version_is_unknown() {
    let world = World::solo();
    let provider = world.path("fungal");
    let with = |schema: &str| {
        let head = "name: host\nversion: \"1.0.0\"\nowner: fungal\nschema:\n";
        let text = format!("{head}  $schema: http://json-schema.org/draft-07/schema#\n{schema}");
        world.write("fungal/.blue/contracts/s3-access/host.yaml", &text);
    };
    with("  type: string\n  format: hostname\n");
    world.commit("fungal", "A host");
    with("  anyOf: [{ type: string, format: hostname }, { type: string, format: ipv4 }]\n");
    let check = world.blue(&provider, &["check", "--worktree"]).exits(1);
    let message = "bump to 2.0.0 if it may break consumers, or else to 1.1.0; git blue could not decide";
    assert!(check.stdout.contains(message), "{check}");
    let steps = world.next_steps(&check);
    assert!(steps[0].starts_with("git blue contract bump s3-access/host major  # if it may break"), "{check}");
    let commit = world.commit("fungal", "Also an address");
    assert!(commit.stderr.contains("if it may break consumers, or \"1.1.0\" if it does not"), "{commit}");
    world.finish_shell(&provider, &steps[1]).exits(0);
}
