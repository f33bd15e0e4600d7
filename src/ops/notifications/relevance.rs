//! Selects notifications by importance and contract.

use crate::{
    model::{name::ContractRef, rank::Rank},
    wire::Notification,
};

/// The notifications that somebody wants. Without conditions, all are wanted.
#[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Relevance {
    /// Show only changes of at least this rank; the first one listed is the highest
    #[cfg_attr(feature = "cli", arg(long, value_name = "RANK", value_enum))]
    pub rank: Option<Rank>,
    /// Show only changes to this contract
    #[cfg_attr(feature = "cli", arg(long, value_name = "DOMAIN/CONTRACT"))]
    pub contract: Option<ContractRef>,
}

impl Relevance {
    /// Returns whether a notification is wanted.
    pub fn accepts(&self, one: &Notification) -> bool {
        let is_contract =
            |wanted: &ContractRef| one.domain == wanted.domain && one.contract.as_ref() == Some(&wanted.contract);
        self.rank.is_none_or(|least| one.rank <= least) && self.contract.as_ref().is_none_or(is_contract)
    }
}
