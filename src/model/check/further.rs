//! Decides whether the judged files break imports further that were broken before.

use std::collections::BTreeMap;

use super::{Finding, cause::Key};
use crate::model::{
    domain_view::DomainView,
    verdict::{Basis, Judge, Outcome, Verdict},
};

/// Returns whether imports that were broken before are broken further, by the keys of their findings, as far as this is
/// known. `known` are the findings in the domain as `published`, and `findings` those in the domain `after` the files are
/// applied.
pub(super) fn broken(
    (published, after): (&DomainView, &DomainView),
    known: &[Finding],
    findings: &[Finding],
    judge: &Judge<'_>,
) -> BTreeMap<Key, bool> {
    let before: BTreeMap<Key, &Verdict> = known.iter().filter_map(|one| Some((one.key(), breaking(one)?))).collect();
    let is_further = |finding: &Finding| {
        let (now, contract, before) = (breaking(finding)?, finding.contract.as_ref()?, before.get(&finding.key())?);
        let old = published.document(contract, &before.new_version)?;
        let new = after.document(contract, &now.new_version)?;
        let of_expects = || now.difference.as_ref().filter(|difference| judge.breaks_at(difference, old, new));
        let is_further = match now.basis {
            Basis::Schemas => judge.breaks_further(after.document(contract, &now.old_version)?, old, new),
            // Only the first difference is known.
            Basis::Expects => of_expects().map(|_| true),
            _ => None,
        };
        Some((finding.key(), is_further?))
    };
    findings.iter().filter_map(is_further).collect()
}

/// Returns the verdict of an import whose range accepts a version that breaks it.
fn breaking(finding: &Finding) -> Option<&Verdict> {
    let breaks = |one: &&Verdict| one.verdict == Outcome::Breaks && one.value_difference.is_none();
    finding.verdict.as_ref().filter(breaks).filter(|_| finding.is_admitted())
}
