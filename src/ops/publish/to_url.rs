//! Publishes from a machine that has no realm, such as a CI runner: the realm is fetched, published to, pushed, and
//! then removed again.

use crate::{
    error::{ErrorCode, NextStep, OpError},
    locate::{config::shared_elsewhere, proposed, renamed},
    model::{name::RepoName, realm::RepoMatch, repo_url::without_credentials, text::shell_word},
    ops::{
        contract::{self, publish::Request},
        ctx::{ActingRepo, Ctx, RealmContext},
        realm,
        repos::{self, identity},
    },
    repo::CodeRepo,
    wire::{Answer, ContractPublish},
};

/// The maximum number of attempts if others publish at the same time.
const MAX_ATTEMPTS: u32 = 24;

/// Publishes a commit of the current repository to the realm at a URL that the user typed. No `init` is needed: a user
/// who names the realm and may push to it has confirmed the publication. If others publish to the same domain in the
/// meantime, everything is fetched and decided again.
///
/// # Errors
/// Returns the errors of [`contract::publish::run`], or an error if the realm cannot be fetched or pushed, or has
/// another repository under the same name.
pub fn run(
    ctx: &Ctx,
    url: &str,
    repo: Option<RepoName>,
    request: &Request,
) -> Result<Answer<ContractPublish>, OpError> {
    for _ in 0..MAX_ATTEMPTS {
        if let Some(answer) = attempt(ctx, url, repo.clone(), request)? {
            return Ok(answer);
        }
    }
    let message = format!("others kept publishing to {}", without_credentials(url));
    Err(OpError::no(ErrorCode::Busy, message).next("run the command again"))
}

/// Publishes unless others publish to the same domain in the meantime: then returns `None`.
fn attempt(
    ctx: &Ctx,
    url: &str,
    repo: Option<RepoName>,
    request: &Request,
) -> Result<Option<Answer<ContractPublish>>, OpError> {
    let code = CodeRepo::discover(&ctx.place())?;
    let temporary = repos::ephemeral_realm::clone_temporary(ctx, url)?;
    let (ctx, realm) = (Ctx { code, ..temporary.ctx }, temporary.realm);
    let code = ctx.code()?;
    let repo = match repo {
        Some(repo) => Some(repo),
        None => repos::ephemeral_realm::who(&ctx, Some(code), &realm)?,
    };
    let repo = repo.ok_or_else(|| {
        OpError::cannot(ErrorCode::NotInRepo, "cannot tell which repository this is").next(format!(
            "git blue contract publish --realm-url {} --repo NAME",
            shell_word(&without_credentials(url))
        ))
    })?;
    let here = ctx.realm.map(|here| RealmContext { repo: Some(repo), ..here });
    let ctx = Ctx { realm: here, ..ctx };
    let acting = ctx.acting_repo()?;
    same_repository(ctx.code()?, acting)?;
    let at_url = |steps| at_url(steps, url, acting.repo);
    let mut answer = match contract::publish::publish_as(&ctx, acting, request) {
        Err(error) if error.code == ErrorCode::OlderCommit && request.rollback.is_none() => {
            return nothing(&ctx, acting, request, error).map(Some);
        }
        answer => answer.map_err(|error| OpError { next_steps: at_url(error.next_steps), ..error })?,
    };
    answer.next_steps = at_url(answer.next_steps);
    let elsewhere = proposed(ctx.code()?)?.and_then(|config| shared_elsewhere(&config, url));
    let correct =
        |message| NextStep::advice(format!("{message}: if it has moved, correct the URL in the settings of CI"));
    answer.next_steps.extend(elsewhere.map(correct));
    if !request.dry_run {
        if !realm::sync::push_unmerged(&ctx, acting.realm, acting.store)? {
            return Ok(None);
        }
        answer.body.not_pushed = false;
    }
    Ok(Some(answer))
}

/// Returns the answer of a job that runs after the one of a newer commit.
fn nothing(
    ctx: &Ctx,
    acting: ActingRepo<'_>,
    request: &Request,
    error: OpError,
) -> Result<Answer<ContractPublish>, OpError> {
    let body = ContractPublish {
        realm: acting.realm.clone(),
        current_repo: acting.repo.clone(),
        commit: Some(contract::publish::wanted_commit(ctx, request)?),
        dry_run: request.dry_run,
        published: Vec::new(),
        removed_files: Vec::new(),
        cycles: Vec::new(),
        not_pushed: false,
    };
    Ok(Answer::new(body).next(NextStep::advice(error.message)))
}

/// The commands that take the URL of a realm.
const WITH_URL: [&str; 2] = ["git blue contract publish", "git blue check"];

/// Adds the URL and the repository to the commands that take them: without them, these would look for the realm on this
/// machine.
fn at_url(steps: Vec<NextStep>, url: &str, repo: &RepoName) -> Vec<NextStep> {
    let more = format!(" --realm-url {} --repo {repo}", shell_word(&without_credentials(url)));
    let at_url = |step| match step {
        NextStep::Command { command, reason } if WITH_URL.iter().any(|one| command.starts_with(one)) => {
            NextStep::Command { command: command + &more, reason }
        }
        step => step,
    };
    steps.into_iter().map(at_url).collect()
}

/// Checks that the realm has the repository under its name, and that nothing shows that it is a different repository.
fn same_repository(code: &CodeRepo, acting: ActingRepo<'_>) -> Result<(), OpError> {
    let Some(held) = identity::entry(acting)? else {
        renamed::refuse_in_commit(acting.store, acting.repo)?;
        let message = format!("{} is not in the realm {}", acting.repo, acting.realm);
        return Err(OpError::no(ErrorCode::NotJoined, message)
            .next("git blue init --url URL  # once, on a developer's machine; then git blue sync"));
    };
    match identity::match_repo(code, &held)? {
        RepoMatch::Different => {
            let error = identity::wrong_repository_error(acting, code, &held);
            Err(error.next_all(identity::record_elsewhere(code, &held)?))
        }
        _ => Ok(()),
    }
}
