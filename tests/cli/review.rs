//! One call shows what changed under the imports, whether it breaks, and where to edit.

use serde_json::{Value, json};

use crate::world::{BINDING_FILE, CONTRACT_FILE, World, importing};

const AT: &str = "s3-access/s3-permissions";

fn reads(version: &str, field: &str, kind: &str) -> String {
    let value = if kind == "integer" { "1" } else { "jobs" };
    format!(
        "\
name: s3-permissions
version: \"{version}\"
owner: fungal
compatibility: {{ backwards: false, forwards: false }}
schema:
  type: object
  required: [{field}]
  properties:
    {field}: {{ type: {kind} }}
    kept: {{ type: string }}
value: {{ {field}: {value} }}
"
    )
}

fn publish(world: &World, version: &str, field: &str, kind: &str) {
    world.write(&format!("fungal/{CONTRACT_FILE}"), &reads(version, field, kind));
    world.commit("fungal", version);
}

/// Returns a world in which `access` imports `>=2.0.0, <3.0.0` and is written against 2.0.0, where `path` is a string.
fn world() -> World {
    let world = World::pair();
    publish(&world, "2.0.0", "path", "string");
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=2.0.0, <3.0.0"));
    world.write("access/cdk/access_stack.py", "# uses\nprint(config[\"path\"])\nprint(paths)\n");
    world.write("access/a/first.ts", "const x = config.path;\n");
    world.write("access/ünï/ö b.ts", "config.path\n");
    world.write("access/vendor/lib.js", "path\n");
    world.write("access/gen/out.js", "path\n");
    world.write("access/.gitattributes", "gen/** linguist-generated\n");
    world.write("access/blob.bin", "path\0path\n");
    world.commit("access", "Read the path");
    world.write("access/untracked.py", "path\n");
    world.settle();
    world
}

fn review(world: &World) -> Value {
    world.json(&world.path("access"), &["review"])
}

fn places(import: &Value) -> Vec<String> {
    let place = |one: &Value| format!("{}:{}", one["file"].as_str().unwrap(), one["line"]);
    import["mentions"].as_array().unwrap().iter().map(place).collect()
}

fn step(answer: &Value) -> String {
    assert_eq!(answer["next_steps"].as_array().unwrap().len(), 1, "{answer:#}");
    let step = &answer["next_steps"][0];
    format!("{}  # {}", step["command"].as_str().unwrap(), step["reason"].as_str().unwrap())
}

#[test]
fn renamed_field_is_found_in_all_files() {
    let world = world();
    publish(&world, "3.0.0", "key", "string");
    let answer = review(&world);
    let import = &answer["imports"][0];
    assert_eq!(
        (&answer["checked"], &answer["searched"], &answer["mentions_cut"]),
        (&json!(1), &json!("worktree"), &json!(null))
    );
    assert_eq!(
        (&import["state"], &import["old_version"], &import["new_version"]),
        (&json!("broken"), &json!("2.0.0"), &json!("3.0.0"))
    );
    assert_eq!(import["verdict"]["verdict"], "breaks");
    assert_eq!(import["fields"][0], json!({"name": "path", "change": "removed", "maybe_renamed_to": "key"}));
    assert_eq!(places(import), ["cdk/access_stack.py:2", "a/first.ts:1", "ünï/ö b.ts:1"]);
    assert_eq!(import["mentions"][0]["text"], "print(config[\"path\"])");
    // A caller's variable for its own pathspecs, as Magit sets it, changes nothing.
    let literal = [("GIT_LITERAL_PATHSPECS", "1".as_ref())];
    let again = world.blue_with(&world.path("access"), &["review", "--json"], &literal).json();
    assert_eq!(again, answer);
    assert_eq!(import["differences"][0], "- /schema/properties/path: {\"type\":\"string\"}");
    let line = import["binding_line"].as_u64().unwrap() as usize;
    let written = world.read(&format!("access/{BINDING_FILE}"));
    assert!(written.lines().nth(line - 1).unwrap().contains(">=2.0.0"), "{line}: {written}");
    let step = step(&answer);
    assert!(
        step.starts_with(&format!("git blue import {AT} '>=3.0.0, <4.0.0'  # first adapt cdk/access_stack.py")),
        "{step}"
    );
    assert!(step.ends_with(&format!("{BINDING_FILE}:{line}")), "{step}");
    std::fs::remove_file(world.path("access/cdk/access_stack.py")).unwrap();
    let review = world.ok(&world.path("access"), &["review"]).stdout;
    let gone = "first adapt the code, which is no longer in cdk/access_stack.py, to 3.0.0";
    assert!(review.contains(gone), "{review}");

    // Its suggestion works, and then nothing is left to do.
    assert_eq!(world.finish_shell(&world.path("access"), &step).code, 0);
    world.commit("access", "Follow");
    let after = world.ok(&world.path("access"), &["review"]).stdout;
    assert_eq!(after, "checked 1 import: nothing is broken, and nothing changed since the code was adapted\n");
}

