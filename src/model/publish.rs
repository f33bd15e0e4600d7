//! The rules for changing a domain: who may change it, what a published version fixes, and in which direction versions
//! may go. Publishing, `contract edit` and `realm admin contract` all use them.
//!
//! On a single machine, ownership protects against mistakes, not against attacks: anyone who can write to the store
//! can write anything.

mod permission;
mod refusal;

pub use permission::{is_distinct, is_offered, may_publish};
pub use refusal::{Reason, Refusal, revival, without_owner};

use std::{borrow::Cow, collections::BTreeMap};

use permission::may_change;
use refusal::{damaged_binding, not_member, refuse};

use crate::model::{
    approval::Approval,
    binding::{Binding, Import},
    candidate::{Declared, Judged},
    change::{DomainChange, Event, FieldChange},
    contract::{Contract, Retirement, Yanked},
    domain_view::{DomainView, Subject},
    evolution::with_evolution,
    fault::Fault,
    name::RepoName,
    next_version::{Needed, free_prerelease, free_version, needed, settled},
    schema::{self, Part},
    transfer::Transfers,
    verdict::{Judge, Promise, VersionBump},
    version::Version,
};

/// The decision of the rules: the changes, and their meaning.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Decision {
    /// The changes for the store.
    pub changes: Vec<DomainChange>,
    /// The events, for messages.
    pub events: Vec<Event>,
}

impl Decision {
    fn add(&mut self, other: Self) {
        self.changes.extend(other.changes);
        self.events.extend(other.events);
    }
}

/// The direction in which a version may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The version may only go up.
    Forward,
    /// The version may go back to a published one, because the user asked for it.
    Rollback,
}

/// Decides on a contract document that `acting` wants to publish.
///
/// # Errors
/// Returns a [`Refusal`] with the contract and how to resolve it.
pub fn contract(
    domain: &DomainView,
    acting: &RepoName,
    document: &Contract,
    direction: Direction,
    judge: &Judge<'_>,
) -> Result<Decision, Refusal> {
    let decision = ignoring_promise(domain, acting, document, direction, judge)?;
    check_promise(domain, document, judge)?;
    Ok(decision)
}

/// Decides like [`contract`], but ignores the owner's promise.
///
/// # Errors
/// Returns a [`Refusal`] with the contract and how to resolve it.
pub fn ignoring_promise(
    domain: &DomainView,
    acting: &RepoName,
    document: &Contract,
    direction: Direction,
    judge: &Judge<'_>,
) -> Result<Decision, Refusal> {
    let document = &*settled(domain, document, judge);
    may_publish(domain, acting, &document.name)?;
    if document.owner != *acting {
        let reason = Reason::OtherOwner { owner: document.owner.clone(), acting: acting.clone() };
        return Err(refuse(domain, &document.name, reason));
    }
    if let Some(reason) = document_problem(document, judge) {
        return Err(refuse(domain, &document.name, reason));
    }
    keep_published_content(domain, document, judge)?;
    next(domain, with_evolution(domain, document, judge).sealed(), direction)
}

/// Checks that a document keeps the promise, unless its version allows breaks or this exact change was approved. For a
/// pre-release, breaks are only reported.
///
/// # Errors
/// Returns [`Reason::BreaksPromise`] if the document breaks the promise, and [`Reason::UndecidedVersion`] if its
/// version is `auto` and it is unknown whether it does.
pub fn check_promise(domain: &DomainView, document: &Contract, judge: &Judge<'_>) -> Result<(), Refusal> {
    let is_auto = document.version.is_auto();
    let document = &*settled(domain, document, judge);
    let Some(held) = domain.contracts.get(&document.name).filter(|_| !document.version.is_prerelease()) else {
        return Ok(());
    };
    let Some(promise) = Promise::of(held, document, judge) else { return Ok(()) };
    let (current, version) = (held.version.clone(), document.version.clone());
    let bump = || free_version(domain, document, VersionBump::Major);
    let reason = match (promise.broken.is_empty(), promise.unknown.first()) {
        (true, Some(undecided)) if is_auto => {
            let (why, ran_out_in_hook) = (undecided.reason.clone(), judge.ran_out_in_hook());
            Reason::UndecidedVersion { current, minor: version, major: bump(), why, ran_out_in_hook }
        }
        (true, _) => return Ok(()),
        (false, _) if promise.approved(domain.approvals.get(&document.name).into_iter().flatten()).is_some() => {
            return Ok(());
        }
        (false, _) => Reason::BreaksPromise { current, version, bump: bump(), promise: Box::new(promise) },
    };
    Err(refuse(domain, &document.name, reason))
}

