//! Imports with `expects` are judged only by that.

use serde_json::{Value, json};

use crate::world::{BINDING_FILE, CONTRACT_FILE, World, contract, importing};

pub const AT: &str = "s3-access/s3-permissions";

/// A contract with these properties, of which `id` is required, without a promise.
fn schema(version: &str, properties: &str, more: &str) -> String {
    format!(
        "\
name: s3-permissions
version: \"{version}\"
owner: fungal
compatibility: {{ backwards: false }}
{more}schema:
  type: object
  required: [id]
  properties: {properties}
"
    )
}

pub fn write(world: &World, version: &str, properties: &str) {
    world.write(&format!("fungal/{CONTRACT_FILE}"), &schema(version, properties, ""));
}

pub fn import(world: &World, expects: &str) {
    world.write(&format!("access/{BINDING_FILE}"), &format!("{}    {expects}\n", importing(">=2.0.0, <9.0.0")));
}

/// `access` is written against 2.0.0, whose `id` is a string, and reads only that.
pub fn reader() -> World {
    let world = World::pair();
    write(&world, "2.0.0", "{ id: { type: string }, note: { type: string } }");
    world.commit("fungal", "2.0.0");
    import(&world, "expects: { type: object, required: [id], properties: { id: { type: string } } }");
    world.commit("access", "Read the id");
    world.settle();
    world
}

fn is_break(verdict: &Value) {
    assert_eq!((&verdict["verdict"], &verdict["basis"]), (&json!("breaks"), &json!("expects")), "{verdict}");
    assert_eq!(verdict["difference"]["at"], "/id", "{verdict}");
    assert!(verdict["difference"]["witness"]["id"].is_i64(), "{verdict}");
}

#[test]
fn break_outside_expects_does_not_break_the_import() {
    let world = reader();
    let (provider, consumer) = (world.path("fungal"), world.path("access"));
    write(&world, "3.0.0", "{ id: { type: string }, note: { type: integer } }");
    let impact = world.json(&provider, &["contract", "impact", AT, "--worktree"]);
    let importer = &impact["importers"][0];
    assert_eq!(
        (&impact["broken"], &importer["state"], &importer["judged_by"], &importer["verdict"]["verdict"]),
        (&json!(0), &json!("current"), &json!("expects"), &json!("compatible"))
    );
    world.blue(&provider, &["check", "--worktree"]).exits(0);
    let commit = world.commit("fungal", "Another note");
    assert!(commit.stderr.contains("2.0.0 -> 3.0.0") && !commit.stderr.contains("breaks"), "{commit}");
    let told = world.json(&consumer, &["notifications", "list", "--state", "pending"])["notifications"][0].clone();
    assert_eq!((&told["import_state"], &told["judged_by"]), (&json!("satisfied"), &json!("expects")), "{told}");
    world.blue(&consumer, &["check", "--strict"]).exits(0);
    assert_eq!(world.json(&consumer, &["realm", "topology"])["broken"], 0);
}

#[test]
fn break_inside_expects_breaks_the_import_everywhere() {
    let world = reader();
    let (provider, consumer) = (world.path("fungal"), world.path("access"));
    write(&world, "3.0.0", "{ id: { type: [string, integer] }, note: { type: string } }");
    let impact = world.json(&provider, &["contract", "impact", AT, "--worktree"]);
    assert_eq!((&impact["broken"], &impact["importers"][0]["judged_by"]), (&json!(1), &json!("expects")));
    is_break(&impact["importers"][0]["verdict"]);
    let check = world.blue(&provider, &["check", "--worktree"]).exits(1);
    assert!(check.stdout.contains("and 3.0.0 breaks it [import-broken]\n    3.0.0 allows {\"id\":"));
    assert!(check.stdout.contains("--> expects/properties/id/type\n  --> 3.0.0 /schema/properties/id/type"), "{check}");
    is_break(&world.json(&provider, &["check", "--worktree", "--mode", "compatibility"])["errors"][0]["verdict"]);
    let commit = world.commit("fungal", "Numbers too");
    assert!(commit.stderr.contains("breaks access (cdk/access_stack.py): 3.0.0 allows {\"id\":"), "{commit}");
    let told = world.json(&consumer, &["notifications", "list", "--state", "pending"])["notifications"][0].clone();
    assert_eq!((&told["import_state"], &told["judged_by"]), (&json!("broken"), &json!("expects")), "{told}");
    is_break(&told["verdict"]);
    let status = world.json(&consumer, &["status"]);
    assert_eq!(status["imports"][0]["state"], "broken");
    is_break(&status["imports"][0]["verdict"]);
    assert_eq!(world.json(&consumer, &["realm", "topology"])["broken"], 1);
    is_break(&world.json(&consumer, &["check"])["errors"][0]["verdict"]);
    // Recording an adapted version is not enough: the expectation still fails.
    world.ok(&consumer, &["contract", "adapted", AT]);
    world.blue(&consumer, &["check"]).exits(1);
    import(&world, "expects: { properties: { id: { type: [string, integer] } } }");
    world.blue(&consumer, &["check", "--worktree"]).exits(0);
}

