//! `contract_impact`: lists the importers of a contract, and whether their ranges accept a version.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    documents::Source,
    draft::{Draft, DraftFields},
    get::at_version,
    schema_file,
    verdict::{self, Upcoming},
};
use crate::{
    error::{NextStep, OpError},
    model::{
        binding::Import,
        contract::Contract,
        domain_view::{DomainView, unreadable_bindings},
        name::{ContractFields, ContractName, ContractRef, RepoName},
        next_version,
        oid::Oid,
        publish,
        range::Range,
        verdict::{ImportState, Judge, Outcome, Promise},
        version::Version,
    },
    ops::{
        Operation,
        ctx::{Ctx, RealmContext},
        domain::{self, Part},
        operation::given_as,
        runs,
    },
    wire::{Answer, ContractImpact, DocumentSource, ImportStanding, ImporterImpact, JudgedBy},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::reads::<Request>(
    "contract_impact",
    &["contract", "impact"],
    "Show who imports a contract, and which consumers a version would break",
)
.reads_past()
.tool(
    "Show who imports a contract, where, and whom a version would break (with proof, unless judged_by \
    is version-range). Call it before raising a version.",
)
.route("GET", "/realms/{realm}/contracts/{domain}/{contract}/impact");

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The contract
    #[serde(flatten, with = "ContractFields")]
    #[cfg_attr(feature = "cli", arg(value_name = "DOMAIN/CONTRACT"))]
    pub contract: ContractRef,
    /// The document to judge as if it were current
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub to: Candidate,
}

runs!(ContractImpact, run);

/// The document whose impact is determined.
#[derive(Debug, Clone)]
pub enum Candidate {
    /// A version, published or not; the current one by default.
    Version(Option<Version>),
    /// The files of this repository.
    Draft(Draft),
    /// The current document with the schema at a JSON Pointer into this file, under the version that the change needs.
    Schema(Source, String),
}

/// The fields that select the document to judge.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
struct CandidateFields {
    /// Assume that this version, published or not, is current
    #[cfg_attr(feature = "cli", arg(long, value_name = "VERSION", conflicts_with = "draft"))]
    to: Option<Version>,
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    draft: DraftFields,
}

given_as!(Candidate, CandidateFields);

impl TryFrom<CandidateFields> for Candidate {
    type Error = &'static str;

    fn try_from(CandidateFields { to, draft }: CandidateFields) -> Result<Self, Self::Error> {
        Ok(draft.draft(to.is_some())?.map_or(Self::Version(to), Self::Draft))
    }
}

