//! `git blue contract diff` and `git blue contract impact`.

use std::path::PathBuf;

use clap::Args;

use super::{
    Verdict,
    compat::{Sides, render_readings},
    listing::{signed, source, unreadable_bindings},
    output::Output,
    text::{Style, Text, Word, plain, styled},
};
use crate::{
    error::OpError,
    model::{
        contract::Values,
        diff::{Difference, Kind},
        json::Json,
        text::count,
        verdict::{FLOW, Outcome, ValuesCompared, Verdict as Judged, VersionBump},
    },
    ops::{
        contract::{self, draft::DraftFile, impact::Candidate},
        ctx::Ctx,
        publish::references::Reference,
    },
    repo::CodeRepo,
    surface::{
        cli::{contract_files, formats::Formats},
        report::{self, SideFile},
        value_lines::value_lines,
    },
    wire::{ContractDiff, ContractImpact, DocumentSource, ImportStanding, ImporterImpact, JudgedBy, SchemasCompared},
};

/// The maximum number of differences that are printed.
const MAX_SHOWN: usize = 200;
/// The maximum number of lines of a value.
const MAX_LINES: usize = 20;
/// The maximum number of characters of a line.
const MAX_WIDTH: usize = 200;
/// The maximum number of breaking changes that are printed with their values.
const MAX_BREAKS: usize = 5;

#[derive(Debug, Args)]
pub struct Diff {
    #[command(flatten)]
    request: contract::diff::Request,
    #[command(flatten)]
    pub(super) formats: Formats,
}

impl Diff {
    pub fn run(mut self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        self.request.whole_witnesses = true;
        let answer = contract::diff::run(ctx, &self.request)?;
        let file = || {
            let root = ctx.code.as_ref().and_then(CodeRepo::workdir);
            let prefix = report::prefix(&ctx.env, root.as_deref());
            let DraftFile { path, lines, elsewhere } = contract::diff::file(ctx, &self.request, &answer.body)?;
            let elsewhere = elsewhere.into_iter().map(|(at, (file, line))| (at, (report::below(&prefix, &file), line)));
            Some(SideFile { name: report::below(&prefix, &path), lines, elsewhere: elsewhere.collect() })
        };
        self.formats.deliver(ctx, output, &answer, || report::of_diff(&answer.body, file()), render_diff)?;
        Ok(Verdict::Yes)
    }
}

fn render_diff(body: &ContractDiff, text: &mut Text) {
    text.line(&[
        styled(format!("{}/{}", body.domain, body.contract), Style::Bold),
        plain(format!("{}{} -> {}{}", body.old_version, from(body.old_source), body.new_version, from(body.source))),
        styled(if body.content_changed { "" } else { "(schema, value and promise are the same)" }, Style::Dim),
    ]);
    for origin in [&body.old_origin, &body.new_origin].into_iter().flatten() {
        text.line(&[
            plain(&origin.version),
            styled(origin.time.strftime("%Y-%m-%d").to_string(), Style::Dim),
            signed(&origin.author, origin.in_future),
            source(origin.source_commit.as_deref(), origin.commit_url.as_deref()),
        ]);
    }
    for one in body.changes.iter().take(MAX_SHOWN) {
        text.gap();
        render_difference(one, text);
    }
    if let Some(more @ 1..) = body.changes.len().checked_sub(MAX_SHOWN) {
        text.gap().line(&[styled(format!("and {more} more; use --json to show all"), Style::Dim)]);
    }
    if let Some(compared) = &body.compared {
        render_compared(body, compared, text);
    }
    if let Some(reversed) = body.flow.as_ref().and_then(|verdict| verdict.difference.as_ref()) {
        text.line(&[styled("flow:", Style::Bold), styled("breaks the promise", Style::Red)]);
        render_break(FLOW, &reversed.message, &reversed.rule, text);
    }
    if let Some(values) = &body.values {
        render_values(values, text);
    }
    if let Some(needs) = report::needs(body) {
        text.line(&[plain("needs"), plain(needs)]);
    }
}