/// Returns the reason to refuse a document because of its own content, if there is one.
fn document_problem(document: &Contract, judge: &Judge<'_>) -> Option<Reason> {
    let problems = schema::problems(&document.schema, &document.value, judge.values());
    let is_undecided = problems.iter().any(|problem| problem.part == Part::Undecided);
    let fault = |schema::Problem { part, pointer, message }| {
        let place = format!("{}{pointer}", part.name());
        Fault::at(format!("/{place}"), format!("{place}: {message}"))
    };
    let faults: Vec<_> = document.contradiction().into_iter().chain(problems.into_iter().map(fault)).collect();
    if faults.is_empty() {
        None
    } else if is_undecided {
        Some(Reason::Undecided(faults))
    } else {
        Some(Reason::Invalid(faults))
    }
}

/// Checks that a published version does not change, and that a yanked one is not published again.
fn keep_published_content(domain: &DomainView, document: &Contract, judge: &Judge<'_>) -> Result<(), Refusal> {
    let version = document.version.clone();
    let current = domain.contracts.get(&document.name);
    let is_current = current.is_some_and(|current| current.version == version);
    let is_known = domain.versions.get(&document.name).is_some_and(|versions| versions.contains(&version));
    if is_known && domain.is_damaged(&document.name) && domain.document(&document.name, &version).is_none() {
        return Err(refuse(domain, &document.name, Reason::Damaged));
    }
    if let Some(published) = domain.document(&document.name, &version)
        && !published.has_same_content(document)
    {
        let needed = other_version(domain, current.unwrap_or(published), document, judge);
        let is_retired = current.is_some_and(|current| current.retired.is_some());
        return Err(refuse(domain, &document.name, Reason::Republished { version, needed, is_retired }));
    }
    match current.and_then(|current| current.yanked_reason(&version)) {
        Some(why) if !is_current => {
            let bump = needed(domain, current.unwrap_or(document), document, judge).version;
            Err(refuse(domain, &document.name, Reason::Yanked { version, why: why.to_owned(), bump }))
        }
        _ => Ok(()),
    }
}

/// Returns the changes of the `base`, which is published before a document. Returns none if its version is published, or
/// that of the document, or if publishing would refuse the base.
pub fn changes_of_base(
    domain: &DomainView,
    acting: &RepoName,
    base: &Contract,
    document: &Contract,
    judge: &Judge<'_>,
) -> Vec<DomainChange> {
    let is_auto = base.version.is_auto();
    let is_published = domain.versions.get(&base.name).is_some_and(|versions| versions.contains(&base.version));
    if is_published || base.version == document.version && (!is_auto || base.has_same_content(document)) {
        return Vec::new();
    }
    contract(domain, acting, base, Direction::Forward, judge).map(|decision| decision.changes).unwrap_or_default()
}

/// Checks that a document does not have the version of the `base`, which is published first, with other content.
///
/// # Errors
/// Returns [`Reason::InBase`] if it does, unless the version is published already.
pub fn keep_content_of_base(
    domain: &DomainView,
    base: &Contract,
    document: &Contract,
    judge: &Judge<'_>,
) -> Result<(), Refusal> {
    let (name, version) = (&document.name, &document.version);
    let is_published = domain.versions.get(name).is_some_and(|versions| versions.contains(version));
    if is_published || version.is_auto() || base.version != *version || base.has_same_content(document) {
        return Ok(());
    }
    let after = overlay(
        domain,
        &[DomainChange::Version(Box::new(base.clone())), DomainChange::Contract(Box::new(base.clone()))],
    );
    let needed = other_version(&after, base, document, judge);
    Err(refuse(domain, name, Reason::InBase { version: version.clone(), needed }))
}

/// Returns the version that a document needs whose version has the content of `held`.
fn other_version(domain: &DomainView, held: &Contract, document: &Contract, judge: &Judge<'_>) -> Needed {
    if document.version.is_prerelease() {
        let version = free_prerelease(domain, &document.name, document.version.clone());
        Needed { version, if_breaking: None, broken: None }
    } else {
        needed(domain, held, document, judge)
    }
}