/// Lists the importers, with a verdict for each.
///
/// # Errors
/// Returns an error if there is no such contract, or it cannot be read.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<ContractImpact>, OpError> {
    let here = ctx.realm()?;
    let ContractRef { domain: domain_name, contract: name } = &request.contract;
    let tip = domain::tip(&*here.store, domain_name)?;
    let drafted = match &request.to {
        Candidate::Draft(draft) => Some((draft.contract(ctx, &request.contract)?, draft.source())),
        Candidate::Version(_) | Candidate::Schema(..) => None,
    };
    let wanted = match (&request.to, &drafted) {
        (Candidate::Version(version), _) => version.clone(),
        (_, drafted) => drafted.as_ref().map(|(document, _)| document.version.clone()),
    };
    let wanted: Vec<_> = wanted.map(|version| (name.clone(), version)).into_iter().collect();
    let only = [name.clone()].into();
    let view = domain::load(
        &*here.store,
        domain_name,
        &tip,
        &Part { published: &wanted, contracts: Some(&only), bases: Some(&only), ..Part::default() },
    )?;
    let judge = ctx.judge();
    let taken = drafted.as_ref().map(|(document, _)| document).filter(|document| view.has_other_content(document));
    let taken = taken.map(|document| document.version.clone());
    let (candidate, source) = candidate(ctx, request, &view, drafted, &judge)?;
    let version = candidate.version.clone();
    let current = view.contracts.get(name);
    // A pre-release may break promises.
    let is_preview = matches!(request.to, Candidate::Draft(_)) && version.is_prerelease();
    let promise = current.filter(|_| source != DocumentSource::Assumed && !is_preview);
    let approvals = || view.approvals.get(name).into_iter().flatten();
    let promise = promise
        .and_then(|current| Promise::of(current, &candidate, &judge))
        .filter(|promise| promise.approved(approvals()).is_none());
    let mut then = view.clone();
    // Only the current document records what was yanked. Ranges contain no pre-releases, so instead of a pre-release,
    // the release that it precedes is judged.
    let yanked = current.map(|current| current.yanked.clone()).unwrap_or_default();
    then.replace(Contract { yanked, version: version.release(), ..candidate });
    // The candidate may serve other versions than the current one.
    let tree = here.store.commit(&tip)?.tree;
    verdict::load_bases(&*here.store, &mut then, &tree, Some(&only), &Upcoming::default())?;
    let importers = importers(name, [&view, &then], source, &judge);
    let body = ContractImpact {
        realm: here.realm.clone(),
        domain: domain_name.clone(),
        contract: name.clone(),
        current_version: view.contracts.get(name).map(|contract| contract.version.clone()),
        published: is_published(&view, name, &version),
        yanked: current.and_then(|current| current.yanked_reason(&version)).map(str::to_owned),
        retired: current.and_then(|current| Some(current.retired.as_ref()?.reason.clone())),
        source,
        version,
        broken: importers.iter().filter(|one| one.state == ImportStanding::Broken).count(),
        breaks_promise: promise.map(|promise| promise.broken).unwrap_or_default(),
        importers,
        unreadable_bindings: unreadable_bindings(&view.damage).cloned().collect(),
    };
    let is_retired = body.retired.is_some();
    let bump = taken.map(|taken| {
        if is_retired {
            return publish::revival(&body.version);
        }
        format!("git blue contract bump {}  # {taken} was already published with different content", request.contract)
    });
    let mut next = Vec::new();
    if let Some(me) = here.repo.as_ref().filter(|_| body.broken > 0) {
        let helped = helped_by_serving(here, &tip, (then, name), &judge)?;
        next = next_steps(me, view.owner(name), &helped, &body);
    }
    let steps = bump.map(NextStep::from).into_iter().chain(next);
    Ok(ctx.with_past_steps(Answer::new(body).next_all(steps)))
}

/// Returns the document to judge as if it were current, and where it is from. A draft whose version was published with
/// other content gets the next free version.
fn candidate(
    ctx: &Ctx,
    request: &Request,
    view: &DomainView,
    drafted: Option<(Contract, DocumentSource)>,
    judge: &Judge<'_>,
) -> Result<(Contract, DocumentSource), OpError> {
    let name = &request.contract.contract;
    Ok(match (&request.to, drafted) {
        (_, Some((document, source))) if view.has_other_content(&document) => {
            (next_version::with_version(view, &document, judge), source)
        }
        (_, Some(drafted)) => drafted,
        (Candidate::Schema(file, pointer), None) => {
            let held = newest(view, request)?;
            let schema = schema_file::read_valid(ctx, (file, pointer), held.flow, &ctx.budget())?;
            let wanted = Contract { schema, ..held };
            (next_version::with_version(view, &wanted, judge), DocumentSource::Schema)
        }
        (Candidate::Version(Some(version)), None) if is_published(view, name, version) => {
            (at_version(view, name, version)?, DocumentSource::Realm)
        }
        // An unpublished version is assumed to differ only in its number.
        (Candidate::Version(Some(version)), None) => {
            (Contract { version: version.clone(), ..newest(view, request)? }, DocumentSource::Assumed)
        }
        (Candidate::Version(None) | Candidate::Draft(_), None) => {
            (domain::current(view, name)?.clone(), DocumentSource::Realm)
        }
    })
}

fn is_published(view: &DomainView, contract: &ContractName, version: &Version) -> bool {
    view.versions.get(contract).is_some_and(|all| all.contains(version))
}

