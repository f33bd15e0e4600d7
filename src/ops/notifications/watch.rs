//! `notifications_watch`: reports pending notifications, then each change as it arrives. Where somebody else looks at
//! the realm already, it hears of changes from there; otherwise it looks itself.

use std::{collections::BTreeSet, time::Duration};

use crate::ops::{
    Operation,
    ctx::{Acting, Ctx},
    notify::{
        arrival, inbox,
        pending::{self, Pending},
    },
};
use crate::{
    error::OpError,
    model::{
        name::{ContractRef, ReaderName},
        rank::Rank,
    },
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

/// The interval at which the listener and the clock are checked.
const STEP: Duration = Duration::from_secs(1);
/// How often it waits by itself before it asks again for somebody else who looks.
const STEPS_ALONE: usize = 10;
/// The most notifications that are remembered as shown without looking which of them are still pending.
const MAX_SHOWN: usize = 10_000;

/// The arguments.
#[derive(Debug, Clone)]
pub struct Request {
    /// The reader that is notified.
    pub reader: ReaderName,
    /// Whether to mark what is shown as seen.
    pub mark: bool,
    /// The lowest rank that is shown.
    pub rank: Option<Rank>,
    /// The only contract whose changes are shown.
    pub contract: Option<ContractRef>,
}

impl Request {
    /// Returns the request of the person at the command line, for everything.
    pub fn by_person(mark: bool) -> Self {
        Self { reader: pending::person(), mark, rank: None, contract: None }
    }

    fn accepts(&self, one: &Notification) -> bool {
        let is_contract =
            |wanted: &ContractRef| one.domain == wanted.domain && one.contract.as_ref() == Some(&wanted.contract);
        self.rank.is_none_or(|least| one.rank <= least) && self.contract.as_ref().is_none_or(is_contract)
    }
}

/// A receiver of notifications.
pub trait Listener {
    /// Delivers one notification. Returns whether it reached the listener.
    ///
    /// # Errors
    /// Returns an error if it cannot be determined whether it did.
    fn tell(&mut self, one: &Notification) -> Result<bool, OpError>;

    /// Returns whether the listener is still there.
    fn listens(&self) -> bool;

    /// Says something that is no notification.
    fn warn(&mut self, line: &str);
}

/// What a [`Feed`] says.
#[derive(Debug)]
pub enum Heard {
    /// Nothing in that time.
    Nothing,
    /// A notification of the person at the command line.
    Notification(Box<Notification>),
    /// The realm moved; what this means was said before.
    Moved,
    /// The feed has ended, or makes no sense.
    End,
}

/// Somebody else who looks at the realm, and tells what is new for a repository.
pub trait Feed {
    /// Returns what comes next, or after this time that nothing came.
    fn next(&mut self, timeout: Duration) -> Heard;
}

/// Finds a [`Feed`] for a repository, if there is one now.
pub type Subscribe<'f> = &'f dyn Fn(Acting<'_>) -> Option<Box<dyn Feed>>;

/// Delivers notifications until the listener is gone.
///
/// # Errors
/// Returns an error if the realm cannot be read, or the delivery cannot be recorded.
pub fn run(ctx: &Ctx, request: &Request, listener: &mut dyn Listener, subscribe: Subscribe<'_>) -> Result<(), OpError> {
    let here = if request.mark { ctx.recording()? } else { ctx.acting()? };
    let mut watching = Watching { ctx, here, request, listener, shown: BTreeSet::new() };
    let mut own = None;
    loop {
        if let Some(mut feed) = subscribe(here) {
            own = None;
            if !watching.follow(&mut *feed)? {
                return Ok(());
            }
        }
        if !watching.alone(&mut own)? {
            return Ok(());
        }
    }
}

/// A listener, and what it was shown.
struct Watching<'a> {
    ctx: &'a Ctx,
    here: Acting<'a>,
    request: &'a Request,
    listener: &'a mut dyn Listener,
    shown: BTreeSet<String>,
}

impl Watching<'_> {
    /// Delivers what a feed says until that ends. Returns whether the listener is still there.
    fn follow(&mut self, feed: &mut dyn Feed) -> Result<bool, OpError> {
        // What came before the feed began, and what is missing in between.
        let mut listens = self.look()?;
        while listens {
            listens = match feed.next(STEP) {
                Heard::Nothing => self.listener.listens(),
                // What is marked is what a look finds.
                Heard::Moved if self.request.mark => self.look()?,
                Heard::Notification(one) if !self.request.mark => self.show(&one)?,
                Heard::Moved | Heard::Notification(_) => true,
                Heard::End => return Ok(true),
            };
            if self.shown.len() > MAX_SHOWN {
                listens = listens && self.look()?;
            }
        }
        Ok(false)
    }

    /// Looks at the realm each time it moves, for a while. Returns whether the listener is still there.
    fn alone(&mut self, own: &mut Option<Watch>) -> Result<bool, OpError> {
        let watch = match own {
            Some(watch) => watch,
            None => {
                let watch = own.insert(self.store()?.watch());
                if let Some(setting) = watch.limit() {
                    self.listener.warn(&format!("looking for changes 40 times a second: {setting} is too low"));
                }
                if !self.look()? {
                    return Ok(false);
                }
                watch
            }
        };
        for _ in 0..STEPS_ALONE {
            let listens = if watch.wait(STEP) { self.look()? } else { self.listener.listens() };
            if !listens {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Opens the store anew, so that nothing of what git holds in memory is out of date.
    fn store(&self) -> Result<GitStore, OpError> {
        let known = crate::locate::known(&self.ctx.home, self.here.realm)?;
        Ok(GitStore::open(&known.path, self.ctx.options())?)
    }

    /// Delivers what is pending and was not shown. Returns whether the listener is still there.
    fn look(&mut self) -> Result<bool, OpError> {
        let (store, ctx) = (self.store()?, self.ctx);
        let acting = Acting { store: &store, ..self.here };
        let overview = Overview::open(acting.store)?;
        let mut pending = Pending::of(acting, &self.request.reader, ctx.env.now(), &overview)?;
        pending.judge(acting, &overview, &ctx.judge())?;
        arrival::record(acting.store, &pending.sightings, || ctx.env.now_here());
        self.shown.retain(|id| pending.notifications.iter().any(|one| one.id == *id));
        let is_due = |one: &&Notification| {
            one.state == State::Pending && self.request.accepts(one) && !self.shown.contains(&one.id)
        };
        let due: Vec<_> = pending.notifications.iter().filter(is_due).collect();
        let mut told = BTreeSet::new();
        let mut listens = true;
        for one in due {
            listens = self.show(one)?;
            if !listens {
                break;
            }
            told.insert(one.id.clone());
        }
        if self.request.mark && !told.is_empty() {
            let receipt = pending.receipt(|_, one| told.contains(&one.id));
            inbox::record(acting.store, acting.repo, &self.request.reader, &receipt, || ctx.env.now_here())?;
        }
        Ok(listens)
    }

    /// Delivers a notification if it is wanted and was not shown. Returns whether the listener is still there.
    fn show(&mut self, one: &Notification) -> Result<bool, OpError> {
        if !self.request.accepts(one) || !self.shown.insert(one.id.clone()) {
            return Ok(true);
        }
        self.listener.tell(one)
    }
}
