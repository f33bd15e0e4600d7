//! The tools for realms, where they do more than call their operations.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{
    super::{
        body::{Body, MAX_STEPS, Room},
        size_limit::MAX_BODY,
    },
    Call,
};
use crate::{
    error::{NextStep, OpError},
    model::{check::Finding, rank::Rank},
    ops::{
        operation,
        realm::{
            check, review,
            status::{self, Outcome},
            topology,
        },
    },
    wire::{DomainStatus, ImportStatus, RealmCheck, RealmStatus},
};

/// The level of detail of an answer.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Detailed {
    /// full: omit nothing
    #[expect(dead_code, reason = "it is read as a word")]
    detail: Option<Detail>,
}

/// The level of detail.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Detail {
    Concise,
    Full,
}

/// The scope of a check.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ScopeArgument {
    /// all: the whole realm; published: without this repository's files
    scope: Option<CheckedScope>,
}

/// The values of `scope`.
#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum CheckedScope {
    Own,
    All,
    Published,
}

/// The number of domains that `realm_status` lists.
const MAX_DOMAINS: usize = 20;
/// With more imports than this, `realm_status` lists only those that are not current.
const MAX_IMPORTS: usize = 30;
/// The maximum number of repositories that `realm_status` and `realm_topology` list.
const MAX_REPOS: usize = 50;
/// The maximum number of own contracts that `realm_status` lists. Those that break consumers come first.
const MAX_OWN: usize = 10;
/// The maximum number of open offers that are listed.
const MAX_OFFERS: usize = 20;
/// The number of contracts that it lists in total, the same number for each domain. With more, few domains would fit
/// into a message.
const MAX_LISTED: usize = 160;
/// The number of contracts on a page of the topology. More seldom fit into a message.
pub const TOPOLOGY_PAGE: usize = 50;
/// The maximum number of schema hashes that a concise `realm_check` lists.
const MAX_HASHES: usize = 20;
/// The maximum number of warnings with the same code that a concise `realm_check` lists.
const MAX_OF_A_CODE: usize = 3;

pub fn status(call: &Call<'_>) -> Result<Body, OpError> {
    let Outcome { mut answer, cursors, .. } = status::run(call.ctx, &operation::read(call.page_fields(MAX_DOMAINS)?)?)?;
    let omitted = shorten(&mut answer.body);
    answer.next_steps.extend(omitted);
    let mut body = call.body(&answer)?;
    body.fit("domains", &cursors);
    body.suggest_next_page();
    Ok(body)
}

/// Reviews the imports. Each import of a page comes with its step: in the import, if there are more than an answer has
/// room for.
pub fn review(call: &Call<'_>) -> Result<Body, OpError> {
    let mut answer = review::run(call.ctx)?;
    let is_long = answer.next_steps.len() >= MAX_STEPS;
    for import in &mut answer.body.imports {
        let step = import.next_step.take().filter(|_| is_long);
        answer.next_steps.retain(|one| step.as_ref() != Some(one));
        import.next_step = step.and_then(|step| call.follow_up().rewrite(&step));
    }
    call.body(&answer)
}

/// Shortens the lists that would fill a message. Returns next steps that say what was left out.
pub fn shorten(status: &mut RealmStatus) -> Vec<NextStep> {
    limit_contracts(&mut status.domains);
    limit_own_contracts(status);
    status.more_offers += status.offers.len().saturating_sub(MAX_OFFERS);
    status.offers.truncate(MAX_OFFERS);
    let repos = limit_repos(&mut status.repos);
    repos.into_iter().chain(limit_imports(&mut status.imports)).collect()
}

/// Keeps the first repositories. If there are more, returns a next step that counts them.
fn limit_repos<T>(repos: &mut Vec<T>) -> Option<NextStep> {
    let all = repos.len();
    repos.truncate(MAX_REPOS);
    let step = || format!("{MAX_REPOS} of {all} repositories are listed: realm_topology lists the members of a domain");
    (all > MAX_REPOS).then(|| step().into())
}

