//! `/r/REALM/contracts/DOMAIN/NAME`: a contract, its versions, what changed between two of them, and
//! who relies on it.

use maud::{Markup, html};

use super::{
    difference::differences,
    document,
    frame::{Page, Part},
    importers::importers,
    links::{self, Query},
    pieces::{Tone, badge, prose, text},
    timeline::timeline,
};
use crate::{
    error::{ErrorCode, OpError},
    model::{name::ContractRef, version::Version},
    ops::{
        contract::{self, diff::Newer, impact::Candidate},
        ctx::Ctx,
    },
    wire::{ContractDiff, ContractGet, ContractImpact, PageRequest, Relationship, TimelineEntry},
};

/// What is shown: the contract, and what else can be read of it.
struct Shown {
    contract: ContractGet,
    timeline: Vec<TimelineEntry>,
    diff: Result<ContractDiff, OpError>,
    impact: Result<ContractImpact, OpError>,
}

/// Returns the page.
///
/// # Errors
/// Returns an error if there is no such contract or version, or it cannot be read.
pub fn page(ctx: &Ctx, wanted: &ContractRef, query: &Query) -> Result<Page, OpError> {
    let version = |name| query.parsed::<Version>(name).map_err(|error| OpError::usage(error.to_string()));
    let (at, old, new) = (version("version")?, version("from")?, version("to")?);
    let get = |version: Option<Version>| {
        contract::get::run(ctx, &contract::get::Request { contract: wanted.clone(), version }).map(|answer| answer.body)
    };
    let all = PageRequest { limit: Some(0), cursor: None };
    let timeline = contract::timeline::run(ctx, &contract::timeline::Request { contract: wanted.clone(), page: all });
    // Where there is no current version, the newest pre-release is there to be looked at.
    let realm = &ctx.here()?.realm;
    let newest = || {
        let entries = timeline.as_ref().ok()?.body.entries.iter();
        entries.filter(|entry| entry.realm == *realm).map(|entry| entry.version.clone()).max()
    };
    let (at, contract) = match (get(at.clone()), at) {
        (Err(error), None) => {
            let newest = newest().ok_or(error)?;
            (Some(newest.clone()), get(Some(newest))?)
        }
        (contract, at) => (at, contract?),
    };
    let new = new.or_else(|| at.clone());
    let shown = Shown {
        timeline: timeline?.body.entries.into_iter().filter(|entry| entry.realm == *realm).collect(),
        diff: contract::diff::run(
            ctx,
            &contract::diff::Request { contract: wanted.clone(), old, new: Newer::Version(new) },
        )
        .map(|answer| answer.body),
        impact: contract::impact::run(
            ctx,
            &contract::impact::Request { contract: wanted.clone(), to: Candidate::Version(at) },
        )
        .map(|answer| answer.body),
        contract,
    };
    Ok(Page {
        title: format!("{wanted} {}", shown.contract.contract.version),
        realm: Some(shown.contract.realm.clone()),
        part: Some(Part::Contracts),
        main: render(&shown),
    })
}

fn render(shown: &Shown) -> Markup {
    let body = &shown.contract;
    html! {
        (head(body))
        div.split {
            div.wide {
                section aria-labelledby="changes" {
                    h2 #changes { "What changed" }
                    @if body.versions.len() > 1 { (compare(body, shown.diff.as_ref().ok())) }
                    @match &shown.diff {
                        Ok(diff) => { (differences(diff)) }
                        Err(error) if error.code == ErrorCode::NoEarlierVersion => {
                            p.summary { "This is the first version." }
                        }
                        Err(error) => { (problem(error)) }
                    }
                }
                section aria-labelledby="relies" {
                    h2 #relies { "Who relies on it" }
                    @match &shown.impact { Ok(impact) => { (importers(impact)) } Err(error) => { (problem(error)) } }
                }
                (document::sections(body))
            }
            aside aria-labelledby="versions" {
                h2 #versions { "Versions" }
                (timeline(body, &shown.timeline))
            }
        }
    }
}

fn problem(error: &OpError) -> Markup {
    html! { p.problem dir="auto" { (text(&error.message)) } }
}

