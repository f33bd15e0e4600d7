//! `contract_bump`: raises the version in a contract's file in place, and records what changed.

mod edit;
mod need;

use std::collections::{BTreeMap, BTreeSet};

use need::{Need, need};

use crate::{
    error::{ErrorCode, OpError, write_version},
    model::{
        candidate::{Candidate, Declared, write_file},
        contract::Contract,
        domain_view::DomainView,
        name::ContractRef,
        next_version::{self, free_prerelease, free_version},
        publish,
        publish_policy::Policy,
        verdict::VersionBump,
        version::{Level, Version},
    },
    ops::{
        Operation,
        ctx::{ActingRepo, Ctx},
        domain,
        publish::{
            concurrent,
            diverged::{mark_behind, without_merging},
            policy, references,
            work_file::WorkFile,
        },
        sync::auto,
    },
    repo::{
        CodeRepo,
        blue_files::{Files, contract_path},
    },
    store::{codec, read},
    wire::{Answer, ContractBump},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::write::<ContractBump>("contract_bump", &["contract", "bump"], "Raise the version in a contract's file");

/// The arguments.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The contract
    #[cfg_attr(feature = "cli", arg(value_name = "DOMAIN/CONTRACT"))]
    pub contract: ContractRef,
    /// The part of the version to bump
    #[cfg_attr(feature = "cli", arg(value_enum, default_value_t = Part::Auto))]
    pub level: Part,
    /// Describe the change, for the contract's evolution; can be given several times
    #[cfg_attr(feature = "cli", arg(short, long, value_name = "TEXT", allow_hyphen_values = true, value_parser = crate::model::text::reason))]
    pub message: Vec<String>,
}

/// The part of a version to bump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Part {
    /// Consumers may break
    Major,
    /// Different values are valid, but consumers keep working
    Minor,
    /// The meaning is unchanged
    Patch,
    /// Determined by comparing with the published version
    Auto,
}

impl Request {
    /// Returns the requested level; `None` for the one that the change needs.
    fn level(&self) -> Option<Level> {
        match self.level {
            Part::Major => Some(Level::Major),
            Part::Minor => Some(Level::Minor),
            Part::Patch => Some(Level::Patch),
            Part::Auto => None,
        }
    }
}

