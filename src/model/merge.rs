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
/// took it over, together with the former owner's version if that is higher. The losing document is returned only if another repository claims the contract; a version that its
/// owner published is among the published ones anyway.
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
mod tests {
    use super::*;
    use crate::model::{
        binding::{Import, Role, UsedIn},
        contract::{Deprecated, Retirement},
        transfer::Transfer,
    };
    use proptest::prelude::*;

    fn a_contract() -> impl Strategy<Value = Contract> {
        let versions = prop::sample::select(vec!["1.0.0", "1.1.0", "2.0.0"]);
        let owners = prop::sample::select(vec!["fungal", "access"]);
        let yanked = prop::collection::vec(prop::sample::select(vec!["0.1.0", "0.2.0"]), 0..2);
        (versions, owners, 0i64..3, "[ab]?", prop::option::of("[xy]"), yanked).prop_map(
            |(version, owner, value, description, retired, yanked)| {
                let contract = Contract::new("paths".parse().unwrap(), owner.parse().unwrap());
                let mut yanked: Vec<_> = yanked
                    .iter()
                    .map(|version| Yanked { version: version.parse().unwrap(), reason: "bad".into() })
                    .collect();
                yanked.sort_by(|a, b| a.version.cmp(&b.version));
                yanked.dedup();
                let retired = retired.map(|reason| Retirement { reason });
                let version = version.parse().unwrap();
                Contract {
                    version,
                    value: serde_json::Value::from(value).into(),
                    description,
                    retired,
                    yanked,
                    ..contract
                }
                .sealed()
            },
        )
    }

    fn a_binding() -> impl Strategy<Value = Binding> {
        let import = (prop::sample::select(vec![">=1.0.0", "<2.0.0"]), prop::option::of(1u8..3));
        prop::collection::vec(import, 0..2).prop_map(|imports| {
            let import = |(at, (range, adapted)): (usize, &(&str, Option<u8>))| {
                let adapted_version = adapted.map(|major| format!("{major}.0.0").parse().unwrap());
                let (name, range) = (format!("c{at}").parse().unwrap(), range.parse().unwrap());
                Import { adapted_version, ..Import::new(name, range, UsedIn::default()) }
            };
            Binding { role: Role::Consumer, exports: vec![], imports: imports.iter().enumerate().map(import).collect() }
        })
    }

    fn a_domain() -> impl Strategy<Value = Domain> {
        (prop::collection::btree_set("[abc]", 0..3), "[xy]?").prop_map(|(members, description)| Domain {
            name: "s3".parse().unwrap(),
            description,
            members: members.iter().map(|name| name.parse().unwrap()).collect(),
            removed: false,
        })
    }

    fn a_repo() -> impl Strategy<Value = Repo> {
        (prop::option::of("[xy]"), prop::collection::btree_set(0u8..3, 0..3)).prop_map(|(url, roots)| Repo {
            name: "fungal".parse().unwrap(),
            url,
            roots: roots.iter().map(|byte| crate::model::oid::Oid::from_bytes(&[*byte; 20]).unwrap()).collect(),
        })
    }

    /// A record of transfers that one side changed and one in which it renamed a repository, with that rename.
    fn a_record() -> impl Strategy<Value = (Transfers, BTreeMap<RepoName, RepoName>)> {
        let name = |text: &str| -> RepoName { text.parse().unwrap() };
        let renames = prop::option::of(("[abc]", "[abx]"));
        (prop::collection::vec(("[abc]", "[abc]"), 0..3), renames).prop_map(move |(steps, renames)| {
            let steps = steps.iter().map(|(from, to)| Transfer { from: name(from), to: name(to) });
            let record = Transfers { contract: "paths".parse().unwrap(), transfers: steps.collect() };
            let renames = renames.iter().map(|(from, to)| (name(from), name(to))).collect();
            (record.named(&renames), renames)
        })
    }

    fn a_newer() -> impl Strategy<Value = Newer> {
        prop::sample::select(vec![Newer::Ours, Newer::Theirs, Newer::Unknown])
    }

