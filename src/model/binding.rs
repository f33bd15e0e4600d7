//! A binding: the role of one repository in a domain, with its exports and imports.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    fmt,
};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, SeqAccess, Visitor},
};

use super::{fault::Fault, json::Json, name::ContractName, range::Range, version::Version};

/// The maximum number of exports and imports of one binding.
pub const MAX_PARTS: usize = 20_000;

/// The contracts of a domain that one repository provides and relies on.
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

/// The role of a repository in a domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Role {
    /// It exports contracts.
    #[cfg_attr(feature = "cli", value(help = "Exports contracts"))]
    Provider,
    /// It imports contracts.
    #[cfg_attr(feature = "cli", value(help = "Imports contracts"))]
    Consumer,
    /// It does both.
    #[cfg_attr(feature = "cli", value(help = "Exports and imports contracts"))]
    Both,
}

impl Role {
    /// Returns whether a repository with this role may have exports.
    pub fn provides(self) -> bool {
        self != Self::Consumer
    }

    /// Returns whether a repository with this role may have imports.
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
    /// Files of the repository that implement it.
    #[serde(default)]
    pub source_files: Vec<String>,
}

/// The fields of an import that the realm writes, rather than people.
pub const KEPT_BY_THE_REALM: &str = "resolved_version, resolved_at and adapted_version";

/// A contract that a repository relies on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Import {
    /// The contract.
    pub contract: ContractName,
    /// The range of versions that it works with.
    pub version: Range,
    /// The file of the repository that relies on it, or a list of them.
    #[serde(default)]
    pub binding: UsedIn,
    /// JSON Schema of the data that the repository's code relies on, if it is declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expects: Option<Json>,
    /// A script of the repository that tests its code against the contract.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<String>,
    /// The version that the range selected when the realm stored the binding. Not allowed in files that people write.
    #[schemars(skip)]
    pub resolved_version: Option<Version>,
    /// The time at which the range was resolved. Not allowed in files that people write.
    #[schemars(skip)]
    pub resolved_at: Option<jiff::Timestamp>,
    /// The version that the repository's code was written against. Not allowed in files that people write. See
    /// [`Self::adapted`].
    #[schemars(skip)]
    pub adapted_version: Option<Version>,
}

impl Import {
    /// Returns an import with the fields that people write.
    pub fn new(contract: ContractName, version: Range, binding: UsedIn) -> Self {
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

    /// Returns the version that the repository's code is adapted to: the one that was current when the import was last
    /// edited, or the one that the repository has named since; for an import that was written before any version
    /// satisfied it, the first one that did.
    pub fn adapted(&self) -> Option<&Version> {
        self.adapted_version.as_ref()
    }

    /// Returns whether it was written for a version that is still to come.
    pub fn is_early(&self, current: &Version) -> bool {
        self.adapted().is_none() && self.version.is_above(current)
    }

    /// Returns the first of these versions that its range accepts.
    pub fn first_of<'v>(&self, published: &'v BTreeSet<Version>) -> Option<&'v Version> {
        published.iter().find(|version| !version.is_prerelease() && self.version.matches(version))
    }

    /// Returns the import without the fields that the realm writes.
    pub fn as_written(&self) -> Self {
        let written = Self::new(self.contract.clone(), self.version.clone(), self.binding.clone());
        Self { expects: self.expects.clone(), validation: self.validation.clone(), ..written }
    }
}

/// The files of a repository that rely on a contract. In documents it is absent, one path, or a list of paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsedIn(Vec<String>);

impl UsedIn {
    /// Returns the files, as paths relative to the root of the repository.
    pub fn files(&self) -> &[String] {
        &self.0
    }

    /// Returns whether no file is named.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the files that are not listed yet. Returns whether any were added.
    pub fn add(&mut self, files: impl IntoIterator<Item = String>) -> bool {
        let before = self.0.len();
        let mut known: HashSet<_> = self.0.iter().cloned().collect();
        self.0.extend(files.into_iter().filter(|file| known.insert(file.clone())));
        self.0.len() > before
    }
}

impl FromIterator<String> for UsedIn {
    fn from_iter<I: IntoIterator<Item = String>>(files: I) -> Self {
        let mut used_in = Self::default();
        used_in.add(files);
        used_in
    }
}

impl fmt::Display for UsedIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.join(", "))
    }
}

impl Serialize for UsedIn {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0[..] {
            [] => serializer.serialize_none(),
            [file] => serializer.serialize_str(file),
            files => files.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for UsedIn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Written;

        impl<'de> Visitor<'de> for Written {
            type Value = UsedIn;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a file or a list of files")
            }

