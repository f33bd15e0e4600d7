//! `git blue realm pr …`.

use std::{collections::BTreeSet, path::PathBuf};

use clap::{Args, Subcommand};

use super::{
    Verdict,
    input::read_file,
    output::Output,
    text::{Style, Text, Word, plain, styled},
    worktree::render_errors,
};
use crate::{
    error::OpError,
    model::text::{comma_separated, count},
    ops::{
        ctx::Ctx,
        pr::{self, progress::has_to_merge},
    },
    wire::{CommentOutcome, PrComment, PrCreate, PrPrepare, PrRepo, PrStatus, PullRequest, PullState},
};

#[derive(Debug, Subcommand)]
pub enum Command {
    Status(pr::status::Request),
    Prepare(pr::prepare::Request),
    Create(pr::create::Request),
    Comment(Comment),
}

#[derive(Debug, Args)]
pub struct Comment {
    /// The report, in Markdown; - for standard input
    #[arg(long, value_name = "FILE")]
    body: PathBuf,
    /// The number of the pull request [default: the workflow run's, else the branch's]
    #[arg(long, value_name = "N")]
    number: Option<u64>,
}

impl Command {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        match self {
            Self::Status(request) => {
                output.judged(&pr::status::run(ctx, &request)?, render_status, |body| body.errors.is_empty())
            }
            Self::Prepare(request) => {
                output.judged(&pr::prepare::run(ctx, &request)?, render_prepare, |body| body.errors.is_empty())
            }
            Self::Create(request) => {
                output.judged(&pr::create::run(ctx, &request)?, render_create, |body| body.errors.is_empty())
            }
            Self::Comment(Comment { body, number }) => {
                let report = String::from_utf8_lossy(&read_file(ctx, &body)?).into_owned();
                output.shown(&pr::comment::run(ctx, &pr::comment::Request { report, number })?, render_comment)
            }
        }
    }
}

fn render_comment(body: &PrComment, text: &mut Text) {
    let done = match body.outcome {
        CommentOutcome::Created => styled("commented", Style::Green),
        CommentOutcome::Updated => styled("updated the comment", Style::Green),
        CommentOutcome::Unchanged => plain("the comment is up to date"),
        CommentOutcome::Summary => styled("no comment was written; the report is in the summary:", Style::Yellow),
    };
    let place = body.url.clone().or_else(|| body.reason.clone()).unwrap_or_default();
    let number = body.number.map(|number| plain(format!("#{number}")));
    text.line(&std::iter::once(done).chain(number).chain([plain(place)]).collect::<Vec<_>>());
}

fn render_status(body: &PrStatus, text: &mut Text) {
    if let Some(rfc) = &body.rfc {
        text.line(&[plain("rfc"), styled(rfc, Style::Bold)]);
    }
    let place = |repo: &&PrRepo| body.merge_order.iter().position(|name| *name == repo.name).unwrap_or(usize::MAX);
    let mut repos: Vec<_> = body.repos.iter().collect();
    repos.sort_by_key(place);
    for repo in repos {
        let is_shared = body.repos.iter().any(|other| other.name != repo.name && other.pr_problem == repo.pr_problem);
        render_repo(repo, is_shared, text);
    }
    let shared: BTreeSet<_> = body.repos.iter().filter_map(|repo| repo.pr_problem.as_ref()).collect();
    for problem in shared {
        let of = body.repos.iter().filter(|repo| repo.pr_problem.as_ref() == Some(problem));
        let names: Vec<_> = of.map(|repo| &repo.name).collect();
        if names.len() > 1 {
            text.line(&[plain("?"), styled(format!("{problem}: {}", comma_separated(names)), Style::Dim)]);
        }
    }
    let ordered: Vec<_> = body.merge_order.iter().filter(|repo| !body.cyclic.contains(repo)).collect();
    let is_related = |repo: &PrRepo| !repo.depends_on.is_empty() || !repo.blocked_by.is_empty();
    if ordered.len() > 1 && (body.rfc.is_some() || body.repos.iter().any(is_related)) {
        text.gap().line(&[styled("merge order:", Style::Bold), plain(comma_separated(ordered))]);
    }
    if !body.cyclic.is_empty() {
        text.line(&[styled("no merge order works for:", Style::Yellow), plain(comma_separated(&body.cyclic))]);
    }
    if !body.import_conflicts.is_empty() {
        text.heading("imports that break in every merge order");
    }
    for conflict in &body.import_conflicts {
        let at = format!("{}/{}", conflict.domain, conflict.contract);
        text.line(&[
            plain(format!("  {} imports {at} {};", conflict.consumer, conflict.version_req)),
            plain(format!("{} publishes {}", conflict.provider, conflict.new_version)),
            styled(conflict.old_version.as_ref().map(|old| format!("(now {old})")).unwrap_or_default(), Style::Dim),
        ]);
        for way in &conflict.resolutions {
            text.line(&[plain("    -"), plain(way)]);
        }
    }
    if !body.steps.is_empty() {
        text.heading("steps");
        for (at, step) in body.steps.iter().enumerate() {
            text.line(&[plain(format!("  {}.", at + 1)), plain(&step.text)]);
        }
    }
    render_errors(&body.errors, text);
}

