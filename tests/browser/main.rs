//! The page in headless Chromium, driven by playwright-core and checked by axe-core. The checks are in `page.mjs`; a
//! failed check fails the test with its message.
//!
//! Both are installed below `target/peers` (by `.ci/run`), or in `GIT_BLUE_PEERS`.

#![expect(clippy::print_stdout, reason = "how long pages took")]

#[path = "../testutils/large_realm.rs"]
mod large_realm;
#[path = "../testutils/scripted.rs"]
mod scripted;

use std::path::Path;

use scripted::{FIXTURES, Scripted, peers, variable};

/// The time of the checks: an hour after the last change.
const NOW: &str = "now 2026-01-26T10:00:00Z";

/// A realm, and a daemon that serves it.
struct Served(Scripted);

impl Served {
    fn new() -> Self {
        let realm = Scripted::new();
        realm.fixture("make_page_realm.sh", &[realm.path().to_str().unwrap()]);
        Self(realm)
    }

    /// Starts the daemon, logs a browser in and runs a check in it.
    fn holds(&self, check: &str) {
        let script = format!("{}/tests/browser/page.mjs", env!("CARGO_MANIFEST_DIR"));
        let (code, output) = self.0.shell(&format!(
            "{NOW}\nexport GIT_BLUE_PEERS='{}' PICTURES='{}'\n\
             git blue daemon start --port 0 && url=$(git blue daemon open --print) && node '{script}' {check} \"$url\"",
            peers().display(),
            Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/screenshots").display(),
        ));
        assert_eq!(code, 0, "{check}: {output}");
        let measured = output.lines().filter(|line| line.starts_with("measured: "));
        measured.for_each(|line| println!("{line}"));
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.0.shell("git blue daemon stop");
    }
}

#[test]
fn pages_load_without_browser_errors() {
    Served::new().holds("shows");
}

#[test]
fn repository_page_shows_neighbors() {
    Served::new().holds("repository");
}

#[test]
fn past_realm_is_shown() {
    Served::new().holds("past");
}

#[test]
fn most_urgent_comes_first() {
    Served::new().holds("severity");
}

#[test]
fn publish_appears_without_reload() {
    Served::new().holds("updates");
}

#[test]
fn works_without_script() {
    Served::new().holds("plain");
}

#[test]
fn pages_are_accessible() {
    Served::new().holds("everybody");
}

#[test]
fn contract_text_is_escaped() {
    let served = Served::new();
    served.0.write(
        "fungal/.blue/contracts/events/evil.yaml",
        r#"name: evil
version: "1.0.0"
owner: fungal
description: "<script>alert(1)</script> <img src=x onerror=alert(2)> \u202e"
schema: { type: object, title: "</code></pre><script>alert(3)</script>", properties: { "<b onload=alert(4)>": {} } }
value: { "\"><iframe srcdoc=x>": "javascript:alert(5)" }
validation: { exporter: "<script>alert(6)</script>" }
evolution: [ { version: "1.0.0", changes: ["<svg onload=alert(7)>"] } ]
"#,
    );
    let (code, output) =
        served.0.shell(&format!("{NOW}\ncd fungal && git add . && git commit -qm '<script>alert(8)</script>'"));
    assert_eq!(code, 0, "{output}");
    served.holds("hostile");
}

#[test]
fn ten_thousand_contracts_are_paged() {
    let served = Served(Scripted::realm());
    let (_, variables) = served.0.shell("env");
    let variables: Vec<_> = variables.lines().filter_map(|line| line.split_once('=')).collect();
    let variables: Vec<_> = variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let store = served.0.path().join("home/.blue/realms/aperture.git");
    large_realm::generate(&store, (10_000, large_realm::PER_DOMAIN), &variables);
    served.holds("many");
}

/// Takes the screenshots of the docs again if `UPDATE` is set.
#[test]
fn screenshots_in_docs_are_small_pngs() {
    if variable("UPDATE").is_some() {
        Served::new().holds("pictures");
    }
    for name in ["overview", "overview-dark", "contract", "contract-narrow", "repository"] {
        let picture = Path::new(FIXTURES).join(format!("../../docs/screenshots/{name}.png"));
        let bytes =
            std::fs::read(&picture).unwrap_or_else(|error| panic!("{}: {error}: run with UPDATE=1", picture.display()));
        assert!(bytes.starts_with(b"\x89PNG") && bytes.len() < 200_000, "{}: {} bytes", picture.display(), bytes.len());
    }
}
