//! Judges the domains of a realm, with the documents that the judged files need.

use crate::{
    error::OpError,
    model::{
        candidate::Judged,
        check::{Check, Examination, Report},
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
    store::{
        Store, StoreError, StoreRef, layout,
        overview::{Line, Overview, Schemas},
        read,
    },
};

/// What is read of a domain.
enum Content {
    /// All documents, and the schema hashes if the domain was examined before without findings.
    Documents(DomainView, Option<Schemas>),
    /// The result of examining each document, of which only one is in memory at a time.
    Examined(Examination, DomainSummary),
}

/// What the domains are judged with.
pub(super) struct Work<'a> {
    pub ctx: &'a Ctx,
    pub overview: &'a Overview<'a>,
    /// The files to judge.
    pub judged: &'a [Judged<'a>],
    pub judge: &'a Judge<'a>,
    /// The place that the realm was fetched from, if it was fetched without its history.
    pub snapshot: Option<&'a SnapshotSource>,
}

/// Judges the domains. Most have not changed since they were examined; only the others, and those in which the candidate
/// has contracts or changes a binding, are read in full.
pub(super) fn judge(work: &Work<'_>, mut check: Check<'_>) -> Result<Report, OpError> {
    let Work { ctx, overview, judged, judge, .. } = *work;
    let (store, progress) = (&*ctx.realm()?.store, ctx.progress());
    progress.expect(overview.domains().len());
    let with_concern = |one: &Damage| (one.clone(), is_concerned(one, judged));
    let mut damage: Vec<_> = overview.damage().iter().map(with_concern).collect();
    let mut examining = overview.examining();
    for line in overview.domains() {
        progress.check()?;
        progress.step();
        let needs_documents = check.needs_documents(&line.name);
        let examined = schemas(overview, line, check.is_listed() || needs_documents);
        let content = match examined {
            // Schemas are cached only for domains in which every import provably holds.
            Some(schemas) if !needs_documents => {
                check.published(&*overview.summary(line)?, Examination::clean(schemas), &States::new());
                continue;
            }
            examined if needs_documents => {
                read::domain_at(store, &line.name, &line.tip).map(|domain| Content::Documents(domain, examined))
            }
            _ => examine(store, line, judge).map(|(examination, summary)| Content::Examined(examination, summary)),
        };
        match content {
            Ok(Content::Documents(mut domain, examined)) => {
                load_compared(work, line, &mut domain, &check)?;
                if let Some(schemas) = check.check_with_candidate(&domain, examined) {
                    examining.add(line, &schemas);
                }
            }
            Ok(Content::Examined(examination, summary)) => {
                let states = verdict::states(store, &line.tree, &summary, None, judge)?;
                // The examination of a cancelled request is not whole.
                progress.check()?;
                if examination.is_clean(&summary.damage, &states) {
                    examining.add(line, &examination.schema_hashes);
                }
                check.published(&summary, examination, &states);
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

/// Examines the contracts of a domain, one after the other.
fn examine(store: &dyn Store, line: &Line, judge: &Judge<'_>) -> Result<(Examination, DomainSummary), StoreError> {
    let mut examination = Examination::default();
    let summary = read::summary_with(store, &line.name, &line.tree, |contract, published, versions| {
        examination.add(contract, published, Some(versions), judge.values());
    })?;
    Ok((examination, summary))
}

/// Reads the documents into a domain that its contracts, and those of the judged files, are compared with.
fn load_compared(work: &Work<'_>, line: &Line, domain: &mut DomainView, check: &Check<'_>) -> Result<(), OpError> {
    let (store, judged) = (&*work.ctx.realm()?.store, work.judged);
    let mut declared = check.declared(&line.name);
    // The document of the current version is already loaded, with the published one if that differs.
    declared
        .retain(|(contract, version)| domain.contracts.get(contract).is_none_or(|current| current.version != *version));
    read::load_versions(store, domain, &line.tree, &declared)?;
    for one in judged {
        let Some(declared) = one.candidate.bindings.get(&line.name) else { continue };
        let former = |domain: &_| domain::former_imports(store, &line.tip, domain, (one.repo, &declared.document));
        let imports = match (former(domain), work.snapshot) {
            (Err(StoreError::Missing { .. }), Some(snapshot)) => {
                snapshot.fetch_history(work.ctx, &line.name)?;
                // A mirror may lack the history, too.
                match former(domain) {
                    Err(StoreError::Missing { .. }) => Vec::new(),
                    imports => imports?,
                }
            }
            (imports, _) => imports?,
        };
        domain.former_imports.insert(one.repo.clone(), imports);
    }
    let upcoming = Upcoming::of(judged.iter().map(|judged| judged.candidate), &line.name);
    verdict::load_bases(store, domain, &line.tree, None, &upcoming)
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
