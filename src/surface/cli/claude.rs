//! `git blue install claude` and `git blue uninstall claude`.

use clap::Args;

use super::{
    Verdict,
    output::Output,
    text::{Style, Text, plain, styled},
};
use crate::{
    error::OpError,
    ops::{
        claude::{self, Request},
        ctx::Ctx,
    },
    wire::{Answer, ClaudeScope, ClaudeSetup, FileChange},
};

#[derive(Debug, Args)]
pub struct Claude {
    /// The installation scope
    #[arg(long, value_enum, default_value_t)]
    scope: ClaudeScope,
    /// Show what would change, without changing it
    #[arg(short = 'n', long)]
    dry_run: bool,
}

type Operation = fn(&Ctx, Request) -> Result<Answer<ClaudeSetup>, OpError>;

impl Claude {
    pub fn install(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        self.run(claude::install, ctx, output)
    }

    pub fn uninstall(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        self.run(claude::uninstall, ctx, output)
    }

    /// Shows the changes before they are made, and asks for consent at a terminal.
    fn run(self, operation: Operation, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        let request = |dry_run| Request { scope: self.scope, dry_run };
        if self.dry_run {
            return output.shown(&operation(ctx, request(true))?, render_changes);
        }
        if !output.json {
            let plan = operation(ctx, request(true))?.body;
            let mut text = output.text();
            render_changes(&plan, &mut text);
            output.write(&text.into_string())?;
            let changes = plan.files.iter().any(|file| file.change != FileChange::None);
            if changes && output.is_terminal() && !output.ask("Write this? [y/N]")? {
                return Ok(Verdict::No);
            }
        }
        output.shown(&operation(ctx, request(false))?, render)
    }
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
