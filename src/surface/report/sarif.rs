//! SARIF 2.1.0 (OASIS) for code scanning, with the properties that GitHub's "SARIF support for code scanning"
//! requires, and within its limits.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Entry, Outcome, Place, Related, RelatedFile, Report};
use crate::model::percent;

/// The URL of the format's schema.
const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// The maximum number of results in a run that GitHub accepts.
const MAX: usize = 25_000;
/// The base of the URIs of files in the realm.
const REALM: &str = "REALM";

/// Returns the report as a JSON document.
pub fn render(report: &Report) -> String {
    if report.outcome == Outcome::NotRun {
        return document(&not_run(report));
    }
    let entries: Vec<_> = report.entries.iter().take(MAX).collect();
    // Entries are sorted, so the first one of a rule is the worst.
    let mut rules: BTreeMap<&str, &Entry> = BTreeMap::new();
    for entry in &entries {
        rules.entry(&entry.rule).or_insert(entry);
    }
    let index: BTreeMap<&str, usize> = rules.keys().copied().zip(0..).collect();
    let results: Vec<_> = entries.iter().map(|entry| result(report, entry, index[&*entry.rule])).collect();
    let driver = json!({
        "name": "git-blue",
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "rules": rules.into_values().map(rule).collect::<Vec<_>>(),
    });
    let mut run = json!({ "tool": { "driver": driver }, "columnKind": "unicodeCodePoints", "results": results });
    let is_of_realm = |entry: &&Entry| matches!(&entry.old, Some(Related { file: RelatedFile::Realm(_), .. }));
    if entries.iter().any(is_of_realm) {
        let text = "The realm: `git blue contract get DOMAIN/CONTRACT --version VERSION` shows DOMAIN/CONTRACT/VERSION";
        run["originalUriBaseIds"] = json!({ REALM: { "description": { "text": text } } });
    }
    if !report.notes.is_empty() {
        let note = |note: &String| json!({ "level": "note", "message": { "text": note } });
        let notes: Vec<_> = report.notes.iter().map(note).collect();
        run["invocations"] = json!([{ "executionSuccessful": true, "toolExecutionNotifications": notes }]);
    }
    document(&run)
}

fn document(run: &Value) -> String {
    format!("{:#}\n", json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] }))
}

/// Returns the run of a command that could not run. Without results, it does not say that earlier findings are gone.
fn not_run(report: &Report) -> Value {
    let notify = |entry: &Entry| json!({ "level": "error", "message": { "text": entry.message }, "descriptor": { "id": entry.rule } });
    let notifications: Vec<_> = report.entries.iter().map(notify).collect();
    let driver = json!({ "name": "git-blue", "semanticVersion": env!("CARGO_PKG_VERSION") });
    let invocation = json!({ "executionSuccessful": false, "toolConfigurationNotifications": notifications });
    json!({ "tool": { "driver": driver }, "invocations": [invocation], "results": null })
}

fn rule(entry: &Entry) -> Value {
    let words = entry.rule.replace('-', " ");
    json!({
        "id": entry.rule,
        "shortDescription": { "text": words },
        "fullDescription": { "text": entry.meaning.unwrap_or(&words) },
        "help": { "text": "See docs/troubleshooting.md and docs/rules.md of git blue." },
        "defaultConfiguration": { "level": entry.level.word() },
    })
}

fn result(report: &Report, entry: &Entry, rule: usize) -> Value {
    let mut result = json!({
        "ruleId": entry.rule,
        "ruleIndex": rule,
        "level": entry.level.word(),
        "message": { "text": entry.message },
        "locations": [location(report, entry.place.as_ref())],
        // GitHub identifies an alert by primaryLocationLineHash, and computes it from the line if it is missing.
        "partialFingerprints": { "primaryLocationLineHash": entry.fingerprint, "gitBlue/v1": entry.fingerprint },
    });
    if let Some(old) = &entry.old {
        result["relatedLocations"] = json!([related(old)]);
    }
    if entry.is_approved {
        result["suppressions"] = json!([{ "kind": "external", "status": "accepted", "justification": entry.message }]);
    }
    result
}

fn location(report: &Report, place: Option<&Place>) -> Value {
    let (file, line, column) = match place {
        Some(Place { file, line, column }) => (file, line.unwrap_or(1), column.unwrap_or(1)),
        None => (&report.home, 1, 1),
    };
    json!({ "physicalLocation": { "artifactLocation": { "uri": uri(file) }, "region": region(line, column) } })
}

fn related(old: &Related) -> Value {
    let file = match &old.file {
        RelatedFile::Local(file) => json!({ "uri": uri(file) }),
        RelatedFile::Realm(file) => json!({ "uri": uri(file), "uriBaseId": REALM }),
    };
    let mut place = json!({ "artifactLocation": file });
    if let Some(line) = old.line {
        place["region"] = region(line, 1);
    }
    json!({ "physicalLocation": place, "message": { "text": old.message } })
}

/// Returns the start of a region. SARIF counts columns from 1, as the entries do.
fn region(line: u32, column: u32) -> Value {
    json!({ "startLine": line, "startColumn": column, "endLine": line, "endColumn": column.saturating_add(1) })
}

/// Returns a path as a relative URI reference (RFC 3986).
fn uri(path: &str) -> String {
    percent::encode(path, b"/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_a_uri_reference() {
        assert_eq!(uri(".blue/contracts/d/c.yaml"), ".blue/contracts/d/c.yaml");
        assert_eq!(uri("a b/ü#?:.yaml"), "a%20b/%C3%BC%23%3F%3A.yaml");
    }
}
