//! `notifications_watch`: reports pending notifications, then each change as it arrives.

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
    store::{git::GitStore, overview::Overview},
    wire::{Notification, State},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::write::<Notification>(
    "notifications_watch",
    &["notifications", "watch"],
    "Show what other repositories change, as it happens",
);

/// The interval at which the listener and the clock are checked.
const STEP: Duration = Duration::from_secs(1);

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
}

/// Delivers notifications until the listener is gone.
///
/// # Errors
/// Returns an error if the realm cannot be read, or the delivery cannot be recorded.
pub fn run(ctx: &Ctx, request: &Request, listener: &mut dyn Listener) -> Result<(), OpError> {
    let here = if request.mark { ctx.recording()? } else { ctx.acting()? };
    let known = crate::locate::known(&ctx.home, here.realm)?;
    let open = || GitStore::open(&known.path, ctx.options());
    let mut watch = open()?.watch()?;
    let mut shown = BTreeSet::new();
    loop {
        // Opened again each time, so that nothing that git caches in memory is out of date.
        let store = open()?;
        let acting = Acting { store: &store, ..here };
        if !tell(ctx, acting, request, &mut shown, listener)? {
            return Ok(());
        }
        while !watch.wait(STEP)? {
            if !listener.listens() {
                return Ok(());
            }
        }
    }
}

/// Delivers what is pending. Returns whether the listener is still there.
fn tell(
    ctx: &Ctx,
    acting: Acting<'_>,
    request: &Request,
    shown: &mut BTreeSet<String>,
    listener: &mut dyn Listener,
) -> Result<bool, OpError> {
    let overview = Overview::open(acting.store)?;
    let mut pending = Pending::of(acting, &request.reader, ctx.env.now(), &overview)?;
    pending.judge(acting, &overview, &ctx.judge())?;
    arrival::record(acting.store, &pending.sightings, || ctx.env.now_here());
    shown.retain(|id| pending.notifications.iter().any(|one| one.id == *id));
    let mut told = BTreeSet::new();
    let mut listens = true;
    for one in pending.notifications.iter().filter(|one| one.state == State::Pending && request.accepts(one)) {
        if shown.insert(one.id.clone()) {
            listens = listener.tell(one)?;
            if !listens {
                break;
            }
            told.insert(one.id.clone());
        }
    }
    if request.mark && !told.is_empty() {
        let receipt = pending.receipt(|_, one| told.contains(&one.id));
        inbox::record(acting.store, acting.repo, &request.reader, &receipt, || ctx.env.now_here())?;
    }
    Ok(listens)
}
