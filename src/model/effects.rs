//! The effects of a change on a domain: the imports that it breaks, and its own problems. Only the changed domain is
//! considered.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{
    binding::{Binding, Import, UsedIn},
    contract::{Contract, Flow},
    domain_view::{DomainView, ImportResolution},
    json::Json,
    name::{ContractName, RepoName},
    nearest::{Suggestions, nearest, question},
    range::Range,
    schema::{self, Forest, KeywordWarning},
    successor::Successor,
    verdict::{ImportState, Judge, NothingValid, Outcome, Promise, Verdict, VersionBump, needed_bump},
};

/// The maximum number of words of one schema that are listed as ineffective. One remark says if there are more.
const MAX_KEYWORDS: usize = 20;

/// An import that a change breaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Broken {
    /// The repository that imports the contract.
    pub repo: RepoName,
    /// The version range of the import.
    pub version_req: Range,
    /// The files of that repository that rely on the contract: a path, or a list of paths.
    pub binding: UsedIn,
    /// The reason, with a value that shows it; null if the range refuses the version and nothing else is known.
    pub verdict: Option<Verdict>,
}

/// A remark that does not prevent a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Remark {
    /// The stable code of the remark, as in `realm_check`.
    pub code: Cow<'static, str>,
    /// The contract that the remark concerns.
    pub contract: ContractName,
    /// The name that was probably meant, if a similar one exists.
    pub nearest: Option<ContractName>,
    /// The remark, phrased as the end of a sentence.
    pub message: String,
    /// The part of the document that it concerns, as a pointer.
    #[serde(skip)]
    pub place: Option<String>,
}

impl Remark {
    /// Returns a remark on a contract as a whole.
    fn new(code: &'static str, contract: &ContractName, message: String) -> Self {
        Self { code: code.into(), contract: contract.clone(), nearest: None, message, place: None }
    }
}

/// Returns the imports of `contract` that are satisfied in `before` but not in `after`.
pub fn breaks(before: &DomainView, after: &DomainView, contract: &ContractName, judge: &Judge<'_>) -> Vec<Broken> {
    let states = after.importers(contract).map(|(repo, import)| (repo, import, ImportState::of(after, import, judge)));
    let broken = states.filter(|(_, import, state)| state.is_broken() && holds(before, import, judge));
    let broken = broken.map(|(repo, import, state)| Broken {
        repo: repo.clone(),
        version_req: import.version.clone(),
        binding: import.binding.clone(),
        verdict: state.verdict.filter(|verdict| verdict.difference.is_some()),
    });
    broken.collect()
}

fn holds(domain: &DomainView, import: &Import, judge: &Judge<'_>) -> bool {
    domain.resolve_import(import).resolved().is_some() && !ImportState::of(domain, import, judge).is_broken()
}

/// Returns the remarks on the new document of a contract. `domains` are the domain before the change and after it.
pub fn remarks_on_contract(domains: (&DomainView, &DomainView), after: &Contract, judge: &Judge<'_>) -> Vec<Remark> {
    let domain = domains.0;
    let before = domain.contracts.get(&after.name);
    let remark = |code, message| Remark::new(code, &after.name, message);
    let mut remarks = Vec::new();
    let is_retired = |domain: &DomainView| domain.contracts.get(&after.name).is_some_and(|held| held.retired.is_some());
    if is_retired(domain) && !is_retired(domains.1) {
        let message = format!("this publishes {} again, although it was retired", after.name);
        remarks.push(remark("brought-back", message));
    }
    remarks.extend(before.and_then(|before| remark_on_retirement(before, after)));
    if after.is_empty() {
        remarks.push(remark("empty-contract", format!("{} has neither a schema nor a value", after.name)));
    }
    remarks.extend(remarks_on_document(after, judge));
    remarks.extend(before.map(|before| of_formats(before, after)).unwrap_or_default());
    if let Some((before, promise)) = before.and_then(|before| Some((before, Promise::of(before, after, judge)?))) {
        let of_promise = of_promise(domain, before, after, &promise);
        remarks.extend(of_promise.into_iter().map(|(code, message)| remark(code, message)));
    }
    remarks.extend(before.and_then(|before| of_evolution(before, after, judge)));
    remarks.extend(before.and_then(|before| of_patch(before, after, judge)));
    remarks.extend(remarks_on_deprecation(domains.1, after));
    remarks
}

