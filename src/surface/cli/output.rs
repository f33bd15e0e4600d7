//! Writes answers to standard output, and everything else to standard error. No other part of the program prints.

use std::{
    io::{self, BufRead as _, Read as _, Write},
    path::Path,
    rc::Rc,
};

use serde::Serialize;

use clap::error::{ContextKind, ContextValue};

use super::{
    Verdict, When, manual,
    pager::{self, Pager, Shown},
    progress::Progress,
    text::{Style, Text, plain, styled},
};
use crate::{
    env::{Env, UserZone},
    error::{ErrorCode, Kind, NextStep, OpError},
    machine::user_config::boolean,
    model::name::RealmName,
    ops::{Operation, ctx::Ctx, realm::status},
    platform::terminal,
    surface::escape::{clean, escape_in_json},
    wire::{Answer, AnyAnswer, Failure},
};

/// The output of the process.
pub struct Output<'a> {
    /// Print answers as JSON.
    pub json: bool,
    /// Omit next steps and success messages.
    pub quiet: bool,
    color: bool,
    /// Color standard error, which may be redirected separately from standard output.
    color_errors: bool,
    is_terminal: bool,
    zone: Rc<UserZone>,
    pager: Option<Pager>,
    progress: Option<Progress>,
    /// Answers to print only if something failed, and their warnings, to print otherwise.
    held: Option<(String, String)>,
    /// Something was written to standard output.
    is_written: bool,
    /// The realm to name in next steps, because it is not the default.
    realm: Option<RealmName>,
    /// The folder to name in next steps, because it is not the current one.
    folder: Option<String>,
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
}

/// The outcome of writing an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// It was written and flushed.
    Done,
    /// The reader closed the pipe. This is not an error, but the answer was not read.
    Closed,
}

impl<'a> Output<'a> {
    /// Creates an output with these two streams.
    pub fn new(env: &Env, out: &'a mut dyn Write, err: &'a mut dyn Write) -> Self {
        Self {
            json: false,
            quiet: false,
            color: false,
            color_errors: false,
            is_terminal: env.is_terminal(),
            realm: None,
            folder: None,
            zone: Rc::new(env.user_zone()),
            pager: None,
            progress: None,
            held: None,
            is_written: false,
            out,
            err,
        }
    }

    /// Shows answers in a pager from now on, if they go to a terminal and the user configured one.
    pub fn choose_pager(&mut self, ctx: &Ctx, wanted: bool) {
        if wanted && self.is_terminal && !self.json {
            self.pager = Pager::choose(ctx);
        }
    }

    /// Decides about colors by git's rules: the option, `color.blue` or else `color.ui`, the environment variables,
    /// and then whether the output is a terminal or a pager in front of one.
    pub fn choose_color(&mut self, ctx: &Ctx, asked: Option<When>) {
        // Outside of a repository, this starts git, so it is done only if the answer matters.
        let set = |key: &str| match &ctx.code {
            Some(code) => code.config(key),
            None if self.is_terminal => ctx.setting(key),
            None => None,
        };
        let set = match asked {
            Some(When::Always) => Some("always".to_owned()),
            Some(When::Never) => Some("never".to_owned()),
            Some(When::Auto) => None,
            None => set("color.blue").or_else(|| set("color.ui")),
        };
        let forced = ctx.env.text("CLICOLOR_FORCE").is_some_and(|value| value != "0");
        let dumb = ctx.env.text("TERM") == Some("dumb");
        let auto = |is_terminal: bool| ctx.env.var("NO_COLOR").is_none() && (forced || (is_terminal && !dumb));
        let choose = |is_terminal: bool| match set.as_deref() {
            Some("always") => true,
            Some("never") => false,
            Some(value) if boolean(value) == Some(false) => false,
            _ => auto(is_terminal),
        };
        let paged = self.pager.is_some() || ctx.env.var(pager::IN_USE).is_some();
        self.color = choose(if paged {
            ctx.setting("color.pager").is_none_or(|value| boolean(&value) != Some(false))
        } else {
            self.is_terminal
        });
        self.color_errors = choose(ctx.env.is_error_terminal());
    }

