//! Work sessions and their summaries.

use std::{path::Path, process::Stdio};

use serde_json::{Value, json};

use crate::world::{CONTRACT_FILE, DOMAIN_REF, World, contract, snapshot};

const SESSIONS: &str = "refs/blue/sessions/fungal";

/// Starts a session and returns its id.
fn start(world: &World, dir: &Path) -> String {
    world.json(dir, &["session", "start"])["session"]["id"].as_str().unwrap().to_owned()
}

/// Returns the trailer of the newest commit of a ref of the store.
fn trailer(world: &World, at: &str) -> String {
    world.line(&world.store(), &["log", "-1", "--format=%(trailers:key=Blue-Session,valueonly,separator=%x20)", at])
}

/// Returns the states of the realm's sessions, by id.
fn states(world: &World, dir: &Path) -> Vec<(String, String)> {
    let list = world.json(dir, &["session", "list", "--ended"]);
    let text = |line: &Value, key: &str| line[key].as_str().unwrap().to_owned();
    list["sessions"].as_array().unwrap().iter().map(|line| (text(line, "id"), text(line, "state"))).collect()
}

#[test]
fn session_from_start_to_stop() {
    let world = World::pair();
    let (fungal, access) = (world.path("fungal"), world.path("access"));
    let none = world.blue(&fungal, &["session", "stop"]);
    assert_eq!(none.code, 1);
    let started = world.ok(&fungal, &["session", "start", "--rfc", "team/rfc-0042"]);
    let again = world.ok(&fungal, &["session", "start"]);
    let other = world.ok(&access, &["session", "start"]);
    world.bump("1.1.0");
    let status = world.ok(&access, &["status"]);
    let here = world.ok(&access, &["session", "status"]);
    let list = world.ok(&fungal, &["session", "list"]);
    let stopped = world.ok(&fungal, &["session", "stop"]);
    let over = world.ok(&fungal, &["session", "status"]);
    let ended = world.ok(&fungal, &["session", "list", "--ended"]);
    let log = world.git(&world.store(), &["log", "--format=%s (%an)", SESSIONS]);
    snapshot("sessions", &[&none, &started, &again, &other, &status, &here, &list, &stopped, &over, &ended, &log]);
}

#[test]
fn session_of_another_worktree_is_stopped_by_id() {
    let world = World::pair();
    let (fungal, other) = (world.path("fungal"), world.path("other"));
    world.git(&fungal, &["worktree", "add", "--quiet", other.to_str().unwrap(), "-b", "other"]);
    let (here, there) = (start(&world, &fungal), start(&world, &other));
    let stopped = world.json(&fungal, &["session", "stop", &there]);
    assert_eq!(stopped["summary"]["id"], *there);
    assert_eq!(world.json(&other, &["session", "status"])["session"], Value::Null);
    assert_eq!(world.json(&fungal, &["session", "status"])["session"]["id"], *here);
    for id in [&*there, "sess-000000000000"] {
        let refused = world.blue(&fungal, &["session", "stop", id, "--json"]).exits(1);
        assert_eq!(refused.json()["code"], "unknown-session");
    }
    // A repository cannot end sessions of others.
    assert_eq!(world.blue(&world.path("access"), &["session", "stop", &here]).code, 1);
    world.json(&fungal, &["session", "stop", &here]);
    assert_eq!(world.json(&fungal, &["session", "status"])["session"], Value::Null);
}

#[test]
fn starting_twice_resumes_and_may_change_the_rfc() {
    let world = World::pair();
    let fungal = world.path("fungal");
    let id = start(&world, &fungal);
    let tip = world.tip(SESSIONS);
    let again = world.json(&fungal, &["session", "start"]);
    assert_eq!((&again["resumed"], &again["session"]["id"]), (&json!(true), &json!(id)));
    assert_eq!(world.tip(SESSIONS), tip, "there was nothing to write");
    let again = world.json(&fungal, &["session", "start", "--rfc", "rfc-2"]);
    assert_eq!((&again["session"]["id"], &again["session"]["active_rfc"]), (&json!(id), &json!("rfc-2")));
    assert_eq!(again["message"], "session resumed", "it was about nothing");
    let other = world.json(&fungal, &["session", "start", "--rfc", "rfc-3"]);
    assert_eq!(other["message"], "session resumed; its RFC was rfc-2");
    assert_eq!(states(&world, &fungal), [(id, "active".to_owned())]);
    for name in ["../x", "a//b", "-x", "a.lock", ""] {
        let refused = world.blue(&fungal, &["session", "start", "--rfc", name]);
        assert_eq!(refused.code, 129, "{refused:?}");
    }
}

