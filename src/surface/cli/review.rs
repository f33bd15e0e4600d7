//! `git blue review`.

use super::{
    Verdict,
    output::Output,
    text::{Style, Text, Word, plain, styled},
};
use crate::{
    error::OpError,
    model::{
        text::count,
        verdict::{BrokenDirection, Outcome},
    },
    ops::{ctx::Ctx, realm},
    wire::{ChangedField, FieldChange, ImportReview, ImportStanding, RealmReview, Searched, Withdrawal},
};

pub fn run(ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
    let answer = realm::review::run(ctx)?;
    let unreadable = [&answer.body.unreadable_domains[..], &answer.body.unreadable].concat();
    output.partial(answer, &unreadable, |output, answer| output.shown(answer, render))
}

fn render(body: &RealmReview, text: &mut Text) {
    for import in &body.imports {
        render_import(body, import, text);
        text.gap();
    }
    text.line(&[plain(summary(body))]);
    if let (Some(cut), true) = (&body.mentions_cut, body.searched != Searched::Nothing) {
        text.line(&[styled(format!("there may be more mentions: {cut}"), Style::Dim)]);
    }
    if let Some(why) = &body.read_only {
        text.line(&[styled("read-only:", Style::Yellow), plain(why)]);
    }
    for line in &body.unreadable_domains {
        text.line(&[styled("not read:", Style::Red), plain(line)]);
    }
}

/// Returns a summary of what was checked.
fn summary(body: &RealmReview) -> String {
    let imports = |number: usize| count(number, "import", "imports");
    let broken = body.imports.iter().filter(|import| import.state == ImportStanding::Broken).count();
    let by_range = match body.by_range_only {
        0 => String::new(),
        all if all == body.checked => "; judged by version range only".to_owned(),
        some => format!("; {some} judged by version range only"),
    };
    match (body.checked, body.imports.len()) {
        (0, _) if body.unreadable_domains.is_empty() => format!("{} imports nothing", body.current_repo),
        (0, _) => "checked no imports".to_owned(),
        (checked, 0) => {
            let checked = imports(checked);
            format!("checked {checked}: nothing is broken, and nothing changed since the code was adapted{by_range}")
        }
        (checked, shown) => {
            format!("checked {}: {broken} broken, {} to review{by_range}", imports(checked), shown - broken)
        }
    }
}

fn render_import(body: &RealmReview, import: &ImportReview, text: &mut Text) {
    let version = |version: &Option<crate::model::version::Version>, missing: &str| {
        version.as_ref().map_or_else(|| missing.to_owned(), ToString::to_string)
    };
    let versions = match (&import.old_version, &import.new_version) {
        (Some(old), Some(new)) if old == new => new.to_string(),
        (old, _) if import.state == ImportStanding::Unknown => version(old, "?"),
        (old, new) => format!("{} -> {}", version(old, "?"), version(new, "missing")),
    };
    text.line(&[styled(format!("{}/{}", import.domain, import.contract), Style::Bold), plain(versions), state(import)]);
    let place = match (&import.binding_file, import.binding_line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (Some(file), None) => file.clone(),
        (None, _) => "only in the realm".to_owned(),
    };
    let used = if import.binding.is_empty() { String::new() } else { format!(", used in {}", import.binding) };
    let range = match &import.file_version_req {
        Some(range) => format!("{range} (published: {})", import.version_req),
        None => import.version_req.to_string(),
    };
    text.line(&[plain(" "), styled(format!("{place}: {range}{used}"), Style::Dim)]);
    if let Some(withdrawal) = import.withdrawal {
        let what = match withdrawal {
            Withdrawal::Deprecated => match &import.deprecated {
                Some(deprecated) => format!("the contract is {}", deprecated.terms(import.past_sunset)),
                None => "the contract is deprecated".to_owned(),
            },
            Withdrawal::Retired => "the contract is retired".to_owned(),
            Withdrawal::Yanked => "the current version was yanked".to_owned(),
        };
        text.line(&[plain(" "), styled(what, Style::Yellow)]);
    }
    if let Some(verdict) = &import.verdict {
        text.line(&[plain(" "), plain(verdict.phrase())]);
    }
    for line in &import.differences {
        let shown = match line.chars().next() {
            Some('-') => Style::Red,
            Some('+') => Style::Green,
            _ => Style::Yellow,
        };
        text.line(&[plain("   "), styled(line, shown)]);
    }
    if import.more_differences > 0 {
        let more = format!("and {}", count(import.more_differences, "more difference", "more differences"));
        text.line(&[plain("   "), styled(more, Style::Dim)]);
    }
    for field in &import.fields {
        text.line(&[plain(" "), plain(field_line(body, import, field))]);
        for one in import.mentions.iter().filter(|one| one.field == field.name) {
            text.line(&[plain("   "), styled(format!("{}:{}:", one.file, one.line), Style::Bold), plain(&one.text)]);
        }
    }
    if import.more_fields > 0 {
        let more = format!("and {}", count(import.more_fields, "more field", "more fields"));
        text.line(&[plain(" "), styled(more, Style::Dim)]);
    }
}

fn field_line(body: &RealmReview, import: &ImportReview, field: &ChangedField) -> String {
    let what = match (field.change, &field.maybe_renamed_to) {
        (FieldChange::Removed, Some(now)) => format!("removed, maybe renamed to {now}"),
        (FieldChange::Removed, None) => "removed".to_owned(),
        (FieldChange::Changed, _) => "changed".to_owned(),
    };
    let found = import.mentions.iter().filter(|one| one.field == field.name).count();
    // What was not found may only be beyond a limit of the search.
    let mentions = match (body.searched, found, &body.mentions_cut) {
        (Searched::Nothing, ..) => return format!("{} ({what})", field.name),
        (_, 0, Some(_)) => "no mention listed".to_owned(),
        (_, 0, None) => "not mentioned".to_owned(),
        (_, found, cut) => {
            let least = if cut.is_some() { "at least " } else { "" };
            format!("{least}{}", count(found, "mention", "mentions"))
        }
    };
    format!("{} ({what}): {mentions}", field.name)
}

fn state(import: &ImportReview) -> Word {
    let outcome = import.verdict.as_ref().map(|verdict| verdict.verdict);
    match (import.state, outcome) {
        (ImportStanding::Broken, Some(Outcome::Breaks)) if import.never_satisfied => {
            let old = import.old_version.as_ref().map(ToString::to_string).unwrap_or_default();
            let sends = import.verdict.as_ref().is_some_and(|one| one.direction == BrokenDirection::Forwards);
            let why = if sends {
                format!("it sends what {old} rejects")
            } else {
                format!("it expects more than {old} promises")
            };
            styled(format!("broken: {why}"), Style::Red)
        }
        (ImportStanding::Broken, Some(Outcome::Breaks)) => styled("broken", Style::Red),
        (ImportStanding::Broken, _) if import.new_version.is_none() => {
            styled("broken: no release is published", Style::Red)
        }
        (ImportStanding::Broken, _) => styled("broken: outside the range of the import", Style::Red),
        (ImportStanding::Unknown, _) => styled("unknown: the contract cannot be read", Style::Yellow),
        (ImportStanding::Behind, _) => styled("behind: an older version is still served", Style::Yellow),
        (_, Some(Outcome::Compatible)) => styled("accepted", Style::Green),
        (_, Some(_)) => styled("in range, but it is unknown whether it breaks the code", Style::Yellow),
        (_, None) if import.old_version == import.new_version => styled("accepted", Style::Green),
        (_, None) => styled("accepted (judged by version range only)", Style::Yellow),
    }
}
