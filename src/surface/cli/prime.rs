//! `git blue prime`.

use clap::Args;

use super::{Verdict, output::Output, text::plain};
use crate::{
    error::OpError,
    ops::{self, ctx::Ctx},
    surface::mcp,
};

#[derive(Debug, Args)]
pub struct Prime {
    /// Repeat notifications that were not acted on, for use after context compaction
    #[arg(long)]
    resumed: bool,
}

impl Prime {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        let request = ops::prime::Request { reader: mcp::reader(&ctx.env), is_resumed: self.resumed };
        let answer = ops::prime::run(ctx, &request)?;
        output.shown(&answer, |body, text| {
            text.line(&[plain(ops::prime::text(body).trim_end())]);
        })
    }
}
