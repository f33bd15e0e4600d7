//! Helpers of these tests.

use std::time::{Duration, Instant};

use git_blue::model::compatibility::{self, Comparison, Limits, Options, SchemaVerdict};
use serde_json::Value;

/// Compares with a budget that suffices on a loaded machine.
pub fn compare(old: &Value, new: &Value) -> Comparison {
    within(old, new, Limits { time: Duration::from_secs(60), ..Limits::default() })
}

/// Compares two schemas within limits.
pub fn within(old: &Value, new: &Value, limits: Limits) -> Comparison {
    let start = Instant::now();
    let limits = Limits { differences: limits.time, ..limits };
    let options = Options { limits, most_differences: 3, ..Options::default() };
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

/// Returns the validator of a schema.
pub fn validator(schema: &Value) -> Option<jsonschema::Validator> {
    jsonschema::options().offline().build(schema).ok()
}

/// Returns errors of a comparison's witnesses: one side must accept them, the other refuse them.
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
    wrong
}
