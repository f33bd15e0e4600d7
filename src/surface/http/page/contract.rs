//! `/r/REALM/contracts/DOMAIN/NAME`: a contract, its versions, the differences between two of them, and its importers.

use maud::{Markup, html};

use super::{
    blame::Origins,
    components::{self, Tone, badge, command, prose, text, time},
    difference::{differences, outcome},
    document,
    frame::{Page, Part},
    graph::{self, Filter, Scope},
    importers::importers,
    links::{Query, Site},
    timeline::timeline,
};
use crate::{
    error::{ErrorCode, OpError},
    model::{contract::Flow, name::ContractRef, version::Version},
    ops::{
        contract::{self, diff::Newer, draft::VersionOrCommit, impact::Candidate},
        ctx::Ctx,
        realm,
    },
    wire::{
        ContractBlame, ContractDiff, ContractGet, ContractImpact, PageRequest, RealmTopology, Relationship,
        VersionOrigin,
    },
};

/// The shown contract, and further information about it.
struct Shown {
    contract: ContractGet,
    timeline: Vec<VersionOrigin>,
    diff: Result<ContractDiff, OpError>,
    /// The two versions that are compared.
    compared: Option<[ContractGet; 2]>,
    impact: Result<ContractImpact, OpError>,
    blame: Option<ContractBlame>,
    topology: Option<RealmTopology>,
}

/// Returns the page.
///
/// # Errors
/// Returns an error if there is no such contract or version, or it cannot be read.
pub fn page(site: &Site, ctx: &Ctx, wanted: &ContractRef, query: &Query) -> Result<Page, OpError> {
    let version = |name| query.parsed::<Version>(name).map_err(|error| OpError::usage(error.to_string()));
    let (at, old, new) = (version("version")?, version("from")?, version("to")?);
    let get = |version: Option<Version>| {
        contract::get::run(ctx, &contract::get::Request { contract: wanted.clone(), version, origin: false })
            .map(|answer| answer.body)
    };
    // If there is no current version, the newest pre-release is shown.
    let arrived = arrived(site, ctx, wanted);
    let newest = || arrived.as_ref().ok()?.iter().map(|entry| entry.version.clone()).max();
    let (at, contract) = match (get(at.clone()), at) {
        (Err(error), None) => {
            let newest = newest().ok_or(error)?;
            (Some(newest.clone()), get(Some(newest))?)
        }
        (contract, at) => (at, contract?),
    };
    let request = contract::diff::Request {
        contract: wanted.clone(),
        old: old.map(VersionOrCommit::Version),
        new: Newer::Version(new.or_else(|| at.clone())),
        whole_witnesses: false,
    };
    let diff = contract::diff::run(ctx, &request).map(|answer| answer.body);
    let both = |diff: &ContractDiff| {
        Some([get(Some(diff.old_version.clone())).ok()?, get(Some(diff.new_version.clone())).ok()?])
    };
    let shown = Shown {
        // Leave out versions that arrived after the time that is shown.
        timeline: arrived?.into_iter().filter(|entry| contract.versions.contains(&entry.version)).collect(),
        compared: diff.as_ref().ok().and_then(both),
        diff,
        impact: contract::impact::run(
            ctx,
            &contract::impact::Request { contract: wanted.clone(), to: Candidate::Version(at) },
        )
        .map(|answer| answer.body),
        blame: blame(ctx, wanted, &contract),
        topology: neighbors(ctx, wanted),
        contract,
    };
    let title = format!("{wanted} {}", shown.contract.contract.version);
    Ok(Page::new(site, Part::Contracts, title, render(site, &shown)))
}

/// Returns the versions that arrived in this realm.
fn arrived(site: &Site, ctx: &Ctx, wanted: &ContractRef) -> Result<Vec<VersionOrigin>, OpError> {
    let request = contract::timeline::Request { contract: wanted.clone(), page: PageRequest::all() };
    let entries = contract::timeline::run(ctx, &request)?.body.entries;
    Ok(entries.into_iter().filter(|entry| entry.realm == site.realm).map(|entry| entry.origin).collect())
}

/// Returns which version introduced each line, if that can be determined.
fn blame(ctx: &Ctx, wanted: &ContractRef, shown: &ContractGet) -> Option<ContractBlame> {
    let request = contract::blame::Request {
        contract: wanted.clone(),
        pointer: None,
        version: Some(shown.contract.version.clone()),
        page: PageRequest::all(),
    };
    contract::blame::run(ctx, &request).ok().map(|answer| answer.body)
}

