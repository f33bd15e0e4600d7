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
            Contract { version, value: serde_json::Value::from(value).into(), description, retired, yanked, ..contract }
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
    Contract { version: version.parse().unwrap(), value: serde_json::Value::from(value).into(), ..contract }.sealed()
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
