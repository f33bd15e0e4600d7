//! `contract_adapted`: records which version this repository's code is written against.

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
        binding::Import,
        change::DomainChange,
        domain_view::DomainView,
        name::{ContractFields, ContractRef},
        publish::Decision,
        version::Version,
    },
    wire::{Answer, ContractAdapted},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::writes::<Request>(
    "contract_adapted",
    &["contract", "adapted"],
    "Record which version this repository's code is adapted to",
);

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The contract
    #[serde(flatten, with = "ContractFields")]
    #[cfg_attr(feature = "cli", arg(value_name = "DOMAIN/CONTRACT"))]
    pub contract: ContractRef,
    /// The published version [default: the current one]
    #[cfg_attr(feature = "cli", arg(value_name = "VERSION"))]
    pub version: Option<Version>,
}

runs!(ContractAdapted, run);

/// Records the version in the binding of this repository.
///
/// # Errors
/// Returns an error if this repository does not import the contract, or the version was never published.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<ContractAdapted>, OpError> {
    let acting = ctx.require_writable()?;
    let ContractRef { domain: name, contract } = &request.contract;
    let subject = format!("{} is adapted to {contract}", acting.repo);
    let why = Message { repo: Some(acting.repo), subject, ..Message::default() };
    let (mut before, mut after) = (None, None);
    let mut yanked = false;
    let mut accepted = true;
    let decision = domain::change(ctx, acting.store, name, Part::default(), why, |view| {
        let mut binding = view.bindings.get(acting.repo).cloned();
        let imports = binding.iter_mut().flat_map(|binding| &mut binding.imports);
        let import = imports.into_iter().find(|import| import.contract == *contract);
        let import = import.ok_or_else(|| domain::not_imported(acting.repo, &request.contract))?;
        let version = match &request.version {
            Some(version) => published(view, &request.contract, version)?,
            None => domain::current(view, contract)?.version.clone(),
        };
        let held = view.contracts.get(contract);
        yanked = held.is_some_and(|held| held.yanked_reason(&version).is_some());
        before = Import::adapted(import).cloned();
        after = Some(version.clone());
        // No range accepts a pre-release that it does not name, but this one may accept the release.
        accepted = import.version.matches(&version) || import.version.matches(&version.release());
        if import.adapted_version.as_ref() == Some(&version) {
            return Ok(Decision::default());
        }
        import.adapted_version = Some(version);
        let changes = binding.map(|binding| DomainChange::Binding(acting.repo.clone(), binding)).into_iter().collect();
        Ok(Decision { changes, events: Vec::new() })
    })?;
    let answer = Answer::new(ContractAdapted {
        realm: acting.realm.clone(),
        domain: name.clone(),
        contract: contract.clone(),
        current_repo: acting.repo.clone(),
        old_version: before,
        adapted_version: after,
        changed: !decision.changes.is_empty(),
    });
    let edit = format!("edit .blue/bindings/{name}.yaml: its range for {contract} does not accept that version");
    let answer = if accepted { answer } else { answer.next(edit) };
    let why = format!("git blue contract get {}  # this version was yanked; the reason is there", request.contract);
    let answer = answer.next_if(yanked, why);
    auto::with_push(ctx, (acting.realm, acting.store), !decision.changes.is_empty(), answer)
}

fn published(view: &DomainView, at: &ContractRef, version: &Version) -> Result<Version, OpError> {
    let known = view.versions.get(&at.contract);
    if known.is_some_and(|known| known.contains(version)) {
        return Ok(version.clone());
    }
    Err(domain::never_published(at, version, known.into_iter().flatten().map(ToString::to_string).collect()))
}
