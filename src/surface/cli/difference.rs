//! `git blue contract diff` and `git blue contract impact`.

use std::path::PathBuf;

use clap::Args;

use super::{
    compat::{Sides, render_bump, render_readings},
    listing::{signed, source},
    output::Output,
    text::{Look, Text, Word, look, plain},
};
use crate::{
    error::OpError,
    model::{
        contract::Values,
        diff::{Difference, Kind},
        json::Json,
        verdict::{Outcome, ValuesCompared, VersionBump},
    },
    ops::{
        contract::{self, impact::Candidate},
        ctx::Ctx,
    },
    repo::CodeRepo,
    surface::{
        cli::{formats::Formats, input::value},
        report::{self, SideFile},
    },
    wire::{ContractDiff, ContractImpact, DocumentSource, ImporterImpact, JudgedBy, SchemasCompared},
};

/// The maximum number of differences that are printed.
const MAX_SHOWN: usize = 200;
/// The maximum number of lines of a value.
const MAX_LINES: usize = 20;
/// The maximum number of characters of a line.
const MAX_WIDTH: usize = 200;
/// The maximum number of breaking changes that are printed with their values.
const MAX_BREAKS: usize = 5;
/// The maximum length of a value that is printed on one line, in characters.
const MAX_INLINE: usize = 80;

#[derive(Debug, Args)]
pub struct Diff {
    #[command(flatten)]
    request: contract::diff::Request,
    #[command(flatten)]
    formats: Formats,
}

impl Diff {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<(), OpError> {
        let answer = contract::diff::run(ctx, &self.request)?;
        let file = || {
            let root = ctx.code.as_ref().and_then(CodeRepo::workdir);
            let (path, lines) = contract::diff::draft(ctx, &self.request)?;
            Some(SideFile { name: report::below(&report::prefix(&ctx.env, root.as_deref()), &path), lines })
        };
        self.formats.deliver(ctx, output, &answer, || report::of_diff(&answer.body, file()), render_diff)
    }
}

fn render_diff(body: &ContractDiff, text: &mut Text) {
    text.line(&[
        look(format!("{}/{}", body.domain, body.contract), Look::Bold),
        plain(format!("{} -> {}{}", body.old_version, body.new_version, from(body.source))),
        look(if body.content_changed { "" } else { "(schema, value and promise are the same)" }, Look::Dim),
    ]);
    for origin in [&body.old_origin, &body.new_origin].into_iter().flatten() {
        text.line(&[
            plain(&origin.version),
            look(origin.time.strftime("%Y-%m-%d").to_string(), Look::Dim),
            signed(&origin.author, origin.ahead_of_clock),
            source(origin.source_commit.as_deref(), origin.commit_url.as_deref()),
        ]);
    }
    for one in body.changes.iter().take(MAX_SHOWN) {
        text.gap();
        render_difference(one, text);
    }
    if let Some(more @ 1..) = body.changes.len().checked_sub(MAX_SHOWN) {
        text.gap().line(&[look(format!("and {more} more; use --json to show all"), Look::Dim)]);
    }
    if let Some(compared) = &body.compared {
        render_compared(body, compared, text);
    }
    if let Some(values) = &body.values {
        render_values(values, text);
    }
    // The higher of the two bumps: that of the schemas and that of the value.
    let bump = body.compared.as_ref().map(|one| one.bump).or(body.values.as_ref().map(|one| one.bump));
    if let Some(bump) = bump.filter(|_| !body.changes.is_empty()) {
        render_bump(bump, text);
    }
}

/// Prints how the agreed value changed, and the bump that this requires.
fn render_values(values: &ValuesCompared, text: &mut Text) {
    let (word, shown) = match (values.bump, values.promised) {
        (VersionBump::Major, _) => ("breaks the promise", Look::Red),
        (_, Values::Free) => ("changed, which is allowed", Look::Green),
        _ => ("extended, which is allowed", Look::Green),
    };
    text.line(&[look("value:", Look::Bold), look(word, shown)]);
    let breaking: Vec<_> = values.differences.iter().filter(|one| one.bump == VersionBump::Major).collect();
    for one in breaking.iter().take(MAX_BREAKS) {
        let place = one.old_pointer.as_ref().or(one.new_pointer.as_ref()).map_or("", String::as_str);
        text.line(&[
            look(format!("  /value{place}"), Look::Bold),
            plain(&one.message),
            look(format!("[{}]", one.rule), Look::Dim),
        ]);
    }
    if let Some(more @ 1..) = (breaking.len() + values.more).checked_sub(MAX_BREAKS) {
        text.line(&[look(format!("  and {more} more; use --json to show all"), Look::Dim)]);
    }
}

/// Prints what the change means for values: a witness for each decisive break, then the verdicts.
fn render_compared(body: &ContractDiff, compared: &SchemasCompared, text: &mut Text) {
    let (old, new) = (body.old_version.to_string(), body.new_version.to_string());
    let sides = Sides { old: &old, new: &new, reading: compared.reading };
    let decisive: Vec<_> = compared.differences.iter().filter(|one| one.reading == compared.reading).collect();
    for one in decisive.iter().take(MAX_BREAKS) {
        text.gap();
        sides.difference(one, text);
    }
    text.gap();
    if let Some(more @ 1..) = decisive.len().checked_sub(MAX_BREAKS) {
        text.line(&[look(format!("and {more} more breaking changes; use --json to show all"), Look::Dim)]);
    }
    let (of_old, of_new) = (format!("{new} sends"), format!("{old} sent"));
    render_readings("backwards", (&old, &of_old), &compared.backwards, text);
    render_readings("forwards", (&new, &of_new), &compared.forwards, text);
}

