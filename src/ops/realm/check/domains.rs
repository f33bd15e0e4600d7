//! Judges the domains of a realm, with the documents that the judged files need.

use std::sync::Arc;

use super::unread;
use crate::{
    error::OpError,
    model::{
        candidate::Judged,
        check::{Check, Examination, PublishedDomain, Report, UnreadFiles},
        domain_summary::DomainSummary,
        domain_view::{Damage, DomainView, Subject},
        verdict::{Judge, States},
    },
    ops::{
        contract::verdict::{self, Upcoming},
        ctx::Ctx,
        domain,
        repos::ephemeral_realm::SnapshotSource,
    },
    repo::blue_files::Files,
    store::{
        Store, StoreError, StoreRef, layout,
        overview::{Line, Overview, Schemas},
        read,
    },
};

/// What the domains are judged with.
pub(super) struct Work<'a> {
    pub ctx: &'a Ctx,
    pub store: &'a dyn Store,
    pub overview: &'a Overview<'a>,
    /// The files of the first of `judged`, which may leave some of them unread.
    pub files: Option<&'a Files<'a>>,
    /// The files to judge.
    pub judged: &'a [Judged<'a>],
    pub judge: &'a Judge<'a>,
    /// The place that the realm was fetched from, if it was fetched without its history.
    pub snapshot: Option<&'a SnapshotSource>,
}

/// Judges the domains. Most have not changed since they were examined. Of these, only the documents are read that the judged
/// files need.
pub(super) fn judge(work: &Work<'_>, mut check: Check<'_>) -> Result<Report, OpError> {
    let Work { ctx, overview, judged, .. } = *work;
    let (store, progress) = (work.store, ctx.progress());
    progress.expect(overview.domains().len());
    let with_concern = |one: &Damage| (one.clone(), is_concerned(one, judged));
    let mut damage: Vec<_> = overview.damage().iter().map(with_concern).collect();
    let mut examining = overview.examining();
    for line in overview.domains() {
        progress.check()?;
        progress.step();
        match Content::read(work, line, &check) {
            Ok(content) => {
                let states = content.states(work, line)?;
                // The examination of a cancelled request is not whole.
                progress.check()?;
                let Content { summary, examination, is_new, part } = content;
                if is_new && examination.is_clean(&summary.damage, &states) {
                    examining.add(line, &examination.schema_hashes);
                }
                let published = PublishedDomain { summary: &summary, examination, states };
                match part {
                    None => check.published(published),
                    Some(mut part) => {
                        load_compared(work, line, &mut part, &check)?;
                        check.with_candidate(published, &part, |after| compare_unread(work, line, after))?;
                    }
                }
            }
            Err(error) if error.is_damage() => {
                let file = StoreRef::Domain(line.name.clone()).to_string();
                // A repository that published here and no longer has any files is judged too.
                let has_published = judged.iter().any(|judged| line.sources.contains_key(judged.repo));
                let takes_part = judged.iter().any(|judged| line.repos.contains(judged.repo));
                let subject = Subject::Domain(line.name.clone());
                let one = Damage { file, subject, problem: error.to_string() };
                damage.push((one, has_published || takes_part || check.is_judged(&line.name)));
            }
            Err(error) => return Err(error.into()),
        }
    }
    progress.check()?;
    examining.keep();
    Ok(check.finish(&damage, &read::names_taken_twice(store, overview.repos())?, &read::set_aside(store)?))
}

/// Compares the unread files of a domain. Only the first of the judged repositories may have some.
fn compare_unread(work: &Work<'_>, line: &Line, part: &DomainView) -> Result<UnreadFiles, OpError> {
    let Work { ctx, store, files, judged, judge, .. } = *work;
    match (files, judged.first()) {
        (Some(files), Some(judged)) => unread::compare((store, line), part, (files, *judged), (judge, &ctx.progress())),
        _ => Ok(UnreadFiles::default()),
    }
}

