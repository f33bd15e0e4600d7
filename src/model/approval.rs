//! Approvals, by which an owner permits one change of a contract to break a promise.

use serde::{Deserialize, Serialize};

use super::{
    contract::BrokenDirection,
    name::ContractName,
    text::{as_text, hex_id},
    version::Version,
};

/// The number of digits of a fingerprint.
const DIGITS: usize = 16;

hex_id!(
    /// Identifies one change of a contract and the promise that it breaks. It is the same on every machine.
    Fingerprint,
    "",
    DIGITS..=DIGITS,
    "a fingerprint: write the 16 hex digits that git blue check prints"
);

impl Fingerprint {
    /// Returns the fingerprint that consists of the first digits of a hash.
    pub fn of(hash: &str) -> Self {
        Self(hash.chars().take(DIGITS).collect())
    }
}

as_text!(Fingerprint);

/// The approval of one breaking change: the content of `approvals/<contract>/<fingerprint>.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    /// The contract.
    pub contract: ContractName,
    /// The change.
    pub fingerprint: Fingerprint,
    /// SHA-256 of the canonical schema before the change.
    pub old_schema: String,
    /// SHA-256 of the canonical schema after the change.
    pub new_schema: String,
    /// SHA-256 of the canonical value before the change, if the change to the value is approved too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old_value: Option<String>,
    /// SHA-256 of the canonical value after the change, if the change to the value is approved too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_value: Option<String>,
    /// The version before the change.
    pub old_version: Version,
    /// The directions that the change breaks.
    pub directions: Vec<BrokenDirection>,
    /// The rule broken in each direction, as listed in docs/rules.md.
    pub rules: Vec<String>,
    /// The reason, in the owner's words.
    pub reason: String,
}
