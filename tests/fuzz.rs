//! Fuzzes the parsers of bytes that others wrote or typed for a moment each: with arbitrary bytes, and with documents
//! that are almost valid. Every run uses the same numbers; `fuzz/README.md` says how to run longer.

use git_blue::testing::fuzz::{TARGETS, Target};
use proptest::{
    prelude::*,
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};

/// A change to a document: the position, as a fraction of its length, and the change.
#[derive(Debug, Clone)]
enum Damage {
    Put(f64, u8),
    Insert(f64, Vec<u8>),
    Remove(f64, usize),
    Repeat(f64, usize),
}

/// Bytes that have a meaning for one of the parsers.
const TELLING: &[u8] = b"{}[]:,\"'\\/-.0123456789eE+_~&*!|>#%@`\n\r\t \0\x7f\xc3\xa9\xe2\x80\xae\xff=<^abx";

fn damage() -> impl Strategy<Value = Damage> {
    let at = 0.0..1.0f64;
    let byte = prop_oneof![3 => proptest::sample::select(TELLING), 1 => any::<u8>()];
    prop_oneof![
        (at.clone(), byte.clone()).prop_map(|(at, byte)| Damage::Put(at, byte)),
        (at.clone(), proptest::collection::vec(byte, 1..6)).prop_map(|(at, bytes)| Damage::Insert(at, bytes)),
        (at.clone(), 1..8usize).prop_map(|(at, length)| Damage::Remove(at, length)),
        (at, 1..30usize).prop_map(|(at, length)| Damage::Repeat(at, length)),
    ]
}

fn apply(bytes: &mut Vec<u8>, damage: &Damage) {
    let length = bytes.len();
    let place = |at: f64| ((length as f64 * at) as usize).min(length);
    match damage {
        Damage::Put(at, byte) => {
            if let Some(old) = bytes.get_mut(place(*at)) {
                *old = *byte;
            }
        }
        Damage::Insert(at, new) => drop(bytes.splice(place(*at)..place(*at), new.iter().copied())),
        Damage::Remove(at, length) => drop(bytes.drain(place(*at)..(place(*at) + length).min(bytes.len()))),
        Damage::Repeat(at, length) => {
            let part = bytes[place(*at)..(place(*at) + length).min(bytes.len())].to_vec();
            bytes.splice(place(*at)..place(*at), part);
        }
    }
}

fn input(target: &Target) -> impl Strategy<Value = Vec<u8>> + use<> {
    let seeds = proptest::sample::select(target.seeds);
    let damaged = (seeds, proptest::collection::vec(damage(), 0..6)).prop_map(|(seed, damages)| {
        let mut bytes = seed.as_bytes().to_vec();
        damages.iter().for_each(|damage| apply(&mut bytes, damage));
        bytes
    });
    let telling = proptest::collection::vec(proptest::sample::select(TELLING), 0..40);
    prop_oneof![6 => damaged, 2 => telling, 1 => proptest::collection::vec(any::<u8>(), 0..200)]
}

fn walk(name: &str) {
    let target = TARGETS.iter().find(|target| target.name == name).unwrap();
    let config = Config { cases: 2_000, failure_persistence: None, ..Config::default() };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let outcome = runner.run(&input(target), |bytes| {
        let _ = (target.run)(&bytes);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
}

macro_rules! walked {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            walk(stringify!($name));
        })*
        const WALKED: &[&str] = &[$(stringify!($name)),*];
    };
}

walked! {
    json_contract json_binding json_domain json_realm json_repo json_source json_told json_session
    yaml_contract yaml_binding yaml_config yaml_value
    name contract_ref version range rfc_name session_id session_mark oid inbox file_name url commit_message journal mcp_line
}

#[test]
fn every_target_is_walked_and_has_a_file_for_cargo_fuzz() {
    let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
    assert_eq!(names, WALKED);
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/fuzz_targets");
    let entries = std::path::Path::new(folder).read_dir().unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    files.sort();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(files, sorted);
    let manifest = include_str!("../fuzz/Cargo.toml");
    for name in names {
        assert!(manifest.contains(&format!("name = \"{name}\"\n")), "fuzz/Cargo.toml lacks {name}");
    }
}

#[test]
fn every_seed_is_accepted() {
    for target in TARGETS {
        for seed in target.seeds {
            assert!((target.run)(seed.as_bytes()), "{}: {seed}", target.name);
        }
    }
}
