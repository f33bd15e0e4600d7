//! `git blue notify …`.

use clap::{Args, Subcommand};

use super::{
    Verdict,
    output::Output,
    text::{Style, Text, plain, styled},
};
use crate::{
    error::OpError,
    model::text::count,
    ops::{Operation, ctx::Ctx, notify},
    wire::{EventLine, IssueOutcome, NotifyForge, ReceiverLine, Receivers, UnreadForge},
};

#[derive(Debug, Subcommand)]
pub enum Command {
    List(notify::list::Request),
    Test(notify::test::Request),
    Send(notify::send::Request),
    Retry(Retry),
    Forge(notify::forge::Request),
}

#[derive(Debug, Args)]
pub struct Retry {
    #[command(flatten)]
    request: notify::retry::Request,
    /// Resend all failed events
    #[arg(long, conflicts_with = "ids")]
    all: bool,
}

/// Returns whether an operation sends new changes to receivers itself.
pub fn is_sending(operation: &Operation) -> bool {
    operation.cli.first() == Some(&"notify")
}

impl Command {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        match self {
            Self::List(_) => output.shown(&notify::list::run(ctx)?, |body, text| render(body, false, text)),
            Self::Test(request) => output.shown(&notify::test::run(ctx, &request)?, |body, text| {
                text.line(&[
                    styled("delivered to", Style::Green),
                    styled(&body.name, Style::Bold),
                    styled(&body.id, Style::Dim),
                ]);
            }),
            Self::Send(request) => output.judged(&notify::send::run(ctx, &request)?, render_sent, |body| body.complete),
            Self::Retry(Retry { request, .. }) => {
                output.judged(&notify::retry::run(ctx, &request)?, render_sent, |body| body.complete)
            }
            Self::Forge(request) => {
                output.judged(&notify::forge::run(ctx, &request)?, render_forge, |body| body.complete)
            }
        }
    }
}

fn render_sent(body: &Receivers, text: &mut Text) {
    render(body, true, text);
}

fn render(body: &Receivers, was_sent: bool, text: &mut Text) {
    if body.receivers.is_empty() {
        text.line(&[plain("no receivers")]);
    }
    for one in &body.receivers {
        render_receiver(one, was_sent, text);
    }
}

fn render_receiver(one: &ReceiverLine, was_sent: bool, text: &mut Text) {
    let ReceiverLine { name, kind, destination, filter, problem, sent, waiting, failed } = one;
    let mut words = vec![styled(name, Style::Bold)];
    match problem {
        Some(problem) => words.extend([styled("not used:", Style::Red), plain(problem)]),
        None => {
            words.extend(kind.iter().map(plain));
            words.extend(destination.iter().map(|destination| styled(destination, Style::Dim)));
            words.push(styled(format!("({filter})"), Style::Dim));
        }
    }
    text.line(&words);
    if was_sent && problem.is_none() {
        text.line(&[plain("  sent"), plain(count(*sent, "event", "events"))]);
    }
    let row = |word: &'static str, style, one: &EventLine| {
        let why = one.problem.clone().unwrap_or_default();
        let when = one.next_try.map(|next| format!("next try {}", text.time(next))).unwrap_or_default();
        let tries = count(one.tries as usize, "try", "tries");
        vec![
            styled(word, style),
            styled(&one.id, Style::Commit),
            plain(&one.text),
            plain(tries),
            plain(why),
            styled(when, Style::Dim),
        ]
    };
    let waiting = waiting.iter().map(|one| row("waiting", Style::Yellow, one));
    let failed = failed.iter().map(|one| row("failed", Style::Red, one));
    text.table("  ", &waiting.chain(failed).collect::<Vec<_>>());
}

fn render_forge(body: &NotifyForge, text: &mut Text) {
    if body.issues.is_empty() {
        let read = if body.unread.is_empty() { ", and no open issue was found" } else { "" };
        text.line(&[plain(format!("no import is broken or behind{read}"))]);
    }
    for UnreadForge { repo, problem } in &body.unread {
        text.line(&[styled("issues not read:", Style::Yellow), styled(repo, Style::Bold), plain(problem)]);
    }
    let rows = body.issues.iter().map(|one| {
        let (word, style) = match one.outcome {
            IssueOutcome::Opened if body.dry_run => ("would open", Style::Dim),
            IssueOutcome::Updated if body.dry_run => ("would update", Style::Dim),
            IssueOutcome::Closed if body.dry_run => ("would close", Style::Dim),
            IssueOutcome::Opened => ("opened", Style::Green),
            IssueOutcome::Updated => ("updated", Style::Green),
            IssueOutcome::Unchanged => ("unchanged", Style::Dim),
            IssueOutcome::Dismissed => ("dismissed", Style::Dim),
            IssueOutcome::Unpublished => ("unpublished", Style::Dim),
            IssueOutcome::Closed => ("closed", Style::Green),
            IssueOutcome::Failed => ("failed", Style::Red),
        };
        let contract = one.domain.as_ref().zip(one.contract.as_ref());
        let contract = contract.map(|(domain, contract)| format!("{domain}/{contract}")).unwrap_or_default();
        let version = one.version.as_ref().map(ToString::to_string).unwrap_or_default();
        let place = one.problem.clone().or_else(|| one.url.clone()).unwrap_or_default();
        vec![styled(word, style), styled(&one.repo, Style::Bold), plain(contract), plain(version), plain(place)]
    });
    text.table("", &rows.collect::<Vec<_>>());
    if body.dry_run {
        text.line(&[styled("nothing was written", Style::Dim)]);
    }
}
