//! `diff`, `impact`, `topology` and `compare`.

use serde_json::{Value, json};

use crate::world::{CONTRACT_FILE, World, contract, importing, snapshot};

const CONTRACT: &str = "s3-access/s3-permissions";

#[test]
fn timeline_shows_each_local_realm() {
    let world = World::pair();
    let (fungal, staging) = (world.path("fungal"), world.path("staging"));
    world.bump("1.1.0");
    world.repo("staging");
    world.ok(&staging, &["init", "--realm", "staging", "--repo", "fungal"]);
    let none = world.blue(&staging, &["contract", "timeline", "s3-access/other"]).exits(1);
    world.ok(&staging, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "fungal"]);
    world.write(&format!("staging/{CONTRACT_FILE}"), &contract("1.1.0"));
    world.write("staging/models/s3_paths.py", "");
    world.commit("staging", "Try it here");
    world.bump("1.2.0");
    world.ok(&fungal, &["contract", "yank", CONTRACT, "1.1.0", "--reason", "wrong"]);
    let all = world.ok(&fungal, &["contract", "timeline", CONTRACT]);
    let first = world.ok(&fungal, &["contract", "timeline", CONTRACT, "--limit", "3"]);
    let rest = world.ok(&fungal, &["contract", "timeline", CONTRACT, "--cursor", "aperture@1.1.0"]);
    // Also from a folder in no realm, and with another realm damaged.
    std::fs::remove_dir_all(world.path("home/blue/realms/staging.git")).unwrap();
    let broken = world.ok(&world.path("home"), &["contract", "timeline", CONTRACT]);
    snapshot("contract_timeline", &[&none, &all, &first, &rest, &broken]);
    let answer = world.json(&fungal, &["contract", "timeline", CONTRACT]);
    assert_eq!((&answer["total"], &answer["realms"][0]["current_version"]), (&json!(3), &json!("1.2.0")));
    assert_eq!(answer["entries"][2]["repo"], "fungal");
}

#[test]
fn timeline_names_the_damage_of_its_own_contract() {
    let world = World::pair();
    world.plant("contracts/aside.txt", "oops");
    world.plant("contracts/extra.json", "oops");
    let run = world.blue(&world.path("fungal"), &["contract", "timeline", "s3-access/extra"]).exits(1);
    assert!(run.stderr.contains("contracts/extra.json") && !run.stderr.contains("aside.txt"), "{run}");
}

#[test]
fn diff_names_each_changed_place() {
    let world = World::pair();
    let dir = world.path("access");
    let only = world.blue(&dir, &["contract", "diff", CONTRACT]).exits(1);
    let text = contract("1.1.0")
        .replace("required: [read]", "required: [read, write]")
        .replace("    read: {", "    a/b~c: {}\n    read: {")
        .replace("[\"jobs/*/masks/*\", \"v1.1.0\"]", "[\"new\", \"jobs/*/masks/*\", \"v1.0.0\"]\n  write: [\"x\"]");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
    world.commit("fungal", "Write too");
    let diff = world.ok(&dir, &["contract", "diff", CONTRACT]);
    world.bump("2.0.0");
    let back = world.ok(&dir, &["contract", "diff", CONTRACT, "2.0.0", "1.1.0"]);
    let same = world.ok(&dir, &["contract", "diff", CONTRACT, "1.1.0", "1.1.0"]);
    snapshot("contract_diff", &[&only, &diff, &back, &same]);

    let answer = world.json(&dir, &["contract", "diff", CONTRACT, "1.0.0", "1.1.0"]);
    assert_eq!((&answer["old_version"], &answer["new_version"]), (&json!("1.0.0"), &json!("1.1.0")));
    assert_eq!(answer["content_changed"], true);
    let places: Vec<_> =
        answer["changes"].as_array().unwrap().iter().map(|one| one["pointer"].as_str().unwrap()).collect();
    assert_eq!(
        places,
        ["/evolution/0", "/schema/properties/a~1b~0c", "/schema/required/1", "/value/read/0", "/value/write"]
    );
    // A pointer refers to the document that contract get shows.
    let get = world.json(&dir, &["contract", "get", CONTRACT, "--version", "1.1.0"]);
    for one in answer["changes"].as_array().unwrap() {
        assert_eq!(get["contract"].pointer(one["pointer"].as_str().unwrap()), Some(&one["new"]));
    }
    let none = world.blue(&dir, &["contract", "diff", CONTRACT, "1.0.0", "9.9.9", "--json"]).exits(1).json();
    assert_eq!(none["code"], "unknown-version");
}