/// Prints how the agreed value changed, and the bump that this requires.
fn render_values(values: &ValuesCompared, text: &mut Text) {
    let (word, shown) = match (values.bump, values.promised) {
        (VersionBump::Major, _) => ("breaks the promise", Style::Red),
        (_, Values::Free) => ("changed, which is allowed", Style::Green),
        _ => ("extended, which is allowed", Style::Green),
    };
    text.line(&[styled("value:", Style::Bold), styled(word, shown)]);
    let breaking: Vec<_> = values.differences.iter().filter(|one| one.bump == VersionBump::Major).collect();
    for one in breaking.iter().take(MAX_BREAKS) {
        let place = one.old_pointer.as_ref().or(one.new_pointer.as_ref()).map_or("", String::as_str);
        render_break(&format!("/value{place}"), &one.message, &one.rule, text);
    }
    if let Some(more @ 1..) = (breaking.len() + values.more).checked_sub(MAX_BREAKS) {
        text.line(&[styled(format!("  and {more} more; use --json to show all"), Style::Dim)]);
    }
}

/// Prints one break of a part of the contract other than the schema.
fn render_break(place: &str, message: &str, rule: &str, text: &mut Text) {
    text.line(&[styled(format!("  {place}"), Style::Bold), plain(message), styled(format!("[{rule}]"), Style::Dim)]);
}

/// Prints what the change means for values: a witness for each decisive break, then the verdicts.
fn render_compared(body: &ContractDiff, compared: &SchemasCompared, text: &mut Text) {
    let [old, new] = report::names(body);
    let sides = Sides { old: &old, new: &new, reading: compared.reading, judged: &compared.promised };
    let decisive: Vec<_> = compared.differences.iter().filter(|one| one.reading == compared.reading).collect();
    for one in decisive.iter().take(MAX_BREAKS) {
        text.gap();
        sides.difference(one, text);
    }
    text.gap();
    if let Some(more @ 1..) = decisive.len().checked_sub(MAX_BREAKS) {
        let least = if compared.more_differences { "at least " } else { "" };
        let more = count(more, "more breaking change", "more breaking changes");
        text.line(&[styled(format!("and {least}{more}; use --json to show them"), Style::Dim)]);
    }
    let (of_old, of_new) = (format!("{new} sends"), format!("{old} sent"));
    render_readings("backwards", (&old, &of_old), &compared.backwards, compared.reading, text);
    render_readings("forwards", (&new, &of_new), &compared.forwards, compared.reading, text);
}

fn from(source: DocumentSource) -> &'static str {
    match source {
        DocumentSource::Realm | DocumentSource::Assumed => "",
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
    text.line(&[styled(place, Style::Bold), styled(word, Style::Dim)]);
    if one.change != Kind::Added {
        render_value("- ", Style::Red, &one.old, text);
    }
    if one.change != Kind::Removed {
        render_value("+ ", Style::Green, &one.new, text);
    }
}

/// Prints a value on one line if it fits, and truncates a very long one.
fn render_value(mark: &str, shown: Style, value: &Json, text: &mut Text) {
    let (lines, more) = value_lines(value, MAX_LINES);
    for line in &lines {
        let cut: String = line.chars().take(MAX_WIDTH).collect();
        let dots = if cut.len() < line.len() { " …" } else { "" };
        text.line(&[styled(format!("  {mark}{cut}{dots}"), shown)]);
    }
    if let Some(more) = more {
        text.line(&[styled(format!("  {mark}{more}"), Style::Dim)]);
    }
}

#[derive(Debug, Args)]
pub struct Impact {
    #[command(flatten)]
    request: contract::impact::Request,
    /// Assume that the next version has this schema; append #/POINTER for a part of the file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["draft", "to"])]
    schema: Option<PathBuf>,
}

