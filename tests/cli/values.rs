//! Promises about the agreed value.

use serde_json::{Value, json};

use crate::world::{BINDING_FILE, CONTRACT_FILE, World, importing};

const AT: &str = "s3-access/s3-permissions";

/// A contract of paths under the same schema, with additional lines.
fn paths(version: &str, paths: &str, more: &str) -> String {
    format!(
        "\
name: s3-permissions
version: \"{version}\"
owner: fungal
{more}schema:
  type: object
  required: [read]
  properties:
    read: {{ type: array, items: {{ type: string }} }}
    bucket: {{ type: string }}
value: {paths}
"
    )
}

fn write(world: &World, version: &str, value: &str) {
    world.write(&format!("fungal/{CONTRACT_FILE}"), &paths(version, value, ""));
}

/// Returns a world in which `access` imports `>=2.0.0, <3.0.0`, written against 2.0.0.
fn agreed() -> World {
    let world = World::pair();
    write(&world, "2.0.0", "{ read: [a/*, b/*], bucket: x }");
    world.commit("fungal", "2.0.0");
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=2.0.0, <4.0.0"));
    world.commit("access", "Follow");
    world.settle();
    world
}

fn codes(answer: &Value, list: &str) -> Vec<String> {
    answer[list].as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn value_that_lost_something_needs_a_major_version() {
    let world = agreed();
    let provider = world.path("fungal");
    write(&world, "2.1.0", "{ read: [a/*], bucket: x }");
    let check = world.blue(&provider, &["check", "--worktree"]).exits(1);
    let said = "2.0.0 -> 2.1.0 breaks its promise of value compatibility: \"b/*\" was removed (value-removed at /value/read/1); this requires 3.0.0, not 2.1.0 [breaks-promise]";
    assert!(check.stdout.contains(said), "{check}");
    assert!(check.stdout.contains("--> 2.0.0 /value/read/1"), "{check}");
    let answer = world.json(&provider, &["check", "--worktree", "--mode", "compatibility"]);
    assert_eq!(codes(&answer, "errors"), ["import-broken", "breaks-promise"]);
    for error in answer["errors"].as_array().unwrap() {
        let (verdict, difference) = (&error["verdict"], &error["verdict"]["difference"]);
        assert_eq!((&verdict["verdict"], &verdict["basis"]), (&json!("breaks"), &json!("values")), "{verdict}");
        assert_eq!(
            (&difference["rule"], &difference["old_pointer"], &difference["new_pointer"], &difference["witness"]),
            (&json!("value-removed"), &json!("/read/1"), &json!(null), &json!(null))
        );
    }
    let impact = world.json(&provider, &["contract", "impact", AT, "--worktree"]);
    let importer = &impact["importers"][0];
    assert_eq!(
        (&impact["broken"], &importer["state"], &importer["judged_by"], &impact["breaks_promise"][0]["basis"]),
        (&json!(1), &json!("broken"), &json!("values"), &json!("values"))
    );
    let text = world.ok(&provider, &["contract", "impact", AT, "--worktree"]).stdout;
    assert!(text.contains("breaks the promised value compatibility: \"b/*\" was removed"), "{text}");
    let diff = world.json(&provider, &["contract", "diff", AT, "--worktree"]);
    assert_eq!((&diff["values"]["bump"], &diff["compared"]["bump"]), (&json!("major"), &json!("major")), "{diff}");
    assert_eq!(diff["values"]["differences"][0]["rule"], "value-removed");
    let text = world.ok(&provider, &["contract", "diff", AT, "--worktree"]).stdout;
    assert!(text.contains("it breaks the promise about the value"), "{text}");
    assert!(text.contains("value: breaks the promise\n  /value/read/1 \"b/*\" was removed [value-removed]"), "{text}");
    let bump = world.ok(&provider, &["contract", "bump", AT, "auto"]).stdout;
    assert!(bump.contains("3.0.0") && bump.contains("value-removed"), "{bump}");
    let commit = world.commit("fungal", "Less");
    assert!(commit.stderr.contains("published s3-access/s3-permissions 2.0.0 -> 3.0.0; breaks access"), "{commit}");
    let told =
        world.json(&world.path("access"), &["notifications", "list", "--state", "pending"])["notifications"][0].clone();
    assert_eq!((&told["import_state"], &told["judged_by"]), (&json!("broken"), &json!("values")), "{told}");
    let check = world.blue(&world.path("access"), &["check"]).exits(1);
    assert!(check.stdout.contains("and 3.0.0 breaks it [import-broken]\n    \"b/*\" was removed"), "{check}");
    world.ok(&world.path("access"), &["contract", "adapted", AT]);
    world.blue(&world.path("access"), &["check"]).exits(0);
}

#[test]
fn consumer_is_told_of_both_schema_and_value() {
    let world = agreed();
    let text = paths("3.0.0", "{ read: [a/*], bucket: x }", "").replace("bucket: { type: string }", "bucket: {}");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
    world.commit("fungal", "Less");
    let told =
        world.json(&world.path("access"), &["notifications", "list", "--state", "pending"])["notifications"][0].clone();
    let verdict = &told["verdict"];
    assert_eq!((&verdict["basis"], &verdict["difference"]["at"]), (&json!("schemas"), &json!("/bucket")), "{told}");
    assert_eq!(
        (&verdict["value_difference"]["rule"], &verdict["more"]),
        (&json!("value-removed"), &json!(0)),
        "{told}"
    );
    let check = world.blue(&world.path("access"), &["check"]).exits(1);
    assert!(check.stdout.contains("2.0.0 rejects {\"bucket\":"), "{check}");
    assert!(
        check.stdout.contains("which 3.0.0 allows; \"b/*\" was removed (value-removed at /value/read/1)"),
        "{check}"
    );
    let impact = world.ok(&world.path("fungal"), &["contract", "impact", AT]).stdout;
    assert!(impact.contains("\"b/*\" was removed"), "{impact}");
}

#[test]
fn promise_about_the_value_decides() {
    for (values, value, version) in [
        ("", "{ read: [a/*, b/*, c/*], bucket: x }", "2.1.0"),
        ("", "{ read: [a/*, b/*], bucket: y }", "3.0.0"),
        ("values: frozen\n", "{ read: [a/*, b/*, c/*], bucket: x }", "3.0.0"),
        // Another promise is a minor change.
        ("values: frozen\n", "{ read: [b/*, a/*], bucket: x }", "2.1.0"),
    ] {
        let world = agreed();
        let text = paths("auto", value, values).replace("\"auto\"", "auto");
        world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
        world.commit("fungal", "Change");
        assert_eq!(world.version(), version, "{values}{value}");
    }
    // A value that was published as free may change under a patch version.
    let world = World::pair();
    let text = |version: &str, value: &str| paths(version, value, "values: free\n");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &text("1.1.0", "{ read: [a], bucket: x }"));
    world.commit("fungal", "1.1.0");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &text("1.1.1", "{ read: [] }"));
    world.blue(&world.path("fungal"), &["check", "--worktree"]).exits(0);
    world.commit("fungal", "1.1.1");
    assert_eq!(world.version(), "1.1.1");
    world.blue(&world.path("access"), &["check"]).exits(0);
}