/// Decides how a document follows the current one, given the direction in which its version may go.
fn next(domain: &DomainView, document: Contract, direction: Direction) -> Result<Decision, Refusal> {
    let name = document.name.clone();
    let version = document.version.clone();
    let is_published = domain.versions.get(&name).is_some_and(|versions| versions.contains(&version));
    let keep = (!is_published).then(|| DomainChange::Version(Box::new(document.as_published())));
    let held = domain.contracts.get(&name);
    let down = |current: &Contract| {
        if current.owner != document.owner {
            let (current, version, to) = (current.version.clone(), version.clone(), document.owner.clone());
            return refuse(domain, &name, Reason::Overtaken { current, version, to });
        }
        let is_supported = current.supported.iter().chain(&document.supported).any(|range| range.matches(&version));
        let (current, version) = (current.version.clone(), version.clone());
        refuse(domain, &name, Reason::Down { current, version, is_published, is_supported, rolls_back: true })
    };
    let never_published = |current: &Contract| {
        let (current, version) = (Some(current.version.clone()), version.clone());
        refuse(domain, &name, Reason::NotPublished { version, current })
    };
    if version.is_prerelease() {
        if let Some(current) = held.filter(|current| current.version > version) {
            match direction {
                // The release of this pre-release would be below the current version too, so it could never be
                // published.
                Direction::Forward if !is_published => return Err(down(current)),
                Direction::Forward => {}
                Direction::Rollback if is_published => return Err(refuse(domain, &name, Reason::PreRelease(version))),
                Direction::Rollback => return Err(never_published(current)),
            }
        }
        let events = keep.iter().map(|_| Event::Prerelease(name.clone(), version.clone())).collect();
        return Ok(Decision { changes: keep.into_iter().collect(), events });
    }
    let owner = held.filter(|held| held.owner != document.owner);
    let owner = owner.map(|held| Event::TakenOver(name.clone(), held.version.clone(), version.clone()));
    let event = match held {
        None => Event::Added(name, version),
        Some(current) if current.version == version => {
            // Only the realm records yanked versions and the retirement; a document does not change them.
            let document = Contract { yanked: current.yanked.clone(), retired: current.retired.clone(), ..document };
            let described = Event::Described(name, version, FieldChange::between(current, &document));
            let change = (document != *current).then(|| DomainChange::Contract(Box::new(document)));
            let event = owner.unwrap_or(described);
            let events = change.iter().map(|_| event.clone()).collect();
            return Ok(Decision { changes: keep.into_iter().chain(change).collect(), events });
        }
        Some(current) if current.version < version => {
            owner.unwrap_or_else(|| Event::Updated(name, current.version.clone(), version))
        }
        Some(current) => match direction {
            // Only the owner withdraws a version.
            _ if current.owner != document.owner => return Err(down(current)),
            Direction::Rollback if is_published => Event::RolledBack(name, current.version.clone(), version),
            Direction::Rollback => return Err(never_published(current)),
            Direction::Forward => return Err(down(current)),
        },
    };
    // A new version revives a retired contract; yanked versions stay yanked.
    let yanked = domain.contracts.get(&document.name).map(|current| current.yanked.clone()).unwrap_or_default();
    let current = DomainChange::Contract(Box::new(Contract { yanked, retired: None, ..document }));
    Ok(Decision { changes: keep.into_iter().chain([current]).collect(), events: vec![event] })
}

/// Returns the version that the code of an import is adapted to once it is published. `before` is the import that was
/// published before.
pub fn adapted(domain: &DomainView, import: &Import, before: Option<&Import>) -> Option<Version> {
    let resolved = domain.resolve_import(import).resolved().cloned();
    let adapted = before.and_then(Import::adapted).cloned();
    let current = domain.contracts.get(&import.contract);
    if before.is_some_and(|before| before.version.has_same_versions(&import.version)) {
        adapted.or(resolved)
    } else if current.is_some_and(|current| import.version.is_above(&current.version)) {
        // The code was adapted to a version that is still to come.
        None
    } else {
        let first = || import.first_of(domain.versions.get(&import.contract)?).cloned();
        resolved.or(adapted).or_else(first)
    }
}

