//! `/r/REALM`: the realm at a glance: what is broken, what is pending, who provides what.

use maud::{Markup, html};

use super::{
    Desk,
    frame::{Page, Part},
    graph,
    inbox::{self, Inbox},
    links,
    pieces::{self, Tone, badge, grouped, more, text, time},
    sessions,
};
use crate::{
    error::OpError,
    model::{
        name::{RealmName, RepoName},
        verdict::Outcome,
    },
    ops::realm,
    wire::{LogEntry, NotificationFilter, PageRequest, RealmStatus, RealmTopology},
};

/// Most lines of what is broken, and of what happened.
const MAX_BROKEN: usize = 20;
const MAX_LOG: usize = 8;
const MAX_REPOS: usize = 50;

/// Returns the page.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn page(desk: &Desk, realm: &RealmName) -> Result<Page, OpError> {
    let ctx = desk.realm(realm)?;
    let status = inbox::realm(&ctx)?;
    let topology = realm::topology::run(&ctx, &realm::topology::Request::default())?.body;
    let latest = PageRequest { limit: Some(MAX_LOG), cursor: None };
    let log = realm::log::run(&ctx, &realm::log::Request { page: latest, ..Default::default() })?.body.entries;
    let inboxes = inbox::all(desk, &status, NotificationFilter::Pending);
    let main = render(&status, &topology, &log, &inboxes);
    Ok(Page { title: realm.to_string(), realm: Some(realm.clone()), part: Some(Part::Overview), main })
}

fn render(status: &RealmStatus, topology: &RealmTopology, log: &[LogEntry], inboxes: &[Inbox]) -> Markup {
    html! {
        h1 { (status.realm) }
        (numbers(status, topology, inboxes))
        (attention(status, topology))
        (graph::section(topology))
        div.split {
            section.wide aria-labelledby="latest" {
                h2 #latest { "Latest" }
                (history(log))
            }
            (repositories(status, inboxes))
        }
        @if !status.sessions.is_empty() {
            section aria-labelledby="sessions" {
                h2 #sessions { "At work" }
                (sessions::table(&status.sessions))
                @if status.more_sessions > 0 {
                    @let href = links::part(&status.realm, "sessions", &[]);
                    p.note { a href=(href) { (grouped(status.more_sessions)) " more" } }
                }
            }
        }
    }
}

fn numbers(status: &RealmStatus, topology: &RealmTopology, inboxes: &[Inbox]) -> Markup {
    let contracts = topology.domains.iter().flat_map(|domain| &domain.contracts);
    let existing = contracts.filter(|contract| contract.owner.is_some()).count();
    let pending: usize =
        inboxes.iter().filter_map(|inbox| inbox.list.as_ref().ok()).map(|list| list.summary.pending).sum();
    let at = |part| links::part(&status.realm, part, &[]);
    let tone = |number: usize, tone: Tone| if number == 0 { Tone::Quiet } else { tone };
    html! {
        dl.numbers {
            (number("Repositories", topology.repos.len(), Tone::Quiet, None))
            (number("Domains", status.total, Tone::Quiet, None))
            (number("Contracts", existing, Tone::Quiet, Some(at("contracts"))))
            (number("Broken imports", topology.broken, tone(topology.broken, Tone::Bad), None))
            (number("Pending changes", pending, tone(pending, Tone::Warn), Some(at("notifications"))))
        }
    }
}

fn number(label: &str, value: usize, tone: Tone, href: Option<String>) -> Markup {
    html! {
        div class=(tone.class()) {
            dt { (label) }
            dd { @if let Some(href) = href { a href=(href) { (grouped(value)) } } @else { (grouped(value)) } }
        }
    }
}

