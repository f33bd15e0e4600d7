//! Confirms a witness with the validator on both sides, then shrinks it.

use std::{collections::BTreeSet, rc::Rc, time::Duration};

use jsonschema::Validator;
use serde_json::{Value, json};

use super::{evaluate, graph::node};
use crate::model::schema::{
    Deadline, Draft, Tree,
    document::Document,
    ecma,
    metered::{Meter, Metered, MeteredValue, within},
    official, part,
    validator::{options_for, unbounded_options},
};

/// The maximum number of validations while shrinking a witness.
const TRIES: usize = 400;
/// The maximum number of listed values to validate.
const MAX_ENUMERATED: usize = 1_000;
/// The maximum number of nodes that the validator may visit in one witness.
const MAX_READS: u64 = 1_000_000;

/// A schema and its validator, which is built on first use.
pub(super) struct Side<'a> {
    document: &'a Document<'a>,
    validator: Option<Option<SideValidator>>,
}

/// The validator of a schema.
struct SideValidator {
    whole: Validator<Metered>,
    /// A validator for each of its patterns that may backtrack. If such a pattern reaches its limit, the validator of
    /// the whole schema treats it as not matching, and below `not` it would then wrongly accept the value.
    backtracking: Vec<Rc<Validator<Metered>>>,
}

impl<'a> Side<'a> {
    pub(super) fn new(document: &'a Document<'a>) -> Self {
        Self { document, validator: None }
    }

    /// Prepares to validate a value and smaller versions of it. Only the part of a large schema that applies to the
    /// value is compiled.
    pub(super) fn prepare_for(&mut self, value: &Value) {
        if self.validator.is_none() || part::is_cut(self.document) {
            let mut schema = part::for_verdict(self.document, value);
            if let Ok(Value::Object(members)) = &mut schema {
                // The validator knows the meta-schemas.
                members.remove(official::MEMBER);
            }
            self.validator = Some(schema.ok().and_then(|schema| build(&schema)));
        }
    }

    /// Returns the values that the root of the schema lists in `enum` or `const`. Other keywords may refuse some of
    /// them.
    fn enumerated(&self) -> Option<Vec<Value>> {
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
    pub(super) fn only_enumerates(&self) -> bool {
        let is_plain = |name: &str| matches!(name, "$schema" | "$id" | "enum" | "const" | "title" | "description");
        self.document.root.members().all(|(name, _)| is_plain(name))
    }

    /// Returns whether the validator accepts a value, or `None` if there is no validator or it takes too long.
    fn accepts(&self, value: &Value) -> Option<bool> {
        let SideValidator { whole, backtracking } = self.validator.as_ref()?.as_ref()?;
        if !backtracking.is_empty() {
            let gives_up = |text| backtracking.iter().any(|pattern| node::accepts(pattern, text).is_none());
            if texts(value).into_iter().any(gives_up) {
                return None;
            }
        }
        let meter = Meter::new(MAX_READS, u64::MAX, Deadline::default());
        within(|| whole.is_valid(MeteredValue::new(value, &meter))).ok()
    }
}

fn build(schema: &Value) -> Option<SideValidator> {
    let rewritten = ecma::patterns(schema);
    let whole = options_for(unbounded_options(), schema).build(&rewritten).ok()?;
    let patterns = backtracking_patterns(&rewritten).into_iter();
    let backtracking = patterns.filter_map(|pattern| node::validator(&json!({ "pattern": pattern })));
    Some(SideValidator { whole, backtracking: backtracking.collect() })
}

/// Returns the patterns of a schema that have look-arounds or back-references.
fn backtracking_patterns(schema: &Value) -> BTreeSet<&str> {
    let mut patterns = BTreeSet::new();
    for part in parts(schema) {
        let own = part.get("pattern").and_then(Value::as_str);
        let of_names = part.get("patternProperties").and_then(Value::as_object);
        let names = of_names.into_iter().flat_map(|of_names| of_names.keys().map(String::as_str));
        patterns.extend(own.into_iter().chain(names).filter(|pattern| ecma::looks_around(pattern)));
    }
    patterns
}

/// Returns the strings and names in a value.
fn texts(value: &Value) -> BTreeSet<&str> {
    let mut texts = BTreeSet::new();
    for part in parts(value) {
        match part {
            Value::String(text) => drop(texts.insert(text.as_str())),
            Value::Object(members) => texts.extend(members.keys().map(String::as_str)),
            _ => {}
        }
    }
    texts
}

/// Returns a value and everything in it.
fn parts(value: &Value) -> impl Iterator<Item = &Value> {
    let mut open = vec![value];
    std::iter::from_fn(move || {
        let part = open.pop()?;
        match part {
            Value::Object(members) => open.extend(members.values()),
            Value::Array(items) => open.extend(items),
            _ => {}
        }
        Some(part)
    })
}

/// Returns whether `value` is valid in `inner` and refused by `outer`.
pub(super) fn is_witness(inner: &Side<'_>, outer: &Side<'_>, value: &Value) -> bool {
    inner.accepts(value) == Some(true) && outer.accepts(value) == Some(false)
}

/// Validates each value that `inner` lists, if it lists them all and there is time. Returns the first witness, or
/// `Some(None)` if there is none.
pub(super) fn among_enumerated<'a>(
    inner: &mut Side<'a>,
    outer: &mut Side<'a>,
    time_left: &dyn Fn() -> Duration,
) -> Option<Option<Value>> {
    let values = inner.enumerated()?.iter().map(evaluate::all_spellings).collect::<Option<Vec<_>>>()?.concat();
    if values.len() > MAX_ENUMERATED {
        return None;
    }
    for value in values {
        if time_left().is_zero() {
            return None;
        }
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
        while at < count(&best, &path) {
            tries += 1;
            if tries > TRIES || time_left().is_zero() {
                return best;
            }
            match without(&best, &path, at).filter(&mut *is_witness) {
                Some(smaller) => best = smaller,
                None => at += 1,
            }
        }
        paths.extend((0..at).rev().map(|at| path.iter().copied().chain([at]).collect()));
    }
    best
}

/// Returns the number of members or items of the part at `path`.
fn count(value: &Value, path: &[usize]) -> usize {
    let part = path.iter().try_fold(value, |part, at| match part {
        Value::Array(items) => items.get(*at),
        Value::Object(members) => members.values().nth(*at),
        _ => None,
    });
    match part {
        Some(Value::Array(items)) => items.len(),
        Some(Value::Object(members)) => members.len(),
        _ => 0,
    }
}

/// Returns the value without the member or item at index `at` of the part at `path`.
fn without(value: &Value, path: &[usize], at: usize) -> Option<Value> {
    let mut smaller = value.clone();
    let part = path.iter().try_fold(&mut smaller, |part, at| match part {
        Value::Array(items) => items.get_mut(*at),
        Value::Object(members) => members.values_mut().nth(*at),
        _ => None,
    })?;
    match part {
        Value::Array(items) => drop(items.remove(at)),
        Value::Object(members) => {
            let name = members.keys().nth(at)?.clone();
            members.remove(&name);
        }
        _ => return None,
    }
    Some(smaller)
}