/// Decides on the binding of `repo`, and resolves its imports against the domain.
///
/// # Errors
/// Returns [`Reason::NotMember`] if the repository is not a member of the domain, and [`Reason::DamagedBinding`] if its
/// binding there cannot be read.
pub fn binding(
    domain: &DomainView,
    repo: &RepoName,
    mut wanted: Binding,
    now: jiff::Timestamp,
) -> Result<Decision, Refusal> {
    if !domain.info.has_member(repo) {
        return Err(not_member(domain, repo));
    }
    if domain.is_unreadable_binding(repo) {
        return Err(damaged_binding(domain, repo));
    }
    let held = domain.bindings.get(repo);
    let known = held.map(Binding::by_contract).unwrap_or_default();
    let former = domain.former_imports.get(repo).into_iter().flatten().map(|import| (&import.contract, import));
    let former: BTreeMap<_, _> = former.collect();
    for import in &mut wanted.imports {
        let resolved = domain.resolve_import(import).resolved().cloned();
        let (held, former) = (known.get(&import.contract).copied(), former.get(&import.contract).copied());
        let is_back = |former: &&Import| former.version.has_same_versions(&import.version);
        let before = held.or(former);
        // A range that comes back adapts no code.
        import.adapted_version = adapted(domain, import, former.filter(is_back).or(before));
        let unchanged = before.is_some_and(|before| before.resolved_version == resolved);
        import.resolved_at =
            if unchanged { before.and_then(|before| before.resolved_at) } else { resolved.as_ref().map(|_| now) };
        import.resolved_version = resolved;
    }
    // Writing the binding again resolves a conflict about it.
    let settled = domain.conflicts.bindings.contains(repo).then(|| DomainChange::SettleBinding(repo.clone()));
    let written = (held != Some(&wanted)).then(|| DomainChange::Binding(repo.clone(), wanted));
    let changes: Vec<_> = written.into_iter().chain(settled).collect();
    let events = if changes.is_empty() { Vec::new() } else { vec![Event::Bound(repo.clone())] };
    Ok(Decision { changes, events })
}

/// Decides on everything that a repository's files declare for one domain. Files that did not change since the last
/// published commit have no effect, except that a rollback restores all contracts of the repository.
///
/// # Errors
/// Returns all refusals, in the order of the files.
pub fn candidate(
    domain: &DomainView,
    judged: Judged<'_>,
    direction: Direction,
    now: jiff::Timestamp,
    judge: &Judge<'_>,
) -> Result<Decision, Vec<Refusal>> {
    let mut refusals = Vec::new();
    let mut decision = Decision::default();
    let name = &domain.info.name;
    let is_restored = |contract| direction == Direction::Rollback && domain.owner(contract) == Some(judged.repo);
    let contracts = judged.candidate.contracts_in(name);
    for (_, declared) in contracts.filter(|(contract, declared)| declared.changed || is_restored(contract)) {
        match contract(domain, judged.repo, &declared.document, direction, judge) {
            Ok(part) => decision.add(part),
            Err(refusal) => refusals.push(refusal),
        }
    }
    // Imports are resolved against the contracts that this commit publishes.
    let after = overlay(domain, &decision.changes);
    if let Some(Declared { document, .. }) = judged.candidate.bindings.get(name).filter(|declared| declared.changed) {
        match binding(&after, judged.repo, document.clone(), now) {
            Ok(part) => decision.add(part),
            Err(refusal) => refusals.push(refusal),
        }
    }
    if judged.candidate.removed_bindings.contains(name) && domain.has_binding(judged.repo) {
        decision.changes.push(DomainChange::RemoveBinding(judged.repo.clone()));
        decision.events.push(Event::Unbound(judged.repo.clone()));
    }
    if refusals.is_empty() { Ok(decision) } else { Err(refusals) }
}

