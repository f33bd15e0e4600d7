//! The Code Quality report of GitLab: see "Code Quality report format" in its documentation.

use serde_json::{Value, json};

use super::{Level, Report, fingerprint, message};

/// Where a finding is shown that is in no file: GitLab drops one without a place.
const NOWHERE: &str = ".blue/config.yaml";

/// Returns the report, a JSON array.
pub fn render(report: Report<'_>) -> String {
    let issue = |(level, finding)| -> Value {
        let (severity, file) = match level {
            Level::Error => ("major", report.file(finding)),
            Level::Warning => ("minor", report.file(finding)),
        };
        json!({
            "description": message(finding),
            "check_name": finding.code,
            "fingerprint": fingerprint(finding),
            "severity": severity,
            "location": {
                "path": file.unwrap_or_else(|| NOWHERE.to_owned()),
                "lines": { "begin": finding.line.unwrap_or(1) },
            },
        })
    };
    let issues: Vec<_> = report.findings().map(issue).collect();
    format!("{:#}\n", Value::Array(issues))
}
