//! Renders an event as text: only names and versions, since free text in a realm is not trusted.

use crate::{
    model::{text::comma_separated_at_most, verdict::ImportEffect},
    wire::{ConcernedImport, Event, EventChange, EventData},
};

/// The maximum number of changes that a text lists.
const MAX_LINES: usize = 20;
/// The maximum number of repositories that a line names.
const MAX_REPOS: usize = 10;

/// Returns the subject line.
pub fn subject(event: &Event) -> String {
    let EventData { realm, changes, more_changes, .. } = &event.data;
    match &changes[..] {
        [] => format!("Test of git blue, realm {realm}"),
        [first, rest @ ..] => {
            let more = rest.len() + more_changes;
            let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
            format!("{}{more}", first.text)
        }
    }
}

/// Returns one line per change.
pub fn lines(event: &Event) -> Vec<String> {
    let data = &event.data;
    if data.changes.is_empty() {
        return vec![format!("This is a test of git blue: changes in the realm {} are sent here.", data.realm)];
    }
    let mut lines: Vec<_> = data.changes.iter().take(MAX_LINES).map(line).collect();
    let more = data.changes.len().saturating_sub(MAX_LINES) + data.more_changes;
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}

fn line(change: &EventChange) -> String {
    let of = |verb: &str, is_so: fn(&ConcernedImport) -> bool| {
        let repos = change.imports.iter().filter(|one| is_so(one)).map(|one| &one.repo);
        let repos = Some(comma_separated_at_most(MAX_REPOS, repos)).filter(|repos| !repos.is_empty());
        repos.map(|repos| format!("{verb} {repos}"))
    };
    let effects = [
        of("breaks", |one| one.state == ImportEffect::Broken && !one.was_broken),
        of("still breaks", |one| one.state == ImportEffect::Broken && one.was_broken),
        of("no longer breaks", |one| one.state.holds() && one.was_broken),
        of("may break", |one| one.state == ImportEffect::Unknown),
    ];
    let effects: Vec<_> = effects.into_iter().flatten().collect();
    if effects.is_empty() { change.text.clone() } else { format!("{}: {}", change.text, effects.join("; ")) }
}
