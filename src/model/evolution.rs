//! Fills in the changes of each version of a contract, if its owner did not describe them.

use std::collections::BTreeSet;

use super::{
    contract::{Contract, Evolution, UNDECIDED, Values},
    diff::{self, Difference, Kind},
    domain_view::DomainView,
    text::cut,
    verdict::{Judge, Outcome, VersionBump, flow, needed_bump},
    version::Version,
};

/// The maximum number of changes that are listed for one version.
const MAX_CHANGES: usize = 20;
/// The length limit of a listed pointer, in characters.
const MAX_PLACE: usize = 200;

/// Returns a document with the evolution that the realm has recorded, and with a generated entry for this version
/// unless its owner wrote one.
pub fn with_evolution(domain: &DomainView, document: &Contract, judge: &Judge<'_>) -> Contract {
    let Some(held) = domain.contracts.get(&document.name) else { return document.clone() };
    let mut document = document.clone();
    let mut written: BTreeSet<Version> = document.evolution.iter().map(|one| one.version.clone()).collect();
    let held_too = held.evolution.iter().filter(|one| one.version <= document.version);
    document.evolution.extend(held_too.filter(|one| written.insert(one.version.clone())).cloned());
    let is_new = document.version > held.version && !document.version.is_prerelease();
    if is_new && !written.contains(&document.version) {
        document.evolution.extend(of(held, &document, judge));
    }
    document.evolution.sort_by(|a, b| a.version.cmp(&b.version));
    document
}

/// Returns the changes of a version since the previous one. Returns `None` if only descriptive text changed. A version
/// that breaks a promise is not compatible, even if importers keep working.
fn of(held: &Contract, document: &Contract, judge: &Judge<'_>) -> Option<Evolution> {
    let of_schemas = diff::diff(&held.schema, &document.schema);
    let of_values = diff::of_values(&held.value, &document.value);
    let mut changes: Vec<_> = of_schemas.iter().map(|one| phrase("schema", one)).collect();
    changes.extend(of_values.iter().map(|one| phrase("value", one)));
    changes.extend(of_rules(held, document));
    if let Some(more @ 1..) = changes.len().checked_sub(MAX_CHANGES) {
        changes.truncate(MAX_CHANGES);
        changes.push(format!("and {more} more"));
    }
    if changes.is_empty() {
        return None;
    }
    let outcome = match needed_bump(held, document, judge) {
        VersionBump::Major => Some(Outcome::Breaks),
        VersionBump::Unknown => Some(Outcome::Unknown),
        VersionBump::Minor | VersionBump::Patch => judge.for_importers(held, document).map(|verdict| verdict.verdict),
    };
    // The entry cannot be corrected later, so it claims neither that consumers keep working nor that they break.
    changes.extend((outcome == Some(Outcome::Unknown)).then(|| UNDECIDED.to_owned()));
    let compatible = outcome.is_none_or(|outcome| outcome == Outcome::Compatible);
    Some(Evolution { version: document.version.clone(), changes, compatible })
}

/// Returns the changes of the owner's promises.
fn of_rules(held: &Contract, document: &Contract) -> Vec<String> {
    let mut changes = Vec::new();
    changes.extend(flow::reversal(held, document).map(|what| format!("reverses the flow: {what}")));
    if held.compatibility != document.compatibility {
        changes.push(format!("promises {}", document.compatibility.promise()));
    }
    let values = match document.values {
        Values::Free => "promises nothing about the agreed value",
        Values::Additive => "promises only to add to the agreed value",
        Values::Frozen => "promises not to change the agreed value",
    };
    changes.extend((held.values != document.values).then(|| values.to_owned()));
    changes
}

fn phrase(part: &str, one: &Difference) -> String {
    let verb = match one.change {
        Kind::Added => "adds",
        Kind::Removed => "removes",
        Kind::Changed => "changes",
    };
    format!("{verb} {part}{}", cut(&*one.pointer, MAX_PLACE))
}
