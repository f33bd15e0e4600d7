//! A published version links to its source commit on the forge of its repository.

use serde_json::{Value, json};

use crate::world::{World, snapshot};

const CONTRACT: &str = "maps/tile";

/// Returns a world with a repository with this remote that published two versions.
fn published_from(remote: &str) -> World {
    let world = World::new();
    let dir = world.repo("atlas");
    world.git(&dir, &["remote", "add", "origin", remote]);
    world.ok(&dir, &["init", "--realm", "aperture"]);
    world.write("atlas/1.json", r#"{"x": 1}"#);
    world.write("atlas/2.json", r#"{"x": 1, "y": "a"}"#);
    world.ok(&dir, &["contract", "new", CONTRACT, "--from-samples", "1.json", "--domain-members", "atlas"]);
    world.commit("atlas", "Tiles");
    let file = world.read("atlas/.blue/contracts/maps/tile.yaml").replace("1.0.0", "1.1.0");
    world.write("atlas/.blue/contracts/maps/tile.yaml", &file.replace("Tile", "A tile"));
    world.commit("atlas", "Tiles again");
    world
}

/// Returns the links of all answers that name source commits.
fn links(world: &World) -> Vec<Value> {
    let dir = world.path("atlas");
    let blame = world.json(&dir, &["contract", "blame", CONTRACT]);
    let diff = world.json(&dir, &["contract", "diff", CONTRACT, "1.0.0"]);
    let timeline = world.json(&dir, &["contract", "timeline", CONTRACT]);
    let logs = [&["contract", "log", CONTRACT][..], &["realm", "log", "--domain", "maps"]]
        .map(|command| world.json(&dir, command)["entries"][0]["commit_url"].clone());
    let first = blame["versions"].as_array().unwrap().last().unwrap()["commit_url"].clone();
    let get = world.json(&dir, &["contract", "get", CONTRACT, "--origin", "--version", "1.0.0"]);
    [
        vec![
            get["origin"]["commit_url"].clone(),
            first,
            diff["old_origin"]["commit_url"].clone(),
            diff["new_origin"]["commit_url"].clone(),
        ],
        vec![timeline["entries"][0]["commit_url"].clone()],
        logs.to_vec(),
    ]
    .concat()
}

#[test]
fn every_answer_that_names_a_source_commit_leads_to_it() {
    let world = published_from("https://me:secret@gitlab.com/acme/world/atlas.git");
    let dir = world.path("atlas");
    let [old, new] = ["HEAD~1", "HEAD"].map(|revision| {
        let commit = world.line(&dir, &["rev-parse", revision]);
        json!(format!("https://gitlab.com/acme/world/atlas/-/commit/{commit}"))
    });
    assert_eq!(links(&world).iter().collect::<Vec<_>>(), [&old, &old, &old, &new, &new, &new, &new]);
    let shown = [
        world.ok(&dir, &["contract", "log", CONTRACT]),
        world.ok(&dir, &["contract", "timeline", CONTRACT]),
        world.ok(&dir, &["contract", "blame", CONTRACT]),
        world.ok(&dir, &["contract", "diff", CONTRACT, "1.0.0"]),
        world.ok(&dir, &["contract", "get", CONTRACT, "--origin"]),
    ];
    for run in &shown {
        assert!(!run.all().contains("secret"), "{run:?}");
    }
    snapshot("commit_links", &shown.each_ref());
}

#[test]
fn a_host_of_an_unknown_kind_is_not_linked_until_its_kind_is_configured() {
    let world = published_from("git@forge.example.org:acme/atlas.git");
    assert_eq!(links(&world), vec![Value::Null; 7]);
    let dir = world.path("atlas");
    world.git(&dir, &["config", "--global", "blue.forge.forge.example.org.type", "forgejo"]);
    let commit = world.line(&dir, &["rev-parse", "HEAD"]);
    assert_eq!(links(&world)[3], json!(format!("https://forge.example.org/acme/atlas/commit/{commit}")));
}

#[test]
fn a_url_that_is_no_forges_is_never_a_link() {
    for remote in ["file:///srv/acme/atlas.git", "javascript:alert(1)//acme/atlas", "https://github.com/atlas"] {
        assert_eq!(links(&published_from(remote)), vec![Value::Null; 7], "{remote}");
    }
}
