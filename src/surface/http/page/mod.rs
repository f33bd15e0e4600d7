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
    model::name::{ContractRef, RealmName},
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
    let (status, page) = match page(contexts, path, &Query::parse(query)) {
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

/// Returns the page at a path.
fn page(contexts: &Contexts, path: &str, query: &Query) -> Result<Page, OpError> {
    let segments: Vec<_> = path.split('/').skip(1).collect();
    match segments[..] {
        [""] => home::page(&contexts.without_realm()?),
        ["r", realm] => {
            let (site, ctx) = open(contexts, &realm.parse()?, query)?;
            overview::page(contexts, &site, &ctx, query)
        }
        ["r", realm, "repos", repo] => {
            let (realm, repo) = (realm.parse()?, repo.parse()?);
            let (site, ctx) = Site::at(&realm, contexts.repo(&realm, &repo)?, query)?;
            repo::page(&site, &ctx, &repo, query)
        }
        ["r", realm, "domains", domain] => {
            let (realm, domain) = (realm.parse()?, domain.parse()?);
            let (site, ctx) = open(contexts, &realm, query)?;
            domain::page(&site, &ctx, &domain, query)
        }
        ["r", realm, "contracts"] => {
            let (site, ctx) = open(contexts, &realm.parse()?, query)?;
            contracts::page(&site, &ctx, query)
        }
        ["r", realm, "contracts", domain, name] => {
            let realm = realm.parse()?;
            let contract = ContractRef { domain: domain.parse()?, contract: name.parse()? };
            let (site, ctx) = open(contexts, &realm, query)?;
            contract::page(&site, &ctx, &contract, query)
        }
        ["r", realm, "notifications"] => notifications::page(contexts, &in_present(realm, query)?, query),
        ["r", realm, "sessions"] => {
            let site = in_present(realm, query)?;
            sessions::page(&site, &contexts.realm(&site.realm)?, query)
        }
        _ => Err(OpError::no(ErrorCode::NoRoute, "there is no such page")),
    }
}

/// Opens a realm at the time that the query names.
fn open(contexts: &Contexts, realm: &RealmName, query: &Query) -> Result<(Site, Ctx), OpError> {
    Site::at(realm, contexts.realm(realm)?, query)
}

/// Refuses a time for pages that only show the current state.
fn in_present(realm: &str, query: &Query) -> Result<Site, OpError> {
    let site = Site::now(&realm.parse()?);
    match query.get("at") {
        None => Ok(site),
        Some(_) => Err(OpError::usage("notifications and sessions have no history: omit at")),
    }
}
