//! Fingerprints of parts of a realm, for waiting for changes: an equal fingerprint means that nothing has changed.

use crate::ops::{ctx::Ctx, names};
use crate::{
    error::OpError,
    model::{name::ContractRef, version::Version},
    store::{StoreRef, layout, read},
};

/// A part of a realm that can change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// The whole realm.
    Realm,
    /// The names of the contracts.
    Names,
    /// One contract, or one version of it.
    Contract(ContractRef, Option<Version>),
}

/// Returns the current fingerprint of a part.
///
/// # Errors
/// Returns an error if the store cannot be read.
pub fn of(ctx: &Ctx, part: &Part) -> Result<String, OpError> {
    let here = ctx.realm()?;
    Ok(match part {
        Part::Realm => {
            let mut tips = vec![here.store.tip(&StoreRef::Realm)?.map(|tip| tip.to_string()).unwrap_or_default()];
            tips.extend(here.store.domains()?.into_iter().map(|(name, tip)| format!("{name} {tip}")));
            tips.join("\n")
        }
        Part::Names => {
            let mut all = Vec::new();
            for (domain, _) in here.store.domains()? {
                all.extend(names::contracts(ctx, &domain)?.into_iter().map(|name| format!("{domain}/{name}")));
            }
            all.join("\n")
        }
        Part::Contract(contract, version) => {
            let Some(tree) = read::tip_tree(&*here.store, &StoreRef::Domain(contract.domain.clone()))? else {
                return Ok(String::new());
            };
            let path = match version {
                Some(version) => layout::version(&contract.contract, version),
                None => layout::contract(&contract.contract),
            };
            let entry = read::lookup(&*here.store, &tree, path.as_str())?;
            entry.map(|entry| entry.id.to_string()).unwrap_or_default()
        }
    })
}
