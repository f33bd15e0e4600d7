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
    error::{ErrorCode, OpError},
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
    let log = match latest(ctx, None, MAX_LOG) {
        // What cannot be read is listed, and the rest is shown.
        Err(error) if error.code == ErrorCode::Damaged => Vec::new(),
        log => log?,
    };
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
    use serde_json::{Value, json};

    use super::*;

    const EVIL: &str = "<script>alert(1)</script>\u{202e}";

    /// Returns the page of a realm with these causes for attention.
    fn shown(topology: Value, conflicts: Value, remotes: Value, log: Value) -> String {
        let status = json!({
            "realm": "aperture", "repos": [{"name": "fungal", "path": EVIL, "is_current": false}], "total": 1,
            "conflicts": conflicts, "remotes": remotes, "domains": [], "imports": [], "sessions": [],
            "more_sessions": 0, "unreadable_domains": [], "unreadable": [], "published": [], "removed_files": [],
            "notifications": [], "more_notifications": 0, "expired_notifications": 0,
        });
        let seen = Seen {
            status: serde_json::from_value(status).unwrap(),
            topology: serde_json::from_value(topology).unwrap(),
            log: serde_json::from_value(log).unwrap(),
            inboxes: Some(Vec::new()),
        };
        render(&Site::now(&seen.status.realm.clone()), &seen, &Filter::default()).into_string()
    }

    #[test]
    fn a_realm_without_problems_says_so() {
        let topology = json!({"realm": "aperture", "repos": ["fungal"], "domains": [], "broken": 0, "unreadable": []});
        let shown = shown(topology, json!([]), json!([]), json!([]));
        assert!(shown.contains("No import is known to be broken") && !shown.contains("class=\"causes\""), "{shown}");
        assert!(!shown.contains("<script"), "{shown}");
    }

    #[test]
    fn every_problem_is_listed() {
        let import = |state: &str| json!({"repo": "fungal", "version_req": "^1.0.0", "state": state, "binding": "cdk/access.py"});
        let judged = |state: &str, outcome: &str| {
            let mut import = import(state);
            import["verdict"] = json!({
                "verdict": outcome, "basis": "schemas", "direction": "backwards", "reading": "lenient",
                "old_version": "2.0.0", "new_version": "1.0.0", "difference": null, "more": 0, "reason": EVIL,
            });
            import
        };
        let contracts = json!([
            {"name": "gone", "exporters": [], "importers": vec![import("broken"); 30]},
            {
                "name": "left", "version": "1.0.0", "owner": "fungal", "exporters": [], "importers": [import("behind")],
                "retired": true,
            },
            {
                "name": "odd", "version": "1.0.0", "owner": "fungal", "exporters": [], "importers": [import("current")],
                "yanked": true,
            },
            {
                "name": "served", "version": "5.0.0", "owner": "fungal", "exporters": [],
                "importers": [judged("broken", "breaks")],
            },
            {
                "name": "undecided", "version": "1.0.0", "owner": "fungal", "exporters": [],
                "importers": [judged("current", "unknown")],
            },
            {
                "name": "leaving", "version": "1.0.0", "owner": "fungal", "exporters": [],
                "importers": [import("current")],
                "deprecated": {"since": "0.9.0", "sunset": "2027-01-01", "replaced_by": "next"},
            },
        ]);
        let topology = json!({
            "realm": "aperture", "repos": ["fungal"], "broken": 30, "cycles": ["a -(b/c)-> a"], "unreadable": [EVIL],
            "domains": [{"name": "s3-access", "members": [], "contracts": contracts}],
        });
        let conflict = json!({
            "code": "version-conflict", "domain": "s3-access", "contract": "twice", "version": "1.2.3", "meaning": "",
            "resolution": [EVIL],
        });
        let remote = json!({
            "remote": "origin", "url": "", "synced": true, "ahead": 2, "behind": 0, "differs": [], "more": 0,
        });
        let entry = json!({
            "commit": "1234567890123456789012345678901234567890", "time": "2026-01-21T09:00:00Z", "in_future": true,
            "author": EVIL, "subject": EVIL, "reason": EVIL, "repo": EVIL,
        });
        let shown = shown(topology, json!([conflict]), json!([remote]), json!([entry]));
        for text in [
            "does not exist, but is imported by <strong>30</strong>",
            "and 24 more",
            "s3-access/twice 1.2.3",
            "2 ahead, 0 behind",
            ">git blue --realm aperture sync<",
            "Dependency cycle: <span class=\"path\">a -(b/c)-&gt; a",
            "served until <strong>2027-01-01</strong>",
            ">git blue --realm aperture contract get s3-access/next<",
            "<span class=\"version\">1.0.0</span> breaks <strong>1</strong>",
            "<span class=\"version\">1.0.0</span> may break <strong>1</strong>",
            "</a> is retired. 1 repository still imports it",
            "<span class=\"version\">1.0.0</span> was yanked. 1 repository still imports it",
            "<span class=\"version\">1.0.0</span> is not yet accepted by <strong>1</strong>",
        ] {
            assert!(shown.contains(text), "{text}: {shown}");
        }
        assert!(!shown.contains("<script") && !shown.contains('\u{202e}'), "{shown}");
        assert_eq!(shown.matches("&lt;script&gt;").count(), 9, "{shown}");
        // There is one cause of each kind, and each suggests a command.
        assert_eq!(shown.matches("class=\"kind\"").count(), 11, "{shown}");
        assert_eq!(shown.matches("<p class=\"next\"><code").count(), 11, "{shown}");
    }
}