/// Edits the file.
///
/// # Errors
/// Returns an error if nothing is published yet, the comparison is undecided, or the file cannot be edited in place.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<ContractBump>, OpError> {
    let acting = ctx.acting_repo()?;
    let at = &request.contract;
    let file = WorkFile::of(ctx.code()?, contract_path(&at.domain, &at.contract))?;
    let _lock = WorkFile::lock(ctx.code()?);
    let (text, document) = read_file(ctx, acting, at, &file)?;
    let mut view = domain::of_contract(acting.store, at)?;
    if let Some(tip) = view.commit {
        // The file may be that of a pre-release, or still that of an older version.
        let tree = acting.store.commit(&tip)?.tree;
        read::load_version(acting.store, &mut view, &tree, &at.contract, &document.version)?;
    }
    let published = published(ctx, at, &file, &view)?;
    publish::may_publish(&view, acting.repo, &at.contract)?;
    let history = history(ctx, acting, (at, &file), (&view, &document))?;
    let merge = history.merge_first(&at.domain, published);
    let older_line = history.of_older_line(&at.domain, published);
    if let (Part::Auto, Some(merge)) = (request.level, merge) {
        return Err(lacking(at, published, merge, older_line));
    }
    let (resolved, sources) = match Files::checkout(ctx.code()?) {
        Some(files) => references::contract(&files, text.as_bytes(), &at.contract)?
            .map_err(|problem| problem.in_file(file.relative()))?,
        None => (document.clone(), BTreeSet::new()),
    };
    if resolved.version.is_auto() {
        return Err(automatic(ctx, request, &file, (&view, published), &resolved));
    }
    let need = need(ctx, &view, published, &resolved);
    let is_old = resolved.version < published.version && view.document(&at.contract, &resolved.version).is_some();
    if request.level == Part::Auto && need.is_some() && is_old && !view.has_other_content(&resolved) {
        return Err(outdated(ctx, at, &file, published, &resolved));
    }
    let old_version = resolved.version.clone();
    let unusable = unusable(&view, published);
    let level = request.level().or_else(|| unusable.filter(|_| need.is_none()).map(|_| Level::Patch));
    let (new_version, changed) = match (&need, level) {
        // Content that is already published needs no new version.
        (None, None) if is_accepted(&view, published, &resolved) => (old_version.clone(), false),
        (_, None) if is_published_prerelease(&view, &resolved) => (old_version.clone(), false),
        (need, level) => {
            let (new, changes) = match (need, level) {
                (None, None) => (published.version.clone(), &[][..]),
                _ => {
                    let wanted = wanted(at, level, (&view, published), need.as_ref())?;
                    let is_chosen = request.level().is_some();
                    let new = if is_chosen { wanted } else { kept(&view, published, &resolved.version, wanted) };
                    (new, &request.message[..])
                }
            };
            if let Some(from) = codec::version_from(text.as_bytes()) {
                return Err(in_another_file(&file, &from.from, &new));
            }
            let is_breaking = need.as_ref().is_some_and(|need| need.is_breaking);
            let known = view.versions.get(&at.contract);
            let is_unpublished =
                |version: &Version| *version > published.version && known.is_none_or(|known| !known.contains(version));
            let edited = edit::edited(&text, &document, &new, (changes, is_breaking), is_unpublished, &file)?;
            let changed = edited != text;
            if changed {
                file.replace(&edited)?;
            }
            (new, changed)
        }
    };
    let is_enough =
        need.as_ref().is_none_or(|need| need.bump != VersionBump::Major) || is_break(&published.version, &new_version);
    let answer = Answer::new(ContractBump {
        realm: acting.realm.clone(),
        domain: at.domain.clone(),
        contract: at.contract.clone(),
        current_repo: acting.repo.clone(),
        file: file.relative().to_owned(),
        published_version: published.version.clone(),
        old_version,
        needs: need.as_ref().map(|need| need.bump),
        reason: match (need, request.level(), unusable) {
            (Some(need), Some(_), _) if !is_enough => format!("requested, although {}", need.reason),
            (Some(need), ..) => need.reason,
            (None, Some(_), _) => format!("requested, although the content is the same as in {}", published.version),
            (None, None, Some(why)) => format!("{} {why}", published.version),
            (None, None, None) => format!("the content is the same as in {}", published.version),
        },
        changed,
        new_version: new_version.clone(),
    });
    let sharing = if answer.body.changed { sharing(ctx, at, &sources)? } else { Vec::new() };
    let others = to_bump(acting, &sharing)?;
    // A commit of the shared file without the other contracts could not be published.
    let paths = sharing.iter().map(|(other, _)| contract_path(&other.domain, &other.contract));
    let paths = file.pathspecs(ctx, sources.into_iter().chain(paths))?;
    let unshallow = "git fetch --unshallow  # this shallow clone cannot tell whether the branch lacks the published \
        version";
    let may_lack = answer.body.changed && history.unknown.contains(&at.domain);
    let answer = answer.next_if(may_lack, unshallow);
    Ok(match (is_enough, answer.body.changed) {
        // The comparison treats what the branch lacks as removed. After the merge, the change may break no promise.
        (false, _) if merge.is_some() => answer.next_all(merge.into_iter().chain(older_line)),
        (false, _) => {
            answer.next(format!("git blue contract bump {at}  # it breaks a promise: let the change decide the level"))
        }
        (true, false) => answer,
        (true, true) if !others.is_empty() => {
            let bump = |other| format!("git blue contract bump {other}  # its schema is in the same changed file");
            answer.next_all(others.iter().map(bump))
        }
        (true, true) => answer
            .next("git blue check --worktree  # show which consumers it would break")
            .next(format!("git add {paths} && git commit -m \"{at} {new_version}\"")),
    })
}

/// Returns the other contracts of this repository that refer to one of these files.
fn sharing(ctx: &Ctx, at: &ContractRef, sources: &BTreeSet<String>) -> Result<Vec<(ContractRef, Contract)>, OpError> {
    let (Some(files), false) = (Files::checkout(ctx.code()?), sources.is_empty()) else { return Ok(Vec::new()) };
    let found = references::contracts_with(&files, sources)?.into_iter();
    let named = found.map(|(domain, one)| (ContractRef { domain, contract: one.name.clone() }, one));
    Ok(named.filter(|(other, _)| other != at).collect())
}

