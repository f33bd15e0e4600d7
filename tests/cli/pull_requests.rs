//! Pull requests of an RFC across repositories: status, committing, pushing, opening. The forge is a stand-in that is
//! validated against GitHub's API description.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{
    github::{GitHub, HOST, TOKEN, on_forge, tree},
    worktrees::{five, work},
    world::{Run, World, snapshot},
};

/// Makes `fungal` import from `aperture`, and `aperture` from `blue`.
fn rely(world: &World) {
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

fn status(world: &World) -> Value {
    world.json(&world.path("aperture"), &["realm", "pr", "status", "--rfc", "rfc-1"])
}

fn create(world: &World) -> Run {
    world.blue(&world.path("aperture"), &["realm", "pr", "create", "--rfc", "rfc-1", "--title", "New API", "--json"])
}

fn of<'v>(answer: &'v Value, repo: &str) -> &'v Value {
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
    assert_eq!(answer["merge_order"], json!(["blue", "aperture", "coral", "fungal"]));
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
fn repositories_in_a_cycle_have_no_merge_order() {
    let world = five();
    rely(&world);
    let (aperture, fungal) = (world.path("aperture"), world.path("fungal"));
    let contract = ["realm", "admin", "contract", "--domain", "s3-access", "--name", "d", "--owner", "fungal"];
    world.ok(&fungal, &contract);
    let binding = ["realm", "admin", "binding", "--domain", "s3-access", "--repo", "aperture", "--role", "both"];
    world.ok(&aperture, &[&binding[..], &["--import", "d@>=0.1.0"]].concat());
    world.ok(&aperture, &["realm", "worktree", "create", "--rfc", "rfc-1"]);
    let text = world.ok(&aperture, &["realm", "pr", "status", "--rfc", "rfc-1"]).stdout;
    assert!(text.contains("\nmerge order: blue, coral\nno merge order works for: aperture, fungal\n"), "{text}");
}

#[test]
fn works_without_forge_or_token() {
    let world = five();
    world.ok(&world.path("aperture"), &["realm", "worktree", "create", "--rfc", "rfc-1"]);
    work(&world, "rfc-1", "blue");
    world.git(&world.path("coral"), &["remote", "remove", "origin"]);
    let answer = status(&world);
    let blue = of(&answer, "blue");
    assert_eq!((&blue["commits_ahead"], &blue["pushed"], &blue["pr"]), (&json!(1), &json!(false), &Value::Null));
    assert_eq!(blue["blockers"], json!(["its branch is not on the remote"]), "no upstream is not pushed");
    assert_eq!(of(&answer, "coral")["pr_problem"], "coral has no remote named origin");
    let text = world.ok(&world.path("aperture"), &["realm", "pr", "status", "--rfc", "rfc-1"]).stdout;
    assert_eq!(text.matches("the remote is not on a forge: aperture, blue, fungal\n").count(), 1, "{text}");
    assert_eq!(create(&world).exits(1).json()["errors"][0]["code"], "no-forge");
    assert_eq!(of(&status(&world), "blue")["pushed"], true, "it was pushed all the same");

    let (world, _forge) = on_forge();
    let config = world.read("home/gitconfig").replace("tokenCommand", "noTokenCommand");
    world.write("home/gitconfig", &config);
    let answer = status(&world);
    assert_eq!(of(&answer, "blue")["pr_problem"], format!("there is no token for {HOST}"));
    let run = create(&world).exits(1).json();
    assert_eq!(of(&run, "blue")["url"], format!("https://{HOST}/acme/blue/compare/main...rfc-1?expand=1"));
    // A token of CI is sent only to the server that CI names.
    let ask = |server: &str| {
        let vars = [("GITHUB_TOKEN", TOKEN.as_ref()), ("GITHUB_SERVER_URL", std::ffi::OsStr::new(server))];
        world.blue_with(&world.path("aperture"), &["realm", "pr", "status", "--rfc", "rfc-1", "--json"], &vars).json()
    };
    assert_eq!(of(&ask("https://forge.test"), "blue")["pr_problem"], Value::Null);
    assert_eq!(of(&ask("https://github.com"), "blue")["pr_problem"], format!("there is no token for {HOST}"));
    // The credential helper is asked only once.
    world.write(
        "home/gitconfig",
        &format!("{config}[credential]\n\thelper = \"!f() {{ echo username=x; echo password={TOKEN}; }}; f\"\n"),
    );
    assert_eq!(of(&status(&world), "blue")["pr_problem"], Value::Null);
}