#[test]
fn description_needs_no_version() {
    let world = World::pair();
    let dir = world.path("fungal");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &contract("1.0.0").replace("Paths that", "The paths that"));
    let diff = world.ok(&dir, &["contract", "diff", CONTRACT, "--worktree"]);
    assert!(diff.stdout.contains("/description") && !diff.stdout.contains("or later"), "{diff}");
    assert_eq!(world.json(&dir, &["contract", "diff", CONTRACT, "--worktree"])["bump"], Value::Null);
}

#[test]
fn huge_value_is_truncated_for_people_not_programs() {
    let world = World::pair();
    let dir = world.path("access");
    let huge: String = (0..500).map(|n| format!("  key{n}: \"{}\"\n", "x".repeat(400))).collect();
    let text = contract("1.1.0");
    let (head, _) = text.split_once("value:\n").unwrap();
    world.write(
        &format!("fungal/{CONTRACT_FILE}"),
        &format!("{head}value:\n  read: []\n  more:\n{}", huge.replace("  key", "    key")),
    );
    world.commit("fungal", "Much");
    let shown = world.ok(&dir, &["contract", "diff", CONTRACT]).stdout;
    assert!(shown.len() < 10_000 && shown.contains("482 more lines") && shown.contains(" …"), "{shown}");
    let whole = world.json(&dir, &["contract", "diff", CONTRACT]);
    let more = whole["changes"].as_array().unwrap().iter().find(|one| one["pointer"] == "/value/more").unwrap();
    assert_eq!(more["new"].as_object().map(|map| map.len()), Some(500));
}

#[test]
fn impact_is_shown_before_publishing() {
    let world = World::pair();
    let dir = world.path("fungal");
    world.join("other");
    world.ok(&dir, &["realm", "admin", "domain", "--name", "s3-access", "--repos", "other"]);
    world.write("other/.blue/bindings/s3-access.yaml", &importing(">=1.0.0"));
    world.commit("other", "Anything from 1.0.0");
    let head = world.git(&dir, &["rev-parse", "HEAD"]).stdout;
    let now = world.ok(&dir, &["contract", "impact", CONTRACT]);
    let next = world.ok(&dir, &["contract", "impact", CONTRACT, "--to", "2.0.0"]);
    world.bump("2.0.0");
    let after = world.ok(&dir, &["contract", "impact", CONTRACT]);
    let older = world.ok(&dir, &["contract", "impact", CONTRACT, "--to", "1.0.0"]);
    snapshot("contract_impact", &[&now, &next, &after, &older]);
    assert_ne!(world.git(&dir, &["rev-parse", "HEAD"]).stdout, head);

    let answer = world.json(&dir, &["contract", "impact", CONTRACT, "--to", "3.0.0"]);
    assert_eq!((&answer["published"], &answer["broken"]), (&json!(false), &json!(1)));
    assert_eq!(answer["importers"][0]["repo"], "access");
    assert_eq!(
        (&answer["importers"][0]["state"], &answer["importers"][1]["state"]),
        (&json!("broken"), &json!("current"))
    );
    world.blue(&dir, &["contract", "impact", "s3-access/none"]).exits(1);
}

#[test]
fn topology_shows_providers_and_consumers() {
    let world = World::pair();
    let dir = world.path("access");
    world.join("idle");
    world.bump("2.0.0");
    world.write(
        "access/.blue/bindings/s3-access.yaml",
        &(importing(">=1.0.0, <2.0.0") + "  - { contract: never-made, version: \"^1.0.0\" }\n"),
    );
    world.commit("access", "Rely on what is not there");
    let text = world.ok(&dir, &["realm", "topology"]);
    let dot = world.ok(&dir, &["realm", "topology", "--format", "dot"]);
    let mermaid = world.ok(&dir, &["realm", "topology", "--format", "mermaid", "--domain", "s3-access"]);
    snapshot("topology", &[&text, &dot, &mermaid]);
    let answer = world.ok(&dir, &["realm", "topology", "--format", "json"]).json();
    assert_eq!(answer, world.json(&dir, &["realm", "topology"]));
    assert_eq!(answer["broken"], 2);
    world.blue(&dir, &["realm", "topology", "--domain", "none"]).exits(1);
    world.plant("contracts/s3-permissions.json", "{");
    let damaged = world.json(&dir, &["realm", "topology"]);
    assert!(damaged["unreadable"][0].as_str().unwrap().contains("contracts/s3-permissions.json"), "{damaged:#}");
}

