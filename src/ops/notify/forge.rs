//! `notify_forge`: opens an issue or pull request for each consumer that a version breaks or leaves
//! behind. A marker identifies it. It is kept up to date, and closed once the import is settled.

use std::collections::BTreeMap;

use super::{
    former, importers, issue,
    pulls::{Done, Pulls},
};
use crate::{
    error::OpError,
    forge::{Address, Forge, ForgeError, Issue, Listed},
    model::{
        name::{ContractRef, RepoName},
        realm::Repo,
        version::Version,
    },
    ops::{
        Operation,
        ctx::{Ctx, RealmContext},
        realm::review,
        repos::{
            ephemeral_realm,
            forges::{ForgeUnavailable, Forges},
            paths, unknown,
        },
        runs,
    },
    store::overview::Overview,
    wire::{Answer, ForgeIssue, ImportReview, IssueOutcome, NotifyForge, UnreadForge},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::writes::<Request>(
    "notify_forge",
    &["notify", "forge"],
    "Open issues or pull requests for broken or outdated imports",
);

/// The arguments.
#[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// Open and update issues only for the given repository
    #[cfg_attr(feature = "cli", arg(long, value_name = "REPO"))]
    pub repo: Option<RepoName>,
    /// Also write to repositories of this owner, such as github.com/acme, that are not cloned here
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long = "owner", value_name = "HOST/OWNER"))]
    pub owners: Vec<String>,
    /// Use the realm at this URL for this command only
    #[cfg_attr(feature = "cli", arg(long, value_name = "URL"))]
    pub realm_url: Option<String>,
    /// Open a pull request where a range can be changed, and an issue elsewhere
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub pull_request: bool,
    /// Show what would be written, without writing it
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub dry_run: bool,
}

runs!(NotifyForge, run);

/// Writes the issues and pull requests.
///
/// # Errors
/// Returns an error if the realm cannot be read, or does not have the requested repository. Failures in individual
/// repositories are part of the answer.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<NotifyForge>, OpError> {
    match &request.realm_url {
        Some(url) => tell(&ephemeral_realm::clone_temporary(ctx, url)?.ctx, request),
        None => tell(ctx, request),
    }
}

fn tell(ctx: &Ctx, request: &Request) -> Result<Answer<NotifyForge>, OpError> {
    let here = ctx.realm()?;
    let overview = Overview::open(&*here.store)?;
    if let Some(only) = request.repo.as_ref().filter(|only| !overview.repos().contains_key(*only)) {
        return Err(unknown::error((&here.realm, &*here.store), only, overview.repos().keys()));
    }
    let importers = importers::past_and_present(&*here.store)?;
    let mut telling = IssueRun {
        ctx,
        here,
        overview: &overview,
        request,
        search: paths::Search::new(ctx, here)?,
        forges: Forges::new(ctx),
        issues: Vec::new(),
        unread: Vec::new(),
    };
    for repo in overview.repos().values() {
        let is_wanted = request.repo.as_ref().is_none_or(|only| *only == repo.name);
        if is_wanted && importers.contains(&repo.name) {
            telling.repo(repo);
        }
    }
    if request.repo.is_none() {
        let former = former::repos(&*here.store, overview.repos())?;
        former.iter().filter(|repo| importers.contains(&repo.name)).for_each(|repo| telling.left(repo));
    }
    let ignored: Vec<_> = telling.forges.ignored().collect();
    let complete = telling.issues.iter().all(|one| one.outcome != IssueOutcome::Failed);
    let body = NotifyForge {
        realm: here.realm.clone(),
        dry_run: request.dry_run,
        complete,
        issues: telling.issues,
        unread: telling.unread,
    };
    Ok(Answer::new(body).next_all(ignored))
}

struct IssueRun<'a> {
    ctx: &'a Ctx,
    here: &'a RealmContext,
    overview: &'a Overview<'a>,
    request: &'a Request,
    search: paths::Search<'a>,
    forges: Forges<'a>,
    issues: Vec<ForgeIssue>,
    unread: Vec<UnreadForge>,
}

