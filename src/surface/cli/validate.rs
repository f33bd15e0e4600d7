//! `git blue contract validate`.

use std::path::PathBuf;

use clap::Args;

use super::{
    Verdict, contract_files,
    output::Output,
    text::{Style, Text, plain, styled},
};
use crate::{
    error::OpError,
    model::text::{comma_separated, count},
    ops::{
        contract::{
            documents,
            validate::{Payload, Request, run},
        },
        ctx::Ctx,
    },
    wire::ContractValidate,
};

#[derive(Debug, Args)]
pub struct Validate {
    #[command(flatten)]
    request: Request,
    /// The payloads: JSON, JSON Lines or YAML files, or - for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

impl Validate {
    pub fn run(mut self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        for source in contract_files::sources(ctx, &self.files)? {
            let found = documents::read(&source)?.into_iter();
            self.request.payloads.extend(found.map(|document| Payload { file: source.name.clone(), document }));
        }
        output.judged(&run(ctx, &self.request)?, render, |body| body.valid == Some(true))
    }
}

fn render(body: &ContractValidate, text: &mut Text) {
    let has_several = body.versions.len() > 1;
    for failure in &body.failures {
        let line = failure.line.map(|line| format!(":{line}")).unwrap_or_default();
        let label = if failure.undecided { styled("unknown:", Style::Yellow) } else { styled("error:", Style::Red) };
        let place = if failure.pointer.is_empty() { String::new() } else { format!("{}: ", failure.pointer) };
        let version = if has_several { format!("{}: ", failure.version) } else { String::new() };
        text.line(&[
            plain(format!("{}{line}:", failure.file)),
            label,
            plain(format!("{version}{place}{}", failure.message)),
            styled(format!("[{}]", failure.schema_pointer), Style::Dim),
        ]);
    }
    if body.more_failures > 0 {
        text.line(&[plain(format!("and {} more", body.more_failures))]);
    }
    let payloads = count(body.payloads, "payload", "payloads");
    let payloads =
        if (1..body.payloads).contains(&body.refused) { format!("{} of {payloads}", body.refused) } else { payloads };
    let against = plain(format!("against {}/{} {}", body.domain, body.contract, comma_separated(&body.versions)));
    match body.valid {
        Some(true) => text.success(&[styled("valid:", Style::Green), plain(payloads), against]),
        Some(false) => text.line(&[styled("not valid:", Style::Red), plain(payloads), against]),
        None => text.line(&[styled("undecided:", Style::Yellow), plain(payloads), against]),
    };
}
