//! `check` fails only for repositories that cause or suffer a break.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::world::{BINDING_FILE, CONTRACT_FILE, DOMAIN_REF, REALM, World, contract, importing};

fn codes(answer: &Value, list: &str) -> Vec<(String, String)> {
    let text = |one: &Value, key: &str| one[key].as_str().unwrap().to_owned();
    answer[list].as_array().unwrap().iter().map(|one| (text(one, "code"), text(one, "caused_by"))).collect()
}

fn pair(code: &str, cause: &str) -> (String, String) {
    (code.to_owned(), cause.to_owned())
}

/// Returns the pair, and `coral`, which shares no domain with either.
fn with_a_stranger() -> World {
    let world = World::pair();
    world.join("coral");
    world.ok(&world.path("coral"), &["realm", "admin", "domain", "--name", "queues", "--repos", "coral"]);
    world.write(
        "coral/.blue/contracts/queues/topics.yaml",
        &contract("1.0.0").replace("s3-permissions", "topics").replace("owner: fungal", "owner: coral"),
    );
    world.commit("coral", "Agree on the topics");
    world
}

#[test]
fn break_fails_only_its_consumer() {
    let world = with_a_stranger();
    world.bump("2.0.0");
    let stranger = world.blue(&world.path("coral"), &["check"]).exits(0);
    assert!(stranger.stdout.contains("elsewhere: 1 error, 0 warnings (git blue check --all lists them)"), "{stranger}");
    let answer = world.json(&world.path("coral"), &["check"]);
    assert_eq!((&answer["judged"], &answer["elsewhere"]["errors"]), (&json!("repository"), &json!(1)));
    assert_eq!(codes(&answer["elsewhere"], "findings"), [pair("import-broken", "another-repository")]);
    world.blue(&world.path("coral"), &["check", "--all"]).exits(1);
    world.blue(&world.path("coral"), &["check", "--published"]).exits(1);
    assert_eq!(world.json(&world.path("coral"), &["check", "--published"])["judged"], "realm");

    let consumer = world.json(&world.path("access"), &["check"]);
    assert_eq!(codes(&consumer, "errors"), [pair("import-broken", "another-repository")]);
    // The provider is informed, and its next pull request passes.
    world.git(&world.path("fungal"), &["switch", "--quiet", "-c", "unrelated"]);
    world.write("fungal/README.md", "more\n");
    world.commit("fungal", "Nothing of the realm's");
    world.blue(&world.path("fungal"), &["check"]).exits(0);
    let provider = world.json(&world.path("fungal"), &["check"]);
    assert_eq!(codes(&provider, "warnings"), [pair("import-broken", "already-in-the-realm")]);
    // A push of an unrelated repository passes.
    world.git(&world.root(), &["init", "--quiet", "--bare", "coral.git"]);
    world.git(&world.path("coral"), &["remote", "add", "origin", "../coral.git"]);
    world.ok(&world.path("coral"), &["hooks", "install", "--pre-push"]);
    world.git(&world.path("coral"), &["push", "--quiet", "origin", "main"]);
}

#[test]
fn problem_at_the_base_is_a_warning() {
    let world = World::pair();
    world.bump("2.0.0");
    let consumer = world.path("access");
    world.git(&consumer, &["switch", "--quiet", "-c", "unrelated"]);
    world.write("access/README.md", "more\n");
    world.commit("access", "Nothing of the realm's");
    world.blue(&consumer, &["check"]).exits(1);
    world.blue(&consumer, &["check", "--base", "main"]).exits(0);
    let answer = world.json(&consumer, &["check", "--base", "main"]);
    assert_eq!(codes(&answer, "warnings"), [pair("import-broken", "another-repository")]);
    assert_eq!(answer["base"], world.line(&consumer, &["rev-parse", "main"]));
    // The runners of forges provide the base.
    let base = world.line(&consumer, &["rev-parse", "main"]);
    for (name, value) in [
        ("GITHUB_BASE_REF", "main"),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", base.as_str()),
    ] {
        world.blue_with(&consumer, &["check"], &[(name, value.as_ref())]).exits(0);
    }
    let missing = world.blue_with(&consumer, &["check"], &[("GITHUB_BASE_REF", "trunk".as_ref())]).exits(1);
    assert!(missing.stdout.contains("git fetch origin trunk:refs/remotes/origin/trunk"), "{missing}");
    world.blue(&consumer, &["check", "--base", "nowhere"]).exits(128);
    // A change for the worse is an error: another range that does not hold either.
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0, <1.5.0"));
    world.commit("access", "Narrow it further");
    world.blue(&consumer, &["check", "--base", "main"]).exits(1);
}

