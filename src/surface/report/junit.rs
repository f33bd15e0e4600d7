//! JUnit XML, with a case for each contract and direction that was checked, and one for everything else that has
//! findings. If the command could not run, there is one case with an error.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::{Case, Entry, Level, Outcome, Report};

/// Returns the report as an XML document.
pub fn render(report: &Report) -> String {
    let mut cases: BTreeMap<&Case, Vec<&Entry>> = report.cases.iter().map(|case| (case, Vec::new())).collect();
    for entry in &report.entries {
        cases.entry(&entry.case).or_default().push(entry);
    }
    let is_failed = |found: &[&Entry]| found.iter().any(|entry| report.fails(entry));
    let failed = cases.values().filter(|found| is_failed(found)).count();
    let skipped = cases.iter().filter(|(case, found)| reason_to_skip(report, case, found).is_some()).count();
    let (failed, errors) = if report.outcome == Outcome::NotRun { (0, failed) } else { (failed, 0) };
    let name = report.command;
    let suites = html! {
        testsuites name=(name) tests=(cases.len()) failures=(failed) errors=(errors) skipped=(skipped) {
            testsuite name=(name) tests=(cases.len()) failures=(failed) errors=(errors) skipped=(skipped) {
                @for (case, found) in &cases {
                    (test_case(report, case, found))
                }
                @for note in &report.notes {
                    system-out { (note) }
                }
            }
        }
    };
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", suites.into_string())
}

/// Returns a test case. JUnit allows one failure per case: its message is the first finding, and its text contains all
/// of them.
fn test_case(report: &Report, case: &Case, found: &[&Entry]) -> Markup {
    let (group, name) = case;
    let (failures, remarks): (Vec<_>, Vec<_>) = found.iter().copied().partition(|entry| report.fails(entry));
    html! {
        testcase classname={ "git-blue." (group) } name=(name) {
            @if let Some(first) = failures.first().filter(|_| report.outcome == Outcome::NotRun) {
                error type=(first.rule) message=(first.message) { (lines(&failures)) }
            } @else if let Some(first) = failures.first() {
                failure type=(first.rule) message=(first.message) { (lines(&failures)) }
            }
            @if let Some(reason) = reason_to_skip(report, case, found) {
                skipped message=(reason) {}
            }
            @if !remarks.is_empty() {
                system-out { (lines(&remarks)) }
            }
        }
    }
}

/// Returns why a case neither passes nor fails: something in it is undecided, it was not checked and has only remarks,
/// or its errors are in other repositories.
fn reason_to_skip<'r>(report: &'r Report, case: &Case, found: &[&'r Entry]) -> Option<&'r str> {
    if found.iter().any(|entry| report.fails(entry)) {
        return None;
    }
    let undecided = found.iter().find(|entry| entry.is_undecided).copied();
    let is_remark = !report.cases.contains(case) && found.iter().all(|entry| entry.level == Level::Note);
    let entry = undecided.or_else(|| found.first().copied().filter(|_| is_remark));
    entry.map(|entry| &entry.message).or_else(|| report.elsewhere.get(case)).map(String::as_str)
}

fn lines(found: &[&Entry]) -> String {
    let line = |entry: &&Entry| {
        let place = if entry.place.is_some() { format!("{}: ", entry.at()) } else { String::new() };
        format!("{place}{}: {} [{}]", entry.level.word(), entry.message, entry.rule)
    };
    found.iter().map(line).collect::<Vec<_>>().join("\n")
}
