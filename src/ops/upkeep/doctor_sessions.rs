//! Checks sessions for `doctor`: sessions never ended, and markers of ended sessions.

use std::collections::BTreeSet;

use super::finding::{Request, advise, check, repaired};
use crate::{
    error::OpError,
    machine::home::KnownRealm,
    model::session::{Session, SessionId, State},
    ops::{
        ctx::{ActingRepo, Ctx},
        repos::joined,
        session::{
            self,
            marker::{self, SessionMarker, SessionRef},
        },
    },
    store::{
        StoreRef,
        git::GitStore,
        sessions::{self, SessionFilter},
        unless_damaged,
    },
    wire::{DoctorCheck, Health},
};

/// Reports sessions without activity for a day that were never ended: after a crash, or forgotten.
/// They are ended at the time of their last activity.
pub(crate) fn of_realm(ctx: &Ctx, request: &Request, known: &KnownRealm, store: &GitStore) -> DoctorCheck {
    let subject = Some(known.name.as_str());
    let cannot = |error: OpError| check("sessions", subject, Health::Error, error.message);
    let (open, unreadable) = match session::all_sessions(store, SessionFilter::Open) {
        Ok(found) => found,
        Err(error) => return cannot(error),
    };
    if !unreadable.is_empty() {
        return check("sessions", subject, Health::Error, unreadable.join("; "));
    }
    let stale: Vec<_> = open.iter().filter(|session| session.state(ctx.env.now()) == State::Stale).collect();
    if stale.is_empty() {
        return check("sessions", subject, Health::Ok, "no stale sessions");
    }
    let names: Vec<_> = stale
        .iter()
        .map(|session| format!("{} of {} (inactive since {})", session.id, session.repo, session.last_activity))
        .collect();
    let found = check("sessions", subject, Health::Warning, format!("stale: {}", names.join(", ")));
    if !request.fix {
        return advise(found, "git blue doctor --fix  # end them");
    }
    let repos: BTreeSet<_> = stale.iter().map(|session| &session.repo).collect();
    let author = ctx.upkeep_signature();
    let ended = repos.into_iter().try_for_each(|repo| {
        let acting = ActingRepo { realm: &known.name, store, repo, code: None };
        session::upkeep::end_stale(acting, &author).map(drop)
    });
    repaired(found, ended, "; not ended")
}

/// Reports the active sessions of this repository whose working tree was deleted. A session without any working tree is
/// only reported if no other clone can have started it.
pub(crate) fn of_deleted_trees(ctx: &Ctx, request: &Request) -> Result<Option<DoctorCheck>, OpError> {
    let (Some(code), Ok(acting)) = (&ctx.code, ctx.acting_repo()) else { return Ok(None) };
    let markers = marker::of_clone(code);
    let is_shared = ctx.shares_sessions();
    let is_alone = !is_shared && joined::other_joined_clone(&ctx.home, code, acting.realm, acting.repo)?.is_none();
    let is = |marked: &SessionRef, id: &SessionId| marked.is_of(acting) && marked.id == *id;
    // The check of the refs reports one that cannot be read.
    let tip = unless_damaged(acting.store.tip(&StoreRef::Sessions(acting.repo.clone())))?;
    let Some(tip) = tip else { return Ok(None) };
    let (open, _) = sessions::at(acting.store, acting.repo, &tip, SessionFilter::Open)?;
    let is_lost = |session: &&Session| {
        let id = &session.id;
        session.state(ctx.env.now()) == State::Active
            && !markers.present.iter().any(|marked| is(marked, id))
            && (is_alone || markers.deleted.iter().any(|(_, marked)| is(marked, id)))
    };
    let lost: Vec<_> = open.iter().filter(is_lost).map(|session| &session.id).collect();
    let Some(first) = lost.first() else { return Ok(None) };
    let name = |id: &&SessionId| match markers.deleted.iter().find(|(_, marked)| is(marked, id)) {
        Some((path, _)) => format!("{id} ({})", path.display()),
        None => id.to_string(),
    };
    let names = lost.iter().map(name).collect::<Vec<_>>().join(", ");
    let message = format!("active, but its working tree was deleted: {names}");
    let found = check("sessions", Some(acting.repo.as_str()), Health::Warning, message);
    if !request.fix {
        let step = match lost.len() {
            1 => format!("git blue session stop {first}  # end it"),
            _ => "git blue doctor --fix  # end them".to_owned(),
        };
        return Ok(Some(advise(found, step)));
    }
    let author = ctx.upkeep_signature();
    lost.iter().try_for_each(|id| session::upkeep::end(acting, id, &author))?;
    Ok(Some(DoctorCheck { fixed: true, ..found }))
}

/// Reports a working tree whose marker names an ended session, or is invalid.
pub(crate) fn of_work_tree(ctx: &Ctx, request: &Request) -> Option<DoctorCheck> {
    let code = ctx.code.as_ref()?;
    let acting = ctx.acting_repo().ok();
    // A session that is being started has a marker before it has a record.
    let lease = match (acting, request.fix) {
        (Some(acting), true) => Some(acting.store.lock(&StoreRef::Sessions(acting.repo.clone()))),
        _ => None,
    };
    let file = marker::file(code).display().to_string();
    let problem = match marker::read(code) {
        SessionMarker::None => return None,
        SessionMarker::Unreadable(problem) => problem,
        SessionMarker::Session(marked) => {
            let is_mine = acting.is_some_and(|acting| marked.is_of(acting));
            match session::current::current(ctx) {
                Ok(Some(_)) if is_mine => return Some(check("session", None, Health::Ok, marked.id.to_string())),
                Ok(_) if is_mine => format!("it names {}, which has ended or never existed", marked.id),
                _ if ctx.home.realm(&marked.realm).is_ok_and(|known| known.is_none()) => {
                    format!("it names a session of the realm {}, which this machine does not know", marked.realm)
                }
                // A session that cannot be read is reported with the sessions of its realm.
                _ => return None,
            }
        }
    };
    let found = check("session", None, Health::Warning, format!("{file}: {problem}"));
    if !request.fix {
        return Some(advise(found, "git blue doctor --fix  # remove that file"));
    }
    let removed = lease.transpose().map_err(OpError::from).and_then(|_lease| marker::remove(code));
    Some(repaired(found, removed, "; not removed"))
}
