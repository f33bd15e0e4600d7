//! `/r/REALM/notifications`: what changed for each repository. Looking tells nobody: what is pending
//! here is still told by `git blue status`.

use maud::{Markup, html};

use super::{
    Desk,
    frame::{Page, Part},
    inbox::{self, Inbox},
    links::{self, Query},
    pieces::{self, Tone, badge, count, empty, grouped, more, pager, text, time},
};
use crate::{
    error::OpError,
    model::{
        name::{RealmName, RepoName},
        notification::ChangeType,
        verdict::{Holds, Outcome},
    },
    ops::notifications,
    wire::{JudgedBy, Notification, NotificationFilter, NotificationsList, PageRequest, RealmStatus, State},
};

/// How many notifications one page shows.
const ROWS: usize = 50;
/// Most repositories that are listed on one page.
const MAX_REPOS: usize = 12;

/// Returns the page.
///
/// # Errors
/// Returns an error if the realm cannot be read, or has no such repository.
pub fn page(desk: &Desk, realm: &RealmName, query: &Query) -> Result<Page, OpError> {
    let status = inbox::realm(&desk.realm(realm)?)?;
    let repo = query.parsed::<RepoName>("repo")?;
    let main = match &repo {
        Some(repo) => {
            let cursor = query.get("cursor").map(str::to_owned);
            let filter = filter(query.get("state"))?;
            let page = PageRequest { limit: Some(ROWS), cursor };
            let request = notifications::list::Request { filter, page, ..notifications::list::Request::default() };
            let list = notifications::list::run(&desk.repo(realm, repo)?, &request)?.body;
            one(&list, &status, query)
        }
        None => {
            let state = query.get("state").unwrap_or("pending");
            several(&inbox::all(desk, &status, filter(Some(state))?), &status, state)
        }
    };
    let title = format!("Notifications of {}", repo.as_ref().map_or(realm.as_str(), RepoName::as_str));
    Ok(Page { title, realm: Some(realm.clone()), part: Some(Part::Notifications), main })
}

fn filter(word: Option<&str>) -> Result<NotificationFilter, OpError> {
    match word {
        None | Some("all") => Ok(NotificationFilter::All),
        Some("pending") => Ok(NotificationFilter::Pending),
        Some("seen") => Ok(NotificationFilter::Seen),
        Some("expired") => Ok(NotificationFilter::Expired),
        Some(_) => Err(OpError::usage("notifications are pending, seen or expired")),
    }
}

/// The form that chooses a repository and a state.
fn choice(status: &RealmStatus, repo: Option<&RepoName>, state: &str) -> Markup {
    html! {
        form.choose method="get" action=(links::part(&status.realm, "notifications", &[])) {
            label for="repo" { "For" }
            select #repo name="repo" {
                option value="" { "the repositories on this machine" }
                @for line in &status.repos {
                    option value=(line.name) selected[Some(&line.name) == repo] { (line.name) }
                }
            }
            label for="state" { "in state" }
            select #state name="state" {
                @for word in ["all", "pending", "seen", "expired"] {
                    option value=(word) selected[word == state] { (word) }
                }
            }
            button type="submit" { "Show" }
        }
    }
}

fn several(inboxes: &[Inbox], status: &RealmStatus, state: &str) -> Markup {
    html! {
        h1 { "Notifications" }
        (choice(status, None, state))
        p.note {
            "What matters most first. Viewing this page does not mark anything as read."
        }
        @if inboxes.is_empty() { (empty("No repository of the realm lies on this machine.", None)) }
        @for inbox in inboxes.iter().take(MAX_REPOS) {
            @let (id, href) = (format!("repo-{}", inbox.repo), links::notifications(&status.realm, &inbox.repo));
            section aria-labelledby=(id) {
                h2 id=(id) { a href=(href) { (inbox.repo) } }
                @match &inbox.list {
                    Ok(list) if list.notifications.is_empty() => {
                        p.summary { "Nothing is " (if state == "all" { "known" } else { state }) "." }
                    }
                    Ok(list) => {
                        (entries(&list.notifications))
                        (more(list.total, list.notifications.len(), ""))
                    }
                    Err(error) => { p.problem dir="auto" { (text(&error.message)) } }
                }
            }
        }
        @if let Some(more @ 1..) = status.repos.len().checked_sub(inboxes.len().min(MAX_REPOS)) {
            p.note { (count(more, "repository")) " not shown: choose one above." }
        }
    }
}

