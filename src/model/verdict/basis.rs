//! The basis of a verdict, meaning the documents or values that it compares, and the wording of verdicts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BrokenDirection, FLOW, Verdict};

/// The documents that a verdict compares.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// The schemas of two versions.
    #[default]
    Schemas,
    /// The schema that an import expects, and the schema of one version.
    Expects,
    /// The agreed values of two versions.
    Values,
    /// The flows of two versions: which side sends the values.
    Flow,
}

impl Verdict {
    /// Returns the verdict, phrased as the end of a sentence: `1.2.0 rejects {"id":1} (widened-type at /id: 1 is not a
    /// string), which 1.3.0 allows (and 2 more)`.
    pub fn phrase(&self) -> String {
        let mut text = self.first_phrase();
        if let Some(value) = &self.value_difference {
            text += &format!("; {}", value.phrase());
        }
        if self.more > 0 {
            let least = if self.more_differences { "at least " } else { "" };
            text += &format!(" (and {least}{} more)", self.more);
        }
        text
    }

    fn first_phrase(&self) -> String {
        match (self.basis, &self.difference) {
            (Basis::Values, Some(difference)) => return difference.phrase(),
            (Basis::Values, None) => return format!("{} keeps the value of {}", self.new_version, self.old_version),
            (Basis::Flow, Some(difference)) => {
                return format!("{} ({} at {FLOW})", difference.message, difference.rule);
            }
            (Basis::Expects, _) => return self.of_expects(),
            _ => {}
        }
        let (sender, reader) = match self.direction {
            BrokenDirection::Backwards => (&self.new_version, &self.old_version),
            BrokenDirection::Forwards => (&self.old_version, &self.new_version),
        };
        match (&self.difference, &self.reason) {
            (Some(difference), _) => {
                format!("{reader} rejects {}, which {sender} allows", difference.phrase())
            }
            (None, Some(reason)) => {
                format!("it is unknown whether {reader} accepts everything that {sender} allows: {reason}")
            }
            (None, None) => self.direction.meaning(&self.old_version, &self.new_version),
        }
    }

    fn of_expects(&self) -> String {
        let version = &self.new_version;
        let shown = self.difference.as_deref().map(super::SchemaDifference::phrase);
        let claim = match self.direction {
            BrokenDirection::Backwards => "allows only what the import expects",
            BrokenDirection::Forwards => "accepts everything that the importer expects to send",
        };
        match (self.direction, shown, &self.reason) {
            (BrokenDirection::Backwards, Some(shown), _) => {
                format!("{version} allows {shown}, which the import does not expect")
            }
            (BrokenDirection::Forwards, Some(shown), _) => {
                format!("{version} rejects {shown}, which the importer expects to send")
            }
            (_, None, Some(reason)) => format!("it is unknown whether {version} {claim}: {reason}"),
            (BrokenDirection::Backwards, None, None) if !self.unnamed.is_empty() => {
                format!("{version} does not name {}, which the import expects", self.unnamed.join(", "))
            }
            (_, None, None) => format!("{version} {claim}"),
        }
    }

    /// Returns the name of what is broken: a direction, the value or the flow.
    pub fn word(&self) -> &'static str {
        match self.basis {
            Basis::Values => "the value",
            Basis::Flow => "the flow",
            Basis::Schemas | Basis::Expects => self.direction.word(),
        }
    }

    /// Returns what it breaks, for a sentence: `backwards compatibility`, or that of the value or the flow.
    pub fn broken(&self) -> String {
        match self.basis {
            Basis::Values => "value compatibility".to_owned(),
            Basis::Flow => "the agreed flow".to_owned(),
            Basis::Schemas | Basis::Expects => format!("{} compatibility", self.direction.word()),
        }
    }

    /// Returns the pointer to the place of the difference, from the root of the newer document. If only the older one
    /// has a keyword there, the pointer leads to that keyword, because a part of it may remain, as of `required`.
    pub fn place(&self) -> Option<String> {
        let difference = self.difference.as_ref()?;
        let new = difference.new_pointer.as_ref()?;
        let is_below = |old: &&String| old.strip_prefix(&**new).is_some_and(|rest| rest.starts_with('/'));
        let old = difference.old_pointer.as_ref().filter(|_| self.basis != Basis::Expects).filter(is_below);
        Some(format!("/{}{}", self.part(), old.unwrap_or(new)))
    }

    /// Returns the part of a contract that is compared.
    fn part(&self) -> &'static str {
        match self.basis {
            Basis::Schemas | Basis::Expects => "schema",
            Basis::Values => "value",
            Basis::Flow => "flow",
        }
    }

    /// Returns the places of the difference, each with the version or expectation that it belongs to.
    pub fn places(&self) -> Vec<String> {
        let Some(difference) = &self.difference else { return Vec::new() };
        let (old, new) = (&self.old_version, &self.new_version);
        let old = |pointer: &String| match self.basis {
            Basis::Expects => format!("expects{pointer}"),
            Basis::Schemas | Basis::Values | Basis::Flow => format!("{old} /{}{pointer}", self.part()),
        };
        let new = |pointer: &String| format!("{new} /{}{pointer}", self.part());
        difference.old_pointer.as_ref().map(old).into_iter().chain(difference.new_pointer.as_ref().map(new)).collect()
    }
}
