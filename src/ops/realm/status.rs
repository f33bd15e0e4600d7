//! `realm_status`: a summary of the realm and of what concerns this repository.

mod conflicts;
mod imports;
pub mod next_steps;
mod own_contracts;
mod removed_files;

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    error::{ErrorCode, OpError, REPAIR},
    locate::{
        self,
        config::{record_url, write_url},
    },
    model::{
        conflict::NAME_CONFLICT,
        domain_digest::{BindingDigest, DomainDigest, MAX_CONTRACTS},
        domain_view::{Damage, Subject},
        name::{DomainName, ReaderName, RepoName},
        verdict::Judge,
    },
    ops::{
        Operation,
        admin::join,
        ctx::{ActingRepo, Ctx, RealmContext},
        inboxes::{
            arrival,
            inbox::Receipt,
            pending::{self, MAX_DELIVERED, NotificationBatch, Pending},
        },
        publish::unpublished::{self, CaughtUp},
        repos::{roots, unknown},
        runs, session,
        sync::remote_status,
    },
    store::{
        overview::{Line, Overview},
        read,
        sessions::SessionFilter,
    },
    wire::{
        Answer, DomainBinding, DomainContract, DomainStatus, OpenOffer, PageRequest, RealmStatus, RepoLine,
        SessionLine, page,
    },
};

/// The default number of domains. A summary must not grow with the realm.
pub const DEFAULT_DOMAINS: usize = 10;

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::reads::<Request>(
    "realm_status",
    &["realm", "status"],
    "Show the realm, its contracts, and what changed",
)
.reads_past()
.tool(
    "Show the realm: repositories, domains, contracts, bindings, and this repository's imports. Call \
    it first.",
)
.route("GET", "/realms/{realm}");

/// The maximum number of sessions in one answer.
const MAX_SESSIONS: usize = 20;

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The reader whose notifications are added to the answer; none if they are shown elsewhere.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip = Some(pending::cli_reader())))]
    pub reader: Option<ReaderName>,
    /// The page of domains; those of the repository that asks come first.
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub page: PageRequest,
    /// Whether to publish commits that no hook published.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub catch_up: bool,
    /// The maximum number of changes to show.
    #[serde(skip, default = "most")]
    #[cfg_attr(feature = "cli", arg(skip = MAX_DELIVERED))]
    pub most: usize,
}

fn most() -> usize {
    MAX_DELIVERED
}

runs!(RealmStatus, |ctx, request| Ok(run(ctx, request)?.answer));

impl Default for Request {
    fn default() -> Self {
        Self { reader: Some(pending::cli_reader()), page: PageRequest::default(), catch_up: false, most: MAX_DELIVERED }
    }
}

/// The result of [`run`].
#[derive(Debug)]
pub struct Outcome {
    /// The status.
    pub answer: Answer<RealmStatus>,
    /// The receipt to record once the answer has reached its reader.
    pub receipt: Receipt,
    /// The cursors that continue after each of the domains.
    pub cursors: Vec<String>,
}

