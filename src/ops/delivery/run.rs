//! Collects the changes for the receivers of a realm and delivers them: at least once, in order within each domain,
//! and by one process at a time.

use std::{fs::File, path::PathBuf, time::Duration};

use jiff::Timestamp;

use super::{
    collect::{self, ChangeCollector},
    deliver,
    queue::{Queue, Waiting},
    receiver::{self, Configured, Receiver},
};
use crate::{
    error::{ErrorCode, OpError},
    locate,
    model::{
        name::{ReaderName, RealmName},
        nearest::did_you_mean,
    },
    ops::ctx::Ctx,
    store::{Store, StoreRef},
    wire::{ReceiverLine, Receivers},
};

/// The interval at which the lock of another process is polled.
const STEP: Duration = Duration::from_millis(50);
/// The interval at which changes are collected while events are waiting.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// The maximum time to wait for the lock of another process.
const PATIENCE: Duration = Duration::from_secs(120);

/// The options of a run.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// Only these receivers; all if it is empty.
    pub only: Vec<ReaderName>,
    /// Whether failed events are retried at once instead of after their pause.
    pub at_once: bool,
    /// The time for which failed events are retried.
    pub wait: Duration,
    /// The abandoned events to queue again: those with these ids, or all if it is empty.
    pub requeue: Option<Vec<String>>,
}

/// Delivers what is due.
///
/// # Errors
/// Returns an error if the realm or the configuration cannot be read, a receiver is unknown, or the outcome cannot be
/// recorded.
pub fn run(ctx: &Ctx, pass: &RunOptions) -> Result<Receivers, OpError> {
    let here = ctx.realm()?;
    let mut done = RunTotals::default();
    let chosen = chosen(ctx, &here.realm, &pass.only)?;
    let mut services = Vec::new();
    for receiver in chosen.iter().filter_map(|(_, one)| one.as_ref().ok()) {
        services.push(ReceiverProgress::start(ReceiverRun { ctx, realm: &here.realm, receiver, pass })?);
    }
    serve(&mut services, ctx.env.stopwatch(), &mut done)?;
    let mut served = services.into_iter().filter_map(|service| service.line);
    let line = |(name, one): &Configured| match one {
        Ok(_) => served.next(),
        Err(problem) => Some(invalid_receiver(name.clone(), problem.clone())),
    };
    let lines: Vec<_> = chosen.iter().filter_map(line).collect();
    if let Some(ids) = &pass.requeue {
        require_requeued(ids, &done)?;
    }
    Ok(receivers(&here.realm, lines))
}

/// Records the current state as known to newly configured receivers. Call this before a change, so that they are sent
/// that change and later ones, but no earlier ones.
///
/// # Errors
/// Returns an error in the cases of [`run`].
pub fn start_new_receivers(ctx: &Ctx) -> Result<(), OpError> {
    let here = ctx.realm()?;
    let mut new = Vec::new();
    for (_, receiver) in receiver::of_realm(ctx, &here.realm)? {
        let Ok(Receiver { name, .. }) = receiver else { continue };
        if here.store.tip(&StoreRef::Receiver(name.clone()))?.is_none() {
            new.push(name);
        }
    }
    if !new.is_empty() {
        run(ctx, &RunOptions { only: new, ..RunOptions::default() })?;
    }
    Ok(())
}

/// Returns an error if one of these events was not queued again.
fn require_requeued(ids: &[String], done: &RunTotals) -> Result<(), OpError> {
    if let Some(receiver) = &done.busy {
        let message = format!("another process is sending to {receiver}, so the events were not queued again");
        return Err(OpError::no(ErrorCode::Busy, message).next("git blue notify list  # show the events that failed"));
    }
    let Some(unknown) = ids.iter().find(|id| !done.requeued.contains(id)) else { return Ok(()) };
    let others = if done.requeued.is_empty() { "" } else { "; the others were sent again" };
    let message = format!("no event with the id {unknown:?} failed{others}");
    Err(OpError::no(ErrorCode::UnknownNotification, message)
        .next("git blue notify list  # show the events that failed"))
}

/// Returns the state of the receivers. Nothing is sent.
///
/// # Errors
/// Returns an error if the store or the configuration cannot be read.
pub fn list(ctx: &Ctx) -> Result<Receivers, OpError> {
    let here = ctx.realm()?;
    let line = |(name, one): Configured| match one {
        Ok(receiver) => Ok(line(&receiver, &Queue::of(&*here.store, &receiver.name)?, 0)),
        Err(problem) => Ok(invalid_receiver(name, problem)),
    };
    let lines = receiver::of_realm(ctx, &here.realm)?.into_iter().map(line).collect::<Result<Vec<_>, OpError>>()?;
    Ok(receivers(&here.realm, lines))
}

fn receivers(realm: &RealmName, receivers: Vec<ReceiverLine>) -> Receivers {
    let is_done = |line: &ReceiverLine| line.problem.is_none() && line.waiting.is_empty() && line.failed.is_empty();
    Receivers { realm: realm.clone(), complete: receivers.iter().all(is_done), receivers }
}

