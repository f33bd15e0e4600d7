//! `git blue contract approve`.

use clap::Args;

use super::{
    input::reason,
    output::Output,
    text::{Look, Text, look, plain},
};
use crate::{
    error::OpError,
    model::{approval::Fingerprint, compatibility::VALUE_RULES, name::ContractRef},
    ops::{contract::approve, ctx::Ctx},
    wire::ContractApproved,
};

#[derive(Debug, Args)]
pub struct Approve {
    /// The contract
    #[arg(value_name = "DOMAIN/CONTRACT")]
    contract: ContractRef,
    /// The change, as check and publish print it
    #[arg(value_name = "FINGERPRINT")]
    fingerprint: Fingerprint,
    /// Why it may break what is promised
    #[arg(long, value_name = "REASON", value_parser = reason)]
    reason: String,
}

impl Approve {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<(), OpError> {
        let Self { contract, fingerprint, reason } = self;
        let answer = approve::run(ctx, &approve::Request { contract, fingerprint, reason })?;
        output.answer(&answer, render)?;
        Ok(())
    }
}

fn render(body: &ContractApproved, text: &mut Text) {
    let is_of_value = body.rules.iter().any(|rule| VALUE_RULES.iter().any(|known| known.id == rule));
    let directions = body.directions.iter().map(|direction| direction.word());
    let directions: Vec<_> = directions.chain(is_of_value.then_some("the value")).collect();
    let already = if body.changed { "" } else { "already " };
    text.line(&[
        plain(format!("{already}approved {}/{} {}", body.domain, body.contract, body.fingerprint)),
        plain(format!("after {}: it breaks {}", body.old_version, directions.join(" and "))),
        look(format!("[{}]", body.rules.join(", ")), Look::Dim),
    ]);
}
