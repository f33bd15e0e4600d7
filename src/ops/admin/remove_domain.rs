//! `realm_admin_remove_domain`: removes a domain from the realm. Its history stays, and creating a domain with the same
//! name restores it.

use std::collections::BTreeSet;

use crate::{
    error::{ErrorCode, OpError},
    model::{
        change::DomainChange,
        domain::Domain,
        domain_view::{DomainView, unreadable_bindings},
        name::{DomainName, RepoName},
        publish::{self, Decision},
        text::comma_separated_at_most,
    },
    ops::{
        Operation,
        ctx::Ctx,
        domain::{self, Part},
        message::Message,
        runs,
        sync::auto,
    },
    repo::blue_files,
    wire::{Answer, DomainRemoved},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::writes::<Request>(
    "realm_admin_remove_domain",
    &["realm", "admin", "remove-domain"],
    "Remove a domain from the realm",
);

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The domain
    #[cfg_attr(feature = "cli", arg(value_name = "DOMAIN"))]
    pub domain: DomainName,
}

runs!(DomainRemoved, run);

/// The maximum number of obstacles that an answer names.
const MAX_NAMED: usize = 5;

/// Removes the domain.
///
/// # Errors
/// Returns an error if a repository still has a binding in the domain, or a contract is not retired.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<DomainRemoved>, OpError> {
    let here = ctx.require_writable_realm()?;
    let name = &request.domain;
    let subject = format!("remove the domain {name}");
    let why = Message { repo: here.repo.as_ref(), subject, ..Message::default() };
    let mut members = BTreeSet::new();
    domain::change(ctx, &*here.store, name, Part::default(), why, |view| {
        if view.info.removed {
            return Err(domain::unknown(&*here.store, name));
        }
        refuse_use(view)?;
        members.clone_from(&view.info.members);
        let sources = view.sources.keys().cloned().map(DomainChange::RemoveSource);
        let gone = Domain { members: BTreeSet::new(), removed: true, ..view.info.clone() };
        let changes = sources.chain([DomainChange::Domain(gone)]).collect();
        Ok(Decision { changes, events: Vec::new() })
    })?;
    let body =
        DomainRemoved { realm: here.realm.clone(), domain: name.clone(), members: members.into_iter().collect() };
    let remove = format!("{}  # in each repository that has them", blue_files::remove_command(name));
    let answer = Answer::new(body).next(remove);
    auto::with_push(ctx, (&here.realm, &*here.store), true, answer)
}

fn refuse_use(view: &DomainView) -> Result<(), OpError> {
    let name = &view.info.name;
    let active: Vec<_> = view.contracts.values().filter(|contract| contract.retired.is_none()).collect();
    let bound: Vec<&RepoName> = view.bindings.keys().chain(unreadable_bindings(&view.damage)).collect();
    if active.is_empty() && bound.is_empty() {
        return Ok(());
    }
    let contracts = active.iter().map(|contract| format!("{name}/{}", contract.name));
    let contracts = comma_separated_at_most(MAX_NAMED, contracts);
    let repos = comma_separated_at_most(MAX_NAMED, &bound);
    let parts = [
        (!bound.is_empty()).then(|| format!("bindings of {repos}")),
        (!active.is_empty()).then(|| format!("contracts that are not retired: {contracts}")),
    ];
    let why = parts.into_iter().flatten().collect::<Vec<_>>().join("; ");
    let mut error = OpError::no(ErrorCode::StillNeeded, format!("{name} is in use: it has {why}"));
    let binding = blue_files::binding(name);
    for repo in bound.iter().take(MAX_NAMED) {
        error = error.next(format!("git rm {binding} && git commit -m \"Leave {name}\"  # in {repo}"));
    }
    for contract in active.iter().take(MAX_NAMED) {
        let (contract, owner) = (&contract.name, &contract.owner);
        let reclaim = publish::without_owner(owner, false, view.info.has_member(owner));
        error = error
            .next(format!("git blue contract retire {name}/{contract} --reason \"…\"  # in {owner}"))
            .next_all(reclaim);
    }
    Err(error)
}
