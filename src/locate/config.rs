//! `.blue/config.yaml`: the realm and name that a repository proposes. They are only compared with the user's choice,
//! never used in its place.

use std::path::Path;

use super::url;
use crate::{
    error::{ErrorCode, OpError},
    machine::home::KnownRealm,
    model::{name::RealmName, oid::Oid, repo_url::without_credentials, text::shell_word},
    repo::{
        CodeRepo,
        blue_files::{FOLDER, FileSource, Files},
    },
    store::{
        EntryKind,
        codec::{self, Config, MAX_FILE, Problem, ProposedRealm},
        git::{GitStore, Options},
        history, read,
    },
};

/// The file that proposes a realm and a name to clones of the repository.
pub const CONFIG: &str = ".blue/config.yaml";

/// Checks that a repository does not propose another realm.
///
/// # Errors
/// Returns an error if it does.
pub fn same_realm(realm: &RealmName, proposed: Option<&Config>) -> Result<(), OpError> {
    match proposed.filter(|config| config.realm.name != *realm) {
        None => Ok(()),
        Some(config) => {
            let message = format!("{CONFIG} puts this repository into the realm {}, not {realm}", config.realm.name);
            Err(OpError::no(ErrorCode::OtherRealm, message)
                .next("git blue leave  # a repository can be in only one realm")
                .next(format!("or edit {CONFIG}, if this clone has not joined {}", config.realm.name)))
        }
    }
}

/// Compares the URL that a repository proposes with the one that the user recorded. A URL from before the user moved the
/// realm is accepted, since other branches and older commits still have it.
///
/// # Errors
/// Returns an error if it proposes another URL for the realm. The message contains both.
pub fn same_url(
    known: &KnownRealm,
    config: Option<&Config>,
    code: Option<&CodeRepo>,
    options: Options,
) -> Result<(), OpError> {
    let config = config.filter(|config| config.realm.name == known.name);
    let (Some(recorded), Some(config)) = (&known.url, config) else { return Ok(()) };
    let Some(proposed) = &config.realm.url else { return Ok(()) };
    let used = |url: &str| code.map_or_else(|| url.to_owned(), |code| code.rewritten(url));
    let is_same = |known: &String| url::is_same(known, proposed) || url::is_same(&used(known), &used(proposed));
    if is_same(recorded) || known.former_urls.iter().any(is_same) {
        return Ok(());
    }
    let realm = &known.name;
    let message = format!(
        "{CONFIG} says that the realm {realm} is shared at {proposed}, but this machine has \
        {recorded}"
    );
    let reseed = |url| format!("git blue realm admin reseed --url {}", shell_word(url));
    let move_there = |reason: &str| match url::accept(proposed) {
        Ok(_) => format!("{}  # {reason}", reseed(proposed)),
        Err(_) => not_accepted(),
    };
    let error = OpError::cannot(ErrorCode::OtherUrl, message);
    let has_followed = code.is_some_and(|code| has_proposed(code, recorded));
    let is_known = code.is_none_or(|code| has_repository(known, config, code, options));
    Err(match has_followed {
        _ if !is_known => error
            .next(keep_separate(proposed))
            .next(move_there("or move it, if it is at that URL, and you trust that URL")),
        true => error
            .next(move_there("if the realm has moved there, and you trust that URL"))
            .next(format!("or write url: {recorded} in {CONFIG}, if the realm is there")),
        false => error
            .next(format!("{}  # write that URL into {CONFIG}, if the realm has moved there", reseed(recorded)))
            .next(move_there("or move it, if it is at that URL, and you trust that URL")),
    })
}

/// Returns a message if the repository's configuration has another URL for its realm than the one that was typed. The
/// realm may have moved since.
pub fn shared_elsewhere(config: &Config, typed: &str) -> Option<String> {
    let proposed = config.realm.url.as_ref().filter(|proposed| url::accept(proposed).is_ok())?;
    let (realm, proposed, typed) = (&config.realm.name, without_credentials(proposed), without_credentials(typed));
    if url::is_same(&proposed, &typed) {
        return None;
    }
    Some(format!("{CONFIG} says that the realm {realm} is shared at {proposed}, not at {typed}"))
}

/// Refuses to join a realm that has no URL if the clone's configuration has a URL for its realm, unless the clone's
/// repository is in the realm: it may be a different realm with the same name.
///
/// # Errors
/// Returns the refusal.
pub fn refuse_namesake(
    known: &KnownRealm,
    proposed: Option<&Config>,
    code: &CodeRepo,
    options: Options,
) -> Result<(), OpError> {
    let url = unrecorded_url(known, proposed).zip(proposed);
    let Some((url, _)) = url.filter(|(_, config)| !has_repository(known, config, code, options)) else { return Ok(()) };
    let message = format!(
        "{CONFIG} says that the realm {} is shared at {url}, but the realm of that name on this machine has no URL and does \
         not contain this repository",
        known.name
    );
    Err(OpError::cannot(ErrorCode::OtherUrl, message)
        .next(format!("git blue init --url {}  # if it is the same realm", shell_word(&url)))
        .next(keep_separate(&url)))
}

fn keep_separate(url: &str) -> String {
    let reason = "if that is a different realm with this name: keep it separate";
    format!("GIT_BLUE_HOME=DIR git blue init --url {}  # {reason}", shell_word(url))
}

