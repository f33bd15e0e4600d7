//! Filters entries of logs and lists.

use jiff::{Timestamp, Zoned};

use super::{
    difference::{PathContent, differences},
    walk::Walk,
};
use crate::{
    error::{ErrorCode, OpError},
    locate,
    model::{
        clock::Period,
        name::{ContractName, RepoName},
        notification::{self, ChangeType},
        oid::Oid,
    },
    ops::ctx::Ctx,
    store::{Store, StoreRef, overview::Overview},
    wire::{LogEntry, Notification},
};

/// The minimum number of digits that name a commit.
const MIN_DIGITS: usize = 7;

/// The conditions for an entry to be included. Without conditions, all entries are.
#[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Filter {
    /// The time of the change
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub period: Period,
    /// Show only changes by the given repository
    #[serde(rename = "from_repo")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "REPO"))]
    pub repo: Option<RepoName>,
    /// Show only changes of this kind
    #[serde(default, deserialize_with = "notification::kind")]
    #[schemars(schema_with = "notification::words")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "KIND", value_enum))]
    pub kind: Option<ChangeType>,
    /// Show only changes published from this commit
    #[cfg_attr(feature = "cli", arg(long, value_name = "COMMIT"))]
    pub commit: Option<String>,
}

impl Filter {
    /// Resolves the filter's commit in `ctx`: it can be a revision of the repository there, or the first digits of a
    /// commit of any repository.
    ///
    /// # Errors
    /// Returns an error if the commit is neither, or the realm never had the filter's repository.
    pub fn resolve<'f>(&'f self, ctx: &Ctx) -> Result<Wanted<'f>, OpError> {
        self.repo.as_ref().map_or(Ok(()), |repo| check_repo(ctx, repo))?;
        let commit = self.commit.as_deref().map(|revision| digits(ctx, revision)).transpose()?;
        Ok(Wanted { filter: self, commit, now: ctx.env.now_of_client() })
    }
}

/// Refuses a repository that the realm neither has nor had, because a misspelled name would look like no changes.
fn check_repo(ctx: &Ctx, repo: &RepoName) -> Result<(), OpError> {
    let here = ctx.realm()?;
    let overview = Overview::open(&*here.store)?;
    let is_known = overview.repos().contains_key(repo) || made_changes(&*here.store, repo, ctx.env.now())?;
    is_known.then_some(()).ok_or_else(|| locate::unknown::repo(&here.realm, repo, overview.repos().keys()))
}

/// Returns whether the history has a change by a repository, which may have left or been renamed since.
fn made_changes(store: &dyn Store, repo: &RepoName, now: Timestamp) -> Result<bool, OpError> {
    let domains = store.domains()?.into_iter().map(|(name, tip)| (Some(name), tip));
    let realm = store.tip(&StoreRef::Realm)?.map(|tip| (None, tip));
    for step in Walk::of(store, now, realm.into_iter().chain(domains))? {
        if step?.entry(now).repo.as_deref() == Some(repo.as_str()) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the digits, or the first digits, of the commit that `revision` names.
fn digits(ctx: &Ctx, revision: &str) -> Result<String, OpError> {
    if let Some(commit) = ctx.code.as_ref().and_then(|code| code.resolve(revision).ok()) {
        return Ok(commit.to_string());
    }
    let is_start = revision.len() >= MIN_DIGITS && revision.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_start.then(|| revision.to_ascii_lowercase()).ok_or_else(|| {
        OpError::cannot(ErrorCode::UnknownCommit, format!("{revision:?} is not a commit")).next(format!(
            "use a commit of this repository, or at least {MIN_DIGITS} digits of a commit of another one"
        ))
    })
}

/// A filter whose commit is resolved.
#[derive(Debug)]
pub struct Wanted<'f> {
    filter: &'f Filter,
    /// The digits, or the first digits, of the commit.
    commit: Option<String>,
    now: Zoned,
}

impl Wanted<'_> {
    /// Returns whether the filter accepts a change. A late one counts from its arrival on this machine, as its age does.
    pub fn accepts(&self, one: &Notification) -> bool {
        self.is_within(one.arrived_at, Some(one.from_repo.as_str()), one.source_commit.as_deref())
            && self.filter.kind.is_none_or(|wanted| one.kinds().any(|kind| kind == wanted))
    }

    /// Returns whether the filter accepts an entry of a log. In the log of a contract, only the changes of that
    /// contract count.
    ///
    /// # Errors
    /// Returns an error if the changes of the commit cannot be read.
    pub fn accepts_entry(
        &self,
        store: &dyn Store,
        entry: &LogEntry,
        contract: Option<&ContractName>,
    ) -> Result<bool, OpError> {
        if !self.is_within(entry.time, entry.repo.as_deref(), entry.source_commit.as_deref()) {
            return Ok(false);
        }
        match self.filter.kind {
            Some(kind) if entry.domain.is_some() => makes(store, &entry.commit, kind, contract),
            Some(_) => Ok(false),
            None => Ok(true),
        }
    }

    fn is_within(&self, time: Timestamp, repo: Option<&str>, source: Option<&str>) -> bool {
        let Filter { period, repo: wanted, .. } = self.filter;
        let is_from = |digits: &String| source.is_some_and(|source| source.starts_with(digits));
        period.contains(time, &self.now)
            && wanted.as_ref().is_none_or(|wanted| repo == Some(wanted.as_str()))
            && self.commit.as_ref().is_none_or(is_from)
    }
}

/// Returns whether a commit of a domain makes a change of a kind, by comparing its tree with those of its parents. A
/// merge makes only changes that none of its parents has.
fn makes(store: &dyn Store, id: &Oid, kind: ChangeType, contract: Option<&ContractName>) -> Result<bool, OpError> {
    let commit = store.commit(id)?;
    let mut parents: Vec<_> =
        commit.parents.iter().map(|parent| Ok(Some(store.commit(parent)?.tree))).collect::<Result<_, OpError>>()?;
    if parents.is_empty() {
        parents.push(None);
    }
    for parent in parents {
        if !differs_by(store, parent.as_ref(), &commit.tree, (kind, contract))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns whether two trees of a domain differ by a change of a kind.
fn differs_by(
    store: &dyn Store,
    before: Option<&Oid>,
    after: &Oid,
    (kind, contract): (ChangeType, Option<&ContractName>),
) -> Result<bool, OpError> {
    for difference in differences(store, before, after)? {
        let is_meant = match (&difference.of, contract) {
            (_, None) => true,
            (PathContent::Contract(name) | PathContent::Transfers(name), Some(wanted)) => name == wanted,
            (PathContent::Binding(_) | PathContent::Source(_), Some(_)) => false,
        };
        if is_meant && difference.kinds(store)?.contains(&kind) {
            return Ok(true);
        }
    }
    Ok(false)
}