/// Returns whether a receiver of the realm has events due or changes to collect.
///
/// # Errors
/// Returns an error if the store or the configuration cannot be read.
pub fn is_due(ctx: &Ctx, realm: &RealmName, store: &dyn Store) -> Result<bool, OpError> {
    let receivers = receiver::of_realm(ctx, realm)?;
    let mut usable = receivers.iter().filter_map(|(_, one)| one.as_ref().ok()).peekable();
    if usable.peek().is_none() {
        return Ok(false);
    }
    let (seen, now) = (collect::refs_fingerprint(store)?, ctx.env.now());
    for receiver in usable {
        let queue = Queue::of(store, &receiver.name)?;
        if queue.seen != seen || queue.next_per_domain().iter().any(|head| head.next <= now) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the receivers with these names, or all if there are no names.
///
/// # Errors
/// Returns an error if a name is unknown, or no receiver is configured.
pub fn chosen(ctx: &Ctx, realm: &RealmName, only: &[ReaderName]) -> Result<Vec<Configured>, OpError> {
    let all = receiver::of_realm(ctx, realm)?;
    let is = |name: &String, wanted: &ReaderName| name == wanted.as_str();
    if let Some(missing) = only.iter().find(|wanted| !all.iter().any(|(name, _)| is(name, wanted))) {
        if let Some(realms) = receiver::other_realms(ctx, missing)? {
            let message =
                format!("the receiver {missing} is not for this realm: blue.notify.{missing}.realm is {realms}");
            return Err(OpError::no(ErrorCode::UnknownReceiver, message)
                .next(format!("git config --global blue.notify.{missing}.realm {realm}")));
        }
        let meant = did_you_mean(&missing.to_string(), all.iter().map(|(name, _)| name));
        return Err(OpError::no(ErrorCode::UnknownReceiver, format!("there is no receiver {missing}{meant}"))
            .next(format!("git config --global blue.notify.{missing}.url https://URL")));
    }
    Ok(all.into_iter().filter(|(name, _)| only.is_empty() || only.iter().any(|wanted| is(name, wanted))).collect())
}

/// One receiver during a run.
#[derive(Clone, Copy)]
struct ReceiverRun<'a> {
    ctx: &'a Ctx,
    realm: &'a RealmName,
    receiver: &'a Receiver,
    pass: &'a RunOptions,
}

/// The totals of a run.
#[derive(Debug, Default)]
struct RunTotals {
    /// The ids of the events that were queued again.
    requeued: Vec<String>,
    /// A receiver whose events could not be queued again, since another process sends to it.
    busy: Option<ReaderName>,
}

/// Delivers to all receivers in turn until none has events waiting or the time is over, so that a receiver whose events
/// fail does not delay the others.
fn serve(
    services: &mut [ReceiverProgress<'_>],
    elapsed: impl Fn() -> Duration,
    done: &mut RunTotals,
) -> Result<(), OpError> {
    loop {
        let mut pause: Option<Duration> = None;
        for service in services.iter_mut().filter(|service| service.line.is_none()) {
            let next = service.step(&elapsed, done)?;
            pause = pause.into_iter().chain(next).min();
        }
        let Some(pause) = pause else { return Ok(()) };
        // New changes may be collected before the pause is over.
        std::thread::sleep(pause.min(POLL_INTERVAL));
    }
}

/// The progress of one receiver.
struct ReceiverProgress<'a> {
    one: ReceiverRun<'a>,
    places: LockPaths<'a>,
    round: usize,
    sent: usize,
    /// The lock of the process that waits for the receiver's pauses.
    patient: Option<File>,
    /// The final state, once it is reached.
    line: Option<ReceiverLine>,
}

impl<'a> ReceiverProgress<'a> {
    fn start(one: ReceiverRun<'a>) -> Result<Self, OpError> {
        let folder = locate::known(&one.ctx.home, one.realm)?.path.join("blue/notify");
        std::fs::create_dir_all(&folder).map_err(OpError::io("create", &folder))?;
        let places = LockPaths { folder, name: &one.receiver.name };
        Ok(Self { one, places, round: 0, sent: 0, patient: None, line: None })
    }

    /// Delivers what is due. Returns the pause until more is due, or `None` after the last delivery of this run.
    fn step(&mut self, elapsed: impl Fn() -> Duration, done: &mut RunTotals) -> Result<Option<Duration>, OpError> {
        let ReceiverRun { ctx, receiver, pass, .. } = self.one;
        let Some(queue) = self.one.round(&self.places, self.round, &mut self.sent, done)? else {
            // The process that holds the lock also sends new changes.
            if pass.requeue.is_some() && self.round == 0 {
                done.busy = Some(receiver.name.clone());
            }
            let here = ctx.realm()?;
            self.line = Some(line(receiver, &Queue::of(&*here.store, &receiver.name)?, self.sent));
            return Ok(None);
        };
        self.round += 1;
        let pause = queue.next_per_domain().iter().map(|head| until(head.next, ctx.env.now())).min();
        let pause = pause.filter(|pause| elapsed() + *pause <= pass.wait);
        // One waiting process is enough if no caller waits for the result.
        if pause.is_some() && !pass.at_once && self.patient.is_none() {
            self.patient = self.places.lock("patient")?;
        }
        if pause.is_none() || !(pass.at_once || self.patient.is_some()) {
            self.line = Some(line(receiver, &queue, self.sent));
            return Ok(None);
        }
        Ok(pause)
    }
}

impl ReceiverRun<'_> {
    /// Collects changes, and delivers what is due. Returns `None` if another process does so.
    fn round(
        &self,
        places: &LockPaths<'_>,
        round: usize,
        sent: &mut usize,
        done: &mut RunTotals,
    ) -> Result<Option<Queue>, OpError> {
        let Some(_turn) = places.turn(self.pass.at_once, self.ctx.env.stopwatch())? else { return Ok(None) };
        let name = &self.receiver.name;
        // Opened again in each round, so that nothing that git caches in memory is out of date.
        let store = self.ctx.open_store(&locate::known(&self.ctx.home, self.realm)?)?;
        let mut queue = Queue::of(&store, name)?;
        if let Some(ids) = self.pass.requeue.as_ref().filter(|_| round == 0) {
            done.requeued.extend(queue.requeue(ids, self.ctx.env.now()));
            queue.save(&store, name, &self.ctx.env.now_here())?;
        }
        let collecting = ChangeCollector { ctx: self.ctx, realm: self.realm, store: &store, receiver: self.receiver };
        collecting.run(&mut queue)?;
        *sent += self.send(&collecting, &mut queue, self.pass.at_once && round == 0)?;
        Ok(Some(queue))
    }

    /// Delivers due events, for each domain in order until one fails. Records each outcome before
    /// the next event, which includes later changes. Returns the number of delivered events.
    fn send(&self, collecting: &ChangeCollector<'_>, queue: &mut Queue, at_once: bool) -> Result<usize, OpError> {
        let (mut sent, mut failed) = (0, Vec::new());
        loop {
            let now = self.ctx.env.now();
            let is_due = |one: &&&Waiting| !failed.contains(&one.event.id) && (at_once || one.next <= now);
            let Some(event) = queue.next_per_domain().iter().find(is_due).map(|one| one.event.clone()) else {
                return Ok(sent);
            };
            match deliver::deliver(self.ctx, self.receiver, &event) {
                Ok(()) => {
                    queue.record_success(&event.id);
                    sent += 1;
                }
                Err(problem) => {
                    tracing::warn!(receiver = %self.receiver.name, id = event.id, problem, "not delivered");
                    let chance = self.ctx.env.seed().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16;
                    queue.record_failure(&event.id, problem, self.ctx.env.now(), chance);
                    failed.push(event.id);
                }
            }
            queue.save(collecting.store, &self.receiver.name, &self.ctx.env.now_here())?;
            collecting.run(queue)?;
        }
    }
}

