//! The error for a realm that this machine does not have, with the command to run in this situation, and for a
//! repository that a realm does not have.

use super::{
    config::{CONFIG, not_accepted},
    url,
};
use crate::{
    env::Env,
    error::{ErrorCode, OpError},
    machine::home::Home,
    model::{
        name::{RealmName, RepoName},
        nearest,
        text::{comma_separated_at_most, shell_word},
    },
    store::codec::Config,
};

/// The maximum number of repositories that the error for an unknown one lists.
const MAX_REPOS: usize = 20;
/// The minimum length of a name that is checked for typos.
const MIN_LEN: usize = 5;

/// Returns the error for a repository that a realm does not have.
pub fn repo<'a>(realm: &RealmName, repo: &RepoName, known: impl Iterator<Item = &'a RepoName> + Clone) -> OpError {
    let question = nearest::did_you_mean(repo, known.clone());
    let error =
        OpError::cannot(ErrorCode::UnknownRepo, format!("the realm {realm} has no repository {repo}{question}"));
    match known.clone().next() {
        Some(_) => error.next(format!("known repositories: {}", comma_separated_at_most(MAX_REPOS, known))),
        None => error,
    }
}

/// Returns the error for a realm that this machine does not have. `proposed` is the repository's proposal, which is
/// only shown. `in_ci` is the command to suggest in CI, where nothing is kept.
pub fn error(in_ci: Option<&str>, home: &Home, realm: &RealmName, proposed: Option<&Config>) -> OpError {
    let proposal = proposed.filter(|config| config.realm.name == *realm);
    let url = proposal.and_then(|config| config.realm.url.as_deref());
    let shared = url.map(|url| format!(" (shared at {url}, according to {CONFIG})")).unwrap_or_default();
    let known = known(home);
    let meant = if url.is_some() { None } else { similar_realm(realm, &known) };
    let question = meant.map(|name| format!(" (did you mean {name}?)")).unwrap_or_default();
    let error = OpError::cannot(
        ErrorCode::UnknownRealm,
        format!("the realm {realm}{shared} is not known on this machine{question}"),
    );
    // The record of the realm was lost, but not its content.
    let is_kept = in_ci.is_none() && home.default_store(realm).exists();
    let error = error.next_if(is_kept, format!("git blue init --realm {realm}  # use its store, which is still here"));
    match (url.filter(|url| url::accept(url).is_ok()), proposal, in_ci) {
        (Some(url), _, Some(command)) => error
            .next(format!("git blue {command} --realm-url {}  # in CI: store nothing here", shell_word(url)))
            .next(init_from_url(url)),
        (Some(url), ..) => error.next(init_from_url(url)),
        (None, Some(_), _) if url.is_some() => error.next(not_accepted()),
        (None, _, Some(command)) => {
            error.next(format!("git blue {command} --realm-url URL  # in CI: give the URL of the realm"))
        }
        (None, Some(_), _) if meant.is_none() => error
            .next("git blue init --url URL  # fetch it: ask the person who joined this repository for the URL")
            .next_if(!is_kept, format!("git blue init --realm {realm}  # or create it, if it does not exist yet")),
        _ => with_known(error, realm, &known, meant.is_some()),
    }
}

fn init_from_url(url: &str) -> String {
    format!("git blue init --url {}  # fetch it, if you trust that URL", shell_word(url))
}

fn with_known(error: OpError, realm: &RealmName, known: &[RealmName], has_meant: bool) -> OpError {
    let names: Vec<_> = known.iter().map(ToString::to_string).collect();
    if names.is_empty() {
        error.next(format!("git blue init --realm {realm}  # create it"))
    } else if has_meant {
        error
    } else {
        error.next(format!("known realms: {}", names.join(", ")))
    }
}

/// Returns the realms of this machine.
pub fn known(home: &Home) -> Vec<RealmName> {
    home.realms().unwrap_or_default().into_iter().map(|known| known.name).collect()
}

/// Returns the realm that `realm` may be a typo of, if there is one.
pub fn similar_realm<'a>(realm: &RealmName, known: &'a [RealmName]) -> Option<&'a RealmName> {
    if realm.as_str().len() < MIN_LEN { None } else { nearest::nearest(realm, known) }
}

/// The commands that take `--realm-url`, besides `check`.
const WITH_URL: [&[&str]; 2] = [&["contract", "publish"], &["notify", "forge"]];

/// Returns the command to suggest in CI: the one that is running, if it takes the URL of a realm, or else `check`.
/// Returns `None` outside of CI.
pub fn ci_command(env: &Env) -> Option<String> {
    let command = Some(env.command()).filter(|command| WITH_URL.contains(command)).unwrap_or(&["check"]);
    is_ci(env).then(|| command.join(" "))
}

/// The values of `CI` outside of CI, in any case.
const NO_CI: [&str; 5] = ["", "0", "false", "no", "off"];

/// Returns whether this runs in CI, where no state is kept.
pub fn is_ci(env: &Env) -> bool {
    env.text("CI").is_some_and(|value| !NO_CI.iter().any(|no| value.eq_ignore_ascii_case(no)))
}
