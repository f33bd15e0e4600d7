//! The argument `realm` of tools.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    model::name::RealmName,
    ops::{self, Operation},
};

/// The realm argument: any realm if the server serves all of them, else only the current one.
#[derive(Deserialize, JsonSchema)]
pub struct RealmArgument {
    // No description, which every tool would repeat.
    #[doc(hidden)]
    pub realm: Option<RealmName>,
}

/// The tools that do not take the name of a realm: they work on the current working tree, or on all realms.
const WITHOUT_REALM: [&Operation; 5] = [
    &ops::session::start::OPERATION,
    &ops::session::stop::OPERATION,
    &ops::realm::review::OPERATION,
    &ops::realm::list::OPERATION,
    &ops::contract::timeline::OPERATION,
];

/// Returns whether a server of all realms lists the argument for a tool.
pub fn is_listed_for(tool: &str) -> bool {
    !WITHOUT_REALM.iter().any(|operation| operation.name == tool)
}
