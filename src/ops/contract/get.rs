//! `contract_get`: returns a contract in full. The cost does not grow with the size of the realm, except for the
//! origin, which is looked up in the domain's history.

use crate::{
    error::OpError,
    model::{
        contract::Contract,
        domain_view::DomainView,
        name::{ContractFields, ContractName, ContractRef},
        transfer::Transfers,
        version::Version,
    },
    ops::{
        Operation,
        ctx::Ctx,
        domain,
        history::arrivals::{arrivals, origin},
        repos::commit_links::CommitLinks,
        runs,
    },
    store::{
        StoreRef, layout,
        read::{self, ContractRole},
    },
    wire::{Answer, ContractBinding, ContractGet, Relationship},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::reads::<Request>("contract_get", &["contract", "get"], "Show one contract")
    .reads_past()
    .tool("Show a contract: schema, value, versions, who exports and imports it. Call it before using or changing it.")
    .route("GET", "/realms/{realm}/contracts/{domain}/{contract}");

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The contract
    #[serde(flatten, with = "ContractFields")]
    #[cfg_attr(feature = "cli", arg(value_name = "DOMAIN/CONTRACT"))]
    pub contract: ContractRef,
    /// Show this published version instead of the current one
    #[cfg_attr(feature = "cli", arg(long, value_name = "VERSION"))]
    pub version: Option<Version>,
    /// Also show who published it, and from where
    #[cfg_attr(feature = "cli", arg(long))]
    #[serde(default)]
    pub origin: bool,
}

runs!(ContractGet, run);

/// Returns the contract.
///
/// # Errors
/// Returns an error if there is no such contract or version, or it cannot be read.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<ContractGet>, OpError> {
    let here = ctx.realm()?;
    let ContractRef { domain: domain_name, contract: name } = &request.contract;
    let tip = domain::tip(&*here.store, domain_name)?;
    let one = read::OneContract::at(&*here.store, domain_name, tip, name)?;
    let mut view = one.view()?;
    if let Some(version) = &request.version {
        read::load_version(&*here.store, &mut view, one.tree(), name, version)?;
    }
    let contract = match &request.version {
        Some(version) => {
            let published = at_version(&view, name, version)?;
            // What happened to a version after it was published is in the current document.
            match view.contracts.get(name) {
                Some(now) => Contract { yanked: now.yanked.clone(), retired: now.retired.clone(), ..published },
                None => published,
            }
        }
        None => domain::current(&view, name)
            .cloned()
            .map_err(|error| domain::with_similar_name(&*here.store, &request.contract, error))?,
    };
    let origin = if request.origin {
        let arrival = arrivals(&*here.store, tip, name)?.remove(&contract.version);
        let links = CommitLinks::new(ctx, &*here.store);
        arrival.map(|arrival| origin(&links, name, contract.version.clone(), arrival)).transpose()?
    } else {
        None
    };
    // `check` reports a damaged record of transfers.
    let domain = StoreRef::Domain(domain_name.clone());
    let transfers = read::file::<Transfers>(&*here.store, &domain, one.tree(), &layout::transfers(name));
    let offered_to = transfers.ok().flatten().and_then(|transfers| transfers.offered(view.owner(name)?).cloned());
    let roles = one.roles()?;
    let body = ContractGet {
        realm: here.realm.clone(),
        domain: domain_name.clone(),
        contract: contract.into(),
        origin,
        offered_to,
        bindings: bindings(roles.known),
        unreadable_bindings: roles.unreadable,
        versions: view.versions.get(name).into_iter().flatten().cloned().collect(),
        current_version: view.contracts.get(name).map(|contract| contract.version.clone()),
        current_repo: here.repo.clone(),
    };
    Ok(Answer::new(body))
}

/// Returns a published version.
///
/// # Errors
/// Returns an error if that version was never published, or cannot be read.
pub fn at_version(view: &DomainView, name: &ContractName, version: &Version) -> Result<Contract, OpError> {
    let published = view.published.get(&(name.clone(), version.clone()));
    if let Some(document) = published.or_else(|| view.document(name, version)) {
        return Ok(document.clone());
    }
    let known = view.versions.get(name).into_iter().flatten();
    if known.clone().any(|one| one == version) {
        return Err(domain::unreadable(view, name));
    }
    if known.clone().next().is_none() {
        domain::current(view, name)?;
    }
    let at = ContractRef { domain: view.info.name.clone(), contract: name.clone() };
    Err(domain::never_published(&at, version, known.map(ToString::to_string).collect()))
}

fn bindings(roles: Vec<ContractRole>) -> Vec<ContractBinding> {
    let mut lines = Vec::new();
    for ContractRole { repo, role, exports, imports } in roles {
        let line = |relationship, version_req| ContractBinding {
            repo: repo.clone(),
            role: role.into(),
            relationship,
            version_req,
        };
        lines.extend(exports.then(|| line(Relationship::Exports, None)));
        lines.extend(imports.map(|range| line(Relationship::Imports, Some(range))));
    }
    lines
}
