//! Reads one contract of a domain, and nothing about the others.

use super::{
    lookup,
    reader::{Reader, begin},
    roles::{ContractRoles, roles_in},
};
use crate::{
    model::{
        domain_view::DomainView,
        name::{ContractName, DomainName},
        oid::Oid,
    },
    store::{
        Entry, EntryKind, Store, StoreError,
        contract_index::{self, Located},
        layout,
    },
};

/// One contract of a domain at a commit.
pub struct OneContract<'a> {
    store: &'a dyn Store,
    domain: &'a DomainName,
    contract: &'a ContractName,
    tip: Oid,
    tree: Oid,
    /// The index of a large domain answers what would otherwise be looked up.
    located: Option<Located>,
}

impl<'a> OneContract<'a> {
    /// Returns a contract of the domain at the commit `tip`, whether or not it exists.
    ///
    /// # Errors
    /// Returns an error if the commit or its tree cannot be read.
    pub fn at(
        store: &'a dyn Store,
        domain: &'a DomainName,
        tip: Oid,
        contract: &'a ContractName,
    ) -> Result<Self, StoreError> {
        let tree = store.commit(&tip)?.tree;
        let located = contract_index::locate(store, domain, (&tip, &tree), contract)?;
        Ok(Self { store, domain, contract, tip, tree, located })
    }

    /// Returns the tree of the domain.
    pub fn tree(&self) -> &Oid {
        &self.tree
    }

    /// Returns the domain with only this contract, and without bindings, transfers and approvals. The cost hardly grows
    /// with the size of the domain.
    ///
    /// # Errors
    /// Returns an error if a tree on the way, or `domain.json`, cannot be read.
    pub fn view(&self) -> Result<DomainView, StoreError> {
        let Self { store, domain, contract, tip, tree, .. } = self;
        let (mut reader, info) = begin(*store, domain, tree)?;
        let mut view = DomainView { commit: Some(*tip), ..DomainView::new(info) };
        if let Some(entry) = self.document(&reader)?
            && let Some(document) = reader.contract(contract, &entry)?
        {
            view.contracts.insert((*contract).clone(), document);
        }
        if let Some(folder) = self.versions(&reader)?
            && reader.is_folder(contract, &folder)
        {
            reader.add_published(&mut view, contract, &folder)?;
        }
        view.damage = reader.damage;
        Ok(view)
    }

    fn document(&self, reader: &Reader<'_>) -> Result<Option<Entry>, StoreError> {
        let name = format!("{}.json", self.contract);
        match &self.located {
            Some(located) => Ok(located.document.map(|id| Entry { name, kind: EntryKind::Blob, id })),
            None => reader.entry(&self.tree, layout::CONTRACTS, &name),
        }
    }

    fn versions(&self, reader: &Reader<'_>) -> Result<Option<Entry>, StoreError> {
        let name = self.contract.to_string();
        match &self.located {
            Some(located) => Ok(located.versions.map(|id| Entry { name, kind: EntryKind::Tree, id })),
            None => reader.entry(&self.tree, layout::VERSIONS, &name),
        }
    }

    /// Returns its exporters and importers, and the repositories whose bindings cannot be read.
    ///
    /// # Errors
    /// Returns an error if a tree on the way cannot be read.
    pub fn roles(&self) -> Result<ContractRoles, StoreError> {
        match &self.located {
            // Only domains without damage are indexed.
            Some(located) => Ok(ContractRoles { known: located.roles.clone(), unreadable: Vec::new() }),
            None => match lookup(self.store, &self.tree, layout::BINDINGS)? {
                Some(folder) if folder.kind == EntryKind::Tree => roles_in(self.store, &folder.id, self.contract),
                _ => Ok(ContractRoles::default()),
            },
        }
    }
}
