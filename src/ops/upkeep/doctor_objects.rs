//! The checks of `doctor` on a store's objects. Missing objects are fetched from the remotes; if that fails, the
//! newest whole commit of a ref is offered, and restored only if the user names it.

use super::finding::{Request, advise, check};
use crate::{
    error::{ErrorCode, OpError},
    locate,
    machine::home::KnownRealm,
    model::{name::RealmName, oid::Oid, text::comma_separated_at_most},
    ops::{
        ctx::Ctx,
        sync::{self, url},
    },
    store::{
        Store as _, StoreRef,
        git::{GitStore, Recoverable, UnfinishedStore},
        layout,
        remote::Remote,
        validate_incoming,
    },
    wire::{DoctorCheck, Health},
};

/// The maximum number of refs whose newest whole commit is offered.
const MAX_OFFERED: usize = 20;
/// The maximum number of git messages, and of lost commits, that one message repeats.
const MAX_SHOWN: usize = 10;

/// Checks the objects and refs of a store. Returns the store as it is then.
pub(crate) fn objects_and_refs(
    ctx: &Ctx,
    request: &Request,
    known: &KnownRealm,
    store: GitStore,
) -> (GitStore, Vec<DoctorCheck>) {
    let is_fixed = |checks: &[DoctorCheck]| checks.iter().any(|check| check.fixed);
    // The open store still reads the packs that were replaced.
    let reopened = |store| ctx.open_store_to_repair(known).unwrap_or(store);
    let mut checks = objects(ctx, request, known, &store);
    let mut store = if is_fixed(&checks) { reopened(store) } else { store };
    let refs = refs(ctx, request, known, &store);
    if is_fixed(&refs) {
        store = reopened(store);
        // git complained about the refs too.
        checks = if is_fixed(&checks) { checks } else { objects(ctx, request, known, &store) };
    }
    checks.extend(refs);
    (store, checks)
}

/// Checks the objects of a store, and fetches missing ones.
fn objects(ctx: &Ctx, request: &Request, known: &KnownRealm, store: &GitStore) -> Vec<DoctorCheck> {
    let subject = Some(known.name.as_str());
    let problem = match complaints(ctx, store) {
        Ok(None) => return vec![check("objects", subject, Health::Ok, "git fsck --strict found no problems")],
        Ok(Some(problem)) => problem,
        Err(error) => return vec![check("objects", subject, Health::Error, error.message)],
    };
    let found = |message| check("objects", subject, Health::Error, message);
    if !request.fix {
        let problem = advise(found(problem), "git blue doctor --fix  # fetch what is missing, if possible");
        return [problem].into_iter().chain(records(ctx, request, known, store)).collect();
    }
    let mut checks = set_aside(ctx, known, store);
    let is_sound = |checks: &[DoctorCheck]| {
        checks.iter().any(|check| check.fixed) && complaints(ctx, store).is_ok_and(|left| left.is_none())
    };
    if is_sound(&checks) {
        return checks;
    }
    let mut said = vec![problem];
    for remote in store.remotes() {
        match refetch(ctx, &remote, store).and_then(|()| remaining(ctx, store)) {
            Ok(None) => {
                said.push(format!("fetched missing objects from {}", remote.name));
                checks.push(DoctorCheck { fixed: true, ..found(said.join("; ")) });
                return checks;
            }
            Ok(Some(_)) => said.push(format!("fetching from {} did not repair it", remote.name)),
            Err(error) => said.push(format!("{}: {}", remote.name, error.message)),
        }
    }
    checks.extend(records(ctx, request, known, store));
    checks.extend(sessions(ctx, known, store).unwrap_or_else(|error| vec![found(error.message)]));
    // What was removed may have needed a corrupt object.
    checks.extend(set_aside(ctx, known, store));
    if is_sound(&checks) {
        return checks;
    }
    checks.push(found(said.join("; ")));
    match offers(ctx, &known.name, store) {
        Ok(offers) => checks.extend(offers),
        Err(error) => checks.push(found(error.message)),
    }
    checks
}

