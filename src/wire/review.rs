//! `realm_review`: the changes of contracts that this repository imports, and the code that mentions them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{JudgedBy, lenient};
pub use crate::model::review::{ChangedField, FieldChange};
use crate::model::{
    binding::UsedIn,
    contract::{Deprecated, is_default},
    domain_view::ImportStanding,
    name::{ContractName, DomainName, RealmName, RepoName},
    next_step::NextStep,
    range::Range,
    verdict::Verdict,
    version::Version,
};

/// The answer of `realm_review`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmReview {
    /// The realm.
    pub realm: RealmName,
    /// The current repository.
    pub current_repo: RepoName,
    /// The reason this clone is read-only: it did not join, or is not the repository it claims to be; null if it may
    /// write.
    pub read_only: Option<String>,
    /// The number of imports that were checked.
    pub checked: usize,
    /// The number of these imports that are judged by their version range alone.
    pub by_range_only: usize,
    /// The imports that are broken, behind or unknown, whose code was written against another version, or
    /// whose contract is deprecated or retired. Broken ones come first.
    pub imports: Vec<ImportReview>,
    /// The tree that was searched for mentions.
    pub searched: Searched,
    /// The reason that mentions may be missing; null if all are listed.
    pub mentions_cut: Option<String>,
    /// The domains that cannot be read, each with the reason. They are missing from this answer.
    pub unreadable_domains: Vec<String>,
    /// The reasons why contracts of imports cannot be read. Such imports are `unknown`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unreadable: Vec<String>,
}

/// The files that are searched for mentions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Searched {
    /// The tracked files of the working tree, as they are now.
    Worktree,
    /// The files of HEAD, because the repository has no working tree.
    Head,
    /// No files: no field was removed or changed, or there is no repository or no commit.
    Nothing,
}

/// An import to review.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportReview {
    /// The domain.
    pub domain: DomainName,
    /// The contract.
    pub contract: ContractName,
    /// The version range of the import.
    pub version_req: Range,
    /// `current`, `behind` (an older version is still served), `broken`, or `unknown` (the contract cannot be read).
    pub state: ImportStanding,
    /// The basis of the state.
    pub judged_by: JudgedBy,
    /// Whether the owner withdraws the contract; absent if not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub withdrawal: Option<Withdrawal>,
    /// The end of the contract's support, and its replacement; absent if it is not deprecated.
    #[serde(default, deserialize_with = "lenient::option", skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<Deprecated>,
    /// Whether the last day that the deprecated contract is served is past.
    #[serde(default, skip_serializing_if = "is_default")]
    pub past_sunset: bool,
    /// The version that this repository's code was written against; null if unknown.
    pub old_version: Option<Version>,
    /// The current version; null if there is no such contract, or it cannot be read.
    pub new_version: Option<Version>,
    /// The effect of the current version on code written against the old one, with a value that shows it; null if
    /// unknown. If an older version that is served breaks the import, this is the effect of that version.
    pub verdict: Option<Verdict>,
    /// Whether the old version fails `expects` too, so that no change of the contract broke the import.
    #[serde(default, skip_serializing_if = "is_default")]
    pub never_satisfied: bool,
    /// The differences between the two versions in schema, value and promise, one per line: `-` for removed, `+` for
    /// added, `~` for changed. At most 20.
    pub differences: Vec<String>,
    /// The number of further differences, which are not listed.
    pub more_differences: usize,
    /// The fields that were removed or changed. If there are more than 20, those that are mentioned in code come first
    /// and are all listed; only others are left out.
    pub fields: Vec<ChangedField>,
    /// The number of further fields, which are not listed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub more_fields: usize,
    /// The files that rely on the contract, from the binding: a path, or a list of paths.
    pub binding: UsedIn,
    /// The binding file; null if the binding is only in the realm.
    pub binding_file: Option<String>,
    /// The line of the version range in that file, counted from 1.
    pub binding_line: Option<u32>,
    /// The version range in that file; absent if it is the published one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_version_req: Option<Range>,
    /// The step for this import, which is also one of the answer's; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_step: Option<NextStep>,
    /// The lines of this repository that contain one of the field names, those in the `binding` files first. A mention
    /// need not be a use.
    pub mentions: Vec<Mention>,
}

/// How the owner of a contract withdraws it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Withdrawal {
    /// Consumers should move away.
    Deprecated,
    /// It is no longer served.
    Retired,
    /// Its current version should not be used.
    Yanked,
}

/// A line that contains the name of a field as a whole word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mention {
    /// The file, relative to the root of the repository.
    pub file: String,
    /// The line number, counted from 1.
    pub line: u32,
    /// The name of the field.
    pub field: String,
    /// The text of the line, truncated if long.
    pub text: String,
}
