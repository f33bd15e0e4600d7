//! `--format` and `--output`, for commands whose answers are reported to CI runners and other tools.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::{json, output::Output, text::Text};
use crate::{
    env::Env,
    error::OpError,
    ops::ctx::Ctx,
    surface::report::{self, Format, Report},
    wire::{Answer, Failure},
};

#[derive(Debug, Clone, Args)]
pub struct Formats {
    /// The output format [default: human, or github in a workflow run]
    #[arg(long, value_enum, conflicts_with = "json")]
    format: Option<Format>,
    /// Also write a report to a file, such as sarif=blue.sarif; can be given several times
    #[arg(long, value_name = "FORMAT=FILE", value_parser = report_file)]
    output: Vec<(Format, PathBuf)>,
}

/// Parses a report format and its file, as in `sarif=blue.sarif`.
fn report_file(text: &str) -> Result<(Format, PathBuf), String> {
    let (format, file) = text.split_once('=').ok_or("expected FORMAT=FILE, as in sarif=blue.sarif")?;
    let format = <Format as ValueEnum>::from_str(format, false).map_err(|_| unknown_format(format))?;
    match format {
        Format::Human => Err("human cannot be written to a file: redirect the output instead".into()),
        _ if file.is_empty() => Err("the file name after `=` is missing".into()),
        _ if file == "-" => Err("`-` is not a file: use --format to print a report".into()),
        format => Ok((format, file.into())),
    }
}

fn unknown_format(format: &str) -> String {
    let known = Format::value_variants().iter().filter(|format| **format != Format::Human);
    let known: Vec<_> = known.filter_map(|format| Some(format.to_possible_value()?.get_name().to_owned())).collect();
    format!("there is no format {format}: expected one of {}", known.join(", "))
}

impl Formats {
    /// Sets the format that the CI runner reads, unless the user asked for another one.
    pub fn of_runner(&mut self, env: &Env) {
        self.format = self.format.or_else(|| report::of_runner(env));
    }

    /// Returns the format of the answer. Sets `output` to JSON if the format is JSON.
    pub fn printed(&self, output: &mut Output<'_>) -> Format {
        output.json |= self.format == Some(Format::Json);
        if output.json { Format::Json } else { self.format.unwrap_or(Format::Human) }
    }

    /// Returns whether the answer is printed or written in one of the `wanted` formats.
    pub fn any(&self, output: &mut Output<'_>, wanted: &[Format]) -> bool {
        let printed = self.printed(output);
        wanted.contains(&printed) || self.output.iter().any(|(format, _)| wanted.contains(format))
    }

    /// Prints an answer and writes the requested reports. `report` returns their findings, and `render` writes the
    /// human-readable text.
    ///
    /// # Errors
    /// Returns an error if an output cannot be written, after writing all others.
    pub fn deliver<T: Serialize>(
        &self,
        ctx: &Ctx,
        output: &mut Output<'_>,
        answer: &Answer<T>,
        report: impl FnOnce() -> Report,
        render: impl FnOnce(&T, &mut Text),
    ) -> Result<(), OpError> {
        let printed = self.printed(output);
        let is_plain = |format: Format| matches!(format, Format::Human | Format::Json);
        let is_reported = !is_plain(printed) || self.output.iter().any(|(format, _)| !is_plain(*format));
        let report = is_reported.then(report);
        let rendered = |format: Format| report.as_ref().and_then(|report| report.render(format));
        let mut written = Ok(());
        for (at, (format, file)) in self.output.iter().enumerate() {
            let is_taken = self.output[..at].iter().any(|(_, earlier)| earlier == file);
            let text = rendered(*format).unwrap_or_else(|| output.json_of(answer));
            written = written.and(if is_taken {
                Err(OpError::usage(format!("{} cannot have two reports", file.display())))
            } else {
                write(&ctx.env, file, &text)
            });
        }
        // A report that cannot be written does not hide the answer.
        match rendered(printed) {
            Some(text) => output.write_plainly(&text)?,
            None => output.answer(answer, render)?,
        };
        // Nobody asked for the summary, so one that cannot be written is no failure.
        if let Some(Err(problem)) = report.as_ref().map(|report| summarize(&ctx.env, printed, report)) {
            output.note(&problem.message);
        }
        if written.is_err() {
            // Standard output already has its document.
            output.json = false;
        }
        written
    }

    /// Writes the requested reports for a command that failed before it had an answer, so that no earlier reports
    /// remain under their names.
    pub fn deliver_failure(&self, env: &Env, output: &mut Output<'_>, command: &'static str, error: &OpError) {
        let printed = self.printed(output);
        let report = Report::of_failure(command, error);
        let mut written = Ok(());
        for (format, file) in &self.output {
            let text = report.render(*format).unwrap_or_else(|| json(&Failure::from(error)));
            written = written.and(write(env, file, &text));
        }
        if let Some(text) = report.render(printed) {
            written = written.and(output.write_plainly(&text).map(drop));
        }
        if let Err(problem) = written.and(summarize(env, printed, &report)) {
            output.note(&problem.message);
        }
    }
}

fn write(env: &Env, file: &Path, text: &str) -> Result<(), OpError> {
    std::fs::write(env.cwd().join(file), text).map_err(OpError::io("write", file))
}

/// Appends the report to the step summary of a workflow run.
fn summarize(env: &Env, printed: Format, report: &Report) -> Result<(), OpError> {
    let file = env.text("GITHUB_STEP_SUMMARY").filter(|file| !file.is_empty() && printed == Format::Github);
    file.map_or(Ok(()), |file| report::append_summary(Path::new(file), report))
}