#[test]
fn expected_property_that_an_older_version_does_not_name_is_reported() {
    let world = World::pair();
    let binding = importing(">=1.0.0, <2.0.0") + "    expects: { properties: { read: {}, marks: {} } }\n";
    world.write(&format!("access/{BINDING_FILE}"), &binding);
    world.commit("access", "Read the marks");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &(contract("2.0.0") + "supported: [\"^1\"]\n"));
    world.commit("fungal", "Paths 2.0.0");
    let check = world.ok(&world.path("access"), &["check"]);
    let said = "access expects /marks of s3-access/s3-permissions, but 1.0.0 does not name it, so it is never sent";
    assert!(check.stdout.contains("[import-behind]") && check.stdout.contains(said), "{check}");
}

/// A sender that follows the schema never sends a property that it does not name, so the code waits for it in vain.
#[test]
fn expected_property_that_the_contract_does_not_name_is_a_warning() {
    let world = reader();
    let (provider, consumer) = (world.path("fungal"), world.path("access"));
    let codes = |dir, args: &[&str]| {
        let check = world.blue(dir, &[&["check", "--json"], args].concat()).exits(0).json();
        check["warnings"].as_array().unwrap().iter().map(|one| one["code"].to_string()).collect::<Vec<_>>()
    };
    let is_warned = |codes: Vec<String>| codes.iter().any(|code| code.contains("expects-unnamed"));
    // A typing error.
    import(&world, "expects: { type: object, required: [id], properties: { id: { type: string }, note_: {} } }");
    assert!(is_warned(codes(&consumer, &["--worktree"])));
    let commit = world.commit("access", "Read the note");
    assert!(commit.stderr.contains("2.0.0 does not name /note_, which the import expects"), "{commit}");
    import(&world, "expects: { type: object, required: [id], properties: { id: { type: string }, note: {} } }");
    world.commit("access", "Read the right note");
    assert!(!is_warned(codes(&consumer, &[])));
    world.settle();
    // The owner removes the property.
    write(&world, "2.1.0", "{ id: { type: string } }");
    let check = world.blue(&provider, &["check", "--worktree"]).exits(0);
    let said = "access expects /note of s3-access/s3-permissions, but 2.1.0 does not name it, so it is never sent";
    assert!(check.stdout.contains(said), "{check}");
    let impact = world.ok(&provider, &["contract", "impact", "s3-access/s3-permissions", "--worktree"]);
    assert!(impact.stdout.contains("accepted, but lacks what it expects"), "{impact}");
    assert!(impact.stdout.contains("access: 2.1.0 does not name /note, which the import expects"), "{impact}");
    world.commit("fungal", "Without the note");
    let status = world.ok(&consumer, &["status"]);
    let holds = "your import >=2.0.0, <9.0.0 still holds (cdk/access_stack.py): 2.1.0 does not name /note";
    assert!(status.stdout.contains(holds), "{status}");
    assert!(status.stdout.contains("1 import needs attention"), "{status}");
    assert!(is_warned(codes(&consumer, &[])));
    // The cache does not hide it.
    assert!(is_warned(codes(&consumer, &[])));
}

#[test]
fn unpromised_expectation_is_an_error_at_once() {
    let world = reader();
    let consumer = world.path("access");
    import(&world, "expects: { type: object, required: [id, note] }");
    let check = world.blue(&consumer, &["check", "--worktree"]).exits(1);
    assert!(check.stdout.contains("which the import does not expect\n"), "{check}");
    let commit = world.commit("access", "Rely on the note");
    assert!(commit.stderr.contains("which the import does not expect"), "{commit}");
    assert_eq!(world.json(&consumer, &["check"])["errors"][0]["caused_by"], "already-in-the-realm");
    let said = |versions: &str| {
        let review = world.blue(&consumer, &["review"]).stdout;
        assert!(
            review.contains(&format!("s3-permissions {versions} broken: it expects more than 2.0.0 promises")),
            "{review}"
        );
    };
    said("2.0.0");
    write(&world, "3.0.0", "{ id: { type: string }, note: { type: string }, more: { type: string } }");
    world.commit("fungal", "More");
    said("2.0.0 -> 3.0.0");
}

