//! Describes a change to the realm: what it breaks, and remarks for its author.

use std::borrow::Cow;

use crate::{
    model::{change::Event, contract::Contract, domain_view::DomainView, effects, verdict::Judge},
    wire::Published,
};

/// The maximum number of broken imports that are listed per change.
const MAX_BREAKS: usize = 20;

/// Returns the change to a domain that `event` describes, from `before` to `after`.
pub fn describe((before, after): (&DomainView, &DomainView), event: &Event, judge: &Judge<'_>) -> Published {
    let (contract, old, new) = match event {
        Event::Added(name, new) | Event::Prerelease(name, new) => (Some(name), None, Some(new)),
        Event::Updated(name, old, new) | Event::RolledBack(name, old, new) | Event::TakenOver(name, old, new) => {
            (Some(name), Some(old), Some(new))
        }
        Event::Described(name, version) => (Some(name), Some(version), Some(version)),
        Event::Bound(_) | Event::Unbound(_) => (None, None, None),
    };
    let breaks = contract.map(|name| effects::breaks(before, after, name, judge)).unwrap_or_default();
    let remarks = match event {
        Event::Bound(repo) => {
            let old = before.bindings.get(repo);
            after.bindings.get(repo).map(|binding| effects::remarks_on_binding(after, old, binding, judge))
        }
        Event::Unbound(_) => None,
        _ => contract.zip(new).and_then(|(name, new)| {
            Some(effects::remarks_on_contract((before, after), after.document(name, new)?, judge))
        }),
    };
    Published {
        domain: after.info.name.clone(),
        contract: contract.cloned(),
        change: event.kind().into(),
        old_version: old.cloned(),
        new_version: new.cloned(),
        fields: match event {
            Event::Described(name, _) => described(before.contracts.get(name), after.contracts.get(name)),
            _ => Vec::new(),
        },
        broken: breaks.len(),
        breaks: breaks.into_iter().take(MAX_BREAKS).collect(),
        remarks: remarks.unwrap_or_default(),
    }
}

/// Returns the fields of a contract that may change without a new version, and did.
fn described(before: Option<&Contract>, after: Option<&Contract>) -> Vec<Cow<'static, str>> {
    let Some((before, after)) = before.zip(after) else { return Vec::new() };
    let fields = [
        ("description", before.description != after.description),
        ("supported", before.supported != after.supported),
        ("validation", before.validation != after.validation),
        ("evolution", before.evolution != after.evolution),
        ("deprecated", before.deprecated != after.deprecated),
        ("retired", before.retired != after.retired),
    ];
    fields.into_iter().filter(|(_, is_changed)| *is_changed).map(|(field, _)| field.into()).collect()
}
