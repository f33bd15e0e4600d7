//! The catalogue: every rule has an example that triggers it, and is listed in `docs/rules.md`.

use git_blue::model::compatibility::{Bump, Direction, RULES, Verdict};
use serde_json::Value;

use crate::world::compare;

#[test]
fn every_example_shows_its_rule() {
    let mut wrong = Vec::new();
    for rule in RULES {
        let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let found = compare(&parse(rule.old), &parse(rule.new));
        let readings = if rule.direction == Direction::Forwards { &found.forwards } else { &found.backwards };
        // A rule that only the strict reading triggers is listed as such.
        match &readings.strict {
            Verdict::Incompatible(difference) if difference.rule == rule.id => {}
            other => wrong.push(format!("{}: {other:?}", rule.id)),
        }
        let is_lenient = readings.lenient.is_incompatible();
        if is_lenient && found.bump != Bump::Major {
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
