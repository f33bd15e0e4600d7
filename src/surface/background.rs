//! Starts work in background processes that nobody waits for.

use std::process::{Command, Stdio};

use crate::{
    env::Env,
    locate,
    model::oid::Oid,
    ops::{ctx::Ctx, delivery, publish::publish_log, repos::joined, sync::auto, upkeep::gc},
    platform::{SYSTEM, System, process},
};

/// Starts packing the store if writes have left enough loose objects and packs behind. A failure is not reported: the
/// next write tries again, and `git blue doctor` shows it.
pub fn pack_if_due(ctx: &Ctx) {
    let Ok(here) = ctx.realm() else { return };
    if !gc::is_due(ctx) {
        return;
    }
    start(ctx, &["gc", "--auto", "--quiet", "--realm", here.realm.as_str()]);
}

/// Starts a sync if the user wants one after each publication. It prints nothing and never prompts. The next sync
/// pushes what it could not push, and `git blue status` shows it.
pub fn sync_if_wanted(ctx: &Ctx) {
    let Ok(here) = ctx.realm() else { return };
    if auto::is_wanted(ctx, &here.realm, &*here.store).unwrap_or_default() {
        start(ctx, &["sync", "--by-itself", "--quiet", "--realm", here.realm.as_str()]);
    }
}

/// Starts sending new changes to the receivers that the user configured, if there are any. It does not wait for the
/// sending.
pub fn notify_if_due(ctx: &Ctx) {
    let Ok(here) = ctx.realm() else { return };
    if delivery::run::is_due(ctx, &here.realm, &*here.store).unwrap_or_default() {
        start(ctx, &["notify", "send", "--due", "--wait", "60", "--quiet", "--realm", here.realm.as_str()]);
    }
}

/// Starts a fetch of the realm if the user wants that and there was none recently, because someone who pulls code or
/// switches branches is about to read the work of others. It does not wait for the fetch.
pub fn fetch_if_due(ctx: &Ctx) {
    let (Ok(here), Ok(acting)) = (ctx.realm(), ctx.acting_repo()) else { return };
    let is_wanted = || auto::is_wanted(ctx, &here.realm, &*here.store).unwrap_or_default();
    let is_due = || {
        let known = locate::known(&ctx.home, &here.realm);
        known.is_ok_and(|known| auto::is_due(&known.path, ctx.env.now()))
    };
    if joined::is_joined(&ctx.home, acting) && is_wanted() && is_due() {
        start(ctx, &["sync", "--by-itself", "--quiet", "--realm", here.realm.as_str()]);
    }
}

fn start(ctx: &Ctx, arguments: &[&str]) {
    // A child that keeps a pipe of ours open would make our caller wait for it.
    let _ = process::own_process_group(&mut Command::new(ctx.env.exe()))
        .args(arguments)
        .current_dir("/")
        .env_clear()
        .envs(ctx.env.vars())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
}

/// Starts publishing a commit once the realm is free. Returns whether it was started.
pub fn publish_later(ctx: &Ctx, commit: &Oid) -> bool {
    // Send standard error there too, so that the log has the message of a panic.
    let log = publish_log::open(ctx).map_or_else(|_| Stdio::null(), Stdio::from);
    let started = process::detached(ctx.env.exe())
        .args(["hook", DETACHED, &commit.to_string()])
        .current_dir(ctx.env.cwd())
        .env_clear()
        .envs(ctx.env.vars())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn();
    started.is_ok()
}

/// Opens a page in the user's browser, if a program for that is installed.
pub fn browse(env: &Env, url: &str) {
    let (opener, arguments): (_, &[&str]) = match SYSTEM {
        System::Unix => ("xdg-open", &[]),
        System::MacOs => ("open", &[]),
        System::Windows => ("rundll32", &["url.dll,FileProtocolHandler"]),
    };
    let _ = process::own_process_group(&mut Command::new(opener))
        .args(arguments)
        .arg(url)
        .env_clear()
        .envs(env.vars())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
}

/// The argument with which a hook starts this program in the background, so that git can continue.
pub const DETACHED: &str = "detached";