    /// Returns the value from the point of view of the other side.
    fn swapped(newer: Newer) -> Newer {
        match newer {
            Newer::Ours => Newer::Theirs,
            Newer::Theirs => Newer::Ours,
            Newer::Unknown => Newer::Unknown,
        }
    }

    proptest! {
        #[test]
        fn merging_contracts_is_symmetric(
            base in prop::option::of(a_contract()), ours in a_contract(), theirs in a_contract(), newer in a_newer()
        ) {
            prop_assert_eq!(
                contract(base.as_ref(), &ours, &theirs, newer),
                contract(base.as_ref(), &theirs, &ours, swapped(newer))
            );
            prop_assert_eq!(
                rivals(base.as_ref(), &ours, &theirs, newer),
                rivals(base.as_ref(), &theirs, &ours, swapped(newer))
            );
            let current = base.as_ref();
            prop_assert_eq!(
                version(current, &ours, &theirs, newer),
                version(current, &theirs, &ours, swapped(newer))
            );
        }

        #[test]
        fn merging_other_documents_is_symmetric(
            b in prop::option::of(a_domain()), d in a_domain(), e in a_domain(), r in a_repo(), s in a_repo(),
            x in a_binding(), y in a_binding(), z in prop::option::of(a_binding()), newer in a_newer()
        ) {
            prop_assert_eq!(domain(b.as_ref(), &d, &e), domain(b.as_ref(), &e, &d));
            prop_assert_eq!(repo(&r, &s), repo(&s, &r));
            prop_assert_eq!(binding(z.as_ref(), &x, &y, newer), binding(z.as_ref(), &y, &x, swapped(newer)));
        }

        #[test]
        fn merging_equal_documents_changes_nothing(
            base in prop::option::of(a_contract()), one in a_contract(), d in a_domain(), r in a_repo(),
            x in a_binding(), newer in a_newer()
        ) {
            let kept = Contract { retired: one.retired.clone(), ..one.clone() };
            let base = base.map(|base| Contract { retired: one.retired.clone(), ..base });
            prop_assert_eq!(contract(base.as_ref(), &one, &one, newer), Merged { winner: kept, lost: None });
            prop_assert_eq!(version(base.as_ref(), &one, &one, newer), Merged { winner: one.clone(), lost: None });
            prop_assert_eq!(domain(Some(&d), &d, &d), d);
            prop_assert_eq!(repo(&r, &r), Merged { winner: r.clone(), lost: None });
            prop_assert_eq!(binding(None, &x, &x, newer), Merged { winner: x.clone(), lost: None });
        }

        #[test]
        fn merging_transfers_is_symmetric(
            base in prop::option::of(a_record()), (ours, a) in a_record(), (theirs, b) in a_record()
        ) {
            let base = base.as_ref().map(|(base, _)| base);
            prop_assert_eq!(transfers(base, [&ours, &theirs], [&a, &b]), transfers(base, [&theirs, &ours], [&b, &a]));
        }

        /// If the history does not decide, the order in which three machines merge does not matter.
        #[test]
        fn merging_three_documents_is_associative(
            a in a_contract(), b in a_contract(), c in a_contract(), d in a_domain(), e in a_domain(), f in a_domain()
        ) {
            let of = |a: &Contract, b: &Contract| version(None, a, b, Newer::Unknown).winner;
            prop_assert_eq!(of(&of(&a, &b), &c), of(&a, &of(&b, &c)));
            let of = |a: &Contract, b: &Contract| rivals(None, a, b, Newer::Unknown).winner;
            prop_assert_eq!(of(&of(&a, &b), &c), of(&a, &of(&b, &c)));
            let members = |a: &Domain, b: &Domain| domain(None, a, b);
            prop_assert_eq!(members(&members(&d, &e), &f).members, members(&d, &members(&e, &f)).members);
        }

        /// All published content is in the winner or in the losing document that is recorded.
        #[test]
        fn no_content_disappears(
            current in prop::option::of(a_contract()), ours in a_contract(), theirs in a_contract(), newer in a_newer()
        ) {
            let Merged { winner, lost } = version(current.as_ref(), &ours, &theirs, newer);
            for one in [&ours, &theirs] {
                let is_kept = |held: &Contract| held.has_same_content(one);
                prop_assert!(is_kept(&winner) || lost.as_ref().is_some_and(is_kept));
            }
        }

        #[test]
        fn domain_members_merge_from_both_sides(base in a_domain(), ours in a_domain(), theirs in a_domain()) {
            let merged = domain(Some(&base), &ours, &theirs);
            for member in ours.members.iter().chain(&theirs.members).chain(&base.members) {
                let (o, t, b) = (ours.has_member(member), theirs.has_member(member), base.has_member(member));
                prop_assert_eq!(merged.has_member(member), if b { o && t } else { o || t });
            }
        }
    }

