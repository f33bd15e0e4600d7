//! The findings of `doctor`, with their next steps.
use crate::{
    error::{NextStep, OpError},
    model::oid::Oid,
    wire::{DoctorCheck, Health},
};

/// The arguments.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Whether to repair what can be repaired without loss.
    pub fix: bool,
    /// A damaged ref of the realm, and the commit to reset it to.
    pub restore: Option<(String, Oid)>,
}

/// Returns a finding.
pub(crate) fn check(
    name: &'static str,
    subject: Option<&str>,
    state: Health,
    message: impl Into<String>,
) -> DoctorCheck {
    DoctorCheck {
        name: name.into(),
        subject: subject.map(str::to_owned),
        state,
        message: message.into(),
        fixed: false,
        next_step: None,
    }
}

/// Adds the first of `steps`, if there is one.
pub(crate) fn failed(check: DoctorCheck, steps: &[NextStep]) -> DoctorCheck {
    DoctorCheck { next_step: steps.first().cloned(), ..check }
}

/// Returns the finding that something could not be checked because of an error.
pub(crate) fn unchecked(name: &'static str, subject: Option<&str>, error: &OpError) -> DoctorCheck {
    failed(check(name, subject, Health::Error, error.message.clone()), &error.next_steps)
}

/// Marks the finding as repaired, or adds the error of the repair after `failure`.
pub(crate) fn repaired(found: DoctorCheck, repair: Result<(), impl std::fmt::Display>, failure: &str) -> DoctorCheck {
    match repair {
        Ok(()) => DoctorCheck { fixed: true, ..found },
        Err(error) => DoctorCheck { message: format!("{}{failure}: {error}", found.message), ..found },
    }
}

/// Adds a next step.
pub(crate) fn advise(check: DoctorCheck, step: impl Into<NextStep>) -> DoctorCheck {
    DoctorCheck { next_step: Some(step.into()), ..check }
}