/// Returns the topology of this contract only.
fn neighbors(ctx: &Ctx, wanted: &ContractRef) -> Option<RealmTopology> {
    let request = realm::topology::Request { domain: Some(wanted.domain.clone()), ..Default::default() };
    let mut topology = realm::topology::run(ctx, &request).ok()?.body;
    topology.domains.iter_mut().for_each(|domain| domain.contracts.retain(|one| one.name == wanted.contract));
    Some(topology)
}

fn render(site: &Site, shown: &Shown) -> Markup {
    let body = &shown.contract;
    let origins = shown.blame.as_ref().map(Origins::from);
    let is_imported = shown.impact.as_ref().is_ok_and(|impact| !impact.importers.is_empty());
    html! {
        (head(site, shown))
        @if let Some(topology) = shown.topology.as_ref().filter(|_| is_imported) {
            (graph::section(site, topology, Scope::Contract, &Filter::default()))
        }
        div.split {
            div.wide {
                section aria-labelledby="changes" {
                    h2 #changes { "What changed" }
                    @if body.versions.len() > 1 { (compare(site, body, shown.diff.as_ref().ok())) }
                    @match &shown.diff {
                        Ok(diff) => { (differences(diff, shown.compared.as_ref().map(|[old, new]| [old, new]))) }
                        Err(error) if error.code == ErrorCode::NoEarlierVersion => {
                            p.summary { "This is the first version." }
                        }
                        Err(error) => { (problem(error)) }
                    }
                }
                section aria-labelledby="relies" {
                    h2 #relies { "Consumers" }
                    @match &shown.impact { Ok(impact) => { (importers(site, impact, body.contract.retired.is_some())) } Err(error) => { (problem(error)) } }
                }
                (document::sections(site, body, origins.as_ref()))
            }
            aside aria-labelledby="versions" {
                h2 #versions { "Versions" }
                (timeline(site, body, &shown.timeline))
                p.note { (command(&blame_command(body))) }
            }
        }
    }
}

fn blame_command(body: &ContractGet) -> String {
    format!("git blue --realm {} contract blame {}/{}", body.realm, body.domain, body.contract.name)
}

fn problem(error: &OpError) -> Markup {
    html! { p.problem dir="auto" { (text(&error.message)) } }
}

fn head(site: &Site, shown: &Shown) -> Markup {
    let (body, contract) = (&shown.contract, &shown.contract.contract);
    html! {
        p.crumbs { a href=(site.domain(&body.domain)) { (body.domain) } }
        h1 {
            (contract.name) " " span.version { (contract.version) }
            @if contract.version.is_prerelease() { " " (badge(Tone::Quiet, "pre-release")) }
            @if contract.deprecated.is_some() { " " (badge(Tone::Warn, "deprecated")) }
            @if contract.retired.is_some() { " " (badge(Tone::Bad, "retired")) }
        }
        @if let Some(current) = body.current_version.as_ref().filter(|current| **current != contract.version) {
            p.note.old {
                "This is not the current version, which is "
                a href=(site.contract(&body.domain, &contract.name, &[])) { (current) } "."
            }
        }
        (prose(&contract.description))
        @if let Some(retired) = &contract.retired { p.problem dir="auto" { "Retired: " (text(&retired.reason)) } }
        @if let Some(deprecated) = &contract.deprecated {
            p.problem {
                "Deprecated since " (deprecated.since)
                @if let Some(sunset) = deprecated.sunset { ", served until " (sunset) }
                @if let Some(next) = &deprecated.replaced_by {
                    ", replaced by " a href=(site.contract(&body.domain, next, &[])) { (next) }
                }
                "."
            }
        }
        (facts(site, shown))
    }
}

fn facts(site: &Site, shown: &Shown) -> Markup {
    let (body, contract) = (&shown.contract, &shown.contract.contract);
    let exporters = body.bindings.iter().filter(|one| one.relationship == Relationship::Exports);
    let others: Vec<_> = exporters.map(|one| &one.repo).filter(|repo| **repo != contract.owner).collect();
    let entry = shown.timeline.iter().find(|entry| entry.version == contract.version);
    let diff = shown.diff.as_ref().ok().filter(|diff| diff.new_version == contract.version);
    html! {
        dl.facts {
            div { dt { "Owner" } dd { (components::repo(site, &contract.owner)) } }
            @if let Some(to) = &body.offered_to { div { dt { "Offered to" } dd { (components::repo(site, to)) } } }
            @if !others.is_empty() { div { dt { "Also exported by" } dd { (components::names(site, &others)) } } }
            @if let Some(entry) = entry {
                div {
                    dt { "Published" }
                    dd {
                        (time(entry.time)) " by " (text(&entry.author))
                        @if let Some(commit) = &entry.source_commit {
                            " from " (components::source_commit(commit, entry.commit_url.as_deref()))
                        }
                    }
                }
            }
            @if let Some((diff, outcome)) = diff.and_then(|diff| Some((diff, outcome(diff)?))) {
                div { dt { "Against " (diff.old_version) } dd { (outcome) } }
            }
            div { dt { "Promised" } dd { (contract.compatibility.promise()) } }
            @if contract.flow == Flow::ConsumerToProvider {
                div { dt { "Flow" } dd { "consumers send it to the owner" } }
            }
            @if !contract.supported.is_empty() {
                div {
                    dt { "Still served" }
                    dd { @for range in &contract.supported { code { (range.to_string()) } " " } }
                }
            }
        }
    }
}

