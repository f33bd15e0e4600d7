//! schemathesis reads `/openapi.json`, makes up requests of every kind that it allows and many that it does
//! not, and holds the answers to it: no status of the 5xx kind, no shape that is not described, nothing
//! accepted that should not be, nothing told without the token.
//!
//! It is installed below `target/peers` (`.ci/run` does it), or wherever `GIT_BLUE_PEERS` says.

#[path = "../scripted/mod.rs"]
mod scripted;

mod managers;

use std::path::{Path, PathBuf};

use scripted::{Scripted, variable};

/// The names of what is there, so that more is asked than who is not.
const KNOWN: &str = "\
[parameters]
\"path.realm\" = \"aperture\"
\"path.domain\" = \"s3-access\"
\"path.contract\" = \"s3-permissions\"
\"query.realm\" = \"aperture\"
\"query.repo\" = \"fungal\"
\"query.domain\" = \"s3-access\"
";

fn peers() -> PathBuf {
    let named = variable("GIT_BLUE_PEERS").map(PathBuf::from);
    named.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target/peers"))
}

fn hold(config: &str) {
    let realm = Scripted::realm();
    realm.write("schemathesis.toml", config);
    let program = peers().join("py/bin/schemathesis");
    assert!(program.is_file(), "{} is missing: .ci/run installs it", program.display());
    // What streams, and what another protocol says, is held by suites of its own.
    let (code, output) = realm.shell(&format!(
        "git blue daemon start --port 0 --quiet >/dev/null
url=$(git blue daemon status --json | sed -n 's/.*\"url\": \"\\(.*\\)\".*/\\1/p')
token=$(git blue daemon token)
'{}' --config-file schemathesis.toml run \"$url\"openapi.json -H \"Authorization: Bearer $token\" \
--exclude-path /events --exclude-path /mcp --exclude-path /open \
--max-examples 40 --seed 7 --no-color
code=$?
git blue daemon status --json | grep running
git blue daemon stop --quiet >/dev/null
exit $code",
        program.display()
    ));
    assert_eq!(code, 0, "{output}");
    assert!(output.contains("\"running\": true"), "{output}");
}

#[test]
fn generated_requests_are_answered_as_described() {
    hold("");
}

#[test]
fn generated_requests_for_existing_objects_are_answered_as_described() {
    hold(KNOWN);
}