#[test]
fn linked_worktrees_have_their_own_sessions() {
    let world = World::pair();
    let fungal = world.path("fungal");
    let ids = [start(&world, &fungal)];
    world.git(&fungal, &["worktree", "add", "-q", "../linked"]);
    let linked = world.path("linked");
    assert_eq!(world.json(&linked, &["session", "status"])["session"], Value::Null);
    let own = start(&world, &linked);
    assert_ne!(ids[0], own);
    let below = world.path("linked/.blue");
    assert_eq!(world.json(&below, &["session", "status"])["session"]["id"], json!(own));
    world.ok(&linked, &["session", "stop"]);
    assert_eq!(world.json(&fungal, &["session", "status"])["session"]["id"], json!(ids[0]));
    // No file was written in the working tree, where people look and git commits.
    assert_eq!(world.git(&fungal, &["status", "--porcelain"]).stdout, "");
}

#[test]
fn session_ends_with_its_worktree() {
    let world = World::pair();
    let fungal = world.path("fungal");
    for is_deleted_before in [false, true] {
        let created = world.json(&fungal, &["realm", "worktree", "create", "--rfc", "x", "--repos", "fungal"]);
        let path = std::path::PathBuf::from(created["paths"]["fungal"].as_str().unwrap());
        start(&world, &path);
        assert_eq!(world.json(&path, &["session", "status"])["session"]["active_rfc"], "x");
        if is_deleted_before {
            std::fs::remove_dir_all(&path).unwrap();
        }
        world.ok(&fungal, &["realm", "worktree", "remove", "--rfc", "x"]);
        let open = states(&world, &fungal);
        assert!(open.iter().all(|(_, state)| state != "active"), "{open:?}");
    }
}

#[test]
fn session_of_a_deleted_worktree_is_named_and_ended() {
    let world = World::pair();
    let fungal = world.path("fungal");
    let lose = |id: &str| {
        let path = world.path(id);
        world.git(&fungal, &["worktree", "add", "--quiet", path.to_str().unwrap(), "-b", id]);
        let session = start(&world, &path);
        std::fs::remove_dir_all(&path).unwrap();
        session
    };
    let here = start(&world, &fungal);
    let lost = lose("one");
    // After that, git has forgotten the worktree; no other clone can have started the session.
    for prune in [false, true] {
        if prune {
            world.git(&fungal, &["worktree", "prune"]);
        }
        let doctor = world.ok(&fungal, &["doctor"]);
        let line = doctor.stdout.lines().find(|line| line.contains("its working tree was deleted")).unwrap();
        assert!(line.contains(&lost) && !line.contains(&here), "{doctor}");
        assert!(doctor.stdout.contains(&format!("git blue session stop {lost}")), "{doctor}");
    }
    world.ok(&fungal, &["session", "stop", &lost]);
    assert!(!world.ok(&fungal, &["doctor"]).stdout.contains("was deleted"));
    let (two, three) = (lose("two"), lose("three"));
    let doctor = world.ok(&fungal, &["doctor", "--fix"]);
    assert!(doctor.stdout.contains(&two) && doctor.stdout.contains(&three), "{doctor}");
    let active: Vec<_> = states(&world, &fungal).into_iter().filter(|(_, state)| state == "active").collect();
    assert_eq!(active, [(here, "active".to_owned())]);
    // A session that another machine shares, or another clone started, is not in question.
    world.git(&fungal, &["config", "blue.shareSessions", "true"]);
    let lost = lose("four");
    assert!(world.ok(&fungal, &["doctor"]).stdout.contains(&lost));
    world.git(&fungal, &["worktree", "prune"]);
    assert!(!world.ok(&fungal, &["doctor"]).stdout.contains(&lost));
}

