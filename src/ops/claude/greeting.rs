//! What a session of Claude Code starts with.

use crate::{
    error::OpError,
    model::name::ReaderName,
    ops::{
        ctx::Ctx,
        notifications::{self, list::Request},
    },
    wire::{NotificationFilter, PageRequest},
};

/// Returns what a session should know from its start: where it is, and how much it has not been told.
/// Nothing that anybody wrote is in it but two names, and nobody is told anything by it.
///
/// # Errors
/// Where there is no realm, or it cannot be read.
pub fn greeting(ctx: &Ctx, reader: &ReaderName) -> Result<String, OpError> {
    let acting = ctx.acting()?;
    let page = PageRequest { limit: Some(1), ..PageRequest::default() };
    let request = Request { reader: reader.clone(), filter: NotificationFilter::Pending, page, ..Default::default() };
    let pending = notifications::list::run(ctx, &request)?.body.summary.pending;
    let changes = match pending {
        0 => "Nothing that other repositories changed is pending.".to_owned(),
        1 => "1 change by another repository is pending; realm_status tells it.".to_owned(),
        more => format!("{more} changes by other repositories are pending; realm_status tells them."),
    };
    Ok(format!("git blue: this repository is {} in the realm {}. {changes}\n", acting.repo, acting.realm))
}
