//! Confirms a witness with the validator on both sides, then shrinks it.

use std::time::Duration;

use jsonschema::Validator;
use serde_json::{Map, Value};

use super::evaluate;
use crate::model::schema::{
    Deadline, Draft, Tree,
    document::Document,
    ecma, encoded,
    metered::{Meter, Metered, MeteredValue, within},
    official, options_for, part, unbounded_options,
};

/// The maximum number of validations while shrinking a witness.
const TRIES: usize = 400;
/// The maximum number of listed values that the validator is asked about.
const MOST_NAMED: usize = 1_000;
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
    pub(super) fn prepare_for(&mut self, value: &Value) {
        if self.validator.is_none() || part::is_cut(self.document) {
            let mut schema = part::for_value(self.document, value);
            if let Some(members) = schema.as_object_mut() {
                // The validator knows the meta-schemas.
                members.remove(official::MEMBER);
            }
            self.validator = Some(build(&schema));
        }
    }

    /// Returns the values that the root of the schema lists in `enum` or `const`. Other keywords may refuse some of
    /// them.
    fn named(&self) -> Option<Vec<Value>> {
        let (root, draft) = (self.document.root, self.document.context.draft);
        if part::is_cut(self.document) || draft <= Draft::D7 && root.get("$ref").is_some() {
            return None;
        }
        if let Some(value) = root.get("const").filter(|_| draft >= Draft::D6) {
            return Some(vec![value.to_value()]);
        }
        Some(root.get("enum").filter(|values| values.is_array())?.items().map(Tree::to_value).collect())
    }

    /// Returns whether the schema has no assertion besides `enum` or `const`.
    pub(super) fn only_names(&self) -> bool {
        let is_plain = |name: &str| matches!(name, "$schema" | "$id" | "enum" | "const" | "title" | "description");
        self.document.root.members().all(|(name, _)| is_plain(name))
    }

    /// Returns whether the validator accepts a value, or `None` if there is no validator or it takes too long.
    fn accepts(&self, value: &Value) -> Option<bool> {
        let validator = self.validator.as_ref()?.as_ref()?;
        let meter = Meter::new(MAX_READS, u64::MAX, Deadline::default());
        within(|| validator.is_valid(MeteredValue::new(value, &meter))).ok()
    }
}

fn build(schema: &Value) -> Option<Validator<Metered>> {
    let schema = encoded(schema);
    options_for(unbounded_options(), &schema).build(&ecma::patterns(&schema)).ok()
}

/// Returns whether `value` is valid in `inner` and refused by `outer`.
pub(super) fn is_witness(inner: &Side<'_>, outer: &Side<'_>, value: &Value) -> bool {
    inner.accepts(value) == Some(true) && outer.accepts(value) == Some(false)
}

/// Validates each value that `inner` lists, if it lists them all. Returns the first witness, or `Some(None)` if there
/// is none.
pub(super) fn among_named<'a>(inner: &mut Side<'a>, outer: &mut Side<'a>) -> Option<Option<Value>> {
    let values = inner.named()?.iter().map(evaluate::all_spellings).collect::<Option<Vec<_>>>()?.concat();
    if values.len() > MOST_NAMED {
        return None;
    }
    for value in values {
        [&mut *inner, &mut *outer].into_iter().for_each(|side| side.prepare_for(&value));
        if inner.accepts(&value)? && !outer.accepts(&value)? {
            return Some(Some(value));
        }
    }
    Some(None)
}

/// Returns a smaller witness, after one pass from front to back that removes unneeded parts.
pub(super) fn shrink(
    value: Value,
    is_witness: &mut dyn FnMut(&Value) -> bool,
    time_left: &dyn Fn() -> Duration,
) -> Value {
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
            if is_witness(&smaller) {
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
