//! Automatic syncing: only if the user wants it, in one process at a time, and not too often. Its
//! records are next to the store's locks; losing them costs one additional sync.

use std::{
    fs::File,
    path::{Path, PathBuf},
    time::Duration,
};

use jiff::Timestamp;

use crate::{
    error::OpError,
    machine::user_config,
    model::name::{RealmName, RemoteName},
    ops::ctx::{Ctx, RealmContext},
    store::Store,
    wire::{Answer, SyncProblem},
};

/// The minimum time between two syncs that hooks start.
const PAUSE: Duration = Duration::from_secs(120);

/// Returns whether the realm has a remote, and its user wants automatic syncing. The configuration of a repository is
/// ignored, since anybody may have written it.
///
/// # Errors
/// Returns an error if this machine's records cannot be read.
pub fn is_wanted(ctx: &Ctx, realm: &RealmName, store: &dyn Store) -> Result<bool, OpError> {
    Ok(!store.remotes().is_empty() && chosen(ctx, realm)?.unwrap_or_default())
}

/// The step after a change of a realm that other machines do not get automatically.
const PUSH: &str = "git blue sync  # not pushed yet";

/// Returns whether a realm has remotes but is not synced automatically.
///
/// # Errors
/// Returns an error if this machine's records cannot be read.
pub fn is_by_hand(ctx: &Ctx, realm: &RealmName, store: &dyn Store) -> Result<bool, OpError> {
    Ok(!store.remotes().is_empty() && !is_wanted(ctx, realm, store)?)
}

/// Returns an answer about a change of the realm, with the step that pushes it if nothing else does.
///
/// # Errors
/// Returns an error if this machine's records cannot be read.
pub fn with_push<T>(
    ctx: &Ctx,
    (realm, store): (&RealmName, &dyn Store),
    is_changed: bool,
    answer: Answer<T>,
) -> Result<Answer<T>, OpError> {
    Ok(if is_changed && is_by_hand(ctx, realm, store)? { answer.next(PUSH) } else { answer })
}

/// Returns whether all remotes of a realm answered so recently that an automatic sync would not ask them again.
///
/// # Errors
/// Returns an error if this machine's records cannot be read.
pub fn is_fresh(ctx: &Ctx, here: &RealmContext) -> Result<bool, OpError> {
    let Some(known) = ctx.home.realm(&here.realm)? else { return Ok(false) };
    let now = ctx.env.now();
    let is_recent = |last: Timestamp| last <= now && now.duration_since(last).unsigned_abs() < PAUSE;
    Ok(here.store.remotes().iter().all(|remote| last_contact(&known.path, &remote.name).is_some_and(is_recent)))
}

/// Returns the step to sync first, in case what is missing here was already `done` on another machine. Returns `None`
/// if the realm has no remotes.
pub fn sync_first(store: &dyn Store, done: &str) -> Option<String> {
    (!store.remotes().is_empty()).then(|| format!("git blue sync  # if it was {done} on another machine"))
}

/// Returns the user's choice for the realm, or for all realms; `None` if there is none.
///
/// # Errors
/// Returns an error if this machine's records cannot be read.
pub fn chosen(ctx: &Ctx, realm: &RealmName) -> Result<Option<bool>, OpError> {
    let of_realm = ctx.home.auto_sync(realm)?;
    let value =
        of_realm.map_or_else(|| user_config::value(ctx.env.vars(), "blue.autoSync"), |value| Ok(Some(value)))?;
    Ok(value.map(|value| user_config::is_true(&value)))
}

/// Returns whether a hook may start a sync of the store in a folder, because the last one was not started recently.
pub fn is_due(store: &Path, now: Timestamp) -> bool {
    read(&begun(store)).is_none_or(|begun| now < begun || now.duration_since(begun).unsigned_abs() >= PAUSE)
}

/// The lock of automatic syncing, which one process holds at a time.
#[derive(Debug)]
pub struct AutoSyncLock {
    _lock: File,
}

/// Takes the lock, and records the time. Returns `None` if another process holds it, or nothing can be written.
pub fn take(store: &Path, now: Timestamp) -> Option<AutoSyncLock> {
    std::fs::create_dir_all(folder(store)).ok()?;
    let lock = File::create(folder(store).join("turn")).ok()?;
    lock.try_lock().ok()?;
    write(&begun(store), now);
    Some(AutoSyncLock { _lock: lock })
}

