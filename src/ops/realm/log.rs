//! `realm_log`: lists the changes of the realm, newest first.

use crate::ops::{
    Operation,
    ctx::Ctx,
    history::{self, filter::Filter, first_parents::History},
    repos::commit_links::CommitLinks,
    runs,
};
use crate::{
    error::OpError,
    model::{clock, name::DomainName},
    store::{Store, StoreRef},
    wire::{Answer, LogEntry, PageRequest, RealmLog},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::reads::<Request>("realm_log", &["realm", "log"], "Show the history of the realm")
        .tool("Show who changed what in the realm, and when, newest first.")
        .route("GET", "/realms/{realm}/log");

/// The default number of entries on a page.
const DEFAULT_LIMIT: usize = 50;

/// The arguments.
#[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// Only this domain
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
    let mut histories = Vec::new();
    if request.domain.is_none() {
        histories.push((None, History::of(store, store.tip(&StoreRef::Realm)?)));
    }
    for (name, tip) in store.domains()? {
        if request.domain.as_ref().is_none_or(|wanted| *wanted == name) {
            histories.push((Some(name), History::of(store, Some(tip))));
        }
    }
    if histories.is_empty()
        && let Some(domain) = &request.domain
    {
        return Err(crate::ops::domain::unknown(&*here.store, domain));
    }
    let limit = match request.page.limit.unwrap_or(DEFAULT_LIMIT) {
        0 => usize::MAX,
        limit => limit,
    };
    let mut merged = Merged::new(store, ctx.env.now(), histories)?;
    if let Some(cursor) = &request.page.cursor {
        while merged.next_entry()?.ok_or_else(|| OpError::stale_cursor(cursor))?.commit.to_string() != *cursor {}
    }
    let wanted = request.filter.resolve(ctx)?;
    let mut next_wanted = || loop {
        match merged.next_entry()? {
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

/// Several histories merged by time. Each keeps its own order.
struct Merged<'a> {
    store: &'a dyn Store,
    now: jiff::Timestamp,
    histories: Vec<(Option<DomainName>, History<'a>)>,
    /// The next entry of each history, and the time that it is sorted by.
    heads: Vec<Option<(jiff::Timestamp, LogEntry)>>,
}

impl<'a> Merged<'a> {
    fn new(
        store: &'a dyn Store,
        now: jiff::Timestamp,
        histories: Vec<(Option<DomainName>, History<'a>)>,
    ) -> Result<Self, OpError> {
        let mut merged = Self { store, now, heads: vec![None; histories.len()], histories };
        for at in 0..merged.heads.len() {
            merged.advance(at)?;
        }
        Ok(merged)
    }

    fn advance(&mut self, at: usize) -> Result<Option<LogEntry>, OpError> {
        let (domain, history) = &mut self.histories[at];
        let next = match history.next().transpose()? {
            Some((id, info)) => {
                let entry = history::first_parents::entry(id, &info, domain.as_ref(), self.now);
                Some((order(self.store, self.now, &entry)?, entry))
            }
            None => None,
        };
        Ok(std::mem::replace(&mut self.heads[at], next).map(|(_, entry)| entry))
    }

    fn next_entry(&mut self) -> Result<Option<LogEntry>, OpError> {
        let newest =
            (0..self.heads.len()).filter_map(|at| Some((self.heads[at].as_ref()?.0, at))).max().map(|(_, at)| at);
        match newest {
            Some(at) => self.advance(at),
            None => Ok(None),
        }
    }
}

/// Returns the time that an entry is sorted by: its own, or that of its parent if its own is in the future.
fn order(store: &dyn Store, now: jiff::Timestamp, entry: &LogEntry) -> Result<jiff::Timestamp, OpError> {
    if !entry.in_future {
        return Ok(entry.time);
    }
    for step in History::of(store, Some(entry.commit)) {
        let (_, commit) = step?;
        if !clock::is_ahead(commit.time, now) {
            return Ok(commit.time);
        }
    }
    Ok(now)
}
