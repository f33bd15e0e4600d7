//! `contract_diff`: compares two versions of a contract.

use super::{
    draft::{Draft, DraftFields, DraftFile, VersionOrCommit},
    get,
};
use crate::ops::{
    Operation,
    ctx::Ctx,
    domain,
    history::arrivals::{arrivals, origin},
    operation::given_as,
    repos::commit_links::CommitLinks,
    runs,
};
use crate::{
    error::{ErrorCode, OpError},
    model::{
        binding::Binding,
        contract::{BrokenDirection, Contract},
        diff,
        name::{ContractFields, ContractRef},
        verdict::{Judge, VersionBump, declared, flow, needed_bump, values_compared},
        version::Version,
    },
    store::{StoreRef, layout, read},
    wire::{Answer, ContractDetail, ContractDiff, DocumentSource, SchemasCompared, VersionOrigin},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::reads::<Request>(
    "contract_diff",
    &["contract", "diff"],
    "Show changes between two versions of a contract",
)
.reads_past()
.tool("Compare two versions of a contract: whether each accepts the other's data, and why.")
.route("GET", "/realms/{realm}/contracts/{domain}/{contract}/diff");

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The contract
    #[serde(flatten, with = "ContractFields")]
    #[cfg_attr(feature = "cli", arg(value_name = "DOMAIN/CONTRACT"))]
    pub contract: ContractRef,
    /// A published version, or a commit that has the file [default: the version that this repository's code is
    /// adapted to, else the previous one]
    #[serde(rename = "from")]
    #[cfg_attr(feature = "cli", arg(value_name = "FROM"))]
    pub old: Option<VersionOrCommit>,
    /// The version or file to compare to
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub new: Newer,
    /// Whether to include witnesses of any size, as on the command line.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub whole_witnesses: bool,
}

runs!(ContractDiff, run);

/// The newer side of the comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Newer {
    /// A published version; the current one by default.
    Version(Option<Version>),
    /// The files of this repository.
    Draft(Draft),
}

/// The fields that select what to compare to.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
struct NewerFields {
    /// A published version, or a commit that has the file [default: the current version]
    #[serde(rename = "to")]
    #[cfg_attr(feature = "cli", arg(value_name = "TO", conflicts_with = "draft"))]
    new: Option<VersionOrCommit>,
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    draft: DraftFields,
}

given_as!(Newer, NewerFields);

impl TryFrom<NewerFields> for Newer {
    type Error = &'static str;

    fn try_from(NewerFields { new, draft }: NewerFields) -> Result<Self, Self::Error> {
        Ok(match (draft.draft(new.is_some())?, new) {
            (Some(draft), _) => Self::Draft(draft),
            (None, Some(VersionOrCommit::Commit(revision))) => Self::Draft(Draft::Commit(revision)),
            (None, Some(VersionOrCommit::Version(version))) => Self::Version(Some(version)),
            (None, None) => Self::Version(None),
        })
    }
}

