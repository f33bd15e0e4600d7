//! `git blue realm conflict …`.

use clap::Subcommand;

use super::{
    Verdict,
    output::Output,
    text::{Style, Text, plain, styled},
};
use crate::{
    error::OpError,
    model::set_aside,
    ops::{Run as _, ctx::Ctx, realm},
    wire::ConflictSettled,
};

#[derive(Debug, Subcommand)]
pub enum Command {
    Accept(realm::conflict_accept::Request),
    Reject(realm::conflict_reject::Request),
}

impl Command {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        let answer = match self {
            Self::Accept(request) => request.run(ctx)?,
            Self::Reject(request) => request.run(ctx)?,
        };
        output.shown(&answer, render)
    }
}

fn render(body: &ConflictSettled, text: &mut Text) {
    let verdict = match (body.verdict, body.changed) {
        (set_aside::Decision::Accepted, true) => "accepted",
        (set_aside::Decision::Rejected, true) => "rejected",
        (set_aside::Decision::Accepted, false) => "already accepted",
        (set_aside::Decision::Rejected, false) => "already rejected",
    };
    text.line(&[plain(verdict), styled(&body.id, Style::Commit)]);
    for file in &body.files {
        text.line(&[plain(" "), styled(file, Style::Dim)]);
    }
}
