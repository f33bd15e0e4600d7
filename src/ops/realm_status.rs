//! `realm_status`: the realm at a glance, and what this repository should know.

use super::{
    Operation, arrival,
    ctx::{Ctx, Here},
    inbox::Receipt,
    pending::{self, MAX_TOLD, Pending},
    unpublished::{self, CaughtUp},
};
use crate::{
    error::OpError,
    model::{
        name::{ReaderName, RepoName},
        view::{DomainView, RealmView, Standing},
    },
    store::read,
    wire::{
        Answer, DomainBinding, DomainContract, DomainStatus, ImportStatus, Notification, RealmStatus, RepoLine, State,
    },
};

/// Its entry in the table.
pub const OPERATION: Operation =
    Operation::read("realm_status", &["realm", "status"], "Show the realm, its contracts, and what changed");

/// What is asked.
#[derive(Debug, Clone)]
pub struct Request {
    /// Who is to be told.
    pub reader: ReaderName,
    /// Whether what no hook published is published now.
    pub catch_up: bool,
}

impl Default for Request {
    fn default() -> Self {
        Self { reader: pending::person(), catch_up: false }
    }
}

/// Answers, and says what is to be recorded once the answer has reached its reader.
///
/// # Errors
/// Where the realm cannot be read.
pub fn run(ctx: &Ctx, request: &Request) -> Result<(Answer<RealmStatus>, Receipt), OpError> {
    let here = ctx.here()?;
    let mut view = read::view(&*here.store)?;
    let joined = here.repo.as_ref().is_some_and(|repo| view.repos.contains_key(repo));
    let mut caught_up = match ctx.acting() {
        Ok(acting) if joined => unpublished::run(ctx, acting, &view, request.catch_up),
        _ => CaughtUp::default(),
    };
    view = caught_up.view.take().unwrap_or(view);
    let pending = match ctx.acting() {
        Ok(acting) if joined => Pending::of(acting, &request.reader, ctx.env.now(), Some(&view))?,
        _ => Pending::default(),
    };
    if let (true, Ok(acting)) = (request.catch_up, ctx.acting()) {
        arrival::record(acting.store, &pending.sightings, &ctx.env.now_here());
    }
    let is_told = |one: &Notification| one.state == State::Pending;
    let notifications: Vec<_> =
        pending.notifications.iter().filter(|one| is_told(one)).take(MAX_TOLD).cloned().collect();
    let more_notifications = pending.notifications.iter().filter(|one| is_told(one)).count() - notifications.len();
    let ids: Vec<_> = notifications.iter().map(|one| one.id.clone()).collect();
    let receipt = pending.receipt(|_, one| ids.contains(&one.id));

    let body = RealmStatus {
        realm: here.realm.clone(),
        current_repo: here.repo.clone(),
        repos: repos(ctx, here, &view)?,
        domains: view.domains.values().map(domain).collect(),
        imports: here.repo.as_ref().map(|repo| imports(&view, repo)).unwrap_or_default(),
        unreadable: unreadable(&view),
        published: caught_up.published,
        unpublished: caught_up.unpublished,
        notifications,
        more_notifications,
    };
    let answer = caught_up.next_steps.into_iter().fold(Answer::new(body), Answer::next);
    Ok((with_next_steps(answer, joined), if joined { receipt } else { Receipt::default() }))
}

fn repos(ctx: &Ctx, here: &Here, view: &RealmView) -> Result<Vec<RepoLine>, OpError> {
    let line = |name: &RepoName| {
        let is_current = here.repo.as_ref() == Some(name);
        let current = || ctx.code.as_ref().and_then(|code| code.workdir()).filter(|_| is_current);
        let path = current().or(ctx.home.repo_path(name)?);
        Ok(RepoLine { name: name.clone(), path: path.map(|path| path.display().to_string()), is_current })
    };
    view.repos.keys().map(line).collect()
}

fn domain(view: &DomainView) -> DomainStatus {
    let contract = |contract: &crate::model::contract::Contract| DomainContract {
        name: contract.name.clone(),
        version: contract.version.clone(),
        owner: contract.owner.clone(),
    };
    let binding = |(repo, binding): (&RepoName, &crate::model::binding::Binding)| DomainBinding {
        repo: repo.clone(),
        role: binding.role.into(),
        exports: binding.exports.len(),
        imports: binding.imports.len(),
    };
    DomainStatus {
        name: view.info.name.clone(),
        members: view.info.members.clone(),
        contracts: view.contracts.values().map(contract).collect(),
        bindings: view.bindings.iter().map(binding).collect(),
    }
}

fn imports(view: &RealmView, repo: &RepoName) -> Vec<ImportStatus> {
    let mut lines = Vec::new();
    for domain in view.domains.values() {
        for import in domain.bindings.get(repo).into_iter().flat_map(|binding| &binding.imports) {
            let standing = domain.standing(import);
            lines.push(ImportStatus {
                domain: domain.info.name.clone(),
                contract: import.contract.clone(),
                version_req: import.version.clone(),
                state: standing.word(),
                current_version: match &standing {
                    Standing::Satisfied(version) => Some(version.clone()),
                    Standing::Behind { current, .. } | Standing::Broken { current } => Some(current.clone()),
                    Standing::Missing => None,
                },
                resolved_version: standing.resolved().cloned(),
            });
        }
    }
    lines
}

fn unreadable(view: &RealmView) -> Vec<String> {
    let domains = view.domains.values().flat_map(|domain| &domain.damage);
    view.damage.iter().chain(domains).map(|damage| format!("{}: {}", damage.file, damage.problem)).collect()
}

/// Adds what to do next: commands as they can be pasted into a shell, each with its reason.
fn with_next_steps(mut answer: Answer<RealmStatus>, joined: bool) -> Answer<RealmStatus> {
    let body = &answer.body;
    let broken = body.imports.iter().filter(|import| import.state == "broken").count();
    let mut changed: Vec<_> = body
        .notifications
        .iter()
        .filter_map(|one| Some(format!("git blue contract get {}/{}", one.domain, one.contract.as_ref()?)))
        .collect();
    changed.dedup();
    changed.truncate(3);
    let solo = body.domains.is_empty();
    let (unreadable, repo, realm) = (!body.unreadable.is_empty(), body.current_repo.clone(), body.realm.clone());
    if let (Some(repo), false) = (&repo, joined) {
        answer = answer.next(format!("git blue realm admin join {realm} --repo {repo}  # it is not in the realm yet"));
    }
    if unreadable || broken > 0 {
        answer = answer.next("git blue check  # says what is wrong");
    }
    for command in changed {
        answer = answer.next(format!("{command}  # what changed"));
    }
    if let (true, Some(repo), true) = (solo, &repo, joined) {
        answer = answer.next(format!(
            "git blue realm admin domain --name DOMAIN --repos {repo},OTHER  # start working with others"
        ));
    }
    answer
}
