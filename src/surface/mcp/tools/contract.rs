//! The tools about contracts.

use super::{
    super::body::{self, Body},
    Call,
};
use crate::{
    error::OpError,
    ops::{
        self,
        contract::{
            diff::Newer,
            documents::Document,
            draft::Draft,
            impact::Candidate,
            validate::{Against, Payload},
        },
    },
};

/// The version that stands for the files of the work tree.
const WORKTREE: &str = "worktree";

pub fn get(call: &Call<'_>) -> Result<Body, OpError> {
    let request =
        ops::contract::get::Request { contract: call.contract()?, version: call.arguments.parsed("version")? };
    let answer = ops::contract::get::run(call.ctx, &request)?;
    let mut body = call.body(&answer);
    if let Some(at) = call.arguments.text("at") {
        body::only_at(&mut body, "contract", at, call.arguments.count("offset"))?;
    } else if call.arguments.count("offset").is_some() {
        return Err(OpError::usage("offset says where in a text to begin: it needs at"));
    } else if !call.is_full() {
        body::without_empty(
            &mut body,
            "contract",
            &["validation", "supported", "deprecated", "retired", "yanked", "description"],
        );
        if let Some(contract) = body.fields.get_mut("contract").and_then(serde_json::Value::as_object_mut) {
            contract.remove("content_hash");
            contract.remove("schema_hash");
        }
    }
    Ok(body)
}

pub fn list(call: &Call<'_>) -> Result<Body, OpError> {
    let domain = call.arguments.parsed("domain")?;
    call.paged(100, |page| {
        let request = ops::contract::list::Request { domain: domain.clone(), search: None, page };
        Ok(call.body(&ops::contract::list::run(call.ctx, &request)?))
    })
}

pub fn diff(call: &Call<'_>) -> Result<Body, OpError> {
    let request = ops::contract::diff::Request {
        contract: call.contract()?,
        old: call.arguments.parsed("old_version")?,
        new: match call.arguments.text("new_version") {
            Some(WORKTREE) => Newer::Draft(Draft::Worktree),
            _ => Newer::Version(call.arguments.parsed("new_version")?),
        },
    };
    Ok(call.body(&ops::contract::diff::run(call.ctx, &request)?))
}

pub fn impact(call: &Call<'_>) -> Result<Body, OpError> {
    let to = match (call.arguments.flag("worktree"), call.arguments.parsed("to")?) {
        (false, to) => Candidate::Version(to),
        (true, None) => Candidate::Draft(Draft::Worktree),
        (true, Some(_)) => return Err(OpError::usage("pass either to or worktree")),
    };
    let request = ops::contract::impact::Request { contract: call.contract()?, to };
    Ok(call.body(&ops::contract::impact::run(call.ctx, &request)?))
}

pub fn validate(call: &Call<'_>) -> Result<Body, OpError> {
    let given = call.arguments;
    let against = match (given.parsed("version")?, given.parsed("range")?, given.flag("worktree")) {
        (None, None, false) => Against::Current,
        (Some(version), None, false) => Against::Version(version),
        (None, Some(range), false) => Against::Range(range),
        (None, None, true) => Against::Draft(Draft::Worktree),
        _ => return Err(OpError::usage("pass one of version, range and worktree")),
    };
    let value = given.json("payload").cloned().unwrap_or_default();
    let payload = Payload { file: "payload".to_owned(), document: Document { line: None, value } };
    let request = ops::contract::validate::Request { contract: call.contract()?, against, payloads: vec![payload] };
    Ok(call.body(&ops::contract::validate::run(call.ctx, &request)?))
}

pub fn blame(call: &Call<'_>) -> Result<Body, OpError> {
    let (contract, version) = (call.contract()?, call.arguments.parsed("version")?);
    let pointer = call.arguments.text("pointer").map(str::to_owned);
    call.paged(100, |page| {
        let (contract, version, pointer) = (contract.clone(), version.clone(), pointer.clone());
        let request = ops::contract::blame::Request { contract, pointer, version, page };
        Ok(call.body(&ops::contract::blame::run(call.ctx, &request)?))
    })
}

pub fn timeline(call: &Call<'_>) -> Result<Body, OpError> {
    let contract = call.contract()?;
    call.paged(50, |page| {
        let request = ops::contract::timeline::Request { contract: contract.clone(), page };
        Ok(call.body(&ops::contract::timeline::run(call.ctx, &request)?))
    })
}
