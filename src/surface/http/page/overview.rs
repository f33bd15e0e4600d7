//! `/r/REALM`: an overview of the realm: what is broken, what is pending, and the topology.

use maud::{Markup, html};

use super::{
    Contexts, attention,
    components::{self, Tone, badge, grouped, more, text, time},
    frame::{Page, Part},
    graph::{self, Filter, Scope},
    inbox::{self, Inbox},
    links::{Query, Site},
    sessions,
};
use crate::{
    error::OpError,
    model::name::{DomainName, RepoName},
    ops::{ctx::Ctx, realm},
    wire::{LogEntry, NotificationFilter, PageRequest, RealmStatus, RealmTopology},
};

/// The maximum number of log entries.
const MAX_LOG: usize = 8;
/// The maximum number of repositories that are listed.
const MAX_REPOS: usize = 50;

/// Returns the page.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn page(contexts: &Contexts, site: &Site, ctx: &Ctx, query: &Query) -> Result<Page, OpError> {
    let filter = Filter::of(query)?;
    let status = inbox::realm(ctx)?;
    let topology = realm::topology::run(ctx, &realm::topology::Request::default())?.body;
    let log = latest(ctx, None, MAX_LOG)?;
    let inboxes = match &site.past {
        None => Some(inbox::all(contexts, &status, NotificationFilter::Pending)),
        Some(_) => None,
    };
    let main = render(site, &Seen { status, topology, log, inboxes }, &filter);
    Ok(Page::new(site, Part::Overview, site.realm.as_str(), main))
}

/// The data that the page shows.
struct Seen {
    status: RealmStatus,
    topology: RealmTopology,
    log: Vec<LogEntry>,
    /// The notifications, which exist only for the current state.
    inboxes: Option<Vec<Inbox>>,
}

fn render(site: &Site, seen: &Seen, filter: &Filter) -> Markup {
    let Seen { status, topology, log, inboxes } = seen;
    let is_now = inboxes.is_some();
    html! {
        h1 { (status.realm) }
        (numbers(site, seen))
        (attention::section(site, topology, Some(status).filter(|_| is_now)))
        (graph::section(site, topology, Scope::Realm, filter))
        div.split {
            section.wide aria-labelledby="latest" {
                h2 #latest { "Latest" }
                (history(site, log))
            }
            (repositories(site, status, inboxes.as_deref().unwrap_or_default()))
        }
        @if is_now && !status.sessions.is_empty() {
            section aria-labelledby="sessions" {
                h2 #sessions { "Sessions" }
                (sessions::table(site, &status.sessions))
                @if status.more_sessions > 0 {
                    p.note { a href=(site.part("sessions", &[])) { (grouped(status.more_sessions)) " more" } }
                }
            }
        }
    }
}

fn numbers(site: &Site, seen: &Seen) -> Markup {
    let Seen { status, topology, inboxes, .. } = seen;
    let contracts = topology.domains.iter().flat_map(|domain| &domain.contracts);
    let existing = contracts.filter(|contract| contract.owner.is_some()).count();
    let pending = inboxes.as_ref().map(|inboxes| {
        let lists = inboxes.iter().filter_map(|inbox| inbox.list.as_ref().ok());
        lists.map(|list| list.summary.pending).sum()
    });
    html! {
        dl.numbers {
            (number("Repositories", topology.repos.len(), Tone::Quiet, None))
            (number("Domains", status.total, Tone::Quiet, None))
            (number("Contracts", existing, Tone::Quiet, Some(site.part("contracts", &[]))))
            (number("Broken imports", topology.broken, Tone::Bad, None))
            @if let Some(pending) = pending {
                (number("Pending changes", pending, Tone::Warn, Some(site.part("notifications", &[]))))
            }
        }
    }
}

/// Returns a number with its label. A zero is always quiet.
pub fn number(label: &str, value: usize, tone: Tone, href: Option<String>) -> Markup {
    let tone = if value == 0 { Tone::Quiet } else { tone };
    html! {
        div class=(tone.class()) {
            dt { (label) }
            dd { @if let Some(href) = href { a href=(href) { (grouped(value)) } } @else { (grouped(value)) } }
        }
    }
}

/// Returns the latest log entries of a realm, or of one domain.
///
/// # Errors
/// Returns an error if there is no such domain, or it cannot be read.
pub fn latest(ctx: &Ctx, domain: Option<&DomainName>, limit: usize) -> Result<Vec<LogEntry>, OpError> {
    let page = PageRequest::first(limit);
    let request = realm::log::Request { domain: domain.cloned(), page, ..Default::default() };
    Ok(realm::log::run(ctx, &request)?.body.entries)
}

