//! Evaluates whether a value satisfies a node, by the rules of the validator.

use serde_json::{Number, Value};

use super::graph::node::{self, Id, Lit, Sym, Table, Words};
use super::numbers;
use crate::model::{json::is_whole, schema::multiple};

/// The maximum number of nodes that are evaluated in one comparison. Beyond it, results are unknown.
const MAX_EVALUATED: u64 = 5_000_000;
/// The maximum number of spellings of one value that are tried.
const MAX_SPELLINGS: usize = 256;

/// Returns whether `value` satisfies the node, or `None` if this is unknown.
pub(super) fn holds(table: &mut Table, id: Id, value: &Value) -> Option<bool> {
    table.evaluated += 1;
    if table.evaluated > MAX_EVALUATED {
        return None;
    }
    let lits = table.lits(id);
    all(lits.iter().map(|lit| literal(table, lit, value)))
}

/// Returns the type of a value as one bit.
pub(super) fn type_of(value: &Value) -> u8 {
    match value {
        Value::Null => node::NULL,
        Value::Bool(_) => node::BOOLEAN,
        Value::Number(number) if number.is_i64() || number.is_u64() || is_beyond_integers(number) => node::INTEGER,
        Value::Number(number) if is_whole(number) => node::WHOLE,
        Value::Number(_) => node::FRACTION,
        Value::String(_) => node::STRING,
        Value::Array(_) => node::ARRAY,
        Value::Object(_) => node::OBJECT,
    }
}

/// The validator treats every number of at least this magnitude as an integer, even in draft-04, in which `1.0` is not
/// an integer: for numbers this large, it can no longer tell how they were written.
pub(super) const INTEGERS: u64 = 1 << 63;

fn is_beyond_integers(number: &Number) -> bool {
    number.as_f64().is_some_and(|float| float.abs() >= INTEGERS as f64)
}

/// Returns the types of all spellings of a value.
pub(super) fn types_written(value: &Value) -> u8 {
    match type_of(value) {
        node::INTEGER if value.as_number().is_some_and(is_beyond_integers) => node::INTEGER,
        node::INTEGER | node::WHOLE => node::INTEGER | node::WHOLE,
        other => other,
    }
}

/// Returns all spellings of a value: `1` and `1.0`.
pub(super) fn spellings(value: &Value) -> Vec<Value> {
    let mut all = vec![value.clone()];
    if let Value::Number(number) = value {
        all.extend(numbers::other_spelling(number).map(Value::Number));
    }
    all
}

/// Returns all spellings of a value, including those of nested numbers, such as `[1]` and `[1.0]`. Returns `None` if
/// there are too many.
pub(super) fn all_spellings(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::Array(items) => {
            let choices = every_choice(items.iter().map(all_spellings))?;
            Some(choices.into_iter().map(Value::Array).collect())
        }
        Value::Object(members) => {
            let choices = every_choice(members.values().map(all_spellings))?;
            let named = |values: Vec<Value>| Value::Object(members.keys().cloned().zip(values).collect());
            Some(choices.into_iter().map(named).collect())
        }
        scalar => Some(spellings(scalar)),
    }
}

/// Returns all combinations of one value of each part, or `None` if there are too many.
fn every_choice(parts: impl Iterator<Item = Option<Vec<Value>>>) -> Option<Vec<Vec<Value>>> {
    let mut choices = vec![Vec::new()];
    for part in parts {
        let part = part?;
        if choices.len() * part.len() > MAX_SPELLINGS {
            return None;
        }
        let with = |choice: &Vec<Value>, one: &Value| choice.iter().chain([one]).cloned().collect();
        choices = choices.iter().flat_map(|choice| part.iter().map(move |one| with(choice, one))).collect();
    }
    Some(choices)
}

/// Returns false if any part is false, otherwise `None` if any is unknown, otherwise true.
fn all(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut result = Some(true);
    for part in parts {
        match part {
            Some(false) => return Some(false),
            None => result = None,
            Some(true) => {}
        }
    }
    result
}

fn any(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    all(parts.map(|part| part.map(|holds| !holds))).map(|none| !none)
}

/// Returns whether `value` satisfies one literal.
pub(super) fn literal(table: &mut Table, lit: &Lit, value: &Value) -> Option<bool> {
    if lit.kinds() & type_of(value) == 0 {
        return Some(true);
    }
    match lit {
        Lit::Never => Some(false),
        Lit::Type(types) => Some(types & type_of(value) != 0),
        // Comparing a few strings is faster than looking one up.
        Lit::Enum(ids) if value.is_string() && ids.len() <= 4 => {
            Some(ids.iter().any(|id| table.words.values[*id as usize] == *value))
        }
        Lit::Enum(ids) => {
            let id = table.words.value(value);
            Some(ids.binary_search(&id).is_ok())
        }
        Lit::Opaque(..) => None,
        Lit::Sub(id) => holds(table, *id, value),
        Lit::AnyOf(ids) => any(ids.iter().map(|id| holds(table, *id, value))),
        Lit::OneOf(ids) => one(table, ids, value),
        Lit::Not(id) => holds(table, *id, value).map(|holds| !holds),
        Lit::If(condition, then, other) => {
            if holds(table, *condition, value)? {
                holds(table, *then, value)
            } else {
                holds(table, *other, value)
            }
        }
        _ => match value {
            Value::Number(number) => number_literal(&mut table.words, lit, number),
            Value::String(text) => string_literal(&mut table.words, lit, text),
            Value::Array(items) => array_literal(table, lit, items),
            Value::Object(members) => object_literal(table, lit, members, value),
            _ => Some(true),
        },
    }
}

