//! Scripts that test contracts: only those that this repository committed run, and only if its user or CI asks.

use serde_json::{Value, json};

use crate::{
    running::is_running,
    wait::eventually,
    world::{BINDING_FILE, CONTRACT_FILE, Run, World, contract, importing},
};

const SCRIPT: &str = "fungal/scripts/test.sh";

fn script(world: &World, path: &str, body: &str) {
    world.script(path, &format!("#!/bin/sh\n{body}\n"));
}

/// `fungal` tests its contract with `scripts/test.sh`, with this content.
fn tested(body: &str) -> World {
    let world = World::pair();
    script(&world, SCRIPT, body);
    let validation =
        "validation: { exporter: scripts/test.sh, importer: scripts/theirs.sh, ci_only: [scripts/ci.sh] }\n";
    world.write(&format!("fungal/{CONTRACT_FILE}"), &(contract("1.1.0") + validation));
    script(&world, "fungal/scripts/ci.sh", "touch ../ran-in-ci");
    world.commit("fungal", "Test the paths");
    world
}

fn check(world: &World, args: &[&str]) -> Run {
    world.blue(&world.path("fungal"), &[&["check"], args].concat())
}

fn scripts(world: &World, args: &[&str]) -> Vec<Value> {
    let answer = world.json(&world.path("fungal"), &[&["check"], args].concat());
    answer["scripts"].as_array().unwrap().clone()
}

#[test]
fn exit_code_is_the_verdict() {
    for (body, outcome, code, exits) in [
        ("exit 0", "passed", json!(0), [0, 0]),
        ("echo 'the paths are gone' >&2; exit 1", "failed", json!(1), [1, 1]),
        ("echo 'no network'; exit 2", "undecided", json!(2), [0, 1]),
        ("exit 7", "failed", json!(7), [1, 1]),
    ] {
        let world = tested(body);
        let runs = scripts(&world, &["--run-scripts"]);
        assert_eq!(runs.len(), 1, "{runs:?}");
        let run = &runs[0];
        assert_eq!((&run["outcome"], &run["exit_code"], &run["role"]), (&json!(outcome), &code, &json!("exporter")));
        check(&world, &["--run-scripts"]).exits(exits[0]);
        let strict = check(&world, &["--run-scripts", "--strict", "--mode", "exporter"]).exits(exits[1]);
        let said =
            "error: scripts/test.sh, which tests s3-access/s3-permissions, failed: the paths are gone [script-failed]";
        assert_eq!(strict.stdout.contains(said), code == json!(1), "{strict}");
        assert_eq!(strict.stdout.contains("[script-undecided]"), code == json!(2), "{strict}");
    }
}

#[test]
fn script_gets_its_input_and_no_secrets() {
    let world =
        tested("read -r line; echo \"$line\" >../input.json; echo \"$MY_TOKEN$PLAIN\" >../variables; pwd >../folder");
    world.set("MY_TOKEN", "secret");
    world.set("PLAIN", "plain");
    check(&world, &["--run-scripts"]).exits(0);
    let input: Value = serde_json::from_str(&std::fs::read_to_string(world.path("input.json")).unwrap()).unwrap();
    assert_eq!(
        (&input["role"], &input["domain"], &input["contract"], &input["version"]),
        (&json!("exporter"), &json!("s3-access"), &json!("s3-permissions"), &json!("1.1.0"))
    );
    assert_eq!(input["value"]["read"][0], "jobs/*/masks/*");
    assert_eq!(std::fs::read_to_string(world.path("variables")).unwrap(), "plain\n");
    let folder = std::fs::read_to_string(world.path("folder")).unwrap();
    assert_eq!(folder.trim(), world.path("fungal").to_str().unwrap());
}

