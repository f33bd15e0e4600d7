//! `contract_yank`: the owner marks a version as one that should no longer be used. Its content stays.

use super::{
    bump,
    verdict::{self, Upcoming},
};
use crate::ops::{
    Operation,
    ctx::Ctx,
    domain::{self, Part},
    message::Message,
    runs,
    sync::auto,
};
use crate::{
    error::OpError,
    model::{
        effects,
        name::{ContractFields, ContractRef},
        publish,
        version::Version,
    },
    store::{StoreRef, read},
    wire::{Answer, ContractMarked},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::writes::<Request>("contract_yank", &["contract", "yank"], "Mark a published version as not to be used");

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The contract
    #[serde(flatten, with = "ContractFields")]
    #[cfg_attr(feature = "cli", arg(value_name = "DOMAIN/CONTRACT"))]
    pub contract: ContractRef,
    /// The version
    #[cfg_attr(feature = "cli", arg(value_name = "VERSION"))]
    pub version: Version,
    /// The reason, for its consumers
    #[cfg_attr(feature = "cli", arg(long, value_name = "REASON", allow_hyphen_values = true, value_parser = crate::model::text::reason))]
    pub reason: String,
}

runs!(ContractMarked, run);

/// Marks the version as yanked.
///
/// # Errors
/// Returns an error if there is no such version, or the contract belongs to another repository.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<ContractMarked>, OpError> {
    let acting = ctx.require_writable()?;
    let ContractRef { domain: name, contract } = &request.contract;
    let subject = format!("yank {contract} {}", request.version);
    let why = Message { repo: Some(acting.repo), reason: Some(&request.reason), subject, ..Message::default() };
    let (mut importers, mut breaks, mut reason) = (Vec::new(), Vec::new(), request.reason.clone());
    let (mut is_current, mut has_older) = (false, false);
    let only = [contract.clone()].into();
    let part = Part { bases: Some(&only), ..Part::default() };
    let decision = domain::change(ctx, acting.store, name, part, why, |view| {
        let held = domain::released(view, contract)?;
        is_current = held.version == request.version && held.retired.is_none();
        has_older = view.versions.get(contract).is_some_and(|known| known.iter().any(|one| *one < request.version));
        let hit = view.importers(contract).filter(|(_, import)| import.version.matches(&request.version));
        importers = hit.map(|(repo, _)| repo.clone()).collect();
        reason = held.yanked_reason(&request.version).unwrap_or(&request.reason).to_owned();
        let decision = publish::yank(view, acting.repo, held, &request.version, &request.reason)?;
        let mut after = publish::overlay(view, &decision.changes).into_owned();
        // Importers of the yanked version may get an older one.
        let within = StoreRef::Domain(name.clone());
        if let Some(tree) = read::tip_tree(acting.store, &within)? {
            verdict::load_bases(acting.store, &mut after, &tree, Some(&only), &Upcoming::default())?;
        }
        breaks = effects::breaks(view, &after, contract, &ctx.judge());
        Ok(decision)
    })?;
    let answer = Answer::new(ContractMarked {
        realm: acting.realm.clone(),
        domain: name.clone(),
        contract: contract.clone(),
        version: Some(request.version.clone()),
        reason,
        changed: !decision.changes.is_empty(),
        importers,
        breaks,
    });
    let is_changed = answer.body.changed;
    let impact = format!("git blue contract impact {}  # show what the broken consumers import", request.contract);
    let answer = if answer.body.breaks.is_empty() { answer } else { answer.next(impact) };
    let answer = if is_current { answer.next(bump::after_yank(ctx, &request.contract)) } else { answer };
    let back = format!(
        "git blue contract publish --rollback --reason \"…\"  # or go back: first git revert the commit of {}",
        request.version
    );
    let answer = answer.next_if(is_current && has_older, back);
    auto::with_push(ctx, (acting.realm, acting.store), is_changed, answer)
}
