//! Judges changes to the agreed value by the promise about it.

use super::{
    Basis, Judge, MAX_WITNESS, Outcome, SchemaDifference, ValuesCompared, Verdict, VersionBump, says_nothing, used,
};
use crate::model::{
    compatibility,
    contract::{Contract, Values},
    json::Json,
};

impl Judge<'_> {
    /// Returns the promise that a change to the agreed value breaks, in the parts that an import `expects` or in the
    /// whole value. Returns `None` if it breaks nothing.
    pub fn of_values(&self, old: &Contract, new: &Contract, expects: Option<&Json>) -> Option<Verdict> {
        if old.value == new.value {
            return None;
        }
        let part = |one: &Contract| {
            expects.map_or_else(|| one.value.clone(), |json| used::part(&json.value(), &one.value.value()).into())
        };
        let found = compatibility::values(&part(old).value(), &part(new).value(), promised(old, new));
        if found.bump != VersionBump::Major {
            return None;
        }
        let mut breaking = found.differences.into_iter().filter(|one| one.bump == VersionBump::Major);
        let difference = SchemaDifference::from(breaking.next()?).clipped(MAX_WITNESS);
        let difference = difference.identified(&old.value.value(), &new.value.value());
        Some(Verdict {
            verdict: Outcome::Breaks,
            basis: Basis::Values,
            difference: Some(Box::new(difference)),
            more: breaking.count() + found.more,
            ..Verdict::compatible(&old.version, &new.version)
        })
    }

    /// Returns the verdict that the newer of two documents without schemas keeps the promise about the agreed value of the
    /// older one. Returns `None` if nothing is promised about it, or it breaks the promise.
    pub fn keeps_values(&self, old: &Contract, new: &Contract) -> Option<Verdict> {
        let is_promised = |one: &Contract| says_nothing(&one.schema) && !one.value.is_null();
        let is_kept = old.value == new.value || promised(old, new) != Values::Free;
        (is_promised(old) && is_promised(new) && is_kept && self.of_values(old, new, None).is_none())
            .then(|| Verdict { basis: Basis::Values, ..Verdict::compatible(&old.version, &new.version) })
    }
}

/// Compares the agreed values of two documents.
pub fn values_compared(old: &Contract, new: &Contract) -> ValuesCompared {
    compatibility::values(&old.value.value(), &new.value.value(), promised(old, new))
}

/// Returns the stricter promise about the value of two documents.
fn promised(old: &Contract, new: &Contract) -> Values {
    old.values.max(new.values)
}
