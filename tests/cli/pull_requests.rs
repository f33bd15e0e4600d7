//! Pull requests of an RFC across repositories: status, committing, pushing, opening. The forge is a stand-in that is
//! validated against GitHub's API description.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{
    github::{GitHub, HOST, on_forge, tree},
    worktrees::{five, work},
    world::{Run, World, snapshot},
};

/// Makes `fungal` import from `aperture`, and `aperture` from `blue`.
pub(crate) fn rely(world: &World) {
    for (owner, domain, consumer) in [("aperture", "s3-access", "fungal"), ("blue", "events", "aperture")] {
        let (owner_path, consumer_path) = (world.path(owner), world.path(consumer));
        world.ok(&owner_path, &["realm", "admin", "contract", "--domain", domain, "--name", "c", "--owner", owner]);
        let import = ["--role", "consumer", "--import", "c@>=0.1.0"];
        world.ok(
            &consumer_path,
            &[&["realm", "admin", "binding", "--domain", domain, "--repo", consumer], &import[..]].concat(),
        );
    }
}

pub(crate) fn status(world: &World) -> Value {
    world.json(&world.path("aperture"), &["realm", "pr", "status", "--rfc", "rfc-1"])
}

pub(crate) fn create(world: &World) -> Run {
    world.blue(&world.path("aperture"), &["realm", "pr", "create", "--rfc", "rfc-1", "--title", "New API", "--json"])
}

pub(crate) fn of<'v>(answer: &'v Value, repo: &str) -> &'v Value {
    answer["repos"].as_array().unwrap().iter().find(|one| one["name"] == *repo).unwrap()
}

#[test]
fn rfc_from_work_to_pull_requests() {
    let (world, forge) = on_forge();
    rely(&world);
    let aperture = world.path("aperture");
    std::fs::write(tree(&world, "blue").join("README.md"), "changed\n").unwrap();
    let args = |verb: &'static str, more: &[&'static str]| [&["realm", "pr", verb, "--rfc", "rfc-1"], more].concat();
    let before = world.ok(&aperture, &args("status", &[]));
    let dry = world.ok(&aperture, &args("prepare", &["-m", "Say more", "--dry-run"]));
    let prepared = world.ok(&aperture, &args("prepare", &["-m", "Say more"]));
    let created = world.ok(&aperture, &args("create", &["--title", "New API"]));
    let again = world.ok(&aperture, &args("create", &["--title", "New API"]));
    forge.state.lock().unwrap().reviews.insert("acme/blue".into(), vec![("eve", "APPROVED")]);
    forge
        .state
        .lock()
        .unwrap()
        .checks
        .insert("acme/fungal".into(), vec![("completed", Some("failure")), ("queued", None)]);
    let after = world.ok(&tree(&world, "blue"), &["realm", "pr", "status"]);
    snapshot("pull_requests", &[&before, &dry, &prepared, &created, &again, &after]);
    assert_eq!(world.line(&tree(&world, "blue"), &["log", "-1", "--format=%s (%an)"]), "Say more (Ada)");
}

