//! Checks of `doctor` on sessions: sessions that nobody ended, and working trees whose mark names an ended session.

use std::collections::BTreeSet;

use super::finding::{Request, advise, check};
use crate::{
    error::OpError,
    machine::home::KnownRealm,
    model::session::State,
    ops::{
        ctx::{ActingRepo, Ctx},
        session::{self, mark::Mark},
    },
    store::{StoreRef, git::GitStore, sessions::SessionFilter},
    wire::{DoctorCheck, Health},
};

/// Reports sessions that nobody ended and that had no activity for a day: the machine crashed, or the user forgot them.
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
    let ended = repos
        .into_iter()
        .map(|repo| session::upkeep::end_stale(ActingRepo { realm: &known.name, store, repo, code: None }, &author));
    match ended.collect::<Result<Vec<_>, _>>() {
        Ok(_) => DoctorCheck { fixed: true, ..found },
        Err(error) => DoctorCheck { message: format!("{}; not ended: {error}", found.message), ..found },
    }
}

/// Reports a working tree whose mark names an ended session, or is invalid.
pub(crate) fn of_work_tree(ctx: &Ctx, request: &Request) -> Option<DoctorCheck> {
    let code = ctx.code.as_ref()?;
    let acting = ctx.acting_repo().ok();
    // A session that is being started has a mark before it has a record.
    let lease = match (acting, request.fix) {
        (Some(acting), true) => Some(acting.store.lock(&StoreRef::Sessions(acting.repo.clone()))),
        _ => None,
    };
    let file = session::mark::file(code).display().to_string();
    let problem = match session::mark::read(code) {
        Mark::None => return None,
        Mark::Unreadable(problem) => problem,
        Mark::Session(marked) => {
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
    let removed = lease.transpose().map_err(OpError::from).and_then(|_lease| session::mark::remove(code));
    Some(match removed {
        Ok(()) => DoctorCheck { fixed: true, ..found },
        Err(error) => DoctorCheck { message: format!("{}; not removed: {error}", found.message), ..found },
    })
}
