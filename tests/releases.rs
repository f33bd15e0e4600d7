//! Real schemas: consecutive releases of npm packages are decided quickly, with valid witnesses.
//!
//! They are downloaded to `target/peers` (by `make peers`), or to `GIT_BLUE_PEERS`.

#![expect(clippy::print_stdout, reason = "how long releases took")]

#[path = "testutils/peers.rs"]
mod peers;

use std::time::{Duration, Instant};

use git_blue::model::compatibility::{self, Comparison, Limits, Options, SchemaVerdict};
use peers::peers;
use serde_json::Value;

/// The time limit of a pair, which takes longer without optimisation and beside other tests.
const MOST: Duration = Duration::from_millis(if cfg!(debug_assertions) { 20_000 } else { 500 });

fn schema(release: &str) -> Value {
    let file = peers().join("schemas").join(format!("{release}.json"));
    let text = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}: run make peers", file.display()));
    serde_json::from_slice(&text).unwrap()
}

fn compare(old: &Value, new: &Value) -> (Comparison, Duration) {
    let start = Instant::now();
    let options = Options { limits: Limits { time: MOST, ..Limits::default() }, ..Options::default() };
    let found = compatibility::compare(old, new, &options, &|| start.elapsed()).unwrap();
    (found, start.elapsed())
}

/// Returns errors in the verdicts of a pair.
fn wrong(old: &Value, new: &Value, found: &Comparison) -> Vec<String> {
    let [old, new] = [old, new].map(|schema| jsonschema::options().offline().build(schema).unwrap());
    let mut wrong = Vec::new();
    for (readings, inner, outer) in [(&found.backwards, &new, &old), (&found.forwards, &old, &new)] {
        for verdict in [&readings.strict, &readings.lenient] {
            match verdict {
                SchemaVerdict::Compatible => {}
                SchemaVerdict::Incompatible { difference }
                    if difference.witness.as_ref().is_some_and(|one| inner.is_valid(one) && !outer.is_valid(one)) => {}
                other => wrong.push(format!("{other:?}")),
            }
        }
    }
    wrong
}

fn are_decided(package: &str, versions: &[&str]) {
    let schemas: Vec<_> = versions.iter().map(|version| schema(&format!("{package}@{version}"))).collect();
    let mut times = Vec::new();
    for (at, pair) in schemas.windows(2).enumerate() {
        let (found, time) = compare(&pair[0], &pair[1]);
        let what = format!("{package} {} -> {}", versions[at], versions[at + 1]);
        assert_eq!(wrong(&pair[0], &pair[1], &found), [""; 0], "{what}");
        assert!(time < MOST, "{what}: {time:?}");
        times.push(time);
    }
    times.sort_unstable();
    println!(
        "{package}: {} pairs, {:?} in the middle, {:?} at most",
        times.len(),
        times[times.len() / 2],
        times.last()
    );
}

#[test]
fn releases_of_knip_are_decided() {
    let versions = [
        "6.36.0", "6.37.0", "6.38.0", "6.39.0", "6.40.0", "6.41.0", "6.42.0", "6.42.1", "6.43.0", "6.44.0", "6.44.1",
        "6.44.2",
    ];
    are_decided("knip", &versions);
}

#[test]
fn releases_of_turbo_are_decided() {
    let versions: Vec<_> = (0..12).map(|patch| format!("2.11.{patch}")).collect();
    are_decided("turbo", &versions.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn breaking_release_is_detected() {
    let (old, new) = (schema("knip@5.88.0"), schema("knip@6.0.0"));
    let (found, _) = compare(&old, &new);
    assert_eq!(wrong(&old, &new, &found), [""; 0]);
    assert_eq!(found.bump, compatibility::VersionBump::Major);
    let rules: Vec<_> = found.differences.iter().map(|one| &*one.rule).collect();
    assert!(rules.contains(&"widened-enum") && rules.contains(&"narrowed-enum"), "{rules:?}");
}
