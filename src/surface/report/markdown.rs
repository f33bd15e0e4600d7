//! A Markdown table for comments and summaries, in GitHub Flavored Markdown, which GitLab and Forgejo support too.

use super::{Entry, Report};

/// The maximum number of rows. GitHub limits a comment to 65,536 characters.
const MAX: usize = 100;

/// Returns the report as Markdown.
pub fn render(report: &Report) -> String {
    let Report { counts, scope, entries, .. } = report;
    let mut text = format!("### Contracts: {}\n\n{counts}{scope}\n", report.outcome.word());
    if !entries.is_empty() {
        text += "\n| | contract | file | what |\n|---|---|---|---|\n";
        entries.iter().take(MAX).for_each(|entry| text += &row(entry));
        if entries.len() > MAX {
            text += &format!("\nand {} more: `{}` lists them\n", entries.len() - MAX, report.command);
        }
    }
    report.notes.iter().for_each(|note| text += &format!("\n{note}\n"));
    text
}

fn row(entry: &Entry) -> String {
    let place = entry.place.as_ref().map(|_| code(&entry.at())).unwrap_or_default();
    let subject = entry.subject.as_deref().map(code).unwrap_or_default();
    format!("| {} | {subject} | {place} | {} `{}` |\n", entry.level.word(), escape(&entry.message), entry.rule)
}

/// Escapes text so that it contains no markup, mentions nobody, and does not end a table cell.
fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '\n' | '\r' => escaped.push(' '),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            // A word joiner after the `@` keeps it from notifying a person.
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
    fn text_contains_no_markup() {
        assert_eq!(escape("a|b\n<img> [x](y) `c` @ada"), "a\\|b &lt;img&gt; \\[x\\](y) \\`c\\` @\u{2060}ada");
        assert_eq!(code("a`|b"), "`a'\\|b`");
    }
}
