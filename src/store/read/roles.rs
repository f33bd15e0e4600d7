//! Reads which repositories export and import a contract, without reading the rest of their bindings.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{
    model::{
        binding::{Binding, Role},
        content_cache::ContentCache,
        name::{ContractName, RepoName},
        oid::Oid,
        range::Range,
    },
    store::{EntryKind, Store, StoreError, layout},
};

/// The role of a repository for one contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContractRole {
    /// The repository.
    pub repo: RepoName,
    /// Its role in the domain.
    pub role: Role,
    /// Whether it exports the contract.
    pub exports: bool,
    /// The range in which it imports the contract.
    pub imports: Option<Range>,
}

/// The roles of all repositories for one contract.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContractRoles {
    /// The exporters and importers.
    pub known: Vec<ContractRole>,
    /// The repositories whose bindings cannot be read.
    pub unreadable: Vec<RepoName>,
}

/// The roles of all repositories, by contract, and the repositories whose bindings cannot be read.
#[derive(Debug, Default)]
struct DomainRoles {
    by_contract: BTreeMap<String, Vec<ContractRole>>,
    unreadable: Vec<RepoName>,
}

impl DomainRoles {
    fn of(&self, contract: &ContractName) -> ContractRoles {
        let known = self.by_contract.get(contract.as_str()).cloned().unwrap_or_default();
        ContractRoles { known, unreadable: self.unreadable.clone() }
    }
}

/// The approximate memory usage of a role, in bytes.
const ROLE_WEIGHT: usize = 200;

/// Recently read roles, by the id of the folder of bindings, which determines them.
static ROLES: ContentCache<Oid, Arc<DomainRoles>> = ContentCache::new(8 << 20);

/// The fields of a binding that name contracts.
#[derive(Deserialize)]
struct Names<'a> {
    role: Role,
    #[serde(borrow, default)]
    exports: Vec<Named<'a>>,
    #[serde(borrow, default)]
    imports: Vec<Named<'a>>,
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    contract: Cow<'a, str>,
    #[serde(borrow, default)]
    version: Option<Cow<'a, str>>,
}

/// Returns the exporters and importers of a contract in a folder of bindings. Only the entries of a binding that name
/// the contract are parsed.
///
/// # Errors
/// Returns an error if the folder cannot be read.
pub(super) fn roles_in(store: &dyn Store, folder: &Oid, contract: &ContractName) -> Result<ContractRoles, StoreError> {
    if !store.caches_in_memory() {
        return Ok(roles_below(store, folder, |name| name == contract.as_str())?.of(contract));
    }
    let roles = match ROLES.get(folder) {
        Some(held) => held,
        None => {
            let roles = Arc::new(roles_below(store, folder, |_| true)?);
            // A missing blob may be restored.
            if roles.unreadable.is_empty() {
                let weight = roles.by_contract.values().map(Vec::len).sum::<usize>() * ROLE_WEIGHT;
                ROLES.put(*folder, Arc::clone(&roles), weight);
            }
            roles
        }
    };
    Ok(roles.of(contract))
}

/// Returns the exporters and importers of the contracts that `is_wanted` accepts.
fn roles_below(store: &dyn Store, folder: &Oid, is_wanted: impl Fn(&str) -> bool) -> Result<DomainRoles, StoreError> {
    let mut roles = DomainRoles::default();
    for entry in store.entries(folder)? {
        let Some(repo) = layout::stem::<RepoName>(&entry.name).filter(|_| entry.kind == EntryKind::Blob) else {
            continue;
        };
        let bytes = match store.blob(&entry.id) {
            Err(error) if error.is_damage() => {
                roles.unreadable.push(repo);
                continue;
            }
            bytes => bytes?,
        };
        let Ok(names) = serde_json::from_slice::<Names<'_>>(&bytes) else {
            roles.unreadable.push(repo);
            continue;
        };
        for (contract, role) in names.roles(&repo, &is_wanted) {
            roles.by_contract.entry(contract.to_owned()).or_default().push(role);
        }
    }
    Ok(roles)
}

impl ContractRole {
    /// Returns the roles of a repository in the contracts that its binding names.
    pub(in crate::store) fn all_of<'b>(repo: &RepoName, binding: &'b Binding) -> BTreeMap<&'b ContractName, Self> {
        let exports = binding.exports.iter().map(|export| &export.contract);
        let imports = binding.imports.iter().map(|import| (&import.contract, Some(import.version.clone())));
        roles((repo, binding.role), exports, imports)
    }
}

/// Returns the roles of a repository in contracts. If a contract is imported more than once, the first import counts.
fn roles<N: Ord>(
    (repo, role): (&RepoName, Role),
    exports: impl Iterator<Item = N>,
    imports: impl DoubleEndedIterator<Item = (N, Option<Range>)>,
) -> BTreeMap<N, ContractRole> {
    let role = |imports| ContractRole { repo: repo.clone(), role, exports: false, imports };
    let mut roles: BTreeMap<_, _> = imports.rev().map(|(name, range)| (name, role(range))).collect();
    roles.retain(|_, role| role.imports.is_some());
    for name in exports {
        roles.entry(name).or_insert_with(|| role(None)).exports = true;
    }
    roles
}

impl Names<'_> {
    /// Returns the role of the binding's repository in each contract that `is_wanted` accepts.
    fn roles(&self, repo: &RepoName, is_wanted: impl Fn(&str) -> bool) -> BTreeMap<&str, ContractRole> {
        let exports = self.exports.iter().map(|named| &*named.contract).filter(|name| is_wanted(name));
        let imports = self.imports.iter().filter(|named| is_wanted(&named.contract));
        let range = |named: &Named<'_>| named.version.as_ref().and_then(|range| range.parse().ok());
        roles((repo, self.role), exports, imports.map(|named| (&*named.contract, range(named))))
    }
}