#[test]
fn nothing_runs_without_consent() {
    let world = tested("touch ../ran");
    let ran =
        || std::mem::take(&mut world.path("ran").exists().then(|| std::fs::remove_file(world.path("ran"))).is_some());
    let quiet = check(&world, &[]).exits(0);
    assert!(
        quiet.stdout.contains(
            "script scripts/test.sh of s3-access/s3-permissions: not run: scripts run only with --run-scripts"
        )
    );
    assert!(!ran());
    check(&world, &["--worktree", "--run-scripts"]).exits(0);
    check(&world, &["--commit", "HEAD~1", "--run-scripts"]).exits(0);
    check(&world, &["--published", "--run-scripts"]).exits(0);
    check(&world, &["--mode", "contract", "--run-scripts"]).exits(0);
    check(&world, &["--mode", "importer", "--run-scripts"]).exits(0);
    assert!(!ran());
    check(&world, &["--run-scripts"]).exits(0);
    assert!(ran() && !world.path("ran-in-ci").exists());
    for outside in ["no", "OFF", "False", "0"] {
        world.set("CI", outside);
        check(&world, &[]).exits(0);
        assert!(!ran(), "{outside}");
    }
    world.set("CI", "true");
    check(&world, &[]).exits(0);
    assert!(ran() && world.path("ran-in-ci").exists());

    // An unjoined clone runs nothing, not even in CI unless the pipeline asks.
    world.git(&world.root(), &["clone", "--quiet", "fungal", "clone"]);
    let clone = world.path("clone");
    let refused = world.blue(&clone, &["check"]);
    assert!(
        refused.stdout.contains(
            "not run: in a clone that has not joined the realm, scripts run only with --run-scripts and CI=true"
        ),
        "{refused}"
    );
    let steps = &world.json(&clone, &["check"])["next_steps"];
    assert_eq!(steps[0]["command"], "git blue check --run-scripts", "{steps}");
    assert!(!ran());
    world.blue(&clone, &["check", "--run-scripts"]).exits(0);
    assert!(ran());
    world.set("CI", "");
    let refused = world.blue(&clone, &["check", "--run-scripts"]).exits(0);
    assert!(
        refused.stdout.contains(
            "not run: in a clone that has not joined the realm, scripts run only with --run-scripts and CI=true"
        ),
        "{refused}"
    );
    assert!(!ran());
}

#[test]
fn only_committed_scripts_run() {
    let world = tested("touch ../ran");
    script(&world, SCRIPT, "touch ../ran-too");
    let changed = check(&world, &["--run-scripts"]).exits(1);
    assert!(changed.stdout.contains("it has uncommitted changes: commit or restore it [script-failed]"), "{changed}");
    std::fs::remove_file(world.path(SCRIPT)).unwrap();
    std::os::unix::fs::symlink("/bin/true", world.path(SCRIPT)).unwrap();
    check(&world, &["--run-scripts"]).exits(1);
    world.commit("fungal", "A link");
    let link = check(&world, &["--run-scripts"]).exits(1);
    assert!(link.stdout.contains("HEAD has no such regular file"), "{link}");
    for path in ["/bin/true", "../elsewhere.sh", ".git/hooks/post-commit"] {
        let validation = format!("validation: {{ exporter: \"{path}\" }}\n");
        world.write(&format!("fungal/{CONTRACT_FILE}"), &(contract("1.2.0") + &validation));
        world.commit("fungal", path);
        check(&world, &["--run-scripts"]).exits(1);
    }
    assert!(!world.path("ran").exists() && !world.path("ran-too").exists());
}

#[test]
fn missing_scripts_are_reported_without_running_any() {
    let world = tested("exit 0");
    assert!(!check(&world, &[]).exits(0).stdout.contains("script-missing"));
    for path in ["scripts/none.sh", "../elsewhere.sh"] {
        let validation = format!("validation:\n  exporter: {path}\n  ci_only: [\n    {path}]\n");
        let text = contract("1.1.0") + &validation;
        let line = text.lines().count() - 2;
        world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
        world.commit("fungal", path);
        let run = check(&world, &[]).exits(0);
        for line in [line, line + 2] {
            let said = format!(
                "{CONTRACT_FILE}:{line}: warning: {path}, which tests s3-access/s3-permissions, is not a file in the commit \
                 [script-missing]"
            );
            assert!(run.stdout.contains(&said), "{said}\n{run}");
        }
        check(&world, &["--strict"]).exits(1);
    }
    // In the working tree, it need not be committed yet.
    script(&world, "fungal/scripts/none.sh", "exit 0");
    let text = world.read(&format!("fungal/{CONTRACT_FILE}")).replace("../elsewhere.sh", "scripts/none.sh");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
    assert!(!check(&world, &["--worktree"]).exits(0).stdout.contains("script-missing"));
}

