//! A contract of realistic size passes every operation.

#[path = "testutils/scripted.rs"]
mod scripted;

use scripted::Scripted;

const CONTRACT: &str = ".blue/contracts/platform/platform-api.yaml";

/// Publishes these versions in a domain of its own.
fn publish(sandbox: &Scripted, versions: &[&str]) {
    sandbox.ok("aperture", &["blue", "realm", "admin", "domain", "--name", "platform", "--repos", "aperture,fungal"]);
    for version in versions {
        let text = sandbox.fixture("make_large_contract.sh", &[version]);
        sandbox.write(&format!("aperture/{CONTRACT}"), &text);
        sandbox.ok("aperture", &["add", "."]);
        // A hook of a debug build on a busy machine may exceed the usual time limit.
        let commit = format!("cd aperture && GIT_BLUE_CHECK_TIMEOUT_MS=120000 git commit --quiet -m {version}");
        let (code, output) = sandbox.shell(&commit);
        assert_eq!(code, 0, "{output}");
    }
}

#[test]
fn fixture_is_large_and_within_limits() {
    let sandbox = Scripted::new();
    let text = sandbox.fixture("make_large_contract.sh", &["1.0.0"]);
    let definitions = text.lines().filter(|line| line.starts_with("    ") && line[4..].starts_with(char::is_uppercase));
    assert!((150_000..400_000).contains(&text.len()), "{}", text.len());
    assert!(definitions.count() > 200);
    assert!(text.matches("$ref").count() > 300);
}

#[test]
fn every_version_is_published_and_notified_as_one_change() {
    let sandbox = Scripted::realm();
    publish(&sandbox, &["1.0.0", "1.1.0", "2.0.0"]);
    let log = sandbox.ok("aperture", &["blue", "contract", "log", "platform/platform-api"]);
    let subjects = log.lines().map(|line| line.rsplit("platform  ").next().unwrap_or_default());
    let subjects: Vec<_> = subjects.map(|text| text.split("  ").next().unwrap_or_default().trim_end()).collect();
    assert_eq!(subjects, ["platform-api 1.1.0 -> 2.0.0", "platform-api 1.0.0 -> 1.1.0", "add platform-api 1.0.0"]);
    // fungal saw another domain before it joined this one.
    let status = sandbox.ok("fungal", &["blue", "status"]);
    assert!(status.contains("aperture added platform/platform-api 2.0.0"), "{status}");
    let again = sandbox.ok("fungal", &["blue", "status"]);
    assert!(!again.contains("you have not seen"), "{again}");
}

#[test]
fn published_content_equals_the_file() {
    let sandbox = Scripted::realm();
    publish(&sandbox, &["1.0.0", "1.1.0"]);
    let get = ["blue", "contract", "get", "platform/platform-api", "--format", "yaml"];
    let written = sandbox.fixture("make_large_contract.sh", &["1.1.0"]);
    let text = sandbox.ok("fungal", &get);
    sandbox.write("aperture/again.yaml", &text);
    assert!(text.len() > 150_000 && text.contains("SnapshotSpec"), "{}", text.len());
    assert_eq!(text.matches("$ref").count(), written.matches("$ref").count());
    // The document from the realm is unchanged.
    let edit = ["blue", "contract", "edit", "platform/platform-api", "--file", "again.yaml"];
    assert_eq!(sandbox.ok("aperture", &edit), "nothing to publish\n");
}

#[test]
fn finds_a_break_deep_inside() {
    let sandbox = Scripted::realm();
    publish(&sandbox, &[]);
    let text = sandbox.fixture("make_large_contract.sh", &["1.0.0"]);
    sandbox.write(&format!("aperture/{CONTRACT}"), &text.replacen("#/$defs/BucketStatus", "#/$defs/BucketState", 1));
    let (code, output) = sandbox.run("aperture", &["blue", "check", "--worktree"]);
    assert_eq!(code, 1, "{output}");
    assert!(output.contains("BucketState"), "{output}");
}
