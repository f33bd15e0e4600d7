//! `realm_admin_binding`: writes the binding of a repository directly into the realm.

use crate::{
    error::OpError,
    model::{
        binding::{Binding, Export, Import, Role},
        name::{DomainName, RepoName},
        publish,
    },
    store::read,
    wire::{Answer, BindingSet},
};
use crate::{
    ops::{
        Operation,
        ctx::Ctx,
        domain::{self, Part},
        message::Message,
        publish::cycles,
        repos::unknown,
        sync::auto,
    },
    repo::blue_files,
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::write::<BindingSet>(
    "realm_admin_binding",
    &["realm", "admin", "binding"],
    "Set what a repository exports and imports",
);

/// The arguments.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The domain
    #[cfg_attr(feature = "cli", arg(long, value_name = "DOMAIN"))]
    pub domain: DomainName,
    /// The repository
    #[cfg_attr(feature = "cli", arg(long, value_name = "REPO"))]
    pub repo: RepoName,
    /// The repository's role in the domain
    #[cfg_attr(feature = "cli", arg(long, value_enum))]
    pub role: Role,
    /// A contract to export, with the files that implement it: CONTRACT[:FILE,…]
    #[cfg_attr(feature = "cli", arg(long = "export", value_name = "EXPORT", value_parser = export))]
    pub exports: Vec<Export>,
    /// A contract to import, with the files that use it: CONTRACT@RANGE[:FILE,…]
    #[cfg_attr(feature = "cli", arg(long = "import", value_name = "IMPORT", value_parser = import))]
    pub imports: Vec<Import>,
}

/// Writes the whole binding, as the file in the repository would.
///
/// # Errors
/// Returns an error if the repository is unknown, not a member of the domain, or not the current
/// repository, or if the binding contradicts itself.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<BindingSet>, OpError> {
    let here = ctx.require_writable_realm()?;
    if let Some(acting) = here.repo.as_ref().filter(|acting| **acting != request.repo) {
        return Err(OpError::not_owner(acting, "change the binding of", &request.repo));
    }
    let known = read::repos(&*here.store)?.repos;
    if !known.contains_key(&request.repo) {
        return Err(unknown::error((&here.realm, &*here.store), &request.repo, known.keys()));
    }
    let wanted = Binding { role: request.role, exports: request.exports.clone(), imports: request.imports.clone() };
    if let Some(fault) = wanted.contradiction() {
        return Err(OpError::usage(fault.message));
    }
    let part = cycles::Part { domain: &request.domain, repo: &request.repo, binding: &wanted };
    let cycles = cycles::closed(&*here.store, &[part], None)?;
    let why = Message { repo: Some(&request.repo), ..Message::default() };
    let part = Part { returning: Some((&request.repo, &wanted)), ..Part::default() };
    let decision = domain::change(ctx, &*here.store, &request.domain, part, why, |view| {
        Ok(publish::binding(view, &request.repo, wanted.clone(), ctx.env.now())?)
    })?;
    let mut answer = Answer::new(BindingSet {
        realm: here.realm.clone(),
        domain: request.domain.clone(),
        repo: request.repo.clone(),
        role: request.role.into(),
        exports: request.exports.len(),
        imports: request.imports.len(),
        changed: !decision.changes.is_empty(),
        cycles,
    });
    if answer.body.changed {
        // Only the realm has this binding; the next commit of the repository's file would revert it.
        let path = blue_files::binding(&request.domain);
        answer = answer.next(format!("update {path} of {} to match, if it publishes from that file", request.repo));
    }
    let is_changed = answer.body.changed;
    auto::with_push(ctx, (&here.realm, &*here.store), is_changed, answer.next("git blue check"))
}

#[cfg(feature = "cli")]
fn export(text: &str) -> Result<Export, String> {
    let (contract, files) = text.split_once(':').unwrap_or((text, ""));
    let contract = contract.parse().map_err(|error: crate::model::name::NameError| error.to_string())?;
    let source_files = files.split(',').filter(|file| !file.is_empty()).map(str::to_owned).collect();
    Ok(Export { contract, source_files })
}

#[cfg(feature = "cli")]
fn import(text: &str) -> Result<Import, String> {
    let (contract, rest) =
        text.split_once('@').ok_or("write it as CONTRACT@RANGE, for example 'paths@>=1.0.0, <2.0.0'")?;
    let (range, files) = rest.split_once(':').unwrap_or((rest, ""));
    Ok(Import::new(
        contract.parse().map_err(|error: crate::model::name::NameError| error.to_string())?,
        range.parse().map_err(|error: crate::model::range::RangeError| error.to_string())?,
        files.split(',').filter(|file| !file.is_empty()).map(str::to_owned).collect(),
    ))
}