/// Returns the contracts whose content differs from the published one of their version.
fn to_bump(acting: ActingRepo<'_>, documents: &[(ContractRef, Contract)]) -> Result<Vec<ContractRef>, OpError> {
    let mut found = Vec::new();
    for (at, document) in documents.iter().filter(|(_, document)| !document.version.is_auto()) {
        // A domain that does not exist yet has nothing to compare with.
        let Some(tip) = acting.store.domain_tip(&at.domain)? else { continue };
        let one = read::OneContract::at(acting.store, &at.domain, tip, &at.contract)?;
        let mut view = one.view()?;
        read::load_version(acting.store, &mut view, one.tree(), &at.contract, &document.version)?;
        if view.has_other_content(document) {
            found.push(at.clone());
        }
    }
    Ok(found)
}

/// Returns what the history of HEAD says about the contract: whether the branch may lack what was published.
fn history(
    ctx: &Ctx,
    acting: ActingRepo<'_>,
    (at, file): (&ContractRef, &WorkFile),
    (view, document): (&DomainView, &Contract),
) -> Result<Candidate, OpError> {
    let (code, mut candidate) = (ctx.code()?, Candidate::default());
    let source = view.sources.get(acting.repo);
    if let (Some(commit), Some(source)) = (code.head()?.commit, source) {
        let (path, document) = (file.relative().to_owned(), document.clone());
        let declared = Declared { path, document, lines: BTreeMap::new(), changed: true };
        candidate.contracts.insert((at.domain.clone(), at.contract.clone()), declared);
        let sources = BTreeMap::from([(at.domain.clone(), source.clone())]);
        let mut required = concurrent::required(code, &sources, &commit)?;
        // Whoever settles a conflict may lack the other side.
        if view.conflicts.contracts.contains_key(&at.contract) {
            required = sources.into_iter().filter_map(|(domain, source)| Some((domain, source.commit?))).collect();
        }
        mark_behind(code, (&commit, None), &without_merging(code, required)?, &mut candidate)?;
    }
    Ok(candidate)
}

/// Returns the error for a branch without the published version: what it lacks would count as removed.
fn lacking(at: &ContractRef, published: &Contract, merge: &str, older_line: Option<&str>) -> OpError {
    let message = format!("cannot choose the level: this branch lacks the published {at} {}", published.version);
    OpError::no(ErrorCode::FetchFirst, message)
        .next(merge)
        .next(older_line.unwrap_or("or pass major, minor or patch to choose the level yourself, and merge later"))
}

/// Returns the error for a file that still has the content of an older version: a new version would undo what was
/// published since.
fn outdated(ctx: &Ctx, at: &ContractRef, file: &WorkFile, published: &Contract, document: &Contract) -> OpError {
    let (path, old, new) = (file.relative(), &document.version, &published.version);
    let place = file.argument(ctx);
    OpError::no(ErrorCode::CannotEdit, format!("{path} is unchanged since {old}, and the realm has {at} {new}"))
        .next(format!("git blue contract get {at} --format yaml >{place}  # update the file"))
        .next(format!("git blue contract bump {at} major  # or return to {old}, under a new version"))
}

/// Returns the error for a file that leaves the choice of the version to publishing.
fn automatic(
    ctx: &Ctx,
    request: &Request,
    file: &WorkFile,
    (view, published): (&DomainView, &Contract),
    document: &Contract,
) -> OpError {
    let path = file.relative();
    let raised = |level| raised(view, published, level);
    let write = |version: &Version| format!("write version: \"{version}\" in {path}");
    if let Some(need) = need(ctx, view, published, document).filter(|need| need.bump == VersionBump::Unknown) {
        let message = format!("{path} says version: auto, but publishing cannot choose the version: {}", need.reason);
        let choose = write(&raised(Level::Major));
        return OpError::no(ErrorCode::Undecided, message)
            .next(format!("{choose} if it may break consumers, or \"{}\" if it does not", raised(Level::Minor)));
    }
    let next = next_version::with_version(view, document, &ctx.judge()).version;
    let own = request.level().map_or_else(|| next.clone(), raised);
    let message = format!("{path} says version: auto, so publishing chooses the version, currently {next}");
    OpError::no(ErrorCode::CannotEdit, message).next(format!("{} to choose the version yourself", write(&own)))
}

