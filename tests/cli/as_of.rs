//! Past states of a realm, and `blame`.

use serde_json::{Value, json};

use crate::world::{CONTRACT_FILE, DOMAIN_REF, World, contract, snapshot};

const CONTRACT: &str = "s3-access/s3-permissions";

/// Three versions: 1.1.0 added a property, and 1.2.0 a third element.
fn grown() -> World {
    let world = World::pair();
    let with = |version: &str, property: &str, paths: &str| {
        let text = contract(version).replace("    read: {", &format!("{property}    read: {{"));
        let text = text.replace(&format!("\"v{version}\"]"), paths);
        world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
        world.commit("fungal", &format!("Paths {version}"));
    };
    with("1.1.0", "    write: { type: string }\n", "\"v1.0.0\"]");
    with("1.2.0", "    write: { type: string, minLength: 1 }\n", "\"v1.0.0\", \"new\"]");
    world
}

fn time_of(world: &World, version: &str) -> String {
    let answer = world.json(&world.path("access"), &["contract", "timeline", CONTRACT]);
    let entry = answer["entries"].as_array().unwrap().iter().find(|entry| entry["version"] == version).unwrap();
    entry["time"].as_str().unwrap().to_owned()
}

#[test]
fn blame_names_version_author_and_commit_of_each_part() {
    let world = grown();
    let dir = world.path("access");
    let all = world.ok(&dir, &["contract", "blame", CONTRACT]);
    let part = world.ok(&dir, &["contract", "blame", CONTRACT, "/schema/properties/write"]);
    let older = world.ok(&dir, &["contract", "blame", CONTRACT, "/value", "--version", "1.1.0"]);
    let page = world.ok(&dir, &["contract", "blame", CONTRACT, "--limit", "2"]);
    let rest = world
        .ok(&dir, &["contract", "blame", CONTRACT, "--limit", "2", "--cursor", "/schema/properties/write/minLength"]);
    let nothing = world.blue(&dir, &["contract", "blame", CONTRACT, "/schema/properties/delete"]).exits(1);
    let never = world.blue(&dir, &["contract", "blame", CONTRACT, "--version", "9.0.0"]).exits(1);
    snapshot("contract_blame", &[&all, &part, &older, &page, &rest, &nothing, &never]);

    let answer = world.json(&dir, &["contract", "blame", CONTRACT, "/value/read/2"]);
    assert_eq!(answer["parts"], json!([{"pointer": "/value/read/2", "version": "1.2.0", "value": "new"}]));
    let commit = world.line(&world.path("fungal"), &["rev-parse", "HEAD"]);
    let brought = &answer["versions"][0];
    assert_eq!((&brought["source_commit"], &brought["repo"]), (&json!(commit), &json!("fungal")));
}

#[test]
fn blame_separates_schema_and_value_of_one_version() {
    let world = World::pair();
    let answer = world.json(&world.path("access"), &["contract", "blame", CONTRACT]);
    let pointers: Vec<_> = answer["parts"].as_array().unwrap().iter().map(|part| &part["pointer"]).collect();
    assert_eq!(pointers, ["/schema", "/value"]);
}

/// Nothing was checked, so nothing breaks as far as the exit code says.
#[test]
fn check_before_the_realm_cannot_tell() {
    let world = World::pair();
    for options in [&[][..], &["--advisory"]] {
        let check = world.blue(&world.path("access"), &[&["check", "--at", "2020-01-01"], options].concat()).exits(128);
        assert!(check.stderr.contains("did not exist at 2020-01-01"), "{check}");
    }
}

#[test]
fn reading_commands_accept_at() {
    let world = grown();
    let dir = world.path("access");
    let then = time_of(&world, "1.1.0");
    let at = |arguments: &[&str]| world.json(&dir, &[arguments, &["--at", &then]].concat());
    assert_eq!(at(&["contract", "get", CONTRACT])["contract"]["version"], "1.1.0");
    assert_eq!(at(&["contract", "get", CONTRACT])["versions"], json!(["1.0.0", "1.1.0"]));
    assert_eq!(at(&["contract", "list"])["contracts"][0]["version"], "1.1.0");
    assert_eq!(at(&["status"])["domains"][0]["contracts"][0]["version"], "1.1.0");
    assert_eq!(at(&["contract", "blame", CONTRACT, "/schema"])["version"], "1.1.0");
    assert_eq!(at(&["contract", "log", CONTRACT])["entries"].as_array().map(Vec::len), Some(2));
    assert_eq!(at(&["contract", "diff", CONTRACT, "1.0.0"])["new_version"], "1.1.0");
    let newest = |answer: Value| answer["entries"][0]["time"].as_str().map(str::to_owned);
    assert!(newest(at(&["realm", "log"])).is_some_and(|time| time <= then));
    world.ok(&dir, &["check", "--at", &then]);
    world.ok(&dir, &["realm", "topology", "--at", &then]);
    // A commit of the owner's repository selects the time of its publication.
    for (revision, version) in [("HEAD", "1.2.0"), ("HEAD~1", "1.1.0"), ("HEAD~2", "1.0.0")] {
        let answer = world.json(&world.path("fungal"), &["contract", "get", CONTRACT, "--at", revision]);
        assert_eq!(answer["contract"]["version"], version);
    }
    let text = world.ok(&dir, &["status", "--at", &then]);
    snapshot("status_as_of", &[&text]);
}