/// What somebody should look at; that all is well, where it is.
fn attention(status: &RealmStatus, topology: &RealmTopology) -> Markup {
    let is_well = topology.broken == 0 && status.conflicts.is_empty() && topology.unreadable.is_empty();
    html! {
        section.attention aria-labelledby="attention" {
            h2 #attention.unseen[is_well] { "Needs attention" }
            @if is_well { p.well { (badge(Tone::Good, "all well")) " No import is known to be broken." } }
            @else {
                ul.problems {
                    (broken(topology))
                    @for conflict in status.conflicts.iter().take(MAX_BROKEN) {
                        li {
                            (badge(Tone::Bad, "conflict")) " "
                            @if conflict.set_aside.is_some() { (text(&conflict.meaning)) }
                            @else { "two machines wrote differently: " }
                            @if let Some(domain) = &conflict.domain { (domain) }
                            @if let Some(contract) = &conflict.contract { "/" (contract) }
                            @if let Some(version) = &conflict.version { " " (version) }
                            @if let Some(repo) = &conflict.repo { " " (repo) }
                            @for step in &conflict.resolution { br; code { (text(step)) } }
                        }
                    }
                    @for problem in topology.unreadable.iter().take(MAX_BROKEN) {
                        li dir="auto" { (badge(Tone::Bad, "cannot be read")) " " (text(problem)) }
                    }
                }
            }
            @for remote in status.remotes.iter().filter(|remote| remote.ahead + remote.behind > 0) {
                p.note {
                    (badge(Tone::Warn, "not in sync")) " with " (remote.remote) ": " (grouped(remote.ahead)) " ahead, "
                    (grouped(remote.behind)) " behind. " code { "git blue sync" }
                }
            }
        }
    }
}

fn broken(topology: &RealmTopology) -> Markup {
    let all = topology.domains.iter().flat_map(|domain| {
        domain.contracts.iter().flat_map(move |contract| {
            contract
                .importers
                .iter()
                .filter(|import| import.state == "broken")
                .map(move |import| (domain, contract, import))
        })
    });
    html! {
        @for (domain, contract, import) in all.take(MAX_BROKEN) {
            li {
                (badge(Tone::Bad, "broken")) " "
                strong { (import.repo) } " relies on "
                @if contract.owner.is_some() { (pieces::contract(&topology.realm, &domain.name, &contract.name)) }
                @else { (domain.name) "/" (contract.name) }
                " " code { (import.version_req.to_string()) } ", but "
                @match &contract.version {
                    Some(version) => {
                        @match import.verdict.as_ref().filter(|verdict| verdict.verdict == Outcome::Breaks) {
                            Some(verdict) => { span.version { (version) } " breaks it: " (text(&verdict.phrase())) "." }
                            None => { "its version is " span.version { (version) } "." }
                        }
                    }
                    None => { "nobody provides it." }
                }
                @for file in import.binding.files() { " " span.path { (text(file)) } }
            }
        }
        @if let Some(more @ 1..) = topology.broken.checked_sub(MAX_BROKEN) {
            li { "and " (grouped(more)) " more: " code { "git blue check --all" } }
        }
    }
}

fn history(log: &[LogEntry]) -> Markup {
    html! {
        ol.feed {
            @for entry in log {
                li data-key=(entry.commit) {
                    p.what dir="auto" { (text(&entry.subject)) }
                    p.when {
                        (time(entry.time))
                        @if let Some(domain) = &entry.domain { " · " (domain) }
                        @if let Some(repo) = &entry.repo { " · from " (text(repo)) }
                        " · by " (text(&entry.author))
                        @if entry.ahead_of_clock { " · " (badge(Tone::Warn, "dated ahead of this clock")) }
                    }
                }
            }
        }
    }
}

