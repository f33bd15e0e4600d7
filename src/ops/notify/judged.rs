//! What changes mean for the imports of the reader: judged for those that are shown, and no others.

use std::collections::BTreeMap;

use crate::{
    error::OpError,
    model::{
        binding::Binding,
        domain_summary::ContractSummary,
        rank::Rank,
        verdict::{ImportState, Judge, Outcome},
    },
    ops::{contract::verdict::Documents, ctx::Acting},
    store::overview::Overview,
    wire::{JudgedBy, Notification, State},
};

/// Says of each pending notification what it means for the import of the repository that asks.
///
/// # Errors
/// Returns an error if a domain cannot be read.
pub fn judge<'n>(
    acting: Acting<'_>,
    overview: &Overview<'_>,
    judge: &Judge<'_>,
    shown: impl Iterator<Item = &'n mut Notification>,
) -> Result<(), OpError> {
    let mut by_domain: BTreeMap<_, Vec<&mut Notification>> = BTreeMap::new();
    for one in shown.filter(|one| one.affects_me && one.state == State::Pending) {
        by_domain.entry(one.domain.clone()).or_default().push(one);
    }
    for (name, notifications) in by_domain {
        let Some(line) = overview.domains_of(acting.repo).find(|line| line.name == name) else { continue };
        let summary = overview.summary(line)?;
        let documents = Documents::of(acting.store, &line.tree);
        let imports = summary.bindings.get(acting.repo).map(Binding::by_contract).unwrap_or_default();
        for one in notifications {
            let import = one.contract.as_ref().and_then(|name| imports.get(name)).copied();
            let Some(import) = import else { continue };
            let state = documents.state(&summary, (acting.repo, import), judge)?;
            one.import_satisfied = Some(state.holds());
            one.judged_by = Some(JudgedBy::of(&state));
            let offered = summary.contracts.get(&import.contract);
            one.rank = Rank::of_import(import, &state, offered.is_some_and(ContractSummary::is_leaving));
            one.verdict = ImportState::told(&state).filter(|verdict| verdict.verdict != Outcome::Compatible).cloned();
        }
    }
    Ok(())
}
