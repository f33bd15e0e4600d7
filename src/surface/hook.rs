//! Runs git hooks on behalf of the installed shims. Git waits and the commit exists already, so a hook prints at most
//! one line and never fails. Only the check before a push may stop git.

use std::{ffi::OsString, path::PathBuf};

use super::{background, mcp, publication_summary};
use crate::{
    env::Env,
    error::{ErrorCode, Kind, OpError},
    model::oid::Oid,
    ops::{
        claude,
        ctx::Ctx,
        delivery, hooks, prime,
        publish::{branch_commit::Scope, catch_up, hint, publish_log, removed_files},
        realm,
        repos::{joined, roots},
        session,
    },
    platform::process,
    repo::{CodeRepo, DiscoverOptions},
    surface::background::DETACHED,
};

/// The step for a commit that is not published because it was rolled back.
const AGAIN: &str = "git blue contract publish  # publish it again";

/// The outcome of a hook.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Lines to print.
    pub lines: Vec<String>,
    /// The text with which a session of Claude Code starts.
    pub greeting: String,
    /// The exit code.
    pub code: u8,
}

impl From<Option<String>> for Outcome {
    fn from(line: Option<String>) -> Self {
        Self { lines: line.into_iter().collect(), ..Self::default() }
    }
}

/// Runs a hook. `input` returns the standard input that git wrote.
pub fn run(env: Env, event: &str, arguments: &[OsString], input: impl FnOnce() -> String) -> Outcome {
    // Git commands that this program runs also start hooks; their effects are already known.
    if env.is_own_git() {
        return Outcome::default();
    }
    if event == DETACHED {
        detached(env, arguments);
        return Outcome::default();
    }
    if event == claude::SESSION_START {
        return session_start(env, &input());
    }
    if event != hooks::PRE_PUSH && !hooks::is_publishing(event) {
        return unknown(event);
    }
    // Git passes 0 if files were checked out rather than a branch.
    if event == "post-checkout" && arguments.get(2).is_some_and(|flag| flag == "0") {
        return Outcome::default();
    }
    // Print nothing outside of a realm: the hook may apply to every repository (core.hooksPath).
    let env = of_hook(env);
    let place = env.clone();
    let ctx = match Ctx::open(env, None) {
        Ok(ctx) => ctx,
        // GUI programs and timers may start git without HOME.
        Err(error)
            if error.code == ErrorCode::NoHome && clone_of_hook(&place).as_ref().is_some_and(joined::was_joined) =>
        {
            return not_done(event, &error).into();
        }
        Err(_) => return Outcome::default(),
    };
    // If the realm is unknown, say so: the user of this clone expects the commit to be published, or checked.
    if let Some(error) = lost_realm(&ctx) {
        return not_done(event, error).into();
    }
    if event == hooks::PRE_PUSH {
        return check(&ctx, &input());
    }
    let hints = if event == "post-commit" { hints(&ctx) } else { Vec::new() };
    let preview = if event == "post-commit" { preview(&ctx) } else { None };
    // Look for these before publishing, which records the files that this commit removed and names them itself.
    let missing = if event == "post-commit" { still_missing(&ctx) } else { None };
    if ["post-merge", "post-checkout"].contains(&event) {
        background::fetch_if_due(&ctx);
    }
    let lines: Vec<_> = publish(&ctx, event).into_iter().chain(preview).chain(missing).chain(hints).collect();
    if lines.is_empty() { Outcome::default() } else { Some(lines.join("; ")).into() }
}

/// Reports a hook that git blue does not have. This fails only if its name is a command of `git blue hooks`: git runs
/// no such hook, so a user must have mistyped the command.
fn unknown(event: &str) -> Outcome {
    let meant = hooks::TABLE
        .iter()
        .map(|operation| operation.cli.join(" "))
        .find(|command| command.split(' ').nth(1) == Some(event));
    match meant {
        Some(command) => Outcome {
            lines: vec![format!("unknown hook {event}: did you mean git blue {command}?")],
            code: Kind::Usage.exit_code(),
            ..Outcome::default()
        },
        None => Some(format!("unknown hook {event}")).into(),
    }
}

/// Returns the environment of a hook. Its repository is the one in the hook's folder, unless git was run with
/// `--git-dir`, from any folder, or its working tree does not lead to the repository. Then only `GIT_DIR` names it.
fn of_hook(env: Env) -> Env {
    let set = |name: &str| env.var(name).map(|path| env.cwd().join(path));
    let named = [("GIT_DIR", set("GIT_DIR")), ("GIT_WORK_TREE", set("GIT_WORK_TREE"))];
    let found = env.of_hook();
    let [(_, Some(_)), _] = &named else { return found };
    let variables = named.into_iter().filter_map(|(name, path)| Some((name, path?)));
    let named = variables.fold(found.clone(), |env, (name, path)| env.with(name, path));
    let is_of_named = match (clone_of_hook(&named), clone_of_hook(&found)) {
        (Some(named), Some(found)) => named.git_dir() != found.git_dir() && joined::was_joined(&named),
        (named, None) => named.is_some(),
        (None, Some(_)) => false,
    };
    if is_of_named { named } else { found }
}

