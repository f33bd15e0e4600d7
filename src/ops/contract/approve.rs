//! `contract_approve`: the owner permanently approves one breaking change, and no other.

use super::draft::Draft;
use crate::ops::{
    Operation,
    ctx::{ActingRepo, Ctx},
    domain::{self, Part},
    message::Message,
    publish::publish_log,
    runs,
    sync::auto,
};
use crate::{
    error::{ErrorCode, OpError},
    model::{
        approval::{Approval, Fingerprint},
        domain_view::DomainView,
        name::{ContractFields, ContractRef},
        publish,
        verdict::{Judge, Promise},
    },
    wire::{Answer, ContractApproved},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::writes::<Request>(
    "contract_approve",
    &["contract", "approve"],
    "Approve a breaking change to a contract",
);

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The contract
    #[serde(flatten, with = "ContractFields")]
    #[cfg_attr(feature = "cli", arg(value_name = "DOMAIN/CONTRACT"))]
    pub contract: ContractRef,
    /// The fingerprint of the change, as printed by check and publish
    #[cfg_attr(feature = "cli", arg(value_name = "FINGERPRINT"))]
    pub fingerprint: Fingerprint,
    /// The reason why this break is acceptable
    #[cfg_attr(feature = "cli", arg(long, value_name = "REASON", allow_hyphen_values = true, value_parser = crate::model::text::reason))]
    pub reason: String,
}

runs!(ContractApproved, run);

/// The step after an approval.
const PUBLISH: &str = "git blue contract publish  # publish the commit, once it is on the publishing branch";

/// Records the approval of a change that the files of this repository make, at HEAD or in the working tree.
///
/// # Errors
/// Returns an error if the contract belongs to another repository, or the files make no such change.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<ContractApproved>, OpError> {
    let acting = ctx.require_writable()?;
    let (ContractRef { domain: name, contract }, judge) = (&request.contract, ctx.judge());
    let subject = format!("approve the break {} of {contract}", request.fingerprint);
    let why = Message { repo: Some(acting.repo), reason: Some(&request.reason), subject, ..Message::default() };
    let part = Part { contracts: Some(&[contract.clone()].into()), ..Part::default() };
    let mut approved = None;
    let decision = domain::change(ctx, acting.store, name, part, why, |view| {
        require_owner(view, acting, &request.contract)?;
        let approval = known(view, request).map_or_else(|| wanted(ctx, acting, view, request, &judge), Ok)?;
        if approval.reason != request.reason {
            let message = format!("{} was already approved: {}", request.fingerprint, approval.reason);
            return Err(OpError::no(ErrorCode::AlreadyApproved, message).next(PUBLISH));
        }
        approved = Some(approval.clone());
        Ok(publish::approve(view, acting.repo, approval)?)
    })?;
    let approval = approved.ok_or_else(|| OpError::cannot(ErrorCode::Io, "nothing was decided"))?;
    publish_log::clear_remedied(ctx, acting, &approval.fingerprint.to_string());
    let answer = Answer::new(ContractApproved {
        realm: acting.realm.clone(),
        domain: name.clone(),
        contract: contract.clone(),
        fingerprint: approval.fingerprint,
        old_version: approval.old_version,
        directions: approval.directions,
        rules: approval.rules,
        reason: approval.reason,
        changed: !decision.changes.is_empty(),
    });
    let is_changed = answer.body.changed;
    auto::with_push(ctx, (acting.realm, acting.store), is_changed, answer.next(PUBLISH))
}

/// Returns an error if another repository owns the contract.
fn require_owner(view: &DomainView, acting: ActingRepo<'_>, at: &ContractRef) -> Result<(), OpError> {
    match view.owner(&at.contract).filter(|owner| *owner != acting.repo) {
        Some(owner) => {
            let message = format!("only {owner}, which owns {at}, can approve a break of it, not {}", acting.repo);
            Err(OpError::no(ErrorCode::NotOwner, message).next(format!("run it in {owner}")))
        }
        None => Ok(()),
    }
}

/// Returns the existing approval, if any.
fn known(view: &DomainView, request: &Request) -> Option<Approval> {
    let all = view.approvals.get(&request.contract.contract).into_iter().flatten();
    all.into_iter().find(|one| one.fingerprint == request.fingerprint).cloned()
}

/// Returns the approval of the change that the files make.
fn wanted(
    ctx: &Ctx,
    acting: ActingRepo<'_>,
    view: &DomainView,
    request: &Request,
    judge: &Judge<'_>,
) -> Result<Approval, OpError> {
    let held = domain::current(view, &request.contract.contract)?;
    let mut found = None;
    for draft in [Draft::Commit("HEAD".into()), Draft::Worktree] {
        let Ok(document) = draft.contract(ctx, &request.contract) else { continue };
        let promise = Promise::of(held, &document, judge).filter(|promise| !promise.broken.is_empty());
        match promise {
            Some(promise) if promise.fingerprint() == request.fingerprint => {
                return Ok(promise.approval(held, &request.reason));
            }
            Some(promise) => found = Some(promise),
            None => {}
        }
    }
    let (at, repo) = (&request.contract, acting.repo);
    let approvals = view.approvals.get(&at.contract).into_iter().flatten();
    let is_approved = found.as_ref().is_some_and(|promise| promise.approved(approvals).is_some());
    let other = found.map(|promise| promise.fingerprint());
    let message =
        format!("neither HEAD nor the working tree of {repo} contains the change {} of {at}", request.fingerprint);
    let with = |error: OpError, more: &str| OpError { message: format!("{}{more}", error.message), ..error };
    let error = OpError::no(ErrorCode::UnknownChange, message);
    Err(match other {
        Some(other) if is_approved => with(error, &format!(", but {other}, which was approved")).next(PUBLISH),
        Some(other) => error.next(format!("git blue contract approve {at} {other} --reason \"…\"  # the change found")),
        None => error.next("git blue check --worktree  # show changes that need approval"),
    })
}