fn read_file(
    ctx: &Ctx,
    acting: ActingRepo<'_>,
    at: &ContractRef,
    file: &WorkFile,
) -> Result<(String, Contract), OpError> {
    let Some(text) = file.read()? else {
        let error = OpError::no(ErrorCode::NoSuchFile, format!("this repository has no {}", file.relative()));
        return Err(match domain::contract(acting.store, at) {
            Ok(held) if held.owner == *acting.repo => error.next(bring_back(ctx, at, file, "try again")?),
            Ok(held) => error.next(format!("run it in {}, which owns {at}", held.owner)),
            Err(unknown) if matches!(unknown.code, ErrorCode::UnknownDomain | ErrorCode::UnknownContract) => unknown,
            Err(_) => error,
        });
    };
    let document =
        codec::contract(text.as_bytes(), &at.contract).map_err(|problem| problem.in_file(file.relative()))?;
    Ok((text, document))
}

/// Returns the step that raises the version of a contract whose current version was yanked.
pub fn after_yank(ctx: &Ctx, at: &ContractRef) -> String {
    let missing = || {
        let file = WorkFile::of(ctx.code()?, contract_path(&at.domain, &at.contract))?;
        let then = "correct it and bump its version: the current version is the yanked one";
        file.read()?.is_none().then(|| bring_back(ctx, at, &file, then)).transpose()
    };
    // The yank succeeded, so a file that cannot be read is no error.
    missing().ok().flatten().unwrap_or_else(|| {
        format!("git blue contract bump {at}  # first correct the file: the current version is the yanked one")
    })
}

/// Returns the command that brings back the missing file of this repository's contract, and what to do `then`.
pub(super) fn bring_back(ctx: &Ctx, at: &ContractRef, file: &WorkFile, then: &str) -> Result<String, OpError> {
    let code = ctx.code()?;
    let tree = code.head()?.commit.map(|commit| code.tree_of(&commit)).transpose()?;
    let committed = tree.map(|tree| read::lookup(code, &tree, file.relative())).transpose()?.flatten();
    let path = file.relative();
    Ok(match committed {
        Some(_) => {
            format!("git restore --staged --worktree {}{path}  # bring it back, then {then}", ctx.up_to_root())
        }
        None => {
            format!("{}  # write its file, then {then}", write_file(&at.domain, &at.contract, &ctx.up_to_root()))
        }
    })
}

fn in_another_file(file: &WorkFile, from: &str, new: &Version) -> OpError {
    let message = format!("{}: the version is read from {from}", file.relative());
    OpError::no(ErrorCode::CannotEdit, message).next(format!("{}, and commit", write_version(new, Some(from))))
}

fn published<'a>(ctx: &Ctx, at: &ContractRef, file: &WorkFile, view: &'a DomainView) -> Result<&'a Contract, OpError> {
    let published = match domain::current(view, &at.contract) {
        Err(error) if error.code == ErrorCode::UnknownContract => return Err(unpublished(ctx, at, file)?),
        Err(error) if error.code == ErrorCode::OnlyPreReleases => {
            let newest = view.versions.get(&at.contract).and_then(|known| known.last());
            let steps = newest.map(|newest| {
                let next = free_prerelease(view, &at.contract, newest.clone());
                format!(
                    "{} in {}, or \"{}\" to release it",
                    write_version(&next, None),
                    file.relative(),
                    newest.release()
                )
            });
            return Err(OpError { next_steps: Vec::new(), ..error }.next_all(steps));
        }
        published => published?,
    };
    match &published.retired {
        Some(retired) => {
            Err(OpError::no(ErrorCode::Retired, format!("{at} is retired: {}", retired.reason)).next(format!(
                "remove {}; to publish the contract again, write a version above {} in it, and commit",
                file.relative(),
                published.version
            )))
        }
        None => Ok(published),
    }
}