/// The realm knows an edit of the binding only once it is committed on the publishing branch.
#[test]
fn edited_binding_is_committed_next() {
    let world = World::pair();
    world.bump("2.0.0");
    let access = world.path("access");
    let import = format!("git blue import {AT} '>=2.0.0, <3.0.0'");
    assert!(step(&review(&world)).starts_with(&import));
    assert_eq!(world.finish_shell(&access, &import).code, 0);
    let commit = format!("git add {BINDING_FILE} && git commit -m \"Bind {AT}\"");
    let text = world.ok(&access, &["review"]);
    assert!(text.stdout.contains(":4: >=2.0.0, <3.0.0 (published: >=1.0.0, <2.0.0)"), "{text}");
    assert!(world.next_step(&text).starts_with(&commit), "{text}");
    let again = world.finish_shell(&access, &import);
    assert!(again.stdout.contains("unchanged") && world.next_step(&again) == commit, "{again}");
    world.git(&access, &["switch", "--quiet", "-c", "fix"]);
    assert_eq!(world.finish_shell(&access, &commit).code, 0);
    let text = world.ok(&access, &["review"]);
    assert!(text.stdout.contains("which is published once it is on main"), "{text}");
    assert!(!text.stdout.contains("git blue import"), "{text}");
    let again = world.finish_shell(&access, &import);
    assert!(!again.stdout.contains("git commit"), "{again}");
    world.git(&access, &["switch", "--quiet", "main"]);
    world.git(&access, &["merge", "--quiet", "fix"]);
    assert_eq!(review(&world)["imports"], json!([]));
}

#[test]
fn removed_import_is_committed_next() {
    let world = World::pair();
    let access = world.path("access");
    let text =
        importing(">=1.0.0, <2.0.0").replace("imports:\n", "imports:\n  - { contract: other, version: \"^1\" }\n");
    world.write(&format!("access/{BINDING_FILE}"), &text);
    world.commit("access", "Import another one too");
    world.ok(&world.path("fungal"), &["contract", "retire", AT, "--reason", "gone", "--force"]);
    world.ok(&access, &["unimport", AT]);
    let text = world.ok(&access, &["review"]);
    let commit = format!("git add {BINDING_FILE} && git commit -m \"Remove {AT} from the binding\"");
    assert!(world.next_steps(&text).iter().any(|step| step.starts_with(&commit)), "{text}");
    assert!(!text.stdout.contains("git blue unimport"), "{text}");
}

