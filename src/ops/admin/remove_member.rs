//! `realm_admin_remove_member`: removes a repository from a domain.

use crate::{
    error::{ErrorCode, OpError},
    locate::renamed,
    model::{
        change::DomainChange,
        domain::Domain,
        domain_view::DomainView,
        name::{DomainName, RepoName},
        publish::Decision,
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
    store::Store,
    wire::{Answer, MemberRemoved},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::writes::<Request>(
    "realm_admin_remove_member",
    &["realm", "admin", "remove-member"],
    "Remove this repository from a domain",
);

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The name of this repository
    #[cfg_attr(feature = "cli", arg(value_name = "REPO"))]
    pub repo: RepoName,
    /// The domain
    #[cfg_attr(feature = "cli", arg(long, value_name = "DOMAIN"))]
    pub domain: DomainName,
}

runs!(MemberRemoved, run);

/// Removes the repository, with its binding. Its published contracts stay.
///
/// # Errors
/// Returns an error if the command does not run in that repository, or if the repository is not a
/// member or owns contracts that are not retired.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<MemberRemoved>, OpError> {
    let here = ctx.require_writable_realm()?;
    let Request { repo, domain: name } = request;
    require_own(&*here.store, here.repo.as_ref(), request)?;
    let subject = format!("remove {repo} from {name}");
    let why = Message { repo: here.repo.as_ref(), subject, ..Message::default() };
    domain::change(ctx, &*here.store, name, Part::default(), why, |view| {
        if !view.takes_part(repo) {
            return Err(OpError::no(ErrorCode::NotMember, format!("{name} has no member {repo}")));
        }
        refuse_owner(view, repo)?;
        Ok(Decision { changes: without(view, repo), events: Vec::new() })
    })?;
    let body = MemberRemoved { realm: here.realm.clone(), domain: name.clone(), repo: repo.clone() };
    let has_committed = ctx.code.as_ref().map(|code| blue_files::has_committed(code, name)).transpose()?;
    let remove = format!("{}  # in {repo}", blue_files::remove_command(name));
    let answer = Answer::new(body).next_if(has_committed != Some(false), remove);
    auto::with_push(ctx, (&here.realm, &*here.store), true, answer)
}

/// Refuses to remove another repository: a sync would set the change aside.
fn require_own(store: &dyn Store, own: Option<&RepoName>, Request { repo, domain }: &Request) -> Result<(), OpError> {
    if own == Some(repo) {
        return Ok(());
    }
    if let Some(step) = renamed::moving(store, repo)? {
        return Err(OpError::no(ErrorCode::Renamed, format!("{repo} was renamed")).next(step));
    }
    let message = format!("only {repo} itself can leave {domain}");
    Err(OpError::no(ErrorCode::NotOwner, message)
        .next(format!("git blue realm admin remove-member {repo} --domain {domain}  # in {repo}"))
        .next(format!("git blue realm admin reclaim --help  # if {repo} is gone: a new repository leaves in its name")))
}

/// Returns the changes that remove a repository from a domain.
pub fn without(view: &DomainView, repo: &RepoName) -> Vec<DomainChange> {
    let mut changes = Vec::new();
    if view.info.has_member(repo) {
        let members = view.info.members.iter().filter(|member| *member != repo).cloned().collect();
        changes.push(DomainChange::Domain(Domain { members, ..view.info.clone() }));
    }
    if view.bindings.contains_key(repo) {
        changes.push(DomainChange::RemoveBinding(repo.clone()));
    }
    if view.sources.contains_key(repo) {
        changes.push(DomainChange::RemoveSource(repo.clone()));
    }
    changes
}

/// Refuses to remove the owner of a contract that is not retired, because nobody else could change the contract.
fn refuse_owner(view: &DomainView, repo: &RepoName) -> Result<(), OpError> {
    let name = &view.info.name;
    let mut owned = view.contracts.values().filter(|contract| contract.owner == *repo && contract.retired.is_none());
    let Some(contract) = owned.next() else { return Ok(()) };
    let contract = &contract.name;
    let importers: Vec<_> = view.importers(contract).map(|(importer, _)| importer.to_string()).collect();
    let used = if importers.is_empty() {
        "which is not retired".to_owned()
    } else {
        format!("which {} imports", importers.join(", "))
    };
    let more = match owned.count() {
        0 => String::new(),
        count => format!(", and {count} more"),
    };
    Err(OpError::no(ErrorCode::StillNeeded, format!("{repo} owns {name}/{contract}, {used}{more}"))
        .next(format!(
            "git blue contract transfer {name}/{contract} --to OTHER  # in {repo}: transfer it to another \
            member"
        ))
        .next(format!("git blue contract retire {name}/{contract} --reason \"…\"  # in {repo}: or retire it")))
}