#[test]
fn misbehaving_forge_is_reported_without_secrets() {
    let (world, forge) = on_forge();
    let ask = || world.ok(&world.path("aperture"), &["realm", "pr", "status", "--rfc", "rfc-1", "--json"]);
    for (status, headers, body, said) in [
        (
            401,
            "",
            "{\"message\": \"Bad credentials s3cret-t0ken\"}",
            "does not accept the token, or the token lacks permission: Bad credentials ***",
        ),
        (403, "", "{\"message\": \"Resource not accessible\"}", "the token lacks permission: Resource not accessible"),
        (404, "", "{\"message\": \"Not Found\"}", "no such repository, or the token cannot see it"),
        (429, "retry-after: 3600\r\n", "{}", "is limiting requests; it answers again in 3600 s"),
        (
            403,
            "x-ratelimit-remaining: 0\r\nx-ratelimit-reset: 1769256000\r\n",
            "{}",
            "is limiting requests; it answers again at 2026-01-24T12:00:00Z",
        ),
        (
            403,
            "x-ratelimit-remaining: 4000\r\n",
            "{\"message\": \"You have exceeded a secondary rate limit. Please wait a few minutes.\"}",
            "is limiting requests",
        ),
        (200, "content-type: text/html\r\n", "<html>log in</html>", "sent an unreadable response"),
        (200, "", "", "sent an unreadable response"),
        (200, "", "{\"a\": 1}", "sent an unreadable response"),
        (200, "", "[{\"number\": -1}]", "sent an unreadable response"),
        (422, "", "{\"message\": \"x\u{1b}[31m\"}", "refused (422)"),
    ] {
        for _ in 0..4 {
            forge.instead(status, headers, body);
        }
        let run = ask();
        forge.state.lock().unwrap().instead.clear();
        assert!(run.stdout.contains(said), "{status}: {said}: {run:?}");
        assert!(!run.all().contains(TOKEN) && !run.stdout.contains('\u{1b}'), "{run:?}");
        assert_eq!(of(&run.json(), "blue")["commits_ahead"], 1, "what git knows is told all the same");
    }
    // Temporary failures are retried: after a moment, or after the given time.
    for (status, headers) in [(429, "retry-after: 1\r\n"), (403, "retry-after: 0\r\n"), (429, ""), (502, ""), (503, "")]
    {
        forge.instead(status, headers, "<html>busy</html>");
        forge.instead(status, headers, "{}");
        let start = Instant::now();
        let answer = ask().json();
        assert!(
            answer["repos"].as_array().unwrap().iter().all(|one| one["pr_problem"].is_null()),
            "{status}: {answer}"
        );
        assert!(start.elapsed() < Duration::from_secs(10));
    }
    // Nothing listens.
    let config = world.read("home/gitconfig").replace(&forge.url, "http://127.0.0.1:9");
    world.write("home/gitconfig", &config);
    assert!(ask().stdout.contains("cannot be reached"));
    world.write("home/gitconfig", &config.replace("http://127.0.0.1:9", "http://forge.test"));
    assert!(ask().stdout.contains("tokens are only sent encrypted"));
    let log =
        world.blue_with(&world.path("aperture"), &["realm", "pr", "status"], &[("GIT_BLUE_LOG", "trace".as_ref())]);
    assert!(!log.all().contains(TOKEN), "nor is it logged");
}

/// Listens on a port, handles every connection with this function, and returns the URL.
fn server(serve: impl Fn(std::net::TcpStream) + Send + 'static) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || listener.incoming().map_while(Result::ok).for_each(serve));
    url
}

#[test]
fn repository_cannot_set_token_command_or_forge_url() {
    let (world, forge) = on_forge();
    let aperture = world.path("aperture");
    let seen = std::sync::Arc::new(std::sync::Mutex::new(0));
    let count = seen.clone();
    let other = server(move |_| *count.lock().unwrap() += 1);
    let ran = world.path("ran");
    let command = format!("touch {}; echo stolen", ran.display());
    let keys = ["url", "type"].map(|key| format!("blue.forge.{HOST}.{key}"));
    let set = [(&keys[0][..], &other[..]), (&keys[1], "gitlab"), ("blue.tokenCommand", &command)];
    for (key, value) in set {
        world.git(&aperture, &["config", key, value]);
    }
    let ask = |verb: &[&str]| {
        let answer = world.ok(&aperture, &[&["realm", "pr"], verb, &["--rfc", "rfc-1", "--json"]].concat()).json();
        let steps = answer["next_steps"].as_array().unwrap().clone();
        for (key, _) in set {
            let step = format!("git config --show-origin --get-all {key}");
            let said = steps.iter().find(|said| said["command"] == *step).unwrap();
            assert!(said["reason"].as_str().unwrap().starts_with("ignored: it is only read from your own"), "{said}");
            let run = world.feed("sh", &aperture, &["-c", &step], "");
            assert!(run.stdout.contains("file:.git/config"), "{run:?}");
        }
        answer
    };
    assert_eq!(of(&ask(&["status"]), "blue")["pr_problem"], Value::Null);
    assert!(of(&ask(&["create", "--title", "New API"]), "blue")["created"].as_bool().unwrap());
    assert!(!forge.log().is_empty() && !ran.exists() && *seen.lock().unwrap() == 0);
    // Environment variables of other programs are ignored as well.
    for (key, _) in set {
        world.git(&aperture, &["config", "--unset", key]);
    }
    let vars = [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "blue.tokenCommand"), ("GIT_CONFIG_VALUE_0", &command)];
    let vars = vars.map(|(name, value)| (name, std::ffi::OsStr::new(value)));
    let run = world.blue_with(&aperture, &["realm", "pr", "status", "--rfc", "rfc-1"], &vars).exits(0);
    assert!(run.stdout.contains("get-all blue.tokenCommand  # ignored") && !ran.exists(), "{run:?}");
}