#[test]
fn requests_are_judged_in_reverse() {
    let world = World::pair();
    let flow = "flow: consumer-to-provider\n";
    let of = |version: &str, properties: &str| {
        world.write(&format!("fungal/{CONTRACT_FILE}"), &schema(version, properties, flow));
    };
    of("2.0.0", "{ id: { type: string } }");
    world.commit("fungal", "2.0.0");
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=2.0.0, <9.0.0"));
    world.commit("access", "Follow");
    // Accepting more breaks no sender; accepting less does.
    of("3.0.0", "{ id: { type: [string, integer] } }");
    world.blue(&world.path("fungal"), &["check", "--worktree"]).exits(0);
    of("3.0.0", "{ id: { type: string, maxLength: 3 } }");
    let check = world.blue(&world.path("fungal"), &["check", "--worktree"]).exits(1);
    assert!(
        check.stdout.contains("3.0.0 rejects {\"id\":\"") && check.stdout.contains("which 2.0.0 allows"),
        "{check}"
    );
    world.write("access/sent.json", "{\"id\": \"a\"}");
    let inferred =
        world.ok(&world.path("access"), &["contract", "expect", AT, "--replace", "--from-samples", "sent.json"]);
    assert!(inferred.stdout.contains("restrict each value to what the code sends"), "{inferred}");
    // A consumer that sends less is not broken.
    import(&world, "expects: { type: object, required: [id], properties: { id: { enum: [a, b] } } }");
    world.commit("access", "Send a and b");
    let check = world.blue(&world.path("fungal"), &["check", "--worktree"]).exits(0);
    assert!(check.stdout.contains("ok: 0 errors"), "{check}");
    of("3.0.0", "{ id: { const: a } }");
    let check = world.blue(&world.path("fungal"), &["check", "--worktree"]).exits(1);
    assert!(check.stdout.contains("3.0.0 rejects {\"id\":\"b\"}"), "{check}");
    assert!(check.stdout.contains("which the importer expects to send"), "{check}");
}

#[test]
fn reversing_the_flow_breaks_importers() {
    let world = World::pair();
    let (provider, consumer) = (world.path("fungal"), world.path("access"));
    let of = |version: &str, flow: &str| {
        let text = schema(version, "{ id: { type: string } }", &format!("flow: {flow}\n"));
        world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
    };
    of("2.0.0", "consumer-to-provider");
    world.commit("fungal", "2.0.0");
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=2.0.0, <9.0.0"));
    world.commit("access", "Follow");
    of("2.0.0", "provider-to-consumer");
    let check = world.blue(&provider, &["check", "--worktree"]).exits(1);
    assert!(check.stdout.contains("[version-reused]") && check.stdout.contains("flow-reversed at /flow"), "{check}");
    of("2.1.0", "provider-to-consumer");
    let check = world.blue(&provider, &["check", "--worktree"]).exits(1);
    for said in ["[breaks-promise]", "2.0.0 -> 2.1.0 breaks its promise of the agreed flow", "this requires 3.0.0"] {
        assert!(check.stdout.contains(said), "{check}");
    }
    let diff = world.json(&provider, &["contract", "diff", AT, "--worktree"]);
    assert_eq!((&diff["compared"]["bump"], &diff["compared"]["differences"]), (&json!("major"), &json!([])), "{diff}");
    assert_eq!(
        (&diff["flow"]["basis"], &diff["flow"]["difference"]["rule"]),
        (&json!("flow"), &json!("flow-reversed"))
    );
    let text = world.ok(&provider, &["contract", "diff", AT, "--worktree"]);
    assert!(text.stdout.contains("  /flow consumers sent the values, and now receive them [flow-reversed]"), "{text}");
    assert!(text.stdout.contains("it breaks the promise about the flow"), "{text}");
    let file = world.path("report");
    let report = world
        .blue(&provider, &["contract", "diff", AT, "--worktree", "--output", &format!("github={}", file.display())]);
    let report = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{error}: {report}"));
    let line =
        world.read(&format!("fungal/{CONTRACT_FILE}")).lines().position(|one| one.starts_with("flow:")).unwrap() + 1;
    assert!(report.contains(&format!(",line={line},")) && report.contains("and now receive them"), "{report}");
    let same = world.json(&provider, &["contract", "diff", AT, "2.0.0", "2.0.0"]);
    assert_eq!(same["flow"], json!(null), "{same}");
    let bump = world.blue(&provider, &["contract", "bump", AT, "auto"]).exits(0);
    assert!(bump.all().contains("3.0.0") && bump.all().contains("about the flow"), "{bump}");
    let commit = world.commit("fungal", "Turn it round");
    assert!(commit.stderr.contains("consumers sent the values, and now receive them"), "{commit}");
    let told = world.json(&consumer, &["notifications", "list"])["notifications"][0].clone();
    assert_eq!((&told["import_state"], &told["judged_by"]), (&json!("broken"), &json!("flow")), "{told}");
    let review = world.blue(&consumer, &["review"]).exits(0);
    assert!(review.stdout.contains("flow-reversed at /flow"), "{review}");
    world.blue(&consumer, &["check"]).exits(1);
    world.ok(&consumer, &["contract", "adapted", AT]);
    world.blue(&consumer, &["check", "--strict"]).exits(0);
}