/// Compares the versions.
///
/// # Errors
/// Returns an error if there is no such contract or version, no version before it, or one cannot be read.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<ContractDiff>, OpError> {
    let at = &request.contract;
    let get = |version| {
        let request = get::Request { contract: at.clone(), version, origin: false };
        get::run(ctx, &request).map(|answer| answer.body)
    };
    let (newer, source, known) = match &request.new {
        Newer::Version(version) => {
            let found = get(version.clone())?;
            (found.contract, DocumentSource::Realm, found.versions)
        }
        Newer::Draft(draft) => (draft.contract(ctx, at)?.into(), draft.source(), Vec::new()),
    };
    let published = |version| get(version).map(|found| (found.contract, DocumentSource::Realm));
    let (older, old_source) = match &request.old {
        Some(VersionOrCommit::Version(version)) => published(Some(version.clone()))?,
        Some(VersionOrCommit::Commit(revision)) => {
            (Draft::Commit(revision.clone()).contract(ctx, at)?.into(), DocumentSource::Commit)
        }
        None => published(base(ctx, request, &newer.version, &known)?)?,
    };
    let (old, new) = (older.typed(), newer.typed());
    let [old_origin, new_origin] = origins(ctx, at, [(&older.version, old_source), (&newer.version, source)])?;
    let (judge, most) = if request.whole_witnesses {
        (ctx.judge().with_whole_witnesses(), usize::MAX)
    } else {
        (ctx.judge(), MAX_WITNESSES)
    };
    let [mut before, mut after] = [&older, &newer].map(|one| comparable(one, &newer.version));
    // The realm adds entries that a file need not have.
    match (old_source, source) {
        (DocumentSource::Realm, DocumentSource::Realm) => {}
        (DocumentSource::Realm, _) => before.evolution.retain(|entry| after.evolution.contains(entry)),
        (_, DocumentSource::Realm) => after.evolution.retain(|entry| before.evolution.contains(entry)),
        _ => {}
    }
    let (changes, bump) = (diff::of_contracts(&before, &after), needed_bump(&old, &new, &judge));
    let content_changed = !old.has_same_content(&new);
    let body = ContractDiff {
        old_origin,
        new_origin,
        bump: content_changed.then_some(bump),
        compared: compared((&old, &new), bump, &judge, most),
        flow: flow::verdict(&old, &new),
        values: Some(values_compared(&old, &new)).filter(|values| !values.differences.is_empty()),
        realm: ctx.realm()?.realm.clone(),
        domain: at.domain.clone(),
        contract: newer.name.clone(),
        content_changed,
        changes,
        old_version: older.version,
        new_version: newer.version,
        old_source,
        source,
    };
    let look_at = match &request.new {
        Newer::Version(_) => format!("--to {}", body.new_version),
        Newer::Draft(Draft::Worktree) => "--worktree".to_owned(),
        Newer::Draft(Draft::Commit(revision)) => format!("--commit {revision}"),
    };
    let impact = format!("git blue contract impact {at} {look_at}  # show the affected consumers");
    let answer = Answer::new(body);
    let is_changed = answer.body.content_changed;
    Ok(ctx.with_past_steps(answer.next_if(is_changed, impact)))
}

/// Returns who published each side; `None` for one that was not published.
fn origins(
    ctx: &Ctx,
    at: &ContractRef,
    sides: [(&Version, DocumentSource); 2],
) -> Result<[Option<VersionOrigin>; 2], OpError> {
    let mut found = [None, None];
    if sides.iter().all(|(_, source)| *source != DocumentSource::Realm) {
        return Ok(found);
    }
    let store = &*ctx.realm()?.store;
    let links = CommitLinks::new(ctx, store);
    let mut arrived = arrivals(store, domain::tip(store, &at.domain)?, &at.contract)?;
    for (found, (version, source)) in found.iter_mut().zip(sides) {
        if source == DocumentSource::Realm
            && let Some(arrival) = arrived.remove(version)
        {
            *found = Some(origin(&links, &at.contract, version.clone(), arrival)?);
        }
    }
    Ok(found)
}

/// Returns the file of the contract in this repository, to locate the differences in. Returns `None` if there is no such
/// file, or its content is not that of the newer side.
pub fn file(ctx: &Ctx, request: &Request, body: &ContractDiff) -> Option<DraftFile> {
    let at = &request.contract;
    let in_schema = body.compared.iter().flat_map(|one| &one.differences).filter_map(|one| one.new_pointer.as_ref());
    let in_value = body.values.iter().flat_map(|one| &one.differences).filter_map(|one| one.new_pointer.as_ref());
    let pointers = in_schema.map(|pointer| format!("/schema{pointer}"));
    let pointers = pointers.chain(in_value.map(|pointer| format!("/value{pointer}"))).chain(["/schema".to_owned()]);
    let version = match &request.new {
        Newer::Draft(draft) => return draft.located(ctx, at, pointers.collect()).ok(),
        Newer::Version(version) => version.clone(),
    };
    let found = Draft::Worktree.located(ctx, at, pointers.collect()).ok()?;
    let published = get::run(ctx, &get::Request { contract: at.clone(), version, origin: false }).ok()?.body.contract;
    let written = Draft::Worktree.contract(ctx, at).ok();
    Some(found).filter(|_| written.is_some_and(|written| written.has_same_content(&published.typed())))
}