#[test]
fn topology_pages_join_into_the_whole() {
    let world = World::pair();
    let dir = world.path("access");
    let imports: String = ["a-missing", "b-missing", "z-missing"]
        .map(|name| format!("  - {{ contract: {name}, version: \"^1.0.0\" }}\n"))
        .concat();
    world.write("access/.blue/bindings/s3-access.yaml", &(importing(">=1.0.0, <2.0.0") + &imports));
    world.commit("access", "Rely on what is not there");
    for domain in ["a-first", "y-empty", "z-empty"] {
        world.ok(&dir, &["realm", "admin", "domain", "--name", domain, "--repos", "access"]);
    }
    let whole = world.json(&dir, &["realm", "topology"]);
    assert_eq!((&whole["total"], &whole["next_cursor"]), (&json!(4), &Value::Null));
    let names = |page: &Value| -> Vec<String> {
        let of = |domain: &Value| {
            let name = domain["name"].as_str().unwrap().to_owned();
            let contracts = domain["contracts"].as_array().unwrap().iter();
            let contracts: Vec<_> = contracts.map(|one| format!("{name}/{}", one["name"].as_str().unwrap())).collect();
            if contracts.is_empty() { vec![name] } else { contracts }
        };
        page["domains"].as_array().unwrap().iter().flat_map(of).collect()
    };
    assert_eq!(names(&whole).len(), 7);
    for limit in 1..=8 {
        let (mut found, mut cursor) = (Vec::new(), None);
        loop {
            let limit = limit.to_string();
            let mut args = vec!["realm", "topology", "--limit", &limit];
            args.extend(cursor.as_deref().into_iter().flat_map(|cursor| ["--cursor", cursor]));
            let page = world.json(&dir, &args);
            assert_eq!((&page["total"], &page["broken"]), (&whole["total"], &whole["broken"]));
            assert_eq!(page["repos"] == whole["repos"], cursor.is_none());
            found.extend(names(&page));
            match page["next_cursor"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => break,
            }
        }
        assert_eq!(found, names(&whole), "{limit}");
    }
    let text = world.ok(&dir, &["realm", "topology", "-n", "2"]);
    assert!(text.stdout.contains("\nmore: --cursor s3-access/a-missing\n"), "{text:?}");
    world.blue(&dir, &["realm", "topology", "--cursor", "none"]).exits(1);
}

#[test]
fn compare_names_two_realms() {
    let world = World::pair();
    let dir = world.path("fungal");
    let admin = |realm: &str, args: &[&str]| {
        world.ok(&dir, &[&["--realm", realm, "realm", "admin"], args].concat());
    };
    // Another realm with the same names: a copy that then diverged.
    world.git(&world.root(), &["clone", "--quiet", "--mirror", world.store().to_str().unwrap(), "copy.git"]);
    let same = world.blue(&dir, &["realm", "compare", "aperture"]).exits(0);
    admin("aperture", &["contract", "--domain", "s3-access", "--name", "more", "--owner", "fungal"]);
    world.bump("1.1.0");
    world.ok(&world.root(), &["realm", "admin", "init", "--name", "empty"]);
    let empty = world.ok(&dir, &["realm", "compare", "empty"]);
    let config = world.read("home/blue/config");
    let copy = format!("[blue \"realm.copied\"]\n\tpath = {}\n", world.path("copy.git").display());
    world.write("home/blue/config", &(config + &copy));
    let copied = world.ok(&dir, &["realm", "compare", "copied"]);
    let back = world.blue(&dir, &["realm", "compare", "nowhere"]).exits(128);
    snapshot("realm_compare", &[&same, &empty, &copied, &back]);
    let answer = world.json(&dir, &["realm", "compare", "empty", "--limit", "1"]);
    assert_eq!((&answer["total"], &answer["next_cursor"]), (&json!(2), &json!("s3-access/more")));
    assert_eq!(answer["differences"][0]["difference"], "only-here");
    let copied = world.json(&dir, &["realm", "compare", "copied"]);
    assert_eq!((&copied["same"], &copied["differences"][1]["difference"]), (&json!(0), &json!("version")));
    // A contract without a release counts, and so does a retirement.
    world
        .write("fungal/.blue/contracts/s3-access/next.yaml", &contract("1.0.0-rc.1").replace("s3-permissions", "next"));
    world.commit("fungal", "Next");
    let dir = world.path("fungal");
    world.git(&world.root(), &["clone", "--quiet", "--mirror", world.store().to_str().unwrap(), "later.git"]);
    let config = world.read("home/blue/config");
    world.write("home/blue/config", &config.replace("copy.git", "later.git"));
    world.ok(&dir, &["contract", "retire", "s3-access/more", "--reason", "unused"]);
    let later = world.json(&dir, &["realm", "compare", "copied"]);
    assert_eq!((&later["same"], &later["total"]), (&json!(2), &json!(1)), "{later}");
    assert_eq!(later["differences"][0]["difference"], "state");
    assert!(world.ok(&dir, &["realm", "compare", "copied"]).stdout.contains("0.1.0 of fungal, retired"));
}
