//! Exceeded limits are reported as such, never as an answer.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use git_blue::{
    env::Env,
    model::compatibility::{self, Limits, Options, SchemaVerdict},
};
use serde_json::{Value, json};

use crate::world::{label, within};

/// More than comparing generated schemas should take.
const STEPS: u64 = 5_000;

fn hard() -> (Value, Value) {
    let branch = |n: usize, t: &str| json!({"properties": {format!("p{n}"): {"type": t}, format!("q{}", n % 7): {"minimum": n}}});
    let all = |t: &str| json!({"anyOf": (0..60).map(|n| branch(n, t)).collect::<Vec<_>>()});
    (all("integer"), all("number"))
}

fn is_spent(verdict: &SchemaVerdict) -> bool {
    matches!(verdict, SchemaVerdict::Unknown { spent: Some(_), .. })
}

#[test]
fn steps_run_out_deterministically() {
    let (old, new) = hard();
    for steps in [1, 10, 100, 1_000] {
        let limits = Limits { steps, time: Duration::from_secs(60), ..Limits::default() };
        let (one, other) = (within(&old, &new, limits), within(&old, &new, limits));
        assert_eq!(one, other, "{steps} steps");
    }
    assert!(is_spent(&within(&old, &new, Limits { steps: 1, ..Limits::default() }).backwards.strict));
}

#[test]
fn fewer_steps_never_reverse_an_answer() {
    let (old, new) = hard();
    let full = within(&old, &new, Limits::default());
    for steps in (1..400).step_by(13) {
        let found = within(&old, &new, Limits { steps, ..Limits::default() });
        for (one, all) in [(&found.backwards, &full.backwards), (&found.forwards, &full.forwards)] {
            let is_known = !matches!(one.strict, SchemaVerdict::Unknown { .. })
                && !matches!(all.strict, SchemaVerdict::Unknown { .. });
            assert!(!is_known || one.strict.is_compatible() == all.strict.is_compatible(), "{steps} steps");
        }
    }
}

#[test]
fn exceeded_time_stays_exceeded() {
    // A clock that jumps ahead for a moment: exceeded time stays exceeded.
    let calls = AtomicU64::new(0);
    let clock = || {
        let call = calls.fetch_add(1, Ordering::Relaxed);
        Duration::from_secs(if call == 1 { 1_000 } else { 0 })
    };
    let (old, new) = hard();
    let found = compatibility::compare(&old, &new, &Options::default(), &clock).unwrap();
    assert!(is_spent(&found.forwards.strict), "{:?}", found.forwards.strict);
}

#[test]
#[cfg(target_os = "linux")]
fn stopwatch_measures_only_the_threads_that_call_it() {
    const WORK: Duration = Duration::from_millis(20);
    let env = Env::isolated("/", []);
    let (clock, other) = (env.cpu_stopwatch(), env.cpu_stopwatch());
    let run = |clock: &(dyn Fn() -> Duration + Sync)| {
        let work = || while clock() < WORK {};
        std::thread::scope(|scope| scope.spawn(work).join().unwrap());
    };
    clock();
    run(&other);
    assert!(clock() < WORK);
    run(&clock);
    assert!(clock() >= WORK);
}

#[test]
fn memory_is_limited_too() {
    let (old, new) = hard();
    let found = within(&old, &new, Limits { bytes: 1, ..Limits::default() });
    assert!(is_spent(&found.backwards.strict) || is_spent(&found.forwards.strict));
}

/// Returns a schema whose definitions refer to each other without order, so that a search nests deeply.
fn tangle(definitions: usize, differing: &Value) -> Value {
    let to = |at: usize| json!({"$ref": format!("#/definitions/T{}", at % definitions)});
    let definition = |at: usize| {
        let kind = if at == 3 { differing.clone() } else { json!({"enum": [format!("kind{at}"), "other"]}) };
        let properties = json!({"kind": kind, "next": to(at * 7 + 1), "items": {"items": to(at * 13 + 5)}});
        (format!("T{at}"), json!({"type": "object", "properties": properties, "required": ["kind"]}))
    };
    let definitions: serde_json::Map<_, _> = (0..definitions).map(definition).collect();
    json!({"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/T0", "definitions": definitions})
}

