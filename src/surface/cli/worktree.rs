//! `git blue realm worktree …`.

use clap::{Args, Subcommand};

use super::{
    Verdict,
    output::Output,
    text::{Style, Text, Word, plain, styled},
};
use crate::{
    error::{ErrorCode, OpError},
    model::name::RepoName,
    ops::{ctx::Ctx, worktree},
    wire::{RepoProblem, WorktreeCreate, WorktreeLine, WorktreeList, WorktreeRemove, WorktreeState},
};

#[derive(Debug, Subcommand)]
pub enum Command {
    Create(Create),
    List,
    Remove(worktree::remove::Request),
}

#[derive(Debug, Args)]
pub struct Create {
    #[command(flatten)]
    request: worktree::create::Request,
    /// Clone without asking
    #[arg(short, long, requires = "clone")]
    yes: bool,
}

impl Command {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        match self {
            Self::Create(arguments) => arguments.run(ctx, output),
            Self::List => output.judged(&worktree::list::run(ctx)?, render_list, |body| body.errors.is_empty()),
            Self::Remove(request) => {
                output.judged(&worktree::remove::run(ctx, &request)?, render_remove, |body| body.errors.is_empty())
            }
        }
    }
}

impl Create {
    fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        let Self { mut request, yes } = self;
        if std::mem::take(&mut request.clone) {
            let missing = worktree::create::missing(ctx, &request)?;
            request.clone = missing.is_empty() || yes || agreed(ctx, output, &missing)?;
        }
        // git may ask for a password while it clones.
        if !request.clone {
            output.show_progress(&ctx.env, &worktree::create::OPERATION);
        }
        output.judged(&worktree::create::run(ctx, &request)?, render_create, |body| body.errors.is_empty())
    }
}

/// Asks whether to clone, because the URLs come from the realm, where others wrote them.
fn agreed(ctx: &Ctx, output: &mut Output<'_>, missing: &[(RepoName, String)]) -> Result<bool, OpError> {
    let urls: Vec<_> = missing.iter().map(|(repo, url)| format!("{repo} from {url}")).collect();
    if !ctx.env.is_error_terminal() || output.json {
        let message = format!("cannot ask whether to clone {}: not a terminal", urls.join(", "));
        return Err(OpError::no(ErrorCode::NotConfirmed, message).next("pass --yes to clone without asking"));
    }
    for url in &urls {
        output.note(&format!("clone {url}"));
    }
    output.ask("Clone them? [y/N]")
}

fn render_create(body: &WorktreeCreate, text: &mut Text) {
    text.line(&[plain("rfc"), styled(&body.rfc, Style::Bold), plain(format!("on branch {}", body.branch))]);
    text.line(&[styled(&body.reason, Style::Dim)]);
    let rows: Vec<_> = body
        .paths
        .iter()
        .map(|(repo, path)| {
            let is_new = body.created.contains(repo);
            let what = if is_new { styled("created", Style::Green) } else { styled("exists", Style::Dim) };
            vec![plain(repo), what, plain(path)]
        })
        .collect();
    text.table("  ", &rows);
    render_errors(&body.errors, text);
}

fn render_list(body: &WorktreeList, text: &mut Text) {
    if body.worktrees.is_empty() {
        text.line(&[plain("no worktrees")]);
    }
    let mut from = 0;
    while let Some(first) = body.worktrees.get(from) {
        let same = body.worktrees[from..].iter().take_while(|line| line.rfc == first.rfc).count();
        let rfc = first.rfc.as_ref().map_or("(no RFC)".to_owned(), ToString::to_string);
        text.heading(&rfc);
        let rows: Vec<_> = body.worktrees[from..from + same].iter().map(row).collect();
        text.table("", &rows);
        from += same;
    }
    render_errors(&body.errors, text);
}

fn row(line: &WorktreeLine) -> Vec<Word> {
    let (mark, shown) = if line.is_current { ("*", Style::Green) } else { (" ", Style::Plain) };
    let repo = line.repo.as_ref().map_or("?".to_owned(), ToString::to_string);
    let state = match line.state {
        WorktreeState::Present => standing(line),
        WorktreeState::Elsewhere => Word(format!("elsewhere, {}", standing(line).0), Style::Dim),
        WorktreeState::Gone => styled("its directory is missing", Style::Yellow),
        WorktreeState::Orphan => styled("of an unknown repository", Style::Yellow),
    };
    let branch = line.branch.as_deref().unwrap_or("(no branch)");
    vec![styled(format!("{mark} {repo}"), shown), plain(branch), state, styled(&line.path, Style::Dim)]
}

fn standing(line: &WorktreeLine) -> Word {
    if line.uncommitted_changes.is_none() {
        return styled("cannot be read", Style::Yellow);
    }
    let count = |count: Option<usize>, what: &str| count.filter(|count| *count > 0).map(|n| format!("{n} {what}"));
    let mut parts: Vec<_> = [
        count(line.uncommitted_changes, "uncommitted"),
        count(line.commits_ahead, "ahead"),
        count(line.commits_behind, "behind"),
    ]
    .into_iter()
    .flatten()
    .collect();
    if line.commits_ahead.is_some_and(|ahead| ahead > 0) && line.pushed == Some(false) {
        parts.push("not pushed".into());
    }
    parts.extend(line.locked.then(|| "locked".to_owned()));
    if parts.is_empty() { styled("clean", Style::Green) } else { styled(parts.join(", "), Style::Yellow) }
}

fn render_remove(body: &WorktreeRemove, text: &mut Text) {
    let rows: Vec<_> = body
        .removed
        .iter()
        .map(|repo| {
            let mut row = vec![plain(repo), plain("removed")];
            if body.branches_deleted.contains(repo) {
                row.push(plain(format!("and branch {}", body.branch)));
            } else if body.branches_kept.contains(repo) {
                row.push(styled(format!("kept the unmerged branch {}", body.branch), Style::Yellow));
            }
            row
        })
        .collect();
    text.table("", &rows);
    render_errors(&body.errors, text);
}

/// Prints each failure with its repository.
pub fn render_errors(errors: &[RepoProblem], text: &mut Text) {
    if errors.is_empty() {
        return;
    }
    text.heading("failed");
    for error in errors {
        text.line(&[
            styled(format!("  {}:", error.repo), Style::Red),
            plain(error.message.lines().next().unwrap_or("")),
        ]);
        let more: Vec<_> = error.message.lines().skip(1).take(20).collect();
        text.block("    ", &more.join("\n"));
    }
}
