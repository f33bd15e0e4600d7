//! The common options of lists, and how lists are printed.

use clap::Args;
use serde::Serialize;

use super::{Verdict, output::Output, text::Text};
use crate::{
    error::OpError,
    model::{
        name::RepoName,
        text::{shell_word, short_commit},
    },
    surface::cli::text::{Style, Word, plain, styled},
    wire::{Answer, LogEntry, PageRequest},
};

/// The option to show a whole list.
#[derive(Debug, Args)]
pub struct All {
    /// Show all entries
    #[arg(long, conflicts_with = "limit")]
    all: bool,
}

impl All {
    /// Returns whether the user asked for the whole list.
    pub fn is_wanted(&self) -> bool {
        self.all
    }

    /// Removes the page limit if the user asked for the whole list.
    pub fn widen(self, page: &mut PageRequest) {
        if self.all {
            page.limit = Some(0);
        }
    }
}

/// The option to print lists of names for programs that do not read JSON.
#[derive(Debug, Clone, Copy, Args)]
pub struct Names {
    /// Print only the names or ids, NUL-terminated; without --limit, all of them
    #[arg(short = 'z', conflicts_with = "json")]
    null: bool,
}

impl Names {
    /// Removes the page limit if the user asked only for names and set no limit.
    pub fn widen(self, page: &mut PageRequest) {
        if self.null {
            page.limit.get_or_insert(0);
        }
    }

    /// Prints an answer, or only its names.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn answer<T: Serialize, N: ToString>(
        self,
        output: &mut Output<'_>,
        answer: &Answer<T>,
        names: impl FnOnce(&T) -> Vec<N>,
        render: impl FnOnce(&T, &mut Text),
    ) -> Result<Verdict, OpError> {
        if !self.null {
            return output.shown(answer, render);
        }
        let names = names(&answer.body).iter().map(|name| name.to_string() + "\0").collect::<String>();
        output.write_plainly(&names).map(|_| Verdict::Yes)
    }
}

/// Prints log entries as columns, for the realm and for one contract.
pub fn render_log(entries: &[LogEntry], next_cursor: Option<&str>, text: &mut Text) {
    if entries.is_empty() {
        text.line(&[plain("no entries")]);
    }
    let rows = entries.iter().map(|entry| {
        vec![
            styled(entry.commit.short(), Style::Commit),
            styled(text.time(entry.time), Style::Dim),
            styled(entry.domain.as_ref().map_or_else(|| "-".into(), ToString::to_string), Style::Green),
            plain(entry.reason.as_ref().map_or_else(
                || entry.subject.clone(),
                |reason| format!("{}: {}", entry.subject, reason.replace('\n', " ")),
            )),
            signed(&entry.author, entry.in_future),
            source(entry.source_commit.as_deref(), entry.commit_url.as_deref()),
        ]
    });
    text.table("", &rows.collect::<Vec<_>>());
    render_cursor(next_cursor, text);
}

/// Returns the published commit: its page on the forge if that is known, otherwise its first digits.
pub fn source(commit: Option<&str>, url: Option<&str>) -> Word {
    match (url, commit) {
        (Some(url), _) => styled(url, Style::Dim),
        (None, Some(commit)) => styled(format!("from {}", short_commit(commit)), Style::Dim),
        (None, None) => plain(""),
    }
}

/// Returns the author of a commit, marked if the commit's date is in the future.
pub fn signed(author: &str, is_ahead: bool) -> Word {
    if is_ahead {
        styled(format!("by {author}, dated in the future"), Style::Yellow)
    } else {
        styled(format!("by {author}"), Style::Dim)
    }
}

/// Prints how to get the next page, if there is one.
pub fn render_cursor(next_cursor: Option<&str>, text: &mut Text) {
    if let Some(cursor) = next_cursor {
        text.line(&[styled(format!("more: --cursor {}, or --all", shell_word(cursor)), Style::Dim)]);
    }
}

/// Prints the number of entries that are not shown, and the command that shows them.
pub fn more(count: usize, command: &str, text: &mut Text) {
    text.line(&[styled(format!("  and {count} more: {command}"), Style::Dim)]);
}

/// Prints at most `most` of what cannot be read, if there is anything.
pub fn render_unreadable(lines: &[String], most: usize, text: &mut Text) {
    if lines.is_empty() {
        return;
    }
    text.heading("unreadable");
    for line in lines.iter().take(most) {
        text.line(&[plain(" "), styled(line, Style::Red)]);
    }
    if lines.len() > most {
        more(lines.len() - most, "git blue check", text);
    }
}

/// Prints the import cycles that the change created.
pub fn render_cycles(cycles: &[String], text: &mut Text) {
    for cycle in cycles {
        text.line(&[styled("warning:", Style::Yellow), plain(format!("dependency cycle: {cycle}"))]);
    }
}

/// Prints the repositories of which it is unknown whether they import a contract.
pub fn unreadable_bindings(repos: &[RepoName], text: &mut Text) {
    for repo in repos {
        let unknown = format!("the binding of {repo} cannot be read, so it is unknown whether {repo} imports it");
        text.line(&[styled("  error:", Style::Red), plain(unknown), styled("[damaged]", Style::Dim)]);
    }
}