/// Returns why the current content needs another version, if it does.
fn unusable(view: &DomainView, published: &Contract) -> Option<&'static str> {
    let conflicts = view.conflicts.contracts.get(&published.name);
    match published.yanked_reason(&published.version) {
        Some(_) => Some("was yanked"),
        None if conflicts.is_some_and(|versions| versions.contains(&published.version)) => Some("was published twice"),
        None => None,
    }
}

/// Returns whether publishing accepts the version of a document that has the content of the published one.
fn is_accepted(view: &DomainView, published: &Contract, document: &Contract) -> bool {
    document.version >= published.version && !view.has_other_content(document)
}

/// Returns whether a document is a published pre-release.
fn is_published_prerelease(view: &DomainView, document: &Contract) -> bool {
    let published = view.document(&document.name, &document.version);
    document.version.is_prerelease() && published.is_some_and(|published| published.has_same_content(document))
}

/// Returns the error for a contract that is not published yet.
fn unpublished(ctx: &Ctx, at: &ContractRef, file: &WorkFile) -> Result<OpError, OpError> {
    let message = format!("{at} is not published yet: the version in its file will be the first one");
    let code = ctx.code()?;
    let step = match is_committed_as_is(code, file)? {
        true if matches!(policy::of(code)?, Policy::Ci | Policy::Off) => None,
        true => Some("git blue contract publish  # its file is committed".to_owned()),
        false => Some(format!("git add {} && git commit -m \"Add the contract {at}\"", file.pathspecs(ctx, [])?)),
    };
    let sync = auto::sync_first(ctx.acting_repo()?.store, "published");
    Ok(OpError::no(ErrorCode::NotPublished, message).next_all(sync.into_iter().chain(step)))
}

/// Returns whether HEAD has the file with the content of the working tree.
fn is_committed_as_is(code: &CodeRepo, file: &WorkFile) -> Result<bool, OpError> {
    let (Some(commit), Some(text)) = (code.head()?.commit, file.read()?) else { return Ok(false) };
    let committed = read::lookup(code, &code.tree_of(&commit)?, file.relative())?;
    Ok(committed.map(|entry| code.is_content(text.as_bytes(), &entry.id)).transpose()?.unwrap_or_default())
}

/// Returns the requested version, or the one that the change requires.
fn wanted(
    at: &ContractRef,
    level: Option<Level>,
    (view, published): (&DomainView, &Contract),
    need: Option<&Need>,
) -> Result<Version, OpError> {
    match (level, need) {
        (Some(level), _) => Ok(raised(view, published, level)),
        (None, Some(need)) if need.bump != VersionBump::Unknown => Ok(free_version(view, published, need.bump)),
        (None, need) => {
            let reason = need.map(|need| need.reason.as_str()).unwrap_or_default();
            Err(OpError::no(ErrorCode::Undecided, format!("cannot choose the level: {reason}"))
                .next(format!("git blue contract bump {at} major  # if it may break consumers"))
                .next(format!("git blue contract bump {at} minor  # if it does not")))
        }
    }
}

/// Returns the first version above the published one by this level that was never published.
fn raised(view: &DomainView, published: &Contract, level: Level) -> Version {
    next_version::free(view, &published.name, published.version.raised(level), |version| version.raised(level))
}

/// Returns the version that the file has if it is unpublished and not below the `wanted` one. A pre-release is followed by
/// another one, because its release is for its author to decide.
fn kept(view: &DomainView, published: &Contract, own: &Version, wanted: Version) -> Version {
    if own.is_prerelease() && own.release() > published.version {
        let from = if own.release() >= wanted { own.clone() } else { wanted.with_prerelease_of(own) };
        return free_prerelease(view, &published.name, from);
    }
    let is_published = view.versions.get(&published.name).is_some_and(|known| known.contains(own));
    if *own > wanted && !is_published { own.clone() } else { wanted }
}

/// Returns whether going from one version to another announces a breaking change. A pre-release of a breaking version
/// announces it too.
fn is_break(from: &Version, to: &Version) -> bool {
    to.release() >= from.next_breaking()
}
