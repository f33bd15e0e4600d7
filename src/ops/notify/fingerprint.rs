//! How a part of a realm stands: equal before and after means that nothing in it has changed. For
//! whoever waits for a change.

use crate::ops::{ctx::Ctx, names};
use crate::{
    error::OpError,
    model::{name::ContractRef, version::Version},
    store::{StoreRef, layout, read},
};

/// A part of a realm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Everything.
    Realm,
    /// Which contracts there are.
    Names,
    /// One contract, or one version of it.
    Contract(ContractRef, Option<Version>),
}

/// Returns how a part stands now.
///
/// # Errors
/// Where the store cannot be read.
pub fn of(ctx: &Ctx, part: &Part) -> Result<String, OpError> {
    let here = ctx.here()?;
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
            let Some(tip) = here.store.tip(&StoreRef::Domain(contract.domain.clone()))? else {
                return Ok(String::new());
            };
            let tree = here.store.commit(&tip)?.tree;
            let path = match version {
                Some(version) => layout::version(&contract.contract, version),
                None => layout::contract(&contract.contract),
            };
            let entry = read::lookup(&*here.store, &tree, path.as_str())?;
            entry.map(|entry| entry.id.to_string()).unwrap_or_default()
        }
    })
}
