//! Random pairs: proofs hold for every sampled value, and every witness is confirmed.
//!
//! `GIT_BLUE_TORTURE=full` compares a hundred times as many; `GIT_BLUE_FUZZ_SEED` sets the seed.

use std::time::Duration;

use git_blue::model::compatibility::{BothReadings, SchemaVerdict};
use serde_json::{Map, Value, json};

use crate::{
    whole::is_full,
    world::{unconfirmed, validator, within},
};

/// The number of pairs; a machine of 2 cores takes a few seconds.
const SMALL: u64 = 1_500;
const FULL: u64 = 150_000;

/// A deterministic random number generator (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap() % most
    }

    fn one_in(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }
}

const NAMES: [&str; 4] = ["a", "b", "c", "ab"];
const PATTERNS: [&str; 6] = ["^a", "b$", "^[a-c]$", "^.{2}$", "a|b", ""];
const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];
const TEXTS: [&str; 12] =
    ["", "a", "b", "ab", "abc", "ba", "é", "aa", "2026-01-01", "127.0.0.1", "a@example.com", "cc"];

fn value(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 8 } else { 10 }) {
        0 => Value::Null,
        1 => json!(random.one_in(2)),
        2 | 3 => json!(random.below(12) as i64 - 2),
        4 => json!(random.pick(&[0.5, 1.5, -0.5, 2.0, 1e3, 0.1])),
        5 | 6 => json!(random.pick(&TEXTS)),
        7 => json!(random.pick(&[9_007_199_254_740_993_u64, 1 << 53, 10, 100])),
        8 => (0..random.below(4)).map(|_| value(random, depth - 1)).collect(),
        _ => {
            let names: Vec<_> = (0..random.below(4)).map(|_| random.pick(&["a", "b", "c", "ab", "zz"])).collect();
            names.into_iter().map(|name| (name.to_owned(), value(random, depth - 1))).collect::<Map<_, _>>().into()
        }
    }
}

/// How a definition is named by references.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Naming {
    /// By its JSON Pointer.
    Pointer,
    /// By an anchor.
    Anchor,
    /// By the `$id` of a resource of its own.
    Id,
    /// By the `$id` of a resource with a dynamic anchor, or by that anchor.
    Dynamic,
}

/// A generator of random schemas of one draft.
struct Source<'r> {
    random: &'r mut Random,
    draft: usize,
    definitions: Vec<Naming>,
}