/// Moves corrupt objects that nothing needs out of the way.
fn set_aside(ctx: &Ctx, known: &KnownRealm, store: &GitStore) -> Vec<DoctorCheck> {
    let vars = ctx.env.vars();
    let found = |message| check("objects", Some(known.name.as_str()), Health::Error, message);
    match store.fsck(vars).and_then(|complaints| store.set_corrupt_aside(vars, &complaints)) {
        Ok(moved) if moved.is_empty() => Vec::new(),
        Ok(moved) => {
            let files = comma_separated_at_most(MAX_SHOWN, moved.iter().map(|path| path.display()));
            let message = format!("corrupt, but nothing needs them: moved to {files}");
            vec![DoctorCheck { fixed: true, ..found(message) }]
        }
        Err(error) => vec![found(error.to_string())],
    }
}

/// Checks the records of this machine, such as inboxes, and removes those that cannot be read if the user asks for it.
fn records(ctx: &Ctx, request: &Request, known: &KnownRealm, store: &GitStore) -> Vec<DoctorCheck> {
    let found = |message| check("records", Some(known.name.as_str()), Health::Error, message);
    let lost = match store.lost_records(ctx.env.vars()) {
        Ok(lost) => lost,
        Err(error) => return vec![found(error.to_string())],
    };
    let check_one = |(name, problem): (String, String)| match request.fix {
        false if name.starts_with(layout::SEEN) => advise(
            found(format!("{name}: {problem}; only this machine's record of the remote is lost")),
            "git blue doctor --fix  # remove it; the next sync lists the remote again",
        ),
        false => advise(
            found(format!("{name}: {problem}; only this machine's record of seen notifications is lost")),
            "git blue doctor --fix  # remove it; notifications are shown again",
        ),
        true => match store.remove_record(ctx.env.vars(), &name) {
            Ok(()) => DoctorCheck { fixed: true, ..found(format!("{name}: {problem}; it was removed")) },
            Err(error) => found(format!("{name}: {problem}; not removed: {error}")),
        },
    };
    lost.into_iter().map(check_one).collect()
}

/// Resets sessions with missing objects to their newest complete commit, or removes them: they are only records, and
/// without this, no other session can be started.
fn sessions(ctx: &Ctx, known: &KnownRealm, store: &GitStore) -> Result<Vec<DoctorCheck>, OpError> {
    let vars = ctx.env.vars();
    let incomplete = store.incomplete_refs(vars)?.into_iter();
    let repair = |(name, tip): (StoreRef, Oid)| {
        if let Some(left) = store.find_intact_commit(vars, &name, Some(tip))? {
            return restore(ctx, &known.name, store, &name.shared_name(), left.commit);
        }
        let _lease = store.lock(&name)?;
        store.remove_unusable(vars, &name)?;
        let message = format!("{name}: none of its commits is complete; it was removed");
        Ok(DoctorCheck { fixed: true, ..check("refs", Some(known.name.as_str()), Health::Error, message) })
    };
    incomplete.filter(|(name, _)| matches!(name, StoreRef::Sessions(_))).map(repair).collect()
}

/// Returns git's complaints about the objects; `None` if all are sound.
fn complaints(ctx: &Ctx, store: &GitStore) -> Result<Option<String>, OpError> {
    let mut lines = store.fsck(ctx.env.vars())?;
    if !lines.is_empty() {
        // git lists the packs only once, and misses objects that another process repacks later.
        lines = store.fsck(ctx.env.vars())?;
    }
    let more = lines.len().saturating_sub(MAX_SHOWN);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let shown: Vec<_> = lines.into_iter().take(MAX_SHOWN).collect();
    Ok((!shown.is_empty()).then(|| format!("git fsck --strict: {}{more}", shown.join("; "))))
}

/// Returns git's complaints after a fetch. A damaged pack still contains its copies of what was fetched, so everything
/// is repacked without it if git complains.
fn remaining(ctx: &Ctx, store: &GitStore) -> Result<Option<String>, OpError> {
    let found = complaints(ctx, store)?;
    if found.is_none() || store.pack(ctx.env.vars()).is_err() {
        return Ok(found);
    }
    complaints(ctx, store)
}

