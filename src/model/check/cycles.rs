//! Findings for repositories that rely on each other in a cycle.

use super::{Cause, Finding, Severity};
use crate::model::{candidate::Judged, cycle::DependencyGraph, realm::Cycles};

/// Returns the cycles, each with whether a judged repository is part of it. If so, the finding is about that
/// repository's import.
pub(super) fn check(provision: &DependencyGraph, cycles: Cycles, judged: &[Judged<'_>]) -> Vec<(Finding, bool)> {
    let severity = if cycles == Cycles::Refuse { Severity::Error } else { Severity::Warning };
    let findings = provision.cycles().into_iter().filter_map(|cycle| {
        let own = judged.iter().find_map(|judged| Some((judged, cycle.relying(judged.repo)?)));
        let link = own.map(|(_, link)| link).or_else(|| cycle.links().first())?;
        let finding = Finding::new(severity, "cycle", format!("dependency cycle between repositories: {cycle}"));
        let finding = finding.domain(&link.contract.domain).contract(&link.contract.contract).repo(&link.consumer);
        let is_changed = own.is_some_and(|(judged, link)| {
            judged.candidate.bindings.get(&link.contract.domain).is_some_and(|declared| declared.changed)
        });
        let caused_by = match (is_changed, own) {
            (true, _) => Cause::ThisChange,
            (false, None) if !judged.is_empty() => Cause::AnotherRepository,
            _ => Cause::AlreadyInTheRealm,
        };
        Some((Finding { caused_by, ..finding }, own.is_some()))
    });
    findings.collect()
}
