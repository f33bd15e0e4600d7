//! Rules for the contracts themselves.

use jiff::civil::Date;

use super::{Finding, is_past};
use crate::model::{
    contract::Contract,
    schema::{self, Part},
    view::{DomainView, RealmView},
};

/// `hashes` are what the contracts' schemas hash to, in their order.
pub(super) fn check(
    realm: &RealmView,
    domain: &DomainView,
    hashes: &[String],
    today: Date,
    findings: &mut Vec<Finding>,
) {
    let name = &domain.info.name;
    for (contract, schema_hash) in domain.contracts.values().zip(hashes) {
        let mut of_contract = Vec::new();
        of_contract.extend(owner(realm, domain, contract));
        of_contract.extend(content(contract));
        of_contract.extend(stored_hashes(domain, contract, schema_hash));
        of_contract.extend(life(domain, contract, today));
        findings.extend(of_contract.into_iter().map(|finding| finding.domain(name).contract(&contract.name)));
    }
}

fn owner(realm: &RealmView, domain: &DomainView, contract: &Contract) -> Option<Finding> {
    let (domain_name, name, owner) = (&domain.info.name, &contract.name, &contract.owner);
    if !realm.repos.contains_key(owner) {
        let message = format!("{domain_name}/{name} belongs to {owner}, which is not in the realm");
        Some(Finding::error("unknown-owner", message))
    } else if !domain.info.has_member(owner) {
        let message = format!("{domain_name}/{name} belongs to {owner}, which is not a member of {domain_name}");
        Some(Finding::error("owner-not-member", message))
    } else {
        None
    }
}

fn content(contract: &Contract) -> Vec<Finding> {
    let contradiction = contract.contradiction().map(|message| Finding::error("invalid-contract", message));
    let problems = schema::problems(&contract.schema.0, &contract.value.0).into_iter().map(|problem| {
        let (code, part) = match problem.part {
            Part::Schema => ("invalid-schema", "schema"),
            Part::Value => ("invalid-value", "value"),
        };
        let message = format!("{} {part}{}: {}", contract.name, problem.pointer, problem.message);
        Finding { pointer: Some(problem.pointer), ..Finding::error(code, message) }
    });
    contradiction.into_iter().chain(problems).collect()
}

/// A schema that changed under its version, found even where the stored hash was rewritten too.
fn stored_hashes(domain: &DomainView, contract: &Contract, schema_hash: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (name, version) = (&contract.name, &contract.version);
    let published = domain.published.get(&(name.clone(), version.clone()));
    let known_schema = published.map(Contract::computed_schema_hash).or_else(|| contract.schema_hash.clone());
    let known_content = published.map(Contract::computed_content_hash).or_else(|| contract.content_hash.clone());
    if known_schema.is_some_and(|known| known != schema_hash)
        || contract.schema_hash.as_ref().is_some_and(|stored| *stored != schema_hash)
    {
        let message = format!("the schema of {name} changed, but its version is still {version}");
        findings.push(Finding::warning("schema-changed", message));
    } else if known_content.is_some_and(|known| known != contract.computed_content_hash()) {
        let message = format!("the value or promise of {name} changed, but its version is still {version}");
        findings.push(Finding::warning("content-changed", message));
    }
    if contract.schema_hash.is_none() || contract.content_hash.is_none() {
        let message = format!("{name} was stored without its hashes; publish it again to add them");
        findings.push(Finding::warning("hash-missing", message));
    }
    if !domain.versions.get(name).is_some_and(|versions| versions.contains(version)) {
        let message = format!("{name} is {version}, but that version is not among the published ones");
        findings.push(Finding::warning("version-missing", message));
    }
    findings
}

fn life(domain: &DomainView, contract: &Contract, today: Date) -> Vec<Finding> {
    let mut findings = Vec::new();
    let name = &contract.name;
    let importers = domain.importers(name).count();
    if let Some(deprecated) = &contract.deprecated
        && is_past(deprecated.sunset, today)
        && importers > 0
    {
        let until = deprecated.sunset.map(|date| date.to_string()).unwrap_or_default();
        let message = format!("{name} was to be served until {until} and is still imported by {importers}");
        findings.push(Finding::warning("past-sunset", message));
    }
    if contract.retired.is_none() && importers == 0 {
        findings.push(Finding::warning("unused", format!("nobody imports {name}")));
    }
    findings
}
