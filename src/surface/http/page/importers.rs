//! Who relies on a contract, and what the version that is shown means for them.

use maud::{Markup, html};

use super::pieces::{Tone, badge, heads, more, text};
use crate::{
    model::verdict::Outcome,
    wire::{ContractImpact, ImporterImpact, JudgedBy},
};

/// Most importers that are shown.
const MAX_SHOWN: usize = 100;

/// Returns the importers.
pub fn importers(impact: &ContractImpact) -> Markup {
    let command = format!("git blue contract impact {}/{}", impact.domain, impact.contract);
    html! {
        @if impact.importers.is_empty() { p.summary { "Nobody imports it." } }
        @else {
            div.scroll role="group" aria-label="Importers" tabindex="0" {
                table {
                    caption.unseen { "Who imports it" }
                    (heads(&["Repository", "Works with", "Now", "In the file"], &[]))
                    tbody { @for one in impact.importers.iter().take(MAX_SHOWN) { (row(one)) } }
                }
            }
            (more(impact.importers.len(), MAX_SHOWN, &command))
        }
    }
}

fn row(one: &ImporterImpact) -> Markup {
    html! {
        tr {
            th scope="row" { (one.repo) }
            td { code { (one.version_req.to_string()) } }
            td {
                @let outcome = one.verdict.as_ref().map(|verdict| verdict.verdict);
                @match (&*one.state, &one.resolved_version) {
                    ("current", _) if outcome == Some(Outcome::Unknown) => { (badge(Tone::Warn, "unknown")) }
                    ("current", _) if one.judged_by == JudgedBy::VersionRange => { (badge(Tone::Good, "in range")) }
                    ("current", _) => { (badge(Tone::Good, "holds")) }
                    ("stale", Some(served)) => { (badge(Tone::Warn, "behind")) " " (served) " is still served" }
                    _ => { (badge(Tone::Bad, "broken")) }
                }
                @if let Some(verdict) = one.verdict.as_ref().filter(|one| one.verdict != Outcome::Compatible) {
                    " " (text(&verdict.phrase()))
                }
            }
            td { @for file in one.binding.files() { span.path { (text(file)) } " " } }
        }
    }
}
