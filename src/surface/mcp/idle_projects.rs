//! Remembers the projects in which nothing was pending for a reader. As long as the domains and inboxes of such a
//! project do not change, there is nothing to look for.

use std::sync::Mutex;

use super::open::Project;
use crate::{ops::inboxes::deliver::Tips, surface::locked::locked};

/// The maximum number of projects that are remembered.
const MAX: usize = 64;

/// The tips of the domains and inboxes of each project when nothing was pending.
#[derive(Debug, Default)]
pub struct IdleProjects(Mutex<Vec<(Project, Tips)>>);

impl IdleProjects {
    /// Returns whether nothing was pending in the project at these tips.
    pub fn is_unchanged(&self, project: &Project, tips: &Tips) -> bool {
        let known = locked(&self.0);
        known.iter().any(|(one, stood)| one == project && stood == tips)
    }

    /// Records that nothing is pending at these tips.
    pub fn record(&self, project: Project, tips: Tips) {
        let mut known = locked(&self.0);
        known.retain(|(one, _)| *one != project);
        let surplus = known.len().saturating_sub(MAX - 1);
        known.drain(..surplus);
        known.push((project, tips));
    }
}
