//! Hooks in git's configuration, which git 2.54 and newer run in addition to hook files: one section per hook. git
//! ignores `core.hooksPath` for them, so no other program hides them.

use super::block::Block;
use crate::{
    error::{ErrorCode, OpError},
    ops::ctx::Ctx,
    repo::CodeRepo,
    store::git,
};

/// The first version of git that runs hooks from its configuration.
const SINCE: (u32, u32) = (2, 54);

/// Checks that git is new enough to run hooks from its configuration.
///
/// # Errors
/// Returns an error with the installed version if git is older.
pub fn require(ctx: &Ctx) -> Result<(), OpError> {
    let said = git::git_version(ctx.env.vars()).unwrap_or_else(|| "no git".into());
    if git::numbers(&said) >= SINCE {
        return Ok(());
    }
    let (major, minor) = SINCE;
    let message = format!("{said} runs no hooks from its configuration; that needs git {major}.{minor} or newer");
    Err(OpError::cannot(ErrorCode::OldGit, message).next("git blue hooks install  # use hook files"))
}

fn section(event: &str) -> String {
    format!("hook.git-blue-{event}")
}

/// Returns whether the hook is in the repository's own configuration.
pub fn is_installed(code: &CodeRepo, event: &str) -> bool {
    code.config(&format!("{}.event", section(event))).is_some()
}

/// Writes the hook. The command is written first, because git rejects an event without a command.
///
/// # Errors
/// Returns an error if the configuration cannot be written.
pub fn install(code: &CodeRepo, block: Block<'_>, may_fail: bool) -> Result<bool, OpError> {
    let exe = Block::quotable(block.exe).map_err(|problem| OpError::no(ErrorCode::Unquotable, problem))?;
    let event = block.event;
    let or = if may_fail { "[ $? -ne 1 ]" } else { ":" };
    // git appends the hook's arguments to the command.
    let command = format!(r#"f() {{ [ ! -x "{exe}" ] || "{exe}" hook {event} "$@" || {or}; }}; f"#);
    let section = section(event);
    let keys = [(format!("{section}.command"), command), (format!("{section}.event"), event.to_owned())];
    let mut changed = false;
    for (key, value) in keys {
        if code.config(&key).as_deref() != Some(&*value) {
            code.set_config(&key, &value)?;
            changed = true;
        }
    }
    Ok(changed)
}

/// Removes the hook. Returns whether it was there.
///
/// # Errors
/// Returns an error if the configuration cannot be written.
pub fn uninstall(code: &CodeRepo, event: &str) -> Result<bool, OpError> {
    if !is_installed(code, event) {
        return Ok(false);
    }
    code.remove_config_section(&section(event))?;
    Ok(true)
}