fn head(body: &ContractGet) -> Markup {
    let contract = &body.contract;
    let domain = links::part(&body.realm, "contracts", &[("domain", body.domain.as_str())]);
    let exporters = body.bindings.iter().filter(|one| one.relationship == Relationship::Exports);
    let others: Vec<_> = exporters.map(|one| &one.repo).filter(|repo| **repo != contract.owner).collect();
    html! {
        p.crumbs { a href=(domain) { (body.domain) } }
        h1 {
            (contract.name) " " span.version { (contract.version) }
            @if contract.version.is_prerelease() { " " (badge(Tone::Quiet, "pre-release")) }
            @if contract.deprecated.is_some() { " " (badge(Tone::Warn, "deprecated")) }
            @if contract.retired.is_some() { " " (badge(Tone::Bad, "retired")) }
        }
        @if let Some(current) = body.current_version.as_ref().filter(|current| **current != contract.version) {
            p.note.old {
                "This is not the current version: "
                a href=(links::contract(&body.realm, &body.domain, &contract.name, &[])) { (current) } " is."
            }
        }
        (prose(&contract.description))
        @if let Some(retired) = &contract.retired { p.problem dir="auto" { "Retired: " (text(&retired.reason)) } }
        @if let Some(deprecated) = &contract.deprecated {
            p.problem {
                "Deprecated since " (deprecated.since)
                @if let Some(sunset) = deprecated.sunset { ", served until " (sunset) }
                @if let Some(next) = &deprecated.replaced_by {
                    ", replaced by " a href=(links::contract(&body.realm, &body.domain, next, &[])) { (next) }
                }
                "."
            }
        }
        dl.facts {
            div { dt { "Owner" } dd { (contract.owner) } }
            @if !others.is_empty() { div { dt { "Also exported by" } dd { (super::pieces::names(&others)) } } }
            div { dt { "Promised" } dd { (contract.compatibility.promise()) } }
            @if !contract.supported.is_empty() {
                div {
                    dt { "Still served" }
                    dd { @for range in &contract.supported { code { (range.to_string()) } " " } }
                }
            }
        }
    }
}

/// The form that chooses two versions.
fn compare(body: &ContractGet, diff: Option<&ContractDiff>) -> Markup {
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
        form.compare method="get" action=(links::contract(&body.realm, &body.domain, &body.contract.name, &[])) {
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
                realm: "aperture".parse().unwrap(),
                domain: "s3-access".parse().unwrap(),
                versions: vec![contract.version.clone()],
                current_version: Some(contract.version.clone()),
                contract: ContractDetail::from(contract),
                bindings: Vec::new(),
                current_repo: None,
            },
            timeline: Vec::new(),
            diff: Err(no),
            impact: Err(OpError::no(ErrorCode::Damaged, EVIL)),
        }
    }

    fn contract() -> Contract {
        let version: Version = "1.0.0".parse().unwrap();
        Contract { version, ..Contract::new("s3-permissions".parse().unwrap(), "fungal".parse().unwrap()) }
    }

    #[test]
    fn every_field_of_a_contract_is_text() {
        let mut evil = contract();
        evil.description = EVIL.into();
        evil.schema = Json(json!({EVIL: EVIL}));
        evil.value = Json(json!({EVIL: [EVIL]}));
        evil.validation.exporter = Some(EVIL.into());
        evil.validation.ci_only = vec![EVIL.into()];
        evil.evolution =
            vec![Evolution { version: evil.version.clone(), changes: vec![EVIL.into()], compatible: false }];
        let mut shown = shown(evil);
        shown.timeline = vec![TimelineEntry {
            time: "2026-01-21T09:00:00Z".parse().unwrap(),
            ahead_of_clock: true,
            author: EVIL.into(),
            realm: "aperture".parse().unwrap(),
            version: "1.0.0".parse().unwrap(),
            is_current: true,
            is_yanked: false,
            commit: "1234567890123456789012345678901234567890".parse().unwrap(),
            repo: Some(EVIL.into()),
            source_commit: Some(EVIL.into()),
        }];
        let page = render(&shown).into_string();
        assert!(!page.contains("<script") && !page.contains('\u{202e}'), "{page}");
        assert!(page.matches("&lt;script&gt;").count() >= 7, "{page}");
    }

    #[test]
    fn a_huge_contract_is_bounded() {
        let mut huge = contract();
        let many: Vec<_> = (0..50_000).map(|at| format!("{at:010}")).collect();
        huge.value = Json(json!(many));
        huge.schema = Json(json!("x".repeat(1 << 20)));
        let page = render(&shown(huge)).into_string();
        assert!(page.len() < 20_000, "{}", page.len());
        assert!(
            page.contains("And 49,702 more") && page.contains("git blue contract get s3-access/s3-permissions"),
            "{page}"
        );
    }
}
