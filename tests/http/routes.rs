//! Answers of routes: byte for byte those of `--json`, with HTTP semantics.

use std::io::Read as _;

use serde_json::{Value, json};

use crate::{
    client::Daemon,
    world::{CONTRACT_FILE, DOMAIN_REF, REALM, World},
};

/// Asserts that a route answers with the output of a command.
#[track_caller]
fn same(daemon: &Daemon<'_>, folder: &str, command: &[&str], path: &str) {
    let world = daemon.world;
    let printed = world.blue(&world.path(folder), &[command, &["--json"]].concat());
    let answered = daemon.get(path).is(200);
    assert_eq!(answered.text(), printed.stdout, "{path}");
    assert_eq!(answered.header("content-type"), "application/json");
}

#[test]
fn drafts_and_rfc_branches_are_judged_over_http() {
    let world = World::pair();
    let contract = "s3-access/s3-permissions";
    world.ok(&world.path("fungal"), &["realm", "worktree", "create", "--rfc", "x", "--repos", "fungal"]);
    world.write(&format!("fungal/{CONTRACT_FILE}"), &crate::world::contract("2.0.0"));
    let daemon = Daemon::start(&world);
    let of_work_tree = |path: &str| format!("/realms/aperture/contracts/{contract}/{path}?repo=fungal&worktree=true");
    same(&daemon, "fungal", &["contract", "diff", contract, "--worktree"], &of_work_tree("diff"));
    same(&daemon, "fungal", &["contract", "impact", contract, "--worktree"], &of_work_tree("impact"));
    let of_commit = format!("/realms/aperture/contracts/{contract}/diff?repo=fungal&commit=HEAD");
    same(&daemon, "fungal", &["contract", "diff", contract, "--commit", "HEAD"], &of_commit);
    same(&daemon, "fungal", &["check", "--rfc", "x"], "/realms/aperture/check?repo=fungal&rfc=x");
}

#[test]
fn past_realm_is_read() {
    let world = World::pair();
    let [head, of_access] = ["fungal", "access"].map(|repo| world.line(&world.path(repo), &["rev-parse", "HEAD"]));
    world.bump("2.0.0");
    let daemon = Daemon::start(&world);
    let contract = "s3-access/s3-permissions";
    let past = |command: &[&str], path: &str| {
        same(&daemon, "fungal", &[command, &["--at", &head]].concat(), &format!("{path}?repo=fungal&at={head}"));
    };
    past(&["contract", "get", contract], &format!("/realms/aperture/contracts/{contract}"));
    past(&["realm", "topology"], "/realms/aperture/topology");
    past(&["realm", "log"], "/realms/aperture/log");
    // What is pending is known only for the present.
    let status = format!("/realms/aperture?repo=access&at={of_access}");
    same(&daemon, "access", &["status", "--at", &of_access], &status);
    assert_eq!(daemon.get(&status).json()["notifications"], json!([]));
    let got = daemon.get(&format!("/realms/aperture/contracts/{contract}?repo=fungal&at={head}")).json();
    assert_eq!(got["current_version"], "1.0.0");
    let of_version = format!("/realms/aperture/contracts/{contract}?repo=fungal&at=1.0.0");
    same(&daemon, "fungal", &["contract", "get", contract, "--at", "1.0.0"], &of_version);
    assert_eq!(daemon.get(&of_version).json()["current_version"], "1.0.0");
    let of_which = daemon.get("/realms/aperture?at=1.0.0");
    assert_eq!((of_which.status, &of_which.json()["code"]), (404, &json!("unknown-commit")));
    let early = daemon.get("/realms/aperture?at=2020-01-01");
    assert_eq!((early.status, &early.json()["code"]), (404, &json!("before-realm")));
    daemon.get("/realms/aperture/review?repo=access&at=2020-01-01").is(400);
}

