//! `git blue hooks …`.

use clap::Subcommand;

use super::{
    Verdict,
    output::Output,
    text::{Style, Text, plain, styled},
};
use crate::{
    error::OpError,
    ops::{ctx::Ctx, hooks},
    wire::{HookState, HooksAnswer},
};

#[derive(Debug, Subcommand)]
pub enum Command {
    Install(hooks::Request),
    Uninstall,
    Status,
}

impl Command {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        let wants_all = matches!(&self, Self::Install(request) if request.pre_push);
        let (answer, wants) = match self {
            Self::Install(request) => (hooks::install(ctx, request)?, true),
            Self::Uninstall => (hooks::uninstall(ctx)?, false),
            Self::Status => (hooks::status(ctx)?, true),
        };
        let is_as_wanted = |hook: &HookState| hook.works() == wants || (hook.optional && !hook.installed && !wants_all);
        output.judged(&answer, render, |body| body.hooks.iter().all(is_as_wanted))
    }
}

fn render(body: &HooksAnswer, text: &mut Text) {
    let whose = if body.is_shared { "for every repository: core.hooksPath is set outside of this one" } else { "" };
    text.line(&[plain("hooks in"), styled(&body.directory, Style::Bold), plain(whose)]);
    let rows = body.hooks.iter().map(|hook| {
        let state = match (hook.installed, hook.changed) {
            (true, true) => styled("installed now", Style::Green),
            (true, false) => styled("installed", Style::Green),
            (false, true) => plain("removed"),
            (false, false) if hook.optional => styled("not installed", Style::Dim),
            (false, false) => styled("not installed", Style::Yellow),
        };
        let note = match (&hook.problem, &hook.note, hook.has_other_lines) {
            (Some(problem), ..) => styled(problem, Style::Red),
            (None, Some(note), _) if hook.in_file => styled(note, Style::Yellow),
            (None, Some(note), _) => styled(note, Style::Dim),
            (None, None, true) if hook.installed => styled("alongside other lines", Style::Dim),
            (None, None, true) => styled("the file has other lines", Style::Dim),
            (None, None, false) if hook.optional && !hook.installed && !hook.changed => {
                styled("only with --pre-push", Style::Dim)
            }
            (None, None, false) => plain(""),
        };
        vec![plain(&hook.name), state, note]
    });
    text.table("  ", &rows.collect::<Vec<_>>());
}
