//! Exact arithmetic on numbers: bounds and divisors as rationals.
//!
//! A number has the value that the validator reads ([`rational`]).

use std::{cmp::Ordering, collections::HashSet, sync::LazyLock};

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{FromPrimitive, One, Signed, ToPrimitive, Zero};
use serde_json::{Number, Value};

use super::found::Found;
pub(super) use crate::model::schema::multiple::rational;

/// The maximum number of multiples that are tried.
const TRIES: i64 = 2_000;

/// Returns the JSON number with exactly this value, if there is one.
pub(super) fn to_json(value: &BigRational) -> Option<Value> {
    if value.is_integer() {
        let whole = value.to_integer();
        if let Some(n) = whole.to_i64() {
            return Some(n.into());
        }
        if let Some(n) = whole.to_u64() {
            return Some(n.into());
        }
    }
    let number = Number::from_f64(value.to_f64()?)?;
    (rational(&number).as_ref() == Some(value)).then_some(Value::Number(number))
}

/// Returns the other spelling of a whole number: `1.0` for `1`, and `1` for `1.0`.
pub(super) fn other_spelling(number: &Number) -> Option<Number> {
    let value = rational(number).filter(BigRational::is_integer)?;
    if number.is_f64() {
        let whole = value.to_integer();
        return whole.to_i64().map(Number::from).or_else(|| whole.to_u64().map(Number::from));
    }
    Number::from_f64(value.to_f64()?).filter(|float| rational(float).as_ref() == Some(&value))
}

/// Returns a key that is the same for values that are equal in JSON Schema.
pub(super) fn key(value: &Value) -> String {
    let mut key = String::new();
    canonical(value, &mut key);
    key
}

/// Writes a value so that values that are equal in JSON Schema give the same text.
fn canonical(value: &Value, to: &mut String) {
    match value {
        Value::Number(number) => to.push_str(&canonical_number(number)),
        Value::Array(items) => {
            to.push('[');
            for item in items {
                canonical(item, to);
                to.push(',');
            }
            to.push(']');
        }
        Value::Object(members) => {
            let mut names: Vec<_> = members.keys().collect();
            names.sort_unstable();
            to.push('{');
            for name in names {
                to.push_str(&Value::String(name.clone()).to_string());
                to.push(':');
                canonical(&members[name], to);
                to.push(',');
            }
            to.push('}');
        }
        other => to.push_str(&other.to_string()),
    }
}

fn canonical_number(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() && float.fract() == 0.0 && float.abs() < 1e37 => {
            #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^127")]
            let whole = float as i128;
            whole.to_string()
        }
        _ => number.to_string(),
    }
}

/// The largest power of ten that is exact as a double.
const EXACT_POWER: u32 = 22;

/// Returns whole numbers within the bounds, the roundest first: multiples of powers of ten, since only such numbers are
/// written exactly, then multiples of powers of two, since of larger numbers only these are exact as a double.
fn round(first: Option<BigInt>, last: Option<BigInt>) -> impl Iterator<Item = BigInt> {
    let bits = first.iter().chain(&last).map(BigInt::bits).max().map_or(0, |bits| bits + 2);
    let decimal = (0..=EXACT_POWER).rev().map(|power| BigInt::from(10).pow(power));
    let binary = (0..bits).rev().map(|power| BigInt::one() << power);
    let is_within = last.clone();
    let multiple = move |unit: BigInt| match (&first, &last) {
        (Some(first), _) => Some(first.div_ceil(&unit) * unit),
        (None, last) => last.as_ref().map(|last| last.div_floor(&unit) * unit),
    };
    decimal.chain(binary).filter_map(multiple).filter(move |k| is_within.as_ref().is_none_or(|last| k <= last))
}

/// The largest and the least double.
static LARGEST: LazyLock<BigRational> = LazyLock::new(|| BigRational::from_f64(f64::MAX).unwrap_or_default());
static LEAST: LazyLock<BigRational> = LazyLock::new(|| -&*LARGEST);

/// The demands on a number.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    pub(super) low: Option<(BigRational, bool)>,
    pub(super) high: Option<(BigRational, bool)>,
    pub(super) integers: bool,
    pub(super) fractions: bool,
    pub(super) multiples: Vec<BigRational>,
    pub(super) not_multiples: Vec<BigRational>,
    pub(super) excluded: HashSet<BigRational>,
}

