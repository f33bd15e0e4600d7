//! `check` fails only for repositories that cause or suffer a break.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::world::{BINDING_FILE, REALM, World, contract, importing};

pub fn codes(answer: &Value, list: &str) -> Vec<(String, String)> {
    let text = |one: &Value, key: &str| one[key].as_str().unwrap().to_owned();
    answer[list].as_array().unwrap().iter().map(|one| (text(one, "code"), text(one, "caused_by"))).collect()
}

pub fn pair(code: &str, cause: &str) -> (String, String) {
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
    assert!(stranger.stdout.contains("elsewhere: 1 error, 0 warnings (--all lists them)"), "{stranger}");
    let report = |format: &str| world.blue(&world.path("coral"), &["check", "--format", format]).exits(0).stdout;
    let note = "Elsewhere in the realm, not counted here: ";
    let junit = report("junit");
    let skipped = format!("name=\"s3-access/s3-permissions\"><skipped message=\"{note}access imports");
    assert!(junit.contains(&skipped) && junit.contains("skipped=\"1\""), "{junit}");
    assert!(junit.contains("name=\"queues/topics\"><system-out>"), "{junit}");
    for format in ["junit", "sarif", "github", "markdown"] {
        assert!(report(format).contains(&format!("{note}1 error")), "{}", report(format));
    }
    let answer = world.json(&world.path("coral"), &["check"]);
    assert_eq!((&answer["judged"], &answer["elsewhere"]["errors"]), (&json!("repository"), &json!(1)));
    assert_eq!(codes(&answer["elsewhere"], "findings"), [pair("import-broken", "another-repository")]);
    let all = world.blue(&world.path("coral"), &["check", "--all"]).exits(1);
    // Its files do not have the contract.
    let step = "git blue contract impact s3-access/s3-permissions  # show which consumers it breaks";
    assert_eq!(world.next_steps(&all).first().map(String::as_str), Some(step), "{all}");
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
    // The working tree is compared, too.
    let worktree = ["check", "--worktree", "--base", "main"];
    world.blue(&consumer, &worktree).exits(0);
    // A change for the worse is an error: another range that does not hold either.
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0, <1.5.0"));
    world.blue(&consumer, &worktree).exits(1);
    world.commit("access", "Narrow it further");
    world.blue(&consumer, &["check", "--base", "main"]).exits(1);
    // So is an expectation that no version ever met.
    let expecting = format!("{}    expects: {{ required: [zzz] }}\n", importing(">=1.0.0, <2.0.0"));
    world.write(&format!("access/{BINDING_FILE}"), &expecting);
    world.commit("access", "Expect more");
    world.blue(&consumer, &["check", "--base", "main"]).exits(1);
}

/// GitLab merges the source branch into the target branch for merged results and merge trains.
#[test]
fn merged_results_are_compared_with_what_they_were_merged_into() {
    let world = World::pair();
    let provider = world.path("fungal");
    world.git(&provider, &["config", "blue.publish", "off"]);
    let branched = world.line(&provider, &["rev-parse", "HEAD"]);
    world.git(&provider, &["switch", "--quiet", "-c", "unrelated"]);
    world.write("fungal/README.md", "more\n");
    world.commit("fungal", "Nothing of the realm's");
    world.git(&provider, &["switch", "--quiet", "main"]);
    world.bump("2.0.0");
    let target = world.line(&provider, &["rev-parse", "main"]);
    world.git(&provider, &["switch", "--quiet", "--detach"]);
    world.git(&provider, &["merge", "--quiet", "--no-edit", "unrelated"]);
    let check = |merged_into: &str| {
        let vars = [
            ("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", merged_into.as_ref()),
            ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main".as_ref()),
            ("CI_MERGE_REQUEST_DIFF_BASE_SHA", branched.as_ref()),
        ];
        world.blue_with(&provider, &["check", "--json"], &vars)
    };
    let merged = check(&target).exits(0).json();
    assert_eq!(
        (&merged["base"], codes(&merged, "warnings")),
        (&target.into(), vec![pair("import-broken", "already-in-the-realm")])
    );
    // The variable is empty if the runner has checked out the source branch.
    assert_eq!(check("").exits(1).json()["base"], branched.as_str());
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
    assert!(!run.all().contains("git blue check --published"), "the realm is not kept: {run}");
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
    let fetch = "git diff $(git hash-object -t tree /dev/null) HEAD -- .blue >/dev/null";
    assert!(run.all().contains(fetch), "{run}");
    world.finish_shell(&blobless, fetch).exits(0);
    world.blue(&blobless, check).exits(1);
    // The files of another commit, and trees, are fetched by the printed steps too.
    let blobless = clone(&["-b", "break", "--filter=blob:none"], "blobless-base");
    world.blue(&blobless, &[check, &["--worktree"]].concat()).exits(1);
    // A base that only the runner names does not hide the break.
    let lacking = world.blue_with(&blobless, check, &[("GITHUB_BASE_REF", "main".as_ref())]).exits(1);
    assert!(lacking.stdout.contains("access imports"), "{lacking}");
    assert!(world.next_step(&lacking).starts_with("git diff $(git hash-object -t tree /dev/null) "), "{lacking}");
    assert!(lacking.stdout.contains("this clone lacks the base, so problems that already existed"), "{lacking}");
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
    world.write("fungal/schemas/other.json", "{\"type\": \"object\", \"title\": \"other\"}\n");
    world.write(
        "fungal/.blue/contracts/s3-access/other.yaml",
        "name: other\nversion: \"1.0.0\"\nowner: fungal\nschema: { file: schemas/other.json }\nvalue: {}\n",
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
fn repository_named_in_gits_configuration_is_checked_without_a_local_realm() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.git(&fungal, &["rm", "--quiet", ".blue/config.yaml"]);
    world.git(&fungal, &["-c", "core.hooksPath=/dev/null", "commit", "--quiet", "-m", "Keep it out of the repository"]);
    world.git(&fungal, &["config", "blue.repo", "fungal"]);
    let url = world.store().display().to_string();
    let check = world.json(&fungal, &["check", "--realm-url", &url]);
    assert_eq!(check["current_repo"], "fungal", "{check}");
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