/// The maximum size, in bytes, of all witnesses together, apart from the first one of each direction.
const MAX_WITNESSES: usize = 2_048;

/// Compares two documents. The witnesses have at most `left` bytes together. Returns `None` if neither document has a
/// schema.
fn compared(
    (old, new): (&Contract, &Contract),
    bump: VersionBump,
    judge: &Judge<'_>,
    mut left: usize,
) -> Option<SchemasCompared> {
    let reading = judge.verdict(old, new, BrokenDirection::Backwards)?.reading;
    let compared = judge.compare(old, new);
    let differences = compared.differences.iter().cloned().map(|one| {
        let one = one.clipped(left);
        left = left.saturating_sub(one.witness().map_or(0, |_| one.witness_bytes));
        one
    });
    Some(SchemasCompared {
        reading,
        promised: declared(old, new).collect(),
        backwards: compared.backwards.clone(),
        forwards: compared.forwards.clone(),
        differences: differences.collect(),
        more_differences: compared.more,
        bump,
    })
}

/// Returns the version to compare from if the user names none. `None` means the current version.
fn base(ctx: &Ctx, request: &Request, newer: &Version, known: &[Version]) -> Result<Option<Version>, OpError> {
    let is_newest = request.new == Newer::Version(None);
    let adapted = adapted(ctx, &request.contract)?;
    if let Some(adapted) = adapted.filter(|adapted| adapted < newer || (is_newest && adapted != newer)) {
        return Ok(Some(adapted));
    }
    if matches!(request.new, Newer::Draft(_)) {
        return Ok(None);
    }
    before(known, newer).map(Some).ok_or_else(|| {
        let at = &request.contract;
        OpError::no(ErrorCode::NoEarlierVersion, format!("no version of {at} was published before {newer}"))
            .next(format!("git blue contract get {at}  # show it"))
    })
}

/// Returns the version that the code of the current repository is adapted to.
fn adapted(ctx: &Ctx, at: &ContractRef) -> Result<Option<Version>, OpError> {
    let here = ctx.realm()?;
    let within = StoreRef::Domain(at.domain.clone());
    let (Some(repo), Some(tree)) = (&here.repo, read::tip_tree(&*here.store, &within)?) else { return Ok(None) };
    let binding: Option<Binding> = read::file(&*here.store, &within, &tree, &layout::binding(repo))?;
    Ok(binding.and_then(|binding| binding.import(&at.contract)?.adapted().cloned()))
}

/// Returns the highest version below another one. Pre-releases count only if the other one is a pre-release too, or if
/// there is no release below it.
fn before(versions: &[Version], version: &Version) -> Option<Version> {
    let earlier = || versions.iter().filter(|one| *one < version);
    let release = earlier().rfind(|one| version.is_prerelease() || !one.is_prerelease());
    release.or_else(|| earlier().next_back()).cloned()
}

/// Returns a document without what the realm adds to it, and with the same version as the one it is compared with.
fn comparable(contract: &ContractDetail, version: &Version) -> ContractDetail {
    ContractDetail {
        version: version.clone(),
        schema_hash: None,
        content_hash: None,
        retired: None,
        yanked: Vec::new(),
        ..contract.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_before_a_release_is_a_release() {
        let versions: Vec<Version> =
            ["1.0.0-rc.1", "1.0.0", "1.1.0-rc.1", "1.1.0"].map(|text| text.parse().unwrap()).to_vec();
        let found = |version: &str| before(&versions, &version.parse().unwrap()).map(|found| found.to_string());
        assert_eq!(found("1.1.0").as_deref(), Some("1.0.0"));
        assert_eq!(found("1.1.0-rc.1").as_deref(), Some("1.0.0"));
        assert_eq!(found("1.0.0").as_deref(), Some("1.0.0-rc.1"));
        assert_eq!(found("1.0.0-rc.1"), None);
    }
}