#[test]
fn approval_covers_only_that_value() {
    let world = agreed();
    let provider = world.path("fungal");
    write(&world, "2.1.0", "{ read: [a/*], bucket: x }");
    world.commit("fungal", "2.1.0");
    let publish = world.blue(&provider, &["contract", "publish"]).exits(1);
    let words: Vec<_> = publish.stderr.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "approve").unwrap();
    let approved = world.ok(&provider, &["contract", "approve", AT, words[at + 2], "--reason", "unused"]).stdout;
    assert!(approved.contains("after 2.0.0: it breaks value compatibility [value-removed]"), "{approved}");
    // Another value under the same schema is another change.
    write(&world, "2.1.0", "{ read: [b/*], bucket: x }");
    world.blue(&provider, &["check", "--worktree"]).exits(1);
    world.ok(&provider, &["contract", "publish"]);
    assert_eq!(world.version(), "2.1.0");
}

/// A version can break its promise by its schema and by its value.
#[test]
fn approval_of_a_schema_does_not_cover_the_value() {
    let text = |version: &str, required: &str, value: &str| {
        format!(
            "name: s3-permissions\nversion: \"{version}\"\nowner: fungal\ncompatibility: {{ backwards: true }}\n\
             schema: {{ type: object, required: [{required}] }}\nvalue: {value}\n"
        )
    };
    let world = World::pair();
    let provider = world.path("fungal");
    let write = |text: &str| world.write(&format!("fungal/{CONTRACT_FILE}"), text);
    write(&text("2.0.0", "queue, days", "{ queue: a, days: 30 }"));
    world.commit("fungal", "2.0.0");
    write(&text("2.1.0", "queue", "{ queue: a, days: 30 }"));
    let fingerprint = |json: &serde_json::Value| json["errors"][0]["fingerprint"].as_str().unwrap().to_owned();
    let check = world.blue(&provider, &["--json", "check", "--worktree"]).exits(1).json();
    world.ok(&provider, &["contract", "approve", AT, &fingerprint(&check), "--reason", "days may be absent"]);
    world.ok(&provider, &["check", "--worktree"]);
    write(&text("2.1.0", "queue", "{ queue: b, days: 30 }"));
    let check = world.blue(&provider, &["check", "--worktree"]).exits(1).stdout;
    assert!(check.contains("\"days\" is missing") && check.contains("\"a\" became \"b\""), "{check}");
    let json = world.blue(&provider, &["--json", "check", "--worktree"]).exits(1).json();
    let approve = ["contract", "approve", AT, &fingerprint(&json), "--reason", "moved"];
    let approved = world.ok(&provider, &approve).stdout;
    assert!(approved.contains("[removed-required, value-changed]"), "{approved}");
    world.ok(&provider, &["check", "--worktree"]);
}

