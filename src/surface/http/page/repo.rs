//! `/r/REALM/repos/REPO`: a repository: its imports, its contracts and their importers, what is broken or pending, and
//! its sessions.

use maud::{Markup, html};

use super::{
    attention,
    components::{self, Tone, badge, cell, command, count, grouped, names, table, text},
    frame::{Page, Part},
    graph::{self, Filter, Scope},
    inbox,
    links::{Query, Site},
    notifications::entries,
    overview::number,
    sessions,
};
use crate::{
    error::OpError,
    model::{name::RepoName, rank::Rank, verdict::Outcome},
    ops::{ctx::Ctx, notifications, realm, session},
    wire::{
        ImportStanding, ImportStatus, NotificationFilter, NotificationsList, OwnContract, PageRequest, RealmStatus,
        RealmTopology, SessionLine,
    },
};

/// The maximum number of imports that are shown.
const MAX_IMPORTS: usize = 50;
/// The maximum number of own contracts that are shown.
const MAX_OWN: usize = 50;
/// The maximum number of retired contracts that are named.
const MAX_RETIRED: usize = 6;
/// The maximum number of changes that are shown.
const MAX_CHANGES: usize = 10;
/// The maximum number of sessions that are shown.
const MAX_SESSIONS: usize = 20;

/// The data that the page shows.
struct Seen {
    status: RealmStatus,
    /// The repository's part of the realm's topology.
    topology: RealmTopology,
    /// The data that exists only for the current state.
    present: Option<Present>,
}

/// The notifications and the sessions.
struct Present {
    pending: Result<NotificationsList, OpError>,
    sessions: Vec<SessionLine>,
}

/// Returns the page. `ctx` is the context of the repository.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn page(site: &Site, ctx: &Ctx, repo: &RepoName, query: &Query) -> Result<Page, OpError> {
    let filter = Filter::of(query)?;
    let whole = realm::topology::run(ctx, &realm::topology::Request::default())?.body;
    let seen = Seen {
        status: inbox::realm(ctx)?,
        topology: graph::around(&whole, repo),
        present: site.past.is_none().then(|| present(ctx, repo)).transpose()?,
    };
    let main = render(site, repo, &seen, &filter);
    Ok(Page::new(site, Part::Overview, repo.as_str(), main))
}

fn present(ctx: &Ctx, repo: &RepoName) -> Result<Present, OpError> {
    let page = PageRequest::first(MAX_CHANGES);
    let request = notifications::list::Request { filter: NotificationFilter::Pending, page, ..Default::default() };
    let all = session::list::Request { ended: false, page: PageRequest::all() };
    let mut sessions = session::list::run(ctx, &all)?.body.sessions;
    sessions.retain(|session| session.repo == *repo);
    Ok(Present { pending: notifications::list::run(ctx, &request).map(|answer| answer.body), sessions })
}

fn render(site: &Site, repo: &RepoName, seen: &Seen, filter: &Filter) -> Markup {
    let Seen { status, topology, present } = seen;
    let line = status.repos.iter().find(|line| line.name == *repo);
    html! {
        p.crumbs { "Repository" }
        h1 { (repo) }
        @if let Some(path) = line.and_then(|line| line.path.as_ref()) { p.path.where { (text(path)) } }
        @else { p.none { "not on this machine" } }
        (numbers(site, repo, seen))
        (attention::section(site, topology, Some(status).filter(|_| present.is_some())))
        (graph::section(site, topology, Scope::Repo(repo), filter))
        (relies_on(site, &status.imports))
        (provides(site, repo, seen))
        @if let Some(present) = present { (now(site, repo, present)) }
    }
}

fn numbers(site: &Site, repo: &RepoName, seen: &Seen) -> Markup {
    let imports = &seen.status.imports;
    let broken = imports.iter().filter(|import| import.rank == Rank::Broken).count();
    let own = seen.status.own_contracts.len() + seen.status.more_own_contracts;
    let pending = seen.present.as_ref().and_then(|present| present.pending.as_ref().ok());
    html! {
        dl.numbers {
            (number("Imports", imports.len(), Tone::Quiet, None))
            (number("Broken imports", broken, Tone::Bad, None))
            (number("Own contracts", own, Tone::Quiet, None))
            @if let Some(list) = pending {
                @let pending = list.summary.pending;
                (number("Pending changes", pending, Tone::Warn, Some(site.notifications(repo))))
            }
        }
    }
}

fn relies_on(site: &Site, imports: &[ImportStatus]) -> Markup {
    let columns = ["Contract", "Range", "State", "Used in"];
    html! {
        section aria-labelledby="relies" {
            h2 #relies { "Imports" }
            @if imports.is_empty() { p.summary { "No imports." } }
            @else {
                (table("Imports", &columns, &html! {
                    @for import in imports.iter().take(MAX_IMPORTS) { (import_row(site, import)) }
                }))
                (components::more(imports.len(), MAX_IMPORTS, "git blue status --all"))
            }
        }
    }
}

