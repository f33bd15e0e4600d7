//! Publishes between fetching from the realm's remotes and pushing to them.

use crate::{
    error::{ErrorCode, OpError},
    ops::{
        contract::{self, publish::Request},
        ctx::Ctx,
        realm,
    },
    wire::{Answer, ContractPublish, RemoteSync},
};

/// Fetches from the realm's remotes, publishes, and pushes. What others published before is taken into account.
///
/// # Errors
/// Returns the errors of [`contract::publish::run`], or an error if the sync fails, or others published the same version
/// with different content in the meantime. In the last two cases, the commit is published on this machine.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<ContractPublish>, OpError> {
    if request.dry_run {
        return contract::publish::run(ctx, request);
    }
    let here = ctx.realm()?;
    let mut published = None;
    let publish = || contract::publish::run(ctx, request).map(|answer| published = Some(answer));
    let synced = realm::sync::sync_realm(ctx, &here.realm, &*here.store, &realm::sync::Request::default(), publish);
    let Some(mut answer) = published else {
        return Err(synced.err().unwrap_or_else(|| OpError::cannot(ErrorCode::Io, "nothing was decided")));
    };
    let complete = synced.and_then(|body| {
        require_no_conflict(&answer.body, &body.remotes)?;
        realm::sync::require_complete(body.remotes)
    });
    complete.map_err(|mut error| {
        match error.code {
            ErrorCode::VersionConflict => return error,
            // The error suggests trying again, as the step below does.
            ErrorCode::Remote => error.next_steps.clear(),
            _ => {}
        }
        error.next("git blue sync  # try again: it is published only on this machine")
    })?;
    answer.body.not_pushed = false;
    Ok(answer)
}

/// Checks that others did not publish one of the versions with different content.
fn require_no_conflict(body: &ContractPublish, remotes: &[RemoteSync]) -> Result<(), OpError> {
    let mut conflicts = remotes.iter().flat_map(|remote| &remote.conflicts);
    let lost = conflicts.find(|conflict| {
        let mut published = body.published.iter();
        conflict.contract.is_some()
            && published.any(|one| Some(&one.domain) == conflict.domain.as_ref() && one.contract == conflict.contract)
    });
    lost.map_or(Ok(()), |conflict| {
        let steps = conflict.resolution.iter().map(String::as_str);
        Err(OpError::no(ErrorCode::VersionConflict, conflict.meaning.clone()).next_all(steps))
    })
}
