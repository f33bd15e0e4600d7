//! Judges the domains of a realm together with candidates.

use crate::{
    error::OpError,
    model::{
        candidate::Judged,
        check::{Check, Examination, Report},
        domain_summary::DomainSummary,
        domain_view::{self, Damage},
        verdict::{Judge, States},
    },
    ops::{
        contract::verdict::{self, Upcoming},
        ctx::Ctx,
        domain,
    },
    store::{
        StoreError, StoreRef, layout,
        overview::{Line, Overview, Schemas},
        read,
    },
};

/// Judges the domains. Most have not changed since they were examined; only the others, and those that the candidate
/// mentions, are read in full.
///
/// # Errors
/// Returns an error if a domain cannot be read, or the request was cancelled.
pub fn judge(
    ctx: &Ctx,
    overview: &Overview<'_>,
    judged: &[Judged<'_>],
    mut check: Check<'_>,
    judge: &Judge<'_>,
) -> Result<Report, OpError> {
    let (store, progress) = (&*ctx.realm()?.store, ctx.progress());
    progress.expect(overview.domains().len());
    let with_concern = |one: &Damage| (one.clone(), is_concerned(one, judged));
    let mut damage: Vec<_> = overview.damage().iter().map(with_concern).collect();
    let mut examining = overview.examining();
    for line in overview.domains() {
        progress.check()?;
        progress.step();
        // A repository that published here and no longer has any files is judged too.
        let has_published = judged.iter().any(|judged| line.sources.contains_key(judged.repo));
        let is_judged = has_published || check.is_judged(&line.name);
        let examined = match schemas(overview, line, check.is_listed() || is_judged) {
            Some(schemas) if !is_judged => {
                // Schemas are cached only for domains in which every import provably holds.
                let summary = overview.summary(line)?;
                check.published(&summary, Examination::clean(schemas), &States::new());
                continue;
            }
            examined => examined,
        };
        let mut domain = match read::domain_at(store, &line.name, &line.tip) {
            Ok(domain) => domain,
            Err(error) if error.is_damage() => {
                let file = StoreRef::Domain(line.name.clone()).to_string();
                let takes_part = judged.iter().any(|judged| line.repos.contains(judged.repo));
                let subject = domain_view::Subject::Domain(line.name.clone());
                let one = Damage { file, subject, problem: error.to_string() };
                damage.push((one, is_judged || takes_part));
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        if is_judged {
            let mut declared = check.declared(&line.name);
            // The document of the current version is already loaded, with the published one if that differs.
            declared.retain(|(contract, version)| {
                domain.contracts.get(contract).is_none_or(|current| current.version != *version)
            });
            read::load_versions(store, &mut domain, &line.tree, &declared)?;
            if let [one] = judged
                && let Some(declared) = one.candidate.bindings.get(&line.name)
            {
                let returning = (one.repo, &declared.document);
                match domain::former_imports(store, &line.tip, &domain, returning) {
                    Ok(imports) => domain.former_imports = imports,
                    // A realm that was fetched for this check lacks its history.
                    Err(StoreError::Missing { .. }) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            let upcoming = Upcoming::of(judged.iter().map(|judged| judged.candidate), &line.name);
            verdict::load_bases(store, &mut domain, &line.tree, None, &upcoming)?;
            if let Some(schemas) = check.check_with_candidate(&domain, examined) {
                examining.add(line, &schemas);
            }
            continue;
        }
        let (examination, summary) = (Examination::of(&domain, judge.values()), DomainSummary::from(&domain));
        let states = verdict::states(store, &line.tree, &summary, None, judge)?;
        // The examination of a cancelled request is not whole.
        progress.check()?;
        if examination.is_clean_in(&domain, &states) {
            examining.add(line, &examination.schema_hashes);
        }
        check.published(&summary, examination, &states);
    }
    progress.check()?;
    examining.keep();
    Ok(check.finish(&damage, &read::names_taken_twice(store, overview.repos())?, &read::set_aside(store)?))
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
