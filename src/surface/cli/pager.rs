//! The pager, chosen by git's rules (git-var(1), GIT_PAGER): a long answer is read page by page.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    io::{self, Write as _},
    path::PathBuf,
    process::Stdio,
};

use crate::{
    ops::ctx::Ctx,
    platform::{process, terminal},
};

/// Set by git, and by us, for what runs inside of a pager: its output reaches a terminal after all.
pub const IN_USE: &str = "GIT_PAGER_IN_USE";

/// What git sets where the user has not: quit where all fits the screen, keep colours, do not clear.
const DEFAULTS: [(&str, &str); 2] = [("LESS", "FRX"), ("LV", "-c")];

/// What a shell says where it found no such program, or may not run it.
const NOT_RUN: [i32; 2] = [126, 127];

/// A pager that was chosen, not started yet.
#[derive(Debug, Clone)]
pub struct Pager {
    command: OsString,
    vars: BTreeMap<OsString, OsString>,
    folder: PathBuf,
}

/// What became of a text that was given to a pager.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// The pager took all of it.
    Wholly,
    /// It was closed before it had taken all.
    Partly,
    /// There is no such pager.
    NotAtAll,
}

impl Pager {
    /// Returns the pager that git would use: `GIT_PAGER`, the command of `pager.blue`, `core.pager`,
    /// `PAGER`, `less`. `None` where it would use none.
    pub fn choose(ctx: &Ctx) -> Option<Self> {
        let own = match ctx.setting("pager.blue") {
            Some(word) if matches!(&*word, "false" | "no" | "off" | "0") => return None,
            Some(word) if matches!(&*word, "true" | "yes" | "on" | "1") => None,
            command => command,
        };
        // Set and empty is a choice too.
        let variable = |name: &str| ctx.env.vars().get(OsStr::new(name)).cloned();
        let command = variable("GIT_PAGER")
            .or_else(|| own.or_else(|| ctx.setting("core.pager")).map(Into::into))
            .or_else(|| variable("PAGER"))
            .unwrap_or_else(|| "less".into());
        // As with git, an empty one means none.
        if command.is_empty() || command == "cat" {
            return None;
        }
        let mut vars = ctx.env.vars().clone();
        for (name, value) in DEFAULTS {
            vars.entry(name.into()).or_insert_with(|| value.into());
        }
        vars.insert(IN_USE.into(), "true".into());
        Some(Self { command, vars, folder: ctx.env.cwd().to_owned() })
    }

    /// Shows the text, and returns once the user is done with it.
    pub fn show(&self, text: &str) -> Shown {
        // Keys that end a program are the pager's, not ours: it would be left without its terminal.
        terminal::leave_keys_to_child();
        // As git does: a pager is a shell command.
        let child = process::shell()
            .arg("-c")
            .arg(&self.command)
            .current_dir(&self.folder)
            .env_clear()
            .envs(&self.vars)
            .stdin(Stdio::piped())
            .spawn();
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
