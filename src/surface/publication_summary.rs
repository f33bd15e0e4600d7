//! Summarizes in one line what was published and which repositories it affects.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use crate::{
    model::{
        binding::UsedIn, candidate::CONTRACTS, change::phrase_of_field, name::RepoName, text::comma_separated_at_most,
    },
    wire::{ChangeKind, ContractPublish, Published},
};

/// The maximum number of repositories that one line names.
const MAX_REPOS: usize = 3;
/// The maximum number of contracts and bindings that one line names.
const MAX_PUBLISHED: usize = 8;

/// The hint that the change is not pushed automatically.
pub const UNSHARED: &str = "not pushed yet: git blue sync";

/// Returns the summary, if there is anything to report.
pub fn line(body: &ContractPublish) -> Option<String> {
    let (unbound, rest): (Vec<_>, Vec<_>) = body.published.iter().partition(|one| one.change == ChangeKind::Unbound);
    let (described, rest): (Vec<_>, Vec<_>) = rest.into_iter().partition(|one| one.change == ChangeKind::Described);
    let mut parts = Vec::new();
    if !rest.is_empty() {
        let cycle =
            body.cycles.first().map(|cycle| format!(", which closes a dependency cycle: {cycle}")).unwrap_or_default();
        parts.push(format!("published {}{cycle}", phrases(rest.into_iter())));
    }
    if !described.is_empty() {
        parts.push(format!("updated {}", phrases(described.into_iter())));
    }
    if !unbound.is_empty() {
        parts.push(format!("removed {}", phrases(unbound.into_iter())));
    }
    parts.extend(breaks_and_why(&body.published));
    parts.extend(remarks(&body.published));
    parts.extend(removed_files_line(&body.removed_files));
    if body.not_pushed && !body.published.is_empty() {
        parts.push(UNSHARED.to_owned());
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Returns the summary of what is published later, if it breaks a repository.
pub fn later(body: &ContractPublish) -> Option<String> {
    let breaks = breaks_and_why(&body.published)?;
    Some(format!("not published yet: {}; {breaks}", phrases(body.published.iter())))
}

fn breaks_and_why(published: &[Published]) -> Option<String> {
    breaks(published).map(|breaks| breaks + &why(published))
}

/// Returns the names of the first published items, and the number of the others.
pub fn phrases<'p>(published: impl Iterator<Item = &'p Published>) -> String {
    comma_separated_at_most(MAX_PUBLISHED, published.map(phrase))
}

/// Returns a short phrase for one published item.
pub fn phrase(published: &Published) -> String {
    let domain = &published.domain;
    match (&published.contract, &published.old_version, &published.new_version) {
        (Some(contract), Some(old), Some(new)) if old != new => format!("{domain}/{contract} {old} -> {new}"),
        (Some(contract), _, Some(new)) if published.fields.is_empty() => format!("{domain}/{contract} {new}"),
        (Some(contract), _, Some(new)) => {
            let phrase = |field: &Cow<str>| phrase_of_field(field, published.removed_fields.contains(field));
            let fields: Vec<_> = published.fields.iter().map(phrase).collect();
            format!("{domain}/{contract} {new} ({})", fields.join(", "))
        }
        (Some(contract), _, None) => format!("{domain}/{contract}"),
        (None, ..) => format!("the binding in {domain}"),
    }
}

/// Returns the broken repositories, each with the file that relies on the contract, as in `breaks billing
/// (billing/invoice.py)`, and which of several contracts break them.
pub fn breaks(published: &[Published]) -> Option<String> {
    let mut repos: BTreeMap<&RepoName, Vec<&UsedIn>> = BTreeMap::new();
    for one in published.iter().flat_map(|published| &published.breaks) {
        repos.entry(&one.repo).or_default().push(&one.binding);
    }
    let listed: usize = repos.values().map(Vec::len).sum();
    let all: usize = published.iter().map(|published| published.broken).sum();
    let mut names: Vec<_> = repos.iter().take(MAX_REPOS).map(|(repo, imports)| named(repo, imports)).collect();
    let more = repos.len().saturating_sub(MAX_REPOS) + all.saturating_sub(listed);
    if more > 0 {
        let contract = published
            .iter()
            .find(|one| one.broken > 0)
            .and_then(|one| Some(format!(" (git blue contract impact {}/{})", one.domain, one.contract.as_ref()?)));
        names.push(format!("and {more} more{}", contract.unwrap_or_default()));
    }
    let breaking = breaking(published);
    let verb = match (breaking.len(), published.iter().filter(|one| one.contract.is_some()).count()) {
        (_, 0 | 1) => "breaks".to_owned(),
        (1, _) => format!("{} breaks", breaking[0]),
        _ => format!("{} break", comma_separated_at_most(MAX_PUBLISHED, breaking)),
    };
    (!names.is_empty()).then(|| format!("{verb} {}", names.join(", ")))
}

/// Returns the contracts that break repositories.
fn breaking(published: &[Published]) -> Vec<String> {
    let breaking = published.iter().filter(|one| one.broken > 0);
    breaking.filter_map(|one| Some(format!("{}/{}", one.domain, one.contract.as_ref()?))).collect()
}

/// Returns the first reason for a break, with the repository and the contract that it concerns if others have another
/// one.
fn why(published: &[Published]) -> String {
    let found = published.iter().find_map(|of| {
        let one = of.breaks.iter().find(|one| one.verdict.is_some())?;
        Some((of, one, one.verdict.as_ref()?))
    });
    let Some((of, one, verdict)) = found else { return String::new() };
    let is_same = of.breaks.iter().all(|other| other.verdict.as_ref() == Some(verdict));
    let repo = if is_same { String::new() } else { format!("for {}, ", one.repo) };
    let contract = match &of.contract {
        Some(contract) if breaking(published).len() > 1 => format!("in {}/{contract}, ", of.domain),
        _ => String::new(),
    };
    format!(": {repo}{contract}{}", verdict.phrase())
}

fn named(repo: &RepoName, imports: &[&UsedIn]) -> String {
    let files: BTreeSet<_> = imports.iter().flat_map(|used_in| used_in.files()).collect();
    match files.first() {
        None => repo.to_string(),
        Some(file) if files.len() == 1 => format!("{repo} ({file})"),
        Some(_) => format!("{repo} ({} files)", files.len()),
    }
}

fn remarks(published: &[Published]) -> Option<String> {
    let mut remarks = published.iter().flat_map(|published| &published.remarks);
    let first = remarks.next()?;
    Some(match remarks.count() {
        0 => first.message.clone(),
        more => format!("{} (and {more} more: git blue check)", first.message),
    })
}

/// Returns a line about contract files that were removed although the realm still offers their contracts, if there are
/// any.
pub fn removed_files_line(files: &[String]) -> Option<String> {
    let first = files.first()?;
    let contract = first.strip_prefix(CONTRACTS)?.strip_prefix('/')?.strip_suffix(".yaml")?;
    let more = if files.len() > 1 { format!(" (and {} more)", files.len() - 1) } else { String::new() };
    Some(format!(
        "{first} was removed{more}; the contract stays in the realm: bring the file back, or retire it once nobody \
        imports it: git blue contract retire {contract} --reason \"…\""
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Broken;

    fn published(at: usize) -> Published {
        Published {
            domain: "s3".parse().unwrap(),
            contract: Some(format!("c{at}").parse().unwrap()),
            change: ChangeKind::Added,
            old_version: None,
            new_version: Some("1.0.0".parse().unwrap()),
            fields: Vec::new(),
            removed_fields: Vec::new(),
            breaks: Vec::new(),
            broken: 0,
            remarks: Vec::new(),
        }
    }

    /// One repository is broken by the range of its import, and the other by the value.
    #[test]
    fn a_reason_is_only_given_for_those_that_it_concerns() {
        let verdict = serde_json::json!({
            "verdict": "breaks", "basis": "values", "direction": "backwards", "reading": "lenient", "old_version": "1.0.0",
            "new_version": "2.0.0", "more": 1, "reason": null,
            "difference": {
                "rule": "value-changed", "direction": "backwards", "reading": "lenient", "message": "100 became 200",
                "old_pointer": "/most", "new_pointer": "/most", "witness": null, "witness_bytes": 0, "at": "",
            },
        });
        let breaks = |repo: &str, verdict: Option<&serde_json::Value>| {
            let one = serde_json::json!({"repo": repo, "version_req": "^1.0", "binding": null, "verdict": verdict});
            serde_json::from_value(one).unwrap()
        };
        let broken = |at, breaks| Published { breaks, broken: 1, ..published(at) };
        let shown = |breaks| why(&[broken(1, breaks)]);
        let reason = "100 became 200 (value-changed at /value/most) (and 1 more)";
        assert_eq!(shown(vec![breaks("etl", None)]), "");
        assert_eq!(shown(vec![breaks("web", Some(&verdict)), breaks("app", Some(&verdict))]), format!(": {reason}"));
        assert_eq!(shown(vec![breaks("etl", None), breaks("web", Some(&verdict))]), format!(": for web, {reason}"));
        let several = [broken(0, vec![breaks("etl", None)]), broken(1, vec![breaks("web", Some(&verdict))])];
        assert_eq!(why(&several), format!(": in s3/c1, {reason}"));
    }

    #[test]
    fn a_file_that_uses_two_broken_contracts_is_one_file() {
        let used_in: UsedIn = ["app/api.ts".to_owned()].into_iter().collect();
        let broken = |at| {
            let repo = "mobile".parse().unwrap();
            let breaks =
                vec![Broken { repo, version_req: ">=1.0.0".parse().unwrap(), binding: used_in.clone(), verdict: None }];
            Published { breaks, broken: 1, ..published(at) }
        };
        assert_eq!(breaks(&[broken(0)]).unwrap(), "breaks mobile (app/api.ts)");
        assert_eq!(breaks(&[broken(0), published(1)]).unwrap(), "s3/c0 breaks mobile (app/api.ts)");
        assert_eq!(breaks(&[broken(0), broken(1)]).unwrap(), "s3/c0, s3/c1 break mobile (app/api.ts)");
    }

    #[test]
    fn ten_thousand_contracts_make_one_short_line() {
        let all: Vec<_> = (0..10_000).map(published).collect();
        assert_eq!(phrases(all[..2].iter()), "s3/c0 1.0.0, s3/c1 1.0.0");
        assert!(phrases(all.iter()).ends_with("s3/c7 1.0.0 and 9992 more"));
    }
}
