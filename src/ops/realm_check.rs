//! `realm_check`: does the realm hold together, with this repository's files laid over it?

use super::{
    Operation,
    blue_files::Files,
    candidate, contract_publish,
    ctx::{Acting, Ctx},
    pending::{self, MAX_TOLD, Pending},
    unpublished,
};
use crate::{
    error::OpError,
    model::{
        candidate::{Candidate, Judged},
        check::{Check, Examination, Mode, Question, Report, Severity},
        name::ReaderName,
        schema::Budget,
        summary::DomainSummary,
        view::{self, Damage},
    },
    store::{
        Store, StoreRef,
        git::code::CodeRepo,
        overview::{Line, Overview, Schemas},
        read,
    },
    wire::{Answer, Notification, RealmCheck, State},
};

/// Its entry in the table.
pub const OPERATION: Operation =
    Operation::read::<RealmCheck>("realm_check", &["realm", "check"], "Check contracts and imports, for people and CI");

/// What is asked.
#[derive(Debug, Clone)]
pub struct Request {
    /// Who asks: what is pending for it comes with the answer. Nobody where something else tells it.
    pub reader: Option<ReaderName>,
    /// Which files are laid over the realm.
    pub subject: Subject,
    /// Which rules.
    pub mode: Mode,
    /// Whether warnings fail too.
    pub strict: bool,
    /// Whether what no hook published is published before.
    pub catch_up: bool,
    /// Whether every contract that was looked at is listed, and not only counted.
    pub listed: bool,
}

impl Default for Request {
    fn default() -> Self {
        Self {
            reader: Some(pending::person()),
            subject: Subject::default(),
            mode: Mode::default(),
            strict: false,
            catch_up: false,
            listed: true,
        }
    }
}

/// Which files are laid over the realm.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Subject {
    /// Those of HEAD.
    #[default]
    Head,
    /// Those of this commit.
    Commit(String),
    /// Those of the work tree.
    Worktree,
    /// None: the realm as it was published.
    Published,
}

/// Answers. That the realm is not valid is an answer, not an error.
///
/// # Errors
/// Where the realm or the repository cannot be read: never a pass.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<RealmCheck>, OpError> {
    let here = ctx.here()?;
    let mut overview = Overview::open(&*here.store)?;
    let mut published = Vec::new();
    if let (true, Subject::Head, Ok(acting)) = (request.catch_up, &request.subject, ctx.acting()) {
        // What cannot be published is what the check finds.
        let caught_up = unpublished::run(ctx, acting, &overview, true);
        if caught_up.has_moved {
            overview = Overview::open(&*here.store)?;
        }
        published = caught_up.published;
    }
    let candidate = match (&request.subject, ctx.acting()) {
        (Subject::Published, _) => None,
        (subject, Ok(acting)) => {
            candidate_of(ctx, acting, &overview, subject)?.map(|candidate| (acting.repo, candidate))
        }
        // Outside of a repository there is nothing to lay over, unless it was asked for.
        (Subject::Head, Err(_)) => None,
        (_, Err(error)) => return Err(error),
    };
    let cycles = read::realm(&*here.store)?.cycles;
    let judged = candidate.as_ref().map(|(repo, candidate)| Judged { repo, candidate });
    let Request { mode, listed, .. } = *request;
    let (now, budget, me) = (ctx.env.now(), &ctx.budget(), here.repo.as_ref());
    let question = Question { repos: overview.repos(), me, judged, now, mode, listed, cycles, budget };
    let report = judge(&*here.store, &overview, Check::new(question), budget)?;
    let (errors, warnings): (Vec<_>, Vec<_>) =
        report.findings.into_iter().partition(|finding| finding.severity == Severity::Error);
    let valid = errors.is_empty() && (warnings.is_empty() || !request.strict);
    let body = RealmCheck {
        realm: here.realm.clone(),
        current_repo: candidate.as_ref().map(|(repo, _)| (*repo).clone()),
        valid,
        published,
        errors,
        warnings,
        contracts: report.count,
        schema_hashes: report.contracts,
        notifications: request.reader.as_ref().map(|reader| notifications(ctx, reader, &overview)).unwrap_or_default(),
    };
    let step = match (valid, body.errors.is_empty()) {
        (true, _) => "All checks passed. Ready to proceed.",
        (false, true) => "Resolve the warnings: --strict fails on them",
        (false, false) => "Fix the errors, and check again",
    };
    Ok(Answer::new(body).next(step))
}

