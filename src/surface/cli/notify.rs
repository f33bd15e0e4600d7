//! `git blue notify …`.

use clap::{Args, Subcommand};

use super::{
    Verdict,
    output::Output,
    text::{Look, Text, look, plain},
};
use crate::{
    error::OpError,
    ops::{self, Operation, ctx::Ctx, receivers},
    wire::{EventLine, IssueOutcome, NotifyForge, ReceiverLine, Receivers},
};

#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(about = ops::receivers::list::OPERATION.summary)]
    List(receivers::list::Request),
    #[command(about = ops::receivers::test::OPERATION.summary)]
    Test(receivers::test::Request),
    #[command(about = ops::receivers::send::OPERATION.summary)]
    Send(receivers::send::Request),
    #[command(about = ops::receivers::retry::OPERATION.summary)]
    Retry(Retry),
    #[command(about = ops::receivers::forge::OPERATION.summary)]
    Forge(receivers::forge::Request),
}

#[derive(Debug, Args)]
pub struct Retry {
    #[command(flatten)]
    request: receivers::retry::Request,
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
        let verdict = |complete| if complete { Verdict::Yes } else { Verdict::No };
        match self {
            Self::List(_) => {
                output.answer(&receivers::list::run(ctx)?, |body, text| render(body, false, text))?;
                Ok(Verdict::Yes)
            }
            Self::Test(request) => {
                output.answer(&receivers::test::run(ctx, &request)?, |body, text| {
                    text.line(&[
                        look("delivered to", Look::Green),
                        look(&body.name, Look::Bold),
                        look(&body.id, Look::Dim),
                    ]);
                })?;
                Ok(Verdict::Yes)
            }
            Self::Send(request) => {
                let answer = receivers::send::run(ctx, &request)?;
                output.answer(&answer, |body, text| render(body, true, text))?;
                Ok(verdict(answer.body.complete))
            }
            Self::Retry(Retry { request, .. }) => {
                let answer = receivers::retry::run(ctx, &request)?;
                output.answer(&answer, |body, text| render(body, true, text))?;
                Ok(verdict(answer.body.complete))
            }
            Self::Forge(request) => {
                let answer = receivers::forge::run(ctx, &request)?;
                output.answer(&answer, render_forge)?;
                Ok(verdict(answer.body.complete))
            }
        }
    }
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
    let ReceiverLine { name, kind, place, filter, problem, sent, waiting, dead } = one;
    let mut words = vec![look(name, Look::Bold)];
    match problem {
        Some(problem) => words.extend([look("not used:", Look::Red), plain(problem)]),
        None => {
            words.extend(kind.iter().map(plain));
            words.extend(place.iter().map(|place| look(place, Look::Dim)));
            words.push(look(format!("({filter})"), Look::Dim));
        }
    }
    text.line(&words);
    if was_sent && problem.is_none() {
        let events = if *sent == 1 { "event" } else { "events" };
        text.line(&[plain("  sent"), plain(sent), plain(events)]);
    }
    let row = |word: &'static str, style, one: &EventLine| {
        let why = one.problem.clone().unwrap_or_default();
        let when = one.next_try.map(|next| format!("next try {}", next.strftime("%Y-%m-%d %H:%M"))).unwrap_or_default();
        let tries = format!("{} {}", one.tries, if one.tries == 1 { "try" } else { "tries" });
        vec![
            look(word, style),
            look(&one.id, Look::Commit),
            plain(&one.text),
            plain(tries),
            plain(why),
            look(when, Look::Dim),
        ]
    };
    let waiting = waiting.iter().map(|one| row("waiting", Look::Yellow, one));
    let dead = dead.iter().map(|one| row("failed", Look::Red, one));
    text.table("  ", &waiting.chain(dead).collect::<Vec<_>>());
}

fn render_forge(body: &NotifyForge, text: &mut Text) {
    if body.issues.is_empty() {
        text.line(&[plain("no import is broken or behind, and no issue is open")]);
    }
    let rows = body.issues.iter().map(|one| {
        let (word, style) = match one.outcome {
            IssueOutcome::Opened => ("opened", Look::Green),
            IssueOutcome::Updated => ("updated", Look::Green),
            IssueOutcome::Unchanged => ("unchanged", Look::Dim),
            IssueOutcome::Dismissed => ("dismissed", Look::Dim),
            IssueOutcome::Unpublished => ("unpublished", Look::Dim),
            IssueOutcome::Closed => ("closed", Look::Green),
            IssueOutcome::Failed => ("failed", Look::Red),
        };
        let contract = one.domain.as_ref().zip(one.contract.as_ref());
        let contract = contract.map(|(domain, contract)| format!("{domain}/{contract}")).unwrap_or_default();
        let version = one.version.as_ref().map(ToString::to_string).unwrap_or_default();
        let place = one.problem.clone().or_else(|| one.url.clone()).unwrap_or_default();
        vec![look(word, style), look(&one.repo, Look::Bold), plain(contract), plain(version), plain(place)]
    });
    text.table("", &rows.collect::<Vec<_>>());
    if body.dry_run {
        text.line(&[look("nothing was written", Look::Dim)]);
    }
}
