//! Commits that break rules are found in time, whatever their number.

use std::time::{Duration, Instant};

use git_blue::{
    model::{
        contract::Contract,
        name::ContractName,
        oid::Oid,
        set_aside::{Rule, RuleViolation, SetAside},
    },
    store::{Store as _, StoreRef, append_only, codec, layout},
    testing::{make, memory::MemoryStore},
};

fn record(number: u8) -> SetAside {
    let change = |at: usize| RuleViolation {
        path: format!("contracts/other{at}.json"),
        rule: Rule::ContractChanged,
        owners: vec!["owner".parse().unwrap()],
        contract: None,
        kept: None,
        refused: None,
    };
    SetAside {
        commit: Oid::from_bytes(&[number; 20]).unwrap(),
        author: "Ada <ada@example.org>".into(),
        committer: "Ada <ada@example.org>".into(),
        time: jiff::Timestamp::UNIX_EPOCH,
        changes: (0..200).map(change).collect(),
        settled: None,
    }
}

#[test]
fn many_breaches_are_compared_with_many_records_in_time() {
    let store = MemoryStore::new();
    let domain = StoreRef::Domain("s3".parse().unwrap());
    let names: Vec<ContractName> = (0..300).map(|at| format!("contract{at}").parse().unwrap()).collect();
    let contracts = |description: &str| -> Vec<_> {
        let of = |name: &ContractName| {
            let contract = Contract::new(name.clone(), "owner".parse().unwrap());
            let contract = Contract { description: description.into(), ..contract };
            make::put(layout::contract(name), codec::encode(&contract))
        };
        names.iter().map(of).collect()
    };
    let records = (0..200).map(record).map(|one| make::put(layout::set_aside(&one.id()), codec::encode(&one)));
    let _lease = store.lock(&domain).unwrap();
    let first = make::change("make", contracts("").into_iter().chain(records));
    let known = store.commit_change(&domain, None, &first).unwrap();
    let second = make::change("change\n\nBlue-Repo: other\n", contracts("changed"));
    let tip = store.commit_change(&domain, Some(known), &second).unwrap();
    let begun = Instant::now();
    let examined = append_only::examine(&store, &domain, &known, &tip).unwrap();
    assert_eq!(examined.records[0].changes.len(), names.len());
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}