#[test]
fn commits_of_a_session_carry_its_trailer() {
    let world = World::pair();
    let (fungal, access) = (world.path("fungal"), world.path("access"));
    world.bump("1.1.0");
    assert_eq!(trailer(&world, DOMAIN_REF), "");
    let id = start(&world, &fungal);
    world.bump("1.2.0");
    assert_eq!(trailer(&world, DOMAIN_REF), id, "by the hook");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.3.0"));
    world.git(&fungal, &["add", "--all"]);
    world.git(&fungal, &["-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "1.3.0"]);
    for command in [
        &["contract", "publish"][..],
        &["contract", "yank", "s3-access/s3-permissions", "1.2.0", "--reason", "bad"],
        &["contract", "retire", "s3-access/s3-permissions", "--reason", "old", "--force"],
        &["realm", "admin", "contract", "--domain", "s3-access", "--name", "topics", "--owner", "fungal"],
        &["realm", "admin", "binding", "--domain", "s3-access", "--repo", "fungal", "--role", "both"],
        &["realm", "admin", "domain", "--name", "s3-access", "--repos", "fungal", "--description", "new words"],
    ] {
        let before = world.tip(DOMAIN_REF);
        world.ok(&fungal, command);
        assert_ne!(world.tip(DOMAIN_REF), before, "{command:?}");
        assert_eq!(trailer(&world, DOMAIN_REF), id, "{command:?}");
    }
    world.write("topics.yaml", "name: topics\nversion: \"0.2.0\"\nowner: fungal\nvalue: 1\n");
    world.ok(&fungal, &["contract", "edit", "s3-access/topics", "--file", "../topics.yaml"]);
    assert_eq!(trailer(&world, DOMAIN_REF), id, "by an edit");
    // Another repository is in no session, and a stale session does not count.
    world.ok(&access, &["realm", "admin", "domain", "--name", "other", "--repos", "access"]);
    assert_eq!(trailer(&world, "refs/blue/domains/other"), "");
    world.pass_days(2);
    world.ok(&fungal, &["realm", "admin", "domain", "--name", "third", "--repos", "fungal"]);
    assert_eq!(trailer(&world, "refs/blue/domains/third"), "");
}

#[test]
fn summary_lists_changes_in_the_realm() {
    let world = World::pair();
    let fungal = world.path("fungal");
    world.ok(&fungal, &["realm", "admin", "contract", "--domain", "s3-access", "--name", "idle", "--owner", "fungal"]);
    start(&world, &fungal);
    let modified = |world: &World| world.json(&fungal, &["session", "status"])["session"]["contracts_modified"].clone();
    assert_eq!(modified(&world), json!([]));
    // A pre-release does not become current, but counts as work.
    world.bump("2.0.0-rc.1");
    assert_eq!(modified(&world), json!(["s3-access/s3-permissions"]));
    // A domain that was created meanwhile, with a contract of another repository.
    for (repo, name) in [("fungal", "topics"), ("access", "theirs")] {
        let dir = world.path(repo);
        world.ok(&dir, &["realm", "admin", "domain", "--name", "queues", "--repos", "fungal,access"]);
        world.ok(&dir, &["realm", "admin", "contract", "--domain", "queues", "--name", name, "--owner", repo]);
    }
    let import =
        ["realm", "admin", "binding", "--domain", "queues", "--repo", "fungal", "--role", "consumer", "--import"];
    world.ok(&fungal, &[&import[..], &["theirs@>=0.1.0"]].concat());
    // History does not matter: truncating it changes nothing.
    let tree = world.line(&world.store(), &["rev-parse", &format!("{DOMAIN_REF}^{{tree}}")]);
    let orphan = world.line(&world.store(), &["commit-tree", "-m", "Cut short", &tree]);
    world.git(&world.store(), &["update-ref", DOMAIN_REF, &orphan]);
    let summary = &world.json(&fungal, &["session", "stop"])["summary"];
    assert_eq!(summary["active_domains"], json!(["queues", "s3-access"]));
    assert_eq!(summary["contracts_modified"], json!(["queues/topics", "s3-access/s3-permissions"]));
    assert_eq!(summary["contracts_watched"], json!(["queues/theirs"]));
    assert_eq!(summary["contracts_changed"], json!([]), "all of a domain that was joined meanwhile would be");
    // The summary is kept as of then.
    world.bump("3.0.0");
    let id = summary["id"].as_str().unwrap();
    let kept = world.git(&world.store(), &["cat-file", "blob", &format!("{SESSIONS}:ended/{id}.json")]).json();
    assert_eq!(kept["ended"]["work"]["contracts_modified"], summary["contracts_modified"]);
}

#[test]
fn missing_or_unreadable_domain_stops_no_session() {
    let world = World::pair();
    let fungal = world.path("fungal");
    start(&world, &fungal);
    world.plant("contracts/s3-permissions.json", "{");
    let status = world.json(&fungal, &["session", "status"]);
    let unreadable = status["unreadable"][0].as_str().unwrap();
    assert!(unreadable.contains("contracts/s3-permissions.json"), "{unreadable}");
    world.git(&world.store(), &["update-ref", "-d", DOMAIN_REF]);
    let stop = world.blue(&fungal, &["session", "stop", "--json"]).exits(0).json();
    assert_eq!(stop["summary"]["active_domains"], json!([]));
}

#[test]
fn activity_is_recorded_every_five_minutes() {
    let world = World::pair();
    let fungal = world.path("fungal");
    start(&world, &fungal);
    let tip = world.tip(SESSIONS);
    let last = |world: &World| world.json(&fungal, &["session", "status"])["session"]["last_activity"].clone();
    let first = last(&world);
    world.ok(&fungal, &["status"]);
    assert_eq!(world.tip(SESSIONS), tip, "not every minute");
    for command in [&["status"][..], &["session", "list"], &["contract", "publish"]] {
        let before = world.tip(SESSIONS);
        for _ in 0..5 {
            world.git(&fungal, &["--version"]);
        }
        world.ok(&fungal, &["status", "--peek"]);
        assert_eq!(world.tip(SESSIONS), before, "who peeks leaves no trace");
        world.ok(&fungal, command);
        assert_ne!(world.tip(SESSIONS), before, "{command:?}");
    }
    assert_ne!(last(&world), first);
    // If it cannot be recorded, nothing is reported.
    let lock = world.store().join(format!("{SESSIONS}.lock"));
    std::fs::write(&lock, "").unwrap();
    for _ in 0..5 {
        world.git(&fungal, &["--version"]);
    }
    let before = world.tip(SESSIONS);
    let begin = std::time::Instant::now();
    let status = world.ok(&fungal, &["session", "status"]);
    assert_eq!((&*status.stderr, world.tip(SESSIONS)), ("", before));
    assert!(begin.elapsed() < std::time::Duration::from_secs(10), "it waited for {:?}", begin.elapsed());
}

#[test]
fn forgotten_session_goes_stale() {
    let world = World::pair();
    let fungal = world.path("fungal");
    let dead = start(&world, &fungal);
    world.pass_days(2);
    let stale = world.ok(&fungal, &["session", "status"]);
    let status = world.ok(&world.path("access"), &["status"]);
    assert!(status.stdout.contains(&dead) && status.stdout.contains("stale"), "{status:?}");
    // Looking does not revive it.
    assert_eq!(states(&world, &fungal), [(dead.clone(), "stale".to_owned())]);
    // The next one replaces it, and it ended with its last activity.
    let started = world.ok(&fungal, &["session", "start"]);
    let stopped = world.ok(&fungal, &["session", "stop"]);
    snapshot("session_stale", &[&stale, &started, &stopped]);
    let list = world.json(&fungal, &["session", "list", "--ended"]);
    let first = &list["sessions"][0];
    assert_eq!((&first["id"], &first["ended_at"]), (&json!(dead), &first["last_activity"]));
    // Stopping a stale session does the same.
    start(&world, &fungal);
    world.pass_days(3);
    let stop = world.json(&fungal, &["session", "stop"]);
    assert_eq!(stop["message"], "session ended after 0m");
}

#[test]
fn dangling_session_marker_is_ignored() {
    let world = World::pair();
    let fungal = world.path("fungal");
    let mark = world.path("fungal/.git/blue-session");
    start(&world, &fungal);
    world.git(&world.store(), &["update-ref", "-d", SESSIONS]);
    assert_eq!(world.json(&fungal, &["session", "status"])["session"], Value::Null);
    world.bump("1.1.0");
    assert_eq!(trailer(&world, DOMAIN_REF), "");
    let stop = world.blue(&fungal, &["session", "stop"]).exits(1);
    assert!(stop.stderr.contains("has already ended"), "{stop:?}");
    assert!(!mark.exists());
    // An invalid marker is ignored, and never followed.
    let elsewhere = world.path("elsewhere");
    std::fs::write(&elsewhere, "mine\n").unwrap();
    std::os::unix::fs::symlink(&elsewhere, &mark).unwrap();
    world.blue(&fungal, &["session", "stop"]).exits(1);
    start(&world, &fungal);
    assert_eq!(world.read("elsewhere"), "mine\n");
    assert!(mark.symlink_metadata().unwrap().is_file());
    // Under another realm or name this session is not visible, and not lost.
    world.blue_with(&fungal, &["session", "stop"], &[("GIT_BLUE_REPO", "access".as_ref())]).exits(1);
    world.ok(&fungal, &["session", "stop"]);
}

#[test]
fn session_needs_a_repository_of_the_realm() {
    let world = World::pair();
    world.blue(&world.root(), &["session", "start", "--realm", "aperture"]).exits(128);
    world.blue(&world.root(), &["session", "list", "--realm", "aperture"]).exits(0);
    let fungal = world.path("fungal");
    let left = world.blue_with(&fungal, &["session", "start"], &[("GIT_BLUE_REPO", "nobody".as_ref())]);
    assert_eq!(left.code, 1, "{left:?}");
    assert!(left.stderr.contains("cannot write as nobody of aperture"), "{left:?}");
}

#[test]
fn unreadable_session_is_named_and_hides_no_other() {
    let world = World::pair();
    let fungal = world.path("fungal");
    let id = start(&world, &fungal);
    world.git(&fungal, &["worktree", "add", "-q", "../linked"]);
    let own = start(&world, &world.path("linked"));
    let store = world.store();
    world.write("broken", "{");
    let blob = world.line(&store, &["hash-object", "-w", world.path("broken").to_str().unwrap()]);
    let tree = world.git(&store, &["ls-tree", SESSIONS]).stdout;
    let old = world.line(&store, &["rev-parse", &format!("{SESSIONS}:{id}.json")]);
    let tree = world.feed("git", &store, &["mktree"], &tree.replace(&old, &blob)).stdout;
    let commit = world.line(&store, &["commit-tree", "-p", SESSIONS, "-m", "by other hands", tree.trim()]);
    world.git(&store, &["update-ref", SESSIONS, &commit]);
    let list = world.json(&fungal, &["session", "list"]);
    assert_eq!((list["sessions"].as_array().unwrap().len(), &list["sessions"][0]["id"]), (1, &json!(own)));
    let file = format!("{SESSIONS}:{id}.json");
    assert!(list["unreadable"][0].as_str().unwrap().starts_with(&file), "{list}");
    let status = world.json(&fungal, &["status"]);
    assert!(status["unreadable"][0].as_str().unwrap().starts_with(&file), "{status}");
    let doctor = world.blue(&fungal, &["doctor"]).exits(1);
    assert!(doctor.stdout.contains(&file), "{doctor:?}");
    world.blue(&fungal, &["session", "stop"]).exits(128);
    world.bump("1.1.0");
    assert_eq!(world.version(), "1.1.0", "publishing goes on");
    world.ok(&fungal, &["session", "start"]);
}

#[test]
fn list_is_paged() {
    let world = World::pair();
    let mut places = vec![world.path("fungal"), world.path("access")];
    world.git(&places[0], &["worktree", "add", "-q", "../linked"]);
    places.push(world.path("linked"));
    let ids: Vec<_> = places.iter().map(|dir| start(&world, dir)).collect();
    let first = world.json(&places[0], &["session", "list", "--limit", "2"]);
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = world.json(&places[0], &["session", "list", "--limit", "2", "--cursor", cursor]);
    let of = |page: &Value| -> Vec<String> {
        page["sessions"].as_array().unwrap().iter().map(|line| line["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!([of(&first), of(&second)].concat(), [&*ids[1], &ids[0], &ids[2]]);
    assert_eq!((&first["total"], &second["next_cursor"]), (&json!(3), &Value::Null));
}

#[test]
fn doctor_ends_dead_sessions() {
    let world = World::pair();
    let fungal = world.path("fungal");
    let dead = start(&world, &fungal);
    let of = |answer: &Value, name: &str| -> Value {
        answer["checks"].as_array().unwrap().iter().find(|check| check["name"] == name).cloned().unwrap_or_default()
    };
    let well = world.blue(&fungal, &["doctor", "--json"]).exits(0).json();
    assert_eq!((&of(&well, "sessions")["state"], &of(&well, "session")["state"]), (&json!("ok"), &json!("ok")));
    world.pass_days(1);
    let alive = start(&world, &world.path("access"));
    let sick = world.blue(&fungal, &["doctor", "--json"]).exits(0).json();
    let found = of(&sick, "sessions");
    assert_eq!(found["state"], "warning");
    let message = found["message"].as_str().unwrap();
    assert!(message.contains(&dead) && !message.contains(&alive), "{message}");
    let mended = world.blue(&fungal, &["doctor", "--fix", "--json"]).exits(0).json();
    assert_eq!((&of(&mended, "sessions")["fixed"], &of(&mended, "session")["fixed"]), (&json!(true), &json!(true)));
    assert!(!world.path("fungal/.git/blue-session").exists());
    let open = world.json(&fungal, &["session", "list"]);
    assert_eq!((&open["total"], &open["sessions"][0]["id"]), (&json!(1), &json!(alive)));
    assert_eq!(of(&world.json(&fungal, &["doctor"]), "session"), Value::Null);
    // A dangling marker, and an invalid one.
    for text in ["sess-1a aperture fungal\n", "sess-1a elsewhere fungal\n", "nonsense\n"] {
        world.write("fungal/.git/blue-session", text);
        let sick = world.blue(&fungal, &["doctor", "--json"]).exits(0).json();
        assert_eq!(of(&sick, "session")["state"], "warning", "{text}");
        let mended = world.json(&fungal, &["doctor", "--fix"]);
        assert_eq!(of(&mended, "session")["fixed"], true, "{text}");
        assert!(!world.path("fungal/.git/blue-session").exists());
    }
}

#[test]
fn gc_removes_sessions_ended_over_a_month_ago() {
    let world = World::pair();
    let (fungal, access) = (world.path("fungal"), world.path("access"));
    start(&world, &fungal);
    world.ok(&fungal, &["session", "stop"]);
    start(&world, &access);
    world.pass_days(29);
    let kept = start(&world, &fungal);
    assert_eq!(world.json(&fungal, &["gc"])["forgotten_sessions"], 0);
    world.pass_days(2);
    let gc = world.ok(&fungal, &["gc"]);
    assert!(gc.stdout.contains("sessions removed       2\n"), "{gc:?}");
    assert_eq!(states(&world, &fungal), [(kept, "stale".to_owned())]);
    assert_eq!(world.git(&world.store(), &["fsck", "--strict", "--no-dangling"]).stdout, "");
}

/// Eight working trees of one repository start and stop sessions concurrently.
#[test]
fn concurrent_sessions_are_all_recorded() {
    const TREES: usize = 8;
    let world = World::pair();
    let fungal = world.path("fungal");
    let names: Vec<_> = (0..TREES).map(|number| format!("tree-{number}")).collect();
    for name in &names {
        world.git(&fungal, &["worktree", "add", "-q", &format!("../{name}")]);
    }
    let at_once = |commands: &[(&str, &[&str])]| {
        let children: Vec<_> = commands
            .iter()
            .map(|(dir, args)| {
                let mut command = world.command("git", &world.path(dir));
                command.arg("blue").args(*args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
                command.spawn().unwrap()
            })
            .collect();
        let outputs: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
        assert!(outputs.iter().all(|output| output.status.success()), "{outputs:?}");
        outputs
    };
    let start: &[&str] = &["session", "start"];
    at_once(&names.iter().map(|name| (&**name, start)).collect::<Vec<_>>());
    let mut ids: Vec<_> = names
        .iter()
        .map(|name| world.json(&world.path(name), &["session", "status"])["session"]["id"].as_str().unwrap().to_owned())
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), TREES, "each has its own");
    let mut found: Vec<_> = states(&world, &fungal).into_iter().map(|(id, _)| id).collect();
    found.sort();
    assert_eq!(found, ids);
    // Two starts in one working tree give one session.
    let twice = at_once(&[("fungal", start), ("fungal", start), ("fungal", start), ("fungal", start)]);
    let started = twice.iter().filter(|output| String::from_utf8_lossy(&output.stdout).starts_with("session started"));
    assert_eq!(started.count(), 1, "{twice:?}");
    assert_eq!(states(&world, &fungal).len(), TREES + 1);
    let stop: &[&str] = &["session", "stop"];
    at_once(&names.iter().map(|name| (&**name, stop)).collect::<Vec<_>>());
    let open = states(&world, &fungal).into_iter().filter(|(_, state)| state == "active").count();
    assert_eq!((open, states(&world, &fungal).len()), (1, TREES + 1));
    assert_eq!(world.git(&world.store(), &["fsck", "--strict", "--no-dangling"]).stdout, "");
}
