//! Judges a change of the side that sends the values of a contract.

use serde_json::json;

use super::{Basis, Outcome, SchemaDifference, ValueChange, Verdict, VersionBump};
use crate::model::contract::{Contract, Flow};

/// The id of the rule that the flow of a contract must not be reversed.
pub const FLOW_REVERSED: &str = "flow-reversed";

/// The place of the flow in a contract.
pub const FLOW: &str = "/flow";

/// Describes how the flow was reversed, or returns `None` if it was not.
pub fn reversal(old: &Contract, new: &Contract) -> Option<&'static str> {
    (old.flow != new.flow).then_some(match new.flow {
        Flow::ProviderToConsumer => "consumers sent the values, and now receive them",
        Flow::ConsumerToProvider => "consumers received the values, and now send them",
    })
}

/// Returns the verdict that the flow was reversed, or `None` if it was not. Code that reads values does not send any,
/// and code that sends values does not read any, whatever the schemas allow.
pub fn verdict(old: &Contract, new: &Contract) -> Option<Verdict> {
    let change = ValueChange {
        rule: FLOW_REVERSED.to_owned(),
        message: reversal(old, new)?.to_owned(),
        old_pointer: Some(String::new()),
        new_pointer: Some(String::new()),
        bump: VersionBump::Major,
    };
    let direction = new.flow.direction();
    let difference = SchemaDifference { direction, ..change.into() };
    Some(Verdict {
        verdict: Outcome::Breaks,
        basis: Basis::Flow,
        direction,
        difference: Some(Box::new(difference.identified(&json!(old.flow), &json!(new.flow)))),
        ..Verdict::compatible(&old.version, &new.version)
    })
}