fn from(source: DocumentSource) -> &'static str {
    match source {
        DocumentSource::Realm | DocumentSource::Guess => "",
        DocumentSource::Worktree => " (working tree)",
        DocumentSource::Commit => " (commit)",
        DocumentSource::Schema => " (given schema)",
    }
}

fn render_difference(one: &Difference, text: &mut Text) {
    // The JSON Pointer of the whole document is the empty string.
    let place = if one.pointer.is_empty() { "/" } else { &one.pointer };
    let word = match one.change {
        Kind::Added => "added",
        Kind::Removed => "removed",
        Kind::Changed => "changed",
    };
    text.line(&[look(place, Look::Bold), look(word, Look::Dim)]);
    if one.change != Kind::Added {
        render_value("- ", Look::Red, &one.old, text);
    }
    if one.change != Kind::Removed {
        render_value("+ ", Look::Green, &one.new, text);
    }
}

/// Prints a value on one line if it fits, and truncates a very long one.
fn render_value(mark: &str, shown: Look, value: &Json, text: &mut Text) {
    let mut rendered = value.0.to_string();
    if rendered.len() > MAX_INLINE {
        rendered = format!("{:#}", value.0);
    }
    let lines: Vec<_> = rendered.lines().collect();
    for line in lines.iter().take(MAX_LINES) {
        let cut: String = line.chars().take(MAX_WIDTH).collect();
        let dots = if cut.len() < line.len() { " …" } else { "" };
        text.line(&[look(format!("  {mark}{cut}{dots}"), shown)]);
    }
    if let Some(more @ 1..) = lines.len().checked_sub(MAX_LINES) {
        text.line(&[look(format!("  {mark}… {more} more lines"), Look::Dim)]);
    }
}

#[derive(Debug, Args)]
pub struct Impact {
    #[command(flatten)]
    request: contract::impact::Request,
    /// Assume that the contract has this schema, at the version that the change requires
    #[arg(long, value_name = "FILE", conflicts_with_all = ["draft", "to"])]
    schema: Option<PathBuf>,
}

impl Impact {
    pub fn run(mut self, ctx: &Ctx, output: &mut Output<'_>) -> Result<(), OpError> {
        if let Some(file) = self.schema {
            self.request.to = Candidate::Schema(value(ctx, &file)?);
        }
        output.answer(&contract::impact::run(ctx, &self.request)?, render_impact)?;
        Ok(())
    }
}

fn render_impact(body: &ContractImpact, text: &mut Text) {
    let kind = match (body.source, body.current_version.as_ref() == Some(&body.version)) {
        (DocumentSource::Realm, true) => "current",
        (DocumentSource::Realm, false) => "published",
        (DocumentSource::Guess, _) => "not published yet",
        (source, _) => from(source).trim_start(),
    };
    text.line(&[
        look(format!("{}/{}", body.domain, body.contract), Look::Bold),
        plain(&body.version),
        look(kind, Look::Dim),
    ]);
    for verdict in &body.breaks_promise {
        let message = format!("breaks the promised {}: {}", verdict.broken(), verdict.phrase());
        text.line(&[look("  error:", Look::Red), plain(message), look("[breaks-promise]", Look::Dim)]);
    }
    if body.importers.is_empty() {
        text.line(&[plain("  no repository imports it")]);
    }
    let row = |one: &ImporterImpact| {
        let verdict = impact_word(one);
        let adapted = one.adapted_version.as_ref().filter(|adapted| **adapted != body.version);
        let adapted = adapted.map(|version| format!("(adapted to {version})")).unwrap_or_default();
        let already = one.state == "broken" && one.state_now == "broken" && kind != "current";
        vec![
            plain(&one.repo),
            plain(&one.version_req),
            verdict,
            look(&one.binding, Look::Dim),
            look(adapted, Look::Dim),
            look(if already { "(already broken)" } else { "" }, Look::Dim),
        ]
    };
    text.table("  ", &body.importers.iter().map(row).collect::<Vec<_>>());
    for one in &body.importers {
        if let Some(verdict) = one.verdict.as_ref().filter(|verdict| verdict.verdict != Outcome::Compatible) {
            text.line(&[look(format!("  {}:", one.repo), Look::Bold), plain(verdict.phrase())]);
        }
    }
}

/// Returns one word for what a version means to one importer.
fn impact_word(one: &ImporterImpact) -> Word {
    let outcome = one.verdict.as_ref().map(|verdict| verdict.verdict);
    match (&*one.state, &one.resolved_version, outcome) {
        ("broken", Some(_), _) => look("broken, although in range", Look::Red),
        ("broken", ..) => look("broken", Look::Red),
        (_, _, Some(Outcome::Unknown)) => look("unknown", Look::Yellow),
        ("stale", Some(served), _) => look(format!("behind: {served} is still served"), Look::Yellow),
        _ if one.judged_by == JudgedBy::VersionRange => look("accepted (judged by version range only)", Look::Green),
        _ => look("accepted", Look::Green),
    }
}