fn clone_of_hook(env: &Env) -> Option<CodeRepo> {
    let place = DiscoverOptions { cwd: env.cwd().to_owned(), vars: env.vars().clone(), in_hook: true };
    CodeRepo::discover(&place).ok().flatten()
}

/// Returns why the realm of a joined clone is unknown.
fn lost_realm(ctx: &Ctx) -> Option<&OpError> {
    let error = ctx.realm.as_ref().err()?;
    let code = ctx.code.as_ref().filter(|code| joined::was_joined(code))?;
    // A branch from before the clone joined, or unrelated to it, has no `.blue/config.yaml`.
    let is_expected = error.code == ErrorCode::NotInRealm && !is_on_publishing_branch(code);
    (!is_expected).then_some(error)
}

/// Returns the line to print if a hook cannot do its work. Of the hooks that publish, only `post-commit` prints one.
fn not_done(event: &str, error: &OpError) -> Option<String> {
    match event {
        "post-commit" => Some(not_published(error)),
        hooks::PRE_PUSH => Some(not_checked(error)),
        _ => None,
    }
}

fn is_on_publishing_branch(code: &CodeRepo) -> bool {
    let current = code.head().ok().and_then(|head| head.branch);
    current.is_some() && code.publishing_branch().ok().flatten() == current
}

/// Greets a session of Claude Code. Prints nothing outside of a realm, or if the realm cannot be read: the commands
/// that read it report why.
fn session_start(env: Env, said: &str) -> Outcome {
    let start = claude::SessionStart::of(said);
    let env = match &start.session_id {
        Some(session) if env.text(mcp::SESSION).is_none() => env.with(mcp::SESSION, session),
        _ => env,
    };
    let request = prime::Request { reader: mcp::reader(&env), is_resumed: start.is_resumed() };
    // The server looks for its project in this order, too.
    let project = env.var(mcp::PROJECT_DIR).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let folders = project.into_iter().chain(start.cwd).chain([env.cwd().to_owned()]);
    let greet = |folder: PathBuf| {
        let ctx = Ctx::open(env.clone().of_hook().at(&folder), None).ok()?;
        Some(prime::text(&prime::run(&ctx, &request).ok()?.body))
    };
    let greeting = folders.into_iter().find_map(greet).unwrap_or_default();
    Outcome { greeting, ..Outcome::default() }
}

/// Publishes what is due. Returns the line to print, if any.
fn publish(ctx: &Ctx, event: &str) -> Option<String> {
    let (code, acting) = (ctx.code.as_ref()?, ctx.acting_repo().ok()?);
    // If the root commits cannot be recorded now, the next command does it.
    let _ = roots::record_roots(ctx);
    let unpublished = match catch_up::unpublished_commit(acting, code, Scope::Named) {
        Ok(unpublished) => unpublished?,
        Err(error) => return Some(not_published(&error)),
    };
    if let Some(error) = unpublished.unclear {
        return unpublished.is_fresh.then(|| not_published(&error));
    }
    if let Some(rollback) = unpublished.rolled_back {
        // The other hooks run for commits that were already reported.
        let is_new = unpublished.is_fresh
            && unpublished.behind.is_none()
            && ["post-commit", "post-merge", "post-applypatch"].contains(&event);
        let held = format!("not published: {}; {AGAIN}", rollback.reason_to_hold());
        return (is_new && is_on_publishing_branch(code)).then_some(held);
    }
    // A checkout makes no commit that could choose a side of a conflict.
    if !unpublished.is_due || (unpublished.disputed.is_some() && event == "post-checkout") {
        return None;
    }
    if let Err(error) = ctx.require_writable() {
        return unpublished.is_fresh.then(|| not_published(&error));
    }
    // If this fails, a new receiver gets only the changes after the first success.
    let _ = delivery::run::start_new_receivers(ctx);
    match catch_up::publish(ctx, acting, code, &unpublished) {
        Ok(answer) => {
            session::touch(ctx);
            background::pack_if_due(ctx);
            background::sync_if_wanted(ctx);
            background::notify_if_due(ctx);
            // If the files cannot be recorded, `git blue status` and `check` still show them.
            let _ = removed_files::record(code, &answer.body.removed_files);
            publication_summary::line(&answer.body)
        }
        Err(error) if error.code == ErrorCode::Locked && background::publish_later(ctx, &unpublished.commit) => {
            Some(format!("the realm is locked; {} will be published once it is free", unpublished.commit.short()))
        }
        Err(error) => {
            // After an amend, git runs two hooks, and the hooks of other branches try again.
            let is_told = publish_log::last_failure(ctx, acting)
                .is_some_and(|last| last.commit == unpublished.commit && last.failed.as_ref() == Some(&error.message));
            if is_told {
                return None;
            }
            publish_log::record(ctx, acting, unpublished.commit, Err(&error));
            // Do not repeat older failures: they were printed when they occurred, and `status` shows them.
            unpublished.is_fresh.then(|| not_published(&error))
        }
    }
}