/// Returns the status.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Outcome, OpError> {
    let here = ctx.realm()?;
    let mut overview = Overview::open(&*here.store)?;
    unknown::refuse_variable(ctx, overview.repos().keys())?;
    let writing = ctx.require_writable();
    let caught_up = match &writing {
        Ok(acting) => catch_up(ctx, *acting, &overview, request),
        Err(_) => CaughtUp::default(),
    };
    let joined = here.repo.as_ref().is_some_and(|repo| overview.repos().contains_key(repo));
    if caught_up.has_moved {
        overview = Overview::open(&*here.store)?;
    }
    let judge = ctx.quick_judge();
    let NotificationBatch { notifications, bindings_changed, more: more_notifications, expired, receipt } = if joined {
        first_notifications(ctx, request, &overview, &judge, writing.is_ok())?
    } else {
        Default::default()
    };

    let (sessions, unreadable_sessions) = sessions(ctx, here)?;
    let session = sessions.iter().find(|session| session.is_current).cloned();
    let more_sessions = sessions.len().saturating_sub(MAX_SESSIONS);
    let (lines, next_cursor) = domains(&overview, here.repo.as_ref(), &request.page)?;
    let cursors = lines.iter().map(|line| cursor(line, here.repo.as_ref())).collect();
    let mine = here.repo.iter().flat_map(|repo| overview.domains_of(repo));
    let digests = digests(&overview, lines.iter().chain(mine))?;
    let of_repo =
        here.repo.as_ref().map(|repo| imports::of((ctx, here), &overview, &digests, repo, &judge)).transpose()?;
    let (imports, unreadable_versions) = of_repo.unwrap_or_default();
    let judging = (&judge, ctx.env.today());
    let own = here.repo.as_ref().map(|repo| own_contracts::of(here, &overview, &digests, repo, judging)).transpose()?;
    let (own_contracts, more_own_contracts) = own.unwrap_or_default();
    let offers = here.repo.as_ref().filter(|_| joined).map(|repo| offers(&digests, repo));
    let (offers, more_offers) = offers.unwrap_or_default();
    let conflicts = conflicts::of(ctx, here, &overview, &digests)?;
    // The other repository of this name may have the files.
    let is_taken_twice = here.repo.is_some() && conflicts.iter().any(|one| one.code == NAME_CONFLICT);
    let removed_files = if is_taken_twice { Vec::new() } else { removed_files::of(ctx, here, &digests)? };
    let body = RealmStatus {
        realm: here.realm.clone(),
        current_repo: here.repo.clone(),
        read_only: here.repo.is_some().then(|| writing.as_ref().err().map(|error| error.message.clone())).flatten(),
        repos: repos(ctx, here, &overview)?,
        domains: lines.iter().map(|line| domain(&line.name, &digests[&line.name].1)).collect(),
        total: overview.count(),
        next_cursor,
        imports,
        own_contracts,
        more_own_contracts,
        offers,
        more_offers,
        total_contracts: overview.contracts(),
        session,
        sessions: sessions.into_iter().take(MAX_SESSIONS).collect(),
        more_sessions,
        remotes: remote_status::all(&*here.store, ctx.home.realm(&here.realm)?.map(|known| known.path).as_deref())?,
        conflicts,
        unreadable_domains: unreadable_domains(&overview),
        unreadable: unreadable(&overview)?
            .into_iter()
            .chain(unreadable_versions)
            .chain(unreadable_sessions)
            // Not repeated if damage that is listed may be the cause.
            .chain(caught_up.unreadable.filter(|_| overview.damage().is_empty()))
            .collect(),
        published: caught_up.published,
        unpublished: caught_up.unpublished,
        behind: caught_up.behind,
        removed_files,
        notifications,
        bindings_changed,
        more_notifications,
        expired_notifications: expired,
    };
    let mut answer = Answer::new(body);
    if let (Some(_), Err(error)) = (&here.repo, &writing) {
        answer = answer.next_all(error.next_steps.iter().cloned());
    }
    let answer = answer.next_if(may_join(ctx, here), "git blue init  # join the realm: this clone can only read it");
    let answer = answer.next_all(caught_up.next_steps);
    let answer = answer.next_all(here.unrecorded_url.iter().map(|url| record_url(url)));
    let answer = answer.next_all(moved_url(ctx, here)?.map(|url| write_url(url)));
    let first = match (&here.repo, &ctx.code) {
        (Some(repo), Some(code)) if joined && overview.damage().is_empty() => {
            join::first_steps(ctx, code, (&here.realm, &*here.store), &overview, repo)?
        }
        _ => Vec::new(),
    };
    let namesake = match (&here.repo, &answer.body.removed_files[..]) {
        (Some(repo), [_, ..]) => {
            let lost = read::lost_names(&*here.store, overview.repos())?.into_iter();
            lost.filter(|(name, _)| name == repo).find_map(|(_, newer)| newer.filter(|newer| newer != repo))
        }
        _ => None,
    };
    let answer = ctx.with_past_steps(next_steps::add(ctx, first, (joined, namesake.as_ref()), answer));
    let receipt = if writing.is_ok() { receipt } else { Receipt::default() };
    Ok(Outcome { answer, receipt, cursors })
}

/// Returns whether only git's configuration names the realm of this clone, which has not joined it.
fn may_join(ctx: &Ctx, here: &RealmContext) -> bool {
    let Some(code) = ctx.code.as_ref().filter(|code| code.workdir().is_some()) else { return false };
    here.repo.is_none() && code.config("blue.realm").is_some_and(|name| name == here.realm.as_str())
}