/// Without a schema, the promise about the value is what consumers rely on.
#[test]
fn value_without_a_schema_is_compared() {
    let world = World::pair();
    let (provider, consumer) = (world.path("fungal"), world.path("access"));
    let publish = |version: &str, value: &str| {
        let (head, rest) =
            paths(version, value, "").split_once("schema:").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
        let (_, value) = rest.split_once("value:").unwrap();
        world.write(&format!("fungal/{CONTRACT_FILE}"), &format!("{head}value:{value}"));
        world.commit("fungal", version);
    };
    publish("2.0.0", "{ read: [a/*] }");
    let expects = |expects: &str| {
        world.write(&format!("access/{BINDING_FILE}"), &format!("{}{expects}", importing(">=2.0.0, <3.0.0")));
        world.commit("access", "Follow");
    };
    expects("");
    publish("2.1.0", "{ read: [a/*, b/*] }");
    let check = world.json(&consumer, &["check"]);
    assert_eq!((&check["valid"], &check["imports_by_range"]), (&json!(true), &json!(0)), "{check:#}");
    let impact = world.json(&provider, &["contract", "impact", AT]);
    let importer = &impact["importers"][0];
    assert_eq!((&importer["judged_by"], &importer["verdict"]["verdict"]), (&json!("values"), &json!("compatible")));
    let told = world.ok(&consumer, &["status", "--peek"]);
    assert!(told.stdout.contains("your import >=2.0.0, <3.0.0 still holds"), "{told}");

    // What an import expects is compared with the value, too.
    expects("    expects: { type: object, required: [read] }\n");
    world.blue(&consumer, &["check"]).exits(0);
    expects("    expects: { properties: { read: { type: string } } }\n");
    world.blue(&consumer, &["check"]).exits(1);
    expects("    expects: { type: object, required: [write] }\n");
    let check = world.blue(&consumer, &["check"]).exits(1);
    assert!(check.stdout.contains(r#"2.1.0 allows {"read":["a/*","b/*"]}"#), "{check}");
}
