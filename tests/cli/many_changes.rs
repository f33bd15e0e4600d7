//! Ten thousand changes in one domain: lists are paged.

use std::fmt::Write as _;

use serde_json::Value;

use crate::world::{DOMAIN_REF, World};

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