#[test]
#[cfg(target_os = "linux")]
fn nested_witnesses_stay_within_the_memory_limit() {
    let (old, new) = (tangle(5_000, &json!({"type": "string"})), tangle(5_000, &json!({"type": "integer"})));
    let before = crate::world::peak_memory();
    let limits = Limits { time: Duration::from_secs(200), differences: Duration::ZERO, ..Limits::default() };
    within(&old, &new, limits);
    let grown = crate::world::peak_memory() - before;
    assert!(grown < 150 << 20, "{} MB", grown >> 20);
}

/// Compares within a number of steps that does not suffice for trying combinations.
fn label_in_few_steps(old: &Value, new: &Value) -> String {
    label(&within(old, new, Limits { steps: STEPS, time: Duration::from_secs(60), ..Limits::default() }))
}

#[test]
fn optional_property_that_names_the_alternative_is_decided_first() {
    let options = |at: usize, is_new: bool| {
        let property = |n: usize| {
            let types = ["boolean", "string", "array", "object"];
            (format!("p{}", (at * 5 + n * (1 + at % 3)) % 12), json!({"type": types[(at % 2 + n) % 4]}))
        };
        let added = (is_new && at.is_multiple_of(3)).then(|| ("added".to_owned(), json!({"type": "string"})));
        let properties: serde_json::Map<_, _> = (0..6).map(property).chain(added).collect();
        json!({"type": "object", "properties": properties, "additionalProperties": false})
    };
    let alternatives = |count: usize, is_new: bool| {
        let kind = |at: usize| format!("b{at}");
        let kinds: Vec<_> = (0..count).map(kind).collect();
        let any = json!({"type": "object", "properties": {"kind": {"not": {"enum": kinds}}, "options": {"type": "object"}},
            "required": ["kind"], "additionalProperties": false});
        let one = |at: usize| {
            let options = options(at, is_new);
            let properties = json!({"kind": {"const": kind(at)}, "options": options,
                "others": {"type": "object", "additionalProperties": options}});
            json!({"type": "object", "properties": properties, "additionalProperties": false})
        };
        json!({"oneOf": std::iter::once(any).chain((0..count).map(one)).collect::<Vec<_>>()})
    };
    let found = label_in_few_steps(&alternatives(24, false), &alternatives(26, true));
    assert!(found.starts_with('x'), "{found}");
}

/// An object with as many conditions, each of which names only properties that the object has.
fn conditional(count: usize, condition: impl Fn(Value, Value) -> Value, more: &Value) -> Value {
    let name = |letter: char| move |at: usize| (format!("{letter}{at}"), json!({"type": "string"}));
    let properties: serde_json::Map<_, _> = (0..count).map(name('a')).chain((0..count).map(name('b'))).collect();
    let requires = |letter: char, at: usize| json!({"required": [format!("{letter}{at}")]});
    let conditions: Vec<_> = (0..count).map(|at| condition(requires('a', at), requires('b', at))).collect();
    let mut all = json!({"type": "object", "properties": properties, "allOf": conditions});
    all["properties"].as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
    all
}

/// No combination of the alternatives lets a sender name more than the object does.
#[test]
fn optional_property_beside_many_conditions_needs_few_steps() {
    let one = json!({"note": {"type": "string"}});
    for condition in [
        |a: Value, b: Value| json!({"anyOf": [a, b]}),
        |a: Value, b: Value| json!({"oneOf": [a, b]}),
        |a: Value, b: Value| json!({"if": a, "then": b}),
        |a: Value, b: Value| json!({"dependentSchemas": {a["required"][0].as_str().unwrap(): b}}),
    ] {
        for count in [13, 60] {
            let found =
                label_in_few_steps(&conditional(count, condition, &json!({})), &conditional(count, condition, &one));
            assert_eq!(
                found,
                "o/x:o/o",
                "{count} of {}",
                condition(json!({"required": ["a"]}), json!({"required": ["b"]}))
            );
        }
    }
}

