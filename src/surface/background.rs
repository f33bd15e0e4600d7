//! Work that nobody waits for.

use std::process::{Command, Stdio};

use crate::{
    env::Env,
    locate,
    model::oid::Oid,
    ops::{ctx::Ctx, outgoing, publish::publish_log, repos::joined, sync::by_itself, upkeep::gc},
    platform::{SYSTEM, System, process},
};

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
    if by_itself::is_wanted(ctx, &here.realm, &*here.store).unwrap_or_default() {
        start(ctx, &["sync", "--quiet", "--realm", here.realm.as_str()]);
    }
}

/// Starts sending what is new to the receivers that the user configured, if there is anything to send. Nobody waits
/// for it.
pub fn notify_if_due(ctx: &Ctx) {
    let Ok(here) = ctx.here() else { return };
    if outgoing::run::is_due(ctx, &here.realm, &*here.store).unwrap_or_default() {
        start(ctx, &["notify", "send", "--due", "--wait", "60", "--quiet", "--realm", here.realm.as_str()]);
    }
}

/// Starts bringing what others published, where the user wants that and it was not done just now: whoever pulled
/// code or changed branches looks at the work of others. Nobody waits for it.
pub fn fetch_if_due(ctx: &Ctx) {
    let (Ok(here), Ok(acting)) = (ctx.here(), ctx.acting()) else { return };
    let is_wanted = || by_itself::is_wanted(ctx, &here.realm, &*here.store).unwrap_or_default();
    let is_due = || {
        let known = locate::known(&ctx.home, &here.realm);
        known.is_ok_and(|known| by_itself::is_due(&known.path, ctx.env.now()))
    };
    if joined::is_joined(&ctx.home, acting) && is_wanted() && is_due() {
        start(ctx, &["sync", "--by-itself", "--quiet", "--realm", here.realm.as_str()]);
    }
}

fn start(ctx: &Ctx, arguments: &[&str]) {
    // A child that keeps a pipe of ours open would make our caller wait for it.
    let _ = process::apart(&mut Command::new(ctx.env.exe()))
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
    // What a program says that dies of a fault belongs into the log too.
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

/// Shows a page in the user's browser, if there is anything that does so.
pub fn browse(env: &Env, url: &str) {
    let (opener, arguments): (_, &[&str]) = match SYSTEM {
        System::Unix => ("xdg-open", &[]),
        System::MacOs => ("open", &[]),
        System::Windows => ("rundll32", &["url.dll,FileProtocolHandler"]),
    };
    let _ = process::apart(&mut Command::new(opener))
        .args(arguments)
        .arg(url)
        .env_clear()
        .envs(env.vars())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
}

/// How a hook calls itself once it has let git go on.
pub const DETACHED: &str = "detached";