/// Keeps the first contracts of each domain and counts the others.
fn limit_contracts(domains: &mut [DomainStatus]) {
    let most = MAX_LISTED / domains.len().max(1);
    for domain in domains {
        domain.more_contracts += domain.contracts.len().saturating_sub(most);
        domain.contracts.truncate(most);
    }
}

/// Keeps the first own contracts and counts the others.
fn limit_own_contracts(status: &mut RealmStatus) {
    status.more_own_contracts += status.own_contracts.len().saturating_sub(MAX_OWN);
    status.own_contracts.truncate(MAX_OWN);
}

/// Removes imports that need no attention, if there are many imports, and those that would take more than half of a
/// message. They would fill every page. If something was removed, returns a next step that says so.
fn limit_imports(imports: &mut Vec<ImportStatus>) -> Option<NextStep> {
    let all = imports.len();
    if all > MAX_IMPORTS {
        imports.retain(|import| import.rank < Rank::Import);
    }
    let with_problem = imports.len();
    let mut room = Room(MAX_BODY / 2);
    let kept = imports.iter().take_while(|import| room.takes(import)).count();
    imports.truncate(kept);
    let listed = || format!("{kept} of {all} imports are listed: realm_review lists all that need a review");
    let others = || format!("{} of {all} imports hold and are not listed", all - with_problem);
    (kept < all).then(|| if kept < with_problem { listed() } else { others() }.into())
}

pub fn topology(call: &Call<'_>) -> Result<Body, OpError> {
    call.paged(TOPOLOGY_PAGE, |fields| {
        let mut answer = topology::run(call.ctx, &operation::read(fields)?)?;
        let repos = limit_repos(&mut answer.body.repos);
        answer.next_steps.extend(repos);
        call.body(&answer)
    })
}

pub fn check(call: &Call<'_>) -> Result<Body, OpError> {
    let mut arguments = call.arguments.clone();
    match call.arguments.read_as::<ScopeArgument>()?.scope {
        Some(CheckedScope::All) => arguments.insert("all", true),
        Some(CheckedScope::Published) => arguments.insert("published", true),
        Some(CheckedScope::Own) | None => {}
    }
    let request: check::Request = arguments.read_as()?;
    let mut answer = check::run(call.ctx, &request)?;
    let RealmCheck { current_repo, schema_hashes: hashes, warnings, .. } = &mut answer.body;
    if !call.is_full() {
        if let Some(repo) = current_repo.as_ref().filter(|_| hashes.len() > MAX_HASHES) {
            hashes.retain(|one| one.owner == *repo);
        }
        let left_out = Some(hashes.len()).filter(|count| *count > MAX_HASHES);
        if left_out.is_some() {
            hashes.clear();
        }
        let hashes = left_out.map(|count| format!("{count} schema hashes are left out: detail full lists them").into());
        let lines = hashes.into_iter().chain(group_warnings(warnings)).collect::<Vec<NextStep>>();
        answer.next_steps.extend(lines);
    }
    call.body(&answer)
}

/// Keeps the first warnings of each code, and returns a next step for each code that has more.
fn group_warnings(warnings: &mut Vec<Finding>) -> Vec<NextStep> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    warnings.retain(|warning| {
        let count = counts.entry(warning.code.clone().into_owned()).or_default();
        *count += 1;
        *count <= MAX_OF_A_CODE
    });
    let many = counts.into_iter().filter(|(_, count)| *count > MAX_OF_A_CODE);
    let line = |(code, count)| {
        format!("{count} warnings are {code}; {MAX_OF_A_CODE} of them are listed: detail full lists all").into()
    };
    many.map(line).collect()
}

pub fn log(call: &Call<'_>) -> Result<Body, OpError> {
    call.paged(50, |fields| {
        let mut body = call.ask(fields)?;
        if let Some(Value::Array(entries)) = body.fields.get_mut("entries") {
            for entry in entries.iter_mut().filter_map(Value::as_object_mut) {
                if !call.is_full() {
                    entry.remove("reason");
                    entry.remove("source_commit");
                    entry.remove("commit_url");
                }
            }
        }
        Ok(body)
    })
}
