//! `git blue realm admin cache …`.

use clap::Subcommand;

use super::{
    Verdict,
    output::Output,
    text::{Text, plain},
};
use crate::{
    error::OpError,
    ops::{admin, ctx::Ctx},
    wire::CacheStats,
};

#[derive(Debug, Subcommand)]
pub enum Command {
    Stats,
    Clear,
}

impl Command {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        match self {
            Self::Stats => output.answer(&admin::cache_stats::run(ctx)?, render)?,
            Self::Clear => output.answer(&admin::cache_clear::run(ctx)?, |body, text| {
                text.line(&[plain(format!("freed {} bytes", body.freed_bytes))]);
            })?,
        };
        Ok(Verdict::Yes)
    }
}

fn render(body: &CacheStats, text: &mut Text) {
    let Some(file) = &body.file else {
        text.line(&[plain("the cache is disabled")]);
        return;
    };
    text.line(&[plain(file)]);
    let row = |name: &str, value: String| vec![plain(name), plain(value)];
    let size = body.bytes.map_or_else(|| "it does not exist yet".into(), |bytes| format!("{bytes} bytes"));
    let state = match (body.usable, body.current) {
        (true, true) => "up to date",
        (true, false) => "usable: only changed refs are read again",
        (false, _) => "unusable: everything is read again",
    };
    text.table(
        "  ",
        &[
            row("size", size),
            row("state", state.into()),
            row("domains", body.domains.to_string()),
            row("checked without findings", body.examined.to_string()),
            row("contracts", body.contracts.to_string()),
        ],
    );
}
