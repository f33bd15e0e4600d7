//! `git blue sync`.

use clap::Args;

use super::{
    Verdict, notifications,
    output::Output,
    text::{Style, Text, Word, plain, styled},
};
use crate::{
    error::OpError,
    model::{conflict::NOT_OWNER, text::count},
    ops::{ctx::Ctx, realm},
    surface::publication_summary,
    wire::{
        Published, RealmReseed, RealmSync, RefSync, RefUpdate, RemoteStatus, RemoteSync, SyncConflict, SyncProblem,
        Unpublished,
    },
};

#[derive(Debug, Args)]
pub struct Sync {
    #[command(flatten)]
    request: realm::sync::Request,
    /// Do nothing unless automatic sync is on and no other automatic sync is waiting
    #[arg(long, hide = true, conflicts_with_all = ["dry_run", "remote"])]
    by_itself: bool,
}

impl Sync {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        if self.by_itself {
            realm::sync::auto(ctx, true)?;
            return Ok(Verdict::Yes);
        }
        output.judged(&realm::sync::run(ctx, &self.request)?, render, |body| body.complete)
    }
}

fn render(body: &RealmSync, text: &mut Text) {
    for remote in &body.remotes {
        text.line(&[plain("remote"), styled(&remote.remote, Style::Bold), styled(&remote.url, Style::Dim)]);
        let (came, went) = if body.dry_run { ("would fetch", "would push") } else { ("fetched", "pushed") };
        let rows = rows(remote, came, went);
        if rows.is_empty() {
            text.line(&[plain("  already up to date")]);
        }
        text.table("  ", &rows);
    }
    render_published(&body.published, text);
    if let Some(behind) = &body.behind {
        text.line(&[styled(behind.phrase(), Style::Yellow)]);
    }
    if let Some(Unpublished { commit, problem: Some(problem), .. }) = &body.unpublished {
        text.line(&[styled(format!("{} is not published: {problem}", commit.short()), Style::Red)]);
    }
    let (listed, bindings) = (&body.notifications, body.bindings_changed.as_ref());
    notifications::render(listed, bindings, body.more_notifications, &[], text);
}

/// Prints the commits that a command published in passing, and whom they break.
pub fn render_published(published: &[Published], text: &mut Text) {
    if !published.is_empty() {
        let phrases = publication_summary::phrases(published.iter());
        text.gap();
        text.line(&[styled("published now:", Style::Green), plain(phrases)]);
        if let Some(breaks) = publication_summary::breaks(published) {
            text.line(&[styled(breaks, Style::Red)]);
        }
    }
}

/// Prints what was restored on a remote.
pub fn render_reseed(body: &RealmReseed, text: &mut Text) {
    text.line(&[plain("remote"), styled(&body.remote, Style::Bold), styled(&body.url, Style::Dim)]);
    if body.restored.is_empty() && body.problems.is_empty() {
        text.line(&[plain("  already up to date")]);
    }
    let mut rows: Vec<_> = body
        .restored
        .iter()
        .map(|name| vec![styled("restored", Style::Green), styled(below(name), Style::Bold)])
        .collect();
    rows.extend(body.problems.iter().map(problem));
    text.table("  ", &rows);
}

fn problem(problem: &SyncProblem) -> Vec<Word> {
    let name = problem.name.as_deref().map(below).unwrap_or_default();
    vec![styled("problem", Style::Red), plain(name), plain(&problem.message)]
}

/// Prints conflicts between two machines, and the commands that resolve them.
pub fn render_conflicts(conflicts: &[SyncConflict], most: usize, text: &mut Text) {
    if conflicts.is_empty() {
        return;
    }
    text.heading("conflicts");
    for one in conflicts.iter().take(most) {
        text.line(&[plain(" "), styled(subject(one), Style::Red), styled(format!("[{}]", one.code), Style::Dim)]);
        if one.set_aside.is_some() || one.code == NOT_OWNER {
            text.line(&[plain("   "), plain(&one.meaning)]);
        }
        for command in &one.resolution {
            text.line(&[plain("   "), styled(command, Style::Dim)]);
        }
    }
    if conflicts.len() > most {
        text.line(&[plain("  and"), plain(conflicts.len() - most), plain("more: git blue check")]);
    }
}

