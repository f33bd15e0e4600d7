//! Shows long answers in the pager that git would choose (git-var(1), `GIT_PAGER`).

use std::{
    ffi::{OsStr, OsString},
    io::{self, Write as _},
    process::Stdio,
};

use crate::{
    env::Env,
    machine::user_config::boolean,
    ops::ctx::Ctx,
    platform::{process, terminal},
};

/// Set by git, and by this program, for processes whose output goes through a pager to a terminal.
pub const IN_USE: &str = "GIT_PAGER_IN_USE";

/// Defaults that git sets for pagers: quit if all fits on the screen, keep colors, do not clear the screen.
const DEFAULTS: [(&str, &str); 2] = [("LESS", "FRX"), ("LV", "-c")];

/// The exit codes of a shell that did not find a program, or may not run it.
const NOT_RUN: [i32; 2] = [126, 127];

/// A pager that was chosen but not started.
#[derive(Debug, Clone)]
pub struct Pager {
    command: OsString,
    env: Env,
}

/// The part of a text that reached the pager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// The pager read all of it.
    Wholly,
    /// The pager was closed before it had read all of it.
    Partly,
    /// The pager could not be started.
    NotAtAll,
}

impl Pager {
    /// Returns the pager that git would use: the first of `GIT_PAGER`, `pager.blue`, `core.pager`, `PAGER`, and
    /// `less`. Returns `None` if git would use none.
    pub fn choose(ctx: &Ctx) -> Option<Self> {
        let own = match ctx.program("pager.blue") {
            Some(word) if boolean(&word) == Some(false) => return None,
            Some(word) if boolean(&word) == Some(true) => None,
            command => command,
        };
        // A variable that is set but empty is a choice too.
        let variable = |name: &str| ctx.env.vars().get(OsStr::new(name)).cloned();
        let command = variable("GIT_PAGER")
            .or_else(|| own.or_else(|| ctx.program("core.pager")).map(Into::into))
            .or_else(|| variable("PAGER"))
            .unwrap_or_else(|| "less".into());
        // As in git, an empty command means no pager.
        if command.is_empty() || command == "cat" {
            return None;
        }
        let unset = DEFAULTS.into_iter().filter(|(name, _)| variable(name).is_none());
        let env = unset.fold(ctx.env.clone(), |env, (name, value)| env.with(name, value));
        Some(Self { command, env: env.with(IN_USE, "true") })
    }

    /// Shows the text, and returns once the user closes the pager.
    pub fn show(&self, text: &str) -> Shown {
        // Keys that end a program are for the pager, which would otherwise lose its terminal.
        terminal::leave_keys_to_child();
        // As in git, a pager is a shell command.
        let child = self.env.child(process::shell()).arg("-c").arg(&self.command).stdin(Stdio::piped()).spawn();
        let Ok(mut child) = child else { return Shown::NotAtAll };
        let written = child.stdin.take().map_or(Ok(()), |mut pipe| pipe.write_all(text.as_bytes()));
        let status = child.wait().ok().and_then(|status| status.code());
        match written {
            _ if status.is_some_and(|code| NOT_RUN.contains(&code)) => Shown::NotAtAll,
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Shown::Partly,
            _ => Shown::Wholly,
        }
    }
}
