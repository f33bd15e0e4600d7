//! Next steps of a check: for the errors, one for each kind of error.

use std::collections::BTreeSet;

use crate::{
    error::{NextStep, REPAIR, approve, choose_version, write_version},
    model::{
        check::{Cause, Finding},
        name::RepoName,
        text::{count, shell_word},
    },
    ops::{
        realm::{check::Request, check_subject::Subject},
        sync::auto,
    },
    repo::blue_files::{BINDINGS, CONTRACTS},
    store::Store,
    wire::{self, Answer, RealmCheck},
};

/// The maximum number of steps.
const MAX_STEPS: usize = 5;

/// Returns the answer with its next steps. `first` returns the one that creates the first contract, `nothing` is about a
/// repository without files, and `fetch` gets the missing base.
pub fn answer(
    store: &dyn Store,
    body: RealmCheck,
    (first, nothing, fetch): (impl FnOnce() -> String, &str, Option<String>),
    request: &Request,
) -> Answer<RealmCheck> {
    let is_new = body.errors.iter().any(|error| error.code == "nothing-to-check");
    let says_nothing = body.files == Some(0);
    let (valid, has_errors) = (body.valid, !body.errors.is_empty());
    let by_range = body.imports_by_range;
    let scripts = running_scripts(&body, request);
    let fetch = fetch.map(|step| {
        format!(
            "{step}  # this clone lacks the base, so problems that already existed \
        count as errors"
        )
    });
    let answer = Answer::new(body);
    if is_new {
        return answer.next(first());
    }
    let answer = answer.next_if(says_nothing, nothing).next_all(scripts).next_all(fetch);
    match (valid, has_errors) {
        (true, _) => answer.next_all(by_range_only(by_range)),
        (false, true) => {
            let is_temporary = request.snapshot.is_some();
            let sync = (!is_temporary).then(|| sync(store, &answer.body)).flatten();
            let steps = of_errors(&answer.body, &request.subject, is_temporary);
            answer.next_all(sync).next_all(steps)
        }
        (false, false) => answer.next("fix the warnings: --strict fails on them"),
    }
}

/// Returns the step that gets a missing domain or membership, if another machine may have made it.
fn sync(store: &dyn Store, body: &RealmCheck) -> Option<String> {
    body.errors.iter().find_map(|error| match &*error.code {
        "unknown-domain" => auto::sync_first(store, "created"),
        "not-member" => auto::sync_first(store, "added"),
        _ => None,
    })
}

/// Returns the step that also runs the scripts, if some were not run and the same check can run them.
fn running_scripts(body: &RealmCheck, request: &Request) -> Option<&'static str> {
    if request.snapshot.is_some()
        || matches!(request.subject, Subject::Worktree | Subject::Staged)
        || body.scripts.iter().all(|one| one.outcome != wire::ScriptOutcome::NotRun)
    {
        return None;
    }
    Some(match body.read_only {
        None => "git blue check --run-scripts  # also run the scripts",
        Some(_) => "git blue check --run-scripts  # also run the scripts; needs CI=true",
    })
}

/// Returns a next step if some imports were judged only by their ranges.
fn by_range_only(imports: usize) -> Option<NextStep> {
    let what = match imports {
        0 => return None,
        1 => "1 import is judged by its version range".to_owned(),
        n => format!("{n} imports are judged by their version ranges"),
    };
    Some(NextStep::advice(format!("{what} only: there is no schema to compare, or the adapted version is unknown")))
}

/// The note of a check on a repository that declares nothing.
pub const NO_FILES: &str =
    "nothing in this repository was checked: it has no files under .blue/contracts or .blue/bindings";
/// The step if the files to check are not in HEAD.
pub const UNCOMMITTED: &str = "git blue check --worktree  # the files under .blue are not committed yet";

/// The next step of answers with conflicts. It shows those of every domain, since others see them too.
pub const SHOW_CONFLICTS: &str = "git blue check --all  # show the conflicts, and how to resolve them";

/// Returns the command that checks a repository, or what is published if there is none.
pub fn command(repo: Option<&RepoName>) -> &'static str {
    if repo.is_some() { "git blue check" } else { "git blue check --published" }
}

