//! `realm_pr_create`: pushes the branches of an RFC and opens their pull requests, providers first, each with links to
//! the others. Running it again updates them. Nothing is merged.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    rfc::{self, Head},
    rfc_work::{RepoWork, RfcWork, places, standing},
    status::dependencies,
};
use crate::{
    error::{ErrorCode, NextStep, OpError},
    forge::{ForgeError, NewPull, Pull, State},
    model::{
        name::{RepoName, RfcName},
        pull::links::Links,
        text::{shell_path, shell_word},
    },
    ops::{
        Operation,
        ctx::{Ctx, RealmContext},
        repos::{
            self,
            forges::{ForgeUnavailable, Forges, OnForge, add_origin, set_api_url_step},
        },
        runs,
        worktree::{self, create::of_git},
    },
    repo::work::WorkStatus,
    store::StoreError,
    wire::{Answer, PrCreate, PrCreated, RepoProblem},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::writes::<Request>(
    "realm_pr_create",
    &["realm", "pr", "create"],
    "Push the branches of an RFC and open their pull requests",
);

/// The maximum length of a title, in characters. Forges have similar limits.
const MAX_TITLE: usize = 255;

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The RFC
    #[cfg_attr(feature = "cli", arg(long, value_name = "RFC"))]
    pub rfc: RfcName,
    /// The title of each pull request
    #[cfg_attr(feature = "cli", arg(long, value_name = "TEXT", allow_hyphen_values = true))]
    pub title: String,
    /// Open them as drafts
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub draft: bool,
}

runs!(PrCreate, run);

/// A repository with something to merge.
struct Job {
    place: RepoWork,
    standing: WorkStatus,
    on: Result<OnForge, ForgeUnavailable>,
    /// The pull request, if there is one yet.
    pull: Option<Pull>,
    /// The repositories whose pull requests are merged before this one.
    before: BTreeSet<RepoName>,
}

impl Job {
    fn head(&self) -> Option<Head<'_>> {
        let commit = self.standing.head.as_deref()?;
        Some(Head { repo: &self.place.found.name, folder: &self.place.path, commit })
    }
}

/// Pushes the branches and opens the pull requests.
///
/// # Errors
/// Returns an error if the RFC is unknown, or the title is invalid. Failures in individual repositories are part of the
/// answer.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<PrCreate>, OpError> {
    let here = ctx.realm()?;
    check_title(&request.title)?;
    let branch = worktree::rfc_worktrees::branch(ctx, &request.rfc)?;
    let RfcWork { places, errors, .. } = places(ctx, here, Some(&request.rfc))?;
    let mut body = PrCreate {
        realm: here.realm.clone(),
        rfc: request.rfc.clone(),
        repos: Vec::new(),
        nothing_to_merge: Vec::new(),
        errors,
    };
    let mut forges = Forges::new(ctx);
    let mut jobs = jobs(ctx, &mut forges, here, places, &branch, &mut body)?;
    let mut lines = Vec::new();
    let mut warnings = Vec::new();
    for at in 0..jobs.len() {
        if jobs[at].standing.uncommitted > 0 {
            let name = &jobs[at].place.found.name;
            warnings.push(NextStep::advice(format!("{name} has uncommitted changes, which were not included")));
        }
        let links = links(&jobs, at, request).within("");
        match one(ctx, &mut jobs[at], request, &links) {
            Ok(created) => lines.push(line(&jobs[at], &branch, created)),
            Err(problem) => {
                // The repository is also listed if its branch was not pushed, so that users can continue by hand.
                lines.push(line(&jobs[at], &branch, false));
                body.errors.push(problem);
            }
        }
    }
    // All pull requests have numbers now, so each can link to the others.
    for at in 0..jobs.len() {
        let (Some(pull), Ok(OnForge { forge: Ok(forge), .. })) = (&jobs[at].pull, &jobs[at].on) else { continue };
        if !lines[at].created {
            warnings.extend(kept(pull, request));
        }
        let text = links(&jobs, at, request).within(&pull.body);
        if pull.state != State::Open || text == pull.body.replace("\r\n", "\n") {
            continue;
        }
        match forge.describe(pull.number, &text) {
            Ok(()) => lines[at].updated = !lines[at].created,
            Err(error) => body.errors.push(of_forge(&jobs[at].place.found.name, &error)),
        }
    }
    body.repos = lines;
    let steps: Vec<_> = body.errors.iter().filter_map(|one| one.next_step.as_deref().cloned()).collect();
    let mut answer = Answer::new(body);
    answer.next_steps = warnings;
    answer.next_steps.extend(steps);
    answer.next_steps.dedup();
    answer.next_steps.extend(forges.ignored());
    Ok(answer.next(format!(
        "git blue realm pr status --rfc {}  # show what is ready, and what to merge \
        first",
        request.rfc
    )))
}

