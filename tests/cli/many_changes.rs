//! Ten thousand changes in one domain: lists are paged.

use std::fmt::Write as _;

use serde_json::Value;

use crate::world::{BINDING_FILE, DOMAIN_REF, World, contract, importing};

const MANY: usize = 10_000;

/// Adds many contracts to the domain in a few commits, as `sync` would.
fn add_many(world: &World) {
    let one = world.git(&world.store(), &["show", &format!("{DOMAIN_REF}:contracts/s3-permissions.json")]).stdout;
    let mut stream = String::new();
    let commits = 10;
    for commit in 0..commits {
        let time = 1_769_250_000 + commit * 60;
        let from = if commit == 0 { format!("from {DOMAIN_REF}^0\n") } else { String::new() };
        let _ =
            write!(stream, "commit {DOMAIN_REF}\ncommitter Ada <ada@example.com> {time} +0000\ndata 4\nmany\n{from}");
        for number in (commit * MANY / commits)..((commit + 1) * MANY / commits) {
            let name = format!("paths-{number:05}");
            let text = one.replace("\"name\": \"s3-permissions\"", &format!("\"name\": \"{name}\""));
            for path in [format!("contracts/{name}.json"), format!("versions/{name}/1.0.0.json")] {
                let _ = write!(stream, "M 100644 inline {path}\ndata {}\n{text}\n", text.len());
            }
        }
    }
    world.feed("git", &world.store(), &["fast-import", "--quiet"], &stream).exits(0);
}

#[test]
fn first_page_of_ten_thousand_changes() {
    let world = World::pair();
    add_many(&world);
    let consumer = world.path("access");
    let list = |more: &[&str]| -> Value {
        let mut command = world.command(env!("CARGO_BIN_EXE_git-blue"), &consumer);
        command.args(["notifications", "list", "--json"]).args(more);
        world.finish(command, "git-blue notifications list").exits(0).json()
    };
    let first = list(&[]);
    assert_eq!((&first["total"], &first["summary"]["pending"]), (&MANY.into(), &MANY.into()));
    assert_eq!(first["notifications"].as_array().unwrap().len(), 100);
    let times = first["notifications"].as_array().unwrap().iter().map(|one| one["created_at"].as_str().unwrap());
    assert!(times.rev().is_sorted(), "newest first");
    assert!(list(&[]) == first);
    let second = list(&["--cursor", first["next_cursor"].as_str().unwrap()]);
    assert_ne!(second["notifications"][0]["id"], first["notifications"][99]["id"]);
    assert_eq!(second["total"], MANY);
    world.ok(&consumer, &["status"]);
    assert_eq!(list(&["--state", "pending"])["total"], MANY - 6);
}

/// A break is told first, however many compatible changes came after it.
#[test]
fn break_comes_first_among_hundreds_of_changes() {
    let world = World::pair();
    let access = world.path("access");
    let names: Vec<_> = (0..210).map(|number| format!("paths-{number:03}")).collect();
    let publish = |names: &[String], version: &str, other: &str| {
        for name in names {
            let text = contract(version).replace("s3-permissions", name).replace("read", other);
            let text = format!("{text}compatibility: {{ backwards: false, forwards: false }}\n");
            world.write(&format!("fungal/.blue/contracts/s3-access/{name}.yaml"), &text);
        }
        world.commit("fungal", version);
    };
    publish(&names, "1.0.0", "read");
    let imports = names.iter().map(|name| importing(">=1.0.0, <2.0.0").replace("s3-permissions", name));
    let lists: Vec<_> = imports.map(|text| text.split_once("imports:\n").unwrap().1.to_owned()).collect();
    world.write(&format!("access/{BINDING_FILE}"), &format!("role: consumer\nimports:\n{}", lists.concat()));
    world.commit("access", "Import them");
    world.ok(&access, &["notifications", "ack", "--all"]);
    publish(&names[..1], "1.1.0", "input");
    world.pass_days(1);
    publish(&names[1..], "1.1.0", "read");
    let told = world.json(&access, &["status"])["notifications"][0].clone();
    assert_eq!([&told["contract"], &told["import_state"]], ["paths-000", "broken"], "{told}");
}
