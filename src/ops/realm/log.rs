//! `realm_log`: lists the changes of the realm, newest first.

use crate::ops::{
    Operation,
    ctx::Ctx,
    history::{filter::Filter, walk::Walk},
    repos::commit_links::CommitLinks,
    runs,
};
use crate::{
    error::OpError,
    model::name::DomainName,
    store::StoreRef,
    wire::{Answer, LogEntry, PageRequest, RealmLog},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::reads::<Request>("realm_log", &["realm", "log"], "Show the history of the realm")
        .reads_past()
        .tool("Show who changed what in the realm, and when, newest first.")
        .route("GET", "/realms/{realm}/log")
        .examples(&[
            ("git blue realm log --limit 20", "Show the last twenty changes"),
            ("git blue realm log --domain s3-access", "Show the changes in one domain"),
            ("git blue realm log --since '2 weeks ago' --repo aperture", "Show recent changes by one repository"),
        ]);

/// The default number of entries on a page.
pub const DEFAULT_LIMIT: usize = 50;

/// The arguments.
#[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// Show only this domain
    #[cfg_attr(feature = "cli", arg(long, value_name = "DOMAIN"))]
    pub domain: Option<DomainName>,
    /// The entries to show
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub filter: Filter,
    /// The cursor is a commit of the store.
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub page: PageRequest,
}

runs!(RealmLog, run);

/// Lists the changes.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<RealmLog>, OpError> {
    let here = ctx.realm()?;
    let store = &*here.store;
    let mut tips = Vec::new();
    if request.domain.is_none() {
        tips.extend(store.tip(&StoreRef::Realm)?.map(|tip| (None, tip)));
    }
    for (name, tip) in store.domains()? {
        if request.domain.as_ref().is_none_or(|wanted| *wanted == name) {
            tips.push((Some(name), tip));
        }
    }
    if tips.is_empty()
        && let Some(domain) = &request.domain
    {
        return Err(crate::ops::domain::unknown(&*here.store, domain));
    }
    let limit = match request.page.limit.unwrap_or(DEFAULT_LIMIT) {
        0 => usize::MAX,
        limit => limit,
    };
    let now = ctx.env.now();
    let mut walk = Walk::of(store, now, tips)?;
    if let Some(cursor) = &request.page.cursor {
        while walk.next().transpose()?.ok_or_else(|| OpError::stale_cursor(cursor))?.commit.to_string() != *cursor {}
    }
    let wanted = request.filter.resolve(ctx)?;
    let mut next_wanted = || loop {
        let entry = walk.next().transpose()?.map(|step| step.entry(now));
        match entry {
            Some(entry) if !wanted.accepts_entry(store, &entry, None)? => {}
            found => return Ok::<_, OpError>(found),
        }
    };
    let mut entries = Vec::new();
    while entries.len() < limit
        && let Some(entry) = next_wanted()?
    {
        entries.push(entry);
    }
    let more = next_wanted()?.is_some();
    let next_cursor = entries.last().filter(|_| more).map(|entry: &LogEntry| entry.commit.to_string());
    CommitLinks::new(ctx, store).add_to(&mut entries);
    Ok(Answer::new(RealmLog { realm: here.realm.clone(), entries, next_cursor }))
}
