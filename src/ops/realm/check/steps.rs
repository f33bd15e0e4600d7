//! Next steps for the errors of a check, one for each kind of error.

use std::collections::BTreeSet;

use crate::{
    error::{NextStep, approve},
    model::{check::Finding, text::shell_word},
    ops::realm::check_subject::Subject,
    wire::RealmCheck,
};

/// The maximum number of steps.
const MAX_STEPS: usize = 5;

/// Returns the steps, in the order of the errors. `is_temporary` is whether the realm was fetched for this check only.
pub fn of_errors(body: &RealmCheck, subject: &Subject, is_temporary: bool) -> Vec<NextStep> {
    let mut kinds = BTreeSet::new();
    // Each contract needs its own bump; other steps handle all errors of their kind.
    let bumped = |error: &Finding| is_bumped(&error.code).then(|| (error.domain.clone(), error.contract.clone()));
    let firsts = body.errors.iter().filter(|error| kinds.insert((error.code.clone(), bumped(error))));
    let approvals = body.errors.iter().filter_map(|error| approval(body, error));
    let steps = firsts.flat_map(|error| match error.resolution.is_empty() {
        true => step(body, subject, error).into_iter().collect::<Vec<_>>(),
        false => error.resolution.iter().map(|step| step.as_str().into()).collect(),
    });
    let mut steps: Vec<_> = steps.chain(approvals).take(MAX_STEPS).collect();
    steps.dedup();
    if steps.is_empty() {
        steps.push(NextStep::advice("correct the errors, and check again"));
    }
    if is_temporary { steps.into_iter().map(in_a_joined_clone).collect() } else { steps }
}

/// Says where a step can be run: the commands need the realm, which a runner does not keep.
fn in_a_joined_clone(step: NextStep) -> NextStep {
    match step {
        NextStep::Command { command, reason } if command.starts_with("git blue ") => {
            NextStep::Command { command, reason: format!("{reason} (in a joined clone)") }
        }
        other => other,
    }
}

/// Returns the command that keeps the version of a change that breaks a promise.
fn approval(body: &RealmCheck, error: &Finding) -> Option<NextStep> {
    let is_own = error.repo.is_none() || error.repo == body.current_repo;
    let (domain, contract) = (error.domain.as_ref()?, error.contract.as_ref()?);
    let fingerprint = error.fingerprint.as_ref().filter(|_| is_own)?;
    Some(approve(&format!("{domain}/{contract}"), fingerprint))
}

/// Returns whether a new version resolves errors with this code.
fn is_bumped(code: &str) -> bool {
    matches!(code, "version-reused" | "version-down" | "breaks-promise")
}

fn step(body: &RealmCheck, subject: &Subject, error: &Finding) -> Option<NextStep> {
    let place = match (&error.file, error.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (Some(file), None) => file.clone(),
        (None, _) => "the binding".to_owned(),
    };
    let (domain, contract) = (error.domain.as_ref(), error.contract.as_ref());
    let is_own = error.repo.is_none() || error.repo == body.current_repo;
    match (&*error.code, domain, contract) {
        ("not-member", Some(domain), _) => {
            let repo = error.repo.as_ref().or(body.current_repo.as_ref())?;
            Some(format!("git blue realm admin domain --name {domain} --repos {repo}  # add it to the members").into())
        }
        ("only-pre-releases", Some(domain), Some(contract)) => error.version.as_ref().map(|version| {
            format!("git blue contract get {domain}/{contract} --version {version}  # see it, until it is released")
                .into()
        }),
        ("missing-contract", Some(domain), Some(contract)) => Some(
            format!("git blue contract list --domain {domain}  # list the names, then correct {contract} in {place}")
                .into(),
        ),
        ("import-broken", ..) if is_own => {
            Some(format!("git blue review  # {place}: show what changed, and which lines to review").into())
        }
        ("import-broken", Some(domain), Some(contract)) => {
            let judged = match subject {
                Subject::Head => " --commit HEAD".to_owned(),
                Subject::Commit(commit) => format!(" --commit {}", shell_word(commit)),
                Subject::Worktree => " --worktree".to_owned(),
                Subject::Published => String::new(),
            };
            Some(
                format!("git blue contract impact {domain}/{contract}{judged}  # show which consumers it breaks")
                    .into(),
            )
        }
        ("unknown-domain", Some(domain), _) => {
            let repo = body.current_repo.as_ref()?;
            let why = format!("create the domain of {place}, or rename its directory");
            Some(format!("git blue realm admin domain --name {domain} --repos {repo}  # {why}").into())
        }
        (code, Some(domain), Some(contract)) if is_own && is_bumped(code) => Some(
            format!("git blue contract bump {domain}/{contract}  # raise its version as the change requires").into(),
        ),
        ("damaged", ..) => Some("git blue doctor --fix  # restore what is missing, if possible".into()),
        (code, ..) => {
            error.file.as_ref().map(|_| NextStep::advice(format!("correct {place} ({code}), and check again")))
        }
    }
}