/// A notification is shown once, but the import needs a review until it is adapted.
#[test]
fn import_that_needs_attention_keeps_its_step() {
    let world = World::pair();
    let access = world.path("access");
    let older = "supported: [\"^1.0.0\"]\n";
    world.write(&format!("fungal/{CONTRACT_FILE}"), &(crate::world::contract("2.0.0") + older));
    world.commit("fungal", "Serve both");
    let says = |what: &str| {
        world.ok(&access, &["status"]);
        let status = world.ok(&access, &["status"]);
        assert!(status.stdout.contains(what) && world.next_step(&status).starts_with("git blue review"), "{status}");
        let screen = world.ok(&access, &[]);
        assert!(screen.stdout.contains("1 of 1 import needs attention"), "{screen}");
        assert!(world.next_step(&screen).starts_with("git blue review"), "{screen}");
        let review = review(&world);
        assert_eq!((&review["imports"][0]["contract"]), "s3-permissions", "{review}");
    };
    says("behind: the current version is 2.0.0");
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=2.0.0, <3.0.0"));
    world.commit("access", "Adapt");
    let adapted = world.ok(&access, &["status"]);
    assert!(!adapted.stdout.contains("git blue review"), "{adapted}");
    let leaving = "deprecated: { since: 2.0.0 }\n";
    world.write(&format!("fungal/{CONTRACT_FILE}"), &(crate::world::contract("2.0.0") + older + leaving));
    world.commit("fungal", "Deprecate it");
    says("deprecated since 2.0.0");
}

#[test]
fn break_within_the_range_has_witness_and_step() {
    let world = world();
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=2.0.0, <4.0.0"));
    world.commit("access", "Accept 3.x too");
    publish(&world, "3.0.0", "path", "integer");
    let answer = review(&world);
    let import = &answer["imports"][0];
    assert_eq!((&import["state"], &import["judged_by"]), (&json!("broken"), &json!("schemas")), "{answer:#}");
    assert!(import["verdict"]["difference"]["witness"]["path"].is_i64(), "{answer:#}");
    assert_eq!(import["fields"][0], json!({"name": "path", "change": "changed", "maybe_renamed_to": null}));
    let text = world.ok(&world.path("access"), &["review"]);
    crate::world::snapshot("review", &[&text]);
    let step = step(&answer);
    assert!(step.starts_with(&format!("git blue contract adapted {AT} 3.0.0  # first adapt")), "{step}");
    assert_eq!(world.finish_shell(&world.path("access"), &step).code, 0);
    assert_eq!(review(&world)["imports"], json!([]));
}

#[test]
fn harmless_change_is_shown_and_recorded() {
    let world = world();
    world.write(&format!("fungal/{CONTRACT_FILE}"), &reads("2.1.0", "path", "string").replace("kept", "other"));
    world.commit("fungal", "2.1.0");
    let answer = review(&world);
    let import = &answer["imports"][0];
    assert_eq!((&import["state"], &import["fields"][0]["name"]), (&json!("current"), &json!("kept")), "{answer:#}");
    let step = step(&answer);
    assert!(step.starts_with(&format!("git blue contract adapted {AT} 2.1.0")), "{step}");
    assert_eq!(world.finish_shell(&world.path("access"), &step).code, 0);
    assert_eq!(review(&world)["imports"], json!([]));
}

#[test]
fn misspelled_contract_suggests_the_nearest_name() {
    let world = World::pair();
    let wrong = importing(">=1.0.0").replace("s3-permissions", "s3-permission");
    world.write(&format!("access/{BINDING_FILE}"), &wrong);
    world.plant(
        "bindings/access.json",
        "{\"role\": \"consumer\", \"imports\": [{\"contract\": \"s3-permission\", \"version\": \">=1.0.0\"}]}",
    );
    let answer = review(&world);
    assert_eq!(
        (&answer["imports"][0]["state"], &answer["imports"][0]["new_version"]),
        (&json!("broken"), &json!(null))
    );
    let step = step(&answer);
    assert!(step.contains("did you mean s3-permissions?") && step.contains(BINDING_FILE), "{step}");
    assert_eq!(world.finish_shell(&world.path("access"), &step).code, 0);
}

