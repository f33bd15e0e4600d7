//! `realm_admin_contract`: writes a contract directly into the realm. An existing one is never overwritten.

use crate::ops::{
    Operation,
    ctx::Ctx,
    domain::{self, Part},
    message::Message,
    repos::unknown,
    sync::auto,
};
use crate::{
    error::{ErrorCode, OpError},
    model::{
        contract::Contract,
        json::Json,
        name::{ContractName, ContractRef, DomainName, RepoName},
        publish::{self, Direction},
        version::Version,
    },
    store::read,
    wire::{Answer, ContractAdded},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::write::<ContractAdded>(
    "realm_admin_contract",
    &["realm", "admin", "contract"],
    "Create a contract directly in the realm",
);

/// The arguments.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The domain
    #[cfg_attr(feature = "cli", arg(long, value_name = "DOMAIN"))]
    pub domain: DomainName,
    /// The contract
    #[cfg_attr(feature = "cli", arg(long = "name", value_name = "CONTRACT"))]
    pub contract: ContractName,
    /// The repository that owns the contract
    #[cfg_attr(feature = "cli", arg(long, value_name = "REPO"))]
    pub owner: RepoName,
    /// The first version [default: 0.1.0]
    #[cfg_attr(feature = "cli", arg(long, value_name = "VERSION"))]
    pub version: Option<Version>,
    /// Its schema; `{}` by default.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub schema: Option<Json>,
    /// Its value; null by default.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub value: Option<Json>,
    /// Promise that readers of an old version accept new values [default: true]
    #[cfg_attr(feature = "cli", arg(long, value_name = "BOOL", action = clap::ArgAction::Set))]
    pub backwards: Option<bool>,
    /// Promise that readers of a new version accept old values [default: false]
    #[cfg_attr(feature = "cli", arg(long, value_name = "BOOL", action = clap::ArgAction::Set))]
    pub forwards: Option<bool>,
}

/// Adds the contract.
///
/// # Errors
/// Returns an error if there is a contract of that name, or a rule refuses it.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<ContractAdded>, OpError> {
    let here = ctx.require_writable_realm()?;
    let known = read::repos(&*here.store)?.repos;
    if !known.contains_key(&request.owner) {
        let error = unknown::error((&here.realm, &*here.store), &request.owner, known.keys());
        let code = if error.code == ErrorCode::UnknownRepo { ErrorCode::UnknownOwner } else { error.code };
        return Err(OpError { code, ..error });
    }
    if let Some(acting) = here.repo.as_ref().filter(|acting| **acting != request.owner) {
        return Err(OpError::not_owner(acting, "create a contract of", &request.owner));
    }
    let document = document(request);
    let name = &request.domain;
    let wanted = [(document.name.clone(), document.version.clone())];
    let why = Message { repo: Some(&request.owner), ..Message::default() };
    domain::change(ctx, &*here.store, name, Part { published: &wanted, ..Part::default() }, why, |view| {
        if view.contracts.contains_key(&document.name) || view.versions.contains_key(&document.name) {
            let message = format!("{name}/{} already exists, and was not overwritten", document.name);
            return Err(OpError::no(ErrorCode::ContractExists, message)
                .next(format!("git blue contract edit {name}/{}", document.name)));
        }
        Ok(publish::contract(view, &request.owner, &document, Direction::Forward, &ctx.judge())?)
    })?;
    let body = ContractAdded { realm: here.realm.clone(), domain: name.clone(), contract: document.sealed().into() };
    let (contract, owner) = (&request.contract, &request.owner);
    let is_bound =
        domain::of_contract(&*here.store, &ContractRef { domain: name.clone(), contract: contract.clone() })?
            .bindings
            .contains_key(owner);
    // The second command would replace the whole binding.
    let export = if is_bound {
        format!("git blue export {name}/{contract}  # in {owner}")
    } else {
        format!("git blue realm admin binding --domain {name} --repo {owner} --role provider --export {contract}")
    };
    let edit = format!("git blue contract edit {name}/{contract}  # set the schema and value");
    let is_empty = request.schema.is_none() && request.value.is_none();
    auto::with_push(ctx, (&here.realm, &*here.store), true, Answer::new(body).next_if(is_empty, edit).next(export))
}

fn document(request: &Request) -> Contract {
    let mut document = Contract::new(request.contract.clone(), request.owner.clone());
    if let Some(version) = &request.version {
        document.version = version.clone();
    }
    if let Some(schema) = &request.schema {
        document.schema = schema.clone();
    }
    if let Some(value) = &request.value {
        document.value = value.clone();
    }
    document.compatibility.backwards = request.backwards.unwrap_or(document.compatibility.backwards);
    document.compatibility.forwards = request.forwards.unwrap_or(document.compatibility.forwards);
    document
}
