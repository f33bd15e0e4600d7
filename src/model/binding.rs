//! A binding: the part one repository plays in a domain, with what it exports and imports.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{json::Json, name::ContractName, range::Range, version::Version};

/// What one repository provides to, and takes from, a domain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    /// Provider, consumer or both.
    pub role: Role,
    /// Contracts it provides.
    #[serde(default)]
    pub exports: Vec<Export>,
    /// Contracts it relies on.
    #[serde(default)]
    pub imports: Vec<Import>,
}

/// Which sides of a domain a repository is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It exports.
    Provider,
    /// It imports.
    Consumer,
    /// It does both.
    Both,
}

impl Role {
    /// Returns whether it may have exports.
    pub fn provides(self) -> bool {
        self != Self::Consumer
    }

    /// Returns whether it may have imports.
    pub fn consumes(self) -> bool {
        self != Self::Provider
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Provider => "provider",
            Self::Consumer => "consumer",
            Self::Both => "both",
        })
    }
}

/// A contract that a repository provides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Export {
    /// The contract.
    pub contract: ContractName,
    /// Files of the repository that make it true.
    #[serde(default)]
    pub source_files: Vec<String>,
}

/// The fields of an import that people do not type.
pub const KEPT_BY_THE_REALM: &str = "resolved_version, resolved_at and adapted_version";

/// A contract that a repository relies on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Import {
    /// The contract.
    pub contract: ContractName,
    /// The versions it works with.
    pub version: Range,
    /// The file of the repository that relies on it.
    #[serde(default)]
    pub binding: Option<String>,
    /// JSON Schema of what the repository's code relies on, where it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expects: Option<Json>,
    /// A script of the repository that tests whether its code and the contract fit, where it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<String>,
    /// The version the range resolved to when the realm stored the binding; never typed.
    #[serde(default)]
    #[schemars(skip)]
    pub resolved_version: Option<Version>,
    /// When that was; never typed.
    #[serde(default)]
    #[schemars(skip)]
    pub resolved_at: Option<jiff::Timestamp>,
    /// The version that the repository's code was written against; never typed. See [`Self::adapted`].
    #[serde(default)]
    #[schemars(skip)]
    pub adapted_version: Option<Version>,
}

impl Import {
    /// Returns an import as people type it.
    pub fn new(contract: ContractName, version: Range, binding: Option<String>) -> Self {
        Self {
            contract,
            version,
            binding,
            expects: None,
            validation: None,
            resolved_version: None,
            resolved_at: None,
            adapted_version: None,
        }
    }

    /// Returns the version that the repository's code was written against: the one that was current
    /// when the import was last edited, or that the repository named since. A binding stored by an
    /// older program only says what the range resolved to at the time.
    pub fn adapted(&self) -> Option<&Version> {
        self.adapted_version.as_ref().or(self.resolved_version.as_ref())
    }

    /// Returns the import as its repository typed it, without what the realm keeps of it.
    pub fn typed(&self) -> Self {
        let typed = Self::new(self.contract.clone(), self.version.clone(), self.binding.clone());
        Self { expects: self.expects.clone(), validation: self.validation.clone(), ..typed }
    }
}

impl Binding {
    /// Returns the import of `contract`, if there is one.
    pub fn import(&self, contract: &ContractName) -> Option<&Import> {
        self.imports.iter().find(|import| import.contract == *contract)
    }

    /// Returns the export of `contract`, if there is one.
    pub fn export(&self, contract: &ContractName) -> Option<&Export> {
        self.exports.iter().find(|export| export.contract == *contract)
    }

    /// Returns the binding as its repository typed it, without what the realm keeps of it.
    pub fn typed(&self) -> Self {
        Self { imports: self.imports.iter().map(Import::typed).collect(), ..self.clone() }
    }

    /// Says what is contradictory in the document, as a sentence, or nothing.
    pub fn contradiction(&self) -> Option<String> {
        if !self.role.provides() && !self.exports.is_empty() {
            return Some("role consumer has no exports; write role: both".into());
        }
        if !self.role.consumes() && !self.imports.is_empty() {
            return Some("role provider has no imports; write role: both".into());
        }
        let exports = self.exports.iter().map(|export| &export.contract);
        let imports = self.imports.iter().map(|import| &import.contract);
        twice(exports)
            .map(|name| format!("{name} is exported twice"))
            .or_else(|| twice(imports).map(|name| format!("{name} is imported twice; give one range")))
    }
}

fn twice<'a>(names: impl Iterator<Item = &'a ContractName>) -> Option<&'a ContractName> {
    let mut seen = std::collections::BTreeSet::new();
    names.into_iter().find(|name| !seen.insert(*name))
}
