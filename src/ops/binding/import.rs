//! `import`: adds an import to this repository's binding.

use std::path::{Path, PathBuf};

use super::edit::{Editing, membership, own_path};
use crate::{
    error::{ErrorCode, OpError},
    model::{
        binding::{Import, Role, UsedIn},
        contract::Contract,
        name::{ContractFields, ContractRef},
        range::Range,
        version::Version,
        yaml_text,
    },
    ops::{
        Operation,
        ctx::Ctx,
        domain,
        pr::rfc::{self, Proposal},
        publish::references::Reference,
        runs,
    },
    store::Store,
    wire::{Answer, BindingEdit},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::writes::<Request>("import", &["import"], "Import a contract: add it to this repository's binding");

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The contract
    #[serde(flatten, with = "ContractFields")]
    #[cfg_attr(feature = "cli", arg(value_name = "DOMAIN/CONTRACT"))]
    pub contract: ContractRef,
    /// The versions that the code works with [default: the current version and later ones with the same major version
    /// (below 1.0.0, the same minor version); with --expects, all later ones]
    #[cfg_attr(feature = "cli", arg(value_name = "RANGE"))]
    pub range: Option<Range>,
    /// The files of this repository that use it; replaces the previous list
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE", num_args = 1..))]
    pub used_in: Vec<PathBuf>,
    /// A JSON Schema in this repository that describes what the code relies on: FILE or FILE#/POINTER
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub expects: Option<PathBuf>,
}

runs!(BindingEdit, run);

/// Adds the import.
///
/// # Errors
/// Returns an error if there is no such contract, if it is retired, or if the file cannot be edited.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<BindingEdit>, OpError> {
    let at = &request.contract;
    let acting = ctx.acting_repo()?;
    if let Some(why) = request.range.as_ref().and_then(Range::emptiness) {
        return Err(OpError::usage(why));
    }
    let Known { current, proposal } = known(ctx, acting.store, request)?;
    let used_in = request.used_in.iter().map(|file| own_path(ctx, file)).collect::<Result<UsedIn, _>>()?;
    let expects = request.expects.as_deref().map(|place| reference(ctx, place)).transpose()?;
    let mut editing = Editing::open(ctx, at, Role::Consumer)?;
    let held = editing.binding.imports.iter().position(|import| import.contract == at.contract);
    let range = match (&request.range, held, &current) {
        (Some(range), ..) => range.clone(),
        (None, Some(held), _) => editing.binding.imports[held].version.clone(),
        (None, None, Some(current)) => {
            // What the code relies on is known, so a later major version is judged by it.
            let since: fn(&Version) -> Range = if expects.is_some() { Range::at_least } else { Range::since };
            since(&newest(acting.store, at, current, since)?)
        }
        (None, None, None) => return Err(OpError::usage("a range is required: the contract has no release yet")),
    };
    if !editing.binding.role.consumes() {
        editing.set_role(Role::Both);
    }
    let version = yaml_text::quoted(range.as_str());
    let by_hand = format!("- {{ contract: {}, version: {version} }} below imports", at.contract);
    match held {
        Some(index) => change(&mut editing, index, &range, used_in),
        None => add(&mut editing, at, &range, used_in),
    }
    if let Some(place) = &expects {
        editing.expect(place)?;
    }
    let has_test = editing.binding.import(&at.contract).is_some_and(|import| import.validation.is_some());
    let is_accepted = current.as_ref().is_none_or(|current| range.matches(&current.version));
    let mut answer = editing.finish(&by_hand)?;
    if let Some(proposal) = &proposal {
        answer = answer.next(format!("git blue check --rfc {}  # {}", proposal.rfc, proposal.place(at)));
    }
    if let Some(join) = membership(acting, at)? {
        answer.next_steps.insert(0, join.into());
    }
    if current.as_ref().is_some_and(|current| current.owner == *acting.repo) {
        answer = answer
            .next(format!("git blue unimport {at}  # {} owns it, and is not notified of its own changes", acting.repo));
    }
    if expects.is_some() {
        answer = answer.next("git blue check --worktree  # check that the contract meets the expectations");
        if request.range.is_none() {
            answer.next_steps.extend(widening(at, &range).map(Into::into));
        }
    }
    if current.as_ref().is_some_and(|current| current.validation.importer.is_some()) && !has_test {
        answer = answer
            .next(format!("git blue contract get {at}  # see its suggested test, and set your own as the validation"));
    }
    let discouraged = current.as_ref().and_then(|current| discouraged(at, current));
    answer = answer.next_all(discouraged);
    Ok(match current {
        Some(current) if is_accepted && current.yanked_reason(&current.version).is_some() => answer.next(format!(
            "git blue contract get {at}  # {}, the current version, was yanked: see why",
            current.version
        )),
        Some(current) if !is_accepted => answer.next(format!(
            "git blue check --worktree  # the current version is {}, which {range} does not accept",
            current.version
        )),
        _ => answer,
    })
}