/// A branch that names the added property, or allows any, makes a difference.
#[test]
fn optional_property_that_an_alternative_names_is_a_break() {
    let one = json!({"note": {"type": "string"}});
    for (named, expected) in [
        (json!({"required": ["note"]}), "o/x"),
        (json!({"properties": {"note": {"type": "integer"}}}), "o/x"),
        (json!({"additionalProperties": {"type": ["string", "null"]}}), "o/x"),
        (json!({"patternProperties": {"^n": {}}}), "o/x"),
        (json!({"minProperties": 40}), "o/x"),
        (json!({"properties": {"c": true}}), "o/x:o/o"),
    ] {
        let with = |mut schema: Value| {
            let alternatives = json!({"anyOf": [named, {"required": ["a0"]}]});
            schema["allOf"].as_array_mut().unwrap().push(alternatives);
            schema
        };
        let either = |a: Value, b: Value| json!({"anyOf": [a, b]});
        let (old, new) = (with(conditional(3, either, &json!({}))), with(conditional(3, either, &one)));
        let found = label(&within(&old, &new, Limits::default()));
        assert_eq!(found, expected, "{named}");
    }
}

/// The direction that was asked is decided although the other one takes too long.
#[test]
fn direction_that_is_asked_comes_first() {
    let either = |a: Value, b: Value| json!({"if": {"not": a}, "then": {"properties": {"x": {"not": b}}}});
    let (old, new) = (conditional(20, either, &json!({})), conditional(19, either, &json!({"a19": true, "b19": true})));
    let start = Instant::now();
    let options = Options { backwards: false, ..Options::default() };
    let found = compatibility::compare(&old, &new, &options, &|| start.elapsed()).unwrap();
    assert!(found.forwards.strict.is_compatible(), "{:?}", found.forwards.strict);
}

#[test]
fn alternatives_that_constrain_only_objects_all_hold_for_other_values() {
    let alternatives = |t: &str| {
        let one = |at: usize| json!({"properties": {"k": {"const": at}, "v": {"type": t}}, "required": ["k"]});
        json!({"oneOf": (0..40).map(one).collect::<Vec<_>>()})
    };
    assert_eq!(label_in_few_steps(&alternatives("integer"), &alternatives("number")), "x/o");
}

#[test]
fn many_properties_need_few_steps() {
    let closed = |count: usize| {
        let properties: serde_json::Map<_, _> =
            (0..count).map(|at| (format!("p{at}"), json!({"type": "string"}))).collect();
        json!({"type": "object", "properties": properties, "additionalProperties": false})
    };
    let limits = Limits { steps: 500, time: Duration::from_secs(60), ..Limits::default() };
    assert_eq!(label(&within(&closed(1_000), &closed(1_001), limits)), "x/o");
}

/// Returns an object schema with many properties, all of them different, and one that differs from those.
fn wide(count: usize, differing: Option<usize>, more: &Value) -> Value {
    let property = |at: usize| match differing {
        Some(differing) if differing == at => json!({"type": "string"}),
        _ => json!({"type": "integer", "maximum": at + 5}),
    };
    let properties: serde_json::Map<_, _> = (0..count).map(|at| (format!("p{at}"), property(at))).collect();
    let mut schema = json!({"type": "object", "properties": properties});
    schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    schema
}

#[test]
fn twenty_thousand_properties_are_decided() {
    // Were each property compared with all others, this would take more than the time limit.
    let limits = Limits { steps: 500_000, time: Duration::from_secs(60), ..Limits::default() };
    for more in [json!({}), json!({"additionalProperties": false})] {
        let found = within(&wide(20_000, None, &more), &wide(20_000, Some(7_000), &more), limits);
        assert_eq!(label(&found), "x/x");
        let place = Some("/properties/p7000/type".to_owned());
        let places: Vec<_> =
            found.differences.iter().map(|one| (&*one.rule, &one.old_pointer, &one.new_pointer)).collect();
        assert_eq!(places, [("widened-type", &place, &place), ("narrowed-type", &place, &place)]);
        let witnesses: Vec<_> = found.differences.iter().map(|one| one.witness.clone().unwrap()).collect();
        assert_eq!(witnesses, [json!({"p7000": ""}), json!({"p7000": 0})]);
    }
}

