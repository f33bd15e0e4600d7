//! Reports refusals with the files and lines that cause them.

use std::fmt::Display;

use crate::{
    error::{ErrorCode, NextStep, OpError, Problem},
    model::{
        candidate::Candidate,
        oid::Oid,
        publish::{Reason, Refusal},
    },
    ops::publish::places,
    repo::{CodeRepo, blue_files::Files},
};

/// The effect of a problem that is found before anything is written.
pub(super) const NOTHING: &str = "nothing was published";

/// Returns the message for the problems that prevent a publication. It names the first one, because a hook's log shows
/// only this line, and the effect, because the other files of the commit are not published either.
pub(super) fn not_published<P: Display>(problems: &[P], effect: &str) -> String {
    match problems {
        [only] => format!("{only}; {effect}"),
        [first, more @ ..] => format!("{first} (and {} more); {effect}", more.len()),
        [] => effect.to_owned(),
    }
}

/// Returns the error for files that cannot be read.
pub(super) fn unreadable(candidate: &Candidate) -> OpError {
    let error = OpError::no(ErrorCode::UnreadableFile, not_published(&candidate.problems, NOTHING));
    candidate.problems.iter().fold(error, |error, problem| error.problem(Problem::from(problem)))
}

/// Returns an error with all refusals, each with its file, and their effect.
pub(super) fn refused(
    code: &CodeRepo,
    commit: &Oid,
    candidate: &Candidate,
    mut refusals: Vec<Refusal>,
    effect: &str,
) -> OpError {
    // All files of a repository that is not a member are refused for the same reason.
    refusals.dedup();
    let is_single = refusals.len() == 1;
    let mut error = OpError::no(ErrorCode::Refused, "");
    for mut refusal in refusals {
        refusal.version_in = version_in(code, commit, candidate, &refusal);
        let (file, line) = place(code, commit, candidate, &refusal);
        let of_file = file.as_deref().and_then(|file| refusal.remove_file(file));
        let of_file = of_file.or_else(|| refusal.rewrite_file(&candidate.up)).map(NextStep::from);
        let OpError { code, message, next_steps, .. } = OpError::from(refusal);
        let next_steps = of_file.map_or(next_steps, |step| vec![step]);
        let next_steps = match &file {
            Some(file) if !is_single => next_steps.into_iter().map(|step| in_file(file, step)).collect(),
            _ => next_steps,
        };
        let problem = Problem { code: code.into(), message, file, line, column: None };
        if is_single {
            error.code = code;
        }
        error = error.problem(problem);
        for step in next_steps {
            error = if error.next_steps.contains(&step) { error } else { error.next(step) };
        }
    }
    error.message = not_published(&error.problems, effect);
    error
}

/// Names the file in advice on what to write. Commands name the contract.
fn in_file(file: &str, step: NextStep) -> NextStep {
    match step {
        NextStep::Advice { reason, option: None } if !reason.contains(file) => {
            NextStep::advice(match reason.strip_prefix("or ") {
                Some(other) => format!("or, in {file}, {other}"),
                None => format!("in {file}, {reason}"),
            })
        }
        step => step,
    }
}

/// Returns the file that the version of a refused contract is read from, if that is a different file.
fn version_in(code: &CodeRepo, commit: &Oid, candidate: &Candidate, refusal: &Refusal) -> Option<String> {
    let at = (refusal.domain.clone(), refusal.contract.clone()?);
    let path = &candidate.contracts.get(&at)?.path;
    places::version_in(&Files::at(code, commit).ok()?, path)
}

/// Returns the file of a refusal and a line in it: that of the field that it is about, or that of the first error.
fn place(code: &CodeRepo, commit: &Oid, candidate: &Candidate, refusal: &Refusal) -> (Option<String>, Option<u32>) {
    let Some(contract) = &refusal.contract else {
        return (candidate.bindings.get(&refusal.domain).map(|declared| declared.path.clone()), None);
    };
    let declared = candidate.contracts.get(&(refusal.domain.clone(), contract.clone()));
    if let (Reason::Invalid(faults) | Reason::Undecided(faults), Some(declared)) = (&*refusal.reason, declared)
        && let (Some(fault), Ok(files)) = (faults.first(), Files::at(code, commit))
    {
        let (file, line) = places::place(&files, &declared.path, &fault.pointer);
        return (Some(file), line);
    }
    let line = declared.and_then(|declared| declared.lines.get(refusal.field()?).copied());
    (declared.map(|declared| declared.path.clone()), line)
}
