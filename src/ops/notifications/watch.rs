//! `notifications_watch`: reports pending notifications, then each change as it arrives. If another process already
//! watches the realm, changes are taken from its feed; otherwise the realm is watched directly.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use crate::ops::{
    Operation,
    ctx::{ActingRepo, Ctx},
    inboxes::{
        arrival, inbox,
        pending::{self, Pending},
    },
    notifications::relevance::Relevance,
    repos::unknown,
};
use crate::{
    error::OpError,
    locate,
    model::name::{ContractRef, ReaderName, RepoName},
    store::{
        git::{GitStore, Watch},
        overview::Overview,
    },
    wire::{Notification, State},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::write::<Notification>(
    "notifications_watch",
    &["notifications", "watch"],
    "Show changes by other repositories as they happen",
);

/// The interval at which the listener is checked.
const STEP: Duration = Duration::from_secs(1);
/// The number of steps without a feed after which the operation looks for one again.
const STEPS_ALONE: usize = 10;
/// The maximum number of notifications remembered as shown; beyond it, those that are no longer pending are dropped.
const MAX_SHOWN: usize = 10_000;

/// The arguments.
#[derive(Debug, Clone)]
pub struct Request {
    /// The reader that is notified.
    pub reader: ReaderName,
    /// Whether to mark what is shown as seen.
    pub mark: bool,
    /// What is shown.
    pub relevance: Relevance,
}

impl Request {
    /// Returns the request for all notifications of the person at the command line.
    pub fn by_person(mark: bool) -> Self {
        Self { reader: pending::cli_reader(), mark, relevance: Relevance::default() }
    }
}

/// Whether a notification reached the listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivered {
    /// It did.
    Done,
    /// It was shown, but the command that should get it failed. It stays pending.
    Failed,
    /// The listener is gone.
    Gone,
}

/// A receiver of notifications.
pub trait Listener {
    /// Delivers one notification.
    ///
    /// # Errors
    /// Returns an error if it cannot be determined whether it reached the listener.
    fn deliver(&mut self, one: &Notification) -> Result<Delivered, OpError>;

    /// Returns whether the listener is still there.
    fn is_connected(&self) -> bool;

    /// Shows a message that is not a notification.
    fn warn(&mut self, line: &str);
}

/// An item from a [`Feed`].
#[derive(Debug)]
pub enum FeedItem {
    /// Nothing arrived within the timeout.
    Nothing,
    /// A notification of the person at the command line.
    Notification(Box<Notification>),
    /// The realm changed; the notifications of that change were sent before.
    Moved,
    /// The realm cannot be read, or no longer has the repository.
    Problem,
    /// The feed has ended, or sent something invalid.
    End,
}

/// Another process that watches the realm and sends what is new for a repository.
pub trait Feed {
    /// Returns the next item, or [`FeedItem::Nothing`] after the timeout.
    fn next(&mut self, timeout: Duration) -> FeedItem;
}

/// Finds a [`Feed`] for a repository, if one is available.
pub type Subscribe<'f> = &'f dyn Fn(ActingRepo<'_>) -> Option<Box<dyn Feed>>;

/// Delivers notifications until the listener is gone.
///
/// # Errors
/// Returns an error if the realm cannot be read, or the delivery cannot be recorded.
pub fn run(ctx: &Ctx, request: &Request, listener: &mut dyn Listener, subscribe: Subscribe<'_>) -> Result<(), OpError> {
    let here = if request.mark { ctx.require_reader()? } else { ctx.acting_repo()? };
    if let Some(missing) = request.relevance.contract.as_ref().filter(|wanted| !is_there(here, wanted)) {
        listener.warn(&format!("{missing} does not exist yet"));
    }
    let mut watching = Watching { ctx, here, repo: here.repo.clone(), request, listener, shown: BTreeMap::new() };
    let mut own = None;
    loop {
        if let Some(mut feed) = subscribe(ActingRepo { repo: &watching.repo, ..here }) {
            own = None;
            if !watching.follow_feed(&mut *feed)? {
                return Ok(());
            }
        }
        if !watching.watch_realm(&mut own)? {
            return Ok(());
        }
    }
}

/// Returns whether a contract exists, or it is unknown because its domain cannot be read.
fn is_there(here: ActingRepo<'_>, wanted: &ContractRef) -> bool {
    let Ok(overview) = Overview::open(here.store) else { return true };
    let Some(line) = overview.domains().iter().find(|line| line.name == wanted.domain) else { return false };
    overview.summary(line).map_or(true, |domain| domain.owner(&wanted.contract).is_some())
}

/// A listener, and the notifications that it was shown.
struct Watching<'a> {
    ctx: &'a Ctx,
    here: ActingRepo<'a>,
    /// The name that the repository had when the realm was last read: it may be renamed meanwhile.
    repo: RepoName,
    request: &'a Request,
    listener: &'a mut dyn Listener,
    /// Their ids, each with the time of the change: a change that was undone and is made again has the same id.
    shown: BTreeMap<String, jiff::Timestamp>,
}

