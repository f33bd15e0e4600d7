//! Schemas of the size of generated ones: megabytes, hundreds of thousands of values.
//!
//! `GIT_BLUE_TORTURE=full` uses 8 MB and 500,000 values instead of half of that, and prints time and memory; run it
//! alone then.

use std::time::{Duration, Instant};

use git_blue::{
    model::{
        compatibility::{self, Comparison, Limits, Options},
        schema::{self, Budget, Forest, Tree},
    },
    store::codec,
};
use serde_json::{Map, Value, json};

use crate::{whole::is_full, world::peak_memory};

/// Returns a schema like generated ones: a tree of definitions with references back to its root, with names that are
/// invalid in a URI.
fn generated(definitions: usize, minimum: u64) -> Value {
    let to = |at: usize| match at {
        at if at < definitions => json!({"$ref": format!("#/definitions/Type<{at}>")}),
        at if at % 8 == 0 => json!({"$ref": "#/definitions/Type<0>"}),
        at => json!({"type": "string", "maxLength": at}),
    };
    let property = |at: usize, n: usize| match n % 5 {
        0 => json!({"type": "string", "minLength": 1}),
        1 => json!({"type": "integer", "minimum": if at == 0 { minimum } else { 0 }}),
        2 => to(at * 8 + n / 5 + 1),
        3 => json!({"enum": ["on", "off", format!("x{n}")]}),
        _ => json!({"type": "array", "items": to(at * 8 + n / 5 + 5)}),
    };
    let definition = |at: usize| {
        let properties: Map<_, _> = (0..20).map(|n| (format!("field{n}"), property(at, n))).collect();
        let definition = json!({"type": "object", "description": format!("The type number {at}, as a generator wrote it."),
            "properties": properties, "required": ["field0", "field1"], "additionalProperties": false});
        (format!("Type<{at}>"), definition)
    };
    json!({"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/Type<0>",
        "definitions": (0..definitions).map(definition).collect::<Map<_, _>>()})
}

/// Returns the time since `start`, and the peak memory of the process.
fn cost(start: Instant) -> String {
    format!("{:?}, {} MB at most so far", start.elapsed(), peak_memory() >> 20)
}

fn compared(old: Tree<'_>, new: Tree<'_>, start: Instant) -> Comparison {
    let time = Duration::from_secs(if is_full() { 600 } else { 60 });
    let limits = Limits { time, differences: Duration::ZERO, ..Limits::default() };
    compatibility::compare_trees(old, new, &Options { limits, ..Options::default() }, &|| start.elapsed()).unwrap()
}

#[test]
fn large_schema_is_read_judged_and_compared() {
    // 84 values and about 1,100 bytes each.
    let definitions = if is_full() { 5_900 } else { 200 };
    let write = |minimum| generated(definitions, minimum).to_string();
    let [old, new] = [write(0), write(1)];
    let start = Instant::now();
    let mut forest = Forest::default();
    let old = codec::schema_into(&mut forest, old.as_bytes(), false).unwrap();
    println!("read: {}", cost(start));
    let problems = schema::problems_of(forest.tree(old), &json!({"field0": "", "field1": 1}), &Budget::default());
    assert_eq!(problems.iter().map(|problem| problem.pointer.as_str()).collect::<Vec<_>>(), ["/field0"]);
    println!("judged: {}", cost(start));
    let new = codec::schema_into(&mut forest, new.as_bytes(), false).unwrap();
    let forest = forest.closed();
    let found = compared(forest.tree(old), forest.tree(new), start);
    println!("compared: {}", cost(start));
    // A value of the old schema may have a 0 where the new one requires more.
    assert!(found.backwards.strict.is_compatible(), "{:?}", found.backwards.strict);
    assert!(found.forwards.strict.is_incompatible(), "{:?}", found.forwards.strict);
    assert_eq!(schema::warnings(forest.tree(old)), []);
}

/// Nothing here restricts values, which shows only from the last definition on.
#[test]
fn long_chain_of_definitions_is_compared() {
    let links = if is_full() { 100_000 } else { 5_000 };
    let chain = |last: Value| {
        let link = |at: usize| (format!("a{at}"), json!({"items": {"$ref": format!("#/$defs/a{}", at + 1)}}));
        let links = (0..links).map(link).chain([(format!("a{links}"), last)]);
        json!({"$ref": "#/$defs/a0", "$defs": links.collect::<Map<_, _>>()})
    };
    let mut forest = Forest::default();
    let [old, new] = [json!({}), json!({"title": "t"})].map(|last| forest.add(&chain(last)));
    let forest = forest.closed();
    let start = Instant::now();
    let found = compared(forest.tree(old), forest.tree(new), start);
    println!("compared: {}", cost(start));
    assert!(found.forwards.strict.is_compatible(), "{:?}", found.forwards.strict);
}

#[test]
fn large_yaml_schema_is_read() {
    let schema = generated(if is_full() { 1_000 } else { 30 }, 0);
    let text = codec::render(&schema);
    let start = Instant::now();
    let mut forest = Forest::default();
    let root = codec::schema_into(&mut forest, text.as_bytes(), false).unwrap();
    let added = forest.add(&schema);
    assert_eq!(forest.encoded(added), root);
    println!("{} bytes of YAML read: {}", text.len(), cost(start));
}
