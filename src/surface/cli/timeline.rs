//! `git blue contract timeline`.

use clap::Args;

use super::{
    All, Verdict,
    output::Output,
    text::{Style, Text, plain, styled},
};
use crate::{
    error::OpError,
    ops::{contract, ctx::Ctx},
    surface::cli::listing::{render_cursor, signed, source},
    wire::ContractTimeline,
};

#[derive(Debug, Args)]
pub struct Timeline {
    #[command(flatten)]
    request: contract::timeline::Request,
    #[command(flatten)]
    all: All,
}

impl Timeline {
    pub fn run(mut self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        self.all.widen(&mut self.request.page);
        output.shown(&contract::timeline::run(ctx, &self.request)?, render)
    }
}

fn render(body: &ContractTimeline, text: &mut Text) {
    let rows = body.entries.iter().map(|entry| {
        let note = match (entry.is_current, entry.is_yanked) {
            (_, true) => styled("yanked", Style::Red),
            (true, false) => styled("current", Style::Bold),
            (false, false) => plain(""),
        };
        vec![
            styled(text.time(entry.origin.time), Style::Dim),
            styled(entry.realm.as_str(), Style::Green),
            plain(entry.origin.version.to_string()),
            note,
            signed(&entry.origin.author, entry.origin.in_future),
            source(entry.origin.source_commit.as_deref(), entry.origin.commit_url.as_deref()),
        ]
    });
    text.table("", &rows.collect::<Vec<_>>());
    render_cursor(body.next_cursor.as_deref(), text);
    for realm in &body.realms {
        if let Some(problem) = &realm.problem {
            text.line(&[styled(format!("{} cannot be read: {problem}", realm.realm), Style::Yellow)]);
        }
    }
}
