//! Judges what changes mean for the reader's imports. Only changes that are shown are judged.

use std::collections::BTreeMap;

use crate::{
    error::OpError,
    model::{
        binding::{Binding, Import},
        domain_summary::DomainSummary,
        notification::ChangeType,
        oid::Oid,
        rank::Rank,
        verdict::{ImportState, Judge, Outcome},
    },
    ops::{contract::verdict::Documents, ctx::ActingRepo},
    store::overview::Overview,
    wire::{JudgedBy, Notification},
};

/// What a notification is to say about its effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Whether the import still holds.
    Effect,
    /// Also the verdict, with the values that show it.
    Verdict,
}

/// Sets the effect of each notification on the import of the current repository.
///
/// # Errors
/// Returns an error if a domain cannot be read.
pub fn judge<'n>(
    acting: ActingRepo<'_>,
    overview: &Overview<'_>,
    judge: &Judge<'_>,
    detail: Detail,
    shown: impl Iterator<Item = &'n mut Notification>,
) -> Result<(), OpError> {
    let mut by_domain: BTreeMap<_, Vec<&mut Notification>> = BTreeMap::new();
    for one in shown.filter(|one| one.affects_me) {
        by_domain.entry(one.domain.clone()).or_default().push(one);
    }
    for (name, notifications) in by_domain {
        let Some(line) = overview.domains_of(acting.repo).find(|line| line.name == name) else { continue };
        let summary = overview.summary(line)?;
        in_domain(acting, &summary, &line.tree, (judge, detail), notifications.into_iter())?;
    }
    Ok(())
}

/// Does the same as [`judge`] for notifications of one domain with this tree.
///
/// # Errors
/// Returns an error if the domain cannot be read.
pub fn in_domain<'n>(
    acting: ActingRepo<'_>,
    domain: &DomainSummary,
    tree: &Oid,
    (judge, detail): (&Judge<'_>, Detail),
    shown: impl Iterator<Item = &'n mut Notification>,
) -> Result<(), OpError> {
    let documents = Documents::of(acting.store, tree);
    let imports = domain.bindings.get(acting.repo).map(Binding::by_contract).unwrap_or_default();
    for one in shown.filter(|one| one.affects_me) {
        let import = one.contract.as_ref().and_then(|name| imports.get(name)).copied();
        let Some(import) = import else { continue };
        let mut state = documents.state(domain, (acting.repo, import), judge)?;
        let is_resolved = state.resolution.resolved() == one.changes.new_version.as_ref();
        let former = one.former.filter(|_| one.is_in_place() && is_resolved);
        if let Some(former) = former {
            state = documents.since(former, state, import, judge)?;
        }
        one.import_state = Some(state.effect());
        one.served_version = state.resolution.served().cloned();
        one.judged_by = Some(JudgedBy::of(&state));
        if state.is_broken() || detail == Detail::Verdict {
            one.was_broken = was_broken(&documents, (one, &state), import, judge)?;
        }
        let rank = Rank::of_import(import, &state, domain.is_discouraged(import));
        one.rank = rank.of_later_change(one.was_broken);
        if detail == Detail::Effect {
            continue;
        }
        one.verdict = if former.is_some() { state.verdict.as_ref() } else { state.between_versions() }
            .filter(|one| one.verdict != Outcome::Compatible || state.lacks_properties())
            .cloned();
    }
    Ok(())
}

/// Returns whether an import that is now in this state was broken before a change of its contract. Reads nothing in the usual
/// case that its code is adapted to the former version.
fn was_broken(
    documents: &Documents<'_>,
    (one, state): (&Notification, &ImportState),
    import: &Import,
    judge: &Judge<'_>,
) -> Result<bool, OpError> {
    if one.change_type == ChangeType::ContractOffered {
        return Ok(state.is_broken());
    }
    // What changed in place is judged against the content before.
    if one.is_in_place() {
        return Ok(state.resolution.resolved().is_none());
    }
    if let (Some(former), Some(adapted)) = (one.former_version(), import.adapted()) {
        let is_proved = adapted == former && import.version.matches(former) && import.expects.is_none();
        // If it is adapted to a later version, it was edited after the reader last saw the contract.
        if adapted > former || is_proved {
            return Ok(false);
        }
    }
    let Some(former) = one.former else { return Ok(false) };
    Ok(documents.before(former, import, judge)?.is_some_and(|before| before.is_broken()))
}
