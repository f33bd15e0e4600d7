//! The page as HTML; `tests/browser` tests it in a browser.

use serde_json::json;

use crate::{
    client::Daemon,
    world::{BINDING_FILE, CONTRACT_FILE, World, contract, importing},
};

const CONTRACT: &str = "/r/aperture/contracts/s3-access/s3-permissions";

/// Returns every page, with ordinary and unusual queries.
fn pages() -> Vec<String> {
    let queries = ["", "?q=perm", "?cursor=%00%ff", "?domain=s3-access", "?q=%22%3E%3Cscript%3E", "?=&&=%"];
    let lists = ["contracts", "sessions", "notifications"];
    let lists = lists.iter().flat_map(|list| queries.map(|query| format!("/r/aperture/{list}{query}")));
    let alone = [
        "/",
        "/r/aperture",
        "/r/aperture?broken=1&domain=s3-access",
        "/r/aperture/repos/access",
        "/r/aperture/repos/fungal?broken=1",
        "/r/aperture/domains/s3-access",
        CONTRACT,
        &format!("{CONTRACT}?version=1.0.0"),
        &format!("{CONTRACT}?from=1.0.0&to=1.1.0"),
        &format!("{CONTRACT}?from=&to="),
        "/r/aperture/notifications?repo=access&state=pending",
        "/r/aperture/sessions?ended=1",
    ]
    .map(str::to_owned);
    alone.into_iter().chain(lists).collect()
}

