//! Compares a clone with the repository that the realm has under a name, by their root commits and URLs.

use std::collections::BTreeSet;

use super::joined;
use crate::{
    error::{ErrorCode, OpError},
    locate::{
        self, CONFIG, config,
        url::{accept, is_same, resolved},
    },
    machine::home::Home,
    model::{
        name::RepoName,
        realm::{Repo, RepoMatch},
        repo_url::RepoUrl,
        text::shell_word,
    },
    ops::acting_repo::ActingRepo,
    repo::CodeRepo,
    store::{StoreError, StoreRef, history, layout, read},
};

/// Returns the realm's entry of the acting repository.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn entry(acting: ActingRepo<'_>) -> Result<Option<Repo>, OpError> {
    let Some(tree) = read::tip_tree(acting.store, &StoreRef::Realm)? else { return Ok(None) };
    Ok(read::file(acting.store, &StoreRef::Realm, &tree, &layout::repo(acting.repo))?)
}

/// Compares a clone with an entry of the realm. History is not walked: it is enough that the clone has one of the
/// entry's root commits.
///
/// # Errors
/// Returns an error if the clone cannot be read.
pub fn match_repo(code: &CodeRepo, held: &Repo) -> Result<RepoMatch, OpError> {
    let shares = if has_a_root(code, held)? {
        Some(true)
    } else if held.roots.is_empty() || code.is_shallow()? || code.head()?.commit.is_none() {
        None
    } else {
        Some(false)
    };
    let own = code.main_folder().display().to_string();
    let held_url = held.url.as_deref().map(resolved);
    // A clone on this machine may have recorded this repository as the one that it was cloned from.
    let is_here = held_url.as_deref().is_some_and(|url| RepoUrl::of(url) == RepoUrl::of(&resolved(&own)));
    let own = code.origin_urls().map(|urls| urls.map(|url| resolved(&url)));
    // Either form of the URL may be the one that is recorded.
    let is_held = |url: &String| held_url.as_deref().is_some_and(|held| RepoUrl::of(url) == RepoUrl::of(held));
    let has_held_url = is_here || own.iter().flatten().any(is_held);
    let url = if has_held_url { held_url.clone() } else { code.origin_url().as_deref().map(resolved) };
    Ok(RepoMatch::of([url.as_deref(), held_url.as_deref()], shares))
}

/// Returns whether the clone has one of the entry's root commits.
///
/// # Errors
/// Returns an error if the clone cannot be read. One that lacks objects is not another repository.
pub fn has_a_root(code: &CodeRepo, held: &Repo) -> Result<bool, StoreError> {
    for root in &held.roots {
        if code.try_has(root)? {
            return Ok(true);
        }
    }
    code.require_alternates().map(|()| false)
}

/// Returns whether a clone is certainly of another repository than an entry: its whole history has none of the entry's
/// root commits, and its origin is not the recorded URL. If only the history was rewritten, the origin still is that
/// URL.
///
/// # Errors
/// Returns an error if the clone cannot be read.
pub fn is_another(code: &CodeRepo, held: &Repo) -> Result<bool, StoreError> {
    let is_unknown = held.roots.is_empty() || code.is_shallow()? || code.head()?.commit.is_none();
    Ok(!is_unknown && !has_a_root(code, held)? && !has_url(code, held))
}

