//! Forges that are missing, misbehave or refuse, and tokens that are not sent to them.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::pull_requests::{create, of, status};
use crate::{
    github::{HOST, TOKEN, on_forge, tree},
    receiver::deaf_address,
    worktrees::{five, work},
    world::World,
};

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
    let nowhere = format!("http://{}", deaf_address());
    let config = world.read("home/gitconfig").replace(&forge.url, &nowhere);
    world.write("home/gitconfig", &config);
    assert!(ask().stdout.contains("cannot be reached"));
    world.write("home/gitconfig", &config.replace(&nowhere, "http://forge.test"));
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
