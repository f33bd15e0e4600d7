//! The check of `doctor` that a realm's store can be opened and its realm can be read. Without that, nothing else can be
//! checked.

use super::{
    doctor_objects,
    finding::{Request, advise, check, failed, repaired},
};
use crate::{
    error::OpError,
    locate,
    machine::home::KnownRealm,
    model::text::count,
    ops::ctx::Ctx,
    store::{
        StoreError,
        git::{self, GitStore},
        read,
    },
    wire::{DoctorCheck, Health},
};

/// Returns the store of a realm that can be read, if necessary after repairs that the user asks for. Adds what was
/// found to `checks`.
pub(crate) fn readable(
    ctx: &Ctx,
    request: &Request,
    known: &KnownRealm,
    checks: &mut Vec<DoctorCheck>,
) -> Option<GitStore> {
    let lost_part = lost_part(request, known);
    let is_unusable = lost_part.as_ref().is_some_and(|check| !check.fixed);
    checks.extend(lost_part);
    if is_unusable {
        return None;
    }
    let packed_refs = packed_refs(request, known);
    let is_unusable = packed_refs.as_ref().is_some_and(|check| !check.fixed);
    checks.extend(packed_refs);
    if is_unusable {
        return None;
    }
    let (store, read) = match ctx.open_store_to_repair(known) {
        Ok(store) => {
            let read = read::realm(&store);
            (store, read)
        }
        Err(error) => {
            checks.push(unusable(known, error));
            return None;
        }
    };
    match read {
        Ok(realm) if realm.name == known.name => {
            checks.push(match store.try_to_write() {
                Ok(()) => found(known, Health::Ok, known.path.display().to_string()),
                Err(error) => found(known, Health::Error, format!("the realm can be read, but not written: {error}")),
            });
            Some(store)
        }
        Ok(realm) => {
            let message = format!("{} contains the realm {}", known.path.display(), realm.name);
            checks.push(found(known, Health::Error, message));
            None
        }
        Err(error) if error.is_damage() => {
            let (repaired, found) = repair(ctx, request, known, store, &error);
            checks.extend(found);
            repaired
        }
        Err(error) => {
            checks.push(unusable(known, error.into()));
            None
        }
    }
}

fn found(known: &KnownRealm, state: Health, message: impl Into<String>) -> DoctorCheck {
    check("store", Some(known.name.as_str()), state, message)
}

fn unusable(known: &KnownRealm, error: OpError) -> DoctorCheck {
    failed(found(known, Health::Error, error.message), &error.next_steps)
}

/// Repairs a store whose realm cannot be read because of `damage`, if the user asks for it. Returns the store if the
/// realm can be read now, and the checks.
fn repair(
    ctx: &Ctx,
    request: &Request,
    known: &KnownRealm,
    store: GitStore,
    damage: &StoreError,
) -> (Option<GitStore>, Vec<DoctorCheck>) {
    let store_check = found(known, Health::Error, damage.to_string());
    let (store, mut checks) = doctor_objects::objects_and_refs(ctx, request, known, store);
    let store = Some(store).filter(|store| read::realm(store).is_ok());
    let store_check = match &store {
        Some(_) => DoctorCheck { fixed: true, ..store_check },
        // Starting over is the last resort.
        None if checks.iter().all(|check| check.fixed || check.next_step.is_none()) => {
            advise(store_check, locate::obtain_again(&ctx.home, known))
        }
        None => store_check,
    };
    checks.insert(0, store_check);
    (store, checks)
}

/// Reports a store whose packed-refs has damaged lines, and removes them on request. The next checks restore what was in
/// them, if it is recorded elsewhere.
fn packed_refs(request: &Request, known: &KnownRealm) -> Option<DoctorCheck> {
    let damaged = git::damaged_packed_refs(&known.path);
    let first = damaged.first()?;
    let lines = count(damaged.len(), "line", "lines");
    let message = format!("packed-refs has {lines} that git cannot read, such as {first:?}");
    let found = |more: &str| found(known, Health::Error, format!("{message}{more}"));
    if !request.fix {
        return Some(advise(found(""), "git blue doctor --fix  # write it again without them"));
    }
    Some(match git::repair_packed_refs(&known.path) {
        Ok(kept) => DoctorCheck { fixed: true, ..found(&format!("; the former file is now {}", kept.display())) },
        Err(error) => found(&format!("; not repaired: {error}")),
    })
}

/// Reports a store that lacks a part without which git does not recognize it, and makes the part again on request.
fn lost_part(request: &Request, known: &KnownRealm) -> Option<DoctorCheck> {
    let error = OpError::from(git::lost_part(&known.path)?);
    let found = found(known, Health::Error, error.message);
    if !request.fix {
        return Some(failed(found, &error.next_steps));
    }
    Some(repaired(found, git::restore_part(&known.path), ""))
}