/// The variables and arguments of a pipeline, on a machine without realms.
fn hub() -> World {
    let world = World::pair();
    for bare in ["hub.git", "code.git"] {
        world.git(&world.root(), &["init", "--quiet", "--bare", bare]);
    }
    world.git(&world.path("code.git"), &["config", "uploadpack.allowFilter", "true"]);
    let provider = world.path("fungal");
    world.git(&provider, &["remote", "add", "origin", world.path("code.git").to_str().unwrap()]);
    world.git(&provider, &["push", "--quiet", "origin", "main"]);
    world.ok(&provider, &["init", "--url", world.path("hub.git").to_str().unwrap()]);
    world.git(&provider, &["switch", "--quiet", "-c", "break"]);
    world.bump("2.0.0");
    world.git(&provider, &["push", "--quiet", "origin", "break"]);
    world.git(&provider, &["switch", "--quiet", "-c", "no-config"]);
    world.git(&provider, &["rm", "--quiet", ".blue/config.yaml"]);
    world.commit("fungal", "No configuration");
    world.write("fungal/README.md", "more\n");
    world.commit("fungal", "More");
    world.git(&provider, &["push", "--quiet", "origin", "no-config"]);
    world
}

#[test]
fn check_fails_without_a_known_repository() {
    let world = hub();
    let hub = world.path("hub.git").display().to_string();
    let url = format!("file://{}", world.path("code.git").display());
    let check: &[&str] = &["check", "--realm-url", &hub];
    world.on("runner");
    let clone = |arguments: &[&str], folder: &str| {
        world.git(&world.root(), &[&["clone", "--quiet"], arguments, &[url.as_str(), folder]].concat());
        world.path(folder)
    };
    let whole = clone(&["-b", "break"], "whole");
    let broken = world.blue(&whole, check).exits(1);
    // The runner keeps no realm that other commands could read.
    assert!(broken.stdout.contains("show which consumers it breaks (in a joined clone)"), "{broken}");
    // A pull request that deletes the file with the repository's name.
    let noconf = clone(&["-b", "no-config"], "noconf");
    let run = world.blue(&noconf, check).exits(1);
    assert!(run.stdout.contains("access imports"), "{run}");
    let shallow = clone(&["-b", "no-config", "--depth", "1"], "shallow");
    let run = world.blue(&shallow, check).exits(128);
    for way_out in ["--repo", "GIT_BLUE_REPO", "--published"] {
        assert!(run.all().contains(way_out), "{way_out}: {run}");
    }
    world.blue(&shallow, &[check, &["--repo", "fungal"]].concat()).exits(1);
    world.blue_with(&shallow, check, &[("GIT_BLUE_REPO", "fungal".as_ref())]).exits(1);
    world.blue(&shallow, &[check, &["--repo", "fungul"]].concat()).exits(128);
    world.blue(&shallow, &[check, &["--published"]].concat()).exits(0);
    // Working trees without the files.
    let sparse = clone(&["-b", "break"], "sparse");
    world.git(&sparse, &["sparse-checkout", "set", "models"]);
    world.blue(&sparse, check).exits(1);
    assert_eq!(world.json(&sparse, check)["current_repo"], "fungal");
    let both: &[(&str, &std::ffi::OsStr)] = &[("GIT_BLUE_REPO", "fungal".as_ref()), ("GIT_BLUE_REALM", REALM.as_ref())];
    world.blue_with(&sparse, check, both).exits(1);
    let blobless = clone(&["-b", "break", "--filter=blob:none", "--no-checkout"], "blobless");
    let run = world.blue(&blobless, check).exits(128);
    assert!(run.all().contains("git archive HEAD .blue >/dev/null"), "{run}");
    assert_eq!(world.finish_shell(&blobless, "git archive HEAD .blue >/dev/null").code, 0);
    world.blue(&blobless, check).exits(1);
    // The files of another commit, and trees, are fetched by the printed steps too.
    let blobless = clone(&["-b", "break", "--filter=blob:none"], "blobless-base");
    world.blue(&blobless, &[check, &["--worktree"]].concat()).exits(1);
    let treeless = clone(&["-b", "break", "--filter=tree:0"], "treeless");
    for (clone, extra) in [(&blobless, &["--base", "origin/main"][..]), (&treeless, &[])] {
        let command = [check, extra].concat();
        let lacking = world.blue(clone, &command).exits(128);
        assert_eq!(world.finish_shell(clone, &world.next_step(&lacking)).code, 0, "{lacking}");
        world.blue(clone, &command).exits(1);
    }
    // A base that a clone of one branch lacks.
    let single = clone(&["-b", "break", "--depth=1"], "single");
    for base in [&*world.line(&world.path("code.git"), &["rev-parse", "main"]), "origin/main", "main"] {
        let command = [check, &["--base", base]].concat();
        let lacking = world.blue(&single, &command).exits(128);
        assert_eq!(world.finish_shell(&single, &world.next_step(&lacking)).code, 0, "{lacking}");
        world.blue(&single, &command).exits(1);
        world.git(&single, &["update-ref", "-d", "refs/remotes/origin/main"]);
    }
    world.blue(&clone(&["-b", "break", "--bare"], "bare"), check).exits(1);
    // Nothing to judge.
    std::fs::create_dir(world.path("empty")).unwrap();
    world.blue(&world.path("empty"), check).exits(128);
    world.git(&world.root(), &["init", "--quiet", "fresh"]);
    world.blue(&world.path("fresh"), check).exits(128);
    world.blue(&world.repo("stranger"), check).exits(128);
    // The machine of a member.
    world.on("home");
    let provider = world.path("fungal");
    world.blue_with(&provider, &["check"], &[("GIT_BLUE_REALM", REALM.as_ref())]).exits(1);
    world.blue(&provider, &["check", "--realm", REALM]).exits(1);
    world.git(&provider, &["switch", "--quiet", "main"]);
    world.git(&provider, &["sparse-checkout", "set", "models"]);
    assert_eq!(world.json(&provider, &["status"])["current_repo"], "fungal");
}