/// The parts of a domain that are read.
struct Content {
    summary: Arc<DomainSummary>,
    examination: Examination,
    /// Whether the domain was examined just now. If not, an earlier examination found nothing.
    is_new: bool,
    /// The contracts that the judged files need.
    part: Option<DomainView>,
}

impl Content {
    fn read(work: &Work<'_>, line: &Line, check: &Check<'_>) -> Result<Self, StoreError> {
        let Work { overview, judge, store, .. } = *work;
        let part = check.needs_documents(&line.name);
        let part =
            part.then(|| read::contracts_at(store, &line.name, &line.tip, &check.contracts(&line.name))).transpose()?;
        if let Some(schemas) = schemas(overview, line, check.is_listed()) {
            let (summary, examination) = (overview.summary(line)?, Examination::clean(schemas));
            return Ok(Self { summary, examination, is_new: false, part });
        }
        // Only one document is in memory at a time.
        let mut examination = Examination::default();
        let summary = read::summary_with(store, &line.name, &line.tree, |contract, published, versions| {
            examination.add(contract, published, Some(versions), judge.values());
        })?;
        Ok(Self { summary: Arc::new(summary), examination, is_new: true, part })
    }

    /// Returns the states of the imports; none if they are cached, which is so only if every import provably holds.
    fn states(&self, work: &Work<'_>, line: &Line) -> Result<States, OpError> {
        if !self.is_new {
            return Ok(States::new());
        }
        verdict::states(work.store, &line.tree, &self.summary, None, work.judge)
    }
}

/// Reads the documents into a part of a domain that its contracts, and those of the judged files, are compared with.
fn load_compared(work: &Work<'_>, line: &Line, part: &mut DomainView, check: &Check<'_>) -> Result<(), OpError> {
    let Work { store, judged, .. } = *work;
    read::load_versions(store, part, &line.tree, &check.declared(&line.name))?;
    for one in judged {
        let Some(declared) = one.candidate.bindings.get(&line.name) else { continue };
        let former = |domain: &_| domain::former_imports(store, &line.tip, domain, (one.repo, &declared.document));
        let imports = match (former(part), work.snapshot) {
            (Err(StoreError::Missing { .. }), Some(snapshot)) => {
                snapshot.fetch_history(work.ctx, &line.name)?;
                // A mirror may lack the history, too.
                match former(part) {
                    Err(StoreError::Missing { .. }) => Vec::new(),
                    imports => imports?,
                }
            }
            (imports, _) => imports?,
        };
        part.former_imports.insert(one.repo.clone(), imports);
    }
    let upcoming = Upcoming::of(judged.iter().map(|judged| judged.candidate), &line.name);
    verdict::load_bases(store, part, &line.tree, Some(&check.contracts(&line.name)), &upcoming)
}

/// Returns whether a damaged file outside of the domains that were read concerns the judged repositories. The entry of
/// another repository does not, nor does a domain that their files do not mention. Returns true if this cannot be
/// determined.
fn is_concerned(damage: &Damage, judged: &[Judged<'_>]) -> bool {
    let (name, path) = damage.file.split_once(':').unwrap_or((&damage.file, ""));
    match StoreRef::parse_shared(name) {
        Some(StoreRef::Realm) => {
            !path.starts_with(layout::REPOS) || judged.iter().any(|judged| path == layout::repo(judged.repo).as_str())
        }
        Some(StoreRef::Domain(domain)) => judged.iter().any(|judged| judged.candidate.declares_in(&domain)),
        _ => true,
    }
}

/// Returns the hashes of a domain's schemas, if the domain was examined without findings. The hashes are read only if
/// they are `listed`.
fn schemas(overview: &Overview<'_>, line: &Line, listed: bool) -> Option<Schemas> {
    if listed { overview.schemas(line) } else { line.is_examined().then(Schemas::default) }
}
