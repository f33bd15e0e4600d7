//! Publishing that counts once other machines can have it.

use crate::{
    error::OpError,
    ops::{
        contract::{self, publish::Request},
        ctx::Ctx,
        realm,
    },
    wire::{Answer, ContractPublish},
};

/// Publishes, and brings the realm together with its remotes.
///
/// # Errors
/// As [`contract::publish::run`], and where it did not get there: it is published on this machine then.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<ContractPublish>, OpError> {
    let mut answer = contract::publish::run(ctx, request)?;
    if !request.dry_run {
        let here = ctx.here()?;
        let synced = realm::sync::with(ctx, &here.realm, &*here.store, &realm::sync::Request::default(), || Ok(()));
        synced
            .and_then(realm::sync::require_complete)
            .map_err(|error| error.next("git blue sync  # try again: it is published on this machine alone"))?;
        answer.body.unshared = false;
    }
    Ok(answer)
}