impl IssueRun<'_> {
    fn repo(&mut self, repo: &Repo) {
        let told = self.due(&repo.name).and_then(|due| match self.forge(repo) {
            Ok(forge) => self.tell(&*forge, &repo.name, &due).map_err(|error| error.to_string()),
            // There is nothing to write, but there may be issues to close.
            Err(problem) if due.is_empty() => {
                self.unread.push(UnreadForge { repo: repo.name.clone(), problem });
                Ok(())
            }
            Err(problem) => Err(problem),
        });
        if let Err(problem) = told {
            let failed = line(&repo.name, None, IssueOutcome::Failed, None);
            self.issues.push(ForgeIssue { problem: Some(problem), ..failed });
        }
    }

    /// Returns the imports of a repository that are broken or behind, from the repository's point of view.
    fn due(&self, repo: &RepoName) -> Result<Vec<ImportReview>, String> {
        let own = Ctx::in_realm(self.ctx.env.clone(), &self.here.realm, Some(repo));
        let imports = own.and_then(|own| review::run(&own)).map_err(|error| error.message)?.body.imports;
        Ok(imports.into_iter().filter(issue::is_due).collect())
    }

    /// Returns the forge of a repository. A clone on this machine determines it. The URL in the realm is used only if
    /// it is below a place that the user trusts, because any member may have written it.
    fn forge(&mut self, repo: &Repo) -> Result<Box<dyn Forge>, String> {
        let found = self.search.find(repo).map_err(|error| error.message)?;
        let (folder, remote, url) = match found {
            Ok(found) => (found.folder, found.remote, found.url),
            Err(problem) => {
                let url =
                    repo.url.clone().ok_or_else(|| format!("{}, and the realm has no URL for it", problem.message))?;
                let address = Address::of(&url).ok_or_else(|| format!("{} is not on a forge", repo.name))?;
                let place = format!("{}/{}/", address.host, address.path);
                let is_named = |owner: &String| place.starts_with(&format!("{}/", owner.trim_end_matches('/')));
                if !self.request.owners.iter().any(is_named) {
                    let owner = format!("{}/{}", address.host, address.owner());
                    return Err(format!("it is not cloned here: pass --owner {owner} to use the URL in the realm"));
                }
                (self.ctx.env.cwd().to_owned(), String::new(), Some(url))
            }
        };
        let on = self.forges.at(repo.name.as_str(), &folder, (&remote, url.as_deref()));
        let closed = |closed: ForgeUnavailable| format!("{}: {}", closed.message, closed.next_step);
        on.map_err(closed)?.forge.map_err(closed)
    }

    fn tell(&mut self, forge: &dyn Forge, repo: &RepoName, due: &[ImportReview]) -> Result<(), ForgeError> {
        let proposed = if self.request.pull_request { self.propose(forge, repo, due)? } else { BTreeMap::new() };
        let rest: Vec<_> = due.iter().filter(|import| !proposed.contains_key(&issue::contract(import))).collect();
        let there = match forge.issues() {
            Err(ForgeError::IssuesDisabled { .. }) if rest.is_empty() => return Ok(()),
            there => there?,
        };
        for import in &rest {
            let done = self.one(forge, repo, import, &there)?;
            self.issues.push(done);
        }
        self.close(forge, repo, &there, |contract| {
            let is_due = rest.iter().any(|import| issue::contract(import) == *contract);
            (!is_due).then(|| proposed.get(contract).map_or(issue::SETTLED_BY, |why| why))
        })
    }

    /// Closes the issues of a repository that left the realm, unless they may be about another realm. It is no failure
    /// that its forge no longer has it.
    fn left(&mut self, repo: &Repo) {
        let Ok(forge) = self.forge(repo) else { return };
        let overview = self.overview;
        let why = |contract: &ContractRef| has(overview, contract).then_some(issue::LEFT);
        let closed = forge.issues().and_then(|there| self.close(&*forge, &repo.name, &there, why));
        match closed {
            Ok(()) | Err(ForgeError::NotFound { .. } | ForgeError::IssuesDisabled { .. }) => {}
            Err(error) => self.unread.push(UnreadForge { repo: repo.name.clone(), problem: error.to_string() }),
        }
    }

    /// Closes the open issues about those contracts for which `why` returns a reason.
    fn close<'w>(
        &mut self,
        forge: &dyn Forge,
        repo: &RepoName,
        there: &Listed<Issue>,
        why: impl Fn(&ContractRef) -> Option<&'w str>,
    ) -> Result<(), ForgeError> {
        for issue in there.entries.iter().filter(|issue| issue.is_open) {
            let Some(mark) = issue::IssueMarker::of(&issue.body).filter(|mark| !mark.is_settled) else { continue };
            let Some(why) = why(&mark.contract) else { continue };
            let closed = Issue { is_open: false, body: mark.closed(&issue.body, why), ..issue.clone() };
            let done = line(repo, Some(&mark.contract), IssueOutcome::Closed, Some(issue));
            let done = ForgeIssue { version: Some(mark.version), ..done };
            match self.edit(forge, &closed)? {
                Edited::Done => self.issues.push(done),
                Edited::Refused(error) => self.issues.push(refused(done, "closed", &error)),
                Edited::Foreign => {}
            }
        }
        Ok(())
    }

    /// Opens, updates and closes pull requests. Returns the contracts whose imports need no issue, and why.
    fn propose(
        &mut self,
        forge: &dyn Forge,
        repo: &RepoName,
        due: &[ImportReview],
    ) -> Result<BTreeMap<ContractRef, String>, ForgeError> {
        let pulls = Pulls::read(forge, due, self.request.dry_run)?;
        let mut proposed = BTreeMap::new();
        for import in due {
            let Some(done) = pulls.propose(import)? else { continue };
            let contract = issue::contract(import);
            self.note(repo, &contract, import.new_version.clone(), &done);
            proposed.insert(contract, done.in_place_of_an_issue());
        }
        for (mark, done) in pulls.close_settled()? {
            self.note(repo, &mark.contract, Some(mark.version), &done);
        }
        Ok(proposed)
    }

    /// Adds a pull request to the answer.
    fn note(&mut self, repo: &RepoName, contract: &ContractRef, version: Option<Version>, done: &Done) {
        let Done { outcome, url } = done;
        let plain = line(repo, Some(contract), *outcome, None);
        self.issues.push(ForgeIssue { version, url: url.clone(), pull_request: true, ..plain });
    }

    /// Opens or updates the issue about one import. Another user's issue with the same marker that cannot be edited is
    /// skipped.
    fn one(
        &self,
        forge: &dyn Forge,
        repo: &RepoName,
        import: &ImportReview,
        there: &Listed<Issue>,
    ) -> Result<ForgeIssue, ForgeError> {
        let contract = issue::contract(import);
        let (title, body) = (issue::title(import), issue::text(import));
        let done = |outcome, issue: Option<&Issue>| ForgeIssue {
            version: import.new_version.clone(),
            ..line(repo, Some(&contract), outcome, issue)
        };
        let of_it = there.entries.iter().filter_map(|issue| Some((issue, issue::IssueMarker::of(&issue.body)?)));
        let of_it: Vec<_> = of_it.filter(|(_, mark)| mark.contract == contract).collect();
        let mut failed = None;
        for (issue, _) in of_it.iter().filter(|(issue, _)| issue.is_open) {
            if issue::is_same(&issue.body, &body) && issue.title == title {
                return Ok(done(IssueOutcome::Unchanged, Some(issue)));
            }
            let new = Issue { title: title.clone(), body: body.clone(), ..(*issue).clone() };
            match self.edit(forge, &new)? {
                Edited::Done => return Ok(done(IssueOutcome::Updated, Some(issue))),
                Edited::Refused(error) => {
                    failed = Some(refused(done(IssueOutcome::Failed, Some(issue)), "updated", &error))
                }
                Edited::Foreign => {}
            }
        }
        // Another issue would be a duplicate.
        if let Some(failed) = failed {
            return Ok(failed);
        }
        let is_dismissed =
            |mark: &issue::IssueMarker| !mark.is_settled && Some(&mark.version) == import.new_version.as_ref();
        if let Some((issue, _)) = of_it.iter().find(|(issue, mark)| !issue.is_open && is_dismissed(mark)) {
            return Ok(done(IssueOutcome::Dismissed, Some(issue)));
        }
        there.end.clone()?;
        let opened = if self.request.dry_run { None } else { Some(forge.open_issue(&title, &body)?) };
        Ok(done(IssueOutcome::Opened, opened.as_ref()))
    }

    /// Edits an issue, unless this is a dry run.
    fn edit(&self, forge: &dyn Forge, issue: &Issue) -> Result<Edited, ForgeError> {
        if self.request.dry_run {
            return Ok(Edited::Done);
        }
        match forge.edit_issue(issue) {
            Ok(()) => Ok(Edited::Done),
            Err(error @ (ForgeError::Unauthorized { .. } | ForgeError::NotFound { .. })) => {
                // The token of a workflow has no user. It may edit all issues, or none.
                let is_foreign = issue.author.is_some() && forge.user().is_ok_and(|user| issue.author != Some(user));
                Ok(if is_foreign { Edited::Foreign } else { Edited::Refused(error) })
            }
            Err(error) => Err(error),
        }
    }
}

