//! Repositories that rely on each other in a circle.

use super::{Finding, Severity};
use crate::model::{
    candidate::Judged,
    cycle::{Cycles, Provision},
};

/// `judged` is told at its own import, where it is part of a cycle.
pub(super) fn check(provision: &Provision, cycles: Cycles, judged: Option<Judged<'_>>) -> Vec<Finding> {
    let severity = if cycles == Cycles::Refuse { Severity::Error } else { Severity::Warning };
    let findings = provision.cycles().into_iter().filter_map(|cycle| {
        let own = judged.and_then(|judged| cycle.relying(judged.repo));
        let link = own.or_else(|| cycle.links().first())?;
        let finding = Finding::new(severity, "cycle", format!("repositories rely on each other in a circle: {cycle}"));
        Some(finding.domain(&link.contract.domain).contract(&link.contract.contract).repo(&link.consumer))
    });
    findings.collect()
}
