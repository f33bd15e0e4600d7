//! `/r/REALM/notifications`: the notifications, most important first, for one repository or for every repository on
//! this machine. Viewing them marks nothing as seen: `git blue status` still shows what is pending.

use std::collections::BTreeMap;

use clap::ValueEnum as _;
use maud::{Markup, html};

use super::{
    Contexts,
    components::{self, Tone, badge, command, count, empty, grouped, names, pager, text, time},
    frame::{Page, Part},
    inbox::{self, Inbox},
    links::{Query, Site},
};
use crate::{
    error::OpError,
    model::{
        name::RepoName,
        notification::ChangeType,
        rank::Rank,
        verdict::{ImportEffect, Outcome},
        version::Version,
    },
    ops::{inboxes::pending::key, notifications},
    wire::{JudgedBy, Notification, NotificationFilter, NotificationsList, RealmStatus, State},
};

/// The number of notifications on one page.
const ROWS: usize = 50;
/// The maximum number of changes of one severity that are shown for all repositories.
const MAX_CHANGES: usize = 25;

/// Returns the page.
///
/// # Errors
/// Returns an error if the realm cannot be read, or has no such repository.
pub fn page(contexts: &Contexts, site: &Site, query: &Query) -> Result<Page, OpError> {
    let status = inbox::realm(&contexts.realm(&site.realm)?)?;
    let repo = query.parsed::<RepoName>("repo")?;
    let main = match &repo {
        Some(repo) => {
            let filter = filter(query.get("state"))?;
            let request = notifications::list::Request { filter, page: query.page(ROWS), ..Default::default() };
            let list = notifications::list::run(&contexts.repo(&site.realm, repo)?, &request)?.body;
            one(site, &list, &status, query)
        }
        None => {
            let state = query.get("state").unwrap_or("pending");
            several(site, &inbox::all(contexts, &status, filter(Some(state))?), &status, state)
        }
    };
    let title = format!("Notifications of {}", repo.as_ref().map_or(site.realm.as_str(), RepoName::as_str));
    Ok(Page::new(site, Part::Notifications, title, main))
}

fn filter(word: Option<&str>) -> Result<NotificationFilter, OpError> {
    let parsed = NotificationFilter::from_str(word.unwrap_or("all"), false);
    parsed.map_err(|_| OpError::usage("notifications are pending, seen or expired"))
}