impl Source<'_> {
    fn schema(&mut self, depth: usize) -> Value {
        if self.random.one_in(25) {
            return if self.draft == 4 { json!({"not": {}}) } else { json!(self.random.one_in(2)) };
        }
        if !self.definitions.is_empty() && self.random.one_in(8) {
            return self.reference();
        }
        let mut schema = Map::new();
        for _ in 0..=self.random.below(3) {
            if depth == 0 || self.random.one_in(2) {
                self.assertion(&mut schema);
            } else {
                self.applicator(&mut schema, depth - 1);
            }
        }
        Value::Object(schema)
    }

    /// Returns a reference that means the same in every resource.
    fn reference(&mut self) -> Value {
        let n = self.random.below(self.definitions.len());
        let relative = self.random.one_in(2);
        let to = match self.definitions[n] {
            Naming::Dynamic if relative => return json!({"$dynamicRef": "#node"}),
            Naming::Pointer if self.has_resources() => format!("https://x.test/root#/definitions/d{n}"),
            Naming::Pointer => format!("#/definitions/d{n}"),
            Naming::Anchor if self.has_resources() => format!("https://x.test/root#d{n}"),
            Naming::Anchor => format!("#d{n}"),
            Naming::Id | Naming::Dynamic if relative => format!("d{n}"),
            Naming::Id | Naming::Dynamic => format!("https://x.test/d{n}"),
        };
        json!({"$ref": to})
    }

    fn has_resources(&self) -> bool {
        self.definitions.iter().any(|naming| matches!(naming, Naming::Id | Naming::Dynamic))
    }

    /// Gives a definition its name.
    fn name(&self, n: usize, definition: Value) -> Value {
        let id = if self.draft == 4 { "id" } else { "$id" };
        let (mut named, rest) = match definition {
            Value::Object(members) if !members.contains_key("$ref") || self.draft >= 2019 => (members, None),
            other => (Map::new(), Some(other)),
        };
        named.extend(rest.map(|rest| ("allOf".to_owned(), json!([rest]))));
        match self.definitions[n] {
            Naming::Pointer => None,
            Naming::Anchor if self.draft >= 2019 => named.insert("$anchor".into(), json!(format!("d{n}"))),
            Naming::Anchor => named.insert(id.into(), json!(format!("#d{n}"))),
            Naming::Id => named.insert(id.into(), json!(format!("d{n}"))),
            Naming::Dynamic => {
                named.insert("$dynamicAnchor".into(), json!("node"));
                named.insert(id.into(), json!(format!("d{n}")))
            }
        };
        Value::Object(named)
    }

    fn assertion(&mut self, schema: &mut Map<String, Value>) {
        let random = &mut *self.random;
        let (name, value) = match random.below(15) {
            0..=2 => ("type", json!(random.pick(&TYPES))),
            3 => ("enum", json!([value(random, 1)])),
            4 if self.draft > 4 => ("const", value(random, 1)),
            5 => ("minimum", json!(random.below(6) as i64 - 2)),
            6 => ("maximum", json!(random.pick(&[0.5, 2.0, 3.0, 1.0, 5.0]))),
            7 if self.draft > 4 => (random.pick(&["exclusiveMinimum", "exclusiveMaximum"]), json!(random.below(5))),
            8 => ("multipleOf", json!(random.pick(&[1.0, 2.0, 3.0, 0.5, 1.5, 0.1, 0.01, 4.0]))),
            9 => (random.pick(&["minLength", "maxLength"]), json!(random.below(4))),
            10 => ("pattern", json!(random.pick(&PATTERNS))),
            11 => ("format", json!(random.pick(&["date", "ipv4", "email", "uri", "uri-reference"]))),
            12 => ("required", json!([random.pick(&NAMES)])),
            13 => (random.pick(&["minItems", "maxItems", "minProperties", "maxProperties"]), json!(random.below(4))),
            _ => ("uniqueItems", json!(true)),
        };
        schema.insert(name.into(), value);
    }

    fn applicator(&mut self, schema: &mut Map<String, Value>, depth: usize) {
        let name = self.random.pick(&NAMES);
        let pattern = self.random.pick(&PATTERNS);
        let one = self.schema(depth);
        let draft = self.draft;
        let (keyword, value) = match self.random.below(14) {
            0 | 1 => ("properties", json!({name: one, self.random.pick(&NAMES): self.schema(depth)})),
            2 => ("patternProperties", json!({pattern: one})),
            3 => ("additionalProperties", self.random.pick(&[json!(false), json!(true), one])),
            4 => ("items", one),
            5 if draft >= 2020 => ("prefixItems", json!([one])),
            5 => {
                schema.insert("additionalItems".into(), self.schema(depth));
                ("items", json!([one]))
            }
            6 if draft > 4 => {
                if draft >= 2019 && self.random.one_in(2) {
                    let limit = self.random.pick(&["minContains", "maxContains"]);
                    schema.insert(limit.into(), json!(self.random.below(3)));
                }
                ("contains", one)
            }
            7 | 8 => (self.random.pick(&["allOf", "anyOf", "oneOf"]), json!([one, self.schema(depth)])),
            9 => ("not", one),
            10 if draft >= 7 => {
                schema.insert("then".into(), self.schema(depth));
                schema.insert("else".into(), self.schema(depth));
                ("if", one)
            }
            11 if draft > 4 => ("propertyNames", one),
            12 if draft >= 2019 => ("dependentSchemas", json!({name: one})),
            12 => ("dependencies", json!({name: [self.random.pick(&NAMES)]})),
            _ if draft >= 2019 => (self.random.pick(&["unevaluatedProperties", "unevaluatedItems"]), one),
            _ => ("properties", json!({name: one})),
        };
        schema.insert(keyword.into(), value);
    }

    fn root(&mut self) -> Value {
        let depth = 1 + self.random.below(3);
        let mut root = match self.schema(depth) {
            Value::Object(schema) if !schema.contains_key("$ref") => Value::Object(schema),
            other => json!({"properties": {"a": other}}),
        };
        let definitions = (0..self.definitions.len()).map(|n| {
            let definition = self.schema(2);
            (format!("d{n}"), self.name(n, definition))
        });
        root["definitions"] = definitions.collect::<Map<_, _>>().into();
        if self.has_resources() {
            root[if self.draft == 4 { "id" } else { "$id" }] = json!("https://x.test/root");
        }
        if self.definitions.contains(&Naming::Dynamic) && self.random.one_in(2) {
            root["$dynamicAnchor"] = json!("node");
        }
        let draft = match self.draft {
            4 => "http://json-schema.org/draft-04/schema#",
            6 => "http://json-schema.org/draft-06/schema#",
            7 => "http://json-schema.org/draft-07/schema#",
            2019 => "https://json-schema.org/draft/2019-09/schema",
            _ => "https://json-schema.org/draft/2020-12/schema",
        };
        root["$schema"] = json!(draft);
        root
    }
}

