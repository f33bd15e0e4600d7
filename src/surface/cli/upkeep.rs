//! `git blue gc` and `git blue doctor`.

use clap::Args;

use super::{
    Verdict,
    output::Output,
    text::{Style, Text, plain, styled},
};
use crate::{
    error::OpError,
    model::oid::Oid,
    ops::{
        ctx::Ctx,
        upkeep::{doctor, gc},
    },
    wire::{self, Health},
};

pub fn pack(ctx: &Ctx, request: gc::Request, output: &mut Output<'_>) -> Result<Verdict, OpError> {
    output.shown(&gc::run(ctx, request)?, render_gc)
}

fn render_gc(body: &wire::Gc, text: &mut Text) {
    let rows = [
        ("refs packed", body.packed_refs.to_string()),
        ("loose objects", format!("{} -> {}", body.loose_objects_before, body.loose_objects_after)),
        ("old objects removed", body.removed_objects.to_string()),
        ("notifications removed", body.forgotten_notifications.to_string()),
        ("readers removed", body.forgotten_readers.len().to_string()),
        ("sessions removed", body.forgotten_sessions.to_string()),
    ];
    text.table("", &rows.map(|(what, value)| vec![plain(what), plain(value)]));
}

#[derive(Debug, Args)]
pub struct Doctor {
    /// Repair what can be repaired without data loss
    #[arg(long)]
    fix: bool,
    /// Reset a damaged ref of the realm to an intact commit, as `doctor --fix` proposes
    #[arg(long, value_name = "REF", requires = "to", conflicts_with = "fix")]
    restore: Option<String>,
    /// The intact commit to reset the ref to
    #[arg(long, value_name = "COMMIT", requires = "restore")]
    to: Option<Oid>,
}

impl Doctor {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        let answer = doctor::run(ctx, &doctor::Request { fix: self.fix, restore: self.restore.zip(self.to) })?;
        output.judged(&answer, render_doctor, |body| body.healthy)
    }
}

fn render_doctor(body: &wire::Doctor, text: &mut Text) {
    let rows = body.checks.iter().map(|check| {
        let state = match (check.fixed, check.state) {
            (true, _) => styled("fixed", Style::Green),
            (false, Health::Ok) => styled("ok", Style::Green),
            (false, Health::Warning) => styled("warning", Style::Yellow),
            (false, Health::Error) => styled("error", Style::Red),
        };
        let subject = check.subject.clone().unwrap_or_else(|| "-".into());
        vec![state, plain(&*check.name), styled(subject, Style::Dim), plain(&check.message)]
    });
    text.table("", &rows.collect::<Vec<_>>());
}