impl Wanted {
    /// Requires at least `bound`, or more than that if `strictly`.
    pub(super) fn above(&mut self, bound: &BigRational, strictly: bool) {
        tighten(&mut self.low, bound, strictly, Ordering::Greater);
    }

    /// Requires at most `bound`, or less than that if `strictly`.
    pub(super) fn below(&mut self, bound: &BigRational, strictly: bool) {
        tighten(&mut self.high, bound, strictly, Ordering::Less);
    }

    /// Returns the only number within the bounds, if there is exactly one.
    pub(super) fn only(&self) -> Option<Value> {
        match (&self.low, &self.high) {
            (Some((low, false)), Some((high, false))) if low == high => to_json(low),
            _ => None,
        }
    }

    /// Finds a number that satisfies the demands.
    pub(super) fn find(&self) -> Found<Value> {
        if !(self.integers || self.fractions) || self.is_interval_empty() {
            return Found::None;
        }
        match self.step() {
            Some(step) => self.find_multiple(&step),
            None => self.find_dense(),
        }
    }

    /// Returns whether no number is within the bounds. There are none beyond the largest double.
    fn is_interval_empty(&self) -> bool {
        let is_beyond_low =
            self.low.as_ref().is_some_and(|(low, strict)| *low > *LARGEST || *strict && *low == *LARGEST);
        let is_beyond_high =
            self.high.as_ref().is_some_and(|(high, strict)| *high < *LEAST || *strict && *high == *LEAST);
        if is_beyond_low || is_beyond_high {
            return true;
        }
        match (&self.low, &self.high) {
            (Some((low, low_strict)), Some((high, high_strict))) => {
                low > high || (low == high && (*low_strict || *high_strict))
            }
            _ => false,
        }
    }

    /// Returns a number of which every wanted value is a multiple.
    fn step(&self) -> Option<BigRational> {
        let whole = (!self.fractions).then(BigRational::one);
        common_multiple(self.multiples.iter().cloned().chain(whole))
    }

    fn find_multiple(&self, step: &BigRational) -> Found<Value> {
        let are_all_divided = |by: &BigRational| (step / by).is_integer();
        if !self.integers && step.is_integer() || self.not_multiples.iter().any(are_all_divided) {
            return Found::None;
        }
        let steps_to = |bound: &BigRational| if step.is_one() { bound.clone() } else { bound / step };
        let first = self.low.as_ref().map(|(low, strict)| {
            let k = steps_to(low).ceil().to_integer();
            if *strict && BigRational::from_integer(k.clone()) * step == *low { k + 1 } else { k }
        });
        let last = self.high.as_ref().map(|(high, strict)| {
            let k = steps_to(high).floor().to_integer();
            if *strict && BigRational::from_integer(k.clone()) * step == *high { k - 1 } else { k }
        });
        let tries = TRIES.saturating_add(i64::try_from(self.excluded.len()).unwrap_or(i64::MAX));
        let found = nearest(first.clone(), last.clone(), tries)
            .chain(round(first.clone(), last.clone()))
            .map(|k| BigRational::from_integer(k) * step)
            .filter(|value| self.accepts(value))
            .find_map(|value| to_json(&value));
        if let Some(value) = found {
            return Found::One(value);
        }
        let is_exhausted = match (first, last) {
            (Some(first), Some(last)) => last - first < BigInt::from(tries),
            _ => false,
        };
        if is_exhausted { Found::None } else { Found::Unsure }
    }

    fn find_dense(&self) -> Found<Value> {
        if let (Some((low, _)), Some((high, _))) = (&self.low, &self.high)
            && low == high
        {
            return match to_json(low).filter(|_| self.accepts(low)) {
                Some(value) => Found::One(value),
                None if self.accepts(low) => Found::Unsure,
                None => Found::None,
            };
        }
        match self.candidates().iter().filter(|value| self.accepts(value)).find_map(to_json) {
            Some(value) => Found::One(value),
            None => Found::Unsure,
        }
    }

