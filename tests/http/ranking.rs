//! The most important change comes first everywhere, in a realm of realistic size.

use serde_json::Value;

use crate::{
    client::Daemon,
    team_realm::{self, DOMAINS, REPOS, affected, repo},
    world::World,
};

/// The maximum number of lines of `git blue status`.
const MAX_LINES: usize = 30;

#[test]
fn broken_import_is_listed_first() {
    let world = World::new();
    team_realm::make(&world);
    let affected = affected();
    assert!(affected.len() >= 5, "{affected:?}");
    for (name, broken) in &affected {
        let path = world.path(name);
        let greeting = world.feed("git", &path, &["blue", "hook", "claude-session-start"], "{}").exits(0).stdout;
        let news = greeting.split("Broken: ").nth(1).unwrap_or_default();
        assert!(broken.iter().all(|one| news.contains(one)), "{name}: {greeting}");
        let told = world.json(&path, &["mcp", "test-tool", "realm_status"]);
        let first = &told["structuredContent"]["notifications"][0];
        assert_eq!(first["rank"], "broken", "{name}: {first}");
        let named = format!("{}/{}", first["domain"].as_str().unwrap(), first["contract"].as_str().unwrap());
        assert!(broken.contains(&named), "{name}: {first}");
        let listed = world.json(&path, &["notifications", "list"]);
        assert_eq!(listed["notifications"][0]["id"], first["id"]);
        let status = world.ok(&path, &["status", "--peek"]).stdout;
        for (line, one) in status.lines().skip(1).zip(broken) {
            assert!(line.contains(one) && line.contains("broken"), "{name}: {status}");
        }
    }
    for at in 0..REPOS {
        let status = world.ok(&world.path(&repo(at)), &["status", "--peek"]).stdout;
        assert!(status.lines().count() <= MAX_LINES, "{}: {status}", repo(at));
        assert!(status.contains("30 repositories, 12 domains, 60 contracts"), "{status}");
    }
    let whole = world.ok(&world.path(&repo(0)), &["status", "--peek", "--all"]).stdout;
    assert!((0..REPOS).all(|at| whole.contains(&repo(at))) && !whole.contains(&world.root().display().to_string()));
    let verbose = world.ok(&world.path(&repo(0)), &["status", "--peek", "--all", "-v"]).stdout;
    assert!(verbose.contains(&world.path(&repo(DOMAINS)).display().to_string()), "{verbose}");
    pages_join(&world, &affected[0].0);
    page(&world, &affected);
}

/// A paged list has everything once, in the order of the whole list.
fn pages_join(world: &World, name: &str) {
    let list = |more: &[&str]| world.json(&world.path(name), &[&["notifications", "list"], more].concat());
    let ids = |answer: &Value| -> Vec<String> {
        answer["notifications"].as_array().unwrap().iter().map(|one| one["id"].to_string()).collect()
    };
    let whole = ids(&list(&["--all"]));
    let (mut joined, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let answer = match &cursor {
            Some(cursor) => list(&["--limit", "2", "--cursor", cursor]),
            None => list(&["--limit", "2"]),
        };
        joined.extend(ids(&answer));
        cursor = answer["next_cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(joined, whole);
}

fn page(world: &World, affected: &[(String, Vec<String>)]) {
    let daemon = Daemon::start(world);
    let page = daemon.get("/r/aperture").text();
    let attention = page.split("id=\"attention\"").nth(1).unwrap();
    let first = attention.split("class=\"kind\"").nth(1).unwrap();
    let names = |(repo, broken): &(String, Vec<String>)| {
        first.contains(repo) && broken.iter().any(|one| one.split('/').all(|part| first.contains(part)))
    };
    assert!(first.contains("broken") && affected.iter().any(names), "{first}");
    // The counts of the page match the list.
    let total = daemon.get("/notifications?state=pending").json()["total"].as_u64().unwrap();
    let counted = page.split("Pending changes</dt>").nth(1).unwrap().split("</dd>").next().unwrap();
    assert!(counted.ends_with(&format!(">{total}</a>")), "{total}: {counted}");
    let first = &daemon.get("/notifications?state=pending&limit=1").json()["notifications"][0];
    assert_eq!(first["rank"], "broken");
}
