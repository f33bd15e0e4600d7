//! `git blue contract approve`.

use super::{
    Verdict,
    output::Output,
    text::{Style, Text, plain, styled},
};
use crate::{
    error::OpError,
    model::compatibility::VALUE_RULES,
    ops::{contract::approve, ctx::Ctx},
    wire::ContractApproved,
};

pub fn show(ctx: &Ctx, request: &approve::Request, output: &mut Output<'_>) -> Result<Verdict, OpError> {
    output.shown(&approve::run(ctx, request)?, render)
}

fn render(body: &ContractApproved, text: &mut Text) {
    let is_of_value = body.rules.iter().any(|rule| VALUE_RULES.iter().any(|known| known.id == rule));
    let directions = body.directions.iter().map(|direction| format!("{} compatibility", direction.word()));
    let directions: Vec<_> = directions.chain(is_of_value.then(|| "value compatibility".to_owned())).collect();
    let already = if body.changed { "" } else { "already " };
    text.line(&[
        plain(format!("{already}approved {}/{} {}", body.domain, body.contract, body.fingerprint)),
        plain(format!("after {}: it breaks {}", body.old_version, directions.join(" and "))),
        styled(format!("[{}]", body.rules.join(", ")), Style::Dim),
    ]);
}
