//! Merges concurrent changes of two machines. The result is the same on every machine, whichever side is the local
//! one.
//!
//! One side wins: the one with the later source commit, if the realm's history shows which that is; otherwise the one
//! with the higher version; otherwise the one with the smaller hash. Schemas are never merged. The losing document is
//! returned so that it can be recorded, unless it is stored elsewhere.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

use serde::Serialize;

use super::{
    binding::Binding,
    contract::{Contract, Yanked},
    domain::{Domain, Source},
    hash,
    name::RepoName,
    oid::Oid,
    realm::Repo,
    session::Session,
    text::{as_text, hex_id},
    transfer::Transfers,
};

hex_id!(
    /// Identifies a losing document by a hash of its content.
    ConflictId,
    "",
    12..=12,
    "the id of a conflict: expected 12 lower-case hex digits"
);

impl ConflictId {
    /// Returns the id of a document.
    pub fn of<T: Serialize>(document: &T) -> Self {
        Self(hash::short_id(&[&hash::canonical(document)]).into())
    }

    /// Returns the id of a commit that broke a rule.
    pub fn of_commit(commit: &Oid) -> Self {
        Self(commit.to_string()[..12].into())
    }
}

as_text!(ConflictId);

/// The side that published the later commit of a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Newer {
    /// The local side.
    Ours,
    /// The other side.
    Theirs,
    /// Unknown, because the realm's history does not show it.
    Unknown,
}

impl Newer {
    /// Returns the order of our side relative to theirs. The greater side wins.
    fn order(self) -> Ordering {
        match self {
            Self::Ours => Ordering::Greater,
            Self::Theirs => Ordering::Less,
            Self::Unknown => Ordering::Equal,
        }
    }
}

/// The result of a merge of two documents.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged<T> {
    /// The document that both sides have after the merge.
    pub winner: T,
    /// The losing document, unless it is stored elsewhere.
    pub lost: Option<T>,
}

/// Orders two documents by their hashes. The smaller hash ranks higher.
fn by_hash<T: Serialize>(ours: &T, theirs: &T) -> Ordering {
    hash::canonical(theirs).cmp(&hash::canonical(ours))
}

fn pick<T: Clone>(order: Ordering, ours: &T, theirs: &T) -> (T, T) {
    if order == Ordering::Less { (theirs.clone(), ours.clone()) } else { (ours.clone(), theirs.clone()) }
}

/// Merges a field: if only one side changed it, that side wins, otherwise the winner of the document does.
fn field<T: Clone + PartialEq>(base: Option<&T>, ours: &T, theirs: &T, winner: &T) -> T {
    match base {
        Some(base) if base == ours => theirs.clone(),
        Some(base) if base == theirs => ours.clone(),
        _ => winner.clone(),
    }
}

fn rank(ours: &Contract, theirs: &Contract, newer: Newer) -> Ordering {
    let newer = newer.order();
    let content = || theirs.computed_content_hash().cmp(&ours.computed_content_hash());
    newer.then_with(|| ours.version.cmp(&theirs.version)).then_with(content).then_with(|| by_hash(ours, theirs))
}

/// Returns which side took a contract over from its former owner, from whether that one is the owner on our side and on
/// theirs. This is the only way to order documents of different owners, since their commits are in different repositories.
pub fn taken_over(is_former: [bool; 2]) -> Newer {
    match is_former {
        [true, false] => Newer::Theirs,
        [false, true] => Newer::Ours,
        _ => Newer::Unknown,
    }
}