    /// Shows at the terminal that `operation` is running once it takes a while, until something is written.
    pub fn show_progress(&mut self, env: &Env, operation: &Operation) {
        if env.is_error_terminal() && !self.quiet {
            let what = format!("git blue {}", operation.cli.join(" "));
            self.progress = Progress::start(what, env.progress_delay());
        }
    }

    /// Holds answers back under `--quiet`.
    pub fn hold_if_quiet(&mut self) {
        self.held = (self.quiet && !self.json).then(Default::default);
    }

    /// Writes the answers that were held back, or only their warnings if all went well.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn flush_held(&mut self, went_well: bool) -> Result<Delivery, OpError> {
        match self.held.take() {
            Some((_, warnings)) if went_well && warnings.is_empty() => Ok(Delivery::Done),
            Some((all, warnings)) => self.write(if went_well { &warnings } else { &all }),
            None => Ok(Delivery::Done),
        }
    }

    /// Returns an empty text with the color setting of this output and the user's time zone.
    pub fn text(&self) -> Text {
        Text::new(self.color).in_zone(Rc::clone(&self.zone)).quiet(self.quiet)
    }

    /// Returns whether something was written to standard output.
    pub fn is_written(&self) -> bool {
        self.is_written
    }

    /// Returns whether standard output is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Writes an answer as JSON, or as the text that `render` makes of it, followed by the next steps.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn answer<T: Serialize>(
        &mut self,
        answer: &Answer<T>,
        render: impl FnOnce(&T, &mut Text),
    ) -> Result<Delivery, OpError> {
        if self.json {
            return self.write(&self.json_of(answer));
        }
        let mut text = self.text();
        render(&answer.body, &mut text);
        self.finish(text, &answer.next_steps)
    }

    /// Writes an answer like [`Self::answer`], and returns [`Verdict::Yes`].
    pub(super) fn shown<T: Serialize>(
        &mut self,
        answer: &Answer<T>,
        render: impl FnOnce(&T, &mut Text),
    ) -> Result<Verdict, OpError> {
        self.answer(answer, render).map(|_| Verdict::Yes)
    }

    /// Writes an answer like [`Self::answer`], and returns [`Verdict::Yes`] if it is good.
    pub(super) fn judged<T: Serialize>(
        &mut self,
        answer: &Answer<T>,
        render: impl FnOnce(&T, &mut Text),
        is_good: impl FnOnce(&T) -> bool,
    ) -> Result<Verdict, OpError> {
        self.answer(answer, render)?;
        Ok(if is_good(&answer.body) { Verdict::Yes } else { Verdict::No })
    }

    /// Writes an answer that lacks what is `unreadable`. As JSON, it names that; in text, an error after it does.
    pub(super) fn partial<T>(
        &mut self,
        mut answer: Answer<T>,
        unreadable: &[String],
        write: impl FnOnce(&mut Self, &Answer<T>) -> Result<Verdict, OpError>,
    ) -> Result<Verdict, OpError> {
        let Some(error) = status::failure(unreadable) else { return write(self, &answer) };
        if self.json {
            write(self, &answer)?;
            return Ok(Verdict::Partly);
        }
        // The error prints this step.
        answer.next_steps.retain(|step| !error.next_steps.contains(step));
        write(self, &answer)?;
        Err(error)
    }

    /// Writes the text of an answer with its next steps, or holds it back.
    fn finish(&mut self, mut text: Text, next_steps: &[NextStep]) -> Result<Delivery, OpError> {
        if !self.quiet {
            text.next_steps(&self.steps(next_steps));
        }
        if let Some((all, warnings)) = &mut self.held {
            warnings.push_str(text.warnings());
            all.push_str(&text.into_string());
            return Ok(Delivery::Done);
        }
        self.write(&text.into_string())
    }

    /// Names the realm in the next steps of all answers.
    pub fn name_realm(&mut self, realm: RealmName) {
        self.realm = Some(realm);
    }

    /// Names the folder in the next steps of all answers.
    pub fn name_folder(&mut self, folder: &Path) {
        self.folder = Some(folder.display().to_string());
    }

    fn steps(&self, steps: &[NextStep]) -> Vec<NextStep> {
        let mut steps = steps.to_vec();
        if let Some(realm) = &self.realm {
            steps = steps.iter().map(|step| step.in_realm(realm)).collect();
        }
        if let Some(folder) = &self.folder {
            steps = steps.iter().map(|step| step.in_folder(folder)).collect();
        }
        steps
    }

    /// Serializes an answer.
    pub fn json_of(&self, answer: &dyn AnyAnswer) -> String {
        safe(&answer.to_json_with(self.steps(answer.next_steps())))
    }

    /// Writes an answer that has no text of its own, as JSON or field by field.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn fields(&mut self, answer: &dyn AnyAnswer) -> Result<Delivery, OpError> {
        let mut fields = Answer::new(answer.to_value());
        fields.next_steps = answer.next_steps().to_vec();
        if self.json {
            self.write(&self.json_of(answer))
        } else {
            self.answer(&fields, super::generated_commands::render)
        }
    }

    /// Writes one of many items, as one line of JSON or as the text that `render` makes of it.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn item<T: Serialize>(&mut self, item: &T, render: impl FnOnce(&T, &mut Text)) -> Result<Delivery, OpError> {
        if self.json {
            let line = serde_json::to_string(item);
            return self
                .write_plainly(&safe(&line.unwrap_or_else(|error| unreachable!("items have a JSON form: {error}"))));
        }
        let mut text = self.text();
        render(item, &mut text);
        self.write_plainly(&text.into_string())
    }

    /// Returns whether the reader has closed standard output, which otherwise only the next write would detect.
    pub fn is_closed() -> bool {
        terminal::is_output_closed()
    }

    /// Writes text unchanged, through the pager if there is one.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn write(&mut self, text: &str) -> Result<Delivery, OpError> {
        (self.progress, self.is_written) = (None, true);
        if let Some(pager) = self.pager.as_ref().filter(|_| !self.json) {
            match pager.show(text) {
                Shown::Wholly => return Ok(Delivery::Done),
                Shown::Partly => return Ok(Delivery::Closed),
                Shown::NotAtAll => {}
            }
        }
        self.write_plainly(text)
    }

    /// Writes text unchanged and never through a pager, since it is for programs.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn write_plainly(&mut self, text: &str) -> Result<Delivery, OpError> {
        (self.progress, self.is_written) = (None, true);
        match self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush()) {
            Ok(()) => Ok(Delivery::Done),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Delivery::Closed),
            Err(error) => Err(OpError::cannot(ErrorCode::Io, format!("cannot write the answer: {error}"))),
        }
    }

    /// Rings the terminal's bell.
    pub fn ring(&mut self) {
        let _ = self.err.write_all(b"\x07").and_then(|()| self.err.flush());
    }

    /// Prints a line to standard error.
    pub fn note(&mut self, line: &str) {
        self.progress = None;
        // If standard error is closed, the message cannot be shown anywhere.
        let _ = writeln!(self.err, "git blue: {}", clean(line)).and_then(|()| self.err.flush());
    }

    /// Asks a question on standard error. Returns whether the answer is yes; an empty answer is no.
    ///
    /// # Errors
    /// Returns an error if standard input cannot be read.
    pub fn ask(&mut self, question: &str) -> Result<bool, OpError> {
        self.progress = None;
        let _ = write!(self.err, "{} ", clean(question)).and_then(|()| self.err.flush());
        let mut answer = String::new();
        let read = io::stdin().lock().take(100).read_line(&mut answer);
        read.map_err(|error| OpError::cannot(ErrorCode::Io, format!("cannot read the answer: {error}")))?;
        Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
    }

    /// Prints an error. Returns its exit code.
    pub fn error(&mut self, error: &OpError) -> u8 {
        self.progress = None;
        let steps = self.steps(&error.next_steps);
        if self.json {
            let mut failure = Failure::from(error);
            failure.next_steps = steps.clone();
            if self.write(&json(&failure)).is_ok() {
                return error.kind.exit_code();
            }
        }
        let label = match error.kind {
            Kind::No | Kind::Usage => "error:",
            Kind::Cannot => "fatal:",
        };
        let mut text = Text::new(self.color_errors);
        text.line(&[styled(label, Style::Red), plain(&error.message)]);
        // The message already contains the first problem, or the only one.
        let is_said = |problem: &String| error.problems.len() == 1 || error.message.starts_with(problem);
        for problem in error.problems.iter().map(ToString::to_string).filter(|problem| !is_said(problem)) {
            text.line(&[plain(format!("  {problem}"))]);
        }
        for step in steps.iter().filter(|_| !self.quiet) {
            text.line(&[styled("hint:", Style::Yellow), plain(step.to_string())]);
        }
        let _ = self.err.write_all(text.into_string().as_bytes()).and_then(|()| self.err.flush());
        error.kind.exit_code()
    }

    /// Prints help, or the error in the arguments. `json` is the command that the arguments name, if they ask for JSON.
    /// Returns the exit code.
    pub fn usage(&mut self, mut error: clap::Error, json: Option<&str>) -> u8 {
        use clap::error::ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
        only_shown_commands(&mut error);
        let text = manual::printed(&error.render().to_string());
        match error.kind() {
            DisplayHelp | DisplayVersion => self.write(&text).map_or_else(|error| self.error(&error), |_| 0),
            kind => {
                if let Some(command) = json {
                    self.json = true;
                    let message = match kind {
                        DisplayHelpOnMissingArgumentOrSubcommand => format!("{command} needs a command"),
                        _ => {
                            let text = text.trim().trim_start_matches("error: ");
                            text.split("\n\n").next().unwrap_or_default().to_owned()
                        }
                    };
                    return self.error(&OpError::usage(message).next(format!("{command} -h")));
                }
                // The error quotes the arguments, which somebody else may have written.
                let mut safe = Text::new(false);
                safe.block("", &helped(&text));
                let _ = self.err.write_all(safe.into_string().as_bytes()).and_then(|()| self.err.flush());
                Kind::Usage.exit_code()
            }
        }
    }
}

