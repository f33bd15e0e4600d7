//! Starts work in background processes, without waiting for them.

use std::{path::Path, process::Stdio};

use crate::{
    env::Env,
    locate,
    model::{name::RealmName, oid::Oid},
    ops::{
        ctx::Ctx,
        delivery,
        publish::publish_log,
        repos::joined,
        sync::{auto, remote_status},
        upkeep::gc,
    },
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

/// Starts a sync if the user wants that and something is not pushed yet. It prints nothing and never prompts. The next
/// sync pushes what it could not push, and `git blue status` shows it.
pub fn sync_if_wanted(ctx: &Ctx) {
    let Ok(here) = ctx.realm() else { return };
    let is_unpushed = || remote_status::is_unpushed(&*here.store).unwrap_or_default();
    if auto::is_wanted(ctx, &here.realm, &*here.store).unwrap_or_default() && is_unpushed() {
        sync(ctx, &here.realm);
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
        sync(ctx, &here.realm);
    }
}

fn sync(ctx: &Ctx, realm: &RealmName) {
    start(ctx, &["sync", "--by-itself", "--quiet", "--realm", realm.as_str()]);
}

fn start(ctx: &Ctx, arguments: &[&str]) {
    spawn(&ctx.env, ctx.env.exe(), arguments);
}

fn spawn(env: &Env, program: &Path, arguments: &[&str]) {
    // The arguments name the realm. A relative path in `GIT_DIR` would lead nowhere from here.
    let mut command = env.clone().without_repository().child(process::detached(program));
    command.args(arguments).current_dir("/");
    // A child that keeps a pipe of ours open would make our caller wait for it.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = process::own_process_group(&mut command).spawn();
}

/// Starts publishing a commit once the realm is free. Returns whether it was started.
pub fn publish_later(ctx: &Ctx, commit: &Oid) -> bool {
    // Send standard error there too, so that the log has the message of a panic.
    let log = publish_log::open(ctx).map_or_else(|_| Stdio::null(), Stdio::from);
    let mut command = ctx.env.child(process::detached(ctx.env.exe()));
    command.args(["hook", DETACHED, &commit.to_string()]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().is_ok()
}

/// Opens a page in the user's browser, if a program for that is installed.
pub fn browse(env: &Env, url: &str) {
    match SYSTEM {
        System::Unix => spawn(env, Path::new("xdg-open"), &[url]),
        System::MacOs => spawn(env, Path::new("open"), &[url]),
        System::Windows => spawn(env, Path::new("rundll32"), &["url.dll,FileProtocolHandler", url]),
    }
}

/// The argument with which a hook starts this program in the background, so that git can continue.
pub const DETACHED: &str = "detached";
