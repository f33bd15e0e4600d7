//! A table for comments and summaries, in GitHub Flavored Markdown, which GitLab and Forgejo read too.

use super::{Level, Report, message, subject};
use crate::model::check::Finding;

/// Most rows: a comment takes 65,536 characters.
const MAX: usize = 100;

/// Returns the report.
pub fn render(report: Report<'_>) -> String {
    let outcome = if report.body.valid { "ok" } else { "failed" };
    let mut text = format!("### Contracts: {outcome}\n\n{} in the realm `{}`\n", report.counts(), report.body.realm);
    let all: Vec<_> = report.findings().collect();
    if !all.is_empty() {
        text += "\n| | contract | file | what |\n|---|---|---|---|\n";
        all.iter().take(MAX).for_each(|(level, finding)| text += &row(report, *level, finding));
        if all.len() > MAX {
            text += &format!("\nand {} more: `git blue check` lists them\n", all.len() - MAX);
        }
    }
    let elsewhere = &report.body.elsewhere;
    if elsewhere.errors > 0 {
        text += &format!("\nElsewhere in the realm, and failing nothing here: {} errors\n", elsewhere.errors);
    }
    text
}

fn row(report: Report<'_>, level: Level, finding: &Finding) -> String {
    let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
    let place = report.file(finding).map(|file| code(&format!("{file}{line}"))).unwrap_or_default();
    let subject = subject(finding).map(|subject| code(&subject)).unwrap_or_default();
    format!("| {} | {subject} | {place} | {} `{}` |\n", level.word(), escape(&message(finding)), finding.code)
}

/// Returns text in which nothing is markup, mentions a person or ends a cell.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '\n' | '\r' => escaped.push(' '),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            // A word joiner keeps names from being notified.
            '@' => escaped.push_str("@\u{2060}"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '!' => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}

fn code(text: &str) -> String {
    format!("`{}`", text.replace('`', "'").replace('|', "\\|"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_no_markup() {
        assert_eq!(escape("a|b\n<img> [x](y) `c` @ada"), "a\\|b &lt;img&gt; \\[x\\](y) \\`c\\` @\u{2060}ada");
        assert_eq!(code("a`|b"), "`a'\\|b`");
    }
}