/// Returns what differs from the request in an open pull request that existed before. Its author or a reviewer may have
/// changed that on the forge.
fn kept(pull: &Pull, request: &Request) -> Option<NextStep> {
    let what = match (pull.title != request.title.trim(), pull.draft != request.draft) {
        _ if pull.state != State::Open => return None,
        (true, true) => "its title and draft state",
        (true, false) => "its title",
        (false, true) => "its draft state",
        (false, false) => return None,
    };
    Some(NextStep::advice(format!("pull request #{} keeps {what}; to change it, edit it at {}", pull.number, pull.url)))
}

fn check_title(title: &str) -> Result<(), OpError> {
    let wrong = match title {
        title if title.trim().is_empty() => "it is empty",
        title if title.trim() == "…" => "write it in place of the dots",
        title if title.chars().any(char::is_control) => "it is more than one line",
        title if title.chars().count() > MAX_TITLE => "it is longer than 255 characters",
        _ => return Ok(()),
    };
    Err(OpError::usage(format!("{title:?} is not a valid title: {wrong}")))
}

/// Returns the repositories in merge order.
fn jobs(
    ctx: &Ctx,
    forges: &mut Forges<'_>,
    here: &RealmContext,
    places: Vec<RepoWork>,
    branch: &str,
    body: &mut PrCreate,
) -> Result<Vec<Job>, OpError> {
    let looked = repos::for_each::each(&ctx.progress(), &places, standing)?;
    let mut jobs = BTreeMap::new();
    for (place, looked) in places.into_iter().zip(looked) {
        let name = place.found.name.clone();
        match looked {
            Ok(standing) if standing.branch.as_deref() != Some(branch) => {
                let message = format!("{} is not on {branch}", place.path.display());
                body.errors.push(worktree::create::of_other_branch(&name, &place.path, branch, message));
            }
            Ok(standing) if standing.ahead == 0 => body.nothing_to_merge.push(name),
            Ok(standing) => {
                let on = forges.of(&place.found);
                jobs.insert(name, Job { place, standing, on, pull: None, before: BTreeSet::new() });
            }
            Err(error) => body.errors.push(of_git(&name, &error)),
        }
    }
    let names: BTreeSet<RepoName> = jobs.keys().cloned().collect();
    let heads: Vec<_> = jobs.values().filter_map(Job::head).collect();
    let planned = rfc::plan(ctx, here, &heads, &names)?;
    body.errors.extend(planned.errors);
    let order = dependencies(here)?.order(&names, &planned.plan.before);
    for (name, job) in &mut jobs {
        job.before = order.before.get(name).cloned().unwrap_or_default();
    }
    Ok(order.repos.iter().filter_map(|name| jobs.remove(name)).collect())
}

/// Pushes a branch, and opens a pull request if there is none. Returns whether it was opened.
fn one(ctx: &Ctx, job: &mut Job, request: &Request, body: &str) -> Result<bool, RepoProblem> {
    let name = job.place.found.name.clone();
    let branch = job.standing.branch.clone().unwrap_or_default();
    let work = job.place.work.clone().asking(ctx.env.is_error_terminal());
    if !work.has_remote().map_err(|error| of_git(&name, &error))? {
        let next = add_origin(&job.place.found.folder);
        return Err(
            RepoProblem::new(&name, ErrorCode::NoRemote, format!("{name} has no remote named origin")).next(next)
        );
    }
    let is_pushed_now = job.standing.unpushed != Some(0);
    let push = |place: &RepoWork| work.push(&branch).map_err(|error| not_pushed(place, &branch, &error));
    if is_pushed_now {
        push(&job.place)?;
    }
    open(job, request, body, push).map_err(|problem| {
        if is_pushed_now {
            RepoProblem { message: format!("{}; {branch} was pushed", problem.message), ..problem }
        } else {
            problem
        }
    })
}

/// Returns the problem of a push that failed. Only a branch that others changed can be rebased onto theirs.
fn not_pushed(place: &RepoWork, branch: &str, error: &StoreError) -> RepoProblem {
    let said = error.to_string();
    let is_behind = ["(fetch first)", "(non-fast-forward)"].iter().any(|reason| said.contains(reason));
    let next = if is_behind {
        let (path, branch) = (shell_path(&place.path), shell_word(branch));
        let remote = shell_word(&place.found.remote);
        format!("git -C {path} pull --rebase {remote} {branch}  # and try again")
    } else {
        "correct what git reports, and try again".to_owned()
    };
    RepoProblem::new(&place.found.name, ErrorCode::NotPushed, said).next(next)
}