/// Merges the current documents of a contract. `newer` compares the source commits of its owner, or is the side that
/// took it over, together with the former owner's version if that is higher. The losing document is returned only if
/// another repository claims the contract; a version that its owner published is among the published ones anyway.
pub fn contract(base: Option<&Contract>, ours: &Contract, theirs: &Contract, newer: Newer) -> Merged<Contract> {
    let order = changed_in_place(base, ours, theirs).unwrap_or_else(|| rank(ours, theirs, newer));
    let (mut winner, lost) = pick(order, ours, theirs);
    if ours.owner != theirs.owner {
        let (taken, former) = match newer {
            Newer::Ours => (ours, theirs),
            Newer::Theirs => (theirs, ours),
            Newer::Unknown => return Merged { winner, lost: Some(lost.as_published()) },
        };
        // What the former owner published meanwhile may be in use, so it belongs to the new owner.
        if former.version > taken.version {
            winner = former.clone();
        }
        winner.owner = taken.owner.clone();
    }
    macro_rules! each {
        ($base:expr, $($name:ident),+) => {
            $(winner.$name = field($base.map(|base| &base.$name), &ours.$name, &theirs.$name, &winner.$name);)+
        };
    }
    // What the owner says about the contract on one side, such as that it is deprecated, holds for a version that the
    // other side published meanwhile.
    each!(base, description, supported, deprecated);
    if ours.version == theirs.version && ours.has_same_content(theirs) {
        each!(base.filter(|base| base.version == ours.version), validation, evolution);
    }
    // Marks that the owner set on either side are kept: a contract retired on one machine must not be served again
    // because another machine did not know. Only a side that knew about the mark can remove it.
    winner.retired = match base.map(|base| &base.retired) {
        Some(Some(_)) if ours.retired.is_none() || theirs.retired.is_none() => None,
        _ => [&ours.retired, &theirs.retired].into_iter().flatten().min_by_key(|one| &one.reason).cloned(),
    };
    winner.yanked = yanked(ours, theirs);
    Merged { winner, lost: None }
}

/// Merges the current documents of a contract that two repositories claim, without a transfer that leads from the older
/// one to the newer one. What the loser says about its contract, such as that it is retired, does not concern the
/// winner's. The losing document is returned, also if only the owners differ, unless it has the content of the `base`,
/// which lost before.
pub fn rivals(base: Option<&Contract>, ours: &Contract, theirs: &Contract, newer: Newer) -> Merged<Contract> {
    let (winner, lost) = pick(rank(ours, theirs, newer), ours, theirs);
    let is_lost = |base: &Contract| (&base.owner, &base.version) == (&lost.owner, &lost.version);
    let lost_before = base.is_some_and(|base| is_lost(base) && base.has_same_content(&lost));
    Merged { winner, lost: (!lost_before).then(|| lost.as_published()) }
}

/// Returns `ours` with the changes that `theirs` made, compared with `base`, to the description and the marks. The
/// versions and the content of `theirs` and `base` are ignored.
pub fn marks(base: &Contract, ours: &Contract, theirs: &Contract) -> Contract {
    let with_marks = |of: &Contract| Contract {
        description: of.description.clone(),
        supported: of.supported.clone(),
        validation: of.validation.clone(),
        deprecated: of.deprecated.clone(),
        retired: of.retired.clone(),
        yanked: of.yanked.clone(),
        ..ours.clone()
    };
    contract(Some(&with_marks(base)), ours, &with_marks(theirs), Newer::Unknown).winner
}

/// Returns the order of two documents of one version if only one side changed its content, as by accepting a change
/// that was set aside.
fn changed_in_place(base: Option<&Contract>, ours: &Contract, theirs: &Contract) -> Option<Ordering> {
    let base = base.filter(|base| base.version == ours.version && base.version == theirs.version)?;
    let [base, ours, theirs] = [base, ours, theirs].map(Contract::computed_content_hash);
    match (base == ours, base == theirs) {
        (true, false) => Some(Ordering::Less),
        (false, true) => Some(Ordering::Greater),
        _ => None,
    }
}

fn yanked(ours: &Contract, theirs: &Contract) -> Vec<Yanked> {
    let mut all: Vec<_> = ours.yanked.iter().chain(&theirs.yanked).cloned().collect();
    all.sort_by(|a, b| (&a.version, &a.reason).cmp(&(&b.version, &b.reason)));
    all.dedup_by(|later, first| later.version == first.version);
    all
}

/// Merges two documents that were published under one version. If their content differs, one loses, and someone has to
/// resolve the conflict. If the version is the current one after the merge, its content is that of `current`, the merged
/// current document.
pub fn version(current: Option<&Contract>, ours: &Contract, theirs: &Contract, newer: Newer) -> Merged<Contract> {
    let is_current =
        |one: &Contract| current.is_some_and(|current| current.version == one.version && current.has_same_content(one));
    let order = is_current(ours).cmp(&is_current(theirs)).then_with(|| rank(ours, theirs, newer));
    let (winner, lost) = pick(order, ours, theirs);
    Merged { winner, lost: (!ours.has_same_content(theirs)).then_some(lost) }
}