#[test]
fn consumer_runs_scripts_of_its_own_binding() {
    let world = tested("exit 0");
    let consumer = world.path("access");
    // A script named in the realm does not run, although it exists.
    script(&world, "access/scripts/theirs.sh", "touch ../theirs");
    script(&world, "access/scripts/own.sh", "read -r line; echo \"$line\" >../input.json; exit 1");
    world.commit("access", "Scripts");
    world.blue(&consumer, &["check", "--run-scripts", "--mode", "importer"]).exits(0);
    world
        .write(&format!("access/{BINDING_FILE}"), &(importing(">=1.0.0, <2.0.0") + "    validation: scripts/own.sh\n"));
    world.commit("access", "Test the import");
    let failed = world.blue(&consumer, &["check", "--run-scripts", "--mode", "importer"]).exits(1);
    assert!(failed.stdout.contains(&format!("{BINDING_FILE}:6: error: scripts/own.sh, which tests")), "{failed}");
    let input: Value = serde_json::from_str(&std::fs::read_to_string(world.path("input.json")).unwrap()).unwrap();
    assert_eq!((&input["role"], &input["version"]), (&json!("importer"), &json!("1.1.0")));
    assert!(!world.path("theirs").exists());
    world.blue(&consumer, &["check", "--run-scripts", "--mode", "exporter"]).exits(0);
}

#[test]
fn importer_script_gets_the_version_that_its_import_resolves_to() {
    let world = World::pair();
    world.bump("1.1.0");
    let served = contract("2.0.0") + "supported: [\"^1.1\"]\n";
    let served = served.replace("jobs/*/masks/*", "jobs/*/labels/*");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &served);
    world.commit("fungal", "Paths 2.0.0");
    script(&world, "access/scripts/own.sh", "read -r line; echo \"$line\" >../input.json");
    world
        .write(&format!("access/{BINDING_FILE}"), &(importing(">=1.0.0, <2.0.0") + "    validation: scripts/own.sh\n"));
    world.commit("access", "Test the import");
    let sent = || {
        world.blue(&world.path("access"), &["check", "--run-scripts", "--mode", "importer"]);
        let input: Value = serde_json::from_str(&world.read("input.json")).unwrap();
        (input["version"].clone(), input["value"]["read"][0].clone())
    };
    assert_eq!(sent(), (json!("1.1.0"), json!("jobs/*/masks/*")));
    // If no version is served, the script shows how the current one fails.
    world.write(&format!("fungal/{CONTRACT_FILE}"), &served.replace("^1.1", "=1.7"));
    world.commit("fungal", "Serve 1.1 no longer");
    assert_eq!(sent(), (json!("2.0.0"), json!("jobs/*/labels/*")));
}

#[test]
fn script_is_not_run_if_the_document_cannot_be_read() {
    let world = World::pair();
    script(&world, "access/scripts/own.sh", "touch ../ran");
    world
        .write(&format!("access/{BINDING_FILE}"), &(importing(">=1.0.0, <2.0.0") + "    validation: scripts/own.sh\n"));
    world.commit("access", "Test the import");
    world.plant("contracts/s3-permissions.json", "oops");
    world.plant("versions/s3-permissions/1.0.0.json", "oops");
    let failed = world.blue(&world.path("access"), &["check", "--run-scripts", "--mode", "importer"]).exits(1);
    assert!(failed.stdout.contains("s3-permissions, failed: it cannot be run: "), "{failed}");
    assert!(!world.path("ran").exists());
}