/// Returns the steps, in the order of the errors. `is_temporary` is whether the realm was fetched for this check only.
fn of_errors(body: &RealmCheck, subject: &Subject, is_temporary: bool) -> Vec<NextStep> {
    let mut kinds = BTreeSet::new();
    // Each contract needs its own bump; other steps handle all errors of their kind, unless an error has its own.
    let bumped = |error: &Finding| is_bumped(&error.code).then(|| (error.domain.clone(), error.contract.clone()));
    let kind = |error: &Finding| (error.code.clone(), is_misnamed(error), bumped(error), error.resolution.clone());
    let firsts = body.errors.iter().filter(|error| kinds.insert(kind(error)));
    let approvals = body.errors.iter().filter_map(|error| approval(body, error));
    let steps = firsts.flat_map(|error| {
        if error.resolution.is_empty() {
            step(body, subject, error).into_iter().collect::<Vec<_>>()
        } else {
            error.resolution.iter().map(|step| step.as_str().into()).collect()
        }
    });
    let mut steps: Vec<_> = steps.chain(approvals).take(MAX_STEPS).collect();
    steps.dedup();
    if steps.is_empty() {
        steps.push(NextStep::advice("correct the errors, and check again"));
    }
    let is_refused =
        |step: &NextStep| is_temporary || (body.read_only.is_some() && step.command().is_some_and(writes_to_the_realm));
    steps.into_iter().map(|step| if is_refused(&step) { in_a_joined_clone(step) } else { step }).collect()
}

/// Returns whether a step is refused in a read-only clone.
fn writes_to_the_realm(command: &str) -> bool {
    ["git blue contract approve ", "git blue contract retire ", "git blue realm "]
        .iter()
        .any(|start| command.starts_with(start))
}

/// Adds where to run a step: its command needs the realm, which a CI runner does not keep.
fn in_a_joined_clone(step: NextStep) -> NextStep {
    match step {
        NextStep::Command { command, reason } if command.starts_with("git blue ") => {
            NextStep::Command { command, reason: format!("{reason} (in a joined clone)") }
        }
        other => other,
    }
}

/// Returns whether an error is about this repository or the realm, not about another repository or its branch.
fn is_own(body: &RealmCheck, error: &Finding) -> bool {
    error.file_repo.is_none() && (error.repo.is_none() || error.repo == body.current_repo)
}

/// Returns the command that keeps the version of a change that breaks a promise.
fn approval(body: &RealmCheck, error: &Finding) -> Option<NextStep> {
    let (domain, contract) = (error.domain.as_ref()?, error.contract.as_ref()?);
    // If an error already says how to resolve it, approving a break may not help.
    let fingerprint = error.fingerprint.as_ref().filter(|_| is_own(body, error) && error.resolution.is_empty())?;
    Some(approve(&format!("{domain}/{contract}"), fingerprint))
}

/// Returns whether a new version resolves errors with this code.
fn is_bumped(code: &str) -> bool {
    matches!(code, "version-reused" | "version-down" | "breaks-promise")
}

/// Returns whether an error is in the file of a contract.
fn is_in_contract(error: &Finding) -> bool {
    error.file.as_ref().is_some_and(|file| file.starts_with(CONTRACTS))
}

/// Returns whether an error is about the name of a file, so that no content corrects it.
fn is_misnamed(error: &Finding) -> bool {
    let name = error.file.as_ref().and_then(|file| file.strip_prefix(CONTRACTS));
    error.code == "unreadable-file" && name.is_some() && error.contract.is_none()
}

/// Counts the other files that have an error like this one.
fn and_others(body: &RealmCheck, error: &Finding) -> String {
    let is_like = |other: &&Finding| other.code == error.code && is_misnamed(other) == is_misnamed(error);
    let files: BTreeSet<_> = body.errors.iter().filter(is_like).map(|other| (&other.file_repo, &other.file)).collect();
    match files.len().saturating_sub(1) {
        0 => String::new(),
        others => format!(" and {}", count(others, "other file", "other files")),
    }
}