#[test]
fn at_accepts_a_version() {
    let world = grown();
    let dir = world.path("access");
    let at = |arguments: &[&str], version: &str| world.json(&dir, &[arguments, &["--at", version]].concat());
    for (version, known) in [("1.0.0", 1), ("1.1.0", 2), ("1.2.0", 3)] {
        let got = at(&["contract", "get", CONTRACT], version);
        assert_eq!((&got["current_version"], got["versions"].as_array().map(Vec::len)), (&json!(version), Some(known)));
        assert_eq!(at(&["contract", "blame", CONTRACT, "/schema"], version)["version"], version);
        assert_eq!(at(&["contract", "log", CONTRACT], version)["entries"].as_array().map(Vec::len), Some(known));
        at(&["contract", "impact", CONTRACT], version);
    }
    assert_eq!(at(&["contract", "diff", CONTRACT, "1.0.0"], "1.1.0")["new_version"], "1.1.0");
    let never = world.blue(&dir, &["contract", "get", CONTRACT, "--at", "9.0.0"]).exits(1);
    let nothing = world.blue(&dir, &["contract", "get", "s3-access/nothing", "--at", "1.0.0"]).exits(1);
    let of_which = world.blue(&dir, &["status", "--at", "1.0.0"]).exits(128);
    snapshot("as_of_no_version", &[&never, &nothing, &of_which]);
    // Without a contract, it can only be the name of a tag.
    world.git(&world.path("fungal"), &["tag", "1.0.0", "HEAD~2"]);
    let status = world.json(&world.path("fungal"), &["status", "--at", "1.0.0"]);
    assert_eq!(status["domains"][0]["contracts"][0]["version"], "1.0.0");
}

#[test]
fn two_versions_of_one_second_are_distinguished() {
    let world = World::pair();
    world.set("GIT_BLUE_NOW", "2026-02-01T12:00:00Z");
    world.bump("1.1.0");
    world.bump("1.2.0");
    for version in ["1.1.0", "1.2.0"] {
        let got = world.json(&world.path("access"), &["contract", "get", CONTRACT, "--at", version]);
        assert_eq!(got["current_version"], version);
    }
}

#[test]
fn reading_the_past_marks_and_changes_nothing() {
    let world = grown();
    let dir = world.path("access");
    let then = time_of(&world, "1.0.0");
    let refs = || world.git(&world.store(), &["for-each-ref"]).stdout;
    let before = refs();
    let pending = world.json(&dir, &["notifications", "list"])["notifications"].as_array().unwrap().len();
    world.ok(&dir, &["status", "--at", &then]);
    assert_eq!(world.json(&dir, &["notifications", "list"])["notifications"].as_array().unwrap().len(), pending);
    assert_eq!(refs(), before);
}

#[test]
fn next_steps_read_the_same_past() {
    let world = grown();
    let dir = world.path("access");
    let step = |arguments: &[&str]| {
        let steps = world.json(&dir, arguments)["next_steps"].clone();
        let first = steps.as_array().unwrap().first();
        first.map(|step| step["command"].as_str().unwrap().to_owned())
    };
    let diff = step(&["contract", "diff", CONTRACT, "--at", "2099-01-01T00:00:00Z"]).unwrap();
    assert!(diff.starts_with("git blue --at 2099-01-01T00:00:00Z contract impact"), "{diff}");
    world.finish_shell(&dir, &diff).exits(0);
    world.bump("2.0.0");
    for arguments in [&["status"][..], &["contract", "impact", CONTRACT]] {
        assert_eq!(step(arguments).as_deref(), Some("git blue review"));
        assert_eq!(step(&[arguments, &["--at", "2099-01-01"]].concat()), None, "it acts on the present");
    }
}

#[test]
fn invalid_at_is_refused() {
    let world = World::pair();
    let dir = world.path("access");
    let early = world.blue(&dir, &["contract", "list", "--at", "2001-01-01"]).exits(128);
    let unknown = world.blue(&dir, &["contract", "list", "--at", "v9"]).exits(128);
    let writes = world.blue(&dir, &["contract", "publish", "--at", "HEAD"]).exits(129);
    let elsewhere = world.blue(&dir, &["doctor", "--at", "HEAD"]).exits(129);
    snapshot("as_of_refused", &[&early, &unknown, &writes, &elsewhere]);
}

#[test]
fn sunsets_are_judged_on_the_day_that_is_shown() {
    let world = World::pair();
    let deprecated = contract("1.0.0") + "deprecated: { since: 1.0.0, sunset: 2026-02-28 }\n";
    world.write(&format!("fungal/{CONTRACT_FILE}"), &deprecated);
    world.commit("fungal", "Deprecate it");
    world.pass_days(90);
    let now = world.ok(&world.path("access"), &["check"]);
    assert!(now.stdout.contains("[past-sunset]"), "{now}");
    let then = world.ok(&world.path("access"), &["check", "--published", "--at", "2026-01-30"]);
    assert!(then.stdout.contains("[import-deprecated]") && !then.stdout.contains("[past-sunset]"), "{then}");
}

#[test]
fn past_of_a_renamed_repository_is_that_of_its_former_name() {
    let world = World::pair();
    world.bump("2.0.0");
    let access = world.path("access");
    let before = world.json(&access, &["status", "--peek"]);
    let tip = world.tip(DOMAIN_REF);
    world.ok(&access, &["realm", "admin", "rename", "access", "gate"]);
    world.commit("access", "Take the name gate");
    let past = world.json(&access, &["--at", &tip, "status"]);
    assert_eq!((&past["current_repo"], &past["imports"][0]["state"]), (&json!("access"), &json!("broken")), "{past:#}");
    assert_eq!(past["imports"].as_array().unwrap().len(), before["imports"].as_array().unwrap().len());
}
