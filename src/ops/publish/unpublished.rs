//! Publishes commits that no hook published, if the policy says so, and reports those that remain.

use super::{
    behind,
    branch_commit::{Scope, differ_in},
    catch_up::{self, Series, UnpublishedCommit},
    policy, publish_log,
    rollback::{Cause, Rollback},
};
use crate::{
    error::{NextStep, OpError},
    model::{publish_policy::Policy, text::shell_word},
    ops::{
        contract,
        ctx::{ActingRepo, Ctx},
        repos::roots,
    },
    repo::CodeRepo,
    store::{overview::Overview, read},
    wire::{Behind, Published, Unpublished},
};

/// The result of catching up.
#[derive(Debug, Default)]
pub struct CaughtUp {
    /// The published changes.
    pub published: Vec<Published>,
    /// Whether the realm has changed.
    pub has_moved: bool,
    /// The changes that are still unpublished.
    pub unpublished: Option<Unpublished>,
    /// What this clone lacks, if it is behind and has nothing to publish.
    pub behind: Option<Behind>,
    /// The problem that hides what is unpublished, if there is one.
    pub unreadable: Option<String>,
    /// The next steps.
    pub next_steps: Vec<NextStep>,
}

/// Publishes what is due, and returns what is not published. Does nothing in a clone that may not write.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn publish_due(ctx: &Ctx) -> Result<CaughtUp, OpError> {
    roots::record_roots(ctx)?;
    let Ok(acting) = ctx.require_writable() else {
        return Ok(CaughtUp::default());
    };
    Ok(run(ctx, acting, &Overview::open(acting.store)?, true))
}

/// Publishes what is due if `may_publish`, and returns what is not published. An error here does not hide the rest of
/// the answer.
pub fn run(ctx: &Ctx, acting: ActingRepo<'_>, overview: &Overview<'_>, may_publish: bool) -> CaughtUp {
    let Some(code) = &ctx.code else {
        return CaughtUp::default();
    };
    let mut caught_up = CaughtUp::default();
    if let Err(error) = caught_up.fill(ctx, acting, code, overview, may_publish) {
        caught_up.next_steps.extend(error.next_steps);
        caught_up.unreadable = Some(error.message);
    }
    caught_up
}

impl CaughtUp {
    fn fill(
        &mut self,
        ctx: &Ctx,
        acting: ActingRepo<'_>,
        code: &CodeRepo,
        overview: &Overview<'_>,
        may_publish: bool,
    ) -> Result<(), OpError> {
        let mut waiting = catch_up::unpublished_commit(
            acting,
            code,
            Scope::All(&contract::publish::sources(acting, Some(overview))?),
        )?;
        let mut failed = None;
        if let (true, Some(due)) = (may_publish, waiting.as_ref().filter(|waiting| waiting.is_due)) {
            match catch_up::publish(ctx, acting, code, due) {
                Ok(answer) => {
                    self.published = answer.body.published;
                    self.next_steps = answer.next_steps;
                    self.has_moved = true;
                    // If only pushed commits are published, later ones may remain.
                    let after = contract::publish::sources(acting, Some(&Overview::open(acting.store)?))?;
                    waiting = catch_up::unpublished_commit(acting, code, Scope::All(&after))?;
                }
                Err(error) => {
                    publish_log::record_failure(ctx, acting, due.commit, &error);
                    failed = Some(error);
                }
            }
        }
        match waiting {
            Some(UnpublishedCommit { unclear: Some(error), branch, commit, domains, policy, .. }) => {
                self.next_steps.extend(error.next_steps);
                let (_, policy_source) = policy::chosen(code)?;
                let (problem, due, failed_at) = (Some(error.message), false, None);
                self.unpublished =
                    Some(Unpublished { branch, commit, domains, policy, policy_source, due, problem, failed_at });
            }
            // The other repository of this name may have published the commit.
            Some(UnpublishedCommit { behind: Some(_), .. })
                if read::names_taken_twice(acting.store, overview.repos())?.contains(acting.repo) => {}
            Some(UnpublishedCommit { behind: Some(lacking), .. }) => {
                let step =
                    behind::pull(code, &lacking.branch, &lacking.published, &reason_to_pull(acting, code, &lacking))?;
                self.next_steps.push(step);
                if code.has(&lacking.published)
                    && let Some(tip) = code.reference(&format!("refs/heads/{}", lacking.branch))?
                {
                    self.next_steps.extend(behind::replace(code, &lacking.branch, (&tip, &lacking.published))?);
                }
                self.behind = Some(lacking);
            }
            Some(waiting) => self.report_unpublished(ctx, acting, code, waiting, failed),
            None => {}
        }
        Ok(())
    }

