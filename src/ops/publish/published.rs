//! Describes a change to the realm: what it breaks, and remarks for its author.

use crate::{
    model::{change::Event, domain_view::DomainView, effects, verdict::Judge},
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
        Event::Described(name, version, _) => (Some(name), Some(version), Some(version)),
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
    let fields = match event {
        Event::Described(_, _, fields) => &fields[..],
        _ => &[],
    };
    Published {
        domain: after.info.name.clone(),
        contract: contract.cloned(),
        change: event.kind(),
        old_version: old.cloned(),
        new_version: new.cloned(),
        fields: fields.iter().map(|one| one.field.into()).collect(),
        removed_fields: fields.iter().filter(|one| one.removed).map(|one| one.field.into()).collect(),
        broken: breaks.len(),
        breaks: breaks.into_iter().take(MAX_BREAKS).collect(),
        remarks: remarks.unwrap_or_default(),
    }
}