/// Finds the commits that are not published yet, and publishes them if the request says so.
fn catch_up(ctx: &Ctx, acting: ActingRepo<'_>, overview: &Overview<'_>, request: &Request) -> CaughtUp {
    if request.catch_up {
        // If the root commits cannot be recorded now, the next command does it.
        let _ = roots::record_roots(ctx);
    }
    unpublished::run(ctx, acting, overview, request.catch_up)
}

/// Reads the digests of domains.
fn digests<'o>(overview: &Overview<'_>, lines: impl Iterator<Item = &'o Line>) -> Result<Digests<'o>, OpError> {
    let mut digests = Digests::new();
    for line in lines {
        if !digests.contains_key(&line.name) {
            digests.insert(&line.name, (line, overview.digest(line)?));
        }
    }
    Ok(digests)
}

/// Returns the sessions that have not ended, the latest first, and those that cannot be read.
fn sessions(ctx: &Ctx, here: &RealmContext) -> Result<(Vec<SessionLine>, Vec<String>), OpError> {
    let (open, unreadable) = session::all_sessions(&*here.store, SessionFilter::Open)?;
    // If this session cannot be read, it is among the unreadable ones.
    let mine = session::current::current(ctx).ok().flatten().map(|session| session.id);
    let line = |session| SessionLine::new(session, ctx.env.now(), mine.as_ref() == Some(&session.id));
    let mut lines: Vec<_> = open.iter().map(line).collect();
    lines.sort_by(|a, b| (b.started_at, &b.id).cmp(&(a.started_at, &a.id)));
    Ok((lines, unreadable))
}

fn repos(ctx: &Ctx, here: &RealmContext, overview: &Overview<'_>) -> Result<Vec<RepoLine>, OpError> {
    let mut paths = locate::folders(&ctx.home, &here.realm, &*here.store)?;
    let mut line = |name: &RepoName| {
        let is_current = here.repo.as_ref() == Some(name);
        let current = ctx.code.as_ref().and_then(|code| code.workdir()).filter(|_| is_current);
        let path = current.or_else(|| paths.remove(name));
        RepoLine { name: name.clone(), path: path.map(|path| path.display().to_string()), is_current }
    };
    Ok(overview.repos().keys().map(&mut line).collect())
}

