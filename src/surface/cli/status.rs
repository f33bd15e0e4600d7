//! `git blue status`: what concerns this repository comes first, and the whole realm is shown on request.

use super::{
    listing::{more, render_cursor, render_unreadable},
    notifications, session, sync,
    text::{Style, Text, Word, plain, styled},
};
use crate::{
    model::{
        name::RepoName,
        publish_policy::Policy,
        rank::Rank,
        text::{comma_separated, count},
        verdict::Outcome,
    },
    wire::{
        DomainStatus, ImportStanding, ImportStatus, JudgedBy, OwnContract, RealmStatus, RemovedFile, Role, Unpublished,
    },
};

/// The maximum number of changes that are shown and marked as seen, unless the whole realm is shown.
pub const MAX_CHANGES: usize = 6;
/// The maximum number of lines of every other kind.
const MAX_IMPORTS: usize = 6;
const MAX_OWN: usize = 4;
const MAX_SESSIONS: usize = 3;
const MAX_FILES: usize = 3;
const MAX_CONFLICTS: usize = 3;
const MAX_REFS: usize = 3;
/// The maximum number of importers that one line names.
const MAX_NAMES: usize = 3;
/// The width of a line of names, in columns.
const WIDTH: usize = 80;

/// The parts that are shown besides the state of the repository.
#[derive(Debug, Clone, Copy)]
pub struct Shown {
    /// The repositories and domains of the realm.
    pub realm: bool,
    /// The paths of the repositories.
    pub paths: bool,
    /// The current time.
    pub now: jiff::Timestamp,
}

/// Prints the status.
pub fn render(body: &RealmStatus, shown: Shown, text: &mut Text) {
    let shows_realm = shown.realm || body.current_repo.is_none();
    let most = |most: usize| if shows_realm { usize::MAX } else { most };
    headline(body, text);
    if let Some(why) = &body.read_only {
        text.line(&[styled("read-only:", Style::Yellow), plain(why)]);
    }
    imports(&body.imports, most(MAX_IMPORTS), text);
    sync::render_published(&body.published, text);
    if let Some(unpublished) = &body.unpublished {
        render_unpublished(unpublished, text);
    }
    if let Some(behind) = &body.behind {
        text.gap();
        text.line(&[styled(behind.phrase(), Style::Yellow)]);
    }
    sync::render_conflicts(&body.conflicts, most(MAX_CONFLICTS), text);
    removed_files(&body.removed_files, most(MAX_FILES), text);
    render_unreadable(&body.unreadable, most(MAX_FILES), text);
    let (listed, bindings) = (&body.notifications, body.bindings_changed.as_ref());
    notifications::render(listed, bindings, body.more_notifications, &body.imports, text);
    if let Some(line) = body.expired_line() {
        text.gap().line(&[styled(line, Style::Yellow)]);
    }
    own_contracts(&body.own_contracts, body.more_own_contracts, most(MAX_OWN), text);
    offers(body, most(MAX_OWN), text);
    let sessions = &body.sessions[..body.sessions.len().min(most(MAX_SESSIONS))];
    session::render(sessions, body.more_sessions + body.sessions.len() - sessions.len(), text);
    sync::render_status(&body.remotes, shown.now, most(MAX_REFS), text);
    if shows_realm {
        realm(body, shown.paths, text);
    } else {
        let repos = count(body.repos.len(), "repository", "repositories");
        let (domains, contracts) = (count(body.total, "domain", "domains"), body.total_contracts);
        let contracts = count(contracts, "contract", "contracts");
        let line = format!("realm {}: {repos}, {domains}, {contracts} (git blue status --all)", body.realm);
        text.gap().line(&[styled(line, Style::Dim)]);
    }
}

