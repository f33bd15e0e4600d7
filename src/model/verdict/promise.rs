//! Checks whether a document keeps its owner's promises about the next versions.

use super::{Basis, BrokenDirection, Judge, Outcome, Verdict, VersionBump, flow, values_compared};
use crate::model::{
    approval::{Approval, Fingerprint},
    contract::Contract,
    hash,
};

/// The promises that a document breaks, either proved or undecided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Promise {
    /// The directions that the document breaks although its version does not allow it, each with a witness.
    pub broken: Vec<Verdict>,
    /// The undecided directions.
    pub unknown: Vec<Verdict>,
    old_schema: String,
    new_schema: String,
    /// The hashes of both values, if the change to the value breaks a promise.
    values: Option<(String, String)>,
}

impl Promise {
    /// Returns the promises of `held` and of the document itself that the document breaks. Returns `None` if it keeps
    /// all of them, or if its version allows breaks or is not above that of `held`.
    pub fn of(held: &Contract, document: &Contract, judge: &Judge<'_>) -> Option<Self> {
        if document.version <= held.version || document.version.release() >= held.version.next_breaking() {
            return None;
        }
        let of_schemas = declared(held, document).filter_map(|direction| judge.verdict(held, document, direction));
        let of_values = judge.of_values(held, document, None);
        let values = of_values.as_ref().map(|_| (hash::canonical(&held.value), hash::canonical(&document.value)));
        let verdicts = flow::verdict(held, document).into_iter().chain(of_schemas).chain(of_values);
        let (broken, rest): (Vec<_>, Vec<_>) = verdicts.partition(|verdict| verdict.verdict == Outcome::Breaks);
        let unknown: Vec<_> = rest.into_iter().filter(|verdict| verdict.verdict == Outcome::Unknown).collect();
        let is_kept = broken.is_empty() && unknown.is_empty();
        let (old_schema, new_schema) = (held.computed_schema_hash(), document.computed_schema_hash());
        (!is_kept).then_some(Self { broken, unknown, old_schema, new_schema, values })
    }

    /// Returns the fingerprint of the change: a hash over both canonical schemas, each broken direction with its rule,
    /// both canonical values if they break a promise, and the new flow if it was reversed.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut text = format!("{}\n{}\n", self.old_schema, self.new_schema);
        for (verdict, rule) in self.rules() {
            text += &format!("{} {rule}\n", verdict.word());
            if verdict.basis == Basis::Flow {
                text += &format!("{}\n", verdict.direction.word());
            }
        }
        if let Some((old, new)) = &self.values {
            text += &format!("{old}\n{new}\n");
        }
        Fingerprint::of(&hash::of_text(text))
    }

    /// Creates an approval of this change.
    pub fn approval(&self, held: &Contract, reason: &str) -> Approval {
        let directions = self.broken_schemas().map(|verdict| verdict.direction).collect();
        let rules = self.rules().map(|(_, rule)| rule.to_owned()).collect();
        let (old_value, new_value) = self.values.clone().unzip();
        Approval {
            contract: held.name.clone(),
            fingerprint: self.fingerprint(),
            old_schema: self.old_schema.clone(),
            new_schema: self.new_schema.clone(),
            old_value,
            new_value,
            old_version: held.version.clone(),
            directions,
            rules,
            reason: reason.to_owned(),
        }
    }

    /// Returns the approval of this exact change, if it is among `approvals`.
    pub fn approved<'a>(&self, mut approvals: impl Iterator<Item = &'a Approval>) -> Option<&'a Approval> {
        let is_reversed = self.broken.iter().any(|verdict| verdict.basis == Basis::Flow);
        let fingerprint = is_reversed.then(|| self.fingerprint());
        approvals.find(|one| {
            fingerprint.as_ref().is_none_or(|fingerprint| one.fingerprint == *fingerprint)
                && one.old_schema == self.old_schema
                && one.new_schema == self.new_schema
                && self.broken_schemas().all(|verdict| one.directions.contains(&verdict.direction))
                && self
                    .values
                    .as_ref()
                    .is_none_or(|(old, new)| one.old_value.as_ref() == Some(old) && one.new_value.as_ref() == Some(new))
        })
    }

    /// Returns each broken promise by itself.
    pub fn each(&self) -> impl Iterator<Item = Self> {
        self.broken.iter().map(|verdict| Self { broken: vec![verdict.clone()], unknown: Vec::new(), ..self.clone() })
    }

    /// Describes what is broken: `backwards compatibility and value compatibility`.
    pub fn directions(&self) -> String {
        let words: Vec<_> = self.broken.iter().map(Verdict::broken).collect();
        words.join(" and ")
    }

    /// Describes the breaks with their witnesses.
    pub fn phrase(&self) -> String {
        self.broken.iter().map(Verdict::phrase).collect::<Vec<_>>().join("; ")
    }

    fn broken_schemas(&self) -> impl Iterator<Item = &Verdict> {
        self.broken.iter().filter(|verdict| verdict.basis == Basis::Schemas)
    }

    fn rules(&self) -> impl Iterator<Item = (&Verdict, &str)> {
        let broken = self.broken.iter();
        broken.filter_map(|verdict| Some((verdict, verdict.difference.as_ref()?.rule.as_str())))
    }
}

/// Returns the directions that either document promises.
pub fn declared(held: &Contract, document: &Contract) -> impl Iterator<Item = BrokenDirection> {
    let (old, new) = (held.compatibility, document.compatibility);
    let backwards = (old.backwards || new.backwards).then_some(BrokenDirection::Backwards);
    let forwards = (old.forwards || new.forwards).then_some(BrokenDirection::Forwards);
    backwards.into_iter().chain(forwards)
}

/// Returns the bump that a document needs over `held`: major if it breaks a promise about a direction or the value, or
/// reverses the flow; unknown if that is undecided; minor if it changes which values are valid, sent or agreed, or
/// what is promised; otherwise patch.
pub fn needed_bump(held: &Contract, document: &Contract, judge: &Judge<'_>) -> VersionBump {
    let verdicts = declared(held, document).filter_map(|direction| judge.verdict(held, document, direction));
    let verdicts: Vec<_> = verdicts.map(|verdict| verdict.verdict).collect();
    let values = values_compared(held, document).bump;
    if held.flow != document.flow || values == VersionBump::Major || verdicts.contains(&Outcome::Breaks) {
        return VersionBump::Major;
    }
    if verdicts.contains(&Outcome::Unknown) {
        return VersionBump::Unknown;
    }
    let is_same = values == VersionBump::Patch
        && held.compatibility == document.compatibility
        && held.values == document.values
        && judge.compare(held, document).is_same();
    if is_same { VersionBump::Patch } else { VersionBump::Minor }
}