/// Returns a line about a commit that the policy publishes later, if it will be refused or breaks a repository: now its
/// author can still change it. Other errors are ignored, since publishing reports them.
fn preview(ctx: &Ctx) -> Option<String> {
    match catch_up::preview(ctx, ctx.acting_repo().ok()?, ctx.code.as_ref()?) {
        Ok(answer) => publication_summary::later(&answer?.body),
        Err(error) if error.kind == Kind::No => Some(format!("cannot be published: {}", one_line(&error))),
        Err(_) => None,
    }
}

/// Returns a line about files that earlier commits removed. Errors are ignored, since `git blue status` shows the
/// same.
fn still_missing(ctx: &Ctx) -> Option<String> {
    let missing = removed_files::still_missing(ctx.acting_repo().ok()?, ctx.code.as_ref()?).ok()?;
    publication_summary::removed_files_line(&missing)
}

/// Returns the hints about the commit, for repositories in a realm. Errors are ignored.
fn hints(ctx: &Ctx) -> Vec<String> {
    let code = ctx.code.as_ref().filter(|_| ctx.acting_repo().is_ok());
    code.and_then(|code| hint::of_last_commit(code).ok()).unwrap_or_default()
}

/// Publishes in the background, and reports only to the log.
fn detached(env: Env, arguments: &[OsString]) {
    process::leave_session();
    let Some(commit) = arguments.first().and_then(|text| text.to_str()?.parse::<Oid>().ok()) else { return };
    let Ok(ctx) = Ctx::open(env, None) else { return };
    let Ok(acting) = ctx.require_writable() else { return };
    let _ = delivery::run::start_new_receivers(&ctx);
    let outcome = catch_up::publish_deferred(&ctx, commit);
    publish_log::record(&ctx, acting, commit, outcome.as_ref().map(|_| ()));
    session::touch(&ctx);
    background::pack_if_due(&ctx);
    if outcome.is_ok() {
        background::sync_if_wanted(&ctx);
        background::notify_if_due(&ctx);
    }
}

/// Checks the last commit of each ref that is being pushed. If a check cannot be made, the push continues.
fn check(ctx: &Ctx, input: &str) -> Outcome {
    let mut outcome = Outcome::default();
    if let Err(error) = ctx.acting_repo() {
        let was_joined = ctx.code.as_ref().is_some_and(joined::was_joined);
        let is_outside = !was_joined || matches!(error.code, ErrorCode::NotInRealm | ErrorCode::NotInRepo);
        return (!is_outside).then(|| not_checked(&error)).into();
    }
    // A line is `<local ref> <local id> <remote ref> <remote id>`; zeros delete the remote ref.
    let ids = input.lines().filter_map(|line| line.split(' ').nth(1));
    let mut ids: Vec<_> = ids.filter(|id| id.bytes().any(|byte| byte != b'0')).collect();
    ids.sort_unstable();
    ids.dedup();
    // What is broken at origin already is not broken by this push.
    let base = ctx.code.as_ref().and_then(publishing_branch_at_origin);
    // A tag may point to a file or a folder.
    let is_no_commit = |id: &str| Some(ctx.code.as_ref()?.is_no_commit(&id.parse().ok()?));
    for id in ids.into_iter().filter(|id| is_no_commit(id) != Some(true)) {
        let subject = realm::check::Subject::Commit(id.to_owned());
        let request = realm::check::Request { subject, base: base.clone(), ..realm::check::Request::default() };
        match realm::check::run(ctx, &request) {
            Ok(answer) if answer.body.valid => {}
            Ok(answer) => {
                outcome.code = 1;
                let short = &id[..id.len().min(10)];
                outcome.lines.extend(answer.body.errors.iter().map(|finding| {
                    let place = finding.file.as_ref().map(|file| format!("{file}: ")).unwrap_or_default();
                    format!("{short}: {place}{}", finding.message)
                }));
            }
            Err(error) => outcome.lines.push(not_checked(&error)),
        }
    }
    if outcome.code != 0 {
        outcome.lines.push("push rejected; to push anyway: git push --no-verify".to_owned());
    }
    outcome
}

/// Returns the publishing branch as it was at origin when it was last fetched or pushed.
fn publishing_branch_at_origin(code: &CodeRepo) -> Option<String> {
    let name = code.at_origin(&code.publishing_branch().ok()??);
    code.reference(&name).ok()?.map(|_| name)
}

fn not_published(error: &OpError) -> String {
    format!("not published: {}", one_line(error))
}

fn not_checked(error: &OpError) -> String {
    format!("not checked: {}", one_line(error))
}

fn one_line(error: &OpError) -> String {
    let message = error.message.lines().next().unwrap_or_default();
    // A broken promise can be published in two ways.
    let shown = if error.code == ErrorCode::BreaksPromise { 2 } else { 1 };
    error.next_steps.iter().take(shown).fold(message.to_owned(), |line, step| format!("{line}; {step}"))
}
