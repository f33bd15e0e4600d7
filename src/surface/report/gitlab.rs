//! GitLab's Code Quality report: see "Code Quality report format" in its documentation. GitLab drops issues without a
//! location, and issues with a fingerprint that occurred before.

use serde_json::{Value, json};

use super::{Entry, Level, Report};

/// Returns the report as a JSON array.
pub fn render(report: &Report) -> String {
    let issues: Vec<_> = report.entries.iter().map(|entry| issue(report, entry)).collect();
    format!("{:#}\n", Value::Array(issues))
}

fn issue(report: &Report, entry: &Entry) -> Value {
    let (file, line) = entry.place.as_ref().map_or((&report.home, None), |place| (&place.file, place.line));
    let severity = match entry.level {
        Level::Error => "major",
        Level::Warning => "minor",
        Level::Note => "info",
    };
    json!({
        "description": entry.message,
        "check_name": entry.rule,
        "fingerprint": entry.fingerprint,
        "severity": severity,
        "location": { "path": file, "lines": { "begin": line.unwrap_or(1) } },
    })
}
