//! One contract of a large domain is found without reading what concerns the others.

use std::{fs, rc::Rc};

use git_blue::{
    model::name::{ContractName, DomainName},
    store::{
        Store, StoreRef,
        git::GitStore,
        overview::Overview,
        read::{ContractRole, OneContract},
    },
    testing::{
        faulty::{Fault, FaultyStore},
        make,
    },
};

use crate::world::{CONSUMER, World, name};

/// More than fit into a small folder.
const MANY: usize = 450;

/// Creates a realm of which one domain has this many contracts `x…` and as many importers of `c0`, none of which is a
/// member.
fn large(contracts: usize, importers: usize) -> World {
    let world = World::new();
    world.domain(0).unwrap();
    world.contract(0, 0).unwrap();
    world.bind(0, 0, ">=0.1.0").unwrap();
    let top = world.sandbox.path();
    let (store, clone) = (world.store(), top.join("large"));
    world.sandbox.git(&top, &["init", "-q", "--template=", "large"]);
    let git = |arguments: &[&str]| world.sandbox.git(&clone, arguments);
    git(&["fetch", "-q", store.to_str().unwrap(), "refs/blue/domains/d0"]);
    git(&["checkout", "-q", "FETCH_HEAD"]);
    let read = |path: &str| fs::read_to_string(clone.join(path)).unwrap();
    let document = read("contracts/c0.json");
    for at in 0..contracts {
        let document = document.replace("\"c0\"", &format!("\"x{at}\""));
        fs::write(clone.join(format!("contracts/x{at}.json")), &document).unwrap();
        fs::create_dir_all(clone.join(format!("versions/x{at}"))).unwrap();
        fs::write(clone.join(format!("versions/x{at}/0.1.0.json")), document).unwrap();
    }
    for at in 0..importers {
        let binding = read(&format!("bindings/{CONSUMER}.json"));
        fs::write(clone.join(format!("bindings/r{at}.json")), binding).unwrap();
    }
    git(&["add", "-A"]);
    git(&["commit", "-q", "-m", "Many contracts", "--allow-empty"]);
    git(&["push", "-q", store.to_str().unwrap(), "HEAD:refs/blue/domains/d0"]);
    world
}

fn open(world: &World) -> Rc<dyn Store> {
    Rc::new(GitStore::open(&world.store(), make::options()).unwrap())
}

/// Returns the view of a contract as text, and its roles.
fn read(store: &dyn Store, contract: &str) -> (String, Vec<ContractRole>) {
    let domain: DomainName = name("d0");
    let tip = store.tip(&StoreRef::Domain(domain.clone())).unwrap().unwrap();
    let contract: ContractName = name(contract);
    let one = OneContract::at(store, &domain, tip, &contract).unwrap();
    (format!("{:?}", one.view().unwrap()), one.roles().unwrap().known)
}

/// Returns the number of store accesses to read one contract.
fn accesses(world: &World, contract: &str) -> u32 {
    let counted = FaultyStore::new(open(world), Fault::Never);
    read(&counted, contract);
    counted.counter().get()
}

#[test]
fn an_indexed_contract_is_the_same() {
    let world = large(MANY, 3);
    let store = open(&world);
    let names: Vec<_> = (0..MANY).map(|at| format!("x{at}")).chain(["c0", "absent"].map(str::to_owned)).collect();
    let all = || names.iter().map(|name| read(&*store, name)).collect::<Vec<_>>();
    let before = all();
    assert_eq!(before[MANY].1.len(), 4, "the consumer, and three others");
    drop(Overview::open(&*store).unwrap());
    assert!(all() == before, "the index has all of them");
    world.edit(0, 0, "1.1.0").unwrap();
    let (after, stale) = (read(&*store, "c0"), read(&*store, "x7"));
    assert!(after != before[MANY] && stale.1 == before[7].1, "an index of another commit is not used");
    world.agree("indexing it");
    assert!(read(&*store, "c0") == after);
}

#[test]
fn damage_never_changes_a_contract() {
    let world = large(MANY, 0);
    let store = open(&world);
    drop(Overview::open(&*store).unwrap());
    let wanted = read(&*store, "x7");
    let whole = fs::read(world.parts()).unwrap();
    let (mut found, mut discarded) = (0, 0);
    for at in (0..whole.len()).step_by(503) {
        let (parts, snapshot) = (world.parts(), fs::read(world.kept()).unwrap());
        let mut damaged = whole.clone();
        damaged[at] ^= 0x01;
        fs::write(&parts, damaged).unwrap();
        assert!(read(&*store, "x7") == wanted, "byte {at} of {}", whole.len());
        found += 1;
        if !parts.exists() {
            discarded += 1;
            fs::write(world.kept(), snapshot).unwrap();
        }
        fs::write(&parts, &whole).unwrap();
    }
    assert!(found > 100 && discarded > 0, "{discarded} of {found}");
}

#[test]
fn a_contract_costs_the_same_in_a_large_domain() {
    let costs = [(MANY, 0), (0, MANY), (MANY, MANY)].map(|(contracts, importers)| {
        let world = large(contracts, importers);
        drop(Overview::open(&*open(&world)).unwrap());
        accesses(&world, "c0")
    });
    let small = large(0, 0);
    drop(Overview::open(&*open(&small)).unwrap());
    let floor = accesses(&small, "c0");
    assert!(costs.iter().all(|cost| *cost <= floor + 2), "{costs:?}, and {floor} in a small one");
}
