//! The importers of a contract, and what the shown version means for them.

use maud::{Markup, html};

use super::{
    components::{self, Tone, badge, cell, more, table, text},
    links::Site,
};
use crate::{
    model::verdict::Outcome,
    wire::{ContractImpact, ImportStanding, ImporterImpact, JudgedBy},
};

/// The maximum number of importers that are shown.
const MAX_SHOWN: usize = 100;

/// Returns the importers. `is_retired` is whether the contract is retired.
pub fn importers(site: &Site, impact: &ContractImpact, is_retired: bool) -> Markup {
    let withdrawn = if is_retired { Some("retired") } else { impact.yanked.as_ref().map(|_| "yanked") };
    let command = format!("git blue contract impact {}/{}", impact.domain, impact.contract);
    let rows = html! { @for one in impact.importers.iter().take(MAX_SHOWN) { (row(site, one, withdrawn)) } };
    html! {
        @for repo in &impact.unreadable_bindings {
            p.problem { "The binding of " (text(repo.as_str())) " cannot be read, so it is unknown whether it imports this." }
        }
        @if impact.importers.is_empty() && impact.unreadable_bindings.is_empty() { p.summary { "No repository imports it." } }
        @else if !impact.importers.is_empty() {
            (table("Consumers", &["Repository", "Range", "State", "Used in"], &rows))
            (more(impact.importers.len(), MAX_SHOWN, &command))
        }
    }
}

fn row(site: &Site, one: &ImporterImpact, withdrawn: Option<&str>) -> Markup {
    html! {
        tr {
            th scope="row" { (components::repo(site, &one.repo)) }
            (cell("Range", &html! { code { (one.version_req.to_string()) } }))
            (cell("State", &now(one, withdrawn)))
            (cell("Used in", &html! { @for file in one.binding.files() { span.path { (text(file)) } " " } }))
        }
    }
}

/// Returns the state of an import. If its version is `withdrawn`, that is the state, even if the import accepts it.
fn now(one: &ImporterImpact, withdrawn: Option<&str>) -> Markup {
    let outcome = one.verdict.as_ref().map(|verdict| verdict.verdict);
    html! {
        @match (one.state, &one.resolved_version) {
            (ImportStanding::Current, _) if withdrawn.is_some() => { (badge(Tone::Warn, withdrawn.unwrap_or_default())) }
            (ImportStanding::Current, _) if outcome == Some(Outcome::Unknown) => { (badge(Tone::Warn, "unknown")) }
            (ImportStanding::Current, _) if one.judged_by == JudgedBy::VersionRange => { (badge(Tone::Good, "in range")) }
            (ImportStanding::Current, _) => { (badge(Tone::Good, "holds")) }
            (ImportStanding::Behind, Some(served)) => { (badge(Tone::Warn, "behind")) " " (served) " is still served" }
            (ImportStanding::Unknown, _) => { (badge(Tone::Warn, "unknown")) }
            _ => { (badge(Tone::Bad, "broken")) }
        }
        @if let Some(verdict) = one.verdict.as_ref().filter(|one| one.verdict != Outcome::Compatible) {
            " " (text(&verdict.phrase()))
        }
    }
}
