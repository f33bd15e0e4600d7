//! Builds the report on a check.

use std::collections::BTreeMap;

use super::{Case, Entry, Level, Outcome, Place, Related, RelatedFile, Report, below, fingerprint};
use crate::{
    model::{
        check::{Finding, Severity},
        text::count,
        verdict::{self, Basis, Verdict},
    },
    surface::escape::clean,
    wire::{Elsewhere, RealmCheck},
};

/// The test case for findings that concern no contract.
const REPOSITORY: &str = "repository";
/// The start of texts about problems that this repository does not have.
const ELSEWHERE: &str = "Elsewhere in the realm, not counted here";
/// The file that is shown for findings without a file.
pub(super) const CONFIG: &str = ".blue/config.yaml";

/// Returns the report on a check. `prefix` is the path of the repository below the folder to which file names are
/// relative on the runner.
pub fn of_check(body: &RealmCheck, strict: bool, prefix: &str) -> Report {
    let errors = count(body.errors.len(), "error", "errors");
    let warnings = count(body.warnings.len(), "warning", "warnings");
    let findings = body.errors.iter().chain(&body.warnings);
    let elsewhere = &body.elsewhere;
    let note = format!("{ELSEWHERE}: {}", count(elsewhere.errors, "error", "errors"));
    let cases = body.schema_hashes.iter().flat_map(|one| {
        let subject = format!("{}/{}", one.domain, one.contract);
        let promised = one.promised.iter().map(|direction| format!("{subject} {}", direction.word()));
        std::iter::once(subject.clone()).chain(promised).map(|name| (one.domain.to_string(), name)).collect::<Vec<_>>()
    });
    let report = Report {
        command: "git blue check",
        outcome: Outcome::of(body.valid),
        counts: format!("{errors}, {warnings}, {} checked", count(body.contracts, "contract", "contracts")),
        scope: format!(" in the realm `{}`", body.realm),
        notes: (elsewhere.errors > 0).then_some(note).into_iter().collect(),
        home: below(prefix, CONFIG),
        cases: cases.collect(),
        elsewhere: cases_elsewhere(elsewhere),
        entries: findings.map(|finding| entry(finding, prefix)).chain(body.missing_base.as_deref().map(base)).collect(),
        strict,
    };
    report.finished()
}

/// Returns the contracts that are broken in other repositories.
fn cases_elsewhere(elsewhere: &Elsewhere) -> BTreeMap<Case, String> {
    let errors = elsewhere.findings.iter().rev().filter(|finding| finding.severity == Severity::Error);
    let cases = errors.filter_map(|finding| {
        let subject = format!("{}/{}", finding.domain.as_ref()?, finding.contract.as_ref()?);
        Some((case(Some(&subject), None), clean(&format!("{ELSEWHERE}: {}", finding.text())).into_owned()))
    });
    cases.collect()
}

/// Returns the remark that the commit to compare with is missing.
fn base(missing: &str) -> Entry {
    Entry {
        level: Level::Note,
        rule: "missing-base".to_owned(),
        case: case(None, None),
        message: format!(
            "the base {missing} is not in this clone, so its problems count as errors: fetch it (fetch-depth: 0)"
        ),
        fingerprint: fingerprint(&["missing-base"]),
        ..Entry::default()
    }
}

fn entry(finding: &Finding, prefix: &str) -> Entry {
    let subject = finding.domain.as_ref().map(|domain| match &finding.contract {
        Some(contract) => format!("{domain}/{contract}"),
        None => domain.to_string(),
    });
    // Files in the realm's store and in other repositories do not exist on the runner.
    let file = finding.file.as_deref().filter(|file| !file.starts_with("refs/") && finding.file_repo.is_none());
    let place = file.map(|file| Place { file: below(prefix, file), line: finding.line, column: finding.column });
    Entry {
        level: match finding.severity {
            Severity::Error => Level::Error,
            Severity::Warning => Level::Warning,
        },
        rule: finding.code.to_string(),
        meaning: None,
        case: case(subject.as_deref(), finding.verdict.as_ref()),
        message: match finding.location().filter(|_| finding.file_repo.is_some()) {
            Some(place) => format!("{place}: {}", finding.text()),
            None => finding.text(),
        },
        place,
        old: finding.verdict.as_ref().zip(subject.as_deref()).and_then(|(verdict, of)| old(verdict, of)),
        is_undecided: matches!(&*finding.code, "compatibility-unknown" | "undecided" | "script-undecided"),
        is_approved: finding.code == "break-approved",
        fingerprint: of_finding(finding, subject.as_deref()),
        subject,
    }
}

/// Returns the identity of a finding: its rule, its subject and location, and the values on both sides.
fn of_finding(finding: &Finding, subject: Option<&str>) -> String {
    let repo = finding.repo.as_ref().or(finding.file_repo.as_ref()).map(ToString::to_string).unwrap_or_default();
    let difference = finding.verdict.as_ref().and_then(|verdict| verdict.difference.as_ref());
    let id = difference.and_then(|one| one.id.as_deref()).unwrap_or_default();
    // A finding without a contract is identified by its file.
    let about = subject.or(finding.file.as_deref()).unwrap_or_default();
    fingerprint(&[&finding.code, about, &repo, finding.pointer.as_deref().unwrap_or_default(), id])
}

fn group(subject: &str) -> String {
    subject.split('/').next().unwrap_or(subject).to_owned()
}

/// Returns the test case of a finding: the contract, and the direction if there is a verdict.
fn case(subject: Option<&str>, verdict: Option<&Verdict>) -> Case {
    let subject = subject.unwrap_or(REPOSITORY);
    let verdict = verdict.filter(|one| {
        matches!(one.basis, Basis::Schemas | Basis::Expects) && one.verdict != verdict::Outcome::Compatible
    });
    let direction = verdict.map(|one| format!(" {}", one.direction.word())).unwrap_or_default();
    (group(subject), format!("{subject}{direction}"))
}

/// Returns the older version in a verdict, which is in the realm. What an import expects is in its own file.
fn old(verdict: &Verdict, subject: &str) -> Option<Related> {
    verdict.difference.as_ref().filter(|_| verdict.basis != Basis::Expects)?;
    let version = &verdict.old_version;
    let message = verdict.places().into_iter().next().unwrap_or_else(|| version.to_string());
    Some(Related { message, file: RelatedFile::Realm(format!("{subject}/{version}")), line: None })
}