#[test]
fn routes_print_what_the_command_prints() {
    let world = World::pair();
    world.bump("1.1.0");
    world.bump("2.0.0");
    world.ok(&world.path("fungal"), &["session", "start", "--rfc", "rfc-0042"]);
    let daemon = Daemon::start(&world);
    let (realm, contract) = (&["--realm", REALM][..], "s3-access/s3-permissions");
    let outside = |command: &[&'static str], path: &str| same(&daemon, "", &[command, realm].concat(), path);
    same(&daemon, "", &["realm", "list"], "/realms");
    outside(&["realm", "status"], "/realms/aperture");
    outside(&["realm", "status", "--limit", "1"], "/realms/aperture?limit=1");
    outside(&["realm", "check", "--published"], "/realms/aperture/check");
    outside(&["realm", "log"], "/realms/aperture/log");
    outside(
        &["realm", "log", "--domain", "s3-access", "--limit", "2"],
        "/realms/aperture/log?domain=s3-access&limit=2",
    );
    outside(&["realm", "topology"], "/realms/aperture/topology");
    outside(&["contract", "list"], "/realms/aperture/contracts");
    outside(&["contract", "get", contract], &format!("/realms/aperture/contracts/{contract}"));
    outside(
        &["contract", "get", contract, "--version", "1.0.0"],
        &format!("/realms/aperture/contracts/{contract}?version=1.0.0"),
    );
    outside(&["contract", "log", contract], &format!("/realms/aperture/contracts/{contract}/log"));
    outside(
        &["contract", "diff", contract, "1.0.0", "2.0.0"],
        &format!("/realms/aperture/contracts/{contract}/diff?from=1.0.0&to=2.0.0"),
    );
    outside(&["contract", "impact", contract], &format!("/realms/aperture/contracts/{contract}/impact"));
    outside(&["contract", "timeline", contract], &format!("/contracts/{contract}/timeline"));
    outside(&["contract", "blame", contract], &format!("/realms/aperture/contracts/{contract}/blame"));
    outside(&["session", "list"], "/sessions?realm=aperture");
    // For a repository, from its working tree.
    same(&daemon, "access", &["realm", "status", "--peek"], "/realms/aperture?repo=access");
    same(
        &daemon,
        "access",
        &["contract", "get", contract],
        &format!("/realms/aperture/contracts/{contract}?repo=access"),
    );
    same(&daemon, "access", &["notifications", "list"], "/notifications?realm=aperture&repo=access");
    same(
        &daemon,
        "access",
        &["notifications", "list", "--state", "pending"],
        "/notifications?realm=aperture&repo=access&state=pending",
    );
    let checked = world.blue(&world.path("access"), &["realm", "check", "--json"]);
    assert_eq!(daemon.get("/realms/aperture/check?repo=access").is(200).text(), checked.stdout);
}

#[test]
fn domain_that_cannot_be_read_is_named() {
    let world = World::pair();
    std::fs::write(world.store().join(DOMAIN_REF), "0123456789".repeat(4)).unwrap();
    let daemon = Daemon::start(&world);
    for (command, path) in [
        (&["status", "--peek"][..], "/realms/aperture?repo=access"),
        (&["contract", "list"], "/realms/aperture/contracts?repo=access"),
        (&["notifications", "list"], "/notifications?realm=aperture&repo=access"),
        (&["review"], "/realms/aperture/review?repo=access"),
    ] {
        same(&daemon, "access", command, path);
        let named = daemon.get(path).json()["unreadable_domains"].clone();
        assert!(named[0].as_str().is_some_and(|named| named.contains(DOMAIN_REF)), "{path}: {named}");
    }
    for page in ["/r/aperture", "/r/aperture/contracts"] {
        assert!(daemon.get(page).is(200).text().contains(DOMAIN_REF), "{page}");
    }
}

#[test]
fn payload_is_read_as_strictly_as_a_file() {
    let world = World::solo();
    let daemon = Daemon::start(&world);
    let path = "/realms/aperture/contracts/s3-access/s3-permissions/validate";
    let json = "Content-Type: application/json\r\n";
    let deep = |levels: usize| format!(r#"{{"payload":{}{}}}"#, "[".repeat(levels), "]".repeat(levels));
    for (body, message) in [
        (r#"{"payload":{"read":1,"read":[]}}"#.to_owned(), "duplicate key \"read\""),
        (r#"{"payload":1,"payload":2}"#.to_owned(), "duplicate key \"payload\""),
        (r#"{"payload":{"a":9007199254740993}}"#.to_owned(), "payload: many JSON parsers"),
        (deep(66), "nested deeper than 64 levels"),
        ("[]".to_owned(), "the body is JSON, but not an object"),
        ("{".to_owned(), "the body is not JSON"),
    ] {
        let answer = daemon.ask("POST", path, json, body.as_bytes()).is(400).json();
        assert!(answer["message"].as_str().unwrap().contains(message), "{body}: {answer}");
    }
    daemon.ask("POST", path, json, deep(60).as_bytes()).is(200);
}

#[test]
fn errors_are_those_of_the_command() {
    let world = World::solo();
    let daemon = Daemon::start(&world);
    for (command, path, status) in [
        (&["contract", "get", "s3-access/nothing"][..], "/realms/aperture/contracts/s3-access/nothing", 404),
        (&["contract", "get", "nothing/nothing"], "/realms/aperture/contracts/nothing/nothing", 404),
        (&["contract", "log", "s3-access/nothing"], "/realms/aperture/contracts/s3-access/nothing/log", 404),
        (
            &["contract", "diff", "s3-access/s3-permissions"],
            "/realms/aperture/contracts/s3-access/s3-permissions/diff",
            409,
        ),
    ] {
        let printed = world.blue(&world.root(), &[command, &["--realm", REALM, "--json"]].concat());
        assert_eq!(daemon.get(path).is(status).text(), printed.stdout);
    }
    daemon.get("/realms/elsewhere").is(404);
    let unknown = daemon.get("/realms/aperture?repo=nobody").is(404).json();
    assert_eq!(unknown["next_steps"][0]["reason"], "known repositories: fungal", "{unknown}");
    daemon.get("/realms/aperture/log?from_repo=nobody").is(404);
    for path in ["check?worktree=true", "check?commit=HEAD", "contracts/s3-access/s3-permissions/diff?worktree=true"] {
        assert_eq!(daemon.get(&format!("/realms/aperture/{path}")).is(404).json()["message"], "repo is missing");
    }
    daemon.get("/realms/aperture?limit=0").is(400);
    daemon.get("/realms/aperture?limit=many").is(400);
    daemon.get("/realms/aperture?more=1").is(400);
    daemon.get("/sessions?ended=perhaps").is(400);
    daemon.get("/notifications?state=lost").is(400);
}

#[test]
fn sessions_and_notifications_cover_all_realms() {
    let world = World::pair();
    world.bump("1.1.0");
    world.repo("other");
    world.ok(&world.path("other"), &["init", "--realm", "second"]);
    let daemon = Daemon::start(&world);
    let start = |realm: &str, repo: &str| {
        daemon.post("/sessions", &json!({"realm": realm, "repo": repo, "rfc": "rfc-1"})).is(200).json()
    };
    let id = start(REALM, "access")["session"]["id"].as_str().unwrap().to_owned();
    start("second", "other");
    let all = daemon.get("/sessions").is(200).json();
    let places = |all: &Value| {
        let all = all["sessions"].as_array().unwrap().iter();
        all.map(|one| format!("{}/{}", one["realm"].as_str().unwrap(), one["repo"].as_str().unwrap()))
            .collect::<Vec<_>>()
    };
    assert_eq!(places(&all), ["aperture/access", "second/other"]);
    assert_eq!(places(&daemon.get("/sessions?repo=other").is(200).json()), ["second/other"]);
    daemon.get("/sessions?repo=nothing").is(404);
    assert_eq!(places(&daemon.get("/sessions?limit=1").is(200).json()), ["aperture/access"]);
    let cursor = daemon.get("/sessions?limit=1").json()["next_cursor"].as_str().unwrap().replace(' ', "+");
    assert_eq!(places(&daemon.get(&format!("/sessions?limit=1&cursor={cursor}")).is(200).json()), ["second/other"]);
    // The working tree records the session, and its end.
    assert_eq!(world.json(&world.path("access"), &["session", "status"])["session"]["id"], *id);
    daemon.ask("DELETE", &format!("/sessions/{id}"), "", b"").is(200);
    assert!(world.json(&world.path("access"), &["session", "status"])["session"].is_null());
    daemon.ask("DELETE", &format!("/sessions/{id}"), "", b"").is(404);
    daemon.ask("DELETE", "/sessions/..%2f..", "", b"").is(404);

    let pending = daemon.get("/notifications?state=pending").is(200).json();
    assert_eq!(pending["total"], 1, "{pending}");
    assert_eq!(pending["notifications"][0]["current_repo"], "access");
    // Reading marks nothing as seen.
    assert_eq!(daemon.get("/notifications?state=pending").json()["total"], 1);
    let id = pending["notifications"][0]["id"].as_str().unwrap();
    let acked = daemon.post(&format!("/notifications/{id}/ack"), &Value::Null).is(200).json();
    assert_eq!(acked["acknowledged"], json!([id]));
    // Acknowledging it again changes nothing.
    daemon.post(&format!("/notifications/{id}/ack"), &Value::Null).is(200);
    daemon.post("/notifications/notif-000000000000/ack", &Value::Null).is(404);
    assert_eq!(world.json(&world.path("access"), &["status", "--peek"])["notifications"], json!([]));
}

#[test]
fn sync_route_syncs() {
    let world = World::solo();
    world.hub();
    let daemon = Daemon::start(&world);
    daemon.post("/realms/aperture/sync", &json!({})).is(409);
    let hub = world.path("hub.git").display().to_string();
    world.ok(&world.path("fungal"), &["realm", "admin", "join", REALM, "--url", &hub]);
    world.bump("1.1.0");
    let synced = daemon.post("/realms/aperture/sync", &json!({"dry_run": true})).is(200).json();
    assert_eq!(synced["status"], "success", "{synced}");
    daemon.post("/realms/aperture/sync", &json!({})).is(200);
    let tip = world.line(&world.path("hub.git"), &["rev-parse", crate::world::DOMAIN_REF]);
    assert_eq!(tip, world.tip(crate::world::DOMAIN_REF));
    daemon.post("/realms/aperture/sync", &json!({"remote": "--upload-pack=x"})).is(400);
    daemon.post("/realms/aperture/sync", &json!({"more": 1})).is(400);
}

#[test]
fn etag_avoids_resending() {
    let world = World::solo();
    let daemon = Daemon::start(&world);
    let path = "/realms/aperture/contracts/s3-access/s3-permissions";
    let first = daemon.get(path).is(200);
    let tag = first.header("etag").to_owned();
    assert_eq!(daemon.get(path).header("etag"), tag);
    let known = |tag: &str| daemon.ask("GET", path, &format!("If-None-Match: {tag}\r\n"), b"");
    for tag in [&tag, &format!("\"x\", {tag}"), &format!("W/{tag}"), "*"] {
        let answer = known(tag).is(304);
        assert!(answer.body.is_empty() && answer.header("etag") == first.header("etag"));
    }
    assert_eq!(known("\"x\"").status, 200);
    world.bump("1.1.0");
    assert_eq!(known(&tag).is(200).json()["contract"]["version"], "1.1.0");
    // HEAD has the same headers without the body.
    let (head, get) = (daemon.ask("HEAD", path, "", b"").is(200), daemon.get(path));
    assert_eq!(
        (head.header("content-length"), head.header("etag")),
        (get.header("content-length"), get.header("etag"))
    );
}

#[test]
fn answer_includes_earlier_publishes() {
    let world = World::solo();
    let daemon = Daemon::start(&world);
    let path = "/realms/aperture/contracts/s3-access/s3-permissions";
    for minor in 1..40 {
        let version = format!("1.{minor}.0");
        assert!(world.bump(&version).stderr.contains("published s3-access"));
        assert_eq!(daemon.get(path).is(200).json()["contract"]["version"], *version);
        if minor % 10 == 0 {
            // Packing moves all refs to another file, and empties their folders.
            world.git(&world.store(), &["pack-refs", "--all", "--prune"]);
            assert_eq!(daemon.get(path).is(200).json()["contract"]["version"], *version);
        }
    }
    let realm = || daemon.get("/realms/aperture").is(200).json();
    world.join("late");
    assert!(realm()["repos"].to_string().contains("late"));
    world.ok(&world.path("late"), &["session", "start"]);
    assert_eq!(realm()["sessions"].as_array().unwrap().len(), 1);
    world.ok(&world.path("late"), &["session", "stop"]);
    assert_eq!(realm()["sessions"], json!([]));
}

#[test]
fn removed_realm_is_gone_and_may_come_back() {
    let world = World::solo();
    let daemon = Daemon::start(&world);
    daemon.get("/realms/aperture").is(200);
    let (store, aside) = (world.store(), world.path("aside.git"));
    std::fs::rename(&store, &aside).unwrap();
    let gone = daemon.get("/realms/aperture").is(409).json();
    assert_eq!(gone["code"], "no-store");
    let listed = daemon.get("/realms").is(200).json();
    assert!(listed["realms"][0]["problem"].is_string(), "{listed}");
    std::fs::rename(&aside, &store).unwrap();
    let path = "/realms/aperture/contracts/s3-access/s3-permissions";
    let publish = |from: u32| {
        for minor in from..from + 5 {
            let version = format!("1.{minor}.0");
            assert!(world.bump(&version).stderr.contains("published s3-access"));
            assert_eq!(daemon.get(path).is(200).json()["contract"]["version"], *version);
        }
    };
    publish(1);
    // A copy in its place is another folder, and is watched as well.
    let copy = world.path("copy.git");
    world.git(&world.root(), &["clone", "--quiet", "--mirror", store.to_str().unwrap(), copy.to_str().unwrap()]);
    std::fs::rename(&store, &aside).unwrap();
    std::fs::rename(&copy, &store).unwrap();
    publish(6);
    std::fs::remove_dir_all(&store).unwrap();
    daemon.get("/realms/aperture").is(409);
    assert!(daemon.is_alive());
}

#[test]
fn long_answers_are_compressed_on_request() {
    let world = World::solo();
    let daemon = Daemon::start(&world);
    let path = "/openapi.json";
    let plain = daemon.get(path).is(200);
    let packed = daemon.ask("GET", path, "Accept-Encoding: gzip, br\r\n", b"").is(200);
    assert_eq!(packed.header("content-encoding"), "gzip");
    assert_eq!((plain.header("vary"), packed.header("vary")), ("accept-encoding", "accept-encoding"));
    assert_ne!(plain.header("etag"), packed.header("etag"));
    assert!(packed.body.len() * 4 < plain.body.len());
    let mut unpacked = Vec::new();
    flate2::read::GzDecoder::new(&packed.body[..]).read_to_end(&mut unpacked).unwrap();
    assert!(unpacked == plain.body);
    let refused = daemon.ask("GET", path, "Accept-Encoding: gzip;q=0\r\n", b"").is(200);
    assert_eq!(refused.header("content-encoding"), "");
}

#[test]
fn path_lists_its_methods() {
    let world = World::solo();
    let daemon = Daemon::start(&world);
    for (path, allowed) in [
        ("/realms", "GET, HEAD, OPTIONS"),
        ("/sessions", "GET, POST, HEAD, OPTIONS"),
        ("/sessions/sess-1", "DELETE, OPTIONS"),
        ("/realms/aperture/sync", "POST, OPTIONS"),
    ] {
        assert_eq!(daemon.ask("OPTIONS", path, "", b"").is(204).header("allow"), allowed);
        for method in ["PUT", "PATCH", "TRACE", "BREW", "get"] {
            let answer = daemon.ask(method, path, "", b"").is(405);
            assert_eq!(answer.header("allow"), allowed, "{method} {path}");
        }
    }
    daemon.ask("OPTIONS", "*", "", b"").is(204);
    daemon.get("/nothing/is/here").is(404);
    daemon.ask("POST", "/nothing", "", b"").is(404);
}

#[test]
fn works_without_repository_or_realm() {
    let world = World::new();
    let daemon = Daemon::start(&world);
    assert_eq!(daemon.get("/realms").is(200).json()["realms"], json!([]));
    assert_eq!(daemon.get("/sessions").is(200).json()["total"], 0);
    assert_eq!(daemon.get("/notifications").is(200).json()["total"], 0);
}
