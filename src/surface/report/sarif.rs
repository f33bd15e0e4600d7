//! SARIF 2.1.0 (OASIS), as code scanning reads it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Report, fingerprint, message};
use crate::model::check::Finding;

/// Where the schema of the format lies.
const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// Most results of a run that GitHub takes.
const MAX: usize = 25_000;

/// Returns the report, a JSON document.
pub fn render(report: Report<'_>) -> String {
    let codes: BTreeSet<_> = report.findings().map(|(_, finding)| &*finding.code).collect();
    let rule = |code: &&str| json!({ "id": code, "shortDescription": { "text": code.to_string().replace('-', " ") } });
    let rules: Vec<Value> = codes.iter().map(rule).collect();
    let result = |(level, finding): (super::Level, &Finding)| {
        json!({
            "ruleId": finding.code,
            "ruleIndex": codes.iter().position(|code| *code == &*finding.code),
            "level": level.word(),
            "message": { "text": message(finding) },
            "locations": location(report, finding).into_iter().collect::<Vec<_>>(),
            "partialFingerprints": { "gitBlue/v1": fingerprint(finding) },
        })
    };
    let results: Vec<_> = report.findings().take(MAX).map(result).collect();
    let driver = json!({
        "name": "git-blue",
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "rules": rules,
    });
    let run = json!({ "tool": { "driver": driver }, "columnKind": "unicodeCodePoints", "results": results });
    format!("{:#}\n", json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] }))
}

fn location(report: Report<'_>, finding: &Finding) -> Option<Value> {
    let file = report.file(finding)?;
    let mut place = json!({ "artifactLocation": { "uri": uri(&file) } });
    // A region needs a line; columns count from 1 there as here.
    if let Some(line) = finding.line {
        place["region"] = json!({ "startLine": line });
        if let Some(column) = finding.column {
            place["region"]["startColumn"] = json!(column);
        }
    }
    Some(json!({ "physicalLocation": place }))
}

/// Returns a path as a relative reference (RFC 3986).
fn uri(path: &str) -> String {
    let encode = |byte: u8| match byte {
        b'/' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    path.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_reference() {
        assert_eq!(uri(".blue/contracts/d/c.yaml"), ".blue/contracts/d/c.yaml");
        assert_eq!(uri("a b/ü#?:.yaml"), "a%20b/%C3%BC%23%3F%3A.yaml");
    }
}