/// Opens a pull request for a branch that was pushed, if there is none. Returns whether it was opened.
fn open(
    job: &mut Job,
    request: &Request,
    body: &str,
    push: impl Fn(&RepoWork) -> Result<(), RepoProblem>,
) -> Result<bool, RepoProblem> {
    let name = job.place.found.name.clone();
    let branch = job.standing.branch.clone().unwrap_or_default();
    let closed = |one: &ForgeUnavailable| RepoProblem::new(&name, one.code, &one.message).next(one.next_step.clone());
    let on = job.on.as_ref().map_err(closed)?;
    let forge = on.forge.as_ref().map_err(closed)?;
    let Some(base) = job.place.found.default.clone() else {
        let message = format!("{name} has no default branch to merge into");
        return Err(RepoProblem::new(&name, ErrorCode::NoDefaultBranch, message));
    };
    let found = forge.of_branch(&branch).map_err(|error| of_forge(&name, &error))?;
    let is_same = |pull: &Pull| job.standing.head.as_deref() == Some(&*pull.head);
    match found {
        Some(pull) if pull.state == State::Open || (pull.state == State::Merged && is_same(&pull)) => {
            job.pull = Some(pull);
            Ok(false)
        }
        // The user closed the pull request, and there are no new commits.
        Some(pull) if is_same(&pull) => {
            let message = format!("the pull request of {name} was closed: {}", pull.url);
            Err(RepoProblem::new(&name, ErrorCode::PullRequestClosed, message).next(format!("reopen {}", pull.url)))
        }
        _ => {
            // The remote may have deleted the branch, which only a fetch that prunes would show.
            push(&job.place)?;
            let new = NewPull { branch: &branch, base: &base, title: request.title.trim(), body, draft: request.draft };
            job.pull = Some(forge.open(&new).map_err(|error| of_forge(&name, &error))?);
            Ok(true)
        }
    }
}

/// Returns the links from one pull request to the others.
fn links<'r>(jobs: &[Job], at: usize, request: &'r Request) -> Links<'r> {
    let mut links = Links { rfc: &request.rfc, depends_on: Vec::new(), others: Vec::new() };
    let Ok(from) = &jobs[at].on else { return links };
    for (other, job) in jobs.iter().enumerate().filter(|(other, _)| *other != at) {
        let (Some(pull), Ok(to)) = (&jobs[other].pull, &job.on) else { continue };
        let reference = from.kind.reference(&from.address, &to.address, pull);
        let list =
            if jobs[at].before.contains(&job.place.found.name) { &mut links.depends_on } else { &mut links.others };
        list.push(reference);
    }
    links
}

fn line(job: &Job, branch: &str, created: bool) -> PrCreated {
    let page = || {
        let (Ok(on), Some(base)) = (&job.on, &job.place.found.default) else { return None };
        Some(on.kind.page(&on.address, base, branch))
    };
    PrCreated {
        name: job.place.found.name.clone(),
        branch: branch.to_owned(),
        number: job.pull.as_ref().map(|pull| pull.number),
        url: job.pull.as_ref().map(|pull| pull.url.clone()).or_else(page),
        created,
        updated: false,
    }
}

fn of_forge(repo: &RepoName, error: &ForgeError) -> RepoProblem {
    let (code, next_step): (_, Option<NextStep>) = match error {
        ForgeError::Unreachable { .. } | ForgeError::TimedOut { .. } | ForgeError::Failed { .. } => {
            ("unreachable", Some("try again".into()))
        }
        ForgeError::Elsewhere { host, .. } => ("redirected", Some(set_api_url_step(host))),
        ForgeError::Unauthorized { .. } => {
            ("unauthorized", Some("give the token write access to pull requests".into()))
        }
        ForgeError::NotFound { .. } => ("not-found", Some("check the URL of origin, and the token's access".into())),
        ForgeError::RateLimited { .. } => ("rate-limited", Some("try again later".into())),
        ForgeError::Unexpected { .. } => ("unexpected-response", None),
        ForgeError::Refused { .. } | ForgeError::IssuesDisabled { .. } | ForgeError::TooMany { .. } => {
            ("refused", None)
        }
    };
    let problem = RepoProblem::new(repo, code, error.to_string());
    match next_step {
        Some(step) => problem.next(step),
        None => problem,
    }
}
