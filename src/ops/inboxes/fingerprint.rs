//! Fingerprints of parts of a realm, for waiting for changes: an equal fingerprint means that nothing has changed.

use crate::ops::{ctx::Ctx, inboxes::realm_changes::RefTips, names, publish::publish_log};
use crate::{
    error::OpError,
    model::{name::ContractRef, oid::Oid},
    store::{
        Store, StoreRef, TreePath,
        layout::{self, SEEN},
        read,
    },
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
    /// One contract: its versions and its owner, and the bindings of its domain.
    Contract(ContractRef),
}

impl Part {
    /// Returns a part that changes whenever this one does, and whose fingerprint is cheaper to read.
    pub fn gate(&self) -> Self {
        match self {
            Self::Status => Self::Status,
            Self::Realm | Self::Names | Self::Contract(_) => Self::Realm,
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
        Part::Contract(at) => format!("{:?}", of_contract(store, at)?),
    })
}

/// Returns the ids of everything in a domain that an answer about a contract is read from; none if there is no such domain.
fn of_contract(store: &dyn Store, at: &ContractRef) -> Result<Vec<Option<Oid>>, OpError> {
    let Some(root) = read::tip_tree(store, &StoreRef::Domain(at.domain.clone()))? else { return Ok(Vec::new()) };
    let ContractRef { contract, .. } = at;
    let own = [layout::contract(contract), layout::versions(contract), layout::transfers(contract)];
    let paths = own.iter().map(TreePath::as_str).chain([layout::BINDINGS]);
    paths.map(|path| Ok(read::lookup(store, &root, path)?.map(|entry| entry.id))).collect()
}
