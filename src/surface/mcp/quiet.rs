//! Where nothing was pending for a reader: while a realm stands like that, looking again finds nothing
//! either.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use super::open::Project;
use crate::{ops::tell::Tips, surface::memory::Begun};

/// How long a realm that stood still is believed to be as it was, without a look at its refs.
const AGE: Duration = Duration::from_secs(1);

/// Per project, how the realm stood when nothing was pending.
#[derive(Debug, Default)]
pub struct Quiet(Mutex<Vec<Calm>>);

#[derive(Debug)]
struct Calm {
    project: Project,
    /// The domains and, behind them, the inboxes.
    tips: Tips,
    /// How the realm stood when the domains were last found like that, and when that was.
    stood: Option<(Begun, Instant)>,
}

impl Quiet {
    /// Returns whether nothing has moved since nothing was pending, without a look at the domains: a realm
    /// has many.
    pub fn lasts(&self, project: &Project, stands: Option<&Begun>, inboxes: &Tips) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().filter(|calm| calm.project == *project && calm.tips.ends_with(inboxes)).any(|calm| {
            calm.stood.as_ref().is_some_and(|(stood, since)| stands == Some(stood) && since.elapsed() < AGE)
        })
    }

    /// Returns whether nothing has moved since nothing was pending. The realm stood like that before the
    /// tips were read.
    pub fn is(&self, project: &Project, stands: Option<Begun>, tips: &Tips) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(calm) = known.iter_mut().find(|calm| calm.project == *project && calm.tips == *tips) else {
            return false;
        };
        calm.stood = stands.map(|stood| (stood, Instant::now()));
        true
    }

    /// Notes that nothing is pending where the realm stands like that.
    pub fn set(&self, project: Project, tips: Tips) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|calm| calm.project != project);
        known.push(Calm { project, tips, stood: None });
    }
}
