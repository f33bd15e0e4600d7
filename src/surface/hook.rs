//! What the shims call. Git is waiting: whatever happens, the commit is made already, so this says
//! at most one line and never fails. Only a push that is checked may be stopped.

use std::ffi::OsString;

use super::{background, mcp, told};
use crate::{
    env::Env,
    error::{ErrorCode, OpError},
    model::oid::Oid,
    ops::{
        claude,
        ctx::Ctx,
        hooks, prime,
        publish::{
            catch_up::{self, Scope},
            hint, publish_log, removed_files,
        },
        realm,
        repos::{joined, roots},
        session,
    },
    platform::process,
    surface::background::DETACHED,
};

/// What a hook says, and how it ends.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Lines for people.
    pub lines: Vec<String>,
    /// What a session of Claude Code starts with.
    pub greeting: String,
    /// The exit code.
    pub code: u8,
}

impl From<Option<String>> for Outcome {
    fn from(line: Option<String>) -> Self {
        Self { lines: line.into_iter().collect(), ..Self::default() }
    }
}

/// Runs a hook. `input` is what git writes to it.
pub fn run(env: Env, event: &str, arguments: &[OsString], input: impl FnOnce() -> String) -> Outcome {
    // A git that we started runs hooks too; what it does is known already.
    if env.is_our_doing() {
        return Outcome::default();
    }
    if event == DETACHED {
        detached(env, arguments);
        return Outcome::default();
    }
    if event == claude::SESSION_START {
        return greet(env, &input());
    }
    if event != hooks::PRE_PUSH && !hooks::is_publishing(event) {
        return Some(format!("there is no hook {event}")).into();
    }
    // git tells by a 0 that single files were checked out, not a branch.
    if event == "post-checkout" && arguments.get(2).is_some_and(|flag| flag == "0") {
        return Outcome::default();
    }
    // Nothing is said outside of a realm: the hook may be everybody's (core.hooksPath).
    let Ok(ctx) = Ctx::open(env.of_hook(), None) else {
        return Outcome::default();
    };
    if event == hooks::PRE_PUSH {
        return check(&ctx, &input());
    }
    // Where the realm's store is gone, whoever joined this clone would wait for a publish in vain.
    if event == "post-commit"
        && let Err(error) = &ctx.here
        && ctx.code.as_ref().is_some_and(joined::was_joined)
    {
        return Some(not_published(error)).into();
    }
    let hint = if event == "post-commit" { forgotten(&ctx) } else { None };
    // Before this commit's own are added: those the line about it names.
    let missing = if event == "post-commit" { still_missing(&ctx) } else { None };
    if ["post-merge", "post-checkout"].contains(&event) {
        background::fetch_if_due(&ctx);
    }
    let lines: Vec<_> = publish(&ctx, event).into_iter().chain(missing).chain(hint).collect();
    if lines.is_empty() { Outcome::default() } else { Some(lines.join("; ")).into() }
}

/// Greets a session of Claude Code. Outside of a realm, and where it cannot be read, nothing is said:
/// whoever asks for the realm hears why.
fn greet(env: Env, said: &str) -> Outcome {
    let is_resumed = matches!(claude::source(said).as_deref(), Some("resume" | "compact"));
    let request = prime::Request { reader: mcp::reader(&env), is_resumed };
    let greeting = Ctx::open(env.of_hook(), None).and_then(|ctx| prime::run(&ctx, &request));
    let greeting = greeting.map(|answer| prime::text(&answer.body)).unwrap_or_default();
    Outcome { greeting, ..Outcome::default() }
}

