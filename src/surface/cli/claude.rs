//! `git blue install claude` and `git blue uninstall claude`.

use super::{
    Verdict,
    output::Output,
    text::{Style, Text, plain, styled},
};
use crate::{
    error::OpError,
    ops::{claude::Request, ctx::Ctx},
    wire::{Answer, ClaudeSetup, FileChange},
};

type Operation = fn(&Ctx, Request) -> Result<Answer<ClaudeSetup>, OpError>;

/// Shows the changes before they are made, and asks for consent at a terminal.
pub fn run(operation: Operation, request: Request, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
    if request.dry_run {
        return output.shown(&operation(ctx, request)?, render_changes);
    }
    if !output.json && (!output.quiet || output.is_terminal()) {
        let plan = operation(ctx, Request { dry_run: true, ..request })?.body;
        let mut text = output.text();
        render_changes(&plan, &mut text);
        output.write(&text.into_string())?;
        let changes = plan.files.iter().any(|file| file.change != FileChange::None);
        if changes && output.is_terminal() && !output.ask("Write this? [y/N]")? {
            return Ok(Verdict::No);
        }
    }
    output.shown(&operation(ctx, request)?, render)
}

fn render_changes(body: &ClaudeSetup, text: &mut Text) {
    for file in body.files.iter().filter(|file| file.change != FileChange::None) {
        text.gap().line(&[styled(&file.path, Style::Bold)]);
        for line in file.diff.lines() {
            let shade = match line.as_bytes().first() {
                Some(b'+') => Style::Green,
                Some(b'-') => Style::Red,
                Some(b'@') => Style::Dim,
                _ => Style::Plain,
            };
            text.line(&[styled(line, shade)]);
        }
    }
}

fn render(body: &ClaudeSetup, text: &mut Text) {
    for file in &body.files {
        let word = match file.change {
            FileChange::Created => "wrote",
            FileChange::Changed => "changed",
            FileChange::Removed => "removed",
            FileChange::None => "unchanged:",
        };
        text.line(&[plain(word), styled(&file.path, Style::Dim)]);
    }
}
