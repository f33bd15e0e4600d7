//! The one writer: answers to standard output, everything else to standard error.

use std::io::{self, Write};

use serde::Serialize;

use super::text::{Look, Text, clean, is_harmful, look, plain};
use crate::{
    env::Env,
    error::{Kind, OpError},
    ops::ctx::Ctx,
    wire::{Answer, Failure},
};

/// Where answers go.
pub struct Output<'a> {
    /// Whether answers are JSON.
    pub json: bool,
    /// Whether only what was asked for is said.
    pub quiet: bool,
    colour: bool,
    is_terminal: bool,
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
}

/// Whether the answer has reached whoever asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// It was written and flushed.
    Done,
    /// Nobody reads any more: no error, but nobody was told either.
    Closed,
}

impl<'a> Output<'a> {
    /// Returns a writer to these two.
    pub fn new(env: &Env, out: &'a mut dyn Write, err: &'a mut dyn Write) -> Self {
        Self { json: false, quiet: false, colour: false, is_terminal: env.is_terminal(), out, err }
    }

    /// Colours as git would: `color.blue`, else `color.ui`, `NO_COLOR`, the terminal.
    pub fn choose_colour(&mut self, ctx: &Ctx) {
        let set = ctx.code.as_ref().and_then(|code| code.config("color.blue").or_else(|| code.config("color.ui")));
        let dumb = ctx.env.text("TERM") == Some("dumb");
        let auto = self.is_terminal && ctx.env.var("NO_COLOR").is_none() && !dumb;
        self.colour = match set.as_deref() {
            Some("always") => true,
            Some("never" | "false" | "no" | "off" | "0") => false,
            _ => auto,
        };
    }

    /// Returns an empty text with this output's colours.
    pub fn text(&self) -> Text {
        Text::new(self.colour)
    }

    /// Returns whether answers go to a person at a terminal.
    pub fn is_terminal(&self) -> bool {
        self.is_terminal
    }

    /// Writes an answer: as JSON, or as the text that `render` makes of it, next steps last.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn answer<T: Serialize>(
        &mut self,
        answer: &Answer<T>,
        render: impl FnOnce(&T, &mut Text),
    ) -> Result<Delivery, OpError> {
        if self.json {
            return self.write(&json(answer));
        }
        let mut text = self.text();
        render(&answer.body, &mut text);
        if !self.quiet {
            text.next_steps(&answer.next_steps);
        }
        self.write(&text.into_string())
    }

    /// Writes one of many: as JSON in one line, or as the text that `render` makes of it.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn item<T: Serialize>(&mut self, item: &T, render: impl FnOnce(&T, &mut Text)) -> Result<Delivery, OpError> {
        if self.json {
            let line = serde_json::to_string(item);
            return self.write(&safe(&line.unwrap_or_else(|error| unreachable!("items have a JSON form: {error}"))));
        }
        let mut text = self.text();
        render(item, &mut text);
        self.write(&text.into_string())
    }

    /// Returns whether nobody reads standard output any more: what only the next write would tell.
    pub fn is_closed() -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let out = io::stdout();
        let mut fds = [PollFd::new(&out, PollFlags::empty())];
        let polled = poll(&mut fds, Some(&Timespec::default()));
        polled.is_ok_and(|_| fds[0].revents().intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL))
    }

    /// Writes text as it is.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn write(&mut self, text: &str) -> Result<Delivery, OpError> {
        match self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush()) {
            Ok(()) => Ok(Delivery::Done),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Delivery::Closed),
            Err(error) => Err(OpError::cannot("io", format!("cannot write the answer: {error}"))),
        }
    }

    /// Says one line on standard error.
    pub fn say(&mut self, line: &str) {
        // Nobody is left to tell where standard error is closed.
        let _ = writeln!(self.err, "git blue: {}", clean(line)).and_then(|()| self.err.flush());
    }

    /// Says why something failed. Returns the exit code.
    pub fn error(&mut self, error: &OpError) -> u8 {
        if self.json {
            let _ = self.write(&json(&Failure::from(error)));
            return error.kind.exit_code();
        }
        let label = match error.kind {
            Kind::No => "error:",
            Kind::Cannot => "fatal:",
            Kind::Usage => "usage:",
        };
        let mut text = self.text();
        text.line(&[look(label, Look::Red), plain(&error.message)]);
        // A single problem says nothing that the message does not.
        for problem in error.problems.iter().filter(|_| error.problems.len() > 1) {
            let place = problem.place().map(|place| format!("{place}: ")).unwrap_or_default();
            text.line(&[plain(format!("  {place}{}", problem.message))]);
        }
        for step in error.next_steps.iter().filter(|_| !self.quiet) {
            text.line(&[look("hint:", Look::Yellow), plain(step)]);
        }
        let _ = self.err.write_all(text.into_string().as_bytes()).and_then(|()| self.err.flush());
        error.kind.exit_code()
    }

    /// Shows help, or says what is wrong with the arguments. Returns the exit code.
    pub fn usage(&mut self, error: &clap::Error, json: bool) -> u8 {
        use clap::error::ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
        let text = error.render();
        match error.kind() {
            DisplayHelp | DisplayVersion => {
                let _ = self.write(&text.to_string());
                0
            }
            kind if json && kind != DisplayHelpOnMissingArgumentOrSubcommand => {
                self.json = true;
                let message = text.to_string();
                let message = message.trim().trim_start_matches("error: ").split("\n\n").next().unwrap_or_default();
                self.error(&OpError::usage(message).next("git blue -h"))
            }
            _ => {
                // It quotes the arguments, and whoever wrote those may not be who runs them.
                let mut safe = Text::new(false);
                safe.block("", &text.to_string());
                let _ = self.err.write_all(safe.into_string().as_bytes()).and_then(|()| self.err.flush());
                Kind::Usage.exit_code()
            }
        }
    }
}

/// JSON for people and programs: what a terminal would obey is escaped, which changes no value.
fn json<T: Serialize>(value: &T) -> String {
    safe(&serde_json::to_string_pretty(value).unwrap_or_else(|error| unreachable!("answers have a JSON form: {error}")))
}

fn safe(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        // Between its strings, JSON's only control character is the line end.
        if is_harmful(c) && c != '\n' {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                safe += &format!("\\u{unit:04x}");
            }
        } else {
            safe.push(c);
        }
    }
    safe.push('\n');
    safe
}
