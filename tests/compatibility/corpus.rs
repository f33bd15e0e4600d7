//! Pairs from other sources, in the folder that `GIT_BLUE_CORPUS` names.
//!
//! A line of a `.jsonl` file is `{"src", "old", "new", "label", "values"}`, with `.` in the label where the answer is
//! not known. The validator is the judge: it decides about every value, and a label that it refutes is reported as a
//! wrong label.

use std::{fs, time::Instant};

use git_blue::model::compatibility::SchemaVerdict;
use serde_json::Value;

use crate::world::{compare, letter, unconfirmed, validator};

/// The first word of what must not be.
const WRONG: &str = "WRONG";

/// Returns a counterexample according to the validator: a value that the inner schema accepts and the outer one
/// refuses.
fn counterexample<'a>(inner: &Value, outer: &Value, values: &'a [Value]) -> Option<&'a Value> {
    let (inner, outer) = (validator(inner)?, validator(outer)?);
    values.iter().find(|value| inner.is_valid(value) && !outer.is_valid(value))
}

/// Compares one pair, and returns what is wrong or remarkable.
fn judge(line: &str, counts: &mut [usize; 4]) -> Vec<String> {
    let pair: Value = serde_json::from_str(line).unwrap();
    let (old, new, label) = (&pair["old"], &pair["new"], pair["label"].as_str().unwrap());
    counts[0] += 1;
    if validator(old).is_none() || validator(new).is_none() {
        counts[3] += 1;
        return vec!["SKIP no validator".into()];
    }
    let started = Instant::now();
    let found = compare(old, new);
    let took = started.elapsed();
    let wrong = unconfirmed(old, new, &found);
    let mut said: Vec<_> = wrong.into_iter().map(|one| format!("{WRONG} {one}")).collect();
    if took.as_millis() > 1_000 {
        said.push(format!("SLOW {took:?}"));
    }
    let values = pair["values"].as_array().unwrap();
    let sides = [(&found.backwards, new, old, 0), (&found.forwards, old, new, 2)];
    for (readings, inner, outer, at) in sides {
        let (letter, expected) = (letter(&readings.strict), label.as_bytes()[at] as char);
        for (verdict, reading) in [(&readings.strict, "strict"), (&readings.lenient, "lenient")] {
            if let SchemaVerdict::Unknown { reason, .. } = verdict {
                counts[1] += 1;
                said.push(format!("UNKNOWN {reading}: {reason}"));
            }
        }
        if letter == 'o'
            && let Some(value) = counterexample(inner, outer, values)
        {
            said.push(format!("{WRONG} compatible: {value}"));
        }
        if expected != '.' && letter != '?' && letter != expected {
            said.push(format!("LABEL {expected}, found {letter}: {:?}", readings.strict));
        }
    }
    if !said.is_empty() {
        counts[2] += 1;
    }
    said
}

#[test]
#[ignore = "needs GIT_BLUE_CORPUS"]
#[expect(clippy::disallowed_methods, reason = "a test's own switch")]
fn pairs_of_other_people() {
    let folder = std::env::var_os("GIT_BLUE_CORPUS").expect("GIT_BLUE_CORPUS names the folder");
    let mut wrong = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let (mut counts, started) = ([0; 4], Instant::now());
        for line in fs::read_to_string(&path).unwrap().lines() {
            let said = judge(line, &mut counts);
            for one in &said {
                println!("{one:.400} | {line:.1200}");
            }
            wrong.extend(said.into_iter().filter(|one| one.starts_with(WRONG)));
        }
        let [pairs, unknown, spoken, skipped] = counts;
        println!(
            "DONE {}: {pairs} pairs, {skipped} skipped, {unknown} unknown answers, {spoken} with remarks, {:.1?}",
            path.display(),
            started.elapsed()
        );
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