#[test]
fn file_that_a_partial_clone_lacks_is_no_problem_of_its_contract() {
    let world = hub();
    let provider = world.path("fungal");
    world.git(&provider, &["switch", "--quiet", "main"]);
    world.write("fungal/schemas/größe.json", "{\"type\": \"object\"}\n");
    world.write(
        "fungal/.blue/contracts/s3-access/extent.yaml",
        "name: extent\nversion: \"1.0.0\"\nowner: fungal\nschema: { file: schemas/größe.json }\nvalue: {}\n",
    );
    world.commit("fungal", "Extents");
    world.ok(&provider, &["sync"]);
    world.git(&provider, &["push", "--quiet", "origin", "main"]);
    let url = format!("file://{}", world.path("code.git").display());
    let hub = world.path("hub.git").display().to_string();
    world.on("runner");
    world.git(&world.root(), &["clone", "-q", "-b", "main", "--filter=blob:none", "--no-checkout", &url, "sparse"]);
    let sparse = world.path("sparse");
    world.git(&sparse, &["sparse-checkout", "set", ".blue"]);
    world.git(&sparse, &["checkout", "--quiet", "main"]);
    let check: &[&str] = &["check", "--realm-url", &hub];
    let lacking = world.blue(&sparse, check).exits(128);
    assert!(lacking.stderr.contains("this partial clone lacks the content of schemas/größe.json"), "{lacking}");
    assert_eq!(world.finish_shell(&sparse, &world.next_step(&lacking)).code, 0, "{lacking}");
    world.blue(&sparse, check).exits(0);
}

#[test]
fn repository_without_declarations_is_reported() {
    let world = World::pair();
    world.join("bystander");
    let run = world.blue(&world.path("bystander"), &["check"]).exits(0);
    assert!(run.stdout.contains("no committed files under .blue/contracts or .blue/bindings"), "{run}");
    assert_eq!(world.json(&world.path("bystander"), &["check"])["files"], 0);
}

