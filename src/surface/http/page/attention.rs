//! What needs attention: one row per cause, the worst first, each with the next command to run.

use maud::{Markup, html};

use super::{
    components::{self, Tone, badge, command, count, grouped, names, text},
    links::Site,
};
use crate::{
    model::verdict::Outcome,
    wire::{
        ContractTopology, Deprecation, DomainTopology, ImportTopology, RealmStatus, RealmTopology, RemoteStatus,
        SyncConflict,
    },
};

/// The maximum number of causes that are shown.
const MAX_CAUSES: usize = 20;
/// The maximum number of imports that one cause names.
const MAX_IMPORTS: usize = 6;

/// A reason why something needs attention.
struct Cause {
    tone: Tone,
    word: &'static str,
    /// The number of broken imports. The cause with the most comes first.
    weight: usize,
    what: Markup,
    commands: Vec<String>,
}

impl Cause {
    fn new(tone: Tone, word: &'static str, what: Markup) -> Self {
        Self { tone, word, weight: 0, what, commands: Vec::new() }
    }

    fn run(self, command: impl Into<String>) -> Self {
        Self { commands: vec![command.into()], ..self }
    }
}

/// Returns the causes that need attention, or a note that there are none. Those of conflicts and remotes come from
/// `status`.
pub fn section(site: &Site, topology: &RealmTopology, status: Option<&RealmStatus>) -> Markup {
    let causes = causes(site, topology, status);
    html! {
        section.attention aria-labelledby="attention" {
            h2 #attention.unseen[causes.is_empty()] { "Needs attention" }
            @if causes.is_empty() { p.well { (badge(Tone::Good, "OK")) " No import is known to be broken." } }
            @else {
                ol.causes {
                    @for cause in causes.iter().take(MAX_CAUSES) {
                        li class=(cause.tone.class()) {
                            p.kind { (badge(cause.tone, cause.word)) }
                            div.what { (cause.what) }
                            p.next { @for one in &cause.commands { (command(one)) " " } }
                        }
                    }
                }
                (components::more(causes.len(), MAX_CAUSES, "git blue check --all"))
            }
        }
    }
}

fn causes(site: &Site, topology: &RealmTopology, status: Option<&RealmStatus>) -> Vec<Cause> {
    let contracts = || topology.domains.iter().flat_map(|domain| domain.contracts.iter().map(move |one| (domain, one)));
    let mut causes: Vec<_> = contracts().filter_map(|(domain, contract)| broken(site, domain, contract)).collect();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.weight));
    causes.extend(status.iter().flat_map(|status| &status.conflicts).map(conflict));
    causes.extend(topology.unreadable.iter().map(|problem| {
        let what = html! { p dir="auto" { (text(problem)) } };
        Cause::new(Tone::Bad, "cannot be read", what).run("git blue doctor")
    }));
    causes.extend(topology.cycles.iter().map(|cycle| {
        let what = html! { p { "Dependency cycle: " span.path { (text(cycle)) } } };
        Cause::new(Tone::Warn, "cycle", what).run("git blue realm topology")
    }));
    causes.extend(contracts().filter_map(|(domain, contract)| deprecated(site, domain, contract)));
    causes.extend(status.iter().flat_map(|status| &status.remotes).filter_map(not_pushed));
    causes
}

fn broken(site: &Site, domain: &DomainTopology, contract: &ContractTopology) -> Option<Cause> {
    let broken: Vec<_> = contract.importers.iter().filter(|import| import.state == "broken").collect();
    if broken.is_empty() {
        return None;
    }
    let place = format!("{}/{}", domain.name, contract.name);
    let head = html! {
        @match (&contract.owner, &contract.version) {
            (Some(_), Some(version)) => {
                (components::contract(site, &domain.name, &contract.name)) " " span.version { (version) }
                " breaks " strong { (grouped(broken.len())) } ":"
            }
            (Some(_), None) => {
                (components::contract(site, &domain.name, &contract.name)) " has no release, and is imported by "
                strong { (grouped(broken.len())) } ":"
            }
            (None, _) => { (place) ": it does not exist, but is imported by " strong { (grouped(broken.len())) } ":" }
        }
    };
    let what = html! {
        p { (head) }
        ul.imports { @for import in broken.iter().take(MAX_IMPORTS) { li { (broken_import(site, import)) } } }
        @if let Some(more @ 1..) = broken.len().checked_sub(MAX_IMPORTS) { p.note { "and " (grouped(more)) " more" } }
    };
    let command = match contract.owner {
        Some(_) => format!("git blue contract impact {place}"),
        None => format!("git blue contract list --domain {}", domain.name),
    };
    Some(Cause { weight: broken.len(), ..Cause::new(Tone::Bad, "broken", what).run(command) })
}

fn broken_import(site: &Site, import: &ImportTopology) -> Markup {
    html! {
        (components::repo(site, &import.repo)) " "
        code { (import.version_req.to_string()) }
        @for file in import.binding.files() { " " span.path { (text(file)) } }
        @if let Some(verdict) = import.verdict.as_ref().filter(|verdict| verdict.verdict == Outcome::Breaks) {
            p.note dir="auto" { (text(&verdict.phrase())) }
        }
    }
}

fn conflict(conflict: &SyncConflict) -> Cause {
    let what = html! {
        p {
            @if conflict.set_aside.is_some() { (text(&conflict.meaning)) } @else { "Changed on two machines: " }
            @if let Some(domain) = &conflict.domain { (domain) }
            @if let Some(contract) = &conflict.contract { "/" (contract) }
            @if let Some(version) = &conflict.version { " " (version) }
            @if let Some(repo) = &conflict.repo { " " (repo) }
        }
    };
    Cause { commands: conflict.resolution.clone(), ..Cause::new(Tone::Bad, "conflict", what) }
}

/// Returns the cause for a deprecated contract, if it still has importers.
fn deprecated(site: &Site, domain: &DomainTopology, contract: &ContractTopology) -> Option<Cause> {
    let Deprecation { since, sunset, replaced_by } = contract.deprecated.as_ref()?;
    let importers: Vec<_> = contract.importers.iter().map(|import| &import.repo).collect();
    if importers.is_empty() {
        return None;
    }
    let what = html! {
        p {
            (components::contract(site, &domain.name, &contract.name)) " is deprecated since " span.version { (since) }
            @if let Some(sunset) = sunset { ", served until " strong { (sunset) } }
            @if let Some(next) = replaced_by { ", replaced by " (components::contract(site, &domain.name, next)) }
            ". " (count(importers.len(), "repository")) " still "
            @if importers.len() == 1 { "imports" } @else { "import" } " it: " (names(site, &importers))
        }
    };
    let next = replaced_by.as_ref().unwrap_or(&contract.name);
    Some(Cause::new(Tone::Warn, "deprecated", what).run(format!("git blue contract get {}/{next}", domain.name)))
}

fn not_pushed(remote: &RemoteStatus) -> Option<Cause> {
    if remote.ahead + remote.behind == 0 {
        return None;
    }
    let what = html! {
        p {
            @if remote.synced { "Not in sync with " } @else { "Never synced with " }
            (remote.remote) ": " (grouped(remote.ahead)) " ahead, " (grouped(remote.behind)) " behind."
        }
    };
    Some(Cause::new(Tone::Warn, "not in sync", what).run("git blue sync"))
}
