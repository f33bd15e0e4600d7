//! The rule catalogue: every rule has an example, and is listed in `docs/rules.md`.

use git_blue::model::{
    compatibility::{RULES, SchemaVerdict, VersionBump},
    contract::BrokenDirection,
};
use serde_json::Value;

use crate::world::compare;

#[test]
fn every_example_triggers_its_rule() {
    let mut wrong = Vec::new();
    for rule in RULES {
        let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let found = compare(&parse(rule.old), &parse(rule.new));
        let readings = if rule.direction == BrokenDirection::Forwards { &found.forwards } else { &found.backwards };
        // Differences that only a strict reader sees are marked.
        match &readings.strict {
            SchemaVerdict::Incompatible { difference } if difference.rule == rule.id => {}
            other => wrong.push(format!("{}: {other:?}", rule.id)),
        }
        let is_lenient = readings.lenient.is_incompatible();
        if is_lenient && found.bump != VersionBump::Major {
            wrong.push(format!("{}: {:?}", rule.id, found.bump));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn ids_are_unique() {
    let mut ids: Vec<_> = RULES.iter().map(|rule| rule.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), RULES.len());
}
