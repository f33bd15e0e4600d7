//! Which changes a receiver gets: every change of a domain, whatever the number of its members, with the rank that it has
//! for the repository that it concerns most.

use serde_json::{Value, json};

use crate::world::{BINDING_FILE, CONTRACT_FILE, DOMAIN_REF, World, contract, importing};

/// Adds the receiver `team`, which has looked once, so that later changes are new to it.
fn follow(world: &World, keys: &[(&str, &str)]) {
    let command = format!("cat >>'{}'", world.path("news").display());
    for (key, value) in [("command", &*command)].iter().chain(keys) {
        set(world, key, value);
    }
    assert_eq!(news(world), json!([]));
}

fn set(world: &World, key: &str, value: &str) {
    let file = world.path("home/gitconfig").display().to_string();
    world.git(&world.root(), &["config", "--file", &file, &format!("blue.notify.team.{key}"), value]);
}

/// Returns the rank and the text of each change that the receiver gets now.
fn news(world: &World) -> Value {
    world.ok(&world.path("fungal"), &["notify", "send"]);
    let events = std::fs::read_to_string(world.path("news")).unwrap_or_default();
    world.write("news", "");
    let events = events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let changes = events.flat_map(|event| event["data"]["changes"].as_array().unwrap().clone());
    changes.map(|change| json!([change["rank"], change["text"]])).collect()
}

/// Adds a repository that joined the realm to the domain.
fn add_member(world: &World, name: &str) {
    world.join(name);
    world.ok(&world.path(name), &["realm", "admin", "domain", "--name", "s3-access", "--repos", name]);
}

#[test]
fn changes_of_the_only_member_are_sent() {
    let world = World::solo();
    world.ok(&world.path("fungal"), &["hooks", "uninstall"]);
    follow(&world, &[]);
    world.bump("2.0.0");
    world.ok(&world.path("fungal"), &["contract", "publish"]);
    assert_eq!(news(&world), json!([["contract", "fungal changed s3-access/s3-permissions 1.0.0 -> 2.0.0"]]));
}

#[test]
fn offer_to_any_member_is_sent() {
    let world = World::pair();
    add_member(&world, "zebra");
    world.settle();
    follow(&world, &[]);
    for (to, rank) in [("zebra", "contract"), ("access", "import")] {
        world.ok(&world.path("fungal"), &["contract", "transfer", "s3-access/s3-permissions", "--to", to]);
        let expected = json!([[rank, "fungal offers to hand over s3-access/s3-permissions"]]);
        assert_eq!(news(&world), expected, "to {to}");
        world.ok(&world.path("fungal"), &["contract", "transfer", "s3-access/s3-permissions", "--cancel"]);
        assert_eq!(news(&world), json!([]));
    }
}

#[test]
fn contract_that_was_added_and_retired_is_sent_if_a_member_imports_it() {
    let world = World::pair();
    add_member(&world, "zebra");
    follow(&world, &[]);
    let config = world.read("home/gitconfig");
    world.write("home/gitconfig", config.split("[blue \"notify.").next().unwrap());
    for name in ["aside", "unused"] {
        let path = format!("fungal/.blue/contracts/s3-access/{name}.yaml");
        world.write(&path, &contract("1.0.0").replace("s3-permissions", name));
        world.commit("fungal", "Add it");
        if name == "aside" {
            world.ok(&world.path("zebra"), &["import", "s3-access/aside"]);
            world.commit("zebra", "Import it");
        }
        let retired = ["contract", "retire", &format!("s3-access/{name}"), "--reason", "old", "--force"];
        world.ok(&world.path("fungal"), &retired);
    }
    world.write("home/gitconfig", &config);
    let told = news(&world);
    assert_eq!(told[0], json!(["attention", "fungal retired s3-access/aside"]), "{told}");
    assert!(!told.to_string().contains("unused"), "{told}");
}