#[test]
fn json_fields_match_the_reference() {
    let (world, forge) = on_forge();
    rely(&world);
    std::fs::write(tree(&world, "coral").join("untracked"), "").unwrap();
    assert_eq!(create(&world).exits(0).json()["nothing_to_merge"], json!(["coral"]));
    forge.set("blue", "draft", json!(true));
    forge.set("fungal", "mergeable", json!(false));
    {
        let mut state = forge.state.lock().unwrap();
        let said = vec![("eve", "CHANGES_REQUESTED"), ("bob", "APPROVED"), ("bob", "COMMENTED"), ("eve", "APPROVED")];
        state.reviews.insert("acme/aperture".into(), said);
        state.checks.insert("acme/aperture".into(), vec![("completed", Some("skipped")), ("in_progress", None)]);
    }
    let answer = status(&world);
    assert_eq!(
        (&answer["realm"], &answer["current_repo"], &answer["rfc"]),
        (&json!("aperture"), &json!("aperture"), &json!("rfc-1"))
    );
    assert_eq!(answer["merge_order"], json!(["blue", "aperture", "fungal"]));
    assert_eq!(answer["summary"], json!({"all_clean": false, "all_pushed": true, "ready_for_pr": false}));
    let aperture = of(&answer, "aperture");
    assert_eq!(aperture["path"], json!(tree(&world, "aperture")));
    assert_eq!(
        (&aperture["is_current"], &aperture["commits_ahead"], &aperture["pushed"]),
        (&json!(true), &json!(1), &json!(true))
    );
    assert_eq!(
        aperture["pr"],
        json!({
            "number": 90, "state": "OPEN", "draft": false, "url": format!("https://{HOST}/acme/aperture/pull/90"), "title": "New API",
            "mergeable": true, "reviews": {"approved": 2, "changes_requested": 0}, "checks": {"passed": 2, "failed": 0, "pending": 1},
        })
    );
    assert_eq!((&aperture["depends_on"], &aperture["blocked_by"]), (&json!(["blue"]), &json!(["blue"])));
    assert_eq!(of(&answer, "coral")["uncommitted_changes"], 1);
    assert_eq!(of(&answer, "blue")["blockers"], json!(["its pull request is a draft"]));
    assert_eq!(of(&answer, "fungal")["blockers"], json!(["it cannot be merged into main without conflicts"]));
    // Merged work blocks nobody.
    forge.set("blue", "state", json!("closed"));
    forge.set("blue", "merged_at", json!("2026-01-24T12:00:00Z"));
    let answer = status(&world);
    assert_eq!(
        (&of(&answer, "blue")["pr"]["state"], &of(&answer, "aperture")["blocked_by"]),
        (&json!("MERGED"), &json!([]))
    );
    let shown = world.ok(&world.path("aperture"), &["realm", "pr", "status", "--rfc", "rfc-1"]).stdout;
    assert!(shown.contains("\n  blue: merged (") && shown.contains("\nmerge order: "), "{shown}");
    let again = create(&world).exits(0).json();
    assert_eq!(of(&again, "blue")["created"], false, "what was merged is not opened again");
}

