//! Publishes, then syncs.

use crate::{
    error::{ErrorCode, OpError},
    ops::{
        contract::{self, publish::Request},
        ctx::Ctx,
        realm,
    },
    wire::{Answer, ContractPublish},
};

/// Publishes, then syncs the realm with its remotes.
///
/// # Errors
/// Returns the errors of [`contract::publish::run`], or an error if the sync fails. In the latter case, the commit is
/// published on this machine.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<ContractPublish>, OpError> {
    let mut answer = contract::publish::run(ctx, request)?;
    if !request.dry_run {
        let here = ctx.realm()?;
        let synced =
            realm::sync::sync_realm(ctx, &here.realm, &*here.store, &realm::sync::Request::default(), || Ok(()));
        synced.and_then(realm::sync::require_complete).map_err(|mut error| {
            if error.code == ErrorCode::Remote {
                // Its own step is to try again.
                error.next_steps.clear();
            }
            error.next("git blue sync  # try again: it is published only on this machine")
        })?;
        answer.body.not_pushed = false;
    }
    Ok(answer)
}
