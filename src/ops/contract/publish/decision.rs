//! Decides about one domain, and writes the decision.

use super::{lineage::Lineage, refused::refused, source, work::Work};
use crate::{
    error::OpError,
    model::{
        candidate::Judged,
        change::DomainChange,
        domain::Source,
        domain_view::DomainView,
        name::DomainName,
        oid::Oid,
        publish::{self, Decision, Direction, Refusal},
        verdict::Judge,
    },
    ops::{
        domain::{self, Decider},
        message::Message,
        publish::{
            changed_by::{self, ChangedBy},
            published,
        },
    },
    wire::Published,
};

impl Work<'_> {
    pub fn decide(&self, view: &DomainView, lineage: Lineage) -> Result<Decision, Vec<Refusal>> {
        let judged = Judged { repo: self.acting.repo, candidate: self.candidate };
        let mut decision = publish::candidate(view, judged, self.direction, self.ctx.env.now(), self.judge)?;
        // A commit that changes nothing in this domain is not recorded, since most commits are like that. One that
        // replaces the published commit is recorded, because no other clone has the replaced commit.
        let is_to_record = self.is_to_record(view);
        let changed = !decision.changes.is_empty() || is_to_record || lineage == Lineage::Replaced;
        if changed && view.info.has_member(self.acting.repo) {
            let source = Source::of(*self.commit);
            if view.sources.get(self.acting.repo) != Some(&source) {
                decision.changes.push(DomainChange::Source(self.acting.repo.clone(), source));
            }
        }
        Ok(decision)
    }

    /// Writes a decision. If the domain has changed since, decides again and replaces `effects`.
    pub fn execute(
        &self,
        name: &DomainName,
        reason: Option<&str>,
        decision: (Oid, Decision),
        effects: &mut DecisionEffects,
    ) -> Result<(), OpError> {
        let changed_by = self.changed_by(name, &decision)?;
        let (repo, source) = (Some(self.acting.repo), Some(self.commit));
        let why = Message { repo, source, reason, changed_by, ..Message::default() };
        let mut decide = |view: &DomainView| {
            let lineage = self.require_successor(view)?;
            // Other domains of this commit may be written already.
            let effect = format!("nothing was published in {name}");
            let decision = self
                .decide(view, lineage)
                .map_err(|refusals| refused(self.code, self.commit, self.candidate, refusals, &effect))?;
            *effects = DecisionEffects::of(view, &decision, self.judge);
            Ok(decision)
        };
        // The branch may have been reset while this process waited for the lock.
        let decider = Decider { confirm: &|| self.require_on_branch(name), decide: &mut decide };
        self.with_part(name, |part| domain::execute(self.ctx, self.store(), name, (part, why), decision, decider))
            .map(drop)
    }

    /// Returns who made the changes to a domain, as it was at `tip`. A rollback is made by the one who publishes it.
    fn changed_by(&self, name: &DomainName, (tip, decision): &(Oid, Decision)) -> Result<Option<ChangedBy>, OpError> {
        if self.direction == Direction::Rollback {
            return Ok(None);
        }
        let published = source(self.acting, name, tip)?.and_then(|source| source.commit);
        changed_by::of(self.code, self.commit, (name, published), self.candidate, &decision.changes)
    }
}

/// The consequences of a decision, computed while the domain that it was made for is still loaded.
#[derive(Default)]
pub struct DecisionEffects {
    /// True if anything will be written.
    pub is_change: bool,
    pub published: Vec<Published>,
}

impl DecisionEffects {
    pub fn of(view: &DomainView, decision: &Decision, judge: &Judge<'_>) -> Self {
        let after = publish::overlay(view, &decision.changes);
        let published = decision.events.iter().map(|event| published::describe((view, &after), event, judge)).collect();
        Self { is_change: !decision.changes.is_empty(), published }
    }
}