/// Returns a remark on the document of a retired contract, which is not published again at the same version.
pub fn remark_on_retirement(held: &Contract, document: &Contract) -> Option<Remark> {
    let (name, version) = (&held.name, &held.version);
    let message = format!("{name} stays retired; write a version above {version} to publish it again");
    (held.retired.is_some() && *version == document.version).then(|| Remark::new("still-retired", name, message))
}

/// Returns a remark on a pre-release that deprecates its contract: the deprecation takes effect only with the release.
pub fn remark_on_prerelease(held: &Contract, document: &Contract) -> Option<Remark> {
    let (name, current, version) = (&held.name, &held.version, &document.version);
    let message = format!(
        "the deprecation in {version} takes effect once it is released; to deprecate {name} now, add it to {current} \
            and publish that"
    );
    let is_waiting = version.is_prerelease() && document.deprecated.is_some() && document.deprecated != held.deprecated;
    let place = Some("/deprecated".to_owned());
    is_waiting.then(|| Remark { place, ..Remark::new("not-in-effect", name, message) })
}

/// Returns a remark on a new version that its owner does not describe as incompatible, although it breaks consumers.
fn of_evolution(before: &Contract, after: &Contract, judge: &Judge<'_>) -> Option<Remark> {
    let (name, old, new) = (&after.name, &before.version, &after.version);
    let (index, _) = after.evolution.iter().enumerate().find(|(_, one)| one.version == *new && one.compatible)?;
    let verdict = judge.for_importers(before, after).filter(|_| new > old)?;
    let message = format!(
        "evolution does not say that {name} {new} breaks consumers of {old}: {}; write compatible: false",
        verdict.phrase()
    );
    let place = Some(format!("/evolution/{index}"));
    (verdict.verdict == Outcome::Breaks).then(|| Remark { place, ..Remark::new("breaking-evolution", name, message) })
}

/// Returns a remark on a patch version that changes which values are valid or sent, or what is promised.
fn of_patch(before: &Contract, after: &Contract, judge: &Judge<'_>) -> Option<Remark> {
    let (name, old, new, needs) = (&after.name, &before.version, &after.version, before.version.next_compatible());
    let is_patch = new > old && new.release() < needs;
    let is_too_small = is_patch && needed_bump(before, after, judge) == VersionBump::Minor;
    let message =
        format!("{name} {old} -> {new} is a patch version, but what is valid, sent or promised changed; write {needs}");
    let place = Some("/version".to_owned());
    is_too_small.then(|| Remark { place, ..Remark::new("small-bump", name, message) })
}

/// Returns remarks on a deprecation that names a contract or a version that does not exist.
pub fn remarks_on_deprecation(domain: &DomainView, after: &Contract) -> Vec<Remark> {
    let Some(deprecated) = &after.deprecated else { return Vec::new() };
    let (name, mut remarks) = (&after.name, Vec::new());
    if let Some(other) = deprecated.replaced_by.as_ref().filter(|other| !is_known(domain, other)) {
        let meant = nearest(other, names(domain).filter(|one| *one != name));
        let missing = missing(&format!("{name} is replaced by"), other, meant);
        let place = Some("/deprecated/replaced_by".to_owned());
        remarks.push(Remark { code: "unknown-successor".into(), contract: name.clone(), place, ..missing });
    }
    remarks.extend(of_successor(domain, after));
    let newest = domain.versions.get(name).into_iter().flatten().chain([&after.version]).max();
    if let Some(newest) = newest.filter(|newest| deprecated.since > **newest) {
        let message = format!("deprecated.since is {}, but the newest version is {newest}", deprecated.since);
        let place = Some("/deprecated/since".to_owned());
        remarks.push(Remark { place, ..Remark::new("deprecated-later", name, message) });
    }
    remarks
}

/// Returns a remark on a successor that consumers cannot move to, or that is replaced too.
fn of_successor(domain: &DomainView, after: &Contract) -> Option<Remark> {
    let name = &after.name;
    let first = after.deprecated.as_ref()?.replaced_by.as_ref()?;
    let state = |name: &ContractName| {
        domain.contracts.get(name).map(|contract| (contract.deprecated.as_ref(), contract.retired.is_some()))
    };
    let message = match Successor::of(name, first, state) {
        Successor::Last(last) if last == first => return None,
        Successor::Last(last) => format!("{name} is replaced by {first}, which is deprecated too: write {last}"),
        Successor::Retired(last) if last == first => format!("{name} is replaced by {first}, which is retired"),
        Successor::Retired(last) => format!("{name} is replaced by {first}, and finally by {last}, which is retired"),
        Successor::Circle(_) => format!("{name} is replaced by {first}, but the replacements form a circle"),
    };
    let place = Some("/deprecated/replaced_by".to_owned());
    Some(Remark { place, ..Remark::new("dead-successor", name, message) })
}

