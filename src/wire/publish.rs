//! `contract_publish`, `contract_edit` and `contract_add`.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::model::{
    change::ChangeKind,
    effects::{Broken, Remark},
};
use crate::model::{
    name::{ContractName, DomainName, RealmName, RepoName},
    oid::Oid,
    version::Version,
};

/// The answer of `contract_publish`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContractPublish {
    /// The realm.
    pub realm: RealmName,
    /// The repository whose files were published.
    pub current_repo: RepoName,
    /// The commit that they were read from; null for an edit directly in the realm.
    pub commit: Option<Oid>,
    /// Whether this was a dry run, which publishes nothing.
    pub dry_run: bool,
    /// The changes in the realm.
    pub published: Vec<Published>,
    /// The contract files that the commit removed. Their contracts remain until they are retired.
    pub removed_files: Vec<String>,
    /// The dependency cycles between repositories that this change created.
    pub cycles: Vec<String>,
    /// Whether other machines do not have the changes yet and they are not pushed automatically.
    #[serde(default)]
    pub not_pushed: bool,
}

/// A change to the realm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Published {
    /// The domain.
    pub domain: DomainName,
    /// The contract; null for a binding.
    pub contract: Option<ContractName>,
    /// What happened.
    pub change: ChangeKind,
    /// The old version.
    pub old_version: Option<Version>,
    /// The new version.
    pub new_version: Option<Version>,
    /// The fields that changed under the same version, such as `supported`; absent for a new version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Cow<'static, str>>,
    /// Those of the `fields` that were removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed_fields: Vec<Cow<'static, str>>,
    /// The first imports that the change breaks: they held before, but now their range refuses the version, or their
    /// code was written against a version that refuses the data of this one.
    pub breaks: Vec<Broken>,
    /// The number of imports that the change breaks.
    pub broken: usize,
    /// Remarks for the author of the change.
    pub remarks: Vec<Remark>,
}