/// Merges two bindings of one repository. If they differ only in what the realm records about imports, nothing is lost.
pub fn binding(base: Option<&Binding>, ours: &Binding, theirs: &Binding, newer: Newer) -> Merged<Binding> {
    let (mut winner, lost) = pick(newer.order().then_with(|| by_hash(ours, theirs)), ours, theirs);
    let is_conflict = newer == Newer::Unknown && ours.as_written() != theirs.as_written();
    let base = base.map(Binding::by_contract).unwrap_or_default();
    let [of_ours, of_theirs] = [ours, theirs].map(Binding::by_contract);
    for import in &mut winner.imports {
        let name = &import.contract;
        let (Some(ours), Some(theirs)) = (of_ours.get(name), of_theirs.get(name)) else { continue };
        // Editing the range sets the adapted version.
        if ours.version == theirs.version {
            let [ours, theirs] = [ours, theirs].map(|import| &import.adapted_version);
            let later = ours.max(theirs);
            let base = base.get(name).map(|import| &import.adapted_version);
            import.adapted_version = field(base, ours, theirs, later);
        }
    }
    Merged { winner, lost: is_conflict.then_some(lost) }
}

/// Merges what a repository published last. If the order of the two is unknown, they were published concurrently.
pub fn source(base: Option<&Source>, ours: &Source, theirs: &Source, newer: Newer) -> Source {
    match newer {
        _ if ours == theirs => ours.clone(),
        Newer::Ours => ours.clone(),
        Newer::Theirs => theirs.clone(),
        Newer::Unknown => {
            let concurrent = ours.latest().union(&theirs.latest()).copied().collect();
            Source { commit: base.and_then(|base| base.commit), concurrent }
        }
    }
}

/// Merges the descriptions and members of a domain. Members that either side added are kept, and members that either
/// side removed are removed.
pub fn domain(base: Option<&Domain>, ours: &Domain, theirs: &Domain) -> Domain {
    let (winner, _) = pick(by_hash(ours, theirs), ours, theirs);
    let stays = |member: &RepoName| {
        let everywhere = ours.has_member(member) && theirs.has_member(member);
        everywhere || !base.is_some_and(|base| base.has_member(member))
    };
    Domain {
        description: field(
            base.map(|base| &base.description),
            &ours.description,
            &theirs.description,
            &winner.description,
        ),
        members: ours.members.union(&theirs.members).filter(|member| stays(member)).cloned().collect(),
        removed: field(base.map(|base| &base.removed), &ours.removed, &theirs.removed, &winner.removed),
        name: winner.name,
    }
}

/// Merges the transfers of a contract. `renames` are those of each side. A side that only renamed repositories decided
/// nothing about the contract, so the record of the other side wins, with the new names; otherwise the longer record does.
pub fn transfers(
    base: Option<&Transfers>,
    [ours, theirs]: [&Transfers; 2],
    renames: [&BTreeMap<RepoName, RepoName>; 2],
) -> Transfers {
    let is_only_renamed = |side: &Transfers, renames| base.is_some_and(|base| base.named(renames) == *side);
    let [our_change, their_change] = [!is_only_renamed(ours, renames[0]), !is_only_renamed(theirs, renames[1])];
    let (ours, theirs) = (ours.named(renames[1]), theirs.named(renames[0]));
    let order = our_change.cmp(&their_change).then_with(|| ours.transfers.len().cmp(&theirs.transfers.len()));
    pick(order.then_with(|| by_hash(&ours, &theirs)), &ours, &theirs).0
}

/// Merges two entries with the same name. If they are different repositories, one loses.
pub fn repo(ours: &Repo, theirs: &Repo) -> Merged<Repo> {
    let (winner, lost) = pick(by_hash(ours, theirs), ours, theirs);
    let says_nothing = |repo: &Repo| repo.url.is_none() && repo.roots.is_empty();
    if !ours.is_same_repository(theirs) && !says_nothing(ours) && !says_nothing(theirs) {
        return Merged { winner, lost: Some(lost) };
    }
    let roots: BTreeSet<_> = ours.roots.iter().chain(&theirs.roots).copied().collect();
    let url = [&ours.url, &theirs.url].into_iter().flatten().min().cloned();
    Merged { winner: Repo { url, roots: roots.into_iter().collect(), ..winner }, lost: None }
}

/// Merges two states of one session. The later one wins.
pub fn session(ours: &Session, theirs: &Session) -> Session {
    let ended = |session: &Session| session.ended.is_some();
    let order = ended(ours).cmp(&ended(theirs)).then_with(|| ours.last_activity.cmp(&theirs.last_activity));
    pick(order.then_with(|| by_hash(ours, theirs)), ours, theirs).0
}

#[cfg(test)]
mod tests;
