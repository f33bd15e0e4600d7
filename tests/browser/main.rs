//! The page in a browser: headless Chromium, driven by playwright-core, looked at by axe-core. What is
//! checked is in `page.mjs`; a failed check fails the test with its words.
//!
//! Both are installed below `target/peers` (`.ci/run` does it), or wherever `GIT_BLUE_PEERS` says.

#![expect(clippy::print_stdout, reason = "how long pages took")]

#[path = "../fixtures/large_realm.rs"]
mod large_realm;
#[path = "../scripted/mod.rs"]
mod scripted;

use std::path::{Path, PathBuf};

use scripted::{FIXTURES, Scripted, variable};

/// When a look is taken: an hour after the last that happened.
const NOW: &str = "now 2026-01-26T10:00:00Z";

/// A realm, with a daemon that serves it.
struct Served(Scripted);

impl Served {
    fn new() -> Self {
        let realm = Scripted::new();
        realm.fixture("make_page_realm.sh", &[realm.path().to_str().unwrap()]);
        Self(realm)
    }

    /// Starts the daemon, lets a browser in and runs a check in it.
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

/// Returns where the browser's driver is installed.
fn peers() -> PathBuf {
    let named = variable("GIT_BLUE_PEERS").map(PathBuf::from);
    named.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target/peers"))
}

#[test]
fn every_page_shows_the_realm_and_no_browser_complains() {
    Served::new().holds("shows");
}

#[test]
fn a_repository_has_a_page_with_what_is_next_to_it() {
    Served::new().holds("repository");
}

#[test]
fn the_realm_is_shown_as_it_was() {
    Served::new().holds("past");
}

#[test]
fn what_matters_most_is_told_first() {
    Served::new().holds("severity");
}

#[test]
fn a_publish_appears_without_a_reload() {
    Served::new().holds("updates");
}

#[test]
fn everything_else_works_without_a_script() {
    Served::new().holds("plain");
}

#[test]
fn everybody_can_use_it() {
    Served::new().holds("everybody");
}

#[test]
fn what_a_contract_says_stays_text() {
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
fn ten_thousand_contracts_come_a_page_at_a_time() {
    let served = Served(Scripted::realm());
    let (_, variables) = served.0.shell("env");
    let variables: Vec<_> = variables.lines().filter_map(|line| line.split_once('=')).collect();
    let variables: Vec<_> = variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    let store = served.0.path().join("home/.blue/realms/aperture.git");
    large_realm::generate(&store, (10_000, large_realm::PER_DOMAIN), &variables);
    served.holds("many");
}

/// Writes the pictures of the docs anew where `UPDATE` asks for it.
#[test]
fn the_docs_show_what_it_looks_like() {
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