/// Checks that a clone may write as the current repository: the user joined it, and the realm still
/// has the same repository under the name.
///
/// # Errors
/// Returns the reason if it may not.
pub fn require(home: &Home, code: &CodeRepo, acting: ActingRepo<'_>) -> Result<(), OpError> {
    let ActingRepo { realm, repo, .. } = acting;
    let joined = joined::read(home, code)?;
    if let Some(joined) = joined.as_ref().filter(|joined| !joined.is_of(realm, repo)) {
        return Err(joined_as_other_error(joined, acting));
    }
    let Some(held) = entry(acting)? else {
        let is_in_head = || code.head().ok()?.commit.and_then(|head| config::proposed_at(code, &head).ok().flatten());
        let is_deleted = code.workdir().is_some_and(|root| !root.join(CONFIG).exists());
        if joined.is_none() && is_deleted && is_in_head().is_some() {
            let message = format!("{repo} left the realm {realm}; the removal of {CONFIG} is not committed yet");
            let commit = format!("git add --all :/{CONFIG} && git commit -m \"Leave the realm {realm}\"");
            return Err(OpError::no(ErrorCode::NotJoined, message).next(commit));
        }
        let message = format!("{repo} is not in the realm {realm}");
        return Err(OpError::no(ErrorCode::NotJoined, message).next("git blue init"));
    };
    match (match_repo(code, &held)?, joined) {
        // A clone that its user joined may have lost its name to another repository.
        (RepoMatch::Different, Some(_)) => {
            let error = wrong_repository_error(acting, code, &held);
            Err(match upstream(code, &held) {
                Some(remote) => error.next(swap_remotes(&remote, repo)),
                None if has_a_root(code, &held)? => error.next_all(moved(acting, code, &held)).next(WAY_BACK),
                None if has_url(code, &held) => error.next(REWRITTEN).next(WAY_BACK),
                None => match other_name(acting, code)? {
                    Some(name) => error.next(format!("git pull  # this repository is {name} in the realm now")),
                    None => error.next(WAY_BACK),
                },
            })
        }
        (RepoMatch::Different, None) => {
            let write = format!("to write, use a joined clone of {repo}: this clone can only read and check");
            let error = wrong_repository_error(acting, code, &held).next(write);
            Err(if has_url(code, &held) { error.next_all(record_elsewhere(code, &held)?) } else { error })
        }
        (_, None) => Err(joined::missing(acting)),
        (_, Some(_)) => Ok(()),
    }
}

/// Returns the error for a clone that is joined under a different name than the one it should write under.
pub fn joined_as_other_error(joined: &joined::Joined, acting: ActingRepo<'_>) -> OpError {
    let message = format!(
        "this clone joined the realm {} as {}, so it cannot write as {} of {}",
        joined.realm, joined.repo, acting.repo, acting.realm
    );
    let error = OpError::no(ErrorCode::JoinedAsOther, message);
    let proposed = acting.code.and_then(|code| locate::proposed(code).ok()?);
    let is_proposed = proposed.is_some_and(|config| config.realm.name == *acting.realm && config.repo == *acting.repo);
    let joined::Joined { realm, repo, .. } = joined;
    let is_gone = realm == acting.realm && joined::has_left(acting.store, repo).unwrap_or_default();
    match is_proposed {
        // A teammate renamed the repository, and committed the new name: this clone only has to join again.
        true if joined.is_renamed_to(acting) => {
            error.next(format!("git blue init  # {repo} was renamed to {}", acting.repo))
        }
        true if is_gone => error.next(format!("git blue init  # join as {}: {repo} left the realm", acting.repo)),
        true if is_under_new_name(acting).unwrap_or_default() => {
            error.next(format!("git blue init  # this repository is {} in the realm now", acting.repo))
        }
        true => error.next(format!("write the realm {realm} and repo: {repo} into {}", CONFIG)),
        false => error.next("unset GIT_BLUE_REPO GIT_BLUE_REALM"),
    }
}

/// Returns whether the acting name is that of this clone's repository in the realm, whose former name another repository
/// took.
fn is_under_new_name(acting: ActingRepo<'_>) -> Result<bool, OpError> {
    let (Some(code), Some(held)) = (acting.code, entry(acting)?) else { return Ok(false) };
    is_known_as(code, &held)
}