#[test]
fn reports_nothing_to_do_provider_and_missing_realm() {
    let world = World::pair();
    let text = world.ok(&world.path("access"), &["review"]).stdout;
    assert_eq!(text, "checked 1 import: nothing is broken, and nothing changed since the code was adapted\n");
    assert_eq!(world.ok(&world.path("fungal"), &["review"]).stdout, "fungal imports nothing\n");
    world.repo("other");
    let refused = world.blue(&world.path("other"), &["review"]).exits(128);
    assert!(world.next_step(&refused).starts_with("git blue init"), "{refused:?}");
}

#[test]
fn works_in_unjoined_and_bare_clones() {
    let world = world();
    publish(&world, "3.0.0", "key", "string");
    world.git(&world.root(), &["clone", "--quiet", "access", "clone"]);
    let answer = world.json(&world.path("clone"), &["review"]);
    assert!(answer["read_only"].is_string(), "{answer:#}");
    assert_eq!(answer["next_steps"][0]["command"], "git blue init", "{answer:#}");
    assert_eq!(places(&answer["imports"][0])[0], "cdk/access_stack.py:2");

    world.git(&world.root(), &["clone", "--quiet", "--bare", "access", "bare.git"]);
    world.git(&world.path("bare.git"), &["config", "blue.realm", crate::world::REALM]);
    world.git(&world.path("bare.git"), &["config", "blue.repo", "access"]);
    let answer = world.json(&world.path("bare.git"), &["review"]);
    let import = &answer["imports"][0];
    assert_eq!(answer["searched"], "head", "{answer:#}");
    assert_eq!(places(import)[0], "cdk/access_stack.py:2");
    assert!(places(import).contains(&"ünï/ö b.ts:1".to_owned()), "{answer:#}");
    assert_eq!(import["binding_file"], BINDING_FILE);
    let last = answer["next_steps"].as_array().unwrap().last().unwrap()["command"].as_str().unwrap();
    assert_eq!(world.finish_shell(&world.path("bare.git"), last).code, 0, "{last}");
}

#[test]
fn mentions_are_bounded_with_the_binding_file_first() {
    let world = world();
    let many: String = "path\n".repeat(500);
    for n in 0..20 {
        world.write(&format!("access/0many/{n}.txt"), &many);
    }
    world.write("access/0many/long.txt", &"path ".repeat(400_000));
    world.commit("access", "Many");
    publish(&world, "3.0.0", "key", "string");
    let answer = review(&world);
    let import = &answer["imports"][0];
    assert_eq!(import["mentions"].as_array().unwrap().len(), 200);
    assert_eq!(places(import)[0], "cdk/access_stack.py:2");
    assert!(answer["mentions_cut"].is_string(), "{answer:#}");
    assert!(answer.to_string().len() < 60_000);
}

#[test]
fn common_name_does_not_hide_the_mentions_of_another() {
    let world = world();
    world.write("access/0many.txt", &"path\n".repeat(5_000));
    world.write("access/z.txt", "kept\n");
    world.commit("access", "Many");
    let text = reads("3.0.0", "path", "integer").replace("kept: { type: string }", "kept: { type: integer }");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
    world.commit("fungal", "3.0.0");
    let text = world.blue(&world.path("access"), &["review"]).stdout;
    assert!(text.contains("path (changed): at least 100 mentions\n"), "{text}");
    assert!(text.contains("kept (changed): at least 1 mention\n    z.txt:1: kept\n"), "{text}");
}

#[test]
fn mentioned_fields_are_listed_however_many_changed() {
    let world = world();
    let many = |version: &str, kind: &str| {
        let fields: String = (0..60).map(|n| format!("    field{n:02}: {{ type: {kind} }}\n")).collect();
        let text = reads(version, "path", "string") + "values: free\n";
        text.replace("    kept: { type: string }\n", &fields)
    };
    world.write(&format!("fungal/{CONTRACT_FILE}"), &many("2.1.0", "string"));
    world.commit("fungal", "2.1.0");
    world.ok(&world.path("access"), &["contract", "adapted", AT]);
    world.write("access/deep.py", "x.field55\n");
    world.commit("access", "Read a field");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &many("3.0.0", "integer"));
    world.commit("fungal", "3.0.0");
    let text = world.blue(&world.path("access"), &["review"]).stdout;
    assert!(text.contains("field55 (changed): 1 mention\n    deep.py:1: x.field55\n"), "{text}");
    assert!(text.contains("\n  and 40 more fields\n"), "{text}");
    assert!(text.contains(" (and at least 19 more)\n"), "{text}");
}