#[test]
fn one_outdated_consumer_of_thirty_fails_alone() {
    let world = World::new();
    let names: Vec<String> = (0..30).map(|n| format!("r{n:02}")).collect();
    let mut list = String::from("repos:\n");
    for name in &names {
        world.git(&world.root(), &["init", "--quiet", name]);
        world.write(&format!("{name}/.blue/config.yaml"), &format!("realm: {{ name: {REALM} }}\nrepo: {name}\n"));
        writeln!(list, "  - name: {name}\n    path: {}", world.path(name).display()).unwrap();
    }
    let order =
        |version: &str| contract(version).replace("s3-permissions", "order").replace("owner: fungal", "owner: r00");
    world.write("r00/.blue/contracts/orders/order.yaml", &order("2.0.0"));
    for (at, name) in names.iter().enumerate().skip(1) {
        let range = if at == 7 { "^1.0.0" } else { ">=1.0.0, <3.0.0" };
        let binding =
            importing(range).replace("s3-permissions", "order").replace("cdk/access_stack.py", "src/order.py");
        world.write(&format!("{name}/.blue/bindings/orders.yaml"), &binding);
        world.write(&format!("{name}/src/order.py"), "");
    }
    world.ok(&world.root(), &["realm", "admin", "init", "--name", REALM]);
    for name in &names {
        world.commit(name, "Start");
        world.ok(&world.path(name), &["realm", "admin", "join", REALM]);
    }
    world.ok(&world.path("r00"), &["realm", "admin", "domain", "--name", "orders", "--repos", &names.join(",")]);
    for name in &names {
        world.ok(&world.path(name), &["contract", "publish"]);
    }
    let failing = || -> Vec<String> {
        let fails = |name: &&String| world.blue(&world.path(name), &["check"]).code == 1;
        names.iter().filter(fails).cloned().collect()
    };
    assert_eq!(failing(), ["r07"]);
    // The outdated consumer adapts, and a provider proposes a break.
    world.write(
        "r07/.blue/bindings/orders.yaml",
        &importing("<3.0.0").replace("s3-permissions", "order").replace("cdk/access_stack.py", "src/order.py"),
    );
    world.commit("r07", "Catch up");
    world.ok(&world.path("r07"), &["contract", "publish"]);
    world.git(&world.path("r00"), &["switch", "--quiet", "-c", "proposal"]);
    world.write("r00/.blue/contracts/orders/order.yaml", &order("3.0.0"));
    world.commit("r00", "Break everybody");
    assert_eq!(failing(), ["r00"]);
    let run = world.blue(&world.path("r00"), &["check"]);
    assert!(run.stdout.contains("r01 imports") && run.stdout.contains("\n    used in src/order.py\n"), "{run}");
    assert_eq!(world.json(&world.path("r00"), &["check"])["errors"].as_array().unwrap().len(), 29);
}

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
    let bring = format!("git blue contract get s3-access/s3-permissions --format yaml >{CONTRACT_FILE}");
    assert!(run.stdout.contains(&bring), "{run}");
    let check = world.blue(&provider, &["check"]).exits(0);
    assert!(check.stdout.contains("[file-differs]") && check.stdout.contains(&bring), "{check}");
    // The suggested command works.
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
}

#[test]
fn reused_version_is_refused_on_a_branch_that_is_behind() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.git(&provider, &["switch", "--quiet", "-c", "topic"]);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.0.0").replace("v1.0.0", "other"));
    world.commit("fungal", "1.0.0 with other content");
    world.git(&provider, &["switch", "--quiet", "main"]);
    world.bump("1.1.0");
    world.git(&provider, &["switch", "--quiet", "topic"]);
    let answer = world.json(&provider, &["check"]);
    assert_eq!(codes(&answer, "errors"), [pair("version-reused", "this-change")]);
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
fn check_and_publish_refuse_the_same() {
    let world = World::pair();
    for version in ["1.1.0", "1.2.0"] {
        world.bump(version);
    }
    world.ok(&world.path("fungal"), &["contract", "yank", "s3-access/s3-permissions", "1.1.0", "--reason", "leaks"]);
    let other = |version: &str| contract(version).replace("jobs/*", "other/*");
    let mine = ".blue/contracts/s3-access/mine.yaml";
    let candidates: [(&str, Vec<(&str, String)>); 8] = [
        ("", vec![(CONTRACT_FILE, contract("1.3.0"))]),
        ("", vec![(CONTRACT_FILE, contract("2.0.0"))]),
        ("version-reused", vec![(CONTRACT_FILE, other("1.2.0"))]),
        ("version-reused", vec![(CONTRACT_FILE, other("1.0.0"))]),
        ("yanked-version", vec![(CONTRACT_FILE, contract("1.1.0"))]),
        ("version-down", vec![(CONTRACT_FILE, contract("1.1.5"))]),
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
fn breaking_commit_prints_whom_it_breaks() {
    let world = World::pair();
    let commit = world.bump("2.0.0");
    assert_eq!(
        commit.stderr,
        "git blue: published s3-access/s3-permissions 1.0.0 -> 2.0.0; breaks access (cdk/access_stack.py)\n"
    );
    let told = world.json(&world.path("access"), &["notifications", "list"])["notifications"][0].clone();
    assert_eq!((&told["import_state"], &told["binding"]), (&json!("broken"), &json!("cdk/access_stack.py")));
    // A dry run has the same facts as fields.
    world.git(&world.path("access"), &["config", "blue.publish", "off"]);
    world.git(&world.path("fungal"), &["config", "blue.publish", "off"]);
    world.write(&format!("access/{BINDING_FILE}"), &importing("^2.0.0"));
    world.commit("access", "Follow");
    world.ok(&world.path("access"), &["contract", "publish"]);
    world.bump("3.0.0");
    let answer = world.json(&world.path("fungal"), &["contract", "publish", "--dry-run"]);
    let broken =
        json!([{"repo": "access", "version_req": "^2.0.0", "binding": "cdk/access_stack.py", "verdict": null}]);
    assert_eq!((&answer["published"][0]["broken"], &answer["published"][0]["breaks"]), (&json!(1), &broken));
    let text = world.ok(&world.path("fungal"), &["contract", "publish"]);
    assert!(text.stdout.contains("breaks access (cdk/access_stack.py)"), "{text}");
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
