//! `contract_diff`: what one version of a contract changed against another.

use serde_json::Value;

use super::{Operation, contract_get, ctx::Ctx};
use crate::{
    error::OpError,
    model::{diff::diff, name::ContractRef, version::Version},
    wire::{Answer, ContractDetail, ContractDiff},
};

/// Its entry in the table.
pub const OPERATION: Operation = Operation::read::<ContractDiff>(
    "contract_diff",
    &["contract", "diff"],
    "Show what a version of a contract changed",
);

/// What the realm keeps beside the document, or what differs in any case.
const LEFT_OUT: [&str; 5] = ["version", "schema_hash", "content_hash", "retired", "yanked"];

/// What is asked.
#[derive(Debug, Clone)]
pub struct Request {
    /// Which contract.
    pub contract: ContractRef,
    /// From which version; by default the published one before `new`.
    pub old: Option<Version>,
    /// To which version; the current one by default.
    pub new: Option<Version>,
}

/// Answers.
///
/// # Errors
/// Where there is no such contract or version, none before it, or one that cannot be read.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<ContractDiff>, OpError> {
    let get = |version| {
        let request = contract_get::Request { contract: request.contract.clone(), version };
        contract_get::run(ctx, &request).map(|answer| answer.body)
    };
    let newer = get(request.new.clone())?;
    let old = match &request.old {
        Some(version) => version.clone(),
        None => before(&newer.versions, &newer.contract.version).ok_or_else(|| {
            let at = &request.contract;
            let message = format!("no version of {at} was published before {}", newer.contract.version);
            OpError::no("no-earlier-version", message).next(format!("git blue contract get {at} shows it"))
        })?,
    };
    let older = get(Some(old))?;
    let typed = |contract: &ContractDetail| contract.typed().computed_content_hash();
    let body = ContractDiff {
        realm: newer.realm,
        domain: newer.domain,
        contract: newer.contract.name.clone(),
        content_changed: typed(&older.contract) != typed(&newer.contract),
        changes: diff(&document(&older.contract), &document(&newer.contract)),
        old_version: older.contract.version,
        new_version: newer.contract.version,
    };
    let impact = format!("git blue contract impact {} --to {}", request.contract, body.new_version);
    let answer = Answer::new(body);
    Ok(if answer.body.content_changed { answer.next(format!("{impact}: who it means something for")) } else { answer })
}

/// Returns the version that people mean by the one before: a release, unless a pre-release is asked
/// about or there is nothing else.
fn before(versions: &[Version], version: &Version) -> Option<Version> {
    let earlier = || versions.iter().filter(|one| *one < version);
    let release = earlier().rfind(|one| version.is_prerelease() || !one.is_prerelease());
    release.or_else(|| earlier().next_back()).cloned()
}

fn document(contract: &ContractDetail) -> Value {
    let mut value = serde_json::to_value(contract).unwrap_or_default();
    if let Value::Object(fields) = &mut value {
        fields.retain(|name, _| !LEFT_OUT.contains(&&**name));
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_before_a_release_is_a_release() {
        let versions: Vec<Version> =
            ["1.0.0-rc.1", "1.0.0", "1.1.0-rc.1", "1.1.0"].map(|text| text.parse().unwrap()).to_vec();
        let found = |version: &str| before(&versions, &version.parse().unwrap()).map(|found| found.to_string());
        assert_eq!(found("1.1.0").as_deref(), Some("1.0.0"));
        assert_eq!(found("1.1.0-rc.1").as_deref(), Some("1.0.0"));
        assert_eq!(found("1.0.0").as_deref(), Some("1.0.0-rc.1"));
        assert_eq!(found("1.0.0-rc.1"), None);
    }
}
