//! `realm_admin_binding`: writes the binding of a repository directly into the realm.

use crate::{
    error::{ErrorCode, OpError},
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
pub struct Request {
    /// The domain.
    pub domain: DomainName,
    /// The repository.
    pub repo: RepoName,
    /// The repository's role.
    pub role: Role,
    /// The contracts that it exports.
    pub exports: Vec<Export>,
    /// The contracts that it imports.
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
        let message = format!("{acting} cannot change the binding of {}; only that repository can", request.repo);
        return Err(OpError::no(ErrorCode::NotOwner, message).next(format!("run it in {}", request.repo)));
    }
    if !read::repos(&*here.store)?.repos.contains_key(&request.repo) {
        let message = format!("{} is not in the realm {}", request.repo, here.realm);
        return Err(OpError::no(ErrorCode::UnknownRepo, message));
    }
    let wanted = Binding { role: request.role, exports: request.exports.clone(), imports: request.imports.clone() };
    if let Some(fault) = wanted.contradiction() {
        return Err(OpError::usage(fault.message));
    }
    let part = cycles::Part { domain: &request.domain, repo: &request.repo, binding: &wanted };
    let cycles = cycles::closed(&*here.store, &[part], None)?;
    let why = Message { repo: Some(&request.repo), ..Message::default() };
    let decision = domain::change(ctx, &*here.store, &request.domain, Part::default(), why, |view| {
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