/// Fetches everything from a remote, as if this machine had nothing, and takes over the packs.
fn refetch(ctx: &Ctx, remote: &Remote, store: &GitStore) -> Result<(), OpError> {
    url::accept(&remote.url)?;
    let aside = UnfinishedStore::new(&ctx.home.folder().join("realms"), ctx.options())?;
    let link = sync::realm_clone::connection(ctx, &aside.store.path(), remote);
    let names: Vec<_> = link.list()?.refs.into_iter().map(|(name, _)| name).collect();
    link.fetch(&names, None)?;
    let _keep = store.keep()?;
    Ok(store.take_packs(&aside.store, ctx.env.vars())?)
}

/// Returns the newest whole commit of each damaged ref, with the command that restores it.
fn offers(ctx: &Ctx, realm: &RealmName, store: &GitStore) -> Result<Vec<DoctorCheck>, OpError> {
    let mut offers = Vec::new();
    for (name, tip) in store.incomplete_refs(ctx.env.vars())?.into_iter().take(MAX_OFFERED) {
        let subject = Some(realm.as_str());
        let found = |message| check("refs", subject, Health::Error, message);
        offers.push(match store.find_intact_commit(ctx.env.vars(), &name, Some(tip))? {
            None => found(format!(
                "{name} is at {tip}, and none of its commits is complete; a backup or another clone may \
                    have them"
            )),
            Some(left) => advise(
                found(offer(&name, &format!("is at {tip}, which is incomplete"), &left)),
                format!("{}  # discard what is missing", command(realm, &name, &left)),
            ),
        });
    }
    Ok(offers)
}

/// Returns the command that resets a ref.
fn command(realm: &RealmName, name: &StoreRef, left: &Recoverable) -> String {
    format!("git blue doctor --realm {realm} --restore {} --to {}", name.shared_name(), left.commit)
}

/// Checks that every shared ref names a commit. One that does not is repaired on request, if that loses nothing.
fn refs(ctx: &Ctx, request: &Request, known: &KnownRealm, store: &GitStore) -> Vec<DoctorCheck> {
    let found = |message| check("refs", Some(known.name.as_str()), Health::Error, message);
    let unusable = match store.unusable_refs() {
        Ok(unusable) => unusable,
        Err(error) => return vec![found(error.to_string())],
    };
    let repair = |(name, problem): (StoreRef, String)| {
        let repair = RefRepair { ctx, request, known, store, name, problem };
        repair.check().unwrap_or_else(|error| repair.found(&format!("; {}", error.message)))
    };
    unusable.into_iter().map(repair).collect()
}

/// The repair of a ref that names no commit.
struct RefRepair<'a> {
    ctx: &'a Ctx,
    request: &'a Request,
    known: &'a KnownRealm,
    store: &'a GitStore,
    name: StoreRef,
    problem: String,
}

impl RefRepair<'_> {
    fn found(&self, more: &str) -> DoctorCheck {
        let message = format!("{}: {}{more}", self.name, self.problem);
        check("refs", Some(self.known.name.as_str()), Health::Error, message)
    }

    fn check(&self) -> Result<DoctorCheck, OpError> {
        match self.store.find_intact_commit(self.ctx.env.vars(), &self.name, None)? {
            Some(left) => self.reset(&left),
            None => self.give_up(),
        }
    }

    /// Resets the ref to a commit that this machine recorded as its tip, or offers any other commit. Sessions are only
    /// records, so they are reset to any commit.
    fn reset(&self, left: &Recoverable) -> Result<DoctorCheck, OpError> {
        let Self { ctx, known, store, name, .. } = self;
        let (is_recorded, is_session) = (store.is_lost_at(name, &left.commit)?, matches!(name, StoreRef::Sessions(_)));
        if self.request.fix && (is_recorded || is_session) {
            return restore(ctx, &known.name, store, &name.shared_name(), left.commit);
        }
        if is_recorded {
            return Ok(advise(self.found(""), "git blue doctor --fix  # restore it; nothing is lost"));
        }
        let offer = offer(name, &format!("cannot be used: {}", self.problem), left);
        let command = if is_session { "git blue doctor --fix".to_owned() } else { command(&known.name, name, left) };
        let found = check("refs", Some(known.name.as_str()), Health::Error, offer);
        Ok(advise(found, format!("{command}  # reset it")))
    }

    /// Fetches the realm, or removes any other ref, if the user asks for it. The store has no commit that the ref may
    /// have named.
    fn give_up(&self) -> Result<DoctorCheck, OpError> {
        let Self { ctx, known, store, name, .. } = self;
        let found = self.found(", and the store has no commit to reset it to");
        let remotes = store.remotes();
        let is_lost = matches!(store.tip(name), Ok(None));
        Ok(match (name, self.request.fix) {
            (StoreRef::Realm, true) => {
                for remote in &remotes {
                    refetch(ctx, remote, store)?;
                    if let Some(left) = store.find_intact_commit(ctx.env.vars(), name, None)? {
                        return restore(ctx, &known.name, store, &name.shared_name(), left.commit);
                    }
                }
                advise(found, locate::obtain_again(&ctx.home, known))
            }
            (StoreRef::Realm, false) if !remotes.is_empty() => advise(found, "git blue doctor --fix  # fetch it again"),
            (StoreRef::Realm, false) => advise(found, locate::obtain_again(&ctx.home, known)),
            _ if is_lost => advise(found, "git blue sync  # fetch it, if a remote has it"),
            (_, true) => {
                let removed = store.lock(name).and_then(|_lease| store.remove_unusable(ctx.env.vars(), name));
                match removed {
                    Ok(()) => DoctorCheck { fixed: true, ..self.found("; it was removed") },
                    Err(error) => self.found(&format!("; not removed: {error}")),
                }
            }
            (_, false) => advise(found, "git blue doctor --fix  # remove it"),
        })
    }
}

