//! The versions of a contract, newest first, with the owner's description of what each changed.

use maud::{Markup, html};

use super::{
    components::{Tone, badge, more, source_commit, text, time},
    links::Site,
};
use crate::{
    model::version::Version,
    wire::{ContractGet, VersionOrigin},
};

/// The maximum number of versions that are shown.
const MAX_SHOWN: usize = 50;

/// Returns the versions that arrived in the realm.
pub fn timeline(site: &Site, body: &ContractGet, entries: &[VersionOrigin]) -> Markup {
    let command = format!("git blue contract timeline {}/{}", body.domain, body.contract.name);
    html! {
        ol.timeline {
            @for (at, entry) in entries.iter().take(MAX_SHOWN).enumerate() {
                li aria-current=[(entry.version == body.contract.version).then_some("true")] {
                    (entry_head(site, body, entry, entries.get(at + 1).map(|older| &older.version)))
                    (changes(body, &entry.version))
                }
            }
        }
        (more(entries.len(), MAX_SHOWN, &command))
    }
}

fn entry_head(site: &Site, body: &ContractGet, entry: &VersionOrigin, older: Option<&Version>) -> Markup {
    let version = entry.version.to_string();
    let href = |query: &[(&str, &str)]| site.contract(&body.domain, &body.contract.name, query);
    html! {
        p.at {
            a.version href=(href(&[("version", &version)])) { (version) }
            @if body.current_version.as_ref() == Some(&entry.version) { " " (badge(Tone::Good, "current")) }
            @if body.contract.yanked.iter().any(|one| one.version == entry.version) { " " (badge(Tone::Bad, "yanked")) }
        }
        p.when {
            (time(entry.time)) " · by " (text(&entry.author))
            @if let Some(commit) = &entry.source_commit {
                " · from " (source_commit(commit, entry.commit_url.as_deref()))
            }
            @if entry.in_future { " · " (badge(Tone::Warn, "dated in the future")) }
            @if let Some(older) = older {
                " · "
                a href=(href(&[("version", &version), ("from", &older.to_string()), ("to", &version)])) {
                    "changes" span.unseen { " of " (version) " against " (older) }
                }
            }
        }
    }
}

fn changes(body: &ContractGet, version: &Version) -> Markup {
    let said = body.contract.evolution.iter().filter(|one| one.version == *version);
    let yanked = body.contract.yanked.iter().find(|one| one.version == *version);
    html! {
        @for one in said {
            @if let Some(mark) = one.mark() { p { (badge(Tone::Warn, mark)) } }
            ul { @for change in &one.changes { li dir="auto" { (text(change)) } } }
        }
        @if let Some(yanked) = yanked { p dir="auto" { "Yanked: " (text(&yanked.reason)) } }
    }
}