/// Returns the form that selects two versions.
fn compare(site: &Site, body: &ContractGet, diff: Option<&ContractDiff>) -> Markup {
    let choice = |id: &str, label: &str, chosen: Option<&Version>| {
        html! {
            label for=(id) { (label) }
            select #(id) name=(id) {
                @for version in body.versions.iter().rev() {
                    option value=(version) selected[Some(version) == chosen] { (version) }
                }
            }
        }
    };
    let shown = (Some(&body.contract.version) != body.current_version.as_ref()).then_some(&body.contract.version);
    html! {
        form.compare method="get" action=(site.contract(&body.domain, &body.contract.name, &[])) {
            @if let Some(past) = &site.past { input type="hidden" name="at" value=(past.said); }
            @if let Some(version) = shown { input type="hidden" name="version" value=(version); }
            (choice("from", "From", diff.map(|diff| &diff.old_version)))
            (choice("to", "to", diff.map(|diff| &diff.new_version)))
            button type="submit" { "Compare" }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        model::{
            contract::{Contract, Evolution},
            json::Json,
        },
        wire::ContractDetail,
    };

    const EVIL: &str = "</code></pre><script>alert(1)</script>\" onload='x' \u{202e}";

    fn shown(contract: Contract) -> Shown {
        let no = OpError::no(ErrorCode::NoEarlierVersion, EVIL);
        Shown {
            contract: ContractGet {
                origin: None,
                offered_to: None,
                realm: "aperture".parse().unwrap(),
                domain: "s3-access".parse().unwrap(),
                versions: vec![contract.version.clone()],
                current_version: Some(contract.version.clone()),
                contract: ContractDetail::from(contract),
                bindings: Vec::new(),
                unreadable_bindings: Vec::new(),
                current_repo: None,
            },
            timeline: Vec::new(),
            diff: Err(no),
            compared: None,
            impact: Err(OpError::no(ErrorCode::Damaged, EVIL)),
            blame: None,
            topology: None,
        }
    }

    fn site() -> Site {
        Site::now(&"aperture".parse().unwrap())
    }

    fn contract() -> Contract {
        let version: Version = "1.0.0".parse().unwrap();
        Contract { version, ..Contract::new("s3-permissions".parse().unwrap(), "fungal".parse().unwrap()) }
    }

    #[test]
    fn every_field_of_a_contract_is_text() {
        let mut evil = contract();
        evil.description = EVIL.into();
        evil.schema = Json::from(json!({EVIL: EVIL}));
        evil.value = Json::from(json!({EVIL: [EVIL]}));
        evil.validation.exporter = Some(EVIL.into());
        evil.validation.ci_only = vec![EVIL.into()];
        evil.evolution =
            vec![Evolution { version: evil.version.clone(), changes: vec![EVIL.into()], compatible: false }];
        let mut shown = shown(evil);
        shown.timeline = serde_json::from_value(json!([{
            "time": "2026-01-21T09:00:00Z", "in_future": true, "author": EVIL, "realm": "aperture",
            "version": "1.0.0", "is_current": true, "is_yanked": false, "repo": EVIL, "source_commit": EVIL,
            "commit": "1234567890123456789012345678901234567890",
        }]))
        .unwrap();
        let page = render(&site(), &shown).into_string();
        assert!(!page.contains("<script") && !page.contains('\u{202e}'), "{page}");
        assert!(page.matches("&lt;script&gt;").count() >= 7, "{page}");
    }

    #[test]
    fn a_huge_contract_is_bounded() {
        let mut huge = contract();
        let many: Vec<_> = (0..50_000).map(|at| format!("{at:010}")).collect();
        huge.value = Json::from(json!(many));
        huge.schema = Json::from(json!("x".repeat(1 << 20)));
        let page = render(&site(), &shown(huge)).into_string();
        assert!(page.len() < 20_000, "{}", page.len());
        assert!(
            page.contains("And 49,702 more") && page.contains("git blue contract get s3-access/s3-permissions"),
            "{page}"
        );
    }
}