fn one(body: &NotificationsList, status: &RealmStatus, query: &Query) -> Markup {
    let state = query.get("state").unwrap_or("all");
    let repo = body.current_repo.as_str();
    let at = |cursor: &str| {
        links::part(&body.realm, "notifications", &[("repo", repo), ("state", state), ("cursor", cursor)])
    };
    let summary = &body.summary;
    html! {
        h1 { "Notifications of " (repo) }
        (choice(status, Some(&body.current_repo), state))
        p.summary {
            (grouped(summary.pending)) " pending, "
            (grouped(summary.seen)) " seen, "
            (grouped(summary.expired)) " expired"
        }
        @if body.notifications.is_empty() { (empty("There is nothing in this state.", None)) }
        @else { (entries(&body.notifications)) }
        (pager((body.notifications.len(), body.total), (query.get("cursor"), body.next_cursor.as_deref()), at))
    }
}

/// Returns notifications as a list.
fn entries(notifications: &[Notification]) -> Markup {
    html! { ol.feed { @for one in notifications { li data-key=(one.id) { (entry(one)) } } } }
}

fn entry(one: &Notification) -> Markup {
    let (state, tone) = match one.state {
        State::Pending => ("pending", Tone::Warn),
        State::Seen => ("seen", Tone::Quiet),
        State::Expired => ("expired", Tone::Quiet),
    };
    html! {
        p.what {
            strong { (one.from_repo) } " " (verb(one)) " "
            @if let Some(contract) = &one.contract { (pieces::contract(&one.realm, &one.domain, contract)) }
            @else { (one.domain) }
            @match (&one.changes.old_version, &one.changes.new_version) {
                (Some(old), Some(new)) if one.contract.is_some() => {
                    " " a.version href=(compared(one)) { (old) " → " (new) }
                }
                (None, Some(new)) => { " " span.version { (new) } }
                _ => {}
            }
        }
        p.when {
            (badge(tone, state)) " " (time(one.arrived_at))
            @if let Some(author) = &one.author { " · by " (text(author)) }
            @if one.by_another { " · " (badge(Tone::Bad, "yours, and written by somebody else")) }
            @if one.ahead_of_clock { " · " (badge(Tone::Warn, "dated ahead of this clock")) }
            @if one.coalesced > 1 { " · " (count(one.coalesced, "version")) }
            @match one.import_satisfied {
                Some(Holds::Satisfied) if one.judged_by == Some(JudgedBy::VersionRange) => {
                    " · " (badge(Tone::Good, "in the import's range"))
                }
                Some(Holds::Satisfied) => { " · " (badge(Tone::Good, "import holds")) }
                Some(Holds::Unknown) => { " · " (badge(Tone::Warn, "import unknown")) }
                Some(Holds::Breaks) => { " · " (badge(Tone::Bad, "import broken")) }
                None => {}
            }
            @if let Some(Holds::Breaks | Holds::Unknown) = one.import_satisfied {
                @for file in one.binding.files() { " · " code dir="auto" { (text(file)) } }
            }
            @if let Some(verdict) = one.verdict.as_ref().filter(|verdict| verdict.verdict != Outcome::Compatible) {
                " · " (text(&verdict.phrase()))
            }
        }
    }
}

fn verb(one: &Notification) -> &'static str {
    match one.change_type {
        ChangeType::ContractAdded => "added",
        ChangeType::VersionChanged if one.rollback => "rolled back",
        ChangeType::VersionChanged => "changed",
        ChangeType::ContractRetired => "retired",
        ChangeType::BindingAdded => "updated its binding in",
        ChangeType::BindingRemoved => "removed its binding from",
    }
}

fn compared(one: &Notification) -> String {
    let version =
        |version: &Option<_>| version.as_ref().map(crate::model::version::Version::to_string).unwrap_or_default();
    let (from, to) = (version(&one.changes.old_version), version(&one.changes.new_version));
    match &one.contract {
        Some(contract) => links::contract(&one.realm, &one.domain, contract, &[("from", &from), ("to", &to)]),
        None => links::realm(&one.realm),
    }
}