#[test]
fn path_with_shell_syntax_is_not_in_the_step() {
    let world = World::pair();
    let binding = "{\"role\": \"consumer\", \"imports\": [{\"contract\": \"s3-permissions\", \"version\": \">=1.0.0, <2.0.0\", \"binding\": \"a\\ntouch pwned\", \"adapted_version\": \"1.0.0\"}]}";
    world.plant("bindings/access.json", binding);
    publish(&world, "2.0.0", "path", "string");
    let step = step(&review(&world));
    assert!(!step.contains('\n') && !step.contains("pwned") && step.contains("first adapt the code"), "{step}");
}

#[test]
fn code_that_mentions_a_removed_field_is_not_said_to_be_fine() {
    let world = world();
    let text = reads("2.1.0", "path", "string").replace("required: [path]", "required: []") + "values: free\n";
    world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
    world.commit("fungal", "2.1.0");
    world.ok(&world.path("access"), &["contract", "adapted", AT]);
    let text = text.replace("2.1.0", "2.2.0").replace("    path: { type: string }\n", "").replace("path: jobs", "");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
    let commit = world.commit("fungal", "2.2.0");
    assert!(commit.stderr.contains("published s3-access/s3-permissions 2.1.0 -> 2.2.0"), "{commit}");
    let answer = review(&world);
    assert_eq!(answer["imports"][0]["verdict"]["verdict"], "compatible", "{answer}");
    assert!(step(&answer).contains("does not need path, which 2.2.0 removed"), "{answer}");
}

#[test]
fn reason_to_raise_a_range_is_about_the_current_version() {
    let world = world();
    let kept = "    kept: { type: string }\n";
    let minor =
        reads("2.1.0", "path", "string").replace(kept, "    kept: { type: string }\n    more: { type: string }\n");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &minor);
    world.commit("fungal", "2.1.0");
    let major = reads("3.0.0", "path", "integer").replace("schema:", "supported: [\"^2.0.0\"]\nschema:");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &major);
    world.commit("fungal", "3.0.0");
    let answer = review(&world);
    let import = &answer["imports"][0];
    assert_eq!((&import["state"], &import["new_version"]), (&json!("behind"), &json!("3.0.0")));
    assert_eq!(import["verdict"]["verdict"], "breaks", "{answer:#}");
    assert_eq!(import["verdict"]["new_version"], "3.0.0");
    assert!(step(&answer).contains("# first adapt cdk/access_stack.py to 3.0.0; this updates"), "{answer:#}");
}

#[test]
fn files_that_git_does_not_search_are_not_called_searched() {
    for (is_sparse, why) in [(true, "the checkout is sparse"), (false, "cdk/access_stack.py is in a submodule")] {
        let world = world();
        let (access, cdk) = (world.path("access"), world.path("access/cdk"));
        if is_sparse {
            world.git(&access, &["sparse-checkout", "set", "--cone", ".blue"]);
        } else {
            for args in [&["init", "--quiet"][..], &["add", "."], &["commit", "--quiet", "-m", "Stack"]] {
                world.git(&cdk, args);
            }
            world.git(&access, &["rm", "-r", "--quiet", "--cached", "cdk"]);
            world.commit("access", "Move the stack to a submodule");
        }
        publish(&world, "3.0.0", "key", "string");
        let answer = review(&world);
        assert_eq!(answer["mentions_cut"], format!("not all files were searched: {why}"), "{answer:#}");
    }
}
