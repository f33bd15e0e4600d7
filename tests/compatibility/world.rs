//! Helpers of these tests.

use std::time::{Duration, Instant};

use git_blue::model::{
    compatibility::{self, Comparison, Limits, Options, SchemaDifference, SchemaVerdict},
    contract::SchemaReading,
};
use jsonschema::{Keyword, ValidationError};
use num_bigint::BigInt;
use num_rational::BigRational;
use serde_json::{Value, json};

/// Compares with a budget that suffices on a loaded machine.
pub fn compare(old: &Value, new: &Value) -> Comparison {
    within(old, new, Limits { time: Duration::from_secs(60), ..Limits::default() })
}

/// Compares two schemas within limits.
pub fn within(old: &Value, new: &Value, limits: Limits) -> Comparison {
    compare_with(old, new, Options { limits, ..Options::default() })
}

/// Compares two schemas in a reading that decides.
pub fn compare_in(reading: SchemaReading, old: &Value, new: &Value) -> Comparison {
    compare_with(old, new, Options { reading, ..Options::default() })
}

fn compare_with(old: &Value, new: &Value, options: Options) -> Comparison {
    let start = Instant::now();
    let limits = Limits { differences: options.limits.time, ..options.limits };
    let options = Options { limits, most_differences: 3, ..options };
    compatibility::compare(old, new, &options, &|| start.elapsed()).unwrap()
}

/// Returns the peak memory of this process in bytes; 0 where the system does not report it.
pub fn peak_memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
    most.unwrap_or(0) << 10
}

/// Returns a verdict as one letter: o compatible, x incompatible, ? unknown.
pub fn letter(verdict: &SchemaVerdict) -> char {
    match verdict {
        SchemaVerdict::Compatible => 'o',
        SchemaVerdict::Incompatible { .. } => 'x',
        SchemaVerdict::Unknown { .. } => '?',
    }
}

/// Returns both directions: `o/x` as written, and `o/x:o/o` if a lenient reading differs.
pub fn label(found: &Comparison) -> String {
    let of =
        |backwards: &SchemaVerdict, forwards: &SchemaVerdict| format!("{}/{}", letter(backwards), letter(forwards));
    let strict = of(&found.backwards.strict, &found.forwards.strict);
    let lenient = of(&found.backwards.lenient, &found.forwards.lenient);
    if strict == lenient { strict } else { format!("{strict}:{lenient}") }
}

/// Returns the validator of a schema. Its divisors are as exact as those of the program's validator.
pub fn validator(schema: &Value) -> Option<jsonschema::Validator> {
    let options = jsonschema::options().offline();
    let options = options.with_keyword("multipleOf", |_, of, _| Ok(Box::new(MultipleOf::new(of))));
    options.build(schema).ok()
}

/// `multipleOf`, exact for numbers from 2^53 on too.
struct MultipleOf {
    of: Option<BigRational>,
    rounding: Option<jsonschema::Validator>,
}

impl MultipleOf {
    fn new(of: &Value) -> Self {
        let text = of.to_string();
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let digits: Option<BigInt> = format!("{whole}{fraction}").parse().ok();
        let places = u32::try_from(fraction.len()).unwrap();
        let rounding = jsonschema::options().offline().build(&json!({"multipleOf": of})).ok();
        Self { of: digits.map(|digits| BigRational::new(digits, BigInt::from(10).pow(places))), rounding }
    }

    fn large(value: &Value) -> Option<BigRational> {
        let float = value.as_f64().filter(|float| float.abs() >= 9_007_199_254_740_992.0)?;
        let whole = value.as_i64().map(BigInt::from).or_else(|| value.as_u64().map(BigInt::from));
        whole.map(BigRational::from_integer).or_else(|| BigRational::from_float(float))
    }
}

impl<'i> Keyword<'i> for MultipleOf {
    fn validate(&self, value: &'i Value) -> Result<(), ValidationError<'i>> {
        if self.is_valid(value) { Ok(()) } else { Err(ValidationError::custom("not a multiple")) }
    }

    fn is_valid(&self, value: &'i Value) -> bool {
        match (Self::large(value), &self.of) {
            (Some(number), Some(of)) => (number / of).is_integer(),
            _ => self.rounding.as_ref().is_none_or(|rounding| rounding.is_valid(value)),
        }
    }
}

/// Returns errors of a comparison: one side must accept its witnesses, the other refuse them, and its ids must differ.
pub fn unconfirmed(old: &Value, new: &Value, found: &Comparison) -> Vec<String> {
    let (Some(old), Some(new)) = (validator(old), validator(new)) else { return Vec::new() };
    let mut wrong = Vec::new();
    let mut look = |verdict: &SchemaVerdict, inner: &jsonschema::Validator, outer: &jsonschema::Validator| {
        if let SchemaVerdict::Incompatible { difference } = verdict {
            let witness = difference.witness.as_ref().unwrap();
            if !inner.is_valid(witness) || outer.is_valid(witness) {
                wrong.push(format!("not a witness: {witness}"));
            }
        }
    };
    for (readings, inner, outer) in [(&found.backwards, &new, &old), (&found.forwards, &old, &new)] {
        look(&readings.strict, inner, outer);
        look(&readings.lenient, inner, outer);
    }
    wrong.extend(shared_ids(found).into_iter().map(|one| format!("not its own id: {one:?}")));
    wrong
}

/// Returns the differences that have the id of another one, and the verdicts whose difference is listed with another id.
pub fn shared_ids(found: &Comparison) -> Vec<&SchemaDifference> {
    let listed = &found.differences;
    let is_shared = |one: &&SchemaDifference| listed.iter().any(|other| *one != other && one.id == other.id);
    let verdicts = [&found.backwards, &found.forwards].into_iter().flat_map(|both| [&both.lenient, &both.strict]);
    let verdicts = verdicts.filter_map(|verdict| match verdict {
        SchemaVerdict::Incompatible { difference } => Some(&**difference),
        _ => None,
    });
    let is_renamed = |one: &&SchemaDifference| {
        let same = |other: &SchemaDifference| SchemaDifference { id: None, ..other.clone() };
        listed.iter().any(|other| same(one) == same(other) && one.id != other.id)
    };
    listed.iter().filter(is_shared).chain(verdicts.filter(is_renamed)).collect()
}
