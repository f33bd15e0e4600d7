//! Examines the content of contracts. This depends only on that content and takes longer than all other rules together,
//! so the result is worth caching.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use crate::model::{
    contract::Contract,
    domain_view::{Damage, DomainView},
    name::ContractName,
    schema::{self, Budget, Part},
    verdict::{ImportState, States},
    version::Version,
};

/// The SHA-256 of each canonical schema of a domain, computed from the schema rather than read from the file.
pub type SchemaHashes = BTreeMap<ContractName, String>;

/// The findings in the contracts of one domain.
#[derive(Debug, Clone, Default)]
pub struct Examination {
    /// The hash of each schema.
    pub schema_hashes: SchemaHashes,
    pub(super) findings: BTreeMap<ContractName, Vec<Finding>>,
}

impl Examination {
    /// Returns the examination of `after`, given this one of `before`. Only contracts that differ are examined, or fewer if
    /// the request is cancelled. Both may be the same part of the domain.
    #[must_use]
    pub fn after(&self, (before, after): (&DomainView, &DomainView), budget: &Budget) -> Self {
        let mut examination = self.clone();
        let differs = |name: &&ContractName| before.contracts.get(*name) != after.contracts.get(*name);
        for name in before.contracts.keys().chain(after.contracts.keys()).filter(differs) {
            examination.schema_hashes.remove(name);
            examination.findings.remove(name);
        }
        for (name, contract) in after.contracts.iter().filter(|(name, _)| differs(name)) {
            let published = after.published.get(&(name.clone(), contract.version.clone()));
            examination.add(contract, published, after.versions.get(name), budget);
        }
        examination
    }

    /// Examines a contract, unless the request is cancelled. `published` is the document that was published under its
    /// version, if it differs, and `versions` are the published versions.
    pub fn add(
        &mut self,
        contract: &Contract,
        published: Option<&Contract>,
        versions: Option<&BTreeSet<Version>>,
        budget: &Budget,
    ) {
        if budget.is_cancelled() {
            return;
        }
        let hash = contract.computed_schema_hash();
        let mut findings = content(contract, budget);
        findings.extend(stored_hashes(contract, published, versions, &hash));
        if !findings.is_empty() {
            self.findings.insert(contract.name.clone(), findings);
        }
        self.schema_hashes.insert(contract.name.clone(), hash);
    }

    /// Returns an examination without findings and with these hashes.
    pub fn clean(schema_hashes: SchemaHashes) -> Self {
        Self { schema_hashes, findings: BTreeMap::new() }
    }

    /// Returns whether there are no findings, nothing in the domain is damaged, and every import is proved compatible.
    pub fn is_clean(&self, damage: &[Damage], states: &States) -> bool {
        self.findings.is_empty() && damage.is_empty() && states.values().all(ImportState::is_proved)
    }
}

fn content(contract: &Contract, budget: &Budget) -> Vec<Finding> {
    let contradiction = contract
        .contradiction()
        .map(|fault| Finding { place: Some(fault.pointer), ..Finding::error("invalid-contract", fault.message) });
    let problems = schema::problems(&contract.schema, &contract.value, budget).into_iter().map(|problem| {
        let code = match problem.part {
            Part::Size => "schema-too-large",
            Part::Schema => "invalid-schema",
            Part::Value => "invalid-value",
            Part::Undecided => "undecided",
        };
        let part = problem.part.name();
        let message = format!("{} {part}{}: {}", contract.name, problem.pointer, problem.message);
        let place = Some(format!("/{part}{}", problem.pointer));
        Finding { pointer: Some(problem.pointer), place, ..Finding::error(code, message) }
    });
    contradiction.into_iter().chain(problems).collect()
}

/// Returns findings for content that changed without a new version, even if the stored hash was rewritten too, and for
/// missing hashes and versions.
fn stored_hashes(
    contract: &Contract,
    published: Option<&Contract>,
    versions: Option<&BTreeSet<Version>>,
    schema_hash: &str,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (name, version) = (&contract.name, &contract.version);
    let known_schema = published.map(Contract::computed_schema_hash).or_else(|| contract.schema_hash.clone());
    let known_content = published.map(Contract::computed_content_hash).or_else(|| contract.content_hash.clone());
    if known_schema.is_some_and(|known| known != schema_hash)
        || contract.schema_hash.as_ref().is_some_and(|stored| *stored != schema_hash)
    {
        let message = format!("the schema of {name} changed, but the version is still {version}");
        findings.push(Finding::warning("schema-changed", message));
    } else if known_content.is_some_and(|known| known != contract.computed_content_hash()) {
        let message = format!("the value or promise of {name} changed, but the version is still {version}");
        findings.push(Finding::warning("content-changed", message));
    }
    if contract.schema_hash.is_none() || contract.content_hash.is_none() {
        let message = format!("{name} was stored without its hashes; publish it again to add them");
        findings.push(Finding::warning("hash-missing", message));
    }
    if !versions.is_some_and(|versions| versions.contains(version)) {
        let message = format!("{name} is at {version}, but that is not one of its published versions");
        findings.push(Finding::warning("version-missing", message));
    }
    findings
}