/// Returns remarks on a contract alone: words in its schema that have no effect, although they look like keywords, a schema
/// that allows nothing, and a promise that protects no consumer.
pub fn remarks_on_document(contract: &Contract, judge: &Judge<'_>) -> Vec<Remark> {
    let name = &contract.name;
    let told = |place: &str, message: String| format!("{name}: {place}: {message}");
    let mut remarks = ineffective(name, &contract.schema, "/schema", told);
    let nothing = judge.nothing_valid(contract).map(NothingValid::warning);
    remarks.extend(remarks_of(name, nothing.into_iter().collect(), "/schema", told));
    remarks.extend(of_direction(contract));
    remarks
}

/// Returns a remark on a contract that promises only the direction that does not matter to its consumers.
fn of_direction(contract: &Contract) -> Option<Remark> {
    let (name, needed) = (&contract.name, contract.flow.direction());
    let promised = contract.compatibility.directions();
    let is_wrong = !promised.is_empty() && !promised.contains(&needed);
    let consumers = match contract.flow {
        Flow::ConsumerToProvider => "send",
        Flow::ProviderToConsumer => "read",
    };
    let word = needed.word();
    let message = format!(
        "{name}: its consumers {consumers} the data, but `compatibility` does not promise the {word} direction; write \
            {word}: true"
    );
    let place = Some("/compatibility".to_owned());
    is_wrong.then(|| Remark { place, ..Remark::new("wrong-direction", name, message) })
}

/// Returns remarks on ineffective words in the `expects` schemas of a binding's imports.
pub fn remarks_on_expectations(binding: &Binding) -> Vec<Remark> {
    let imports = binding.imports.iter().enumerate();
    let of_import = |(index, import): (usize, &Import)| {
        let (name, expects) = (&import.contract, import.expects.as_ref()?);
        let told = |_: &str, message: String| format!("the import of {name}: expects: {message}");
        let (forest, [root]) = Forest::of_json([expects]);
        let named = schema::in_older_draft(forest.tree(root)).map(Json::from);
        Some(ineffective(name, named.as_ref().unwrap_or(expects), &format!("/imports/{index}/expects"), told))
    };
    imports.filter_map(of_import).flatten().collect()
}

fn ineffective(contract: &ContractName, schema: &Json, at: &str, told: impl Fn(&str, String) -> String) -> Vec<Remark> {
    let (forest, [root]) = Forest::of_json([schema]);
    remarks_of(contract, schema::warnings(forest.tree(root)), at, told)
}

/// Returns remarks on formats that changed, which the comparison of the schemas does not consider.
fn of_formats(before: &Contract, after: &Contract) -> Vec<Remark> {
    let name = &after.name;
    let (forest, [old, new]) = Forest::of_json([&before.schema, &after.schema]);
    let found = schema::uncompared_formats(forest.tree(old), forest.tree(new));
    remarks_of(name, found, "/schema", |place, message| format!("{name}: {place}: {message}"))
}

fn remarks_of(
    contract: &ContractName,
    mut found: Vec<KeywordWarning>,
    at: &str,
    told: impl Fn(&str, String) -> String,
) -> Vec<Remark> {
    let remark = |one: KeywordWarning| {
        let place = format!("{at}{}", one.pointer);
        let message = told(&place, one.message());
        Remark { place: Some(place), ..Remark::new(one.rule(), contract, message) }
    };
    let rest = found.split_off(found.len().min(MAX_KEYWORDS));
    let mut remarks: Vec<_> = found.into_iter().map(remark).collect();
    remarks.extend(rest.first().map(|one| {
        let what = format!("more than {MAX_KEYWORDS} warnings; correct the first {MAX_KEYWORDS}, then check again");
        Remark { place: Some(at.to_owned()), ..Remark::new(one.rule(), contract, told(at, what)) }
    }));
    remarks
}

