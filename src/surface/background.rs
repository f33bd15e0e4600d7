//! Upkeep that nobody waits for.

use std::{
    os::unix::process::CommandExt as _,
    process::{Command, Stdio},
};

use crate::ops::{ctx::Ctx, gc};

/// Starts packing the store if a write has left enough behind for it. Nobody hears of it if it
/// fails: the next write tries again, and `doctor` tells.
pub fn pack_if_due(ctx: &Ctx) {
    let Ok(here) = ctx.here() else { return };
    if !gc::is_due(ctx) {
        return;
    }
    // A child that keeps a pipe of ours open would make our caller wait for it.
    let _ = Command::new(ctx.env.exe())
        .args(["gc", "--auto", "--quiet", "--realm", here.realm.as_str()])
        .current_dir("/")
        .env_clear()
        .envs(ctx.env.vars())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn();
}
