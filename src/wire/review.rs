//! `realm_review`: what changed under this repository's imports, and where its code says so.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::JudgedBy;
pub use crate::model::review::{ChangedField, FieldChange};
use crate::model::{
    binding::UsedIn,
    name::{ContractName, DomainName, RealmName, RepoName},
    range::Range,
    verdict::Verdict,
    version::Version,
};

/// The answer of `realm_review`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RealmReview {
    /// The realm.
    pub realm: RealmName,
    /// The repository that asked.
    pub current_repo: RepoName,
    /// Why this clone only reads: it is not joined, or is not the repository that it says it is; none
    /// where it may write.
    pub read_only: Option<String>,
    /// How many imports were looked at.
    pub checked: usize,
    /// How many of them are judged by their version range alone.
    pub by_range_only: usize,
    /// The imports that are broken, behind, or not at the version that their code was written against: the
    /// broken ones first.
    pub imports: Vec<ImportReview>,
    /// The tree that was searched for mentions.
    pub searched: Searched,
    /// The reason that mentions may be missing; `null` if all are listed.
    pub mentions_cut: Option<String>,
    /// Domains that cannot be read, and why: the answer says nothing of them.
    pub unreadable_domains: Vec<String>,
}

/// Where to search for mentions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Searched {
    /// In the tracked files of the work tree, as they are now.
    Worktree,
    /// In the files of HEAD: the repository has no work tree.
    Head,
    /// Nowhere: no field was removed or changed, or there is no repository or no commit here.
    Nothing,
}

/// An import that is to be looked at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ImportReview {
    /// The domain.
    pub domain: DomainName,
    /// What.
    pub contract: ContractName,
    /// The versions it works with.
    pub version_req: Range,
    /// `current`, `stale` (an older version is still served) or `broken`.
    #[schemars(extend("enum" = ["current", "stale", "broken"]))]
    pub state: Cow<'static, str>,
    /// What the verdict is based on.
    pub judged_by: JudgedBy,
    /// The version that this repository's code was written against; none where that is not known.
    pub old_version: Option<Version>,
    /// The current version; none where there is no such contract.
    pub new_version: Option<Version>,
    /// What the version that counts means for code that is written against the old one, with a value that
    /// shows it; none where that is not known.
    pub verdict: Option<Verdict>,
    /// What differs between the two versions in schema, value and promise, a line each: `-` was removed, `+`
    /// added, `~` changed. At most 20.
    pub differences: Vec<String>,
    /// The number of further ones.
    pub more_differences: usize,
    /// The fields that were removed or changed.
    pub fields: Vec<ChangedField>,
    /// The file that the binding says relies on the contract, or a list of them.
    pub binding: UsedIn,
    /// The file that holds the binding; none where only the realm does.
    pub binding_file: Option<String>,
    /// The line of the version range in it, from 1.
    pub binding_line: Option<u32>,
    /// Where one of the fields is named in this repository, in the binding's file first. A mention need not
    /// be a use.
    pub mentions: Vec<Mention>,
}

/// A line that has the name of a field, as a whole word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mention {
    /// The file, from the root of the repository.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The field.
    pub field: String,
    /// The line's text, cut where it is long.
    pub text: String,
}