/// Prints when each remote was last contacted, if that was days ago, whether the last sync had problems, and how the
/// local realm differs from the remote.
pub fn render_status(remotes: &[RemoteStatus], now: jiff::Timestamp, most: usize, text: &mut Text) {
    for remote in remotes {
        let old = remote.last_contact.and_then(|last| days(last, now));
        let old = old.map(|days| format!("last contact with {} was {days} ago: git blue sync", remote.remote));
        let incomplete = || format!("the last sync with {} was incomplete: git blue doctor", remote.remote);
        for warning in old.into_iter().chain((remote.problems > 0).then(incomplete)) {
            text.gap().line(&[styled(warning, Style::Yellow)]);
        }
    }
    for remote in remotes.iter().filter(|remote| !remote.differs.is_empty()) {
        text.heading(&format!("not in sync with {} ({})", remote.remote, remote.url));
        let commits = |n: usize, what: &str| (n > 0).then(|| format!("{} {what}", count(n, "commit", "commits")));
        let rows = remote.differs.iter().take(most).map(|one| {
            let name = one.domain.as_ref().map_or_else(|| below(&one.name).to_owned(), ToString::to_string);
            let counts = [commits(one.ahead, "to push"), commits(one.behind, "to fetch")];
            let counts = counts.into_iter().flatten().collect::<Vec<_>>().join(", ");
            vec![styled(name, Style::Bold), styled(counts, Style::Yellow)]
        });
        text.table("  ", &rows.collect::<Vec<_>>());
        let more = remote.more + remote.differs.len().saturating_sub(most);
        if more > 0 {
            text.line(&[plain("  and"), plain(more), plain("more")]);
        }
    }
}

/// Returns the number of days between two times as text, or `None` if it is below one.
fn days(from: jiff::Timestamp, to: jiff::Timestamp) -> Option<String> {
    match to.duration_since(from).as_hours() / 24 {
        ..=0 => None,
        1 => Some("1 day".to_owned()),
        days => Some(format!("{days} days")),
    }
}

fn rows(remote: &RemoteSync, came: &str, went: &str) -> Vec<Vec<Word>> {
    let moved = |label: &str, line: &RefSync, shown: Style| {
        let range = match (line.old, line.new) {
            (None, new) => new.map(|new| new.short()).unwrap_or_default(),
            (Some(old), new) => format!("{}..{}", old.short(), new.map_or_else(|| "-".into(), |new| new.short())),
        };
        vec![
            styled(label, shown),
            styled(name(line), Style::Bold),
            styled(range, Style::Commit),
            plain(update_word(line.update)),
        ]
    };
    let mut rows: Vec<_> = remote.rewound.iter().map(|line| moved("rewound", line, Style::Yellow)).collect();
    rows.extend(remote.received.iter().map(|line| moved(came, line, Style::Green)));
    rows.extend(remote.sent.iter().map(|line| moved(went, line, Style::Green)));
    rows.extend(
        remote.conflicts.iter().map(|one| vec![styled("conflict", Style::Red), plain(subject(one)), plain(&*one.code)]),
    );
    rows.extend(remote.problems.iter().map(problem));
    rows
}

fn name(line: &RefSync) -> String {
    line.domain.as_ref().map_or_else(|| below(&line.name).to_owned(), ToString::to_string)
}

fn below(name: &str) -> &str {
    name.strip_prefix("refs/blue/").unwrap_or(name)
}

fn update_word(update: RefUpdate) -> &'static str {
    match update {
        RefUpdate::New => "new",
        RefUpdate::FastForward => "",
        RefUpdate::Merged => "merged with local changes",
        RefUpdate::Rewound => "rewound by the remote; merged again",
        RefUpdate::Deleted => "deleted on the remote; will be pushed again",
    }
}

fn subject(one: &SyncConflict) -> String {
    if let Some(commit) = &one.set_aside {
        let within = one.domain.as_ref().map_or("the realm", |domain| domain.as_str());
        return format!("{} in {within}, by {}", commit.id, commit.author);
    }
    let domain = one.domain.as_ref().map(|domain| format!("{domain}/")).unwrap_or_default();
    match (&one.contract, &one.version, &one.repo) {
        (Some(contract), Some(version), _) => format!("{domain}{contract} {version}"),
        (Some(contract), None, _) => format!("{domain}{contract}"),
        (_, _, Some(repo)) => format!("{domain}{repo}"),
        _ => domain,
    }
}