/// Most domains are as they were when they were examined last, and only those are read whole that
/// were not, or that the candidate says something of.
fn judge(store: &dyn Store, overview: &Overview<'_>, mut check: Check<'_>, budget: &Budget) -> Result<Report, OpError> {
    let (mut damage, mut examining) = (overview.damage().to_vec(), overview.examining());
    for line in overview.domains() {
        let is_judged = check.is_judged(&line.name);
        if let Some(schemas) = schemas(overview, line, check.is_listed()).filter(|_| !is_judged) {
            check.published(&overview.summary(line)?, Examination::clean(schemas));
            continue;
        }
        let domain = match read::domain_at(store, &line.name, &line.tip) {
            Ok(domain) => domain,
            Err(error) if error.is_damage() => {
                let file = StoreRef::Domain(line.name.clone()).to_string();
                let subject = view::Subject::Domain(line.name.clone());
                damage.push(Damage { file, subject, problem: error.to_string() });
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        if is_judged {
            check.laid_over(&domain);
            continue;
        }
        let examination = Examination::of(&domain, budget);
        if examination.is_clean() && domain.damage.is_empty() {
            examining.add(line, &examination.schema_hashes);
        }
        check.published(&DomainSummary::from(&domain), examination);
    }
    examining.keep();
    Ok(check.finish(&damage, &read::names_taken_twice(store, overview.repos())?, &read::set_aside(store)?))
}

/// Returns the hashes of a domain's schemas, if it was examined and nothing was found; they are read
/// only where they are wanted.
fn schemas(overview: &Overview<'_>, line: &Line, listed: bool) -> Option<Schemas> {
    if listed { overview.schemas(line) } else { overview.is_examined(line).then(Schemas::default) }
}

/// What is pending never decides a check, so what cannot be told is left out.
fn notifications(ctx: &Ctx, reader: &ReaderName, overview: &Overview<'_>) -> Vec<Notification> {
    let pending = ctx.acting().and_then(|acting| Pending::of(acting, reader, ctx.env.now(), overview));
    let pending = pending.unwrap_or_default();
    pending.notifications.into_iter().filter(|one| one.state == State::Pending).take(MAX_TOLD).collect()
}

fn candidate_of(
    ctx: &Ctx,
    acting: Acting<'_>,
    overview: &Overview<'_>,
    subject: &Subject,
) -> Result<Option<Candidate>, OpError> {
    let code = ctx.code()?;
    let Some(files) = files(code, subject)? else {
        return Ok(None);
    };
    candidate::read(code, &files, &contract_publish::sources(acting, Some(overview))?).map(Some)
}

fn files<'a>(code: &'a CodeRepo, subject: &Subject) -> Result<Option<Files<'a>>, OpError> {
    match subject {
        Subject::Published => Ok(None),
        Subject::Worktree => {
            let root = code.workdir().ok_or_else(|| OpError::usage("a bare repository has no work tree"))?;
            Ok(Some(Files::Worktree(root)))
        }
        Subject::Commit(revision) => {
            let commit = code.resolve(revision).map_err(|error| OpError::no("unknown-commit", error.to_string()))?;
            Files::at(code, &commit).map(Some)
        }
        Subject::Head => code.head()?.commit.map(|commit| Files::at(code, &commit)).transpose(),
    }
}
