//! `git blue` without a command: the current repository, what is pending, and what to do next.

use super::{
    Verdict,
    output::Output,
    text::{Style, Text, plain, styled},
};
use crate::{
    error::{ErrorCode, OpError},
    model::{rank::Rank, text::count},
    ops::{ctx::Ctx, realm},
    wire::{Answer, RealmStatus},
};

/// The maximum number of next steps that are shown.
const MAX_STEPS: usize = 4;

/// Shows the screen. It marks no notification as seen, so `git blue status` still shows them.
///
/// # Errors
/// Returns an error if the output cannot be written.
pub fn show(ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
    let mut text = output.text();
    match &ctx.realm {
        Ok(_) => match realm::status::run(ctx, &realm::status::Request::default()) {
            Ok(status) => in_realm(&status.answer, &mut text),
            Err(error) => problem(&error, &mut text),
        },
        Err(error) if error.code == ErrorCode::NotInRealm && ctx.code.is_none() => outside_realm(&mut text),
        Err(error) => problem(error, &mut text),
    }
    text.line(&[styled("See", Style::Dim), plain("git blue -h"), styled("for all commands.", Style::Dim)]);
    output.write_plainly(&text.into_string())?;
    Ok(Verdict::Yes)
}

fn in_realm(answer: &Answer<RealmStatus>, text: &mut Text) {
    let body = &answer.body;
    let mut place = Vec::new();
    if let Some(repo) = &body.current_repo {
        place.extend([styled(repo, Style::Bold), plain("in the")]);
    }
    place.extend([plain("realm"), styled(&body.realm, Style::Bold)]);
    text.line(&place);
    if let Some(why) = &body.read_only {
        text.line(&[styled("  read-only:", Style::Yellow), plain(why)]);
    }
    let of = |rank: Rank| body.imports.iter().filter(|import| import.rank == rank).count();
    let (broken, unsure) = (of(Rank::Broken), of(Rank::Attention));
    let imports = count(body.imports.len(), "import", "imports");
    let need = if unsure == 1 { "needs" } else { "need" };
    let unreadable = body.unreadable.len() + body.unreadable_domains.len();
    let without_file = body.removed_files.len();
    let rows = [
        (unreadable, Style::Red, format!("{} of the realm cannot be read", count(unreadable, "file", "files"))),
        (broken, Style::Red, format!("{broken} of {imports} broken")),
        (unsure, Style::Yellow, format!("{unsure} of {imports} {need} attention")),
        (body.unpublished.iter().count(), Style::Yellow, "unpublished commits".to_owned()),
        (body.behind.iter().count(), Style::Yellow, "behind the published commit".to_owned()),
        (body.conflicts.len(), Style::Red, count(body.conflicts.len(), "conflict", "conflicts")),
        (without_file, Style::Yellow, format!("{} without a file", count(without_file, "contract", "contracts"))),
        (body.pending(), Style::Plain, format!("pending changes by other repositories: {}", body.pending())),
    ];
    let rows =
        rows.into_iter().chain([(body.expired_notifications, Style::Yellow, body.expired_line().unwrap_or_default())]);
    let shown: Vec<_> = rows.filter(|(count, ..)| *count > 0).collect();
    for (_, color, line) in &shown {
        text.line(&[plain(" "), styled(line, *color)]);
    }
    if shown.is_empty() {
        text.line(&[styled("  no pending changes", Style::Dim)]);
    }
    let steps = answer.next_steps.iter().filter(|step| !realm::status::next_steps::starts_a_session(step));
    let mut steps: Vec<_> = steps.take(MAX_STEPS).cloned().collect();
    if !shown.is_empty() || body.total > 0 || steps.is_empty() {
        steps.push("git blue status  # show the details".into());
    }
    text.next_steps(&steps);
    text.gap();
}

fn outside_realm(text: &mut Text) {
    text.line(&[plain("git blue manages contracts between git repositories.")]);
    text.line(&[plain("This directory is not in a git repository.")]);
    text.next_steps(&["git init -b main && git blue init --realm …  # start here, or change to a repository".into()]);
    text.gap();
}

fn problem(error: &OpError, text: &mut Text) {
    text.line(&[plain(&error.message)]);
    text.next_steps(&error.next_steps);
    text.gap();
}