/// Removes or changes a random part.
fn change(random: &mut Random, schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            let is_name = |name: &str| (name.starts_with('$') && !name.ends_with("ef")) || name == "id";
            let names: Vec<_> = members.keys().filter(|name| !is_name(name)).cloned().collect();
            if names.is_empty() {
                return;
            }
            let name = random.pick(&names);
            if name != "definitions" && random.one_in(4) {
                members.remove(&name);
            } else if let Some(member) = members.get_mut(&name) {
                match member {
                    Value::Number(_) => *member = json!(random.below(5) + 1),
                    _ if !matches!(name.as_str(), "enum" | "const" | "required" | "dependencies") => {
                        change(random, member)
                    }
                    _ => {}
                }
            }
        }
        Value::Array(items) if !items.is_empty() => {
            let at = random.below(items.len());
            change(random, &mut items[at]);
        }
        _ => {}
    }
}

#[derive(Debug, Default)]
struct Tally {
    pairs: usize,
    proved: usize,
    refuted: usize,
    unknown: usize,
    samples: usize,
    wrong: Vec<String>,
}

fn judge(random: &mut Random, old: &Value, new: &Value, tally: &mut Tally) {
    let (Some(old_validator), Some(new_validator)) = (validator(old), validator(new)) else { return };
    let limits = git_blue::model::compatibility::Limits { time: Duration::from_secs(20), ..Default::default() };
    let found = within(old, new, limits);
    tally.pairs += 1;
    tally.wrong.extend(unconfirmed(old, new, &found).into_iter().map(|why| format!("{old}\n{new}\n{why}")));
    let mut look = |readings: &BothReadings, inner: &jsonschema::Validator, outer: &jsonschema::Validator| {
        match &readings.strict {
            SchemaVerdict::Incompatible { .. } => tally.refuted += 1,
            SchemaVerdict::Unknown { .. } => tally.unknown += 1,
            SchemaVerdict::Compatible => {
                tally.proved += 1;
                for _ in 0..100 {
                    tally.samples += 1;
                    let value = value(random, 3);
                    if inner.is_valid(&value) && !outer.is_valid(&value) {
                        tally.wrong.push(format!("{old}\n{new}\nproved, but not for {value}"));
                        return;
                    }
                }
            }
        }
        if readings.strict.is_compatible() && !readings.lenient.is_compatible() {
            tally.wrong.push(format!("{old}\n{new}\nstrictly compatible, but not leniently"));
        }
    };
    look(&found.backwards, &new_validator, &old_validator);
    look(&found.forwards, &old_validator, &new_validator);
}

#[expect(clippy::disallowed_methods, reason = "a test's own switch")]
fn seed() -> u64 {
    let seed = std::env::var("GIT_BLUE_FUZZ_SEED").ok().and_then(|seed| seed.parse().ok());
    seed.unwrap_or(17)
}

#[test]
fn proofs_hold_and_witnesses_refute() {
    let seed = seed();
    let mut tally = Tally::default();
    for round in 1..=if is_full() { FULL } else { SMALL } {
        let mut random =
            Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ round.wrapping_mul(0xD1B5_4A32_D192_ED03) | 1);
        (0..5).for_each(|_| _ = random.below(2));
        let draft = random.pick(&[4, 6, 7, 2019, 2020]);
        let namings = if draft == 2020 { 4 } else { 3 };
        let naming = [Naming::Pointer, Naming::Anchor, Naming::Id, Naming::Dynamic];
        let definitions: Vec<_> = (0..random.below(3)).map(|_| naming[random.below(namings)]).collect();
        let old = Source { random: &mut random, draft, definitions: definitions.clone() }.root();
        let new = if random.below(3) > 0 {
            let mut new = old.clone();
            change(&mut random, &mut new);
            new
        } else {
            Source { random: &mut random, draft, definitions }.root()
        };
        judge(&mut random, &old, &new, &mut tally);
    }
    let Tally { pairs, proved, refuted, unknown, samples, wrong } = tally;
    println!("{pairs} pairs: {proved} proved by {samples} samples, {refuted} refuted, {unknown} unknown");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(unknown * 10 < pairs * 2, "{unknown} unknown");
}