/// The paths of a receiver's locks.
struct LockPaths<'a> {
    folder: PathBuf,
    name: &'a ReaderName,
}

impl LockPaths<'_> {
    /// Takes the lock of the receiver. If no caller waits for the result, at most one process waits
    /// for the lock: it sees everything that is new by then, so later processes need not wait.
    fn turn(&self, is_waited_for: bool, elapsed: impl Fn() -> Duration) -> Result<Option<File>, OpError> {
        if let Some(turn) = self.lock("turn")? {
            return Ok(Some(turn));
        }
        let next = self.lock("next")?;
        if next.is_none() && !is_waited_for {
            return Ok(None);
        }
        while elapsed() < PATIENCE {
            if let Some(turn) = self.lock("turn")? {
                return Ok(Some(turn));
            }
            std::thread::sleep(STEP);
        }
        Ok(None)
    }

    /// Takes a lock that is released when its process dies. Returns `None` if another process holds it.
    fn lock(&self, what: &str) -> Result<Option<File>, OpError> {
        let file = self.folder.join(format!("{}.{what}", self.name));
        let lock = File::create(&file).map_err(OpError::io("create", file))?;
        Ok(lock.try_lock().is_ok().then_some(lock))
    }
}

/// Returns the time from now until a moment.
fn until(next: Timestamp, now: Timestamp) -> Duration {
    if next > now { next.duration_since(now).unsigned_abs() } else { STEP }
}

fn line(receiver: &Receiver, queue: &Queue, sent: usize) -> ReceiverLine {
    ReceiverLine {
        name: receiver.name.to_string(),
        kind: Some(receiver.channel.kind().to_owned()),
        destination: Some(receiver.channel.destination()),
        filter: receiver.filter.to_string(),
        problem: None,
        sent,
        waiting: queue.waiting.iter().map(|one| one.line(false)).collect(),
        failed: queue.failed.iter().map(|one| one.line(true)).collect(),
    }
}

fn invalid_receiver(name: String, problem: String) -> ReceiverLine {
    ReceiverLine {
        name,
        kind: None,
        destination: None,
        filter: String::new(),
        problem: Some(problem),
        sent: 0,
        waiting: Vec::new(),
        failed: Vec::new(),
    }
}
