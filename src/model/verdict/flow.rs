//! Judges a change of the side that sends the values of a contract.

use serde_json::json;

use super::{Basis, Outcome, SchemaDifference, SchemaReading, Verdict};
use crate::model::contract::{Contract, Flow};

/// The id of the rule that the flow of a contract must not be reversed.
pub const FLOW_REVERSED: &str = "flow-reversed";

/// Returns the verdict that the flow was reversed, or `None` if it was not. Code that reads values does not send any,
/// and code that sends values does not read any, whatever the schemas allow.
pub fn verdict(old: &Contract, new: &Contract) -> Option<Verdict> {
    if old.flow == new.flow {
        return None;
    }
    let role = match new.flow {
        Flow::ProviderToConsumer => "consumers sent the values, and now receive them",
        Flow::ConsumerToProvider => "consumers received the values, and now send them",
    };
    let (direction, reading) = (new.flow.direction(), SchemaReading::Lenient);
    let difference = SchemaDifference {
        rule: FLOW_REVERSED.to_owned(),
        direction,
        reading,
        message: role.to_owned(),
        old_pointer: Some(String::new()),
        new_pointer: Some(String::new()),
        witness: None,
        witness_bytes: 0,
        at: String::new(),
        id: None,
    };
    Some(Verdict {
        verdict: Outcome::Breaks,
        basis: Basis::Flow,
        direction,
        reading,
        old_version: old.version.clone(),
        new_version: new.version.clone(),
        difference: Some(difference.identified(&json!(old.flow), &json!(new.flow))),
        more: 0,
        reason: None,
        unnamed: Vec::new(),
    })
}