/// The domains of the page, and those of the current repository.
type Digests<'o> = BTreeMap<&'o DomainName, (&'o Line, Arc<DomainDigest>)>;

/// Returns one page of the domains, those of `repo` first.
fn domains(
    overview: &Overview<'_>,
    repo: Option<&RepoName>,
    request: &PageRequest,
) -> Result<(Vec<Line>, Option<String>), OpError> {
    let request = PageRequest { limit: Some(request.limit.unwrap_or(DEFAULT_DOMAINS)), ..request.clone() };
    let mut lines: Vec<_> = repo.iter().flat_map(|repo| overview.domains_of(repo)).cloned().collect();
    // One more than a first page, to know whether there is another page.
    let room = if request.cursor.is_some() { usize::MAX } else { request.limit().saturating_add(1) };
    let room = room.saturating_sub(lines.len());
    match repo {
        Some(repo) => lines.extend(overview.domains_not_of(repo).take(room)),
        None => lines.extend(overview.domains().iter().take(room).cloned()),
    }
    Ok(page(lines, &request, |line| cursor(line, repo))?)
}

/// Returns the cursor that continues after a domain.
fn cursor(line: &Line, repo: Option<&RepoName>) -> String {
    let is_mine = repo.is_some_and(|repo| line.repos.contains(repo));
    format!("{}:{}", if is_mine { "mine" } else { "other" }, line.name)
}

fn domain(name: &DomainName, digest: &DomainDigest) -> DomainStatus {
    let contract = |(name, version, owner)| DomainContract { name, version, owner };
    let binding = |BindingDigest { repo, role, exports, imports }: BindingDigest| DomainBinding {
        repo,
        role: role.into(),
        exports,
        imports,
    };
    DomainStatus {
        name: name.clone(),
        members: digest.members(),
        contracts: digest.first_contracts().map(contract).collect(),
        more_contracts: digest.contracts().saturating_sub(MAX_CONTRACTS),
        bindings: digest.bindings().map(binding).collect(),
    }
}

/// Returns the most important pending notifications. The others are dropped here, since thousands may be pending.
fn first_notifications(
    ctx: &Ctx,
    request: &Request,
    overview: &Overview<'_>,
    judge: &Judge<'_>,
    may_write: bool,
) -> Result<NotificationBatch, OpError> {
    // What a reader has not seen yet is known only for the present.
    let (Ok(acting), Some(reader), None) = (ctx.acting_repo(), &request.reader, ctx.as_of) else {
        return Ok(NotificationBatch::default());
    };
    let pending = Pending::of(ctx, acting, reader, overview, judge)?;
    if request.catch_up && may_write {
        arrival::record(acting.store, &pending.sightings, || ctx.env.now_here());
    }
    Ok(pending.first(request.most, |_| true))
}

/// Returns an error if parts of the realm cannot be read, so that the answer is not mistaken for the whole realm.
pub fn failure(unreadable: &[String]) -> Option<OpError> {
    let (first, others) = unreadable.split_first()?;
    let more = match others.len() {
        0 => String::new(),
        more => format!("; {more} more cannot be read"),
    };
    let error = OpError::cannot(ErrorCode::Damaged, format!("{first}{more}"));
    Some(error.next(REPAIR))
}

/// Returns the domains that cannot be read, with the reason.
pub fn unreadable_domains(overview: &Overview<'_>) -> Vec<String> {
    let is_domain = |damage: &&Damage| matches!(damage.subject, Subject::Domain(_) | Subject::Domains);
    overview.damage().iter().filter(is_domain).map(ToString::to_string).collect()
}

/// Returns the bindings of a repository that cannot be read, with the reason.
///
/// # Errors
/// Returns an error if a domain cannot be read.
pub fn unreadable_bindings_of(overview: &Overview<'_>, repo: &RepoName) -> Result<Vec<String>, OpError> {
    let own = Subject::Binding(repo.clone());
    let mut unreadable = Vec::new();
    for line in overview.domains_of(repo).filter(|line| !line.is_intact()) {
        let summary = overview.summary(line)?;
        unreadable.extend(summary.damage.iter().filter(|damage| damage.subject == own).map(ToString::to_string));
    }
    Ok(unreadable)
}

/// Returns every stored file that cannot be read, with the reason.
///
/// # Errors
/// Returns an error if a domain cannot be read.
pub fn unreadable(overview: &Overview<'_>) -> Result<Vec<String>, OpError> {
    let mut damage = overview.damage().to_vec();
    for line in overview.damaged() {
        damage.extend(overview.summary(&line)?.damage.iter().cloned());
    }
    Ok(damage.iter().map(ToString::to_string).collect())
}

/// Returns the realm's URL if the publishing branch is checked out and still has the former one. Other branches may keep
/// it.
fn moved_url<'h>(ctx: &Ctx, here: &'h RealmContext) -> Result<Option<&'h String>, OpError> {
    let (Some(url), Some(code)) = (&here.moved_url, &ctx.code) else { return Ok(None) };
    let head = code.head()?.branch;
    Ok((head.is_some() && head == code.publishing_branch()?).then_some(url))
}

/// The maximum number of open offers that are listed.
const MAX_OFFERS: usize = 100;

/// Returns the first open offers to and by `repo`, and how many more there are.
fn offers(digests: &Digests<'_>, repo: &RepoName) -> (Vec<OpenOffer>, usize) {
    let of_domain = |(domain, (_, digest)): (&&DomainName, &(&Line, Arc<DomainDigest>))| {
        let concerned = digest.offers().filter(|(_, from, to)| [from, to].contains(&repo));
        let offer = |(contract, from, to)| OpenOffer { domain: (*domain).clone(), contract, from, to };
        concerned.map(offer).collect::<Vec<_>>()
    };
    let mut offers: Vec<_> = digests.iter().flat_map(of_domain).collect();
    let more = offers.len().saturating_sub(MAX_OFFERS);
    offers.truncate(MAX_OFFERS);
    (offers, more)
}