#[test]
fn foreign_change_of_a_binding_is_a_conflict_for_its_repository() {
    for (keys, repo) in [(&[][..], "zebra"), (&[("rank", "conflict"), ("repo", "zebra")], "zebra"), (&[], "access")] {
        let world = World::pair();
        add_member(&world, "zebra");
        follow(&world, keys);
        let text = format!("{repo} published its binding in s3-access");
        // The import of `access` is older, and zebra owns nothing that it imports.
        let is_begun = repo == "zebra" && keys.is_empty();
        let begun = format!("{repo} imports s3-access/s3-permissions >=1.0.0");
        let first = if is_begun { begun } else { text.clone() };
        let binding = |import: &str, vars: &[(&str, &std::ffi::OsStr)]| {
            let args = ["--realm", "aperture", "realm", "admin", "binding", "--domain", "s3-access", "--repo", repo];
            let more = ["--role", "consumer", "--import", import];
            world.blue_with(&world.root(), &[&args[..], &more].concat(), vars).exits(0);
        };
        // The process that sends the event inherits the variables.
        let bob = std::ffi::OsStr::new("'user.email'='bob@example.com'");
        binding("s3-permissions@>=1.0.0", &[("GIT_CONFIG_PARAMETERS", bob)]);
        assert_eq!(news(&world), json!([["conflict", first]]), "{keys:?}");
        // The user of the clone may write it, and that is no news to the repository itself.
        binding("s3-permissions@>=1.0.0, <9.0.0", &[]);
        let expected = if keys.is_empty() { json!([["binding", text]]) } else { json!([]) };
        assert_eq!(news(&world), expected, "{keys:?}");
    }
}

#[test]
fn filter_follows_the_rename_of_its_repository() {
    let world = World::pair();
    follow(&world, &[("repo", "access")]);
    world.ok(&world.path("access"), &["realm", "admin", "rename", "access", "web"]);
    world.commit("access", "Rename it");
    world.bump("2.0.0");
    let told = news(&world);
    assert_eq!(told, json!([["broken", "fungal changed s3-access/s3-permissions 1.0.0 -> 2.0.0"]]));
    let doctor = || world.ok(&world.path("fungal"), &["doctor"]).stdout;
    assert!(!doctor().contains("there is no such"), "{}", doctor());
    set(&world, "repo", "acess");
    let problem = "blue.notify.team.repo is acess: there is no such repository in the realm aperture";
    assert!(doctor().contains(problem), "{}", doctor());
}

#[test]
fn new_receiver_gets_the_next_change() {
    let world = World::pair();
    set(&world, "command", &format!("cat >>'{}'", world.path("news").display()));
    world.bump("2.0.0");
    crate::wait::eventually("it is sent", || {
        std::fs::read_to_string(world.path("news")).is_ok_and(|news| news.contains("1.0.0 -> 2.0.0"))
    });
}

/// A change of a contract whose import is broken already is no further alarm, and least of all one for the better.
#[test]
fn break_is_sent_once() {
    let world = World::pair();
    let write = |lines: &str| {
        world.write(&format!("fungal/{CONTRACT_FILE}"), &format!("{}{lines}", contract("2.0.0")));
        world.commit("fungal", "Change it");
    };
    follow(&world, &[("rank", "broken")]);
    write("");
    assert_eq!(news(&world), json!([["broken", "fungal changed s3-access/s3-permissions 1.0.0 -> 2.0.0"]]));
    write("deprecated: { since: 2.0.0 }\n");
    assert_eq!(news(&world), json!([]));
    write("");
    assert_eq!(news(&world), json!([]), "its deprecation was withdrawn");
}

/// A break is sent although it is that of the last of hundreds of importers, by name.
#[test]
fn break_of_one_of_many_importers_is_sent() {
    let world = World::pair();
    let file = "bindings/access.json";
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=1.0.0"));
    world.commit("access", "Take any version");
    let holding = world.git(&world.store(), &["show", &format!("{DOMAIN_REF}:{file}")]).stdout;
    let broken = holding.replace("\">=1.0.0\"", "\"=1.0.0\"");
    let mut stream = format!("commit {DOMAIN_REF}\ncommitter Ada <ada@example.com> 1769250000 +0000\ndata 4\nmany\n");
    stream += &format!("from {DOMAIN_REF}^0\n");
    for number in 0..205 {
        let text = if number == 204 { &broken } else { &holding };
        stream += &format!("M 100644 inline bindings/r{number:03}.json\ndata {}\n{text}\n", text.len());
    }
    world.feed("git", &world.store(), &["fast-import", "--quiet"], &stream).exits(0);
    follow(&world, &[("rank", "broken")]);
    world.bump("2.0.0");
    world.ok(&world.path("fungal"), &["notify", "send"]);
    let event: Value = serde_json::from_str(&world.read("news")).unwrap();
    let [change] = &event["data"]["changes"].as_array().unwrap()[..] else { panic!("{event}") };
    let imports = change["imports"].as_array().unwrap();
    let broken: Vec<_> = imports.iter().filter(|one| one["state"] == "broken").map(|one| &one["repo"]).collect();
    assert_eq!((broken, imports.len(), &change["more_imports"]), (vec![&json!("r204")], 200, &json!(6)));
}