/// Returns the name under which the realm has the repository of this clone, if that is not the acting name: somebody
/// renamed it, and another repository took its former name.
fn other_name(acting: ActingRepo<'_>, code: &CodeRepo) -> Result<Option<RepoName>, OpError> {
    for (name, held) in read::repos(acting.store)?.repos {
        if name != *acting.repo && is_known_as(code, &held)? {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// Returns whether an entry of the realm is certainly that of this clone's repository.
///
/// # Errors
/// Returns an error if the clone cannot be read.
pub fn is_known_as(code: &CodeRepo, held: &Repo) -> Result<bool, OpError> {
    Ok(has_a_root(code, held)? && match_repo(code, held)? == RepoMatch::Same)
}

/// Checks that a joined clone may record its origin as the URL of the repository. If another of its remotes has the
/// recorded URL, the origin is a fork.
///
/// # Errors
/// Returns an error for a clone of a fork.
pub fn refuse_fork(acting: ActingRepo<'_>, code: &CodeRepo, held: &Repo) -> Result<(), OpError> {
    match upstream(code, held) {
        Some(remote) => {
            Err(wrong_repository_error(acting, code, held).next(swap_remotes(&remote, acting.repo)).next(format!(
                "git remote remove {}  # if the repository moved to origin's URL; then try \
                again",
                shell_word(&remote)
            )))
        }
        None => Ok(()),
    }
}

/// Returns the remote, other than origin, that has the URL of an entry.
fn upstream(code: &CodeRepo, held: &Repo) -> Option<String> {
    let held = held.url.as_deref()?;
    code.other_remotes().into_iter().find(|(_, url)| is_same(url, held)).map(|(name, _)| name)
}

/// Returns the command after which the clone of a fork is a clone of the repository.
fn swap_remotes(upstream: &str, repo: &RepoName) -> String {
    let upstream = shell_word(upstream);
    format!("git remote rename origin fork && git remote rename {upstream} origin  # to publish {repo} from this clone")
}

/// Returns the error for a clone of a different repository than the one that the realm has under the name.
pub fn wrong_repository_error(acting: ActingRepo<'_>, code: &CodeRepo, held: &Repo) -> OpError {
    let ActingRepo { realm, repo, .. } = acting;
    let message = format!(
        "the name {repo} belongs to another repository in the realm {realm}{}: {}",
        place(held),
        facts(code, held)
    );
    OpError::no(ErrorCode::WrongRepository, message)
}

/// Returns the steps for a joined clone whose URL is no longer the recorded one, the likely one first: the repository moved
/// to the recorded URL, or to the clone's own.
fn moved(acting: ActingRepo<'_>, code: &CodeRepo, held: &Repo) -> Vec<String> {
    let url = held.url.as_deref().filter(|url| accept(url).is_ok());
    let there = url.map(|url| format!("{} {}  # if the repository moved there", set_url(code), shell_word(url)));
    let mut steps: Vec<_> = there.into_iter().chain([MOVED.to_owned()]).collect();
    // This only orders the steps.
    if !was_at_this_url(acting, code).unwrap_or_default() {
        steps.reverse();
    }
    steps
}

/// Returns the step for a clone that reaches the same repository through another host.
pub fn same_path(code: &CodeRepo, held: &Repo) -> Option<String> {
    let (own, held) = (code.origin_url()?, held.url.as_deref().filter(|url| accept(url).is_ok())?);
    let reason = "if it is the same repository; git's url.<base>.insteadOf still lets you use an alias or mirror";
    RepoUrl::of(&own)
        .differs_only_in_host(&RepoUrl::of(held))
        .then(|| format!("{} {}  # {reason}", set_url(code), shell_word(held)))
}

fn set_url(code: &CodeRepo) -> String {
    format!("git remote set-url {}", shell_word(&code.origin()))
}

/// The maximum number of commits that are searched for a former URL.
const MAX_HISTORY: usize = 1_000;

/// Returns whether the realm once had the clone's URL as that of the repository.
fn was_at_this_url(acting: ActingRepo<'_>, code: &CodeRepo) -> Result<bool, StoreError> {
    let (store, own) = (acting.store, code.origin_url());
    let (Some(own), Some(tip)) = (own, store.tip(&StoreRef::Realm)?) else { return Ok(false) };
    let mut seen = BTreeSet::new();
    for commit in history::since(store, &tip, &[], MAX_HISTORY)? {
        let tree = store.commit(&commit)?.tree;
        let entry = read::lookup(store, &tree, layout::repo(acting.repo).as_str())?;
        if entry.is_some_and(|entry| seen.insert(entry.id))
            && let Some(held) = read::file::<Repo>(store, &StoreRef::Realm, &tree, &layout::repo(acting.repo))?
            && held.url.is_some_and(|url| is_same(&url, &own))
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the step with which a joined clone records how this clone differs from an entry: its URL, or its root commits.
///
/// # Errors
/// Returns an error if the clone cannot be read.
pub fn record_elsewhere(code: &CodeRepo, held: &Repo) -> Result<Option<String>, StoreError> {
    Ok(if has_a_root(code, held)? {
        Some(format!("{}, if it has moved to this URL", in_a_joined_clone(held)))
    } else if has_url(code, held) {
        Some(record_rewritten(held))
    } else {
        None
    })
}

/// Returns the step with which a joined clone records the root commits of a rewritten history.
pub fn record_rewritten(held: &Repo) -> String {
    format!("{} with the new history, if it was rewritten", in_a_joined_clone(held))
}

fn in_a_joined_clone(held: &Repo) -> String {
    format!("run git blue init and git blue sync in a joined clone of {}", held.name)
}

/// Returns whether origin has the URL of an entry.
fn has_url(code: &CodeRepo, held: &Repo) -> bool {
    code.origin_url().zip(held.url.as_deref()).is_some_and(|(own, held)| is_same(held, &own))
}

/// The command that records a new URL of the same repository.
const MOVED: &str = "git blue init  # if the repository moved to this URL: record it";

/// The command that records new root commits of the same repository.
const REWRITTEN: &str = "git blue init  # if the history was rewritten: record its root commits";

/// The command that gives a name back to its repository.
const WAY_BACK: &str = "git blue realm admin reclaim --reason \"…\"  # if the name belongs to this repository";

/// Returns the URL of an entry, in brackets.
pub fn place(held: &Repo) -> String {
    held.url.as_deref().map(|url| format!(" ({url})")).unwrap_or_default()
}

/// Returns how this clone differs from an entry, as part of a message.
pub fn facts(code: &CodeRepo, held: &Repo) -> String {
    match code.origin_url() {
        Some(_) if has_url(code, held) => {
            "this clone has the same origin, but none of its root commits; the history may have been rewritten"
                .to_owned()
        }
        Some(url) => format!("this clone's origin is {url}"),
        None => "this clone has no origin, and shares no root commit with it".to_owned(),
    }
}

/// Returns the current entry of a clone: its root commits and its URL.
///
/// # Errors
/// Returns an error if its history cannot be read.
pub fn of(code: &CodeRepo, name: &RepoName) -> Result<Repo, OpError> {
    let roots = code.head()?.commit.map(|tip| code.roots(&tip)).transpose()?.unwrap_or_default();
    Ok(Repo { name: name.clone(), url: code.origin_url(), roots })
}

/// Merges the facts of a clone of the same repository into an entry. Roots are added and never removed, since a shallow
/// or empty clone has fewer. A URL is added if there is none, unless it is a path on this machine, which is useless to
/// others.
pub fn with_facts(held: &Repo, now: &Repo) -> Repo {
    let mut roots = held.roots.clone();
    roots.extend(now.roots.iter().filter(|root| !held.roots.contains(root)));
    let url = held.url.clone().or_else(|| now.url.clone().filter(|url| RepoUrl::of(url).is_on_a_host()));
    Repo { url, roots, ..held.clone() }
}
