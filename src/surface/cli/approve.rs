//! `git blue contract approve`.

use super::{
    Verdict,
    output::Output,
    text::{Style, Text, plain, styled},
};
use crate::{
    error::OpError,
    model::{compatibility::VALUE_RULES, verdict::FLOW_REVERSED},
    ops::{contract::approve, ctx::Ctx},
    wire::ContractApproved,
};

pub fn show(ctx: &Ctx, request: &approve::Request, output: &mut Output<'_>) -> Result<Verdict, OpError> {
    output.shown(&approve::run(ctx, request)?, render)
}

fn render(body: &ContractApproved, text: &mut Text) {
    let is_of_value = body.rules.iter().any(|rule| VALUE_RULES.iter().any(|known| known.id == rule));
    let directions = body.directions.iter().map(|direction| format!("{} compatibility", direction.word()));
    let is_of_flow = body.rules.iter().any(|rule| rule == FLOW_REVERSED);
    let others = [is_of_value.then_some("value compatibility"), is_of_flow.then_some("the agreed flow")];
    let directions: Vec<_> = directions.chain(others.into_iter().flatten().map(str::to_owned)).collect();
    let already = if body.changed { "" } else { "already " };
    text.line(&[
        plain(format!("{already}approved {}/{} {}", body.domain, body.contract, body.fingerprint)),
        plain(format!("after {}: it breaks {}", body.old_version, directions.join(" and "))),
        styled(format!("[{}]", body.rules.join(", ")), Style::Dim),
    ]);
}