/// Returns the importers of a contract, judged in the domain as it is now and as it would be `then`.
fn importers(
    contract: &ContractName,
    [now, then]: [&DomainView; 2],
    source: DocumentSource,
    judge: &Judge<'_>,
) -> Vec<ImporterImpact> {
    let impact = |(repo, import): (&RepoName, &Import)| {
        let mut state = ImportState::of(then, import, judge);
        if source == DocumentSource::Assumed {
            // The schema of that version is not known.
            state.verdict = None;
        }
        ImporterImpact {
            repo: repo.clone(),
            version_req: import.version.clone(),
            binding: import.binding.clone(),
            state: state.standing(),
            judged_by: JudgedBy::of(&state),
            verdict: state.between_versions().cloned(),
            resolved_version: state.resolution.resolved().cloned(),
            adapted_version: import.adapted().cloned(),
            current_state: ImportState::of(now, import, judge).standing(),
        }
    };
    now.importers(contract).map(impact).collect()
}

/// Returns the current document, or the newest pre-release if there is no release.
fn newest(view: &DomainView, request: &Request) -> Result<Contract, OpError> {
    let name = &request.contract.contract;
    domain::current(view, name).or_else(|error| view.newest(name).ok_or(error)).cloned()
}

/// Returns what `me` can do about broken importers: a consumer can adapt its code, and the owner can keep serving older
/// versions, which helps the consumers in `helped` only. Other repositories can do nothing.
fn next_steps(me: &RepoName, owner: Option<&RepoName>, helped: &Helped, body: &ContractImpact) -> Vec<NextStep> {
    let version = &body.version;
    let is_early = |one: &&ImporterImpact| one.adapted_version.is_none() && one.version_req.is_above(version);
    let broken = body.importers.iter().filter(|one| one.state == ImportStanding::Broken);
    let (early, broken): (Vec<_>, Vec<_>) = broken.partition(is_early);
    if let Some(mine) = early.iter().find(|one| one.repo == *me) {
        let wait = format!("no version in {} is published: wait for one, or lower the range", mine.version_req);
        return vec![NextStep::advice(format!("{wait} if the code works with {version}"))];
    }
    let is_current = body.current_version.as_ref() == Some(version);
    if let Some(mine) = broken.iter().find(|one| one.repo == *me) {
        return vec![own_step(mine, version, is_current)];
    }
    if owner != Some(me) {
        return Vec::new();
    }
    let (served, others): (Vec<_>, Vec<_>) = broken.into_iter().partition(|one| helped.contains_key(&one.repo));
    let mut supported: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for one in served {
        supported.entry(&helped[&one.repo]).or_default().push(one);
    }
    let (in_range, refused): (Vec<_>, Vec<_>) = others.into_iter().partition(|one| one.resolved_version.is_some());
    let adapted = match &body.yanked {
        Some(_) => format!("a version above {version} (yanked) works for these repositories"),
        None => format!("these repositories are adapted to {version}"),
    };
    let is_older = body.current_version.as_ref().is_some_and(|current| version < current);
    let adapt = match (is_current, is_older) {
        (true, _) if body.yanked.is_some() => {
            format!("{version} breaks these repositories and was yanked: publish a version above it")
        }
        (true, _) => format!("these repositories are not adapted to {version}"),
        (false, true) => format!("these repositories must adapt before {version} becomes current again"),
        (false, false) => {
            let release = version.release();
            format!("these repositories must adapt before {release} is published, unless it keeps what they rely on")
        }
    };
    let serve = supported.into_iter().map(|(serving, repos)| (repos, format!("{}, until {adapted}", serving.phrase())));
    let others = [
        (in_range, adapt),
        (refused, format!("serving an older version would not help these repositories: they must adapt to {version}")),
    ];
    let named = serve.chain(others).filter(|(repos, _)| !repos.is_empty()).map(|(repos, what)| {
        let names: Vec<_> = repos.iter().map(|one| one.repo.as_str()).collect();
        NextStep::advice(format!("{what}: {}", names.join(", ")))
    });
    named.collect()
}

/// The importers that serving older versions helps.
type Helped = BTreeMap<RepoName, Serving>;

