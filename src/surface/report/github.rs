//! Annotations of a GitHub Actions run, and its step summary. See "Workflow commands for GitHub Actions": each step
//! shows ten annotations of a kind, so the last one says how many more there are.

use std::{fs::OpenOptions, io::Write as _, path::Path};

use super::{Entry, Level, Place, Report};
use crate::error::OpError;

/// The maximum number of findings of a level that are annotated.
const MAX: usize = 9;

/// Returns the annotations, one per line, the notes, and the outcome as the last line of the log.
pub fn render(report: &Report) -> String {
    let mut text = String::new();
    for level in Level::ALL {
        let all: Vec<_> = report.entries.iter().filter(|entry| entry.level == level).collect();
        all.iter().take(MAX).for_each(|entry| text += &annotation(entry));
        if all.len() > MAX {
            let more = all.len() - MAX;
            let all = data(report.command);
            text += &format!("::{}::and {more} more: {all} lists them\n", command(level));
        }
    }
    report.notes.iter().for_each(|note| text += &format!("{note}\n"));
    format!("{text}{}: {}\n", report.outcome.word(), report.counts)
}

/// Appends the report to the step summary.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn append_summary(file: &Path, report: &Report) -> Result<(), OpError> {
    let opened = OpenOptions::new().append(true).create(true).open(file);
    let written = opened.and_then(|mut file| file.write_all(super::markdown::render(report).as_bytes()));
    written.map_err(OpError::io("write", file))
}

fn command(level: Level) -> &'static str {
    if level == Level::Note { "notice" } else { level.word() }
}

fn annotation(entry: &Entry) -> String {
    let mut properties = Vec::new();
    if let Some(Place { file, line, column }) = &entry.place {
        properties.push(format!("file={}", property(file)));
        properties.extend(line.map(|line| format!("line={line}")));
        properties.extend(column.map(|column| format!("col={column}")));
    }
    let about = entry.subject.as_ref().map(|subject| format!("{subject}: ")).unwrap_or_default();
    properties.push(format!("title={}", property(&format!("{about}{}", entry.rule))));
    format!("::{} {}::{}\n", command(entry.level), properties.join(","), data(&entry.message))
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_end_a_command_or_a_property() {
        assert_eq!(data("100 %\n::error::no"), "100 %25%0A::error::no");
        assert_eq!(property("a,b:c%\r"), "a%2Cb%3Ac%25%0D");
    }
}
