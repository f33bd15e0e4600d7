//! Fingerprints of parts of a realm, for waiting for changes: an equal fingerprint means that nothing has changed.

use crate::ops::{ctx::Ctx, inboxes::realm_changes::RefTips, names, publish::publish_log};
use crate::{
    error::OpError,
    model::name::DomainName,
    store::{StoreRef, layout::SEEN},
};

/// A part of a realm that can change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// The realm's status: all that is shared, the state of its remotes, and failures to publish.
    Status,
    /// The repositories and domains.
    Realm,
    /// The names of the contracts.
    Names,
    /// One domain: its contracts with their versions, and its bindings.
    Domain(DomainName),
}

impl Part {
    /// Returns the part that changes whenever this one does, and is read faster.
    pub fn gate(&self) -> Self {
        match self {
            Self::Status => Self::Status,
            Self::Realm | Self::Names | Self::Domain(_) => Self::Realm,
        }
    }
}

/// Returns the current fingerprint of a part.
///
/// # Errors
/// Returns an error if the store cannot be read.
pub fn of(ctx: &Ctx, part: &Part) -> Result<String, OpError> {
    let store = &*ctx.realm()?.store;
    Ok(match part {
        Part::Status => {
            let remotes = store.refs(SEEN)?.found;
            format!("{} {remotes:?} {:?}", RefTips::of(ctx)?.id(), publish_log::stamp(ctx))
        }
        Part::Realm => format!("{:?} {:?}", store.tip(&StoreRef::Realm)?, store.domains()?),
        Part::Names => {
            let mut all = Vec::new();
            for (domain, _) in store.domains()? {
                all.extend(names::contracts(ctx, &domain)?.into_iter().map(|name| format!("{domain}/{name}")));
            }
            all.join("\n")
        }
        Part::Domain(domain) => format!("{:?}", store.tip(&StoreRef::Domain(domain.clone()))?),
    })
}