    fn at(version: &str, value: i64) -> Contract {
        let contract = Contract::new("paths".parse().unwrap(), "fungal".parse().unwrap());
        Contract { version: version.parse().unwrap(), value: serde_json::Value::from(value).into(), ..contract }
            .sealed()
    }

    #[test]
    fn the_later_commit_wins_over_the_higher_version() {
        let (rolled_back, higher) = (at("1.0.0", 1), at("1.1.0", 2));
        assert_eq!(contract(None, &rolled_back, &higher, Newer::Ours).winner.version, rolled_back.version);
        assert_eq!(contract(None, &rolled_back, &higher, Newer::Unknown).winner.version, higher.version);
    }

    #[test]
    fn repository_that_took_a_contract_over_keeps_it() {
        let by_access = |contract: Contract| Contract { owner: "access".parse().unwrap(), ..contract };
        let (base, taken) = (at("1.0.0", 1), by_access(at("1.1.0", 2)));
        let newer = taken_over([false, true]);
        assert_eq!(newer, Newer::Ours);
        assert_eq!(contract(Some(&base), &taken, &base, newer), Merged { winner: taken.clone(), lost: None });
        // It also gets what the former owner published meanwhile.
        let next = at("1.2.0", 3);
        let merged = contract(Some(&base), &taken, &next, newer);
        assert_eq!(merged, Merged { winner: by_access(next), lost: None });
        let changed = at("1.0.0", 4);
        let merged = contract(Some(&base), &by_access(base.clone()), &changed, newer);
        assert_eq!(merged, Merged { winner: by_access(changed), lost: None });
        // A conflict is recorded if two repositories claim the same contract.
        let claimed = Contract { owner: "access".parse().unwrap(), ..at("1.0.0", 1) };
        assert!(contract(None, &claimed, &at("1.0.0", 1), Newer::Unknown).lost.is_some());
    }

    #[test]
    fn rename_decides_nothing_about_an_offer() {
        let [a, b, c, d]: [RepoName; 4] = ["a", "b", "c", "d"].map(|name| name.parse().unwrap());
        let of = |to| Transfers::of("paths".parse().unwrap()).offering(&a, to);
        let (base, none) = (of(Some(&b)), BTreeMap::new());
        let renamed = BTreeMap::from([(b.clone(), d.clone())]);
        for elsewhere in [of(Some(&c)), of(None)] {
            let sides = [&base.named(&renamed), &elsewhere];
            assert_eq!(transfers(Some(&base), sides, [&renamed, &none]), elsewhere);
        }
        let accepted = base.clone().offering(&b, Some(&c));
        let merged = transfers(Some(&base), [&accepted, &base.named(&renamed)], [&none, &renamed]);
        assert_eq!(merged, of(Some(&d)).offering(&d, Some(&c)));
    }

    #[test]
    fn a_mark_of_either_side_is_kept_unless_a_side_that_knew_it_removed_it() {
        let retired = Contract { retired: Some(Retirement { reason: "old".into() }), ..at("1.0.0", 1) };
        let next = at("1.1.0", 2);
        let unknowing = contract(Some(&at("1.0.0", 1)), &retired, &next, Newer::Unknown).winner;
        assert_eq!((unknowing.version.to_string(), unknowing.retired.is_some()), ("1.1.0".into(), true));
        let described = Contract { description: "words".into(), ..retired.clone() };
        assert_eq!(contract(Some(&retired), &described, &next, Newer::Unknown).winner.retired, None);
    }