/// Prints the realm and repository, and whether anything needs attention.
fn headline(body: &RealmStatus, text: &mut Text) {
    let Some(repo) = &body.current_repo else {
        text.line(&[plain("realm"), styled(&body.realm, Style::Bold)]);
        return;
    };
    let of = |rank: Rank| body.imports.iter().filter(|import| import.rank == rank).count();
    let (broken, unsure) = (of(Rank::Broken), of(Rank::Attention));
    let holding = body.imports.len() - broken - unsure;
    let parts = [
        (broken, Style::Red, "broken"),
        (unsure, Style::Yellow, if unsure == 1 { "needs attention" } else { "need attention" }),
        (holding, Style::Green, if holding == 1 { "holds" } else { "hold" }),
    ];
    let parts: Vec<_> = parts.into_iter().filter(|(number, ..)| *number > 0).collect();
    let mut words = vec![styled(repo, Style::Bold), plain("in the realm"), styled(&body.realm, Style::Bold)];
    for (at, (number, color, word)) in parts.iter().enumerate() {
        let of = if at > 0 {
            ""
        } else if *number == 1 {
            " import"
        } else {
            " imports"
        };
        let end = if at + 1 < parts.len() { "," } else { "" };
        words.push(styled(format!("{number}{of} {word}{end}"), *color));
    }
    if let Some(Word(last, _)) = words.get_mut(2).filter(|_| !parts.is_empty()) {
        last.push(':');
    }
    text.line(&words);
}

/// Prints the state of the repository's imports, the worst first.
fn imports(imports: &[ImportStatus], most: usize, text: &mut Text) {
    text.table("  ", &imports.iter().take(most).map(import).collect::<Vec<_>>());
    if imports.len() > most {
        more(imports.len() - most, "git blue status --all", text);
    }
}

/// Prints the repository's own contracts that others import.
fn own_contracts(own: &[OwnContract], unlisted: usize, most: usize, text: &mut Text) {
    if own.is_empty() {
        return;
    }
    text.heading("your contracts");
    let rows = own.iter().take(most).map(|one| {
        let mut row = vec![plain(format!("{}/{}", one.domain, one.contract)), plain(&one.version)];
        if one.yanked {
            row.push(styled("yanked", Style::Red));
        }
        if !one.broken.is_empty() {
            let unnamed = if one.importers.is_empty() { one.more_importers } else { 0 };
            row.push(styled(format!("breaks {}", names(&one.broken, unnamed)), Style::Red));
        }
        if !one.importers.is_empty() {
            row.push(plain(format!("imported by {}", names(&one.importers, one.more_importers))));
        }
        if one.broken.is_empty() && one.importers.is_empty() {
            row.push(styled("no importers", Style::Dim));
        }
        if let Some(deprecated) = &one.deprecated {
            row.push(styled(format!("({})", deprecated.terms(one.past_sunset)), Style::Yellow));
        }
        row
    });
    text.table("  ", &rows.collect::<Vec<_>>());
    let left = own.len().saturating_sub(most) + unlisted;
    if left > 0 {
        more(left, "git blue contract list", text);
    }
}

/// Prints the offers that are neither accepted nor withdrawn.
fn offers(body: &RealmStatus, most: usize, text: &mut Text) {
    if body.offers.is_empty() {
        return;
    }
    text.heading("open offers");
    let rows = body.offers.iter().take(most).map(|one| {
        let state = if body.current_repo.as_ref() == Some(&one.from) {
            format!("offered to {}, which has not accepted it yet", one.to)
        } else {
            format!("offered by {}", one.from)
        };
        vec![plain(format!("{}/{}", one.domain, one.contract)), styled(state, Style::Yellow)]
    });
    text.table("  ", &rows.collect::<Vec<_>>());
    let left = body.offers.len().saturating_sub(most) + body.more_offers;
    if left > 0 {
        more(left, "git blue status --all", text);
    }
}