/// Returns whether this machine's realm has the clone's repository under the name that the clone
/// proposes. If not, the clone may belong to a different realm with the same name.
pub fn has_repository(known: &KnownRealm, config: &Config, code: &CodeRepo, options: Options) -> bool {
    let Ok(store) = GitStore::open(&known.path, options) else { return true };
    let Ok(repos) = read::repos(&store) else { return true };
    let has_root = |root: &Oid| code.try_has(root).unwrap_or(true);
    repos.repos.get(&config.repo).is_some_and(|held| {
        // A shallow clone has no roots to compare.
        held.roots.is_empty() || code.is_shallow().unwrap_or(true) || held.roots.iter().any(has_root)
    })
}

/// The maximum number of commits that are searched for an earlier URL.
const MAX_HISTORY: usize = 200;

/// Returns whether an earlier commit proposed the URL `wanted`, so that the current one is newer.
pub fn has_proposed(code: &CodeRepo, wanted: &str) -> bool {
    let Ok(Some(head)) = code.head().map(|head| head.commit) else { return false };
    let commits = history::since(code, &head, &[], MAX_HISTORY).unwrap_or_default();
    commits.iter().any(|commit| {
        let config = proposed_at(code, commit).ok().flatten();
        config.and_then(|config| config.realm.url).is_some_and(|held| url::is_same(&held, wanted))
    })
}

/// Returns the proposed URL of a realm for which this machine has not recorded one, if the URL is acceptable.
pub fn unrecorded_url(known: &KnownRealm, proposed: Option<&Config>) -> Option<String> {
    let proposed = proposed.filter(|config| config.realm.name == known.name && known.url.is_none());
    proposed.and_then(|config| config.realm.url.clone()).filter(|url| url::accept(url).is_ok())
}

/// Returns the URL of a realm that the user moved, if the repository still proposes the former one.
pub fn moved_url(known: &KnownRealm, proposed: Option<&Config>) -> Option<String> {
    if known.former_urls.is_empty() {
        return None;
    }
    let proposed = proposed.filter(|config| config.realm.name == known.name)?.realm.url.as_ref()?;
    let is_proposed = |url: &String| url::is_same(url, proposed);
    let url = known.url.as_ref().filter(|url| !is_proposed(url))?;
    known.former_urls.iter().any(is_proposed).then(|| url.clone())
}

/// Returns the step for a URL in `.blue/config.yaml` that no command accepts.
pub fn not_accepted() -> String {
    format!("the URL in {CONFIG} is not accepted: ask its author to correct it")
}

/// Returns the command that writes the recorded URL of a realm into `.blue/config.yaml`.
pub fn write_url(url: &str) -> String {
    format!("git blue realm admin reseed --url {}  # write that URL into {CONFIG}", shell_word(url))
}

/// Returns the command that records a URL.
pub fn record_url(url: &str) -> String {
    format!("git blue init --url {}  # also share it there, as {CONFIG} says, if you trust that URL", shell_word(url))
}

/// Returns the content of a repository's `.blue/config.yaml`, if any. Reads the working tree, or
/// HEAD if the file is not checked out because the repository is bare, sparse or empty.
///
/// # Errors
/// Returns an error if the file cannot be read, or is reached through a symbolic link.
pub fn proposed(code: &CodeRepo) -> Result<Option<Config>, OpError> {
    if let Some(root) = code.workdir()
        && file_without_links(&root)?
    {
        let path = root.join(CONFIG);
        let bytes = Files::on_disk(root).read(&FileSource::Path(path))?;
        return decode(bytes).map(Some);
    }
    match code.head()?.commit {
        Some(commit) => proposed_at(code, &commit),
        None => Ok(None),
    }
}

/// Returns the content of a commit's `.blue/config.yaml`, if it has one.
///
/// # Errors
/// Returns the errors of [`proposed`].
pub fn proposed_at(code: &CodeRepo, commit: &Oid) -> Result<Option<Config>, OpError> {
    let tree = code.tree_of(commit)?;
    let blob = match read::lookup(code, &tree, CONFIG)? {
        Some(entry) if entry.kind == EntryKind::Blob => entry.id,
        Some(_) => return Err(linked(CONFIG)),
        None => return Ok(None),
    };
    let bytes = Files::Commit(code, tree).read(&FileSource::Blob(blob))?;
    decode(bytes).map(Some)
}

fn decode(bytes: Option<Vec<u8>>) -> Result<Config, OpError> {
    let bytes = bytes.filter(|bytes| bytes.len() <= MAX_FILE);
    let bytes = bytes.ok_or_else(|| Problem::whole(format!("the file is larger than {} MiB", MAX_FILE >> 20)));
    let config = bytes.and_then(|bytes| codec::config(&bytes)).map_err(|problem| {
        let problem = problem.in_file(CONFIG);
        OpError::cannot(ErrorCode::UnreadableConfig, problem.to_string()).problem((&problem).into())
    })?;
    // A password that somebody committed is repeated nowhere, such as in the log of a CI job.
    let url = config.realm.url.as_deref().map(without_credentials);
    Ok(Config { realm: ProposedRealm { url, ..config.realm }, ..config })
}

/// Returns whether the file exists as a regular file in a folder, and neither is a symbolic link.
fn file_without_links(root: &Path) -> Result<bool, OpError> {
    for (path, is_wanted) in [(root.join(FOLDER), false), (root.join(CONFIG), true)] {
        match path.symlink_metadata() {
            Ok(meta) if is_wanted && meta.is_file() => return Ok(true),
            Ok(meta) if !is_wanted && meta.is_dir() => {}
            Ok(_) => return Err(linked(&path.display().to_string())),
            Err(_) => return Ok(false),
        }
    }
    Ok(false)
}

fn linked(path: &str) -> OpError {
    OpError::cannot(
        ErrorCode::NotARegularFile,
        format!("{path} is not a regular file; symbolic links are not followed"),
    )
}