#[test]
fn pages_have_nothing_inline() {
    let world = World::pair();
    world.bump("1.1.0");
    let daemon = Daemon::start(&world);
    for path in pages() {
        let page = daemon.get(&path);
        // A stale cursor is answered with a page, too.
        let expected = if path.ends_with("contracts?cursor=%00%ff") { 409 } else { 200 };
        assert_eq!(page.status, expected, "{path}: {page:?}");
        assert_eq!(page.header("content-type"), "text/html; charset=utf-8");
        assert!(page.header("content-security-policy").starts_with("default-src 'none'"), "{path}");
        assert_eq!(page.header("x-content-type-options"), "nosniff");
        let text = page.text();
        assert!(text.starts_with("<!DOCTYPE html>") && text.ends_with("</html>"), "{path}");
        assert_eq!(text.matches("<script").count(), 1, "{path}");
        assert!(text.contains(r#"<script src="/assets/blue.js" defer></script>"#), "{path}");
        for inline in ["<style", " style=", " onload=", " onclick=", "javascript:"] {
            assert!(!text.contains(inline), "{path}: {inline}");
        }
    }
}

#[test]
fn proof_names_its_reading() {
    let world = World::pair();
    let text = contract("1.1.0").replace("  properties:\n", "  properties:\n    note: { type: string }\n");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &text);
    world.commit("fungal", "Add a note");
    let daemon = Daemon::start(&world);
    let page = daemon.get(&format!("{CONTRACT}?from=1.0.0&to=1.1.0")).is(200).text();
    assert!(page.contains("Forwards compatible: readers of 1.1.0 accept what 1.0.0 sent."), "{page}");
    assert!(page.contains("Read strictly: incompatible."), "{page}");
}

#[test]
fn refused_publication_needs_attention() {
    let world = World::pair();
    let daemon = Daemon::start(&world);
    let page = || daemon.get("/r/aperture/repos/fungal").is(200).text();
    assert!(!page().contains("not published"));
    world.write(&format!("fungal/{CONTRACT_FILE}"), "{");
    world.commit("fungal", "Break the file");
    let shown = page();
    assert!(shown.contains("not published") && shown.contains("has unpublished changes in s3-access"), "{shown}");
}

#[test]
fn open_offer_needs_attention() {
    let world = World::pair();
    let daemon = Daemon::start(&world);
    world.ok(&world.path("fungal"), &["contract", "transfer", "s3-access/s3-permissions", "--to", "access"]);
    for repo in ["fungal", "access"] {
        let shown = daemon.get(&format!("/r/aperture/repos/{repo}")).is(200).text();
        assert!(shown.contains(" is offered to ") && shown.contains("not accepted yet"), "{shown}");
        let folder = world.path(repo).display().to_string();
        assert!(shown.contains(&format!("git blue -C {folder} status")), "any directory: {shown}");
    }
    assert!(daemon.get(CONTRACT).is(200).text().contains("Offered to"));
    world.bump("2.0.0");
    let overview = daemon.get("/r/aperture").is(200).text();
    assert!(overview.contains("git blue --realm aperture contract impact s3-access/s3-permissions"), "{overview}");
}

#[test]
fn unchanged_page_is_not_sent_again() {
    let world = World::pair();
    let daemon = Daemon::start(&world);
    for path in ["/r/aperture", CONTRACT, "/assets/blue.css", "/assets/blue.js", "/assets/blue.svg"] {
        let first = daemon.get(path);
        let known = format!("If-None-Match: {}\r\n", first.header("etag"));
        assert_eq!(daemon.ask("GET", path, &known, b"").status, 304, "{path}");
        assert_eq!(daemon.ask("HEAD", path, "", b"").body, b"", "{path}");
    }
    let before = daemon.get(CONTRACT);
    world.bump("1.1.0");
    let known = format!("If-None-Match: {}\r\n", before.header("etag"));
    let after = daemon.ask("GET", CONTRACT, &known, b"");
    assert_eq!(after.status, 200);
    assert!(after.text().contains("1.1.0"));
}

#[test]
fn missing_object_has_a_page() {
    let world = World::pair();
    let daemon = Daemon::start(&world);
    for (path, status) in [
        ("/r/nowhere", 404),
        ("/r/", 400),
        ("/r/..", 400),
        ("/r/%2e%2e", 400),
        ("/r/aperture/", 404),
        ("/r/aperture/contracts/", 404),
        ("/r/aperture/contracts/b/c/d", 404),
        ("/r/aperture/contracts/s3-access/none", 404),
        ("/r/aperture/contracts/none/none", 404),
        ("/r/aperture/contracts?domain=none", 404),
        ("/r/aperture/notifications?repo=none", 404),
        ("/r/aperture/notifications?at=2026-01-01", 400),
        ("/r/aperture/sessions?at=2026-01-01", 400),
        ("/r/aperture/repos/none", 404),
        ("/r/aperture/repos", 404),
        ("/r/aperture/domains/none", 404),
        ("/r/aperture/domains/..", 400),
        ("/r/aperture?domain=%2f", 400),
        ("/r/aperture?at=2001-01-01", 404),
        ("/r/aperture?at=no+moment", 404),
        ("/assets/../blue.css", 404),
        ("/assets/", 404),
        ("/r/..%2f..", 400),
        ("/r/aperture/notifications?state=odd", 400),
        (&format!("{CONTRACT}?version=odd"), 400),
        (&format!("{CONTRACT}?version=9.9.9"), 404),
    ] {
        let page = daemon.get(path);
        assert_eq!((page.status, page.header("content-type")), (status, "text/html; charset=utf-8"), "{path}");
    }
    // If one of two versions is missing, the rest of the page is shown.
    let page = daemon.get(&format!("{CONTRACT}?from=7.0.0"));
    assert_eq!(page.status, 200);
    assert!(page.text().contains("s3-access/s3-permissions 7.0.0 was never published"));
}

#[test]
fn empty_realm_shows_the_first_command() {
    let world = World::solo();
    world.ok(&world.root(), &["realm", "admin", "init", "--name", "empty"]);
    let daemon = Daemon::start(&world);
    let page = daemon.get("/r/empty/contracts").is(200).text();
    assert!(page.contains("git blue init --realm empty"), "{page}");
}

#[test]
fn contract_without_a_release_shows_its_newest_pre_release() {
    let world = World::pair();
    let file = "fungal/.blue/contracts/s3-access/young.yaml";
    for version in ["0.1.0-alpha.2", "0.1.0-alpha.10"] {
        world.write(file, &format!("name: young\nversion: \"{version}\"\nowner: fungal\n"));
        world.commit("fungal", version);
    }
    let daemon = Daemon::start(&world);
    let page = daemon.get("/r/aperture/contracts/s3-access/young");
    assert_eq!(page.status, 200);
    let text = page.text();
    assert!(text.contains("<title>s3-access/young 0.1.0-alpha.10 ") && text.contains("0.1.0-alpha.2"), "{text}");
    assert!(!text.contains("not the current version"), "{text}");
}

#[test]
fn page_shows_the_past() {
    let world = World::pair();
    world.bump("1.1.0");
    world.bump("1.2.0");
    let timeline = world.json(&world.path("access"), &["contract", "timeline", "s3-access/s3-permissions"]);
    let mut entries = timeline["entries"].as_array().unwrap().iter();
    let then = entries.find(|entry| entry["version"] == "1.1.0").unwrap()["time"].as_str().unwrap();
    let daemon = Daemon::start(&world);
    for path in ["/r/aperture", "/r/aperture/repos/access", "/r/aperture/domains/s3-access", CONTRACT] {
        let page = daemon.get(&format!("{path}?at={then}"));
        assert_eq!(page.status, 200, "{path}: {page:?}");
        let text = page.text();
        assert!(text.contains("1.1.0") && !text.contains("1.2.0"), "{path}: {text}");
        assert!(text.contains("<strong>History:</strong>") && text.contains(&format!("<a href=\"{path}\">")), "{text}");
        assert!(!text.contains("id=\"live\"") && !text.contains("pending"), "{path}: {text}");
        let links = text.split("href=\"/r/").skip(1).filter_map(|rest| rest.split('"').next());
        let lost: Vec<_> = links.filter(|link| !link.contains("at=")).collect();
        assert_eq!(lost, [path.trim_start_matches("/r/")], "one link leads back to now");
        assert!(daemon.get(path).text().contains("1.2.0"), "{path}");
    }
}

#[test]
fn repository_page_shows_imports_and_importers() {
    let world = World::pair();
    world.bump("1.1.0");
    let daemon = Daemon::start(&world);
    let consumer = daemon.get("/r/aperture/repos/access").text();
    for text in ["Imports", "/contracts/s3-access/s3-permissions", "1.1.0", "No contracts of its own"] {
        assert!(consumer.contains(text), "{text}: {consumer}");
    }
    let owner = daemon.get("/r/aperture/repos/fungal").text();
    assert!(owner.contains("No imports.") && owner.contains("/repos/access"), "{owner}");
}

#[test]
fn cycles_and_deprecated_contracts_need_attention() {
    let world = World::pair();
    let deprecated = "deprecated: { since: \"1.0.0\", sunset: 2027-01-01 }\n";
    let contract = format!("name: back\nversion: \"1.0.0\"\nowner: access\n{deprecated}");
    world.write("access/.blue/contracts/s3-access/back.yaml", &contract);
    world.commit("access", "Answer");
    let binding = std::fs::read_to_string(world.path(&format!("fungal/{BINDING_FILE}"))).unwrap();
    let import = "imports: [ { contract: back, version: ^1.0.0, binding: models/s3_paths.py } ]\n";
    world.write(&format!("fungal/{BINDING_FILE}"), &format!("{}{import}", binding.replace("provider", "both")));
    world.commit("fungal", "Hear the answer");
    let daemon = Daemon::start(&world);
    let topology = daemon.get("/realms/aperture/topology").json();
    let cycle = "access -(s3-access/back)-> fungal -(s3-access/s3-permissions)-> access";
    assert_eq!(topology["cycles"], json!([cycle]));
    let domain = &topology["domains"][0];
    assert_eq!(domain["contracts"][0]["deprecated"]["sunset"], "2027-01-01", "{domain:#}");
    assert_eq!(domain["contracts"][1].get("deprecated"), None);
    let text = daemon.get("/r/aperture").text();
    for text_of in ["Dependency cycle: ", &cycle.replace('>', "&gt;"), "served until <strong>2027-01-01</strong>"] {
        assert!(text.contains(text_of), "{text_of}: {text}");
    }
}

#[test]
fn contract_page_shows_flow_and_withdrawn_versions() {
    let world = World::pair();
    let requests = contract("2.0.0").replace("owner: fungal\n", "owner: fungal\nflow: consumer-to-provider\n");
    world.write(&format!("fungal/{CONTRACT_FILE}"), &requests);
    world.commit("fungal", "2.0.0");
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=2.0.0"));
    world.commit("access", "Send");
    let daemon = Daemon::start(&world);
    let holds = daemon.get(CONTRACT).text().to_owned();
    assert!(holds.contains("<dt>Flow</dt><dd>consumers send it to the owner</dd>"), "{holds}");
    assert!(!daemon.get(&format!("{CONTRACT}?version=1.0.0")).text().contains("<dt>Flow</dt>"));
    assert!(holds.contains("breaks</span> the flow"), "{holds}");
    let state = |word: &str| daemon.get(CONTRACT).text().contains(&format!("\">{word}</span></td>"));
    assert!(state("holds"), "{holds}");
    let (fungal, at) = (world.path("fungal"), "s3-access/s3-permissions");
    world.ok(&fungal, &["contract", "yank", at, "2.0.0", "--reason", "a mistake"]);
    assert!(state("yanked") && !state("holds"));
    world.ok(&fungal, &["contract", "retire", at, "--reason", "unused", "--force"]);
    assert!(state("retired") && !state("holds"));
}

#[test]
fn browser_without_login_gets_instructions() {
    let world = World::pair();
    let daemon = Daemon::start(&world);
    let stranger = format!("Host: 127.0.0.1:{}\r\n", daemon.port);
    for path in ["/", "/r/aperture", "/assets/blue.js"] {
        let page = daemon.ask_as("GET", path, &stranger, b"");
        assert_eq!((page.status, page.header("content-type")), (401, "text/html; charset=utf-8"), "{path}");
        let text = page.text();
        assert!(text.contains("git blue daemon open") && !text.contains("aperture"), "{path}");
        assert!(!text.contains("daemon token"), "{path}: a browser cannot send it");
        assert!(!text.contains("/assets/"), "{path}: they would be refused");
    }
    let refused = daemon.ask("POST", "/r/aperture", "", b"");
    assert_eq!((refused.status, refused.header("allow")), (405, "GET, HEAD, OPTIONS"));
    assert_eq!(daemon.ask("OPTIONS", "/r/aperture", "", b"").header("allow"), "GET, HEAD, OPTIONS");
    assert_eq!(daemon.ask_as("POST", "/r/aperture", &stranger, b"").status, 401);
}