#[test]
fn change_without_a_schema_needs_a_version() {
    let world = World::solo();
    let provider = world.path("fungal");
    let write = |version: &str, more: &str| {
        let text = format!("name: calls\nversion: \"{version}\"\nowner: fungal\nvalue: [a]\n{more}");
        world.write("fungal/.blue/contracts/s3-access/calls.yaml", &text);
    };
    write("1.0.0", "flow: consumer-to-provider\n");
    world.commit("fungal", "Calls");
    for (more, bump) in [
        ("flow: provider-to-consumer\n", json!("major")),
        ("flow: consumer-to-provider\ncompatibility: { backwards: true }\n", json!("minor")),
        ("flow: consumer-to-provider\ndescription: All calls\n", json!(null)),
        ("flow: consumer-to-provider\n", json!(null)),
    ] {
        write("1.0.0", more);
        let diff = ["contract", "diff", "s3-access/calls", "--worktree"];
        let answer = world.json(&provider, &diff);
        assert_eq!((&answer["bump"], &answer["compared"]), (&bump, &json!(null)), "{answer}");
        let text = world.ok(&provider, &diff).stdout;
        assert_eq!(text.contains("needs version"), !bump.is_null(), "{text}");
    }
}

#[test]
fn owner_of_requests_promises_to_keep_accepting() {
    let world = World::solo();
    let text = |version: &str, kind: &str| {
        format!(
            "name: calls\nversion: \"{version}\"\nowner: fungal\nflow: consumer-to-provider\n\
             schema: {{ type: {kind} }}\n"
        )
    };
    let file = "fungal/.blue/contracts/s3-access/calls.yaml";
    world.write(file, &text("1.0.0", "[string, integer]"));
    world.commit("fungal", "Calls");
    let held = world.stored("contracts/calls.json");
    assert_eq!(
        (&held["compatibility"]["backwards"], &held["compatibility"]["forwards"]),
        (&json!(false), &json!(true))
    );
    world.write(file, &text("1.1.0", "string"));
    let check = world.blue(&world.path("fungal"), &["check", "--worktree"]).exits(1);
    assert!(check.stdout.contains("breaks its promise of forwards compatibility"), "{check}");
    world.write(file, &text("1.1.0", "[string, integer, \"null\"]"));
    world.blue(&world.path("fungal"), &["check", "--worktree"]).exits(0);
}

#[test]
fn only_expected_parts_of_the_value_count() {
    let world = World::pair();
    let of = |version: &str, value: &str| {
        let text = schema(version, "{ id: { type: string }, note: { type: string } }", "");
        world.write(&format!("fungal/{CONTRACT_FILE}"), &format!("{text}value: {value}\n"));
    };
    of("2.0.0", "{ id: a, note: b }");
    world.commit("fungal", "2.0.0");
    import(&world, "expects: { type: object, required: [id], properties: { id: { type: string } } }");
    world.commit("access", "Read the id");
    of("3.0.0", "{ id: a, note: c }");
    world.blue(&world.path("fungal"), &["check", "--worktree"]).exits(0);
    of("3.0.0", "{ id: c, note: b }");
    let check = world.blue(&world.path("fungal"), &["check", "--worktree"]).exits(1);
    assert!(check.stdout.contains("\"a\" became \"c\" (value-changed at /value/id)"), "{check}");
}

