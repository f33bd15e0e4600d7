//! Upkeep that nobody waits for.

use std::{
    os::unix::process::CommandExt as _,
    process::{Command, Stdio},
};

use crate::ops::{ctx::Ctx, gc, realm_sync};

/// Starts packing the store if a write has left enough behind for it. Nobody hears of it if it
/// fails: the next write tries again, and `doctor` tells.
pub fn pack_if_due(ctx: &Ctx) {
    let Ok(here) = ctx.here() else { return };
    if !gc::is_due(ctx) {
        return;
    }
    start(ctx, &["gc", "--auto", "--quiet", "--realm", here.realm.as_str()]);
}

/// Starts a sync where the user wants one after each publication. It says nothing, and is asked
/// nothing: what did not go goes with the next one, and `status` tells.
pub fn sync_if_wanted(ctx: &Ctx) {
    let Ok(here) = ctx.here() else { return };
    if realm_sync::is_automatic(ctx, &*here.store) {
        start(ctx, &["sync", "--quiet", "--realm", here.realm.as_str()]);
    }
}

fn start(ctx: &Ctx, arguments: &[&str]) {
    // A child that keeps a pipe of ours open would make our caller wait for it.
    let _ = Command::new(ctx.env.exe())
        .args(arguments)
        .current_dir("/")
        .env_clear()
        .envs(ctx.env.vars())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn();
}
