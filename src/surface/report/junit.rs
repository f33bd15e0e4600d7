//! JUnit XML: one case for each contract that was checked, and one for each that something else was found of.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::{Level, Report, message, subject};
use crate::model::check::Finding;

/// The case of what is about no contract.
const REPOSITORY: &str = "repository";

/// Returns the report, an XML document.
pub fn render(report: Report<'_>) -> String {
    let mut cases: BTreeMap<String, Vec<(Level, &Finding)>> = BTreeMap::new();
    for one in &report.body.schema_hashes {
        cases.entry(format!("{}/{}", one.domain, one.contract)).or_default();
    }
    for (level, finding) in report.findings() {
        cases.entry(subject(finding).unwrap_or_else(|| REPOSITORY.to_owned())).or_default().push((level, finding));
    }
    let fails = |level: Level| level == Level::Error || report.strict;
    let failed = cases.values().filter(|found| found.iter().any(|(level, _)| fails(*level))).count();
    let suites = html! {
        testsuites name="git blue check" tests=(cases.len()) failures=(failed) {
            testsuite name="git blue check" tests=(cases.len()) failures=(failed) errors="0" skipped="0" {
                @for (name, found) in &cases {
                    (case(report, name, found, &fails))
                }
            }
        }
    };
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", suites.into_string())
}

/// A case has one failure in JUnit: the first finding names it, its text has all of them.
fn case(report: Report<'_>, name: &str, found: &[(Level, &Finding)], fails: &impl Fn(Level) -> bool) -> Markup {
    let (failures, remarks): (Vec<_>, Vec<_>) = found.iter().copied().partition(|(level, _)| fails(*level));
    let class = name.split('/').next().unwrap_or(name);
    html! {
        testcase classname={ "git-blue." (class) } name=(name) {
            @if let Some((_, first)) = failures.first() {
                failure type=(first.code.as_ref()) message=(message(first)) { (lines(report, &failures)) }
            }
            @if !remarks.is_empty() {
                system-out { (lines(report, &remarks)) }
            }
        }
    }
}

fn lines(report: Report<'_>, found: &[(Level, &Finding)]) -> String {
    let line = |(level, finding): &(Level, &Finding)| {
        let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
        let place = report.file(finding).map(|file| format!("{file}{line}: ")).unwrap_or_default();
        format!("{place}{}: {} [{}]", level.word(), message(finding), finding.code)
    };
    found.iter().map(line).collect::<Vec<_>>().join("\n")
}
