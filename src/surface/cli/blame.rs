//! `git blue contract blame`.

use clap::Args;

use super::{
    All, Verdict,
    output::Output,
    text::{Style, Text, plain, styled},
};
use crate::{
    error::OpError,
    model::text::{cut, short_commit},
    ops::{contract, ctx::Ctx},
    surface::cli::listing::render_cursor,
    wire::{BlamePart, ContractBlame, VersionOrigin},
};

/// The maximum length of a value that is printed next to its location, in characters.
const MAX_VALUE: usize = 60;

#[derive(Debug, Args)]
pub struct Blame {
    #[command(flatten)]
    request: contract::blame::Request,
    #[command(flatten)]
    all: All,
}

impl Blame {
    pub fn run(mut self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        self.all.widen(&mut self.request.page);
        output.shown(&contract::blame::run(ctx, &self.request)?, render)
    }
}

fn render(body: &ContractBlame, text: &mut Text) {
    if body.parts.is_empty() {
        text.line(&[plain("the contract has neither schema nor value")]);
    }
    let rows = body.parts.iter().map(|part| {
        let brought = body.versions.iter().find(|version| version.version == part.version);
        let of = |fact: fn(&VersionOrigin) -> String| brought.map_or_else(|| "-".to_owned(), fact);
        vec![
            plain(&part.version),
            styled(of(|brought| brought.time.strftime("%Y-%m-%d").to_string()), Style::Dim),
            styled(of(|brought| short(brought.source_commit.as_deref()).to_owned()), Style::Commit),
            plain(of(|brought| name(&brought.author).to_owned())),
            styled(&part.pointer, Style::Bold),
            styled(value(part), Style::Dim),
        ]
    });
    text.table("", &rows.collect::<Vec<_>>());
    for version in &body.versions {
        if let Some(url) = &version.commit_url {
            text.line(&[plain(&version.version), styled(url, Style::Dim)]);
        }
    }
    for late in body.versions.iter().filter(|version| version.in_future) {
        text.line(&[styled(format!("{} has a date in the future", late.version), Style::Yellow)]);
    }
    render_cursor(body.next_cursor.as_deref(), text);
}

fn short(commit: Option<&str>) -> &str {
    commit.map_or("-", short_commit)
}

/// Returns the name in `Name <email>`.
fn name(author: &str) -> &str {
    author.split_once(" <").map_or(author, |(name, _)| name)
}

fn value(part: &BlamePart) -> String {
    if part.value.is_null() {
        return String::new();
    }
    cut(part.value.to_string(), MAX_VALUE)
}
