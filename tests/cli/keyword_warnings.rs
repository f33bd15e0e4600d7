//! Words in schemas that look like misspelled keywords.

use crate::world::{CONTRACT_FILE, World, contract};

#[test]
fn misspelled_keyword_is_a_warning_of_check_and_publish() {
    let world = World::pair();
    let slip = contract("1.1.0").replace("  required:", "  requierd:");
    assert_ne!(slip, contract("1.1.0"));
    world.write(&format!("fungal/{CONTRACT_FILE}"), &slip.replace("1.1.0", "2.0.0"));
    let warning = "s3-permissions: /schema/requierd: \"requierd\" is not a keyword and has no effect";
    let check = world.blue(&world.path("fungal"), &["check", "--worktree"]);
    assert!(check.stdout.contains(warning) && check.stdout.contains("[misspelt-keyword]"), "{check}");
    let commit = world.commit("fungal", "Slip");
    assert!(commit.stderr.contains(warning), "{commit}");
    let line = slip.lines().position(|line| line.contains("requierd")).unwrap() + 1;
    let check = world.blue(&world.path("fungal"), &["check"]);
    assert!(check.stdout.contains(&format!("{CONTRACT_FILE}:{line}: warning: s3-access: {warning}")), "{check}");
}

#[test]
fn keyword_of_another_draft_is_a_warning() {
    let world = World::pair();
    let draft = "schema:\n  $schema: http://json-schema.org/draft-07/schema#\n  dependentRequired: { a: [b] }\n";
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("2.0.0").replace("schema:\n", draft));
    let check = world.blue(&world.path("fungal"), &["check", "--worktree"]);
    let warning = "/schema/dependentRequired: \"dependentRequired\" has no effect in this form in draft-07; \
                   write \"dependencies\"";
    assert!(check.stdout.contains(warning) && check.stdout.contains("[keyword-of-another-draft]"), "{check}");
}

/// The misspelled keyword is what changes the schema.
#[test]
fn misspelled_keyword_is_a_warning_if_the_version_was_not_raised() {
    let world = World::pair();
    let text = contract("1.0.0").replace("    read: {", "    read: { requierd: [],");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
    let check = world.blue(&world.path("fungal"), &["check", "--worktree"]).exits(1);
    assert!(check.stdout.contains("[version-reused]"), "{check}");
    assert!(check.stdout.contains("did you mean \"required\"?"), "{check}");
}

#[test]
fn misspelled_keywords_are_all_listed_or_counted() {
    let world = World::pair();
    for (count, listed, has_more) in [(5, 5, false), (20, 20, false), (21, 20, true)] {
        let slips: String = (0..count).map(|n| format!("    p{n}: {{ maxLenght: 1 }}\n")).collect();
        let text = contract("2.0.0").replace("    read: {", &format!("{slips}    read: {{"));
        world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
        let check = world.blue(&world.path("fungal"), &["check", "--worktree"]);
        assert_eq!(check.stdout.matches("\"maxLenght\" is not a keyword").count(), listed, "{check}");
        assert_eq!(check.stdout.contains("/schema: more than 20 warnings"), has_more, "{check}");
    }
}

#[test]
fn misspelled_keyword_in_expectations_is_a_warning() {
    let world = World::pair();
    let file = world.read("access/.blue/bindings/s3-access.yaml");
    let range = file.lines().find(|line| line.contains("version:")).unwrap();
    let expects = format!(
        "{}expects: {{ propertis: {{ read: {{ type: array }} }} }}",
        " ".repeat(range.find("version").unwrap())
    );
    world.write("access/.blue/bindings/s3-access.yaml", &file.replace(range, &format!("{range}\n{expects}")));
    let warning = "the import of s3-permissions: expects: \"propertis\" is not a keyword and has no effect";
    let worktree = world.blue(&world.path("access"), &["check", "--worktree"]);
    assert!(worktree.stdout.contains(warning), "{worktree}");
    let commit = world.commit("access", "Expect");
    assert!(commit.stderr.contains(warning), "{commit}");
    let check = world.blue(&world.path("access"), &["check"]);
    assert!(check.stdout.contains(warning), "{check}");
}

/// Every change of a schema that allows nothing is compatible.
#[test]
fn schema_that_allows_nothing_is_a_warning() {
    let world = World::pair();
    let provider = world.path("fungal");
    let part = |name: &str| {
        format!(
            r#"{{"type": "object", "required": ["{name}"], "properties": {{"{name}": {{}}}}, "additionalProperties": false}}"#
        )
    };
    world.write("fungal/dog.json", &format!(r#"{{"allOf": [{}, {}]}}"#, part("id"), part("bark")));
    let new = world.blue(&provider, &["contract", "new", "s3-access/dog", "--schema", "dog.json"]).exits(0);
    let advice = "correct the schema: at /allOf/0/additionalProperties of it: no value is valid: \"bark\" is required";
    assert!(new.stdout.contains(advice) && new.stdout.contains("[nothing-valid]"), "{new}");
    let warning = "dog: /schema/allOf/0/additionalProperties: no value is valid: \"bark\" is required";
    let check = world.blue(&provider, &["check", "--worktree"]);
    assert!(check.stdout.contains(warning) && check.stdout.contains("[nothing-valid]"), "{check}");
    let commit = world.commit("fungal", "Add dog");
    assert!(commit.stderr.contains(warning), "{commit}");
    let check = world.blue(&provider, &["check"]);
    assert!(check.stdout.contains(warning), "{check}");
}