fn import_row(site: &Site, import: &ImportStatus) -> Markup {
    html! {
        tr data-key={ (import.domain) "/" (import.contract) } {
            th scope="row" { (components::contract(site, &import.domain, &import.contract)) }
            (cell("Range", &html! {
                code { (import.version_req.to_string()) }
                @if let Some(adapted) = &import.adapted_version { p.note { "adapted to " (adapted) } }
            }))
            (cell("State", &import_now(site, import)))
            (cell("Used in", &html! {
                @for file in import.binding.files() { span.path { (text(file)) } " " }
            }))
        }
    }
}

fn import_now(site: &Site, import: &ImportStatus) -> Markup {
    let verdict = import.verdict.as_ref().filter(|verdict| verdict.verdict != Outcome::Compatible);
    html! {
        @match &import.current_version {
            Some(version) => { span.version { (version) } }
            None if import.state == ImportStanding::Unknown => { span.none { "cannot be read" } }
            None => { span.none { "no release" } }
        }
        @match (import.state, import.rank) {
            (ImportStanding::Unknown, _) => { " " (badge(Tone::Warn, "unknown")) }
            (ImportStanding::Broken, _) => { " " (badge(Tone::Bad, "broken")) }
            (ImportStanding::Behind, _) => { " " (badge(Tone::Warn, "behind")) }
            (_, Rank::Attention) if verdict.is_some() => { " " (badge(Tone::Warn, "unknown")) }
            _ => {}
        }
        @if let Some(deprecated) = &import.deprecated {
            " " (badge(Tone::Warn, "deprecated"))
            @if let Some(service) = deprecated.service(import.past_sunset) { p.note { (service) } }
            @if let Some(next) = &deprecated.replaced_by {
                p.note { "replaced by " (components::contract(site, &import.domain, next)) }
            }
        }
        @if import.retired { " " (badge(Tone::Bad, "retired")) }
        @if import.yanked { " " (badge(Tone::Bad, "yanked")) }
        @if import.orphaned { " " (badge(Tone::Warn, "owner left")) }
        @if let Some(verdict) = verdict { p.note dir="auto" { (text(&verdict.phrase())) } }
    }
}

fn provides(site: &Site, repo: &RepoName, Seen { status, topology, .. }: &Seen) -> Markup {
    let own = &status.own_contracts;
    let all = topology.domains.iter().flat_map(|domain| domain.contracts.iter().map(move |one| (domain, one)));
    let retired: Vec<_> = all.filter(|(_, one)| one.retired && one.owner.as_ref() == Some(repo)).collect();
    let columns = ["Contract", "Version", "Consumers"];
    html! {
        section aria-labelledby="provides" {
            h2 #provides { "Own contracts" }
            @if own.is_empty() { p.summary { "No contracts of its own." } }
            @else {
                (table("Own contracts", &columns, &html! {
                    @for one in own.iter().take(MAX_OWN) { (own_row(site, one)) }
                }))
                (components::more(own.len() + status.more_own_contracts, own.len().min(MAX_OWN), "git blue status --all"))
            }
            @if !retired.is_empty() {
                p.note {
                    (count(retired.len(), "retired contract")) " not counted:"
                    @for (domain, one) in retired.iter().take(MAX_RETIRED) {
                        " " (components::contract(site, &domain.name, &one.name))
                    }
                    @if retired.len() > MAX_RETIRED { " …" }
                }
            }
        }
    }
}

fn own_row(site: &Site, one: &OwnContract) -> Markup {
    let importers: Vec<_> = one.importers.iter().collect();
    let broken: Vec<_> = one.broken.iter().collect();
    html! {
        tr data-key={ (one.domain) "/" (one.contract) } {
            th scope="row" { (components::contract(site, &one.domain, &one.contract)) }
            td.version data-column="Version" {
                (one.version)
                @if one.yanked { " " (badge(Tone::Bad, "yanked")) }
                @if one.deprecated.is_some() { " " (badge(Tone::Warn, "deprecated")) }
            }
            (cell("Consumers", &html! {
                @if !broken.is_empty() { (badge(Tone::Bad, "breaks")) " " (names(site, &broken)) }
                @if !broken.is_empty() && !importers.is_empty() { "; " }
                @if broken.is_empty() || !importers.is_empty() { (names(site, &importers)) }
                @if one.more_importers > 0 { " and " (grouped(one.more_importers)) " more" }
            }))
        }
    }
}

fn now(site: &Site, repo: &RepoName, present: &Present) -> Markup {
    html! {
        section aria-labelledby="pending" {
            h2 #pending { "Pending" }
            @match &present.pending {
                Ok(list) if list.notifications.is_empty() => { p.summary { "No pending changes." } }
                Ok(list) => {
                    (entries(site, &list.notifications, "pending"))
                    p.note {
                        @if let Some(more @ 1..) = list.total.checked_sub(list.notifications.len()) {
                            "And " (grouped(more)) " more. "
                        }
                        a href=(site.notifications(repo)) { "All notifications" } " · " (command("git blue review"))
                    }
                }
                Err(error) => { p.problem dir="auto" { (text(&error.message)) } }
            }
        }
        @if !present.sessions.is_empty() {
            section aria-labelledby="sessions" {
                h2 #sessions { "Sessions" }
                (sessions::table(site, &present.sessions[..present.sessions.len().min(MAX_SESSIONS)]))
                (components::more(present.sessions.len(), MAX_SESSIONS, "git blue session list"))
            }
        }
    }
}