    /// Returns numbers of many kinds within the bounds, simplest first.
    fn candidates(&self) -> Vec<BigRational> {
        let base = match (&self.low, &self.high) {
            (Some((low, _)), _) => low.clone(),
            (None, Some((high, _))) => high.clone(),
            (None, None) => BigRational::zero(),
        };
        let sign = if self.low.is_none() && self.high.is_some() { -1 } else { 1 };
        let part = |n: i64, d: i64| BigRational::new((n * sign).into(), d.into());
        let whole = if sign > 0 { base.floor() } else { base.ceil() };
        let mut found: Vec<_> = (0..40).map(|n| &whole + part(n, 1)).collect();
        found.push(base.clone());
        for denominator in [2, 4, 10, 8, 100, 1_000, 16, 1_000_000] {
            found.extend((1..4).map(|n| &whole + part(n, denominator)));
            found.extend((1..4).map(|n| &base + part(n, denominator)));
        }
        // Next to a bound of 2^53 or more, doubles have no fractions.
        found.extend([2, 4, 10].into_iter().flat_map(|parts| [part(1, parts), part(-1, parts)]));
        for by in &self.not_multiples {
            found.extend([2, 4, 5, 10].map(|parts| &base + by * part(1, parts)));
            found.extend([2, 4, 5, 10].map(|parts| by * part(1, parts)));
        }
        if let (Some((low, _)), Some((high, _))) = (&self.low, &self.high) {
            found.extend((1..20).map(|n| low + (high - low) * BigRational::new(n.into(), 20.into())));
            found.extend((1..16).map(|n| low + (high - low) * BigRational::new(n.into(), 16.into())));
            let middle =
                BigRational::from_f64(((low + high) / BigRational::from_integer(2.into())).to_f64().unwrap_or(0.0));
            found.extend(middle.and_then(|m| m.to_f64()).and_then(Number::from_f64).and_then(|n| rational(&n)));
        }
        let double = |value: f64| Number::from_f64(value).and_then(|number| rational(&number));
        found.extend(
            [1e16, 1e17, 1e20, 1e100, 1e300, 1e308].into_iter().filter_map(double).map(|value| value * part(1, 1)),
        );
        // Beyond a bound that is larger than those, only the doubles next to it are certain to exist.
        let next =
            |bound: &Option<(BigRational, bool)>, next: fn(f64) -> f64| double(next(bound.as_ref()?.0.to_f64()?));
        found.extend([next(&self.low, f64::next_up), next(&self.high, f64::next_down)].into_iter().flatten());
        found
    }

    /// Returns whether a number satisfies the demands.
    fn accepts(&self, value: &BigRational) -> bool {
        let is_above = self.low.as_ref().is_none_or(|(low, strict)| value > low || (!strict && value == low));
        let is_below = self.high.as_ref().is_none_or(|(high, strict)| value < high || (!strict && value == high));
        is_above
            && is_below
            && (if value.is_integer() { self.integers } else { self.fractions })
            && self.multiples.iter().all(|by| (value / by).is_integer())
            && !self.not_multiples.iter().any(|by| (value / by).is_integer())
            && !self.excluded.contains(value)
    }
}

/// Replaces a bound if the other one is tighter: strict, or further in the direction `tighter`.
fn tighten(known: &mut Option<(BigRational, bool)>, bound: &BigRational, strictly: bool, tighter: Ordering) {
    let is_tighter = known.as_ref().is_none_or(|(known, was_strict)| match bound.cmp(known) {
        Ordering::Equal => strictly && !was_strict,
        order => order == tighter,
    });
    if is_tighter {
        *known = Some((bound.clone(), strictly));
    }
}

/// Returns the least common multiple, or `None` if there are no numbers.
fn common_multiple(numbers: impl Iterator<Item = BigRational>) -> Option<BigRational> {
    numbers.reduce(|a, b| {
        let numerator = (a.numer() * b.denom()).lcm(&(b.numer() * a.denom()));
        BigRational::new(numerator, a.denom() * b.denom())
    })
}

/// Iterates over whole numbers between two bounds, starting with those nearest to zero or to a bound.
fn nearest(first: Option<BigInt>, last: Option<BigInt>, most: i64) -> impl Iterator<Item = BigInt> {
    let start = match (&first, &last) {
        (Some(first), _) if first.is_positive() => first.clone(),
        (_, Some(last)) if last.is_negative() => last.clone(),
        _ => BigInt::zero(),
    };
    let is_within =
        move |k: &BigInt| first.as_ref().is_none_or(|first| k >= first) && last.as_ref().is_none_or(|last| k <= last);
    let others = start.clone();
    let others = (1..=most).flat_map(move |away| [&others + away, &others - away]);
    std::iter::once(start).chain(others).filter(is_within)
}
