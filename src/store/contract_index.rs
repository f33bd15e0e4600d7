//! Finds one contract of a large domain without reading what concerns the others.
//!
//! A domain of ten thousand contracts has folders of hundreds of kilobytes and bindings of megabytes. Its index, which
//! is part of the snapshot, has a line for each contract, in blocks that are read one at a time. It follows from the
//! domain's tree: without it, everything is found by reading the folders and bindings.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    CachedData, EntryKind, Store, StoreError, layout, read,
    read::ContractRole,
    snapshot::{self, Parts, Place, Snapshot},
};
use crate::model::{
    domain_summary::DomainSummary,
    name::{ContractName, DomainName},
    oid::Oid,
};

/// A domain is indexed if its folder of contracts or of bindings takes more bytes than this, about 400 entries.
const LARGE_FOLDER: u64 = 16 << 10;

/// The number of contracts in a block, on average.
const PER_BLOCK: usize = 50;

/// The location of a contract in the store, with its exporters and importers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Located {
    /// The blob of its current document.
    pub(super) document: Option<Oid>,
    /// The folder of its published versions.
    pub(super) versions: Option<Oid>,
    /// Its exporters and importers.
    pub(super) roles: Vec<ContractRole>,
}

/// The location of an index in the parts of a snapshot: a directory with the length and the checksum of each block,
/// and the number of bytes of the blocks, which follow it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct ContractIndex(Place, usize);

/// Returns whether the domain with this tree is indexed.
fn is_large(store: &dyn Store, tree: &Oid) -> Result<bool, StoreError> {
    for folder in [layout::CONTRACTS, layout::BINDINGS] {
        if let Some(entry) = read::lookup(store, tree, folder)?
            && store.size(&entry.id)? > LARGE_FOLDER
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the place of a contract in the domain with this tip and tree, or `None` if the domain is small or its index
/// is not cached. A contract that does not exist has no document and no versions.
///
/// # Errors
/// Returns an error if a tree cannot be read.
pub(super) fn locate(
    store: &dyn Store,
    domain: &DomainName,
    (tip, tree): (&Oid, &Oid),
    contract: &ContractName,
) -> Result<Option<Located>, StoreError> {
    let is_indexed = store.cache().is_some() && is_large(store, tree)?;
    Ok(if is_indexed { found(store, domain, tip, contract) } else { None })
}

fn found(store: &dyn Store, domain: &DomainName, tip: &Oid, contract: &ContractName) -> Option<Located> {
    let cache = store.cache()?;
    let Snapshot { index, cached, .. } = Snapshot::open(cache.open()?, store.caches_in_memory())?;
    let contracts = index.lines.line(domain)?.contract_index(tip)?;
    let Some(block) = contracts.block(&cached, contract) else {
        // The next command rebuilds a damaged cache.
        let _ = cache.clear();
        return None;
    };
    let key = format!("{contract} ");
    match std::str::from_utf8(&block).ok()?.lines().find_map(|line| line.strip_prefix(&key)) {
        Some(line) => snapshot::decode(line.as_bytes()),
        None => Some(Located::default()),
    }
}

impl ContractIndex {
    /// Adds the index of a domain that was just read without damage, if it is large and can be cached.
    ///
    /// # Errors
    /// Returns an error if a tree cannot be read.
    pub(super) fn add(
        parts: &mut Parts,
        store: &dyn Store,
        tree: &Oid,
        summary: &DomainSummary,
    ) -> Result<Option<Self>, StoreError> {
        if parts.renewal().is_none() || !is_large(store, tree)? {
            return Ok(None);
        }
        let contracts = contracts_in(store, tree, summary)?;
        let mut blocks = vec![Vec::new(); contracts.len().div_ceil(PER_BLOCK).max(1)];
        for (name, located) in &contracts {
            let block = block_of(name, blocks.len());
            blocks[block].extend_from_slice(format!("{name} ").as_bytes());
            blocks[block].extend(snapshot::encode(located));
            blocks[block].push(b'\n');
        }
        let directory: Vec<_> = blocks.iter().map(|block| (block.len(), snapshot::checksum(block))).collect();
        let directory = parts.add(&snapshot::encode(&directory));
        let blocks = blocks.concat();
        parts.add(&blocks);
        Ok(Some(Self(directory, blocks.len())))
    }

    /// Copies the index to other parts.
    pub(super) fn copy(self, cached: &CachedData, parts: &mut Parts) -> Option<Self> {
        let Self(directory, len) = self;
        let (bytes, blocks) = (snapshot::part(cached, directory)?, cached.part(directory.end(), len)?);
        let directory = parts.add(&bytes);
        parts.add(&blocks);
        Some(Self(directory, len))
    }

    /// Returns its number of bytes.
    pub(super) fn size(self) -> u64 {
        (self.0.len() + self.1) as u64
    }

    /// Returns the block of a contract.
    fn block(self, cached: &CachedData, contract: &ContractName) -> Option<Vec<u8>> {
        let directory: Vec<(usize, u32)> = snapshot::decode(&snapshot::part(cached, self.0)?)?;
        let at = block_of(contract, directory.len().max(1));
        let (before, rest) = directory.split_at_checked(at)?;
        let (len, sum) = *rest.first()?;
        let start = before.iter().map(|(len, _)| *len as u64).sum::<u64>();
        snapshot::part(cached, Place::new(self.0.end().checked_add(start)?, len, sum))
    }
}

/// Returns the number of the block of a contract.
fn block_of(contract: &ContractName, blocks: usize) -> usize {
    snapshot::checksum(contract.as_str().as_bytes()) as usize % blocks
}

/// Returns the places of all contracts of a domain.
fn contracts_in(
    store: &dyn Store,
    tree: &Oid,
    summary: &DomainSummary,
) -> Result<BTreeMap<ContractName, Located>, StoreError> {
    let mut contracts = BTreeMap::<ContractName, Located>::new();
    for entry in read::folder(store, tree, layout::CONTRACTS)? {
        if let Some(name) = layout::stem(&entry.name).filter(|_| entry.kind == EntryKind::Blob) {
            contracts.entry(name).or_default().document = Some(entry.id);
        }
    }
    for entry in read::folder(store, tree, layout::VERSIONS)? {
        if let Some(name) = entry.name.parse().ok().filter(|_| entry.kind == EntryKind::Tree) {
            contracts.entry(name).or_default().versions = Some(entry.id);
        }
    }
    for (repo, binding) in &summary.bindings {
        for (name, role) in ContractRole::all_of(repo, binding) {
            contracts.entry(name.clone()).or_default().roles.push(role);
        }
    }
    Ok(contracts)
}