/// Removes commands that are not shown from the suggestions of an error.
fn only_shown_commands(error: &mut clap::Error) {
    let Some(ContextValue::Strings(names)) = error.remove(ContextKind::SuggestedSubcommand) else { return };
    let hidden: Vec<_> = super::definition()
        .get_subcommands()
        .filter(|sub| sub.is_hide_set())
        .map(|sub| sub.get_name().to_owned())
        .collect();
    let shown: Vec<_> = names.into_iter().filter(|name| !hidden.contains(name)).collect();
    if shown.is_empty() {
        // Remove the other suggestions too, which would leave an empty line.
        error.remove(ContextKind::Suggested);
    } else {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(shown));
    }
}

/// Replaces the pointer to the help of `git blue` itself: git answers `git blue --help` with the manual page, which may
/// not be installed.
fn helped(text: &str) -> String {
    let is_outermost = text.lines().any(|line| line == "Usage: git blue [OPTIONS] [COMMAND]");
    if is_outermost { text.replace("try '--help'", "try 'git blue -h'") } else { text.to_owned() }
}

/// Serializes JSON for people and programs. Characters that terminals interpret are escaped, which changes no value.
pub fn json<T: Serialize>(value: &T) -> String {
    safe(&serde_json::to_string_pretty(value).unwrap_or_else(|error| unreachable!("answers have a JSON form: {error}")))
}

/// Serializes the answer of any operation in the same way. Its next steps name `realm`, if there is one.
pub fn json_of(answer: &dyn AnyAnswer, realm: Option<&RealmName>) -> String {
    safe(&match realm {
        Some(realm) => answer.to_json_with(answer.next_steps().iter().map(|step| step.in_realm(realm)).collect()),
        None => answer.to_json(),
    })
}

fn safe(text: &str) -> String {
    let mut safe = escape_in_json(text);
    safe.push('\n');
    safe
}
