//! schemathesis reads `/openapi.json`, generates valid and invalid requests, and validates the answers: no 5xx
//! status, no undescribed form, no invalid input accepted, nothing disclosed without the token.
//!
//! It is installed below `target/peers` (by `.ci/run`), or in `GIT_BLUE_PEERS`.

#[path = "../testutils/scripted.rs"]
mod scripted;

mod managers;

use scripted::{Scripted, peers};

/// Names of existing objects, so that requests reach them.
const KNOWN: &str = "\
[parameters]
\"path.realm\" = \"aperture\"
\"path.domain\" = \"s3-access\"
\"path.contract\" = \"s3-permissions\"
\"query.realm\" = \"aperture\"
\"query.repo\" = \"fungal\"
\"query.domain\" = \"s3-access\"
";

/// A payload may be any JSON, but not with numbers that many parsers round, which no schema can say of all numbers in it.
const PAYLOADS: &str = "\
[[operations]]
include-path = \"/realms/{realm}/contracts/{domain}/{contract}/validate\"
[operations.checks.positive_data_acceptance]
expected-statuses = [\"2xx\", 400, 401, 403, 404, 409, 429, \"5xx\"]
";

fn hold(parameters: &str) {
    let realm = Scripted::realm();
    realm.write("schemathesis.toml", &format!("{parameters}{PAYLOADS}"));
    let program = peers().join("py/bin/schemathesis");
    assert!(program.is_file(), "{} is missing: .ci/run installs it", program.display());
    // Other tests cover streams and MCP.
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