#[test]
fn redirect_to_another_origin_is_not_followed() {
    let (world, forge) = on_forge();
    let seen = std::sync::Arc::new(std::sync::Mutex::new(0));
    let count = seen.clone();
    let other = server(move |_| *count.lock().unwrap() += 1);
    let ask = || world.ok(&world.path("aperture"), &["realm", "pr", "status", "--rfc", "rfc-1", "--json"]).json();
    for status in [301, 302, 303, 307, 308] {
        // One request for each repository.
        (0..4).for_each(|_| forge.instead(status, &format!("location: {other}/x\r\n"), "{}"));
        let said = of(&ask(), "blue")["pr_problem"].clone();
        assert_eq!(said, format!("{HOST} redirects to {other}; its token was not sent there"), "{status}");
    }
    assert_eq!(*seen.lock().unwrap(), 0, "nobody came");
    let (same, local) = (forge.url.clone(), other.replace("127.0.0.1", "localhost"));
    (0..4).for_each(|_| forge.instead(302, &format!("location: {local}/x\r\n"), "{}"));
    (0..3).for_each(|_| forge.instead(307, &format!("location: {other}/x\r\n"), "{}"));
    assert!(of(&ask(), "blue")["pr_problem"].as_str().unwrap().contains("redirects to http://localhost:"));
    let created = create(&world).exits(1).json();
    assert_eq!(created["errors"][0]["code"], "redirected", "{created}");
    assert_eq!(*seen.lock().unwrap(), 0, "nobody came");
    // A renamed repository: the same forge redirects to its new name.
    forge.log();
    forge.instead(301, &format!("location: {same}/repos/acme/blue/pulls?head=acme:rfc-1\r\n"), "{}");
    forge.instead(308, "location: /repos/acme/blue/pulls?head=acme:rfc-1\r\n", "{}");
    let answer = ask();
    assert!(answer["repos"].as_array().unwrap().iter().all(|one| one["pr_problem"].is_null()), "{answer}");
    // A redirect loop ends.
    (0..16).for_each(|_| forge.instead(302, "location: /repos/acme/blue/pulls\r\n", "{}"));
    assert!(of(&ask(), "blue")["pr_problem"].as_str().unwrap().contains("refused (302)"));
}

#[test]
fn unresponsive_forge_is_waited_for_once() {
    let (world, forge) = on_forge();
    let held = std::sync::Mutex::new(Vec::new());
    let silent = server(move |stream| held.lock().unwrap().push(stream));
    let config = world.read("home/gitconfig");
    world.write("home/gitconfig", &config.replace(&forge.url, &silent));
    let aperture = world.path("aperture");
    let run = |args: &[&str]| {
        let start = Instant::now();
        let run = world.blue_with(&aperture, args, &[("GIT_BLUE_FORGE_TIMEOUT_MS", "1500".as_ref())]);
        // For all repositories and attempts together; the rest is git's. By default, it is 20 s.
        assert!(start.elapsed() < Duration::from_secs(15), "{run:?}");
        run
    };
    let answer = run(&["realm", "pr", "status", "--rfc", "rfc-1", "--json"]).exits(0).json();
    let said = format!("{HOST} does not answer; only what git knows is shown");
    for repo in ["aperture", "blue", "fungal"] {
        assert_eq!(of(&answer, repo)["pr_problem"], *said, "{answer}");
        assert_eq!(of(&answer, repo)["commits_ahead"], 1);
    }
    let answer = run(&["realm", "pr", "create", "--rfc", "rfc-1", "--title", "New API", "--json"]).exits(1).json();
    let errors: Vec<_> = answer["errors"].as_array().unwrap().iter().map(|one| &one["code"]).collect();
    assert_eq!(errors, ["unreachable"; 3], "{answer}");
    assert_eq!(of(&status_without_forge(&world, &config), "blue")["pushed"], true, "what git does was done");
    // A forge that is always busy gets no more time than one that never answers, with another message.
    world.write("home/gitconfig", &config);
    (0..60).for_each(|_| forge.instead(503, "", "{}"));
    let answer = run(&["realm", "pr", "status", "--rfc", "rfc-1", "--json"]).exits(0).json();
    forge.state.lock().unwrap().instead.clear();
    assert!(of(&answer, "blue")["pr_problem"].as_str().unwrap().contains("cannot answer (503)"), "{answer}");
    forge.instead(429, "retry-after: 2\r\n", "{}");
    let answer = run(&["realm", "pr", "status", "--rfc", "rfc-1", "--json"]).exits(0).json();
    assert!(answer.to_string().contains("is limiting requests; it answers again in 2 s"), "{answer}");
}

