//! `git blue realm conflict …`.

use clap::Subcommand;

use super::{
    Verdict,
    output::Output,
    text::{Look, Text, look, plain},
};
use crate::{
    error::OpError,
    model::set_aside,
    ops::{self, ctx::Ctx, realm},
    wire::ConflictSettled,
};

#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(about = ops::realm::conflict_accept::OPERATION.summary)]
    Accept(realm::conflict_accept::Request),
    #[command(about = ops::realm::conflict_undo::OPERATION.summary)]
    Undo(realm::conflict_undo::Request),
}

impl Command {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        let answer = match self {
            Self::Accept(request) => realm::conflict_accept::run(ctx, &request.id)?,
            Self::Undo(request) => realm::conflict_undo::run(ctx, &request.id)?,
        };
        output.answer(&answer, render)?;
        Ok(Verdict::Yes)
    }
}

fn render(body: &ConflictSettled, text: &mut Text) {
    let verdict = match (body.verdict, body.changed) {
        (set_aside::Verdict::Accepted, true) => "accepted",
        (set_aside::Verdict::Undone, true) => "undone",
        (set_aside::Verdict::Accepted, false) => "already accepted",
        (set_aside::Verdict::Undone, false) => "already rejected",
    };
    text.line(&[plain(verdict), look(&body.id, Look::Commit)]);
    for file in &body.files {
        text.line(&[plain(" "), look(file, Look::Dim)]);
    }
}