/// The contract names draft-07, which asserts formats.
#[test]
fn expects_without_a_draft_is_read_in_that_of_the_contract() {
    let world = World::pair();
    let at = "{ at: { type: string, format: date-time }, id: { type: string } }";
    let draft = |text: String| {
        text.replace("  type: object", "  $schema: http://json-schema.org/draft-07/schema#\n  type: object")
    };
    let text = draft(schema("2.0.0", at, "flow: consumer-to-provider\n"));
    world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
    world.commit("fungal", "2.0.0");
    let check = |expects: &str| {
        import(&world, &format!("expects: {{ {expects} type: object, required: [id], properties: {at} }}"));
        world.blue(&world.path("access"), &["check", "--worktree"])
    };
    check("").exits(0);
    let other = check("$schema: 'https://json-schema.org/draft/2020-12/schema',").exits(1);
    assert!(other.stdout.contains("the same keyword means something else in 2020-12"), "{other}");
    // It needs its own draft.
    check("$defs: {},").exits(1);
}

/// In 2020-12, `items` is not a list. The contract's draft allows that.
#[test]
fn expects_without_a_draft_may_have_the_syntax_of_the_contract() {
    let world = World::pair();
    let list = |kind: &str| format!("{{ type: array, items: [{{ type: {kind} }}] }}");
    for (draft, version) in [("draft-07", "2.0.0"), ("draft-04", "2.1.0")] {
        let named = format!("  $schema: http://json-schema.org/{draft}/schema#\n  type: object");
        let text = schema(version, &format!("{{ id: {} }}", list("string")), "").replace("  type: object", &named);
        world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
        world.commit("fungal", version);
        let check = |kind: &str| {
            import(&world, &format!("expects: {{ properties: {{ id: {} }} }}", list(kind)));
            world.blue(&world.path("access"), &["check", "--worktree"])
        };
        let good = check("string").exits(0);
        assert!(!good.stdout.contains("keyword-of-another-draft"), "{good}");
        let bad = check("integer").exits(1);
        assert!(bad.stdout.contains("at /id/0:"), "{bad}");
    }
    import(&world, "expects: { properties: { id: { items: [3] } } }");
    let bad = world.blue(&world.path("access"), &["check", "--worktree"]).exits(1);
    assert!(bad.stdout.contains("expects/properties/id/items"), "{bad}");
}

#[test]
fn new_import_of_an_older_version_is_checked_before_it_is_published() {
    let world = World::pair();
    write(&world, "2.0.0", "{ id: { type: string } }");
    world.commit("fungal", "2.0.0");
    write(&world, "3.0.0", "{ id: { type: integer } }");
    world.commit("fungal", "3.0.0");
    let fresh = world.join("fresh");
    world.ok(&fresh, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "fresh"]);
    world.write(&format!("fresh/{BINDING_FILE}"), &importing(">=2.0.0, <3.0.0"));
    let said = ["2.0.0 rejects {\"id\":0}", "accepts both versions: write it once the code works with 3.0.0"];
    let before = world.blue(&fresh, &["check", "--worktree"]).exits(1);
    world.commit("fresh", "Import");
    let after = world.blue(&fresh, &["check"]).exits(1);
    for one in said {
        assert!(before.stdout.contains(one) && after.stdout.contains(one), "{before}\n{after}");
    }
}

#[test]
fn everyone_hears_that_the_version_which_breaks_them_was_yanked() {
    let world = World::pair();
    let (provider, consumer) = (world.path("fungal"), world.path("access"));
    world.bump("2.0.0");
    let yank = world.ok(&provider, &["contract", "yank", AT, "2.0.0", "--reason", "by mistake"]);
    let back =
        "git blue contract publish --rollback --reason \"…\"  # or go back: first git revert the commit of 2.0.0";
    assert!(yank.stdout.contains(back), "{yank}");
    let check = world.blue(&consumer, &["check"]).exits(1);
    assert!(check.stdout.contains("2.0.0 was yanked") && !check.stdout.contains("accepts both"), "{check}");
    let status = world.blue(&consumer, &["status"]);
    assert!(status.stdout.contains("broken: the current version is 2.0.0 (yanked)"), "{status}");
    let impact = world.blue(&provider, &["contract", "impact", AT]);
    let until = "until a version above 2.0.0 (yanked) works for these repositories: access";
    assert!(impact.stdout.contains(until), "{impact}");
    let adapted = world.ok(&consumer, &["contract", "adapted", AT, "2.0.0"]);
    assert!(adapted.stdout.contains("this version was yanked"), "{adapted}");
}
