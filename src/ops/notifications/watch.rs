//! `notifications_watch`: what is pending, and then each change as it comes.

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

/// Its entry in the table.
pub const OPERATION: Operation = Operation::write::<Notification>(
    "notifications_watch",
    &["notifications", "watch"],
    "Show what other repositories change, as it happens",
);

/// How often is asked whether anybody still listens, and at what time it is.
const STEP: Duration = Duration::from_secs(1);

/// What is asked.
#[derive(Debug, Clone)]
pub struct Request {
    /// Who is told.
    pub reader: ReaderName,
    /// Whether what was shown counts as seen.
    pub mark: bool,
    /// Only changes that matter at least so much.
    pub rank: Option<Rank>,
    /// Only changes of this contract.
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

/// Who listens.
pub trait Listener {
    /// Tells one notification. Returns whether it reached somebody.
    ///
    /// # Errors
    /// Where it cannot be told.
    fn tell(&mut self, one: &Notification) -> Result<bool, OpError>;

    /// Returns whether anybody still listens.
    fn listens(&self) -> bool;
}

/// Tells until nobody listens any more.
///
/// # Errors
/// Where the realm cannot be read, or what was told not be recorded.
pub fn run(ctx: &Ctx, request: &Request, listener: &mut dyn Listener) -> Result<(), OpError> {
    let here = if request.mark { ctx.recording()? } else { ctx.acting()? };
    let known = crate::locate::known(&ctx.home, here.realm)?;
    let open = || GitStore::open(&known.path, ctx.options());
    let mut watch = open()?.watch()?;
    let mut shown = BTreeSet::new();
    loop {
        // Opened anew each time, so that nothing of what git holds in memory is out of date.
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

/// Tells what was not told yet. Returns whether somebody listened.
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