/// Prints a repository. A problem that `is_shared` with others is printed below all of them.
fn render_repo(repo: &PrRepo, is_shared: bool, text: &mut Text) {
    let (mark, shown) = if repo.is_current { ("*", Style::Green) } else { (" ", Style::Bold) };
    let verdict = verdict(repo);
    let branch = repo.branch.as_deref().unwrap_or("(no branch)");
    let standing = format!("{branch}, {} ahead, {} behind", repo.commits_ahead, repo.commits_behind);
    text.line(&[styled(format!("{mark} {}:", repo.name), shown), verdict, styled(format!("({standing})"), Style::Dim)]);
    if let Some(pr) = &repo.pr {
        text.line(&[plain("   "), styled(format!("#{}", pr.number), Style::Commit), state(pr), plain(&pr.title)]);
        text.line(&[plain("   "), styled(&pr.url, Style::Dim)]);
    }
    for blocker in repo.blockers.iter().filter(|_| !has_nothing(repo)) {
        text.line(&[plain("    -"), plain(blocker)]);
    }
    if !repo.blocked_by.is_empty() && !repo.ready {
        text.line(&[plain("    - waits for"), plain(comma_separated(&repo.blocked_by))]);
    }
    if let Some(why) = repo.pr_problem.as_ref().filter(|_| !is_shared) {
        text.line(&[plain("    ?"), styled(why, Style::Dim)]);
    }
}

fn verdict(repo: &PrRepo) -> Word {
    match repo.ready {
        true if is_merged(repo) => styled("merged", Style::Green),
        true if repo.blocked_by.is_empty() => styled("ready", Style::Green),
        true => styled(format!("waits for {}", comma_separated(&repo.blocked_by)), Style::Yellow),
        false if has_nothing(repo) => styled("nothing to merge", Style::Dim),
        false => styled("not ready", Style::Yellow),
    }
}

fn is_merged(repo: &PrRepo) -> bool {
    repo.pr.as_ref().is_some_and(|pr| pr.state == PullState::Merged)
}

/// Returns whether the repository has work that is not merged.
fn is_open(repo: &PrRepo) -> bool {
    has_to_merge(repo) || repo.uncommitted_changes > 0
}

/// Returns whether the only obstacle of a repository is that its branch has nothing to merge, or nothing any more.
fn has_nothing(repo: &PrRepo) -> bool {
    !is_open(repo) && !is_merged(repo) && repo.blockers.len() == 1
}

fn state(pr: &PullRequest) -> Word {
    match (pr.state, pr.draft) {
        (PullState::Open, true) => styled("draft", Style::Dim),
        (PullState::Open, false) => styled("open", Style::Green),
        (PullState::Merged, _) => styled("merged", Style::Green),
        (PullState::Closed, _) => styled("closed", Style::Red),
    }
}

fn render_prepare(body: &PrPrepare, text: &mut Text) {
    let verb = if body.dry_run { "would commit" } else { "committed" };
    let files = |number: usize| count(number, "file", "files");
    for repo in &body.repos {
        let what = match (&repo.commit, repo.files.len()) {
            (_, 0) => styled("nothing to commit", Style::Dim),
            (Some(commit), count) => {
                plain(format!("{verb} {} as {}", files(count), commit.get(..10).unwrap_or(commit)))
            }
            (None, count) => plain(format!("{verb} {}", files(count))),
        };
        text.line(&[styled(format!("{}:", repo.name), Style::Bold), what]);
        let rows = |files: &[String], mark: &str, shown: Style| {
            files.iter().map(|file| vec![styled(mark, shown), plain(file)]).collect::<Vec<_>>()
        };
        let tracked = repo.files.iter().map(|file| vec![plain(file)]).collect::<Vec<_>>();
        text.table("  ", &tracked);
        text.table("  ", &rows(&repo.untracked, "untracked:", Style::Dim));
        text.table("  ", &rows(&repo.secrets, "skipped, may be a secret:", Style::Red));
    }
    render_errors(&body.errors, text);
}

fn render_create(body: &PrCreate, text: &mut Text) {
    let mut rows: Vec<_> = body
        .repos
        .iter()
        .map(|repo| {
            let what = match (repo.number, repo.created, repo.updated) {
                (None, _, _) => styled("no pull request", Style::Yellow),
                (Some(number), true, _) => styled(format!("opened #{number}"), Style::Green),
                (Some(number), _, true) => plain(format!("updated #{number}")),
                (Some(number), _, false) => styled(format!("#{number} is up to date"), Style::Dim),
            };
            vec![styled(&repo.name, Style::Bold), what, plain(repo.url.as_deref().unwrap_or_default())]
        })
        .collect();
    let nothing = body.nothing_to_merge.iter();
    rows.extend(nothing.map(|name| vec![styled(name, Style::Bold), styled("nothing to merge", Style::Dim)]));
    text.table("", &rows);
    render_errors(&body.errors, text);
}
