//! Pages for a browser: the realms of this machine as HTML that works without a script. Text in contracts stays text:
//! maud escapes it, and nothing on a page is inline.
//!
//! Every page shows the answers of operations, and at most one page of each list, however large the realm is. It makes
//! no decisions. A small script reloads the page when something changes.

mod attention;
mod blame;
mod components;
mod contract;
mod contracts;
mod difference;
mod document;
mod domain;
mod frame;
mod graph;
mod home;
mod importers;
mod inbox;
mod json_lines;
mod links;
mod notifications;
mod overview;
mod repo;
mod sessions;
mod side_by_side;
mod timeline;

use hyper::StatusCode;

use super::{Contexts, answer::Reply, status};
use crate::{
    error::{ErrorCode, OpError},
    model::name::{ContractRef, DomainName, RealmName, RepoName},
    ops::ctx::Ctx,
};
use frame::Page;
use links::{Query, Site};

const HTML: &str = "text/html; charset=utf-8";

/// Returns whether a path belongs to the pages, even if there is no page at it.
pub fn is_at(path: &str) -> bool {
    path == "/" || path.starts_with("/r/") || path.starts_with("/assets/")
}

/// Returns the page for a browser that was not admitted. It loads no other files, because they would be refused.
pub fn refusal(error: &OpError) -> Reply {
    Reply { status: status::of(error), ..Reply::new(HTML, frame::refusal(error).into_string()) }
}

/// Returns the page at a path, or an error page.
pub fn answer(contexts: &Contexts, path: &str, query: &str) -> Reply {
    if let Some((kind, text)) = asset(path) {
        return Reply::new(kind, text);
    }
    let page = find(path).and_then(|wanted| wanted.page(contexts, &Query::parse(query)));
    let (status, page) = match page {
        Ok(page) => (StatusCode::OK, page),
        Err(error) => (status::of(&error), frame::failure(&error)),
    };
    Reply { status, ..Reply::new(HTML, frame::whole(&page, path).into_string()) }
}

/// Returns a static file.
fn asset(path: &str) -> Option<(&'static str, &'static str)> {
    match path {
        "/assets/blue.css" => Some(("text/css; charset=utf-8", include_str!("blue.css"))),
        "/assets/blue.js" => Some(("text/javascript; charset=utf-8", include_str!("blue.js"))),
        "/assets/blue.svg" => Some(("image/svg+xml", include_str!("blue.svg"))),
        _ => None,
    }
}

/// The requested page.
#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    Home,
    Overview(RealmName),
    Repo(RealmName, RepoName),
    Domain(RealmName, DomainName),
    Contracts(RealmName),
    Contract(RealmName, ContractRef),
    Notifications(RealmName),
    Sessions(RealmName),
}

fn find(path: &str) -> Result<Wanted, OpError> {
    let segments: Vec<_> = path.split('/').skip(1).collect();
    Ok(match segments[..] {
        [""] => Wanted::Home,
        ["r", realm] => Wanted::Overview(realm.parse()?),
        ["r", realm, "repos", repo] => Wanted::Repo(realm.parse()?, repo.parse()?),
        ["r", realm, "domains", domain] => Wanted::Domain(realm.parse()?, domain.parse()?),
        ["r", realm, "contracts"] => Wanted::Contracts(realm.parse()?),
        ["r", realm, "contracts", domain, name] => {
            Wanted::Contract(realm.parse()?, ContractRef { domain: domain.parse()?, contract: name.parse()? })
        }
        ["r", realm, "notifications"] => Wanted::Notifications(realm.parse()?),
        ["r", realm, "sessions"] => Wanted::Sessions(realm.parse()?),
        _ => return Err(OpError::no(ErrorCode::NoRoute, "there is no such page")),
    })
}

impl Wanted {
    fn page(&self, contexts: &Contexts, query: &Query) -> Result<Page, OpError> {
        match self {
            Self::Home => home::page(&contexts.without_realm()?),
            Self::Overview(realm) => {
                let (site, ctx) = open(contexts, realm, query)?;
                overview::page(contexts, &site, &ctx, query)
            }
            Self::Repo(realm, repo) => {
                let (site, ctx) = Site::at(realm, contexts.repo(realm, repo)?, query)?;
                repo::page(&site, &ctx, repo, query)
            }
            Self::Domain(realm, domain) => {
                let (site, ctx) = open(contexts, realm, query)?;
                domain::page(&site, &ctx, domain, query)
            }
            Self::Contracts(realm) => {
                let (site, ctx) = open(contexts, realm, query)?;
                contracts::page(&site, &ctx, query)
            }
            Self::Contract(realm, contract) => {
                let (site, ctx) = open(contexts, realm, query)?;
                contract::page(&site, &ctx, contract, query)
            }
            Self::Notifications(realm) => {
                in_present(query)?;
                notifications::page(contexts, &Site::now(realm), query)
            }
            Self::Sessions(realm) => {
                in_present(query)?;
                sessions::page(&Site::now(realm), &contexts.realm(realm)?, query)
            }
        }
    }
}

/// Opens a realm at the time that the query names.
fn open(contexts: &Contexts, realm: &RealmName, query: &Query) -> Result<(Site, Ctx), OpError> {
    Site::at(realm, contexts.realm(realm)?, query)
}

/// Refuses a time for pages that only show the current state.
fn in_present(query: &Query) -> Result<(), OpError> {
    match query.get("at") {
        None => Ok(()),
        Some(_) => Err(OpError::usage("notifications and sessions have no history: omit at")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner() -> RepoName {
        "fungal".parse().unwrap()
    }

    #[test]
    fn a_path_names_one_page_or_none() {
        let realm: RealmName = "aperture".parse().unwrap();
        let contract =
            ContractRef { domain: "s3-access".parse().unwrap(), contract: "s3-permissions".parse().unwrap() };
        assert_eq!(find("/").unwrap(), Wanted::Home);
        assert_eq!(find("/r/aperture").unwrap(), Wanted::Overview(realm.clone()));
        let site = Site::now(&realm);
        let path = site.contract(&contract.domain, &contract.contract, &[]);
        assert_eq!(
            find(&site.domain(&contract.domain)).unwrap(),
            Wanted::Domain(realm.clone(), contract.domain.clone())
        );
        assert_eq!(find(&site.repo(&owner())).unwrap(), Wanted::Repo(realm.clone(), owner()));
        assert_eq!(find(&path).unwrap(), Wanted::Contract(realm, contract));
        for odd in ["", "//", "/r", "/r/", "/r/..", "/r/%2e%2e", "/r/a/b", "/r/a/contracts/", "/r/a/contracts/b/c/d"] {
            assert!(find(odd).is_err(), "{odd}");
        }
    }

    #[test]
    fn a_refused_browser_is_told_how_to_get_in() {
        let refused = refusal(&OpError::no(ErrorCode::NoToken, "show the <token>").next("git blue daemon open"));
        let text = String::from_utf8(refused.body.to_vec()).unwrap();
        assert_eq!(refused.status, StatusCode::UNAUTHORIZED);
        assert!(text.contains("show the &lt;token&gt;") && text.contains("git blue daemon open"), "{text}");
        assert!(!text.contains("/assets/"), "{text}");
    }
}
