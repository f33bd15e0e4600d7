//! Serves the realm as resources, which a client can read, complete and watch.

use std::str::FromStr;

use rmcp::model::{Resource, ResourceTemplate};
use serde_json::Value;

use super::{body::Body, paging, skills, tools};
use crate::{
    error::{ErrorCode, OpError},
    model::{
        name::{ContractRef, RealmName},
        version::Version,
    },
    ops::{contract, ctx::Ctx, inboxes::fingerprint::Part, names, realm},
    wire::PageRequest,
};

/// The MIME type of every resource.
pub const MIME: &str = "application/json";
/// The maximum number of resources on one page of a list.
const PAGE: usize = 100;

/// The parsed URI of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uri {
    /// The realm.
    pub realm: RealmName,
    /// The part of the realm.
    pub what: ResourceKind,
}

/// A part of a realm that is a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceKind {
    /// The status of the realm.
    Status,
    /// The providers and consumers of each contract.
    Topology,
    /// A contract at a version, or at its current version.
    Contract(ContractRef, Option<Version>),
}

impl FromStr for Uri {
    type Err = OpError;

    fn from_str(text: &str) -> Result<Self, OpError> {
        let unknown = || {
            let shown: String = text.chars().take(120).collect();
            OpError::no(ErrorCode::UnknownResource, format!("there is no resource {shown:?}"))
        };
        let (realm, path) = text.strip_prefix("blue://").and_then(|rest| rest.split_once('/')).ok_or_else(unknown)?;
        let what = match path {
            "status" => ResourceKind::Status,
            "topology" => ResourceKind::Topology,
            path => {
                let contract = path.strip_prefix("contracts/").ok_or_else(unknown)?;
                let (contract, version) = match contract.split_once('@') {
                    Some((contract, version)) => (contract, Some(version.parse().map_err(|_| unknown())?)),
                    None => (contract, None),
                };
                ResourceKind::Contract(contract.parse().map_err(|_| unknown())?, version)
            }
        };
        Ok(Self { realm: realm.parse().map_err(|_| unknown())?, what })
    }
}

impl ResourceKind {
    /// Returns the part of the realm that the resource depends on.
    pub fn part(&self) -> Part {
        match self {
            Self::Status => Part::Status,
            Self::Topology => Part::Realm,
            Self::Contract(contract, _) => Part::Contract(contract.clone()),
        }
    }

    /// Reads the resource.
    ///
    /// # Errors
    /// Returns an error if there is no such resource, or it cannot be read.
    pub fn read(&self, ctx: &Ctx) -> Result<Body, OpError> {
        let mut body = match self {
            Self::Status => {
                let request = realm::status::Request { reader: None, ..Default::default() };
                let mut outcome = realm::status::run(ctx, &request)?;
                let next_steps = tools::shorten(&mut outcome.answer.body);
                let mut body = Body { next_steps, ..Body::of(&outcome.answer) };
                // Notifications are sent only with the answers of tools.
                body.fields.retain(|name, _| name != "notifications" && name != "more_notifications");
                body.fit("domains", &outcome.cursors);
                body
            }
            Self::Topology => {
                let request = |limit| realm::topology::Request { domain: None, page: PageRequest::first(limit) };
                let page = |limit| Ok(Body::of(&realm::topology::run(ctx, &request(limit))?));
                paging::fitting(tools::TOPOLOGY_PAGE, page)?
            }
            Self::Contract(contract, version) => {
                let request =
                    contract::get::Request { contract: contract.clone(), version: version.clone(), origin: false };
                Body::of(&contract::get::run(ctx, &request)?)
            }
        };
        if body.fields.get("next_cursor").is_some_and(Value::is_string) {
            body.next_steps.push("the tool of the same name returns the rest, in pages".into());
        }
        body.cut(match self {
            Self::Contract(..) => "contract_get with pointer, a JSON pointer, returns what was cut",
            Self::Status | Self::Topology => "the tool of the same name returns what was cut",
        });
        Ok(body)
    }
}

/// Returns a page of the resources of a realm, from index `start`, and the index of the next page.
///
/// # Errors
/// Returns an error if the store cannot be read.
pub fn list(ctx: &Ctx, start: usize) -> Result<(Vec<Resource>, Option<usize>), OpError> {
    let realm = &ctx.realm()?.realm;
    let own: Vec<_> = skills::resources().chain(of_realm(realm)).collect();
    let mut contracts = Vec::new();
    for domain in names::domains(ctx)? {
        let of = names::contracts(ctx, &domain.parse()?)?;
        contracts.extend(of.into_iter().map(|name| format!("{domain}/{name}")));
    }
    let total = own.len() + contracts.len();
    let contract = |at: String| Resource::new(format!("blue://{realm}/contracts/{at}"), at).with_mime_type(MIME);
    let all = own.into_iter().chain(contracts.into_iter().map(contract));
    let page: Vec<_> = all.skip(start).take(PAGE).collect();
    let end = start + page.len();
    Ok((page, (end < total).then_some(end)))
}

/// Returns the resources that every realm has.
pub fn of_realm(realm: &RealmName) -> [Resource; 2] {
    ["status", "topology"]
        .map(|what| Resource::new(format!("blue://{realm}/{what}"), format!("{realm} {what}")).with_mime_type(MIME))
}

/// Returns the templates of all resources.
pub fn templates() -> Vec<ResourceTemplate> {
    let template = |uri: &str, name: &str, about: &str| {
        ResourceTemplate::new(uri, name).with_description(about).with_mime_type(MIME)
    };
    vec![
        template("blue://{realm}/status", "realm_status", "The realm: repositories, domains, contracts, imports"),
        template("blue://{realm}/topology", "realm_topology", "The provider and consumers of each contract"),
        template("blue://{realm}/contracts/{domain}/{contract}", "contract", "The current version of a contract"),
        template("blue://{realm}/contracts/{domain}/{contract}@{version}", "contract_version", "A published version"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_names_one_resource_or_none() {
        let contract = |version: Option<&str>| {
            ResourceKind::Contract("s3/paths".parse().unwrap(), version.map(|version| version.parse().unwrap()))
        };
        for (text, expected) in [
            ("blue://r/status", Some(ResourceKind::Status)),
            ("blue://r/topology", Some(ResourceKind::Topology)),
            ("blue://r/contracts/s3/paths", Some(contract(None))),
            ("blue://r/contracts/s3/paths@1.0.0", Some(contract(Some("1.0.0")))),
            ("blue://r", None),
            ("blue://r/", None),
            ("blue://../status", None),
            ("blue://r/contracts/s3", None),
            ("blue://r/contracts/../paths", None),
            ("blue://r/contracts/s3/paths@one", None),
            ("file:///etc/passwd", None),
        ] {
            assert_eq!(text.parse::<Uri>().ok().map(|uri| uri.what), expected, "{text}");
        }
    }
}
