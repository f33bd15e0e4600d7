//! What the shims call. Git is waiting: whatever happens, the commit is made already, so this says
//! at most one line and never fails.

use super::background;
use crate::{
    app,
    env::Env,
    error::OpError,
    ops::{hook_publish, session},
    wire::{ContractPublish, Published},
};

/// Runs a hook. Returns the line to say, if there is one.
pub fn run(env: Env, event: &str) -> Option<String> {
    if event != "post-commit" {
        return Some(format!("there is no hook {event}"));
    }
    // Nothing is said outside of a realm: the hook may be everybody's (core.hooksPath).
    let ctx = app::ctx(env.of_hook(), None).ok()?;
    match hook_publish::run(&ctx) {
        Ok(answer) => {
            let answer = answer?;
            session::touch(&ctx);
            background::pack_if_due(&ctx);
            background::sync_if_wanted(&ctx);
            told(&answer.body)
        }
        Err(error) => Some(format!("not published: {}", one_line(&error))),
    }
}

fn told(body: &ContractPublish) -> Option<String> {
    let phrases: Vec<_> = body.published.iter().map(phrase).collect();
    (!phrases.is_empty()).then(|| format!("published {}", phrases.join(", ")))
}

fn phrase(published: &Published) -> String {
    let domain = &published.domain;
    match (&published.contract, &published.old_version, &published.new_version) {
        (Some(contract), Some(old), Some(new)) if old != new => format!("{domain}/{contract} {old} -> {new}"),
        (Some(contract), _, Some(new)) => format!("{domain}/{contract} {new}"),
        _ => format!("the binding in {domain}"),
    }
}

fn one_line(error: &OpError) -> String {
    let message = error.message.lines().next().unwrap_or_default();
    match error.next_steps.first() {
        Some(step) => format!("{message}; {step}"),
        None => message.to_owned(),
    }
}