/// Returns the domain with the changes applied. Without changes, it is not copied.
pub fn overlay<'d>(domain: &'d DomainView, changes: &[DomainChange]) -> Cow<'d, DomainView> {
    if changes.is_empty() {
        return Cow::Borrowed(domain);
    }
    let mut after = domain.clone();
    for change in changes {
        match change.clone() {
            DomainChange::Domain(info) => after.info = info,
            DomainChange::Contract(contract) => after.replace(*contract),
            DomainChange::Version(contract) => {
                let key = (contract.name.clone(), contract.version.clone());
                after.versions.entry(key.0.clone()).or_default().insert(key.1.clone());
                after.published.insert(key, *contract);
            }
            DomainChange::Binding(repo, binding) => drop(after.bindings.insert(repo, binding)),
            DomainChange::RemoveBinding(repo) => drop(after.bindings.remove(&repo)),
            DomainChange::SettleBinding(repo) => {
                after.conflicts.bindings.remove(&repo);
            }
            DomainChange::Source(repo, source) => drop(after.sources.insert(repo, source)),
            DomainChange::RemoveSource(repo) => drop(after.sources.remove(&repo)),
            DomainChange::Approval(record) => {
                after.approvals.entry(record.contract.clone()).or_default().push(*record);
            }
            DomainChange::Transfers(record) => drop(after.transfers.insert(record.contract.clone(), record)),
        }
    }
    Cow::Owned(after)
}

/// Decides on offering a contract to another repository, or withdrawing the offer.
///
/// # Errors
/// Returns a [`Refusal`] if `acting` may not do so.
pub fn offer(
    domain: &DomainView,
    acting: &RepoName,
    held: &Contract,
    to: Option<&RepoName>,
) -> Result<Decision, Refusal> {
    may_change(domain, acting, &held.name)?;
    if domain.damage.iter().any(|damage| damage.subject == Subject::Transfers(held.name.clone())) {
        return Err(refuse(domain, &held.name, Reason::Damaged));
    }
    let record = domain.transfers.get(&held.name).cloned().unwrap_or_else(|| Transfers::of(held.name.clone()));
    if record.offered(acting) == to {
        return Ok(Decision::default());
    }
    let changes = vec![DomainChange::Transfers(record.offering(acting, to))];
    Ok(Decision { changes, events: Vec::new() })
}

/// Decides on approving one breaking change.
///
/// # Errors
/// Returns a [`Refusal`] if `acting` may not do so.
pub fn approve(domain: &DomainView, acting: &RepoName, approval: Approval) -> Result<Decision, Refusal> {
    may_change(domain, acting, &approval.contract)?;
    let mut known = domain.approvals.get(&approval.contract).into_iter().flatten();
    let is_known = known.any(|one| one.fingerprint == approval.fingerprint);
    let changes = if is_known { Vec::new() } else { vec![DomainChange::Approval(Box::new(approval))] };
    Ok(Decision { changes, events: Vec::new() })
}

/// Decides on retiring a contract. Its content is kept, and so is the reason if it was retired before.
///
/// # Errors
/// Returns a [`Refusal`] if `acting` may not do so.
pub fn retire(domain: &DomainView, acting: &RepoName, held: &Contract, reason: &str) -> Result<Decision, Refusal> {
    may_change(domain, acting, &held.name)?;
    let retired = held.retired.clone().or_else(|| Some(Retirement { reason: reason.to_owned() }));
    Ok(described(held, Contract { retired, ..held.clone() }))
}

/// Decides on yanking one version. Its content is kept, and so is the reason if it was yanked before.
///
/// # Errors
/// Returns a [`Refusal`] if `acting` may not do so, or if the version was never published.
pub fn yank(
    domain: &DomainView,
    acting: &RepoName,
    held: &Contract,
    version: &Version,
    reason: &str,
) -> Result<Decision, Refusal> {
    may_change(domain, acting, &held.name)?;
    if !domain.versions.get(&held.name).is_some_and(|versions| versions.contains(version)) {
        return Err(refuse(domain, &held.name, Reason::NotPublished { version: version.clone(), current: None }));
    }
    if held.yanked_reason(version).is_some() {
        return Ok(Decision::default());
    }
    let mut yanked = held.yanked.clone();
    yanked.push(Yanked { version: version.clone(), reason: reason.to_owned() });
    yanked.sort_by(|a, b| a.version.cmp(&b.version));
    Ok(described(held, Contract { yanked, ..held.clone() }))
}

fn described(held: &Contract, wanted: Contract) -> Decision {
    if *held == wanted {
        return Decision::default();
    }
    let event = Event::Described(held.name.clone(), held.version.clone(), FieldChange::between(held, &wanted));
    Decision { changes: vec![DomainChange::Contract(Box::new(wanted))], events: vec![event] }
}
