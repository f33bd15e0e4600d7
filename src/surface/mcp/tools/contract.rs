//! The tools about contracts.

use super::{
    super::body::{self, Body},
    Call,
};
use crate::{error::OpError, ops};

pub fn get(call: &Call<'_>) -> Result<Body, OpError> {
    let request = ops::contract_get::Request { contract: call.contract()?, version: call.arguments.parsed("version")? };
    let answer = ops::contract_get::run(call.ctx, &request)?;
    let mut body = Body::of(&answer);
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
        let request = ops::contract_list::Request { domain: domain.clone(), search: None, page };
        Ok(Body::of(&ops::contract_list::run(call.ctx, &request)?))
    })
}

pub fn diff(call: &Call<'_>) -> Result<Body, OpError> {
    let request = ops::contract_diff::Request {
        contract: call.contract()?,
        old: call.arguments.parsed("old_version")?,
        new: call.arguments.parsed("new_version")?,
    };
    Ok(Body::of(&ops::contract_diff::run(call.ctx, &request)?))
}

pub fn impact(call: &Call<'_>) -> Result<Body, OpError> {
    let request = ops::contract_impact::Request { contract: call.contract()?, to: call.arguments.parsed("to")? };
    Ok(Body::of(&ops::contract_impact::run(call.ctx, &request)?))
}

pub fn timeline(call: &Call<'_>) -> Result<Body, OpError> {
    let contract = call.contract()?;
    call.paged(50, |page| {
        let request = ops::contract_timeline::Request { contract: contract.clone(), page };
        Ok(Body::of(&ops::contract_timeline::run(call.ctx, &request)?))
    })
}
