//! Renders YAML as people write it.

use serde::Serialize;

use crate::model::{
    contract::{Compatibility, Contract, Deprecated, Evolution, Flow, Validation, Values, is_default},
    json::Json,
    name::{ContractName, RepoName},
    range::Range,
    version::Version,
};

/// A contract with the fields that people write, in the usual order and without empty ones.
#[derive(Debug, Serialize)]
pub struct Typed<'a> {
    name: &'a ContractName,
    version: &'a Version,
    owner: &'a RepoName,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    compatibility: Compatibility,
    #[serde(skip_serializing_if = "is_default")]
    values: Values,
    #[serde(skip_serializing_if = "is_default")]
    flow: Flow,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    supported: &'a [Range],
    schema: &'a Json,
    value: &'a Json,
    #[serde(skip_serializing_if = "Option::is_none")]
    validation: Option<&'a Validation>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    evolution: &'a [Evolution],
    #[serde(skip_serializing_if = "Option::is_none")]
    deprecated: Option<&'a Deprecated>,
}

impl<'a> From<&'a Contract> for Typed<'a> {
    fn from(contract: &'a Contract) -> Self {
        Self {
            name: &contract.name,
            version: &contract.version,
            owner: &contract.owner,
            description: &contract.description,
            compatibility: contract.compatibility,
            values: contract.values,
            flow: contract.flow,
            supported: &contract.supported,
            schema: &contract.schema,
            value: &contract.value,
            validation: Some(&contract.validation).filter(|validation| !is_default(*validation)),
            evolution: &contract.evolution,
            deprecated: contract.deprecated.as_ref(),
        }
    }
}

/// Renders `value` as YAML that [`document`](super::document) can parse.
pub fn render<T: Serialize>(value: &T) -> String {
    let options = serde_saphyr::ser_options! { quote_all: false };
    serde_saphyr::to_string_with_options(value, options)
        .unwrap_or_else(|error| unreachable!("model types have a YAML form: {error}"))
}