            fn visit_unit<E: de::Error>(self) -> Result<UsedIn, E> {
                Ok(UsedIn::default())
            }

            fn visit_none<E: de::Error>(self) -> Result<UsedIn, E> {
                Ok(UsedIn::default())
            }

            fn visit_str<E: de::Error>(self, file: &str) -> Result<UsedIn, E> {
                Ok(UsedIn(vec![file.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut files: A) -> Result<UsedIn, A::Error> {
                std::iter::from_fn(|| files.next_element().transpose()).collect()
            }
        }

        deserializer.deserialize_any(Written)
    }
}

impl JsonSchema for UsedIn {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "UsedIn".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["string", "array", "null"], "items": {"type": "string"}})
    }
}

impl Binding {
    /// Returns the import of `contract`, if there is one.
    pub fn import(&self, contract: &ContractName) -> Option<&Import> {
        self.imports.iter().find(|import| import.contract == *contract)
    }

    /// Returns the contracts of the imports that were written ahead of the version that they need: no version satisfied
    /// them when they were published.
    pub fn early(&self) -> impl Iterator<Item = &ContractName> {
        self.imports.iter().filter(|import| import.adapted().is_none()).map(|import| &import.contract)
    }

    /// Adapts early imports to the first of the published versions in their range: their code cannot have been written for
    /// an older one.
    pub fn adapt_early(&mut self, published: &BTreeMap<ContractName, BTreeSet<Version>>) {
        for import in self.imports.iter_mut().filter(|import| import.adapted().is_none()) {
            import.adapted_version = published.get(&import.contract).and_then(|one| import.first_of(one)).cloned();
        }
    }

    /// Returns the imports by contract, for callers that look up many of them. Agrees with [`Self::import`].
    pub fn by_contract(&self) -> BTreeMap<&ContractName, &Import> {
        // If a contract is imported more than once, the first import counts.
        self.imports.iter().rev().map(|import| (&import.contract, import)).collect()
    }

    /// Returns the export of `contract`, if there is one.
    pub fn export(&self, contract: &ContractName) -> Option<&Export> {
        self.exports.iter().find(|export| export.contract == *contract)
    }

    /// Returns the binding without the fields that the realm writes.
    pub fn as_written(&self) -> Self {
        Self { imports: self.imports.iter().map(Import::as_written).collect(), ..self.clone() }
    }

    /// Returns the first contradiction in the document, if any.
    pub fn contradiction(&self) -> Option<Fault> {
        if !self.role.provides() && !self.exports.is_empty() {
            return Some(Fault::at("/role", "role consumer has no exports; write role: both"));
        }
        if !self.role.consumes() && !self.imports.is_empty() {
            return Some(Fault::at("/role", "role provider has no imports; write role: both"));
        }
        let exports = self.exports.iter().map(|export| &export.contract);
        let imports = self.imports.iter().map(|import| &import.contract);
        let empty =
            self.imports.iter().enumerate().find_map(|(index, import)| Some((index, import.version.emptiness()?)));
        if let Some((index, why)) = empty {
            return Some(Fault::at(format!("/imports/{index}/version"), why));
        }
        let exported = twice(exports)
            .map(|(index, name)| Fault::at(format!("/exports/{index}/contract"), format!("{name} is exported twice")));
        exported.or_else(|| {
            let (index, name) = twice(imports)?;
            let message = format!("{name} is imported twice; give one range");
            Some(Fault::at(format!("/imports/{index}/contract"), message))
        })
    }
}

/// Returns the first repeated name, and the index of its second occurrence.
fn twice<'a>(names: impl Iterator<Item = &'a ContractName>) -> Option<(usize, &'a ContractName)> {
    let mut seen = HashSet::new();
    names.enumerate().find(|(_, name)| !seen.insert(*name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_is_a_string_and_several_are_a_list() {
        for (text, files) in [("null", &[][..]), ("\"a.py\"", &["a.py"]), ("[\"a.py\",\"b.py\"]", &["a.py", "b.py"])] {
            let used_in: UsedIn = serde_json::from_str(text).unwrap();
            assert_eq!(used_in.files(), files);
            assert_eq!(serde_json::to_string(&used_in).unwrap(), text);
        }
        let mut twice: UsedIn = serde_json::from_str("[\"a.py\",\"a.py\"]").unwrap();
        assert_eq!(twice.files(), ["a.py"]);
        assert!(!twice.add(["a.py".to_owned()]) && twice.add(["b.py".to_owned()]));
        assert_eq!(twice.to_string(), "a.py, b.py");
        serde_json::from_str::<UsedIn>("7").unwrap_err();
    }
}