fn one(table: &mut Table, ids: &[Id], value: &Value) -> Option<bool> {
    let (mut held, mut unsure) = (0, false);
    for id in ids {
        match holds(table, *id, value) {
            Some(true) => held += 1,
            None => unsure = true,
            Some(false) => {}
        }
    }
    if held > 1 {
        return Some(false);
    }
    if unsure { None } else { Some(held == 1) }
}

fn number_literal(words: &mut Words, lit: &Lit, number: &serde_json::Number) -> Option<bool> {
    if let Lit::Multiple(of) = lit {
        return Some(multiple::is_multiple(number, &words.numbers[*of as usize]));
    }
    let value = numbers::rational(number)?;
    let bound = |id: &u32| &words.numbers[*id as usize];
    Some(match lit {
        Lit::Min(id, strict) => value > *bound(id) || (!strict && value == *bound(id)),
        Lit::Max(id, strict) => value < *bound(id) || (!strict && value == *bound(id)),
        _ => true,
    })
}

fn string_literal(words: &mut Words, lit: &Lit, text: &str) -> Option<bool> {
    let length = || text.chars().count() as u64;
    match lit {
        Lit::MinLength(n) => Some(length() >= *n),
        Lit::MaxLength(n) => Some(length() <= *n),
        Lit::Pattern(pattern) => words.matches(*pattern, text),
        Lit::Check(check) => words.passes(*check, text),
        _ => Some(true),
    }
}

fn array_literal(table: &mut Table, lit: &Lit, items: &[Value]) -> Option<bool> {
    let count = items.len() as u64;
    match lit {
        Lit::MinItems(n) => Some(count >= *n),
        Lit::MaxItems(n) => Some(count <= *n),
        Lit::Unique => {
            let mut seen = std::collections::HashSet::new();
            Some(items.iter().all(|item| seen.insert(table.words.value(item))))
        }
        Lit::Item(at, id) => match usize::try_from(*at).ok().and_then(|at| items.get(at)) {
            Some(item) => holds(table, *id, item),
            None => Some(true),
        },
        Lit::Items(from, id) => {
            let from = usize::try_from(*from).unwrap_or(usize::MAX);
            all(items.iter().skip(from).map(|item| holds(table, *id, item)))
        }
        Lit::AtLeast(id, n) | Lit::AtMost(id, n) => {
            let found: Vec<_> = items.iter().map(|item| holds(table, *id, item)).collect();
            let sure = found.iter().filter(|f| **f == Some(true)).count() as u64;
            let possible = found.iter().filter(|f| **f != Some(false)).count() as u64;
            match lit {
                Lit::AtLeast(..) if sure >= *n => Some(true),
                Lit::AtLeast(..) if possible < *n => Some(false),
                Lit::AtMost(..) if possible <= *n => Some(true),
                Lit::AtMost(..) if sure > *n => Some(false),
                _ => None,
            }
        }
        _ => Some(true),
    }
}

/// Returns whether a property is neither among these names nor matched by a pattern.
pub(super) fn is_other(words: &mut Words, names: &[Sym], patterns: &[Sym], name: &str) -> Option<bool> {
    if words.known(name).is_some_and(|name| names.binary_search(&name).is_ok()) {
        return Some(false);
    }
    any(patterns.iter().map(|pattern| words.matches(*pattern, name))).map(|is_matched| !is_matched)
}

/// Returns whether `value` satisfies the node. True if the node does not apply to it.
fn holds_if(table: &mut Table, applies: Option<bool>, id: Id, value: &Value) -> Option<bool> {
    match applies {
        Some(false) => Some(true),
        Some(true) => holds(table, id, value),
        None => holds(table, id, value).filter(|holds| *holds),
    }
}

fn object_literal(
    table: &mut Table,
    lit: &Lit,
    members: &serde_json::Map<String, Value>,
    value: &Value,
) -> Option<bool> {
    let count = members.len() as u64;
    let has = |table: &Table, name: &u32| members.contains_key(&*table.words.text(*name));
    match lit {
        Lit::Required(name) => Some(has(table, name)),
        Lit::MinProps(n) => Some(count >= *n),
        Lit::MaxProps(n) => Some(count <= *n),
        Lit::Prop(name, id) => match members.get(&*table.words.text(*name)) {
            Some(member) => holds(table, *id, member),
            None => Some(true),
        },
        Lit::PatProp(pattern, id) => all(members.iter().map(|(name, member)| {
            let applies = table.words.matches(*pattern, name);
            holds_if(table, applies, *id, member)
        })),
        Lit::AddProp(names, patterns, id) => all(members.iter().map(|(name, member)| {
            let applies = is_other(&mut table.words, names, patterns, name);
            holds_if(table, applies, *id, member)
        })),
        Lit::PropNames(id) => all(members.keys().map(|name| holds(table, *id, &Value::String(name.clone())))),
        Lit::DepRequired(name, names) => Some(!has(table, name) || names.iter().all(|name| has(table, name))),
        Lit::DepSchema(name, id) if has(table, name) => holds(table, *id, value),
        _ => Some(true),
    }
}
