//! `git blue hooks …`.

use clap::Subcommand;

use super::{
    Verdict,
    output::Output,
    text::{Look, Text, look, plain},
};
use crate::{
    error::OpError,
    ops::{self, ctx::Ctx, hooks},
    wire::HooksAnswer,
};

#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(about = ops::hooks::INSTALL.summary)]
    Install,
    #[command(about = ops::hooks::UNINSTALL.summary)]
    Uninstall,
    #[command(about = ops::hooks::STATUS.summary)]
    Status,
}

impl Command {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        let (answer, wants) = match self {
            Self::Install => (hooks::install(ctx)?, true),
            Self::Uninstall => (hooks::uninstall(ctx)?, false),
            Self::Status => (hooks::status(ctx)?, true),
        };
        output.answer(&answer, render)?;
        let works = |hook: &crate::wire::HookState| hook.installed && hook.problem.is_none();
        Ok(if answer.body.hooks.iter().all(|hook| works(hook) == wants) { Verdict::Yes } else { Verdict::No })
    }
}

fn render(body: &HooksAnswer, text: &mut Text) {
    text.line(&[plain("hooks in"), look(&body.folder, Look::Bold)]);
    let rows = body.hooks.iter().map(|hook| {
        let state = match (hook.installed, hook.changed) {
            (true, true) => look("installed now", Look::Green),
            (true, false) => look("installed", Look::Green),
            (false, true) => plain("taken out"),
            (false, false) => look("not installed", Look::Yellow),
        };
        let note = match (&hook.problem, hook.has_other_lines) {
            (Some(problem), _) => look(problem, Look::Red),
            (None, true) => look("beside other lines", Look::Dim),
            (None, false) => plain(""),
        };
        vec![plain(&hook.name), state, note]
    });
    text.table("  ", &rows.collect::<Vec<_>>());
}