/// Waits for the lock. Returns `None` if another process waits already: it will start after everything that was
/// published until now, and push it.
pub fn wait(store: &Path, now: Timestamp) -> Option<AutoSyncLock> {
    if let Some(turn) = take(store, now) {
        return Some(turn);
    }
    let next = File::create(folder(store).join("next")).ok()?;
    next.try_lock().ok()?;
    let lock = File::create(folder(store).join("turn")).ok()?;
    lock.lock().ok()?;
    write(&begun(store), now);
    Some(AutoSyncLock { _lock: lock })
}

/// Records that a remote has answered.
pub fn note_contact(store: &Path, remote: &RemoteName, now: Timestamp) {
    if std::fs::create_dir_all(folder(store)).is_ok() {
        write(&contact(store, remote), now);
    }
}

/// Returns when a remote last answered, if that is recorded.
pub fn last_contact(store: &Path, remote: &RemoteName) -> Option<Timestamp> {
    read(&contact(store, remote))
}

/// Records the problems of the last sync with a remote, which replace those of the one before.
pub fn note_problems(store: &Path, remote: &RemoteName, problems: &[SyncProblem]) {
    let file = unsolved(store, remote);
    if problems.is_empty() {
        let _ = std::fs::remove_file(file);
    } else if std::fs::create_dir_all(folder(store)).is_ok() {
        // Errors are ignored, since nothing depends on it.
        let _ = std::fs::write(file, serde_json::to_vec(problems).unwrap_or_default());
    }
}

/// Returns the problems of the last sync with a remote, if they are recorded.
pub fn last_problems(store: &Path, remote: &RemoteName) -> Vec<SyncProblem> {
    let bytes = std::fs::read(unsolved(store, remote)).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

fn unsolved(store: &Path, remote: &RemoteName) -> PathBuf {
    folder(store).join(format!("problems-{remote}"))
}

fn folder(store: &Path) -> PathBuf {
    store.join("blue/sync")
}

fn begun(store: &Path) -> PathBuf {
    folder(store).join("begun")
}

fn contact(store: &Path, remote: &RemoteName) -> PathBuf {
    folder(store).join(format!("contact-{remote}"))
}

fn read(file: &Path) -> Option<Timestamp> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// Writes a time. Errors are ignored, since nothing depends on it.
fn write(file: &Path, at: Timestamp) {
    let _ = std::fs::write(file, format!("{at}\n"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_syncs_at_a_time_and_not_too_often() {
        let store = tempfile::tempdir().unwrap();
        let at = |seconds: i64| Timestamp::from_second(1_769_000_000 + seconds).unwrap();
        assert!(is_due(store.path(), at(0)));
        let turn = take(store.path(), at(0)).unwrap();
        assert!(take(store.path(), at(0)).is_none(), "it is taken");
        assert!(!is_due(store.path(), at(119)) && is_due(store.path(), at(120)));
        assert!(is_due(store.path(), at(-1)), "a clock that was set back");
        drop(turn);
        assert!(take(store.path(), at(1)).is_some());
    }

    #[test]
    fn one_process_waits_for_the_one_that_syncs() {
        let store = tempfile::tempdir().unwrap();
        let now = Timestamp::from_second(1_769_000_000).unwrap();
        let turn = wait(store.path(), now).unwrap();
        let next = File::create(folder(store.path()).join("next")).unwrap();
        next.lock().unwrap();
        assert!(wait(store.path(), now).is_none(), "another one waits");
        drop(next);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| wait(store.path(), now).is_some());
            std::thread::sleep(Duration::from_millis(50));
            assert!(!waiting.is_finished());
            drop(turn);
            assert!(waiting.join().unwrap());
        });
        assert!(wait(store.path(), now).is_some(), "both are released");
    }

    #[test]
    fn the_problems_of_the_last_sync_are_recorded() {
        let store = tempfile::tempdir().unwrap();
        let remote: RemoteName = "origin".parse().unwrap();
        assert_eq!(last_problems(store.path(), &remote), []);
        let problems = [crate::ops::sync::problem("invalid-remote-data", None, "it is broken".to_owned())];
        note_problems(store.path(), &remote, &problems);
        assert_eq!(last_problems(store.path(), &remote), problems);
        note_problems(store.path(), &remote, &[]);
        assert_eq!(last_problems(store.path(), &remote), []);
    }

    #[test]
    fn the_last_contact_is_recorded() {
        let store = tempfile::tempdir().unwrap();
        let (remote, at): (RemoteName, _) = ("origin".parse().unwrap(), Timestamp::from_second(1_769_000_000).unwrap());
        assert_eq!(last_contact(store.path(), &remote), None);
        note_contact(store.path(), &remote, at);
        assert_eq!(last_contact(store.path(), &remote), Some(at));
    }
}