/// Returns whether the realm has a contract.
fn has(overview: &Overview<'_>, contract: &ContractRef) -> bool {
    let line = overview.domains().iter().find(|line| line.name == contract.domain);
    let summary = line.and_then(|line| overview.summary(line).ok());
    summary.is_some_and(|summary| summary.contracts.contains_key(&contract.contract))
}

/// The outcome of editing an issue.
enum Edited {
    Done,
    /// The token may not edit it.
    Refused(ForgeError),
    /// The token may not edit it, because it belongs to another user.
    Foreign,
}

/// Returns the line of an issue that could not be edited.
fn refused(line: ForgeIssue, what: &str, error: &ForgeError) -> ForgeIssue {
    let issue = line.url.as_deref().unwrap_or("the issue");
    let problem = Some(format!("{issue} was not {what}: {error}"));
    ForgeIssue { outcome: IssueOutcome::Failed, problem, ..line }
}

fn line(repo: &RepoName, contract: Option<&ContractRef>, outcome: IssueOutcome, issue: Option<&Issue>) -> ForgeIssue {
    ForgeIssue {
        repo: repo.clone(),
        domain: contract.map(|contract| contract.domain.clone()),
        contract: contract.map(|contract| contract.contract.clone()),
        version: None,
        pull_request: false,
        outcome,
        url: issue.map(|issue| issue.url.clone()).filter(|url| !url.is_empty()),
        problem: None,
    }
}