#[test]
fn exporter_script_gets_the_version_that_publishing_chooses() {
    let world = World::pair();
    script(&world, SCRIPT, "read -r line; echo \"$line\" >../input.json");
    let automatic = contract("1.0.0").replace("\"1.0.0\"", "auto") + "validation: { exporter: scripts/test.sh }\n";
    world.write(&format!("fungal/{CONTRACT_FILE}"), &automatic);
    world.commit("fungal", "Test the paths");
    let sent = || {
        check(&world, &["--run-scripts"]);
        let input: Value = serde_json::from_str(&world.read("input.json")).unwrap();
        input["version"].clone()
    };
    assert_eq!(sent(), "1.0.0");
    world.git(&world.path("fungal"), &["config", "blue.publish", "off"]);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &automatic.replace("jobs/*/masks/*", "jobs/*/labels/*"));
    world.commit("fungal", "Rename the masks");
    assert_eq!(sent(), "1.0.1");
}

#[test]
fn test_that_the_owner_suggests_is_shown_to_consumers() {
    let world = tested("exit 0");
    let other = world.join("other");
    let get = world.ok(&other, &["contract", "get", "s3-access/s3-permissions"]);
    assert!(get.stdout.contains("test for consumers  scripts/theirs.sh\n"), "{get}");
    assert!(get.stdout.contains("values              free: the value may change in any way\n"), "{get}");
    let import = world.ok(&other, &["import", "s3-access/s3-permissions"]);
    let step =
        "git blue contract get s3-access/s3-permissions  # see its suggested test, and set your own as the validation";
    assert!(import.stdout.contains(step), "{import}");
    world.write(&format!("access/{BINDING_FILE}"), &(importing(">=1.0.0") + "    validation: scripts/own.sh\n"));
    let import = world.ok(&world.path("access"), &["import", "s3-access/s3-permissions", ">=1.1.0"]);
    assert!(!import.stdout.contains("suggested test"), "{import}");
}

#[test]
fn end_without_a_word_is_named() {
    for (body, words) in [
        ("kill -TERM $PPID; sleep 5", "it was stopped by signal 15"),
        ("kill -9 $$", "it was stopped by signal 9"),
        ("exit 1", "it exited with 1 and no output"),
    ] {
        let world = tested(body);
        let run = check(&world, &["--run-scripts"]).exits(1);
        assert!(run.stdout.contains(words), "{words}: {run}");
    }
}

#[test]
fn script_that_hangs_is_killed_with_its_children() {
    // Durations that no other process on this machine sleeps for.
    let marks = [1, 2, 3].map(|n| format!("{}.{}{n}", 2_000, std::process::id()));
    let [child, away, itself] = &marks;
    let world = tested(&format!("sleep {child} & setsid sh -c 'sleep {away}; true' & sleep {itself}"));
    let start = std::time::Instant::now();
    let late = check(&world, &["--run-scripts", "--script-timeout", "1"]).exits(1);
    assert!(late.stdout.contains("it was stopped after 1 second ["), "{late}");
    assert!(start.elapsed().as_secs() < 30);
    for mark in &marks {
        eventually("it was killed", || !is_running(mark));
    }
    // Its output is truncated.
    let world = tested("yes | head -c 3000000; echo end; exit 1");
    let run = scripts(&world, &["--run-scripts"]).remove(0);
    let output = run["output"].as_str().unwrap();
    assert!(output.len() <= 2_048 && output.ends_with("end"), "{}", output.len());
}

#[test]
fn output_is_in_the_order_of_writing() {
    let body = "for n in 1 2 3 4 5 6 7 8; do echo out$n; echo err$n >&2; done";
    let expected: Vec<_> = (1..=8).map(|n| format!("out{n}\nerr{n}")).collect();
    let world = tested(body);
    for _ in 0..5 {
        let found = scripts(&world, &["--run-scripts"]);
        assert_eq!(found[0]["output"], expected.join("\n"));
    }
}