fn repositories(status: &RealmStatus, inboxes: &[Inbox]) -> Markup {
    let pending = |name: &RepoName| {
        let inbox = inboxes.iter().find(|inbox| inbox.repo == *name)?;
        inbox.list.as_ref().ok().map(|list| list.summary.pending)
    };
    html! {
        section aria-labelledby="repositories" {
            h2 #repositories { "Repositories" }
            ul.repos {
                @for repo in status.repos.iter().take(MAX_REPOS) {
                    li {
                        a href=(links::notifications(&status.realm, &repo.name)) { (repo.name) }
                        @if let Some(number @ 1..) = pending(&repo.name) {
                            " " (badge(Tone::Warn, &format!("{} pending", grouped(number))))
                        }
                        @if let Some(path) = &repo.path { p.path { (text(path)) } }
                        @else { p.none { "not on this machine" } }
                    }
                }
            }
            (more(status.repos.len(), MAX_REPOS, ""))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{ContractTopology, DomainTopology, ImportTopology, RemoteStatus, RepoLine, SyncConflict};

    const EVIL: &str = "<script>alert(1)</script>\u{202e}";

    fn status() -> RealmStatus {
        RealmStatus {
            realm: "aperture".parse().unwrap(),
            current_repo: None,
            read_only: None,
            repos: vec![RepoLine { name: "fungal".parse().unwrap(), path: Some(EVIL.into()), is_current: false }],
            domains: Vec::new(),
            total: 1,
            next_cursor: None,
            imports: Vec::new(),
            session: None,
            sessions: Vec::new(),
            more_sessions: 0,
            remotes: Vec::new(),
            conflicts: Vec::new(),
            unreadable_domains: Vec::new(),
            unreadable: Vec::new(),
            published: Vec::new(),
            unpublished: None,
            removed_files: Vec::new(),
            notifications: Vec::new(),
            own_contracts: Vec::new(),
            more_own_contracts: 0,
            total_contracts: 0,
            bindings_changed: None,
            more_notifications: 0,
        }
    }

    fn topology() -> RealmTopology {
        RealmTopology {
            realm: "aperture".parse().unwrap(),
            current_repo: None,
            repos: vec!["fungal".parse().unwrap()],
            domains: Vec::new(),
            broken: 0,
            unreadable: Vec::new(),
        }
    }

    #[test]
    fn a_realm_in_which_nothing_is_wrong_says_so() {
        let shown = render(&status(), &topology(), &[], &[]).into_string();
        assert!(shown.contains("No import is known to be broken") && !shown.contains("class=\"problems\""), "{shown}");
        assert!(!shown.contains("<script"), "{shown}");
    }

    #[test]
    fn everything_that_is_wrong_is_named() {
        let import = ImportTopology {
            repo: "fungal".parse().unwrap(),
            version_req: "^1.0.0".parse().unwrap(),
            state: "broken".into(),
            binding: ["cdk/access.py".to_owned()].into_iter().collect(),
            verdict: None,
        };
        let gone = ContractTopology {
            name: "gone".parse().unwrap(),
            version: None,
            owner: None,
            exporters: Vec::new(),
            importers: vec![import; 30],
        };
        let domain = DomainTopology { name: "s3-access".parse().unwrap(), members: Vec::new(), contracts: vec![gone] };
        let topology = RealmTopology { domains: vec![domain], broken: 30, unreadable: vec![EVIL.into()], ..topology() };
        let conflict = SyncConflict {
            code: "version-conflict".into(),
            domain: Some("s3-access".parse().unwrap()),
            contract: Some("twice".parse().unwrap()),
            version: Some("1.2.3".parse().unwrap()),
            repo: None,
            set_aside: None,
            meaning: String::new(),
            resolution: vec![EVIL.into()],
        };
        let remote = RemoteStatus {
            remote: "origin".parse().unwrap(),
            url: String::new(),
            synced: true,
            last_contact: None,
            ahead: 2,
            behind: 0,
            differs: Vec::new(),
            more: 0,
        };
        let status = RealmStatus { conflicts: vec![conflict], remotes: vec![remote], ..status() };
        let entry = LogEntry {
            commit: "1234567890123456789012345678901234567890".parse().unwrap(),
            domain: None,
            time: "2026-01-21T09:00:00Z".parse().unwrap(),
            ahead_of_clock: true,
            author: EVIL.into(),
            subject: EVIL.into(),
            repo: Some(EVIL.into()),
            source_commit: None,
        };
        let shown = render(&status, &topology, &[entry], &[]).into_string();
        for text in ["nobody provides it", "and 10 more", "s3-access/twice 1.2.3", "2 ahead, 0 behind", "git blue sync"]
        {
            assert!(shown.contains(text), "{text}: {shown}");
        }
        assert!(!shown.contains("<script") && !shown.contains('\u{202e}'), "{shown}");
        assert_eq!(shown.matches("&lt;script&gt;").count(), 6, "{shown}");
    }
}