/// The older versions that help an importer if they are served.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Serving {
    /// It helps to serve any older versions in the importer's range.
    Any,
    /// It helps to serve this version in addition to those that are served now.
    Also(Version),
    /// It helps to serve this version instead of the newer ones in the importer's range that are served now.
    Only(Version),
}

impl Serving {
    fn phrase(&self) -> String {
        match self {
            Self::Any => "add the older versions that you still serve to `supported`".to_owned(),
            Self::Also(version) => format!("add \"={version}\" to `supported`"),
            Self::Only(version) => {
                format!("write \"={version}\" in `supported`, in place of the ranges with newer versions")
            }
        }
    }
}

/// Returns the importers whose imports hold in `domain` if older versions are served, and which versions help each of
/// them. Tries to serve every version in the importers' ranges first. For importers that this does not help, tries the
/// version that their code is adapted to, in addition to the served versions, and then instead of them, since newer
/// versions in the range may break the code too.
///
/// # Errors
/// Returns an error if a version cannot be read.
fn helped_by_serving(
    here: &RealmContext,
    tip: &Oid,
    (mut domain, name): (DomainView, &ContractName),
    judge: &Judge<'_>,
) -> Result<Helped, OpError> {
    let tree = here.store.commit(tip)?.tree;
    let importers: Vec<_> = domain.importers(name).map(|(repo, import)| (repo.clone(), import.clone())).collect();
    let supported = domain.contracts.get(name).map(|contract| contract.supported.clone()).unwrap_or_default();
    let mut holding = |supported: Vec<Range>| -> Result<BTreeSet<RepoName>, OpError> {
        if let Some(contract) = domain.contracts.get_mut(name) {
            contract.supported = supported;
        }
        verdict::load_bases(&*here.store, &mut domain, &tree, Some(&[name.clone()].into()), &Upcoming::default())?;
        let holds = |(_, import): &&(RepoName, Import)| !ImportState::of(&domain, import, judge).is_broken();
        Ok(importers.iter().filter(holds).map(|(repo, _)| repo.clone()).collect())
    };
    let all = holding(importers.iter().map(|(_, import)| import.version.clone()).collect())?;
    let mut helped: Helped = all.into_iter().map(|repo| (repo, Serving::Any)).collect();
    let others = importers.iter().filter(|(repo, _)| !helped.contains_key(repo));
    let adapted: BTreeSet<_> = others.filter_map(|(_, import)| import.adapted().cloned()).collect();
    for version in adapted {
        let only = vec![Range::exactly(&version)];
        let also = only.iter().chain(&supported).cloned().collect();
        for (ranges, serving) in [(also, Serving::Also(version.clone())), (only, Serving::Only(version.clone()))] {
            let holding = holding(ranges)?;
            let of_version =
                importers.iter().filter(|(repo, one)| one.adapted() == Some(&version) && holding.contains(repo));
            for (repo, _) in of_version {
                helped.entry(repo.clone()).or_insert_with(|| serving.clone());
            }
        }
    }
    Ok(helped)
}

/// Returns what this repository can do about its own broken import. A version outside of its range need not break it.
fn own_step(mine: &ImporterImpact, version: &Version, is_current: bool) -> NextStep {
    let place = if mine.binding.is_empty() { "the code that uses it".to_owned() } else { mine.binding.to_string() };
    let outcome = mine.verdict.as_ref().map(|verdict| verdict.verdict);
    let (what, fix) = match (&mine.resolved_version, outcome) {
        (Some(_), _) => (format!("{version} breaks this repository"), format!("adapt {place}")),
        (None, Some(Outcome::Breaks)) => {
            (format!("{version} breaks this repository"), format!("adapt {place}, then its range"))
        }
        (None, Some(Outcome::Compatible)) => {
            (format!("{version} is compatible, but outside of the range"), "raise the range".to_owned())
        }
        (None, Some(Outcome::Unknown) | None) => {
            (format!("{version} is outside of the range"), format!("review {place}, then raise the range"))
        }
    };
    if is_current {
        format!("git blue review  # {what}: {fix}").into()
    } else {
        NextStep::advice(format!("{what}: {fix} before {} becomes current", version.release()))
    }
}
