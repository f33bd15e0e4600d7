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
    ops::{self, ctx::Ctx, realm},
    wire::ConflictSettled,
};

#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(about = ops::realm::conflict_accept::OPERATION.summary)]
    Accept(realm::conflict_accept::Request),
    #[command(about = ops::realm::conflict_reject::OPERATION.summary)]
    Reject(realm::conflict_reject::Request),
}

impl Command {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        let answer = match self {
            Self::Accept(request) => realm::conflict_accept::run(ctx, &request.id)?,
            Self::Reject(request) => realm::conflict_reject::run(ctx, &request.id)?,
        };
        output.answer(&answer, render)?;
        Ok(Verdict::Yes)
    }
}

fn render(body: &ConflictSettled, text: &mut Text) {
    let verdict = match (body.verdict, body.changed) {
        (set_aside::Verdict::Accepted, true) => "accepted",
        (set_aside::Verdict::Rejected, true) => "rejected",
        (set_aside::Verdict::Accepted, false) => "already accepted",
        (set_aside::Verdict::Rejected, false) => "already rejected",
    };
    text.line(&[plain(verdict), styled(&body.id, Style::Commit)]);
    for file in &body.files {
        text.line(&[plain(" "), styled(file, Style::Dim)]);
    }
}