/// Returns the step if the contract is deprecated.
fn discouraged(at: &ContractRef, current: &Contract) -> Option<String> {
    let deprecated = current.deprecated.as_ref()?;
    let until = deprecated.sunset.map(|day| format!(", served until {day}")).unwrap_or_default();
    let why = format!("{at} is deprecated{until}");
    Some(match &deprecated.replaced_by {
        Some(other) => format!("git blue import {}/{other}  # {why}, and replaced by {other}", at.domain),
        None => format!("git blue contract get {at}  # {why}"),
    })
}

/// Returns the reference to a schema that the user named.
fn reference(ctx: &Ctx, place: &Path) -> Result<Reference, OpError> {
    let (file, pointer) = Reference::split(ctx.env.cwd(), place);
    Ok(Reference { file: own_path(ctx, file)?, pointer: pointer.to_owned() })
}

/// What is known of the contract.
struct Known {
    /// Its release that counts; `None` if it has none.
    current: Option<Contract>,
    /// The branch that has the contract, if it is not published.
    proposal: Option<Proposal>,
}

/// Returns the contract as it is published, or else as the branches of the current RFC have it.
fn known(ctx: &Ctx, store: &dyn Store, request: &Request) -> Result<Known, OpError> {
    let unknown = match current(store, request) {
        Err(error) if error.code == ErrorCode::UnknownContract => error,
        current => return Ok(Known { current: current?, proposal: None }),
    };
    let Some(proposal) = rfc::proposal(ctx, &request.contract)? else { return Err(unknown) };
    let is_release = |contract: &&Contract| !contract.version.is_auto() && !contract.version.is_prerelease();
    let current = Some(&proposal.contract).filter(is_release).cloned();
    Ok(Known { current, proposal: Some(proposal) })
}

/// Returns the current contract. Returns `None` if it has no release and a range was given.
fn current(store: &dyn Store, request: &Request) -> Result<Option<Contract>, OpError> {
    let at = &request.contract;
    let current = match domain::contract(store, at) {
        Ok(current) => current,
        Err(error) if error.code == ErrorCode::OnlyPreReleases && request.range.is_some() => return Ok(None),
        Err(error) => return Err(error),
    };
    match &current.retired {
        Some(_) => {
            let error = OpError::no(ErrorCode::Retired, format!("{at} is retired"))
                .next(format!("git blue contract get {at}  # show why"));
            let instead = current.deprecated.and_then(|deprecated| deprecated.replaced_by);
            Err(error.next_all(instead.map(|instead| format!("git blue import {}/{instead}", at.domain))))
        }
        None => Ok(Some(current)),
    }
}

/// Returns the step that removes the upper bound of the range, so that only `expects` decides whether later versions
/// are accepted. Returns `None` if the range has no upper bound.
pub fn widening(at: &ContractRef, range: &Range) -> Option<String> {
    let endless = range.without_end()?;
    Some(format!("git blue import {at} '{endless}'  # accept every later version that meets the expectations"))
}

/// Returns the newest release that was not yanked, and from which importers get a version: it is served itself, or the
/// range that `since` begins there accepts the current version.
fn newest(
    store: &dyn Store,
    at: &ContractRef,
    current: &Contract,
    since: fn(&Version) -> Range,
) -> Result<Version, OpError> {
    let is_usable = |version: &&Version| !version.is_prerelease() && current.yanked_reason(version).is_none();
    if is_usable(&&current.version) {
        return Ok(current.version.clone());
    }
    let view = domain::of_contract(store, at)?;
    let is_served = |version: &&Version| {
        since(version).matches(&current.version) || current.supported.iter().any(|range| range.matches(version))
    };
    let mut usable = view.versions.get(&at.contract).into_iter().flatten().rev().filter(is_usable).peekable();
    let message = match usable.peek() {
        Some(_) => format!("{}, the current version of {at}, was yanked, and no other one is served", current.version),
        None => format!("every version of {at} was yanked"),
    };
    usable.find(is_served).cloned().ok_or_else(|| {
        OpError::no(ErrorCode::YankedVersion, message).next(format!("git blue contract get {at}  # show why"))
    })
}

fn add(editing: &mut Editing<'_>, at: &ContractRef, range: &Range, used_in: UsedIn) {
    let name = yaml_text::plain(at.contract.as_str());
    let mut fields = vec![("contract", name), ("version", yaml_text::quoted(range.as_str()))];
    if !used_in.is_empty() {
        fields.push(("binding", as_yaml(&used_in)));
    }
    editing.step(|text| yaml_text::push(text, "imports", &fields));
    editing.binding.imports.push(Import::new(at.contract.clone(), range.clone(), used_in));
}

fn change(editing: &mut Editing<'_>, index: usize, range: &Range, used_in: UsedIn) {
    let import = &mut editing.binding.imports[index];
    let mut fields = Vec::new();
    if import.version != *range {
        import.version = range.clone();
        fields.push(("version", yaml_text::quoted(range.as_str())));
    }
    if !used_in.is_empty() && import.binding != used_in {
        fields.push(("binding", as_yaml(&used_in)));
        import.binding = used_in;
    }
    for field in fields {
        editing.step(|text| yaml_text::set_in_item(text, "imports", index, &field));
    }
}

fn as_yaml(used_in: &UsedIn) -> String {
    match used_in.files() {
        [file] => yaml_text::plain(file),
        files => yaml_text::plain_list(files),
    }
}