#[test]
fn descriptions_link_each_other_and_are_updated() {
    let (world, forge) = on_forge();
    rely(&world);
    let first = create(&world).exits(0).json();
    let order: Vec<_> = first["repos"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
    assert_eq!(order, ["blue", "aperture", "fungal"]);
    let blue = forge.body("blue");
    assert!(!blue.contains("Depends on") && blue.contains("acme/aperture#90, acme/fungal#70"), "{blue}");
    assert!(forge.body("aperture").contains("Depends on acme/blue#50\n"), "{}", forge.body("aperture"));
    assert!(forge.body("fungal").contains("Depends on acme/aperture#90\n"));
    // Nothing changes if there is nothing to do.
    forge.log();
    let again = create(&world).exits(0).json();
    assert!(
        again["repos"].as_array().unwrap().iter().all(|one| one["created"] == false && one["updated"] == false),
        "{again}"
    );
    assert!(forge.log().iter().all(|line| line.starts_with("GET ")), "only asked");
    // Another repository takes part; the author's text stays.
    forge.set("blue", "body", json!(format!("Because.\r\n\r\n{}", blue.replace('\n', "\r\n"))));
    work(&world, "rfc-1", "coral");
    let more = create(&world).exits(0).json();
    assert_eq!((&of(&more, "coral")["created"], &of(&more, "blue")["updated"]), (&json!(true), &json!(true)));
    let blue = forge.body("blue");
    assert!(blue.starts_with("Because.\n\n<!--") && blue.contains("acme/coral#60"), "{blue}");
}

#[test]
fn imports_in_a_cycle_do_not_prevent_a_merge_order() {
    let world = five();
    rely(&world);
    let (aperture, fungal) = (world.path("aperture"), world.path("fungal"));
    let contract = ["realm", "admin", "contract", "--domain", "s3-access", "--name", "d", "--owner", "fungal"];
    world.ok(&fungal, &contract);
    let binding = ["realm", "admin", "binding", "--domain", "s3-access", "--repo", "aperture", "--role", "both"];
    world.ok(&aperture, &[&binding[..], &["--import", "d@>=0.1.0"]].concat());
    world.ok(&aperture, &["realm", "worktree", "create", "--rfc", "rfc-1"]);
    ["blue", "coral", "aperture", "fungal"].iter().for_each(|repo| work(&world, "rfc-1", repo));
    let text = world.ok(&aperture, &["realm", "pr", "status", "--rfc", "rfc-1"]).stdout;
    assert!(text.contains("\nmerge order: blue, coral, aperture, fungal\n") && !text.contains("works for"), "{text}");
}

/// As forges do with the branch of a pull request that was closed.
#[test]
fn branch_that_the_forge_deleted_is_pushed_again() {
    let (world, forge) = on_forge();
    create(&world).exits(0);
    forge.set("blue", "state", json!("closed"));
    let (tree, remote) = (tree(&world, "blue"), world.path("remotes/blue.git"));
    world.git(&tree, &["commit", "--quiet", "--allow-empty", "-m", "More"]);
    world.git(&tree, &["push", "--quiet", "origin", "rfc-1"]);
    world.git(&remote, &["update-ref", "-d", "refs/heads/rfc-1"]);
    let run = create(&world).exits(0).json();
    assert_eq!(of(&run, "blue")["created"], true, "{run}");
    assert_eq!(world.line(&remote, &["rev-parse", "rfc-1"]), world.line(&tree, &["rev-parse", "HEAD"]));
}

#[test]
fn title_and_draft_state_of_a_pull_request_are_kept() {
    let (world, forge) = on_forge();
    create(&world).exits(0);
    forge.set("fungal", "draft", json!(true));
    let args = ["realm", "pr", "create", "--rfc", "rfc-1", "--title"];
    let kept = |title: &str| world.ok(&world.path("aperture"), &[&args[..], &[title]].concat()).stdout;
    let (same, other) = (kept("New API"), kept("Other"));
    let says =
        |text: &str, what: &str| text.contains(&format!("{what}; to change it, edit it at https://{HOST}/acme/"));
    assert!(says(&same, "#70 keeps its draft state") && !same.contains("its title"), "{same}");
    assert!(says(&other, "#70 keeps its title and draft state") && says(&other, "#50 keeps its title"), "{other}");
}

#[test]
fn pull_request_that_is_not_shown_is_not_bypassed() {
    let (world, forge) = on_forge();
    create(&world).exits(0);
    (0..60).for_each(|_| forge.instead(500, "", "{}"));
    let answer = status(&world);
    forge.state.lock().unwrap().instead.clear();
    let blue = of(&answer, "blue");
    assert_eq!((&blue["ready"], &blue["blockers"]), (&json!(false), &json!(["its pull request is unknown"])));
}

#[test]
fn thirty_repositories_take_little_longer_than_one() {
    let world = World::new();
    let forge = GitHub::start(&world);
    let add = |number: usize| {
        let repo = format!("r{number}");
        let path = world.join(&repo);
        world.git(&world.root(), &["clone", "-q", "--bare", &repo, &format!("remotes/{repo}.git")]);
        world.git(&path, &["remote", "add", "origin", &format!("https://{HOST}/acme/{repo}.git")]);
        world.git(&path, &["switch", "-q", "-c", "rfc-1"]);
        world.commit(&repo, "New");
    };
    let dir = world.path("r0");
    forge.state.lock().unwrap().unchecked = true;
    let ask = |count: usize| {
        forge.state.lock().unwrap().delay = Duration::ZERO;
        world.ok(&dir, &["realm", "pr", "create", "--rfc", "rfc-1", "--title", "x"]);
        forge.state.lock().unwrap().delay = Duration::from_millis(200);
        let start = Instant::now();
        let answer = world.json(&dir, &["realm", "pr", "status", "--rfc", "rfc-1"]);
        let took = start.elapsed();
        assert_eq!(answer["repos"].as_array().unwrap().len(), count);
        assert!(answer["repos"].as_array().unwrap().iter().all(|one| one["pr"]["checks"]["passed"] == 1), "{answer}");
        took
    };
    add(0);
    let one = ask(1);
    (1..30).for_each(add);
    let thirty = ask(30);
    println!("one {one:?}, thirty {thirty:?}: {:.1} times", thirty.as_secs_f64() / one.as_secs_f64());
    // On a busy machine the time means little, but sequential requests alone would take 30 s.
    let most = forge.most.load(std::sync::atomic::Ordering::SeqCst);
    assert!((8..=16).contains(&most), "{most} at once");
    assert!(thirty < Duration::from_secs(30), "30 took {thirty:?}, one {one:?}");
}

#[test]
fn unknown_checks_are_named() {
    let (world, forge) = on_forge();
    forge.state.lock().unwrap().unchecked = true;
    create(&world).exits(0);
    forge.state.lock().unwrap().hides_checks = true;
    let answer = status(&world);
    let blue = of(&answer, "blue");
    assert_eq!(blue["pr"]["checks"], Value::Null);
    assert_eq!(blue["pr_problem"], "its checks are unknown: the forge does not show them to this token");
}
