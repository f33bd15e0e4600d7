//! Confirms a witness with the validator on both sides, then shrinks it.

use std::time::Duration;

use jsonschema::Validator;
use serde_json::{Map, Value};

use crate::model::schema::{
    Deadline,
    document::Document,
    encoded,
    metered::{Meter, Metered, MeteredValue, within},
    part,
};

/// The maximum number of validations while shrinking a witness.
const TRIES: usize = 400;
/// The maximum number of nodes that the validator may visit in one witness.
const MAX_READS: u64 = 1_000_000;

/// A schema and its validator, which is built on first use.
pub(super) struct Side<'a> {
    document: &'a Document<'a>,
    validator: Option<Option<Validator<Metered>>>,
}

impl<'a> Side<'a> {
    pub(super) fn new(document: &'a Document<'a>) -> Self {
        Self { document, validator: None }
    }

    /// Prepares to validate a value and smaller versions of it. Only the part of a large schema that applies to the
    /// value is compiled.
    pub(super) fn turn_to(&mut self, value: &Value) {
        if self.validator.is_none() || part::is_cut(self.document) {
            self.validator = Some(build(&part::for_value(self.document, value)));
        }
    }

    /// Returns whether the validator accepts a value, or `None` if there is no validator or it takes too long.
    fn accepts(&self, value: &Value) -> Option<bool> {
        let validator = self.validator.as_ref()?.as_ref()?;
        let meter = Meter::new(MAX_READS, u64::MAX, Deadline::default());
        within(|| validator.is_valid(MeteredValue::new(value, &meter))).ok()
    }
}

fn build(schema: &Value) -> Option<Validator<Metered>> {
    jsonschema::options_for::<Metered>().offline().build(&encoded(schema)).ok()
}

/// Returns whether `value` is valid in `inner` and refused by `outer`.
pub(super) fn is_witness(inner: &Side<'_>, outer: &Side<'_>, value: &Value) -> bool {
    inner.accepts(value) == Some(true) && outer.accepts(value) == Some(false)
}

/// Returns a smaller witness, after one pass from front to back that removes unneeded parts.
pub(super) fn shrink(inner: &Side<'_>, outer: &Side<'_>, value: Value, time_left: &dyn Fn() -> Duration) -> Value {
    let mut best = value;
    let mut tries = 0;
    let mut paths = vec![Vec::new()];
    while let Some(path) = paths.pop() {
        let mut at = 0;
        while let Some(smaller) = without(&best, &path, at) {
            tries += 1;
            if tries > TRIES || time_left().is_zero() {
                return best;
            }
            if is_witness(inner, outer, &smaller) {
                best = smaller;
            } else {
                at += 1;
            }
        }
        paths.extend(children(&best, &path));
    }
    best
}

fn get<'v>(value: &'v Value, path: &[usize]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, at| match value {
        Value::Array(items) => items.get(*at),
        Value::Object(members) => members.values().nth(*at),
        _ => None,
    })
}

fn children(value: &Value, path: &[usize]) -> Vec<Vec<usize>> {
    let count = match get(value, path) {
        Some(Value::Array(items)) => items.len(),
        Some(Value::Object(members)) => members.len(),
        _ => 0,
    };
    (0..count).rev().map(|at| path.iter().copied().chain([at]).collect()).collect()
}

/// Returns the value without the member or item at index `at` of the part at `path`.
fn without(value: &Value, path: &[usize], at: usize) -> Option<Value> {
    match path.split_first() {
        None => match value {
            Value::Array(items) if at < items.len() => {
                let items = items.iter().enumerate().filter(|(n, _)| *n != at).map(|(_, item)| item.clone());
                Some(Value::Array(items.collect()))
            }
            Value::Object(members) if at < members.len() => {
                let members = members.iter().enumerate().filter(|(n, _)| *n != at);
                Some(Value::Object(members.map(|(_, (name, member))| (name.clone(), member.clone())).collect()))
            }
            _ => None,
        },
        Some((first, rest)) => match value {
            Value::Array(items) => {
                let smaller = without(items.get(*first)?, rest, at)?;
                let mut items = items.clone();
                items[*first] = smaller;
                Some(Value::Array(items))
            }
            Value::Object(members) => {
                let (name, member) = members.iter().nth(*first)?;
                let smaller = without(member, rest, at)?;
                let mut members: Map<_, _> = members.clone();
                members.insert(name.clone(), smaller);
                Some(Value::Object(members))
            }
            _ => None,
        },
    }
}