fn step(body: &RealmCheck, subject: &Subject, error: &Finding) -> Option<NextStep> {
    let place = match (&error.file, error.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (Some(file), None) => file.clone(),
        (None, _) => "the binding".to_owned(),
    };
    let place = error.file_repo.iter().fold(place, |place, repo| format!("{place} of {repo}"));
    let (domain, contract) = (error.domain.as_ref(), error.contract.as_ref());
    let is_own = is_own(body, error);
    match (&*error.code, domain, contract) {
        ("not-member", Some(domain), _) => {
            let repo = error.repo.as_ref().or(body.current_repo.as_ref())?;
            Some(format!("git blue realm admin domain --name {domain} --repos {repo}  # add it to the members").into())
        }
        ("only-pre-releases", Some(domain), Some(contract)) => error.version.as_ref().map(|version| {
            format!("git blue contract get {domain}/{contract} --version {version}  # show the pre-release").into()
        }),
        ("missing-contract", Some(domain), Some(contract)) => Some(
            format!("git blue contract list --domain {domain}  # list the names, then correct {contract} in {place}")
                .into(),
        ),
        ("not-owner", Some(domain), Some(contract)) if is_own && place.starts_with(BINDINGS) => {
            Some(format!("git blue unexport {domain}/{contract}  # remove it from {place}").into())
        }
        // `review` is about what is published, which does not have the files of this change yet.
        ("import-broken", ..) if is_own && error.caused_by == Cause::ThisChange => {
            Some(NextStep::advice(format!("correct the range or the expectations in {place}, or adapt the code first")))
        }
        ("import-broken", ..) if is_own => {
            Some(format!("git blue review  # {place}: show what changed, and which lines to review").into())
        }
        // Another repository's branch breaks it, and only that repository has the commit.
        ("import-broken", Some(domain), Some(contract)) if error.file_repo.is_some() && is_in_contract(error) => {
            let (repo, rfc) = (error.file_repo.as_ref()?, body.rfc.as_ref()?);
            let impact = format!("git blue contract impact {domain}/{contract} --commit {rfc}");
            Some(format!("{impact}  # in {repo}: show which consumers it breaks").into())
        }
        ("import-broken", Some(domain), Some(contract)) => {
            let judged = match subject {
                // The checked files may not have the contract, and did not break the import.
                _ if error.caused_by != Cause::ThisChange => String::new(),
                Subject::Head => " --commit HEAD".to_owned(),
                Subject::Commit(commit) => format!(" --commit {}", shell_word(commit)),
                Subject::Worktree | Subject::Staged => " --worktree".to_owned(),
                Subject::Published => String::new(),
            };
            Some(
                format!("git blue contract impact {domain}/{contract}{judged}  # show which consumers it breaks")
                    .into(),
            )
        }
        ("unknown-domain", Some(domain), _) => {
            let repo = error.file_repo.as_ref().or(body.current_repo.as_ref())?;
            let is_binding = error.file.as_ref().is_some_and(|file| file.starts_with(BINDINGS));
            let named = if is_binding { "the file" } else { "its directory" };
            let why = format!("create the domain of {place}, or rename {named}");
            Some(format!("git blue realm admin domain --name {domain} --repos {repo}  # {why}").into())
        }
        (code, Some(domain), Some(contract)) if is_own && is_bumped(code) => {
            Some(match (&error.version_in, &error.bump) {
                (file, Some(bump)) if file.is_some() || bump.is_prerelease() => {
                    NextStep::advice(format!("{}, and commit", write_version(bump, file.as_deref())))
                }
                _ => format!("git blue contract bump {domain}/{contract}  # raise its version as the change requires")
                    .into(),
            })
        }
        ("undecided", ..) if is_own && error.bump.is_some() => {
            let (major, minor) = (error.bump.as_ref()?, error.version.as_ref()?);
            Some(NextStep::advice(choose_version(major, minor, error.version_in.as_deref())))
        }
        ("script-failed", ..) => {
            Some(NextStep::advice(format!("correct the contract, or the script that {place} names, and check again")))
        }
        ("damaged", ..) => Some(REPAIR.into()),
        _ if is_misnamed(error) => {
            Some(NextStep::advice(format!("rename or remove {place}{}, and check again", and_others(body, error))))
        }
        (code, ..) => error
            .file
            .as_ref()
            .map(|_| NextStep::advice(format!("correct {place} ({code}){}, and check again", and_others(body, error)))),
    }
}