impl Impact {
    pub fn run(mut self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        if let Some(place) = self.schema {
            let (file, pointer) = Reference::split(ctx.env.cwd(), &place);
            self.request.to = Candidate::Schema(contract_files::source(ctx, file)?, pointer.to_owned());
        }
        output.shown(&contract::impact::run(ctx, &self.request)?, render_impact)
    }
}

fn render_impact(body: &ContractImpact, text: &mut Text) {
    let kind = match (body.source, body.current_version.as_ref() == Some(&body.version)) {
        (DocumentSource::Realm, true) => "current",
        (DocumentSource::Realm, false) => "published",
        (DocumentSource::Assumed, _) => "not published yet",
        (source, _) => from(source).trim_start(),
    };
    text.line(&[
        styled(format!("{}/{}", body.domain, body.contract), Style::Bold),
        plain(&body.version),
        styled(kind, Style::Dim),
    ]);
    if let Some(reason) = &body.yanked {
        text.line(&[styled("  yanked:", Style::Yellow), plain(reason)]);
    }
    if let Some(reason) = &body.retired {
        text.line(&[styled("  retired:", Style::Yellow), plain(reason)]);
    }
    for verdict in &body.breaks_promise {
        let message = format!("breaks the promised {}: {}", verdict.broken(), verdict.phrase());
        text.line(&[styled("  error:", Style::Red), plain(message), styled("[breaks-promise]", Style::Dim)]);
    }
    if body.importers.is_empty() && body.unreadable_bindings.is_empty() {
        text.line(&[plain("  no repository imports it")]);
    }
    unreadable_bindings(&body.unreadable_bindings, text);
    let row = |one: &ImporterImpact| {
        let verdict = impact_word(one, body.retired.is_some());
        let adapted = one.adapted_version.as_ref().filter(|adapted| **adapted != body.version);
        let adapted = adapted.map(|version| format!("(adapted to {version})")).unwrap_or_default();
        let already =
            one.state == ImportStanding::Broken && one.current_state == ImportStanding::Broken && kind != "current";
        vec![
            plain(&one.repo),
            plain(&one.version_req),
            verdict,
            styled(&one.binding, Style::Dim),
            styled(adapted, Style::Dim),
            styled(if already { "(already broken)" } else { "" }, Style::Dim),
        ]
    };
    text.table("  ", &body.importers.iter().map(row).collect::<Vec<_>>());
    for one in &body.importers {
        let is_told = |verdict: &&Judged| verdict.verdict != Outcome::Compatible || !verdict.unnamed.is_empty();
        if let Some(verdict) = one.verdict.as_ref().filter(is_told) {
            text.line(&[styled(format!("  {}:", one.repo), Style::Bold), plain(verdict.phrase())]);
        }
    }
}

/// Returns one word for what a version means to one importer.
fn impact_word(one: &ImporterImpact, is_retired: bool) -> Word {
    let outcome = one.verdict.as_ref().map(|verdict| verdict.verdict);
    match (one.state, &one.resolved_version, outcome) {
        (ImportStanding::Broken, Some(_), _) => styled("broken, although in range", Style::Red),
        (ImportStanding::Broken, ..) => styled("broken", Style::Red),
        (ImportStanding::Unknown, ..) | (_, _, Some(Outcome::Unknown)) => styled("unknown", Style::Yellow),
        (ImportStanding::Behind, ..) if is_retired => styled("behind", Style::Yellow),
        (ImportStanding::Behind, Some(served), _) => styled(format!("behind: {served} is still served"), Style::Yellow),
        _ if one.judged_by == JudgedBy::VersionRange => styled("accepted (judged by version range only)", Style::Green),
        _ if one.verdict.as_ref().is_some_and(|verdict| !verdict.unnamed.is_empty()) => {
            styled("accepted, but lacks what it expects", Style::Yellow)
        }
        _ => styled("accepted", Style::Green),
    }
}