#[test]
fn thousands_of_required_properties_are_decided() {
    let names: Vec<_> = (0..5_000).map(|at| format!("p{at}")).collect();
    let limits = Limits { steps: 200_000, time: Duration::from_secs(60), ..Limits::default() };
    let more = json!({"required": names});
    assert_eq!(label(&within(&wide(5_000, None, &more), &wide(5_000, Some(7), &more), limits)), "x/x");
}

#[test]
fn thousands_of_alternatives_are_explained() {
    let alternative = |at: usize, differs: bool| {
        let value = if differs { json!({"type": "string"}) } else { json!({"maximum": at}) };
        json!({"type": "object", "required": ["kind"], "properties": {"kind": {"const": at}, "value": value}})
    };
    let all =
        |differing: usize| json!({"anyOf": (0..1_500).map(|at| alternative(at, at == differing)).collect::<Vec<_>>()});
    let limits = Limits { time: Duration::from_secs(60), ..Limits::default() };
    assert_eq!(label(&within(&all(1_500), &all(700), limits)), "o/x");
}

#[test]
#[cfg(target_os = "linux")]
fn thousands_of_exclusive_alternatives_stay_within_the_memory_limit() {
    let alternative = |at: usize| json!({"required": [format!("a{at}")], "properties": {"kind": {"const": at}}});
    let all = |count: usize| json!({"oneOf": (0..count).map(alternative).collect::<Vec<_>>()});
    let before = crate::world::peak_memory();
    within(&all(4_000), &all(4_001), Limits::default());
    let grown = crate::world::peak_memory() - before;
    assert!(grown < 150 << 20, "{} MB", grown >> 20);
}

/// Returns a schema with as many choices as it has properties.
fn many_dependencies(count: usize, more: usize) -> Value {
    let one = |at: usize| {
        (format!("a{at}"), json!({"properties": {format!("b{at}"): {"properties": {"c": {"maximum": at + more}}}}}))
    };
    json!({"type": "object", "dependentSchemas": (0..count).map(one).collect::<serde_json::Map<_, _>>()})
}

#[test]
fn hostile_schemas_end_in_time() {
    let deep =
        (0..60).fold(json!({"type": "integer"}), |inner, _| json!({"not": {"anyOf": [inner, {"type": "string"}]}}));
    let wide: Vec<_> = (0..400)
        .map(|n| json!({"required": [format!("a{n}")], "properties": {format!("b{n}"): {"minimum": n}}}))
        .collect();
    let pattern = "^(a|b|ab)*(c|d|cd){1,50}[a-z]{1,90}$";
    let pairs = [
        (deep.clone(), json!({"allOf": [deep, {"minimum": 3}]})),
        (json!({"oneOf": wide}), json!({"anyOf": wide})),
        (json!({"allOf": wide.iter().map(|one| json!({"not": one})).collect::<Vec<_>>()}), json!({"oneOf": wide})),
        (json!({"pattern": pattern}), json!({"pattern": format!("{pattern}|x{{1,1000}}")})),
        (json!({"minLength": 90_000_000}), json!({"minLength": 90_000_001})),
        (json!({"minItems": 90_000_000}), json!({"minItems": 90_000_001})),
        (json!({"minProperties": 90_000_000, "type": "object"}), json!({"maxProperties": 3})),
        (
            json!({"patternProperties": (0..30).map(|n| (format!("^{n}|a{n}"), json!({"minimum": n}))).collect::<serde_json::Map<_, _>>()}),
            json!({}),
        ),
        (many_dependencies(3_000, 0), many_dependencies(3_000, 1)),
    ];
    for (old, new) in pairs {
        let start = Instant::now();
        within(&old, &new, Limits::default());
        // The budget is one second, but it excludes building validators and automata, and the machine may be loaded.
        assert!(start.elapsed() < Duration::from_secs(90), "{:?} for {:.200}", start.elapsed(), old.to_string());
    }
}
