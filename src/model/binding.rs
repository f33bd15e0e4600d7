//! A binding: the part one repository plays in a domain, with what it exports and imports.

use std::{collections::BTreeMap, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, SeqAccess, Visitor},
};

use super::{fault::Fault, json::Json, name::ContractName, range::Range, version::Version};

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
    /// The file of the repository that relies on it, or a list of them.
    #[serde(default)]
    pub binding: UsedIn,
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

/// The files of a repository that rely on a contract. In documents it is nothing, one path, or a list of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsedIn(Vec<String>);

impl UsedIn {
    /// Returns the files, as paths from the root of the repository.
    pub fn files(&self) -> &[String] {
        &self.0
    }

    /// Returns whether no file is named.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the files that are not there yet. Returns whether there were any.
    pub fn add(&mut self, files: impl IntoIterator<Item = String>) -> bool {
        let before = self.0.len();
        for file in files {
            if !self.0.contains(&file) {
                self.0.push(file);
            }
        }
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
                let mut used_in = UsedIn::default();
                while let Some(file) = files.next_element()? {
                    used_in.add([file]);
                }
                Ok(used_in)
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

    /// Returns the imports as [`Self::import`] finds them, for whoever looks for many.
    pub fn by_contract(&self) -> BTreeMap<&ContractName, &Import> {
        // Of several of one contract, the first counts.
        self.imports.iter().rev().map(|import| (&import.contract, import)).collect()
    }

    /// Returns the export of `contract`, if there is one.
    pub fn export(&self, contract: &ContractName) -> Option<&Export> {
        self.exports.iter().find(|export| export.contract == *contract)
    }

    /// Returns the binding as its repository typed it, without what the realm keeps of it.
    pub fn typed(&self) -> Self {
        Self { imports: self.imports.iter().map(Import::typed).collect(), ..self.clone() }
    }

    /// Returns what is contradictory in the document, or nothing.
    pub fn contradiction(&self) -> Option<Fault> {
        if !self.role.provides() && !self.exports.is_empty() {
            return Some(Fault::at("/role", "role consumer has no exports; write role: both"));
        }
        if !self.role.consumes() && !self.imports.is_empty() {
            return Some(Fault::at("/role", "role provider has no imports; write role: both"));
        }
        let exports = self.exports.iter().map(|export| &export.contract);
        let imports = self.imports.iter().map(|import| &import.contract);
        let exported = twice(exports)
            .map(|(index, name)| Fault::at(format!("/exports/{index}/contract"), format!("{name} is exported twice")));
        exported.or_else(|| {
            let (index, name) = twice(imports)?;
            let message = format!("{name} is imported twice; give one range");
            Some(Fault::at(format!("/imports/{index}/contract"), message))
        })
    }
}

/// Returns the first name that was there before, and its position.
fn twice<'a>(names: impl Iterator<Item = &'a ContractName>) -> Option<(usize, &'a ContractName)> {
    let mut seen = std::collections::BTreeSet::new();
    names.enumerate().find(|(_, name)| !seen.insert(*name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_is_a_text_and_several_are_a_list() {
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