/// Returns the output without a forge.
fn status_without_forge(world: &World, config: &str) -> Value {
    world.write("home/gitconfig", &config.replace("tokenCommand", "noTokenCommand"));
    status(world)
}

#[test]
fn failure_in_one_repository_stops_no_other() {
    let (world, forge) = on_forge();
    // One remote refuses the push, and another has a commit that we lack.
    let hook = world.path("remotes/blue.git/hooks/pre-receive");
    world.script("remotes/blue.git/hooks/pre-receive", "#!/bin/sh\necho not today >&2\nexit 1\n");
    let fungal = world.path("remotes/fungal.git");
    let theirs = world.line(&fungal, &["commit-tree", "-p", "main", "-m", "Theirs", "main^{tree}"]);
    world.git(&fungal, &["update-ref", "refs/heads/rfc-1", &theirs]);
    let run = create(&world).exits(1).json();
    let error = |repo: &str| {
        let found = run["errors"].as_array().unwrap().iter().find(|one| one["repo"] == *repo).unwrap();
        assert_eq!(found["code"], "not-pushed");
        found
    };
    assert!(error("blue")["message"].as_str().unwrap().contains("not today"), "{run}");
    assert_eq!(error("blue")["next_step"], json!({"reason": "correct what git reports, and try again"}));
    let pull = format!("git -C {} pull --rebase origin rfc-1", tree(&world, "fungal").display());
    assert_eq!(error("fungal")["next_step"]["command"], pull, "the branch has no upstream yet");
    assert_eq!((&of(&run, "aperture")["created"], &of(&run, "blue")["number"]), (&json!(true), &Value::Null));
    std::fs::remove_file(hook).unwrap();
    world.finish_shell(&world.root(), &pull).exits(0);
    let run = create(&world).exits(0).json();
    assert_eq!((&of(&run, "aperture")["created"], &of(&run, "blue")["created"]), (&json!(false), &json!(true)));
    // A pull request that its user closed stays closed.
    forge.set("blue", "state", json!("closed"));
    let run = create(&world).exits(1).json();
    assert_eq!(run["errors"][0]["code"], "pull-request-closed");
    for title in ["", " ", "two\nlines", &"x".repeat(300)] {
        let args = ["realm", "pr", "create", "--rfc", "rfc-1", "--title", title];
        assert_eq!(world.blue(&world.path("aperture"), &args).code, 129);
    }
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
fn token_command_that_fails_is_reported() {
    let (world, _forge) = on_forge();
    let ask = |command: &str| {
        world.git(&world.root(), &["config", "--global", "blue.tokenCommand", command]);
        let args = ["realm", "pr", "status", "--rfc", "rfc-1", "--json"];
        let vars = [("GITHUB_TOKEN", TOKEN.as_ref()), ("GITHUB_SERVER_URL", "https://forge.test".as_ref())];
        world.blue_with(&world.path("aperture"), &args, &vars).exits(0).json()
    };
    let answer = ask("exit 3");
    let said = format!("blue.tokenCommand has no token for {HOST}: it failed: exit status: 3");
    assert_eq!(of(&answer, "blue")["pr_problem"], said);
    assert!(answer["next_steps"].to_string().contains("git config --show-origin --get-all blue.tokenCommand"));
    assert_eq!(of(&ask("true"), "blue")["pr_problem"], Value::Null, "it prints none for this host");
}

/// A proxy is another machine, whose `127.0.0.1` is not this one.
#[test]
fn forge_on_this_machine_is_not_asked_through_a_proxy() {
    let (world, _forge) = on_forge();
    let seen = std::sync::Arc::new(std::sync::Mutex::new(0));
    let count = seen.clone();
    let proxy = server(move |_| *count.lock().unwrap() += 1);
    let vars = ["ALL_PROXY", "HTTPS_PROXY", "http_proxy"].map(|name| (name, std::ffi::OsStr::new(&proxy)));
    let args = ["realm", "pr", "status", "--rfc", "rfc-1", "--json"];
    let answer = world.blue_with(&world.path("aperture"), &args, &vars).exits(0).json();
    assert_eq!((&of(&answer, "blue")["pr_problem"], *seen.lock().unwrap()), (&Value::Null, 0));
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
