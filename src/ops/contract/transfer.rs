//! `contract_transfer`: offers a contract to another repository. The ownership changes when that repository publishes
//! the contract from its own files.

use std::fs;

use crate::ops::{
    Operation,
    ctx::Ctx,
    domain::{self, Part},
    message::Message,
    publish::work_file::{WorkFile, committed},
    sync::auto,
};
use crate::{
    error::{ErrorCode, OpError},
    locate::{renamed, unknown},
    model::{
        candidate::write_file_of,
        contract::Contract,
        domain_view::DomainView,
        name::{ContractRef, RepoName},
        publish,
    },
    repo::{
        CodeRepo,
        blue_files::{self, contract_path},
    },
    store::{StoreRef, codec, layout, read},
    wire::{Answer, ContractTransfer},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::write::<ContractTransfer>(
    "contract_transfer",
    &["contract", "transfer"],
    "Offer a contract to another repository",
);

/// The arguments.
#[derive(Debug, Clone)]
pub struct Request {
    /// The contract.
    pub contract: ContractRef,
    /// The new owner; `None` withdraws the offer.
    pub to: Option<RepoName>,
}

/// Records the offer.
///
/// # Errors
/// Returns an error if the contract belongs to another repository, or the new owner is not a member of the domain.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<ContractTransfer>, OpError> {
    let acting = ctx.require_writable()?;
    let ContractRef { domain: name, contract } = &request.contract;
    let subject = match &request.to {
        Some(to) => format!("offer {contract} to {to}"),
        None => format!("withdraw the offer of {contract}"),
    };
    let why = Message { repo: Some(acting.repo), subject, ..Message::default() };
    let repos = read::repos(acting.store)?.repos;
    let part = Part { contracts: Some(&[contract.clone()].into()), ..Part::default() };
    let decision = domain::change(ctx, acting.store, name, part, why, |view| {
        let held = domain::released(view, contract)?;
        if request.to.as_ref() == Some(acting.repo) {
            return Err(to_itself(ctx, (view, acting.repo), &request.contract, &held.owner));
        }
        let decision = publish::offer(view, acting.repo, held, request.to.as_ref())?;
        if let Some(to) = request.to.as_ref().filter(|to| !view.info.has_member(to)) {
            if !repos.contains_key(to) {
                let newer = renamed::newer(acting.store, to)?;
                let renamed = newer.map(|newer| renamed::was_renamed(to, &newer).next(format!("use the name {newer}")));
                return Err(renamed.unwrap_or_else(|| unknown::repo(acting.realm, to, repos.keys())));
            }
            let message = format!("{name} has no member {to}");
            return Err(OpError::no(ErrorCode::NotMember, message)
                .next(format!("git blue realm admin domain --name {name} --repos {to}")));
        }
        Ok(decision)
    })?;
    let answer = Answer::new(ContractTransfer {
        realm: acting.realm.clone(),
        domain: name.clone(),
        contract: contract.clone(),
        owner: acting.repo.clone(),
        offered_to: request.to.clone(),
        changed: !decision.changes.is_empty(),
    });
    let is_changed = answer.body.changed;
    let answer = auto::with_push(ctx, (acting.realm, acting.store), is_changed, answer)?;
    let Some(to) = &request.to else { return Ok(answer) };
    let (up, file) = (ctx.up_to_root(), contract_path(name, contract));
    let binding = WorkFile::of(ctx.code()?, blue_files::binding(name))?.read().ok().flatten();
    let is_exported =
        binding.and_then(|text| codec::binding(text.as_bytes()).ok()?.export(contract).map(drop)).is_some();
    Ok(answer
        .next(format!(
            "{}  # at the root of {to}, if the file is missing there; committing it accepts the contract",
            write_file_of(to, name, contract, "")
        ))
        .next(format!("git rm {up}{file}  # here, once {to} owns it"))
        .next_if(
            is_exported,
            format!("git blue unexport {}  # here too: this repository no longer provides it", request.contract),
        ))
}

/// Returns the error for a repository that offers a contract to itself: it already owns the contract, or wants to own
/// it.
fn to_itself(ctx: &Ctx, (view, me): (&DomainView, &RepoName), at: &ContractRef, owner: &RepoName) -> OpError {
    if owner == me {
        return OpError::usage(format!("{me} already owns {at}"));
    }
    let error = OpError::no(ErrorCode::NotOwner, format!("{at} belongs to {owner}, not {me}"));
    let record = view.transfers.get(&at.contract);
    if record.and_then(|record| record.offered(owner)) == Some(me) {
        error.next(accepting(ctx, at, me))
    } else if !view.info.has_member(owner) {
        error.next_all(publish::without_owner(owner, false, false))
    } else {
        error.next(format!("git blue contract transfer {at} --to {me}  # in {owner}"))
    }
}

/// Returns the step by which this repository accepts an offered contract: a command that writes its file, or what to edit
/// in the file, which may refer to others.
pub fn accepting(ctx: &Ctx, contract: &ContractRef, me: &RepoName) -> String {
    let file = contract_path(&contract.domain, &contract.contract);
    let root = ctx.code.as_ref().and_then(CodeRepo::workdir);
    let text = root.and_then(|root| fs::read(root.join(&file)).ok());
    let held = text.as_ref().and_then(|text| codec::contract(text, &contract.contract).ok());
    let write = write_file_of(me, &contract.domain, &contract.contract, &ctx.up_to_root());
    match (text, held) {
        (None, _) => format!("{write}  # committing it accepts the contract"),
        (Some(_), Some(held)) if held.owner == *me && is_to_commit(ctx, contract, &held).unwrap_or_default() => {
            let at = ctx.code().and_then(|code| WorkFile::of(code, file.clone()));
            let at = at.map(|file| file.pathspec(ctx)).unwrap_or(file);
            format!("git add {at} && git commit -m \"Accept {contract}\"  # this accepts the contract")
        }
        (Some(_), Some(held)) if held.owner == *me => {
            format!(
                "{write}  # the file here is outdated; committing the new one, or any change to it, accepts the \
                    contract"
            )
        }
        (Some(_), _) => format!("write owner: {me} in {file}, and commit, to accept {contract}"),
    }
}

/// Returns whether the file of an offered contract is as new as what is published, and not committed yet.
fn is_to_commit(ctx: &Ctx, at: &ContractRef, held: &Contract) -> Result<bool, OpError> {
    let (store, code) = (&*ctx.realm()?.store, ctx.code()?);
    let tree = store.commit(&domain::tip(store, &at.domain)?)?.tree;
    let within = StoreRef::Domain(at.domain.clone());
    let published: Option<Contract> = read::file(store, &within, &tree, &layout::contract(&at.contract))?;
    if published.is_none_or(|published| held.version < published.version) {
        return Ok(false);
    }
    let committed = committed(code, &contract_path(&at.domain, &at.contract))?;
    Ok(committed.and_then(|text| codec::contract(&text, &at.contract).ok()).as_ref() != Some(held))
}