    #[test]
    fn marks_of_a_rival_that_lost_are_ignored() {
        let (lost, winner) = (at("1.0.0", 1), Contract { owner: "access".parse().unwrap(), ..at("2.0.0", 2) });
        let yanked = vec![Yanked { version: lost.version.clone(), reason: "bad".into() }];
        let marked = Contract { retired: Some(Retirement { reason: "old".into() }), yanked, ..lost.clone() };
        let merged = rivals(Some(&lost), &marked, &winner, Newer::Theirs);
        assert_eq!(merged, Merged { winner: winner.clone(), lost: None });
        // A version that the winner's side did not know is a conflict.
        let next = at("3.0.0", 3);
        let merged = rivals(Some(&lost), &next, &winner, Newer::Theirs);
        assert_eq!(merged, Merged { winner, lost: Some(next) });
    }

    /// A machine may have rolled a version back that the other one published with different content.
    #[test]
    fn content_of_the_current_version_wins() {
        for (ours, theirs) in (0..4).map(|value| (at("2.0.0", value), at("2.0.0", value + 1))) {
            for (current, lost) in [(&ours, &theirs), (&theirs, &ours)] {
                let merged = version(Some(current), &ours, &theirs, Newer::Unknown);
                assert_eq!(merged, Merged { winner: current.clone(), lost: Some(lost.clone()) });
            }
        }
    }

    #[test]
    fn texts_changed_on_different_sides_are_both_kept() {
        let base = at("1.0.0", 1);
        let ours = Contract { description: "words".into(), ..base.clone() };
        let theirs = Contract { supported: vec![">=0.1.0".parse().unwrap()], ..base.clone() };
        let merged = contract(Some(&base), &ours, &theirs, Newer::Unknown).winner;
        assert_eq!((merged.description.as_str(), merged.supported.len()), ("words", 1));
    }

    #[test]
    fn deprecation_is_kept_if_the_other_side_published_a_version() {
        let base = at("1.0.0", 1);
        let deprecated = Contract {
            deprecated: Some(Deprecated { since: base.version.clone(), sunset: None, replaced_by: None }),
            ..base.clone()
        };
        for newer in [Newer::Ours, Newer::Theirs, Newer::Unknown] {
            let merged = contract(Some(&base), &deprecated, &at("1.1.0", 2), newer).winner;
            assert!(merged.deprecated.is_some(), "{newer:?}");
            let withdrawn = contract(
                Some(&deprecated),
                &base,
                &Contract { deprecated: deprecated.deprecated.clone(), ..at("1.1.0", 2) },
                newer,
            )
            .winner;
            assert!(withdrawn.deprecated.is_none(), "{newer:?}");
        }
    }

    #[test]
    fn accepted_content_is_kept_if_the_other_side_yanked_the_version() {
        let base = at("1.0.0", 1);
        let yanked = vec![Yanked { version: base.version.clone(), reason: "bad".into() }];
        let yanked = Contract { yanked, ..base.clone() };
        for value in 2..9 {
            let accepted = at("1.0.0", value);
            let merged = contract(Some(&base), &yanked, &accepted, Newer::Unknown).winner;
            assert_eq!((&merged.value, merged.yanked.len()), (&accepted.value, 1));
        }
    }

    #[test]
    fn concurrently_published_commits_are_recorded() {
        let commit = |byte| crate::model::oid::Oid::from_bytes(&[byte; 20]).unwrap();
        let source = |byte| Source::of(commit(byte));
        let (base, ours, theirs) = (source(0), source(1), source(2));
        let of_both = |base| super::source(base, &ours, &theirs, Newer::Unknown);
        let concurrent = [commit(1), commit(2)].into();
        assert_eq!(of_both(Some(&base)), Source { commit: base.commit, concurrent });
        assert_eq!(of_both(None).commit, None);
        assert_eq!(super::source(Some(&base), &ours, &theirs, Newer::Theirs), theirs);
        let of_three = super::source(Some(&base), &of_both(Some(&base)), &source(3), Newer::Unknown);
        assert_eq!(of_three.latest(), [commit(1), commit(2), commit(3)].into());
    }
}
