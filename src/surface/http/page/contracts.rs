//! `/r/REALM/contracts`: the contracts of a realm, in pages, with a search by words.

use maud::{Markup, html};

use super::{
    components::{self, cell, count, empty, grouped, pager, table},
    frame::{Page, Part},
    links::{Query, Site},
};
use crate::{
    error::OpError,
    ops::{contract, ctx::Ctx, names},
    wire::{ContractLine, ContractList},
};

/// The number of contracts on one page.
const ROWS: usize = 50;

/// Returns the page.
///
/// # Errors
/// Returns an error if the realm cannot be read, or has no such domain.
pub fn page(site: &Site, ctx: &Ctx, query: &Query) -> Result<Page, OpError> {
    let request = contract::list::Request {
        domain: query.parsed("domain")?,
        search: query.get("q").map(str::to_owned),
        page: query.page(ROWS),
    };
    let list = contract::list::run(ctx, &request)?.body;
    let title = format!("Contracts of {}", list.realm);
    // A realm needs a repository before it can have a contract.
    let first = if list.total == 0 && names::repos(ctx)?.is_empty() {
        format!("git blue init --realm {}", list.realm)
    } else {
        "git blue contract new …/… --domain-members …".to_owned()
    };
    Ok(Page::new(site, Part::Contracts, title, render(site, &list, query, &first)))
}

fn render(site: &Site, body: &ContractList, query: &Query, first: &str) -> Markup {
    let (words, domain) = (query.get("q").unwrap_or_default(), query.get("domain").unwrap_or_default());
    let kept = [("q", words), ("domain", domain)];
    let at = |cursor: &str| site.part("contracts", &[&kept[..], &[("cursor", cursor)]].concat());
    let is_narrowed = !words.is_empty() || !domain.is_empty();
    html! {
        h1 { "Contracts" }
        form.search method="get" action=(site.part("contracts", &[])) role="search" {
            label for="q" { "Find by domain, name or owner" }
            input #q type="search" name="q" value=(words) autocomplete="off" spellcheck="false";
            @if !domain.is_empty() { input type="hidden" name="domain" value=(domain); }
            @if let Some(past) = &site.past { input type="hidden" name="at" value=(past.said); }
            button type="submit" { "Search" }
        }
        p.summary {
            (count(body.total, "contract"))
            @if !domain.is_empty() { " in " strong { (domain) } }
            @if !words.is_empty() { " with “" (components::text(words)) "”" }
            @if is_narrowed { " · " a href=(site.part("contracts", &[])) { "Show all" } }
        }
        @for problem in &body.unreadable_domains { p.problem dir="auto" { (components::text(problem)) } }
        @if body.contracts.is_empty() {
            (empty(
                if is_narrowed { "No contract matches." } else { "There are no contracts yet." },
                (!is_narrowed).then_some(first),
            ))
        } @else {
            (table("Contracts", &["Contract", "Version", "Owner", "Importers"], &html! {
                @for line in &body.contracts { (row(site, line)) }
            }))
        }
        (pager((body.contracts.len(), body.total), (query.get("cursor"), body.next_cursor.as_deref()), at))
    }
}

fn row(site: &Site, line: &ContractLine) -> Markup {
    let unknown = || html! { span.none { "unknown" } };
    html! {
        tr data-key={ (line.domain) "/" (line.name) } {
            th scope="row" {
                (components::contract(site, &line.domain, &line.name))
                (components::state(line.state))
            }
            td.version data-column="Version" {
                @if let Some(version) = &line.version { (version) } @else { (unknown()) }
            }
            (cell("Owner", &html! {
                @if let Some(owner) = &line.owner { (components::repo(site, owner)) } @else { (unknown()) }
            }))
            td.number data-column="Importers" { (grouped(line.importers)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns the page of a list that shows some of its contracts.
    fn page(shown: usize, total: usize, query: &Query) -> String {
        let line = |number: usize| {
            json!({
                "domain": "s3-access", "name": format!("contract-{number}"), "version": "1.0.0", "owner": "aperture",
                "importers": number, "state": "active",
            })
        };
        let contracts: Vec<_> = (0..shown).map(line).collect();
        let next = (shown < total).then_some("s3-access/contract-49");
        let list = json!({"realm": "aperture", "contracts": contracts, "total": total, "next_cursor": next});
        let list: ContractList = serde_json::from_value(list).unwrap();
        render(&Site::now(&list.realm.clone()), &list, query, "git blue init").into_string()
    }

    #[test]
    fn the_search_text_is_kept_and_escaped() {
        let query = Query::parse("q=%22%3E%3Cscript%3E&cursor=a%2Fb");
        let shown = page(50, 10_000, &query);
        assert!(!shown.contains("<script"), "{shown}");
        assert!(shown.contains(r#"value="&quot;&gt;&lt;script&gt;""#));
        assert!(shown.contains("50 of 10,000") && shown.contains("10,000 contracts"));
        let next = r#"href="/r/aperture/contracts?q=%22%3E%3Cscript%3E&amp;cursor=s3-access%2Fcontract-49""#;
        assert!(shown.contains(next), "{shown}");
        assert!(shown.contains(r#"href="/r/aperture/contracts?q=%22%3E%3Cscript%3E">First page"#));
    }

    #[test]
    fn an_empty_result_says_so() {
        let shown = page(0, 0, &Query::parse("q=x"));
        assert!(shown.contains("No contract matches") && shown.contains("Show all"));
        assert!(page(0, 0, &Query::default()).contains("There are no contracts yet"));
    }
}