/// Returns remarks on breaks of a promise that are not refused because the version is a pre-release, the break was
/// approved, or the result is undecided.
fn of_promise(
    domain: &DomainView,
    before: &Contract,
    after: &Contract,
    promise: &Promise,
) -> Vec<(&'static str, String)> {
    let (name, old, new) = (&after.name, &before.version, &after.version);
    let mut remarks = Vec::new();
    let is_broken = !promise.broken.is_empty();
    let approvals = domain.approvals.get(name).into_iter().flatten();
    if let Some(approval) = promise.approved(approvals).filter(|_| is_broken) {
        let message =
            format!("{name} {old} -> {new} breaks {}, which was approved: {}", promise.directions(), approval.reason);
        remarks.push(("break-approved", message));
    } else if is_broken && new.is_prerelease() {
        let (directions, shown, needs) = (promise.directions(), promise.phrase(), old.next_breaking());
        let message = format!("{name} {old} -> {new} breaks {directions}: {shown}; its release requires {needs}");
        remarks.push(("breaks-promise", message));
    }
    for verdict in &promise.unknown {
        let direction = verdict.direction.word();
        let why = verdict.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        let message = format!("it is unknown whether {name} {old} -> {new} breaks {direction} compatibility{why}");
        remarks.push(("compatibility-unknown", message));
    }
    remarks
}

/// Returns the problems of a repository's binding: names that do not exist, and ranges that no version satisfies. Those
/// of imports that `before`, the previous binding, did not have come first.
pub fn remarks_on_binding(
    domain: &DomainView,
    before: Option<&Binding>,
    binding: &Binding,
    judge: &Judge<'_>,
) -> Vec<Remark> {
    let before = before.map(Binding::by_contract).unwrap_or_default();
    let is_known_before =
        |import: &&Import| before.get(&import.contract).is_some_and(|old| old.version == import.version);
    let (old, new): (Vec<_>, Vec<_>) = binding.imports.iter().partition(is_known_before);
    let names = names(domain).collect();
    let mut suggestions = Suggestions::among(&names);
    let imports = new.into_iter().chain(old);
    let mut remarks: Vec<_> = imports.filter_map(|one| of_import(domain, one, judge, &mut suggestions)).collect();
    let exports = binding.exports.iter().map(|export| &export.contract).filter(|name| !is_known(domain, name));
    remarks.extend(exports.map(|name| missing("it exports", name, suggestions.nearest(name))));
    remarks.extend(remarks_on_expectations(binding));
    remarks
}

fn of_import(
    domain: &DomainView,
    import: &Import,
    judge: &Judge<'_>,
    suggestions: &mut Suggestions<'_, ContractName>,
) -> Option<Remark> {
    let name = &import.contract;
    let what = format!("it imports {name} {}", import.version);
    let (code, message) = match domain.resolve_import(import) {
        ImportResolution::Satisfied(_) | ImportResolution::Behind { .. } => {
            let state = ImportState::of(domain, import, judge);
            let code = match (state.is_broken(), state.lacks_properties()) {
                (true, _) => "import-broken",
                (false, true) => "expects-unnamed",
                (false, false) => return None,
            };
            (code, format!("{what}, but {}", state.verdict.as_ref()?.phrase()))
        }
        // `check` reports the damage, and it is unknown whether the import is satisfied.
        ImportResolution::Unreadable => return None,
        ImportResolution::Missing if is_known(domain, name) => {
            ("missing-contract", format!("{what}, which has no release yet"))
        }
        ImportResolution::Missing => return Some(missing("it imports", name, suggestions.nearest(name))),
        ImportResolution::Broken { current } => {
            ("import-broken", format!("{what}, but the current version is {current}"))
        }
    };
    Some(Remark::new(code, name, message))
}

fn is_known(domain: &DomainView, name: &ContractName) -> bool {
    domain.contracts.contains_key(name) || domain.versions.contains_key(name) || domain.is_damaged(name)
}

fn names(domain: &DomainView) -> impl Iterator<Item = &ContractName> {
    domain.contracts.keys().chain(domain.versions.keys())
}

/// Returns the remark on a missing contract. `nearest` is the one that was probably meant.
fn missing(what: &str, name: &ContractName, nearest: Option<&ContractName>) -> Remark {
    let message = format!("{what} {name}, which does not exist{}", question(nearest));
    Remark { nearest: nearest.cloned(), ..Remark::new("missing-contract", name, message) }
}