fn offer(name: &StoreRef, problem: &str, left: &Recoverable) -> String {
    let named = comma_separated_at_most(MAX_SHOWN, left.lost.iter().map(|subject| format!("\"{subject}\"")));
    let lost = match (named.is_empty(), left.is_ancestor) {
        (false, _) => format!("going back to it loses {named}"),
        (true, _) => "later changes are lost".to_owned(),
    };
    let unsure = if left.is_ancestor { "" } else { ", but it is unknown how much was written after it" };
    let commit = left.commit;
    format!("{name} {problem}. The newest complete commit is {commit} of {}{unsure}; {lost}", left.time)
}

/// Moves a ref back to a whole commit.
///
/// # Errors
/// Returns an error if the ref is whole, or if the commit is not whole or does not belong to the ref.
pub(crate) fn restore(
    ctx: &Ctx,
    realm: &RealmName,
    store: &GitStore,
    name: &str,
    to: Oid,
) -> Result<DoctorCheck, OpError> {
    let name = StoreRef::parse_shared(&format!("{}{name}", layout::SHARED)).ok_or_else(|| {
        OpError::usage(format!("{name:?} is not a ref of the realm"))
            .next("--restore realm, or --restore domains/DOMAIN")
    })?;
    let _lease = store.lock(&name)?;
    let unusable = store.unusable_refs()?.into_iter().find(|(unusable, _)| *unusable == name);
    if unusable.is_none() {
        let Some(tip) = store.tip(&name)? else {
            return Err(OpError::no(ErrorCode::UnknownRef, format!("{name} does not exist")));
        };
        if store.has_all_objects(ctx.env.vars(), &[tip])? {
            return Err(OpError::no(ErrorCode::NotDamaged, format!("{name} is complete, so nothing was changed")));
        }
    }
    if !store.has_all_objects(ctx.env.vars(), &[to])? {
        return Err(OpError::no(ErrorCode::UnknownCommit, format!("{to} is incomplete in this store")));
    }
    let problems = validate_incoming::inspect(store, &name, &to, &[])?;
    if !problems.is_empty() {
        return Err(OpError::no(
            ErrorCode::InvalidRemoteData,
            format!("{to} is not a commit of {name}: {}", problems.join("; ")),
        ));
    }
    if unusable.is_some() {
        store.remove_unusable(ctx.env.vars(), &name)?;
    }
    // Without the unusable file, the ref has the value that was packed last, if any.
    let tip = store.tip(&name)?;
    store.advance(&name, tip, to)?;
    let message = match (unusable, tip) {
        (None, Some(tip)) => format!("{name} was reset from {tip}, which is incomplete, to {to}"),
        (problem, _) => {
            let problem = problem.map(|(_, problem)| format!(" (before: {problem})")).unwrap_or_default();
            format!("{name} was reset to {to}{problem}")
        }
    };
    Ok(DoctorCheck { fixed: true, ..check("refs", Some(realm.as_str()), Health::Error, message) })
}