impl Watching<'_> {
    /// Delivers the items of a feed until it ends. Returns whether the listener is still there.
    fn follow_feed(&mut self, feed: &mut dyn Feed) -> Result<bool, OpError> {
        // Delivers what was pending before the feed began, and what changed in between.
        let mut listens = self.deliver_pending()?;
        while listens {
            listens = match feed.next(STEP) {
                FeedItem::Nothing => self.listener.is_connected(),
                // Only reading the realm can mark notifications as seen.
                FeedItem::Moved if self.request.mark => self.deliver_pending()?,
                // Reading the realm reports the problem as an error, unless it has been solved in the meantime.
                FeedItem::Problem => self.deliver_pending()?,
                FeedItem::Notification(one) if !self.request.mark => self.show(&one)? != Delivered::Gone,
                FeedItem::Moved | FeedItem::Notification(_) => true,
                FeedItem::End => return Ok(true),
            };
            if self.shown.len() > MAX_SHOWN {
                listens = listens && self.deliver_pending()?;
            }
        }
        Ok(false)
    }

    /// Watches the realm without a feed for a while. Returns whether the listener is still there.
    fn watch_realm(&mut self, own: &mut Option<Watch>) -> Result<bool, OpError> {
        let watch = match own {
            Some(watch) => watch,
            None => {
                let watch = own.insert(self.store()?.watch());
                if let Some(setting) = watch.limit() {
                    self.listener.warn(&format!("polling for changes 40 times a second, because {setting} is too low"));
                }
                if !self.deliver_pending()? {
                    return Ok(false);
                }
                watch
            }
        };
        for _ in 0..STEPS_ALONE {
            let listens = if watch.wait(STEP) { self.deliver_pending()? } else { self.listener.is_connected() };
            if !listens {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Opens the store again, so that nothing that git caches in memory is out of date.
    fn store(&self) -> Result<GitStore, OpError> {
        let known = locate::known(&self.ctx.home, self.here.realm)?;
        self.ctx.open_store(&known)
    }

    /// Delivers pending notifications that were not shown yet. Returns whether the listener is still there.
    fn deliver_pending(&mut self) -> Result<bool, OpError> {
        let (store, ctx) = (self.store()?, self.ctx);
        let repo = unknown::current_name(self.here.realm, &store, &self.repo)?;
        self.repo.clone_from(&repo);
        let acting = ActingRepo { store: &store, repo: &repo, ..self.here };
        let overview = Overview::open(acting.store)?;
        let pending = Pending::of(ctx, acting, &self.request.reader, &overview, &ctx.judge())?;
        arrival::record(acting.store, &pending.sightings, || ctx.env.now_here());
        let still: BTreeSet<_> = pending.notifications().map(|one| &one.id).collect();
        self.shown.retain(|id, _| still.contains(id));
        let is_due = |one: &&Notification| {
            one.state == State::Pending && self.request.relevance.accepts(one) && !self.shown.contains_key(&one.id)
        };
        let due: Vec<_> = pending.notifications().filter(is_due).collect();
        let mut told = BTreeSet::new();
        let mut listens = true;
        for one in due {
            match self.show(one)? {
                Delivered::Done => drop(told.insert(one.id.clone())),
                Delivered::Failed => {}
                Delivered::Gone => {
                    listens = false;
                    break;
                }
            }
        }
        if self.request.mark && !told.is_empty() {
            let receipt = pending.receipt(|one| told.contains(&one.id));
            inbox::record(acting.store, acting.repo, &self.request.reader, &receipt, || ctx.env.now_here())?;
        }
        Ok(listens)
    }

    /// Delivers a notification if it is wanted and was not shown.
    fn show(&mut self, one: &Notification) -> Result<Delivered, OpError> {
        if self.request.relevance.accepts(one)
            && self.shown.insert(one.id.clone(), one.created_at) != Some(one.created_at)
        {
            return self.listener.deliver(one);
        }
        Ok(Delivered::Done)
    }
}
