//! `realm_admin_leave`: removes this repository from its realm.

use super::remove_member::without;
use crate::ops::{
    Operation,
    ctx::{ActingRepo, Ctx},
    domain::{self, Part},
    hooks,
    message::Message,
    publish::work_file::{WorkFile, is_committed, require_checked_out},
    repos::{
        identity,
        joined::{self, Joined},
    },
    runs,
    sync::auto,
};
use crate::{
    error::{ErrorCode, OpError},
    locate::CONFIG,
    model::{
        name::{DomainName, RealmName, RepoName},
        publish::Decision,
        text::comma_separated,
    },
    repo::blue_files,
    store::{Edit, layout, overview::Overview},
    wire::{Answer, RealmLeave},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::writes::<Request>(
    "realm_admin_leave",
    &["realm", "admin", "leave"],
    "Remove this repository from its realm",
);

/// The arguments.
#[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// Leave even if the repository is a member of domains; contracts stay in the realm
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub force: bool,
    /// Whether to undo what `init` did to the repository: hooks, `.blue/config.yaml` and its recorded path.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub undo: bool,
}

runs!(RealmLeave, run);

/// The maximum number of ownerless contracts that an answer names.
const MAX_ORPHANS: usize = 5;

/// Leaves the domains, then the realm, and then undoes what joining did here. Running it again finishes an interrupted
/// leave.
///
/// # Errors
/// Returns an error if the repository is still a member of domains.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<RealmLeave>, OpError> {
    if ctx.realm().is_err_and(|error| error.code == ErrorCode::NotInRealm)
        && let Some(left) = joined::left(&ctx.home, ctx.code()?, ctx.options())?
    {
        return forget(ctx, request, left);
    }
    let acting = match ctx.require_writable() {
        Err(error) if error.code == ErrorCode::NotJoined && is_interrupted(ctx)? => ctx.acting_repo()?,
        acting => acting?,
    };
    let overview = Overview::open(acting.store)?;
    let (domains, orphans) = memberships(&overview, acting.repo)?;
    if !domains.is_empty() && !request.force {
        return Err(still_member(request, acting.repo, &domains, &orphans));
    }
    joined::require_forgettable(ctx.code()?)?;
    if request.undo {
        require_checked_out(ctx.code()?, |path| path == CONFIG)?;
    }
    for name in &domains {
        leave_domain(ctx, acting, name)?;
    }
    leave_realm(ctx, acting)?;
    let undone = if request.undo { undo_init(ctx, acting.realm, acting.repo)? } else { Vec::new() };
    // Without the mark, another run would not finish this one.
    joined::forget(&ctx.home, ctx.code()?)?;
    let removed = undone.iter().any(|one| one == CONFIG);
    let body = RealmLeave { realm: acting.realm.clone(), repo: acting.repo.clone(), domains, undone };
    let is_by_hand = auto::is_by_hand(ctx, acting.realm, acting.store)?;
    let owned = orphans.join(", ");
    let again = format!("nobody owns {owned} now: join again as {} to transfer or retire them", acting.repo);
    let hooks_left = "git blue hooks uninstall  # the hooks were kept, because they run in every repository \
        (core.hooksPath)";
    // If the file was never committed, there is nothing to commit after removing it.
    let is_committed = is_committed(ctx.code()?, CONFIG)?;
    // A bare repository has no working tree with the file.
    let file = WorkFile::config(ctx).ok().filter(|_| !request.undo || (removed && is_committed));
    let step = file.map(|file| match (request.undo, is_committed) {
        (true, _) => {
            format!("git add --all {} && git commit -m \"Leave the realm {}\"", file.pathspec(ctx), acting.realm)
        }
        (false, true) => format!("git rm {}  # so that clones no longer propose the realm", file.pathspec(ctx)),
        (false, false) => format!("rm {}  # so that clones no longer propose the realm", file.argument(ctx)),
    });
    Ok(Answer::new(body)
        .next_if(is_by_hand, format!("git blue --realm {} sync  # not pushed yet", acting.realm))
        .next_if(!orphans.is_empty(), again)
        .next_if(request.undo && hooks::are_left(ctx)?, hooks_left)
        .next_all(step)
        .next_if(!request.undo, "git blue hooks uninstall"))
}

