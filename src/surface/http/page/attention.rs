//! What needs attention: one row per cause, the worst first, each with the next command to run.

use maud::{Markup, html};

use super::{
    components::{self, Tone, badge, command, count, grouped, names, text},
    links::Site,
};
use crate::{
    model::{
        conflict::NOT_OWNER,
        contract::Deprecated,
        next_step::NextStep,
        verdict::{Outcome, Verdict},
        version::Version,
    },
    wire::{
        ContractTopology, DomainTopology, ImportHealth, ImportStanding, ImportTopology, OpenOffer, RealmStatus,
        RealmTopology, RemoteStatus, RemovedFile, SyncConflict, Unpublished,
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

/// Returns the causes that need attention, or a note that there are none. `status` adds those that exist only in the
/// present: conflicts, remotes, and unpublished changes.
pub fn section(site: &Site, topology: &RealmTopology, status: Option<&RealmStatus>) -> Markup {
    let causes = causes(site, topology, status);
    // The reader may be in any directory.
    let folder = status.and_then(|status| status.repos.iter().find(|line| line.is_current)?.path.as_deref());
    let placed = |line: &str| match (NextStep::from(line), folder) {
        (step, Some(folder)) => step.in_folder(folder).to_string(),
        (step, None) => step.in_realm(&site.realm).to_string(),
    };
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
                            p.next { @for one in &cause.commands { (command(&placed(one))) " " } }
                        }
                    }
                }
                (components::more(causes.len(), MAX_CAUSES, &placed("git blue check --all")))
            }
        }
    }
}

fn causes(site: &Site, topology: &RealmTopology, status: Option<&RealmStatus>) -> Vec<Cause> {
    let contracts = || topology.domains.iter().flat_map(|domain| domain.contracts.iter().map(move |one| (domain, one)));
    let of_imports = |health| {
        let mut causes: Vec<_> = contracts().filter_map(|(domain, one)| imports(site, domain, one, health)).collect();
        causes.sort_by_key(|cause| std::cmp::Reverse(cause.weight));
        causes
    };
    let mut causes = of_imports(ImportHealth::Broken);
    causes.extend(status.and_then(|status| not_published(status.unpublished.as_ref()?)));
    causes.extend(status.iter().flat_map(|status| &status.conflicts).map(conflict));
    causes.extend(status.iter().flat_map(|status| &status.removed_files).map(|removed| without_file(site, removed)));
    causes.extend(status.iter().flat_map(|status| &status.offers).map(|offer| not_accepted(site, offer)));
    causes.extend(topology.unreadable.iter().map(|problem| {
        let what = html! { p dir="auto" { (text(problem)) } };
        Cause::new(Tone::Bad, "cannot be read", what).run("git blue doctor")
    }));
    causes.extend(topology.cycles.iter().map(|cycle| {
        let what = html! { p { "Dependency cycle: " span.path { (text(cycle)) } } };
        Cause::new(Tone::Warn, "cycle", what).run("git blue realm topology")
    }));
    causes.extend([ImportHealth::Unknown, ImportHealth::Behind].into_iter().flat_map(of_imports));
    causes.extend(contracts().filter_map(|(domain, contract)| withdrawn(site, domain, contract)));
    causes.extend(status.iter().flat_map(|status| &status.remotes).filter_map(not_pushed));
    causes
}

/// Returns the cause for the imports of a contract in a state.
fn imports(site: &Site, domain: &DomainTopology, contract: &ContractTopology, health: ImportHealth) -> Option<Cause> {
    let imports: Vec<_> = contract.importers.iter().filter(|import| import.health() == health).collect();
    if imports.is_empty() {
        return None;
    }
    let place = format!("{}/{}", domain.name, contract.name);
    let is_unreadable = imports.iter().any(|import| import.state == ImportStanding::Unknown);
    let said = match (&contract.owner, &contract.version) {
        _ if is_unreadable => "cannot be read, and is imported by",
        (None, _) => "does not exist, but is imported by",
        (Some(_), None) => "has no release, and is imported by",
        _ if health == ImportHealth::Broken => "breaks",
        _ if health == ImportHealth::Unknown => "may break",
        _ => "is not yet accepted by",
    };
    let what = html! {
        p {
            @if contract.owner.is_some() { (components::contract(site, &domain.name, &contract.name)) } @else { (place) }
            @if let Some(version) = decisive(contract, &imports) { " " span.version { (version) } }
            " " (said) " " strong { (grouped(imports.len())) } ":"
        }
        ul.imports { @for import in imports.iter().take(MAX_IMPORTS) { li { (listed(site, import)) } } }
        @if let Some(more @ 1..) = imports.len().checked_sub(MAX_IMPORTS) { p.note { "and " (grouped(more)) " more" } }
    };
    let command = match contract.owner {
        _ if is_unreadable => "git blue doctor".to_owned(),
        Some(_) => format!("git blue contract impact {place}"),
        None => format!("git blue contract list --domain {}", domain.name),
    };
    let tone = if health == ImportHealth::Broken { Tone::Bad } else { Tone::Warn };
    Some(Cause { weight: imports.len(), ..Cause::new(tone, health.word(), what).run(command) })
}