/// Returns the first names and the number of the others: the rest of `repos`, and the `unlisted` ones.
fn names(repos: &[RepoName], unlisted: usize) -> String {
    let shown = comma_separated(repos.iter().take(MAX_NAMES));
    match repos.len().saturating_sub(MAX_NAMES) + unlisted {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn removed_files(files: &[RemovedFile], most: usize, text: &mut Text) {
    if files.is_empty() {
        return;
    }
    text.heading("contracts without a file");
    for RemovedFile { domain, contract, file } in files.iter().take(most) {
        let stays = format!("is not committed; {domain}/{contract} stays in the realm until it is retired");
        text.line(&[plain(" "), styled(file, Style::Yellow), plain(stays)]);
    }
    if files.len() > most {
        more(files.len() - most, "git blue status --all", text);
    }
}

/// Prints the repositories and domains.
fn realm(body: &RealmStatus, paths: bool, text: &mut Text) {
    text.heading("repositories");
    if paths {
        let rows = body.repos.iter().map(|repo| {
            let path = match &repo.path {
                Some(path) if std::path::Path::new(path).is_dir() => path.clone(),
                Some(path) => format!("{path} (missing)"),
                None => "not on this machine".into(),
            };
            vec![styled(&repo.name, Style::Plain), styled(path, Style::Dim)]
        });
        text.table("  ", &rows.collect::<Vec<_>>());
    } else {
        let names: Vec<_> = body.repos.iter().map(|repo| repo.name.to_string()).collect();
        let longest = names.iter().map(String::len).max().unwrap_or_default();
        let columns = (WIDTH / (longest + 2)).max(1);
        let rows = names.chunks(columns).map(|row| row.iter().map(plain).collect());
        text.table("  ", &rows.collect::<Vec<Vec<_>>>());
    }
    for one in &body.domains {
        domain(one, text);
    }
    if body.next_cursor.is_some() {
        text.gap().line(&[styled(format!("{} of {} domains", body.domains.len(), body.total), Style::Dim)]);
        render_cursor(body.next_cursor.as_deref(), text);
    }
}

fn domain(domain: &DomainStatus, text: &mut Text) {
    text.heading(&format!("domain {}", domain.name));
    let members = Some(comma_separated(&domain.members)).filter(|members| !members.is_empty());
    text.line(&[plain(" "), styled(members.as_deref().unwrap_or("no members"), Style::Dim)]);
    let contracts = domain.contracts.iter().map(|contract| {
        vec![plain(&contract.name), plain(&contract.version), styled(format!("of {}", contract.owner), Style::Dim)]
    });
    text.table("  ", &contracts.collect::<Vec<_>>());
    if domain.more_contracts > 0 {
        let rest = format!("and {} more: git blue contract list --domain {}", domain.more_contracts, domain.name);
        text.line(&[plain(" "), styled(rest, Style::Dim)]);
    }
    let bindings = domain.bindings.iter().map(|binding| {
        let role = match binding.role {
            Role::Provider => "provider",
            Role::Consumer => "consumer",
            Role::Both => "provider and consumer",
        };
        let counts = [(binding.exports, "exports"), (binding.imports, "imports")];
        let counts: Vec<_> =
            counts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{what} {n}")).collect();
        let counts = if counts.is_empty() { "nothing yet".to_owned() } else { counts.join(", ") };
        vec![plain(&binding.repo), plain(role), styled(counts, Style::Dim)]
    });
    text.table("  ", &bindings.collect::<Vec<_>>());
}

fn render_unpublished(unpublished: &Unpublished, text: &mut Text) {
    text.heading("unpublished");
    let commit = unpublished.commit.short();
    text.line(&[plain(" "), styled(&commit, Style::Commit), plain(unpublished.phrase())]);
    let why = match (&unpublished.problem, unpublished.policy) {
        (Some(problem), _) if unpublished.failed_at.is_none() => {
            styled(format!("not published: {problem}"), Style::Red)
        }
        (Some(problem), _) => styled(format!("publishing {commit} failed: {problem}"), Style::Red),
        (None, Policy::Pushed) if !unpublished.due => {
            styled(format!("will be published once it is pushed ({})", unpublished.setting()), Style::Dim)
        }
        (None, Policy::Ci) => styled(format!("will be published by CI ({})", unpublished.setting()), Style::Dim),
        (None, Policy::Off) => styled(format!("must be published by hand ({})", unpublished.setting()), Style::Dim),
        (None, _) => styled("will be published by the next hook, or git blue status without --peek", Style::Dim),
    };
    text.line(&[plain(" "), why]);
}

/// Returns the state of one import, with the file that relies on it if that matters.
fn import(import: &ImportStatus) -> Vec<Word> {
    let now = import.current_version.as_ref().map_or_else(|| "missing".into(), ToString::to_string);
    let outcome = import.verdict.as_ref().map(|verdict| (verdict.verdict, verdict.phrase()));
    let lacks = import.verdict.as_ref().is_some_and(|verdict| !verdict.unnamed.is_empty());
    let yanked = if import.yanked { " (yanked)" } else { "" };
    let verdict = match (import.state, &import.resolved_version) {
        (ImportStanding::Broken, Some(version)) => {
            let shown = outcome.map(|(_, phrase)| format!(": {phrase}")).unwrap_or_default();
            styled(format!("broken: {version}{yanked} is in the range, but breaks the code{shown}"), Style::Red)
        }
        (ImportStanding::Current, _) if import.retired => {
            styled(format!("accepts {now}, but the contract is retired"), Style::Yellow)
        }
        (ImportStanding::Current, _) if import.yanked => {
            styled(format!("accepts {now}, which was yanked"), Style::Yellow)
        }
        (ImportStanding::Current, _) if import.orphaned => {
            styled(format!("accepts {now}, but its owner left the domain"), Style::Yellow)
        }
        (ImportStanding::Current, _) => match outcome {
            Some((outcome, phrase)) if outcome == Outcome::Unknown || lacks => {
                styled(format!("accepts {now}; {phrase}"), Style::Yellow)
            }
            _ if import.judged_by == JudgedBy::VersionRange => {
                styled(format!("accepts {now} (judged by version range only)"), Style::Green)
            }
            _ => styled(format!("accepts {now}"), Style::Green),
        },
        (ImportStanding::Behind, Some(served)) => {
            let said = if import.retired {
                "and the contract is retired".into()
            } else {
                format!("but {served} is still served")
            };
            styled(format!("behind: the current version is {now}, {said}"), Style::Yellow)
        }
        (ImportStanding::Unknown, _) => styled("unknown: the contract cannot be read", Style::Yellow),
        _ if import.current_version.is_none() => styled("broken: no release is published", Style::Red),
        _ if import.retired => {
            styled(format!("broken: the current version is {now}, and the contract is retired"), Style::Red)
        }
        _ => styled(format!("broken: the current version is {now}{yanked}"), Style::Red),
    };
    let adapted = import.adapted_version.as_ref().filter(|adapted| Some(*adapted) != import.current_version.as_ref());
    let adapted = adapted.map(|version| format!("adapted to {version}"));
    let name = plain(format!("{}/{}", import.domain, import.contract));
    let file = Some(&import.binding).filter(|files| import.rank < Rank::Import && !files.is_empty());
    let mut row = vec![name, plain(&import.version_req), verdict];
    let behind: Vec<_> =
        [adapted, file.map(|file| format!("in {file}")), leaving(import)].into_iter().flatten().collect();
    row.push(styled(if behind.is_empty() { String::new() } else { format!("({})", behind.join(", ")) }, Style::Dim));
    row
}

/// Returns the note that a contract is deprecated, with its end date and replacement.
fn leaving(import: &ImportStatus) -> Option<String> {
    import.deprecated.as_ref().map(|deprecated| deprecated.terms(import.past_sunset))
}