/// Forgets the realm in a clone whose repository left it on another machine, and that has pulled the commit without
/// `.blue/config.yaml`.
fn forget(ctx: &Ctx, request: &Request, left: Joined) -> Result<Answer<RealmLeave>, OpError> {
    let Joined { realm, repo, .. } = left;
    joined::require_forgettable(ctx.code()?)?;
    let undone = if request.undo { undo_init(ctx, &realm, &repo)? } else { Vec::new() };
    joined::forget(&ctx.home, ctx.code()?)?;
    Ok(Answer::new(RealmLeave { realm, repo, domains: Vec::new(), undone }))
}

/// Returns whether this clone was joined, but the realm no longer has the repository.
fn is_interrupted(ctx: &Ctx) -> Result<bool, OpError> {
    Ok(joined::was_joined(ctx.code()?) && identity::entry(ctx.acting_repo()?)?.is_none())
}

/// Returns the domains of a repository, and the first contracts there that would lose their owner.
fn memberships(overview: &Overview<'_>, repo: &RepoName) -> Result<(Vec<DomainName>, Vec<String>), OpError> {
    let (mut domains, mut orphans) = (Vec::new(), Vec::new());
    for line in overview.domains_of(repo) {
        let summary = overview.summary(line)?;
        if summary.takes_part(repo) {
            domains.push(line.name.clone());
            orphans.extend(summary.served_by(repo).map(|contract| format!("{}/{contract}", line.name)));
        }
    }
    orphans.truncate(MAX_ORPHANS);
    Ok((domains, orphans))
}

fn still_member(request: &Request, repo: &RepoName, domains: &[DomainName], orphans: &[String]) -> OpError {
    let hand_over = |at| {
        let transfer = format!("git blue contract transfer {at} --to …  # transfer the contract first");
        [transfer, format!("git blue contract retire {at} --reason \"…\"  # or retire it")]
    };
    let leave = |name| format!("git blue realm admin remove-member {repo} --domain {name}  # leave the domain");
    let message = format!("{repo} is still a member of {}", comma_separated(domains));
    let error = OpError::no(ErrorCode::StillMember, message);
    let error = error.next_all(orphans.iter().flat_map(hand_over));
    let error = error.next_all(domains.iter().take(MAX_ORPHANS).map(leave));
    let command = if request.undo { "git blue leave" } else { "git blue realm admin leave" };
    error.next(format!("{command} --force  # leave anyway"))
}

/// Reverts what `init` did to the repository. Returns what was removed.
fn undo_init(ctx: &Ctx, realm: &RealmName, repo: &RepoName) -> Result<Vec<String>, OpError> {
    let code = ctx.code()?;
    let hooks = hooks::uninstall_own(ctx)?.body.hooks;
    let mut undone: Vec<_> =
        hooks.iter().filter(|hook| hook.changed).map(|hook| format!("hook {}", hook.name)).collect();
    ctx.home.forget_repo(realm, repo)?;
    if let Some(root) = code.workdir() {
        let config = WorkFile::config(ctx)?;
        if config.read()?.is_some() {
            config.remove()?;
            undone.push(CONFIG.to_owned());
            // Other files in the folder keep it.
            let _ = std::fs::remove_dir(root.join(blue_files::FOLDER));
        }
    }
    Ok(undone)
}

fn leave_domain(ctx: &Ctx, acting: ActingRepo<'_>, name: &DomainName) -> Result<(), OpError> {
    let subject = format!("{} leaves", acting.repo);
    let why = Message { repo: Some(acting.repo), subject, ..Message::default() };
    domain::change(ctx, acting.store, name, Part::default(), why, |view| {
        Ok(Decision { changes: without(view, acting.repo), events: Vec::new() })
    })?;
    Ok(())
}

fn leave_realm(ctx: &Ctx, acting: ActingRepo<'_>) -> Result<(), OpError> {
    domain::change_realm(ctx, acting.store, || {
        if identity::entry(acting)?.is_none() {
            return Ok(None);
        }
        let message = Message { repo: Some(acting.repo), ..Message::of(ctx, format!("{} leaves", acting.repo)) };
        Ok(Some((vec![(layout::repo(acting.repo), Edit::Remove)], message)))
    })?;
    Ok(())
}