/// Returns the version that decides the state of all these imports, or `None` if it is not the same for all. For a
/// broken import this is the version of its verdict, which may be an older one; otherwise it is the current version.
fn decisive<'a>(contract: &'a ContractTopology, imports: &[&'a ImportTopology]) -> Option<&'a Version> {
    let current = contract.version.as_ref();
    let of = |import: &&'a ImportTopology| {
        let verdict = import.verdict.as_ref().filter(|_| import.state == ImportStanding::Broken);
        verdict.map_or(current, |verdict| Some(&verdict.new_version))
    };
    let first = imports.first().and_then(of);
    first.filter(|_| imports.iter().all(|import| of(import) == first))
}

fn listed(site: &Site, import: &ImportTopology) -> Markup {
    html! {
        (components::repo(site, &import.repo)) " "
        code { (import.version_req.to_string()) }
        @for file in import.binding.files() { " " span.path { (text(file)) } }
        @let is_said = |verdict: &&Verdict| import.state != ImportStanding::Broken || verdict.verdict == Outcome::Breaks;
        @if let Some(verdict) = import.verdict.as_ref().filter(is_said) {
            p.note dir="auto" { (text(&verdict.phrase())) }
        }
    }
}

fn conflict(conflict: &SyncConflict) -> Cause {
    let what = html! {
        p {
            @if conflict.set_aside.is_some() { (text(&conflict.meaning)) }
            @else if conflict.code == NOT_OWNER { "Created by two repositories: " }
            @else { "Changed on two machines: " }
            @if let Some(domain) = &conflict.domain { (domain) }
            @if let Some(contract) = &conflict.contract { "/" (contract) }
            @if let Some(version) = &conflict.version { " " (version) }
            @if let Some(repo) = &conflict.repo { " " (repo) }
        }
    };
    Cause { commands: conflict.resolution.clone(), ..Cause::new(Tone::Bad, "conflict", what) }
}

/// Returns the cause for a contract that is withdrawn, if it still has importers.
fn withdrawn(site: &Site, domain: &DomainTopology, contract: &ContractTopology) -> Option<Cause> {
    let (word, how) = withdrawal(contract)?;
    let is_yanked_for = |import: &ImportTopology| contract.version.iter().any(|one| import.version_req.matches(one));
    let concerned = contract.importers.iter().filter(|import| word != "yanked" || is_yanked_for(import));
    let importers: Vec<_> = concerned.map(|import| &import.repo).collect();
    if importers.is_empty() {
        return None;
    }
    let replaced_by = contract.deprecated.as_ref().and_then(|deprecated| deprecated.replaced_by.as_ref());
    let what = html! {
        p {
            (components::contract(site, &domain.name, &contract.name)) " " (how)
            @if let Some(next) = replaced_by { ", replaced by " (components::contract(site, &domain.name, next)) }
            ". " (count(importers.len(), "repository")) " still "
            @if importers.len() == 1 { "imports" } @else { "import" } " it: " (names(site, &importers))
        }
    };
    let next = replaced_by.unwrap_or(&contract.name);
    Some(Cause::new(Tone::Warn, word, what).run(format!("git blue contract get {}/{next}", domain.name)))
}

/// Returns how the owner withdraws a contract or its current version: as one word, and as the end of a sentence.
fn withdrawal(contract: &ContractTopology) -> Option<(&'static str, Markup)> {
    Some(match (&contract.deprecated, &contract.version) {
        _ if contract.retired => ("retired", html! { "is retired" }),
        (Some(Deprecated { since, sunset, .. }), _) => (
            "deprecated",
            html! {
                "is deprecated since " span.version { (since) }
                @if let Some(sunset) = sunset { ", served until " strong { (sunset) } }
            },
        ),
        (None, Some(version)) if contract.yanked => ("yanked", html! { span.version { (version) } " was yanked" }),
        _ => return None,
    })
}

/// Returns the cause for a commit whose publication failed.
fn not_published(unpublished: &Unpublished) -> Option<Cause> {
    let problem = unpublished.problem.as_ref()?;
    let what = html! {
        p { code { (unpublished.commit.short()) } " " (text(&unpublished.phrase())) }
        p.note dir="auto" { (text(problem)) }
    };
    Some(Cause::new(Tone::Bad, "not published", what).run("git blue status"))
}

/// Returns the cause for a contract of this repository whose file is gone.
fn without_file(site: &Site, removed: &RemovedFile) -> Cause {
    let RemovedFile { domain, contract, file } = removed;
    let what =
        html! { p { (components::contract(site, domain, contract)) " has no file here: " span.path { (text(file)) } } };
    Cause::new(Tone::Warn, "no file", what).run("git blue status")
}

/// Returns the cause for a contract whose owner offered it to another repository.
fn not_accepted(site: &Site, offer: &OpenOffer) -> Cause {
    let OpenOffer { domain, contract, from, to } = offer;
    let what = html! {
        p {
            (components::contract(site, domain, contract)) " is offered to " (components::repo(site, to)) " by "
            (components::repo(site, from)) ", and not accepted yet"
        }
    };
    Cause::new(Tone::Warn, "offer", what).run("git blue status")
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