/// Publishes what is due, and returns the line to say, if there is one.
fn publish(ctx: &Ctx, event: &str) -> Option<String> {
    let (code, acting) = (ctx.code.as_ref()?, ctx.acting().ok()?);
    // Where it cannot be recorded now, the next command does.
    let _ = roots::learn(ctx);
    let news = match catch_up::news(acting, code, Scope::Named) {
        Ok(news) => news?,
        Err(error) => return Some(not_published(&error)),
    };
    // Whoever checks a branch out has not just written what is on it.
    if !news.is_due || (news.disputed.is_some() && event == "post-checkout") {
        return None;
    }
    if let Err(error) = ctx.writing() {
        return news.is_fresh.then(|| not_published(&error));
    }
    match catch_up::publish(ctx, acting, code, &news) {
        Ok(answer) => {
            session::touch(ctx);
            background::pack_if_due(ctx);
            background::sync_if_wanted(ctx);
            background::notify_if_due(ctx);
            // Where it cannot be kept, `status` and `check` say so all the same.
            let _ = removed_files::remember(code, &answer.body.removed_files);
            told::line(&answer.body)
        }
        Err(error) if error.code == ErrorCode::Locked && background::publish_later(ctx, &news.commit) => {
            Some(format!("the realm is busy; {} is published as soon as it is free", news.commit.short()))
        }
        Err(error) => {
            publish_log::record(ctx, acting, news.commit, Err(&error));
            // Of older news the commit says nothing: they were told of once, and `status` tells them.
            news.is_fresh.then(|| not_published(&error))
        }
    }
}

/// Returns the line about files that earlier commits removed. Nothing that goes wrong with it matters: `status`
/// says the same.
fn still_missing(ctx: &Ctx) -> Option<String> {
    let missing = removed_files::still_missing(ctx.acting().ok()?, ctx.code.as_ref()?).ok()?;
    told::gone(&missing)
}

/// A hint is for a realm's repositories, and nothing that goes wrong with it matters.
fn forgotten(ctx: &Ctx) -> Option<String> {
    ctx.acting().ok()?;
    hint::forgotten(ctx.code.as_ref()?).ok()?
}

/// Nobody waits and nobody reads: what happens is in the log.
fn detached(env: Env, arguments: &[OsString]) {
    process::leave_session();
    let Some(commit) = arguments.first().and_then(|text| text.to_str()?.parse::<Oid>().ok()) else { return };
    let Ok(ctx) = Ctx::open(env, None) else { return };
    let Ok(acting) = ctx.writing() else { return };
    let outcome = catch_up::late(&ctx, commit);
    publish_log::record(&ctx, acting, commit, outcome.as_ref().map(|_| ()));
    session::touch(&ctx);
    background::pack_if_due(&ctx);
    if outcome.is_ok() {
        background::sync_if_wanted(&ctx);
        background::notify_if_due(&ctx);
    }
}

/// Checks every commit that is pushed. Where that cannot be done, the push goes on: a hook is a hint.
fn check(ctx: &Ctx, input: &str) -> Outcome {
    let mut outcome = Outcome::default();
    if ctx.acting().is_err() {
        return outcome;
    }
    // A line is `<local ref> <local id> <remote ref> <remote id>`; zeros delete the remote's.
    let ids = input.lines().filter_map(|line| line.split(' ').nth(1));
    let mut ids: Vec<_> = ids.filter(|id| id.bytes().any(|byte| byte != b'0')).collect();
    ids.sort_unstable();
    ids.dedup();
    for id in ids {
        let subject = realm::check::Subject::Commit(id.to_owned());
        match realm::check::run(ctx, &realm::check::Request { subject, ..realm::check::Request::default() }) {
            Ok(answer) if answer.body.valid => {}
            Ok(answer) => {
                outcome.code = 1;
                let short = &id[..id.len().min(10)];
                outcome.lines.extend(answer.body.errors.iter().map(|finding| {
                    let place = finding.file.as_ref().map(|file| format!("{file}: ")).unwrap_or_default();
                    format!("{short}: {place}{}", finding.message)
                }));
            }
            Err(error) => outcome.lines.push(format!("not checked: {}", one_line(&error))),
        }
    }
    if outcome.code != 0 {
        outcome.lines.push("not pushed; git push --no-verify pushes all the same".to_owned());
    }
    outcome
}

fn not_published(error: &OpError) -> String {
    format!("not published: {}", one_line(error))
}

fn one_line(error: &OpError) -> String {
    let message = error.message.lines().next().unwrap_or_default();
    match error.next_steps.first() {
        Some(step) => format!("{message}; {step}"),
        None => message.to_owned(),
    }
}
