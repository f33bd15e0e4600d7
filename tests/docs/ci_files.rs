//! The CI files for users are valid, and their steps work on a stand-in for the runner: its variables and files, a
//! realm at a URL, releases in a folder.

use std::path::Path;

use serde_json::Value;

use crate::{ROOT, scripted::Scripted};

/// A commit of the provider, the exit code of its check, and the expected output.
const CASES: [(&str, i32, &str); 2] = [("main", 0, "ok: 0 errors"), ("pull-request", 1, "fungal imports")];

/// Parses a YAML file, or the last document in it.
fn yaml(file: &str) -> Value {
    let text = std::fs::read_to_string(Path::new(ROOT).join(file)).unwrap();
    let last = text.rsplit("\n---\n").next().unwrap();
    serde_saphyr::from_str(last).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Creates a realm at a URL, a clone of the provider with a pull request that breaks a consumer, and releases.
fn place() -> Scripted {
    let place = Scripted::realm();
    let version = env!("CARGO_PKG_VERSION");
    let (code, output) = place.shell(&format!(
        r#"set -e
        git -C aperture switch -q -c pull-request
        sed -i 's/"1.0.0"/"2.0.0"/' aperture/.blue/contracts/s3-access/s3-permissions.yaml
        git -C aperture commit -q -a -m 'A new major version'
        git -C aperture switch -q main
        git clone -q aperture clone
        git clone -q --bare "$GIT_BLUE_HOME/realms/aperture.git" shared.git
        git -C shared.git fetch -q "$GIT_BLUE_HOME/realms/aperture.git" '+refs/blue/realm:refs/blue/realm' \
            '+refs/blue/domains/*:refs/blue/domains/*'
        mkdir -p "releases/v{version}"
        # Forgejo's workflow is only for the first.
        for processor in x86_64 "$(uname -m)"; do
            name="git-blue-{version}-$processor-unknown-linux-musl"
            mkdir -p "$name/bin"
            printf '#!/bin/sh\nexec "%s" "$@"\n' "$(command -v git-blue)" >"$name/bin/git-blue"
            chmod +x "$name/bin/git-blue"
            tar -czf "releases/v{version}/$name.tar.gz" "$name"
            (cd "releases/v{version}" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
        done"#
    ));
    assert_eq!(code, 0, "{output}");
    place
}

/// Expands the runner's expressions: `${{ … }}` or `$[[ … ]]`.
fn filled(text: &str, values: &[(&str, &str)]) -> String {
    let mut text = text.to_owned();
    for (name, value) in values {
        text = text.replace(&format!("${{{{ {name} }}}}"), value).replace(&format!("$[[ {name} ]]"), value);
    }
    assert!(!text.contains("${{") && !text.contains("$[["), "the stand-in does not know all of {text}");
    text
}

/// Returns a step of a workflow as shell: its variables, and its commands.
fn step(step: &Value, values: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (name, value) in step["env"].as_object().into_iter().flatten() {
        text += &format!("export {name}='{}'\n", filled(value.as_str().unwrap(), values));
    }
    text + &filled(step["run"].as_str().unwrap(), values)
}

/// Runs shell like a workflow step in the clone, with a commit checked out. A runner has no realm.
fn on_runner(place: &Scripted, commit: &str, step: &str) -> (i32, String) {
    let workspace = place.path().join("clone");
    place.write("step.sh", step);
    place.shell(&format!(
        "git -C clone checkout -q --detach origin/{commit}
        export HOME=\"$PWD/runner\" RUNNER_TEMP=\"$PWD/temp\" GITHUB_PATH=\"$PWD/path\" GITHUB_WORKSPACE={workspace}
        export GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=\"$PWD/summary\" GITHUB_SHA=\"$(git -C clone rev-parse HEAD)\"
        export CI_PROJECT_DIR={workspace}
        unset GIT_BLUE_HOME
        mkdir -p \"$HOME\" \"$RUNNER_TEMP\"
        touch \"$GITHUB_PATH\"
        cd clone && bash ../step.sh",
        workspace = workspace.display()
    ))
}

fn path_of(place: &Scripted, file: &str) -> String {
    place.path().join(file).display().to_string()
}

#[test]
fn action_installs_the_release_and_checks() {
    let place = place();
    let action = yaml("action.yml");
    let steps = action["runs"]["steps"].as_array().unwrap();
    let version = action["inputs"]["version"]["default"].as_str().unwrap();
    assert_eq!(version, env!("CARGO_PKG_VERSION"), "the action installs the release that it is of");
    let downloads =
        "inputs.downloads || format('{0}/{1}/releases/download', github.server_url, github.action_repository)";
    let releases = format!("file://{}", path_of(&place, "releases"));
    let realm = path_of(&place, "shared.git");
    let values = [
        ("inputs.version", version),
        (downloads, &releases),
        ("inputs.realm-url", &realm),
        ("inputs.realm-token", ""),
        ("inputs.arguments", "--output sarif=blue.sarif --output junit=contracts.xml"),
    ];
    let (code, output) = on_runner(&place, "main", &step(&steps[0], &values));
    assert_eq!((code, &*output), (0, ""), "the release is installed");
    let path = std::fs::read_to_string(place.path().join("path")).unwrap();
    for (commit, expected, text) in CASES {
        let check = format!("PATH='{}':\"$PATH\"\n{}", path.trim(), step(&steps[1], &values));
        let (code, output) = on_runner(&place, commit, &check);
        assert_eq!(code, expected, "{commit}: {output}");
        assert!(output.contains(text), "{commit}: {output}");
        assert!(place.path().join("clone/blue.sarif").exists() && place.path().join("clone/contracts.xml").exists());
        assert_eq!(output.contains("::error file=.blue/contracts/"), expected == 1, "annotated: {output}");
    }
    // The report is commented; without a token it is in the summary, once.
    assert_eq!(place.shell("git -C clone remote set-url origin https://github.com/acme/aperture.git").0, 0);
    let comment = format!(
        "PATH='{}':\"$PATH\"\nexport GITHUB_REF=refs/pull/7/merge\n{}",
        path.trim(),
        step(&steps[2], &[("inputs.token", "")])
    );
    let (code, output) = on_runner(&place, "pull-request", &comment);
    assert!(code == 0 && output.contains("in the summary: there is no token for github.com"), "{output}");
    let summary = std::fs::read_to_string(place.path().join("summary")).unwrap();
    assert_eq!(summary.matches("### Contracts: failed").count(), 1, "{summary}");
    // An archive with another checksum is refused.
    let tamper = format!("for archive in {}/v*/*.gz; do echo more >>$archive; done", path_of(&place, "releases"));
    assert_eq!(place.shell(&tamper).0, 0);
    let (code, output) = on_runner(&place, "main", &step(&steps[0], &values));
    assert!(code != 0 && output.contains("checksum did NOT match"), "{output}");
}

#[test]
fn action_sends_the_token_only_to_the_realm() {
    let place = place();
    let action = yaml("action.yml");
    let check = &action["runs"]["steps"][1];
    let values = [
        ("inputs.realm-url", "https://git.invalid/realms/shop.git"),
        ("inputs.realm-token", "s3cret"),
        ("inputs.arguments", ""),
    ];
    let (code, output) = on_runner(&place, "main", &step(check, &values));
    assert_eq!(code, 128, "a realm that cannot be reached is no pass: {output}");
    let report = std::fs::read_to_string(place.path().join("temp/contracts.md")).unwrap();
    assert!(report.starts_with("### Contracts: not checked"), "{report}");
    assert!(!output.contains("s3cret"), "{output}");
    let ask = |host: &str| {
        let fill = format!("printf 'protocol=https\\nhost={host}\\n\\n' | REALM_TOKEN=s3cret git credential fill");
        on_runner(&place, "main", &format!("grep -c s3cret ~/.gitconfig\n{fill}")).1
    };
    let answer = ask("git.invalid");
    assert!(answer.starts_with("0\n") && answer.contains("password=s3cret"), "{answer}");
    assert!(!ask("elsewhere.invalid").contains("s3cret"));
}

#[test]
fn github_workflow_matches_the_action_and_publishes() {
    let place = place();
    let (workflow, action) = (yaml("docs/ci/github.yml"), yaml("action.yml"));
    let steps = workflow["jobs"]["contracts"]["steps"].as_array().unwrap();
    for input in steps[1]["with"].as_object().unwrap().keys() {
        assert!(action["inputs"].get(input).is_some(), "the action has no input {input}");
    }
    let version = steps[1]["uses"].as_str().unwrap().rsplit_once("@v").unwrap().1;
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
    assert_eq!(workflow["permissions"]["contents"], "read");
    assert_eq!(workflow["permissions"]["pull-requests"], "write");
    assert!(workflow["on"].get("merge_group").is_some(), "{workflow}");
    // A break that was merged is published, although the check fails until its consumers adapt.
    assert!(steps[2]["if"].as_str().unwrap().contains("!cancelled()"), "{workflow}");
    let (code, output) = place.shell(
        "sed -i 's/\"1.0.0\"/\"1.1.0\"/' aperture/.blue/contracts/s3-access/s3-permissions.yaml
        git -C aperture -c core.hooksPath=/dev/null commit -q -a -m 'A new minor version'
        git -C clone fetch -q",
    );
    assert_eq!(code, 0, "{output}");
    let realm = path_of(&place, "shared.git");
    let values = [("vars.REALM_URL", &*realm), ("secrets.REALM_TOKEN", ""), ("secrets.REALM_PUSH_TOKEN", "")];
    let (code, output) = on_runner(&place, "main", &step(&steps[2], &values));
    assert!(code == 0 && output.contains("1.0.0 -> 1.1.0"), "{output}");
    let shared = place.ok("shared.git", &["ls-tree", "-r", "--name-only", "refs/blue/domains/s3-access"]);
    assert!(shared.contains("versions/s3-permissions/1.1.0.json"), "{shared}");
}

#[test]
fn gitlab_component_writes_its_reports() {
    let place = place();
    let job = &yaml("docs/ci/gitlab.yml")["contracts"];
    let realm = path_of(&place, "shared.git");
    let mut script = "set -e\nunset GITHUB_ACTIONS\nexport GITLAB_CI=true\n".to_owned();
    for (name, value) in job["variables"].as_object().unwrap() {
        let value = filled(value.as_str().unwrap(), &[("inputs.realm-url", &realm), ("inputs.working-directory", ".")]);
        script += &format!("export {name}='{value}'\n");
    }
    for line in job["script"].as_array().unwrap() {
        script += &format!("{}\n", line.as_str().unwrap());
    }
    for (commit, expected, text) in CASES {
        let (code, output) = on_runner(&place, commit, &script);
        assert!(code == expected && output.contains(text), "{commit}: {output}");
        for report in job["artifacts"]["reports"].as_object().unwrap().values() {
            let file = place.path().join("clone").join(report.as_str().unwrap());
            assert!(file.exists(), "{}", file.display());
            std::fs::remove_file(file).unwrap();
        }
    }
}

#[test]
fn forgejo_workflow_installs_and_checks() {
    let place = place();
    let workflow = yaml("docs/ci/forgejo.yml");
    let steps = workflow["jobs"]["contracts"]["steps"].as_array().unwrap();
    assert_eq!(steps[1]["env"]["VERSION"], env!("CARGO_PKG_VERSION"));
    let (releases, realm) = (format!("file://{}", path_of(&place, "releases")), path_of(&place, "shared.git"));
    let values = [("vars.GIT_BLUE_DOWNLOADS", &*releases), ("vars.REALM_URL", &realm)];
    let (code, output) = on_runner(&place, "main", &step(&steps[1], &values));
    assert_eq!((code, &*output), (0, ""));
    for (commit, expected, text) in CASES {
        let (code, output) = on_runner(&place, commit, &step(&steps[2], &values));
        assert!(code == expected && output.contains(text), "{commit}: {output}");
    }
}

#[test]
fn release_workflow_builds_and_attaches_the_tag() {
    let place = Scripted::new();
    let workflow = yaml("docs/ci/release.yml");
    // External programs are only recorded.
    let (code, output) = place.shell(&format!(
        r#"mkdir -p bin docs target/dist
        for program in sudo rustup cargo make gh; do
            printf '#!/bin/sh\necho "%s $*" >>"$CALLS"\n' $program >bin/$program
            chmod +x bin/$program
        done
        echo '[ "$2" != view ] || [ -e drafted ]' >>bin/gh
        touch docs/CHANGELOG.md target/dist/git-blue.tar.gz
        cp '{ROOT}/Cargo.toml' ."#
    ));
    assert_eq!(code, 0, "{output}");
    let run = |job: &str, name: &str, tag: &str| {
        let steps = workflow["jobs"][job]["steps"].as_array().unwrap();
        let found = steps.iter().find(|one| one["name"] == name).unwrap();
        place.write("calls", "");
        place.write("step.sh", &step(found, &[("matrix.target", "x86_64-unknown-linux-musl"), ("github.token", "t")]));
        let (code, output) = place.shell(&format!(
            "export PATH=\"$PWD/bin:$PATH\" CALLS=\"$PWD/calls\" GITHUB_REF_NAME={tag}\nbash -e step.sh"
        ));
        (code, output + &std::fs::read_to_string(place.path().join("calls")).unwrap())
    };
    let tag = concat!("v", env!("CARGO_PKG_VERSION"));
    let (code, calls) = run("audit", "Audit", tag);
    assert!(code == 0 && calls.ends_with("\nmake audit msrv minimal-versions\n"), "{calls}");
    let (code, calls) = run("build", "Prepare", tag);
    assert!(code == 0 && calls.contains("\nrustup target add x86_64-unknown-linux-musl\n"), "{calls}");
    assert_eq!(run("build", "Build", tag), (0, "make dist DIST_TARGET=x86_64-unknown-linux-musl\n".to_owned()));
    let (code, calls) = run("build", "Try on a clean Debian", tag);
    assert!(
        code == 0 && calls.ends_with("\nsudo make test-package DIST_TARGET=x86_64-unknown-linux-musl\n"),
        "{calls}"
    );
    assert_eq!(run("draft", "The tag is the version", tag).0, 0);
    assert_eq!(run("draft", "The tag is the version", "v9.9.9").0, 1);
    let view = format!("gh release view {tag}\n");
    let (code, calls) = run("draft", "Create", tag);
    let create = format!("{view}gh release create {tag} --draft --verify-tag ");
    assert!(code == 0 && calls.starts_with(&create), "{calls}");
    place.write("drafted", "");
    assert_eq!(run("draft", "Create", tag), (0, view));
    let upload = format!("gh release upload --clobber {tag} target/dist/git-blue.tar.gz\n");
    assert_eq!(run("build", "Attach", tag), (0, upload));
    // The targets exist.
    for target in ["audit", "msrv", "minimal-versions", "dist", "test-package"] {
        let known = format!("make --dry-run --directory '{ROOT}' {target} >/dev/null");
        assert_eq!(place.shell(&known).0, 0, "{target}");
    }
}

#[test]
fn cached_realm_is_updated() {
    let place = place();
    let script = Path::new(ROOT).join("docs/ci/cached-realm.sh").display().to_string();
    let branches = "git init -q --bare branches.git
        git -C branches.git fetch -q ../shared.git '+refs/blue/*:refs/heads/blue/*'";
    assert_eq!(place.shell(branches).0, 0);
    for hub in ["shared.git", "branches.git"] {
        let line = format!("REALM_URL='{}' REALM_CACHE=../kept-{hub} sh '{script}'", path_of(&place, hub));
        for (commit, expected, text) in CASES {
            let (code, output) = on_runner(&place, commit, &line);
            assert!(code == expected && output.contains(text), "{commit}: {output}");
        }
    }
    // Moved from one place to the other, and not finished.
    let both = "git -C branches.git fetch -q ../shared.git '+refs/blue/*:refs/blue/*'";
    assert_eq!(place.shell(both).0, 0);
    let line =
        format!("REALM_URL='{}' REALM_CACHE=../kept-branches.git sh '{script}'", path_of(&place, "branches.git"));
    let (code, output) = on_runner(&place, "main", &line);
    assert!(code == 128 && output.contains("has the realm in two places"), "{output}");
}

#[test]
fn pre_commit_hook_checks_what_is_committed() {
    let place = place();
    let hook = &yaml(".pre-commit-hooks.yaml")[0];
    assert_eq!((&hook["language"], &hook["pass_filenames"]), (&Value::from("system"), &Value::from(false)));
    let entry = hook["entry"].as_str().unwrap();
    let edit = "sed -i 's/\"1.0.0\"/\"2.0.0\"/' .blue/contracts/s3-access/s3-permissions.yaml";
    let (code, output) = place.shell(&format!("cd aperture && {edit} && {entry} && git add -A && {entry}"));
    assert!(code == 1 && output.contains("ok: 0 errors") && output.contains("fungal imports"), "{output}");
}

#[test]
fn hub_workflow_notifies_consumers() {
    let place = place();
    let workflow = yaml("docs/ci/consumers.yml");
    assert!(workflow["on"]["push"].is_null(), "the commits of a realm contain no workflow");
    let steps = workflow["jobs"]["issues"]["steps"].as_array().unwrap();
    assert_eq!(steps[0]["env"]["VERSION"], env!("CARGO_PKG_VERSION"));
    // The realm is stored in branches.
    let (code, output) = place.shell(
        "git init -q --bare hub.git
        git -C hub.git fetch -q ../shared.git '+refs/blue/*:refs/heads/blue/*'
        git -C hub.git for-each-ref --format='%(refname)'",
    );
    assert!(code == 0 && output.contains("refs/heads/blue/domains/s3-access"), "{output}");
    let (releases, realm) = (format!("file://{}", path_of(&place, "releases")), path_of(&place, "hub.git"));
    let values = [
        ("vars.GIT_BLUE_DOWNLOADS", &*releases),
        ("vars.REALM_URL", &realm),
        ("secrets.CONSUMERS_TOKEN", "t"),
        ("vars.CONSUMERS_OWNER", "github.com/acme"),
    ];
    let (code, output) = on_runner(&place, "main", &step(&steps[0], &values));
    assert_eq!((code, &*output), (0, ""));
    let (code, output) = on_runner(&place, "main", &step(&steps[1], &values));
    assert!(code == 0 && output.contains("no import is broken or behind"), "{output}");
    let publish = format!(
        "git checkout -q -B pull-request
        git config blue.publishBranch pull-request
        git config user.name contracts
        git config user.email contracts@example.com
        git blue contract publish --realm-url '{realm}'\n"
    );
    let (code, output) = on_runner(&place, "pull-request", &(publish + &step(&steps[1], &values)));
    // The repositories of this realm are not on a forge.
    assert!(code == 1 && output.contains("-> 2.0.0") && output.contains("the realm has no URL for it"), "{output}");
}