    fn report_unpublished(
        &mut self,
        ctx: &Ctx,
        acting: ActingRepo<'_>,
        code: &CodeRepo,
        mut waiting: UnpublishedCommit,
        failed: Option<OpError>,
    ) {
        let (problem, failed_at, steps) = match failed {
            Some(error) => (Some(error.message), Some(ctx.env.now()), error.next_steps),
            None => match publish_log::last_failure(ctx, acting).filter(|attempt| attempt.commit == waiting.commit) {
                Some(attempt) => (attempt.failed, Some(attempt.at), attempt.next_steps),
                None => (None, None, Vec::new()),
            },
        };
        if matches!(waiting.policy, Policy::Ci | Policy::Off) {
            (waiting.disputed, waiting.rolled_back, waiting.series) = (None, None, None);
        }
        let problem = problem.or_else(|| {
            let told = |series: &Series| format!("git {} is still in progress", series.command);
            waiting.series.as_ref().map(told)
        });
        let problem = problem.or_else(|| {
            let told = |domain| format!("two machines wrote the binding of {} in {domain} independently", acting.repo);
            waiting.disputed.as_ref().map(told)
        });
        let problem = problem.or_else(|| waiting.rolled_back.map(|rollback| rollback.reason_to_hold()));
        let refusal = problem.is_none().then(|| catch_up::refusal(ctx, acting, code, &waiting));
        let (problem, steps) = match refusal.flatten() {
            Some(error) => (Some(error.message), error.next_steps),
            None => (problem, steps),
        };
        self.next_steps.extend(next_steps(acting, code, &waiting, problem.is_some(), steps));
        self.unpublished = Some(Unpublished {
            branch: waiting.branch,
            commit: waiting.commit,
            domains: waiting.domains,
            policy: waiting.policy,
            policy_source: policy::chosen(code).map(|(_, source)| source).unwrap_or_default(),
            due: waiting.is_due,
            problem,
            failed_at,
        });
    }
}

/// Returns the steps for an unpublished commit. `steps` are those of its failure, if publishing it failed.
fn next_steps(
    acting: ActingRepo<'_>,
    code: &CodeRepo,
    waiting: &UnpublishedCommit,
    has_problem: bool,
    steps: Vec<NextStep>,
) -> Vec<NextStep> {
    let (origin, branch) = (shell_word(&code.origin()), shell_word(&waiting.branch));
    if let Some(series) = &waiting.series {
        return vec![format!("{}  # its last commit is published", series.go_on()).into()];
    }
    if has_problem && waiting.disputed.is_none() && later_commits_differ(code, waiting).unwrap_or_default() {
        return vec![format!("git push {origin} {branch}  # the newer commits are not pushed yet").into()];
    }
    let has_origin = code.origin_url().is_some();
    let mut all: Vec<NextStep> = Vec::new();
    all.extend(waiting.rolled_back.and_then(|rollback| after_rollback(acting, code, waiting, rollback)));
    if waiting.disputed.is_some() && has_origin {
        all.push(format!("git pull --no-rebase {origin} {branch}  # merge both, and publish the result").into());
    }
    all.extend(steps);
    all.push(match waiting.policy {
        _ if waiting.disputed.is_some() => "git blue contract publish  # or publish what this commit has".into(),
        _ if waiting.rolled_back.is_some() => "git blue contract publish  # or publish it again".into(),
        Policy::Pushed | Policy::Ci if has_problem && !waiting.is_due => {
            "git blue contract publish --dry-run  # try again once this is corrected".into()
        }
        _ if has_problem => "git blue contract publish  # try again once this is corrected".into(),
        _ if waiting.is_due => "git blue contract publish".into(),
        Policy::Commit | Policy::Off => "git blue contract publish".into(),
        Policy::Pushed if !has_origin => {
            "git blue contract publish  # publishing waits for a push, but this clone has no remote".into()
        }
        Policy::Pushed => format!("git push {origin} {branch}").into(),
        Policy::Ci => "git blue contract publish --dry-run".into(),
    });
    all
}

/// Returns whether later commits of the branch, which are not pushed yet, change what a pushed commit has to publish.
fn later_commits_differ(code: &CodeRepo, waiting: &UnpublishedCommit) -> Result<bool, OpError> {
    let tip = code.reference(&format!("refs/heads/{}", waiting.branch))?;
    let Some(tip) = tip.filter(|_| waiting.policy == Policy::Pushed) else { return Ok(false) };
    let trees = [&code.tree_of(&waiting.commit)?, &code.tree_of(&tip)?];
    for domain in &waiting.domains {
        if differ_in(code, trees, domain)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the step after a rollback: to revert the newer commit, to drop it as another clone did, or to pull it in a clone
/// that lacks it.
fn after_rollback(
    acting: ActingRepo<'_>,
    code: &CodeRepo,
    waiting: &UnpublishedCommit,
    rollback: Rollback,
) -> Option<NextStep> {
    let domain = waiting.domains.first()?.parse().ok()?;
    if rollback.cause == Cause::Dropped
        && let Some(step) = behind::drop(code, &waiting.branch, &rollback.from).ok().flatten()
    {
        return Some(step);
    }
    match behind::absent(acting, code, &domain, &rollback.from).ok()? {
        None => behind::revert(code, &waiting.branch, &[rollback.from], &rollback.to).ok().flatten(),
        Some(absent) => {
            let reason = format!("get {absent}, which was rolled back; if it stays missing, it is not pushed yet");
            behind::pull(code, &waiting.branch, &rollback.from, &reason).ok()
        }
    }
}

/// Returns the reason to pull a published commit. It may not be pushed yet: then its publisher is named.
fn reason_to_pull(acting: ActingRepo<'_>, code: &CodeRepo, lacking: &Behind) -> String {
    let reason = "get the published commit";
    let absent = |domain| behind::absent(acting, code, domain, &lacking.published).ok().flatten();
    match lacking.domains.first().and_then(absent) {
        Some(absent) => format!("{reason}, {absent}; if it stays missing, it is not pushed yet"),
        None => reason.to_owned(),
    }
}