/// Returns the form that selects a repository and a state.
fn choice(site: &Site, status: &RealmStatus, repo: Option<&RepoName>, state: &str) -> Markup {
    html! {
        form.choose method="get" action=(site.part("notifications", &[])) {
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

fn several(site: &Site, inboxes: &[Inbox], status: &RealmStatus, state: &str) -> Markup {
    let changes = by_severity(inboxes);
    html! {
        h1 { "Notifications" }
        (choice(site, status, None, state))
        p.note { "Most important first. Viewing this page does not mark anything as seen." }
        @if inboxes.is_empty() { (empty("No repository of the realm is on this machine.", None)) }
        @else if changes.is_empty() { (empty("No notifications in this state.", None)) }
        @for (rank, changes) in &changes { (severity(site, *rank, changes, state)) }
        @for inbox in inboxes {
            @if let Err(error) = &inbox.list { p.problem dir="auto" { (inbox.repo) ": " (text(&error.message)) } }
        }
        (left_out(site, inboxes, status))
    }
}

/// One change, and the repositories that are notified of it.
struct Change<'a> {
    first: &'a Notification,
    told: Vec<(&'a RepoName, &'a Notification)>,
}

/// Groups notifications by severity. The same change is listed once for all repositories with the same severity.
fn by_severity(inboxes: &[Inbox]) -> BTreeMap<Rank, Vec<Change<'_>>> {
    let mut changes: BTreeMap<Rank, Vec<Change<'_>>> = BTreeMap::new();
    for inbox in inboxes {
        for one in inbox.list.iter().flat_map(|list| &list.notifications) {
            let same = changes.entry(one.rank).or_default();
            match same.iter_mut().find(|change| what(change.first) == what(one)) {
                Some(change) => change.told.push((&inbox.repo, one)),
                None => same.push(Change { first: one, told: vec![(&inbox.repo, one)] }),
            }
        }
    }
    changes.values_mut().for_each(|of_rank| {
        of_rank.sort_by_cached_key(|change| key(change.first));
    });
    changes
}

/// Returns the parts that are equal in all notifications of the same change.
fn what(one: &Notification) -> (&str, State, [Option<&Version>; 2]) {
    (&one.id, one.state, [one.changes.old_version.as_ref(), one.changes.new_version.as_ref()])
}

fn severity(site: &Site, rank: Rank, changes: &[Change<'_>], state: &str) -> Markup {
    let (heading, tone) = match rank {
        Rank::Broken => ("Imports that broke", Tone::Bad),
        Rank::Attention => ("Imports that need attention", Tone::Warn),
        Rank::Import => ("Imports that changed", Tone::Quiet),
        Rank::Conflict => ("Conflicts", Tone::Bad),
        Rank::Contract => ("Other contracts", Tone::Quiet),
        Rank::Binding => ("Bindings", Tone::Quiet),
    };
    html! {
        section aria-labelledby={ "rank-" (rank) } {
            h2 id={ "rank-" (rank) } { (heading) " " (badge(tone, &grouped(changes.len()))) }
            ol class={ "feed " (tone.class()) } {
                @for change in changes.iter().take(MAX_CHANGES) {
                    li data-key={ (rank) "-" (change.first.id) } {
                        (entry(site, change.first, state))
                        (concerned(site, &change.told))
                        @if rank <= Rank::Attention { (next(change.first)) }
                    }
                }
            }
            (components::more(changes.len(), MAX_CHANGES, ""))
        }
    }
}

/// Returns the repositories that a change concerns, and which of their files rely on the changed contract.
fn concerned(site: &Site, told: &[(&RepoName, &Notification)]) -> Markup {
    let repos: Vec<_> = told.iter().map(|(repo, _)| *repo).collect();
    let files: Vec<_> =
        told.iter().flat_map(|(repo, one)| one.binding.files().iter().map(move |file| (repo, file))).collect();
    const MOST: usize = 6;
    html! {
        p.when {
            "For " (names(site, &repos))
            @for (repo, file) in files.iter().take(MOST) { " · " span.path dir="auto" { (repo) ":" (text(file)) } }
            @if let Some(more @ 1..) = files.len().checked_sub(MOST) { " and " (count(more, "file")) }
        }
    }
}

fn next(one: &Notification) -> Markup {
    html! {
        @if let Some(contract) = &one.contract {
            p.next {
                @if one.is_to_review() { (command("git blue review")) }
                @else { (command(&format!("git blue contract log {}/{contract}", one.domain))) }
            }
        }
    }
}

/// Returns a note on what is not listed: further changes, and repositories that are not on this machine.
fn left_out(site: &Site, inboxes: &[Inbox], status: &RealmStatus) -> Markup {
    let further = |inbox: &Inbox| {
        let list = inbox.list.as_ref().ok()?;
        Some((inbox.repo.clone(), list.total - list.notifications.len())).filter(|(_, more)| *more > 0)
    };
    let further: Vec<_> = inboxes.iter().filter_map(further).collect();
    html! {
        @if !further.is_empty() {
            p.note {
                "More for "
                @for (at, (repo, more)) in further.iter().enumerate() {
                    @if at > 0 { ", " }
                    a href=(site.notifications(repo)) { (repo) } " (" (grouped(*more)) ")"
                }
                "."
            }
        }
        @if let Some(more @ 1..) = status.repos.len().checked_sub(inboxes.len()) {
            p.note { (count(more, "repository")) " not on this machine: choose one above." }
        }
    }
}

fn one(site: &Site, body: &NotificationsList, status: &RealmStatus, query: &Query) -> Markup {
    let state = query.get("state").unwrap_or("all");
    let repo = body.current_repo.as_str();
    let at = |cursor: &str| site.part("notifications", &[("repo", repo), ("state", state), ("cursor", cursor)]);
    let summary = &body.summary;
    html! {
        p.crumbs { (components::repo(site, &body.current_repo)) }
        h1 { "Notifications of " (repo) }
        (choice(site, status, Some(&body.current_repo), state))
        p.summary {
            (grouped(summary.pending)) " pending, "
            (grouped(summary.seen)) " seen, "
            (grouped(summary.expired)) " expired"
            @if summary.dropped > 0 { ", " (grouped(summary.dropped)) " seen and no longer kept" }
        }
        @if body.notifications.is_empty() { (empty("No notifications in this state.", None)) }
        @else { (entries(site, &body.notifications, state)) }
        (pager((body.notifications.len(), body.total), (query.get("cursor"), body.next_cursor.as_deref()), at))
    }
}

/// Returns notifications as a list. The state is shown only if it differs from the requested one.
pub fn entries(site: &Site, notifications: &[Notification], state: &str) -> Markup {
    html! {
        ol.feed {
            @for one in notifications {
                li data-key=(one.id) {
                    (entry(site, one, state))
                    @if let Some(ImportEffect::Broken | ImportEffect::Unknown) = one.import_state {
                        p.when { @for file in one.binding.files() { span.path dir="auto" { (text(file)) } " " } }
                    }
                }
            }
        }
    }
}

fn entry(site: &Site, one: &Notification, asked: &str) -> Markup {
    let (state, tone) = match one.state {
        State::Pending => ("pending", Tone::Warn),
        State::Seen => ("seen", Tone::Quiet),
        State::Expired => ("expired", Tone::Quiet),
    };
    html! {
        p.what {
            strong { (one.from_repo) } " " (verb(one)) " "
            @if let Some(contract) = &one.contract { (components::contract(site, &one.domain, contract)) }
            @else { a href=(site.domain(&one.domain)) { (one.domain) } }
            @match (&one.changes.old_version, &one.changes.new_version) {
                (Some(old), Some(new)) if one.contract.is_some() && old != new => {
                    " " a.version href=(compared(site, one)) { (old) " → " (new) }
                }
                (_, Some(new)) => { " " span.version { (new) } }
                _ => {}
            }
            (one.also_phrase())
            @if let Some(changed) = one.imports_phrase() { ": " (text(&changed)) }
            @for (at, orphan) in one.orphans.iter().enumerate() {
                (if at == 0 { ": " } else { ", " }) (components::contract(site, &one.domain, orphan))
            }
            @match one.import_state {
                Some(effect) if effect.holds() && one.is_withdrawn() => { " " (badge(Tone::Warn, "import relies on it")) }
                Some(ImportEffect::Satisfied) if one.judged_by == Some(JudgedBy::VersionRange) => {
                    " " (badge(Tone::Good, "in range"))
                }
                Some(ImportEffect::Satisfied) if one.was_broken => { " " (badge(Tone::Good, "import holds again")) }
                Some(ImportEffect::Satisfied) => { " " (badge(Tone::Good, "import holds")) }
                Some(ImportEffect::Behind) => { " " (badge(Tone::Warn, "import behind")) }
                Some(ImportEffect::Unknown) => { " " (badge(Tone::Warn, "effect unknown")) }
                Some(ImportEffect::Broken) if one.was_broken => { " " (badge(Tone::Bad, "import still broken")) }
                Some(ImportEffect::Broken) => { " " (badge(Tone::Bad, "import broken")) }
                None => {}
            }
        }
        @if let Some(verdict) = one.verdict.as_ref().filter(|verdict| verdict.verdict != Outcome::Compatible) {
            p.why dir="auto" { (text(&verdict.phrase())) }
        }
        p.when {
            @if state != asked { (badge(tone, state)) " " }
            (time(one.arrived_at))
            @if let Some(author) = &one.author { " · by " (text(author)) }
            @if one.changed_by_other { " · " (badge(Tone::Bad, "owned here, but changed by somebody else")) }
            @if one.by_other_clone { " · " (badge(Tone::Quiet, "published by another clone")) }
            @if one.in_future { " · " (badge(Tone::Warn, "dated in the future")) }
            @if one.version_count > 1 { " · " (count(one.version_count, "version")) }
        }
    }
}

fn verb(one: &Notification) -> &'static str {
    match one.change_type {
        _ if one.also_created => "also created, and owns now,",
        ChangeType::ContractAdded if one.is_back_and_taken_over() => "took over and republished",
        ChangeType::ContractAdded if one.is_back() => "published again",
        ChangeType::ContractAdded => "added",
        ChangeType::VersionChanged if one.is_changed_and_taken_over() => "took over",
        ChangeType::VersionChanged if one.rollback => "rolled back",
        ChangeType::VersionChanged => "changed",
        ChangeType::ContractRetired if one.is_retired_and_taken_over() => "took over the retired",
        ChangeType::ContractRetired => "retired",
        ChangeType::ContractDeprecated if one.deprecated.is_none() => "withdrew the deprecation of",
        ChangeType::ContractDeprecated if one.was_deprecated => "changed the deprecation of",
        ChangeType::ContractDeprecated => "deprecated",
        ChangeType::VersionYanked => "yanked a version of",
        ChangeType::SupportChanged => "changed the supported older versions of",
        ChangeType::OwnerChanged => "took over",
        ChangeType::ContractOffered if one.is_new_and_offered() => "added and offers to hand over",
        ChangeType::ContractOffered => "offers to hand over",
        ChangeType::BindingAdded => "published its binding in",
        ChangeType::BindingRemoved => "removed its binding from",
        ChangeType::RepoLeft => "left, but still owns contracts in",
    }
}

fn compared(site: &Site, one: &Notification) -> String {
    let version = |version: &Option<Version>| version.as_ref().map(Version::to_string).unwrap_or_default();
    let (from, to) = (version(&one.changes.old_version), version(&one.changes.new_version));
    match &one.contract {
        Some(contract) => site.contract(&one.domain, contract, &[("from", &from), ("to", &to)]),
        None => site.domain(&one.domain),
    }
}