/// Returns log entries as a list.
pub fn history(site: &Site, log: &[LogEntry]) -> Markup {
    html! {
        ol.feed {
            @for entry in log {
                li data-key=(entry.commit) {
                    p.what dir="auto" {
                        (text(&entry.subject))
                        @if let Some(reason) = &entry.reason { ": " (text(reason)) }
                    }
                    p.when {
                        (time(entry.time))
                        @if let Some(domain) = &entry.domain { " · " a href=(site.domain(domain)) { (domain) } }
                        @if let Some(repo) = &entry.repo { " · from " (text(repo)) }
                        @if let Some(commit) = &entry.source_commit {
                            " " (components::source_commit(commit, entry.commit_url.as_deref()))
                        }
                        " · by " (text(&entry.author))
                        @if entry.in_future { " · " (badge(Tone::Warn, "dated in the future")) }
                    }
                }
            }
        }
    }
}

fn repositories(site: &Site, status: &RealmStatus, inboxes: &[Inbox]) -> Markup {
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
                        (components::repo(site, &repo.name))
                        @if let Some(number @ 1..) = pending(&repo.name) {
                            " " a.quiet href=(site.notifications(&repo.name)) {
                                (badge(Tone::Warn, &format!("{} pending", grouped(number))))
                            }
                        }
                        @if let Some(path) = &repo.path { p.path { (text(path)) } }
                        @else { p.none { "not on this machine" } }
                    }
                }
            }
            (more(status.repos.len(), MAX_REPOS, "git blue status --all -v"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{
        ContractTopology, Deprecation, DomainTopology, ImportTopology, RemoteStatus, RepoLine, SyncConflict,
    };

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
            behind: None,
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
            total: 0,
            next_cursor: None,
            broken: 0,
            cycles: Vec::new(),
            unreadable: Vec::new(),
        }
    }

    fn shown(status: RealmStatus, topology: RealmTopology, log: Vec<LogEntry>) -> String {
        let seen = Seen { status, topology, log, inboxes: Some(Vec::new()) };
        render(&Site::now(&seen.status.realm.clone()), &seen, &Filter::default()).into_string()
    }

    #[test]
    fn a_realm_without_problems_says_so() {
        let shown = shown(status(), topology(), Vec::new());
        assert!(shown.contains("No import is known to be broken") && !shown.contains("class=\"causes\""), "{shown}");
        assert!(!shown.contains("<script"), "{shown}");
    }

    #[test]
    fn every_problem_is_listed() {
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
            importers: vec![import.clone(); 30],
            deprecated: None,
            retired: false,
        };
        let leaving = ContractTopology {
            name: "leaving".parse().unwrap(),
            version: Some("1.0.0".parse().unwrap()),
            owner: Some("fungal".parse().unwrap()),
            importers: vec![ImportTopology { state: "current".into(), ..import }],
            deprecated: Some(Deprecation {
                since: "0.9.0".parse().unwrap(),
                sunset: Some("2027-01-01".parse().unwrap()),
                replaced_by: Some("next".parse().unwrap()),
            }),
            exporters: Vec::new(),
            retired: false,
        };
        let contracts = vec![gone, leaving];
        let domain = DomainTopology { name: "s3-access".parse().unwrap(), members: Vec::new(), contracts };
        let topology = RealmTopology {
            domains: vec![domain],
            broken: 30,
            cycles: vec!["a -(b/c)-> a".into()],
            unreadable: vec![EVIL.into()],
            ..topology()
        };
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
            in_future: true,
            author: EVIL.into(),
            subject: EVIL.into(),
            reason: Some(EVIL.into()),
            repo: Some(EVIL.into()),
            source_commit: None,
            commit_url: None,
        };
        let shown = shown(status, topology, vec![entry]);
        for text in [
            "it does not exist, but is imported by <strong>30</strong>",
            "and 24 more",
            "s3-access/twice 1.2.3",
            "2 ahead, 0 behind",
            ">git blue sync<",
            "Dependency cycle: <span class=\"path\">a -(b/c)-&gt; a",
            "served until <strong>2027-01-01</strong>",
            ">git blue contract get s3-access/next<",
        ] {
            assert!(shown.contains(text), "{text}: {shown}");
        }
        assert!(!shown.contains("<script") && !shown.contains('\u{202e}'), "{shown}");
        assert_eq!(shown.matches("&lt;script&gt;").count(), 7, "{shown}");
        // There is one cause of each kind, and each suggests a command.
        assert_eq!(shown.matches("class=\"kind\"").count(), 6, "{shown}");
        assert_eq!(shown.matches("<p class=\"next\"><code").count(), 6, "{shown}");
    }
}
