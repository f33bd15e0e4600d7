//! The paths of pages. Names need no escaping in a path; text that users typed does in a query.

use form_urlencoded::Serializer;
use jiff::Timestamp;

use crate::{
    error::OpError,
    model::name::{ContractName, DomainName, RealmName, RepoName},
    ops::{as_of::AsOf, ctx::Ctx},
    wire::PageRequest,
};

/// The pages of a realm, in its current state or at an earlier time, which every link keeps.
#[derive(Debug, Clone)]
pub struct Site {
    /// The realm.
    pub realm: RealmName,
    /// The earlier time; `None` for the current state.
    pub past: Option<PastTime>,
}

/// An earlier time.
#[derive(Debug, Clone)]
pub struct PastTime {
    /// The time as it is written in the URL.
    pub said: String,
    /// The latest time that is included.
    pub moment: Timestamp,
}

impl Site {
    /// Returns the pages of the current realm.
    pub fn now(realm: &RealmName) -> Self {
        Self { realm: realm.clone(), past: None }
    }

    /// Returns the pages at the time that a query names, with a context that reads the realm as it was then.
    ///
    /// # Errors
    /// Returns an error if the time is invalid, or the realm did not exist then.
    pub fn at(realm: &RealmName, ctx: Ctx, query: &Query) -> Result<(Self, Ctx), OpError> {
        let Some(said) = query.get("at") else { return Ok((Self::now(realm), ctx)) };
        let ctx = ctx.as_of(&said.parse::<AsOf>().map_err(OpError::usage)?)?;
        let past = ctx.as_of.map(|moment| PastTime { said: said.to_owned(), moment });
        Ok((Self { realm: realm.clone(), past }, ctx))
    }

    /// Returns the path of the overview.
    pub fn overview(&self) -> String {
        self.part("", &[])
    }

    /// Returns the path of a part: `contracts`, `notifications`, `sessions`.
    pub fn part(&self, part: &str, query: &[(&str, &str)]) -> String {
        let slash = if part.is_empty() { "" } else { "/" };
        let at = [("at", self.past.as_ref().map_or("", |past| &past.said))];
        with(format!("/r/{}{slash}{part}", self.realm), query.iter().chain(&at))
    }

    /// Returns the path of a repository.
    pub fn repo(&self, repo: &RepoName) -> String {
        self.part(&format!("repos/{repo}"), &[])
    }

    /// Returns the path of a domain.
    pub fn domain(&self, domain: &DomainName) -> String {
        self.part(&format!("domains/{domain}"), &[])
    }

    /// Returns the path of a contract.
    pub fn contract(&self, domain: &DomainName, name: &ContractName, query: &[(&str, &str)]) -> String {
        self.part(&format!("contracts/{domain}/{name}"), query)
    }

    /// Returns the path of the notifications for a repository.
    pub fn notifications(&self, repo: &RepoName) -> String {
        self.part("notifications", &[("repo", repo.as_str())])
    }
}

/// Adds a query to a path. Parameters without a value are left out.
fn with<'a>(path: String, query: impl Iterator<Item = &'a (&'a str, &'a str)>) -> String {
    let said: Vec<_> = query.filter(|(_, value)| !value.is_empty()).collect();
    if said.is_empty() {
        path
    } else {
        format!("{path}?{}", Serializer::new(String::new()).extend_pairs(said).finish())
    }
}

/// The query of a page's URL.
#[derive(Debug, Default)]
pub struct Query(Vec<(String, String)>);

/// The maximum length of a value. Longer values cannot be names.
const MAX_VALUE: usize = 500;

impl Query {
    /// Parses a query. Invalid UTF-8 is replaced.
    pub fn parse(text: &str) -> Self {
        let pairs = form_urlencoded::parse(text.as_bytes()).into_owned();
        Self(pairs.filter(|(_, value)| value.len() <= MAX_VALUE).collect())
    }

    /// Returns the first value of a parameter, unless it is missing or empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        let value = self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.trim())?;
        Some(value).filter(|value| !value.is_empty())
    }

    /// Returns the request for a page of at most `limit` items.
    pub fn page(&self, limit: usize) -> PageRequest {
        PageRequest { limit: Some(limit), cursor: self.get("cursor").map(str::to_owned) }
    }

    /// Returns the parsed value, or `None` if it is missing or empty.
    ///
    /// # Errors
    /// Returns the parse error of the type.
    pub fn parsed<T: std::str::FromStr>(&self, name: &str) -> Result<Option<T>, T::Err> {
        self.get(name).map(str::parse).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> Site {
        Site::now(&"aperture".parse().unwrap())
    }

    #[test]
    fn typed_text_survives_the_query() {
        let typed = "a&b=c+d /%\"<é>";
        let path = site().part("contracts", &[("q", typed), ("cursor", "")]);
        assert!(!path.contains(['"', '<', ' ']), "{path}");
        let (path, query) = path.split_once('?').unwrap();
        assert_eq!(path, "/r/aperture/contracts");
        assert_eq!(Query::parse(query).get("q"), Some(typed));
        assert_eq!(Query::parse(query).get("cursor"), None);
    }

    #[test]
    fn every_link_keeps_the_time() {
        let past = PastTime { said: "2 weeks ago".into(), moment: "2026-01-21T09:00:00Z".parse().unwrap() };
        let then = Site { past: Some(past), ..site() };
        assert_eq!(then.overview(), "/r/aperture?at=2+weeks+ago");
        assert_eq!(then.repo(&"a".parse().unwrap()), "/r/aperture/repos/a?at=2+weeks+ago");
        assert_eq!(then.part("contracts", &[("q", "x")]), "/r/aperture/contracts?q=x&at=2+weeks+ago");
        assert_eq!(site().domain(&"d".parse().unwrap()), "/r/aperture/domains/d");
    }

    #[test]
    fn invalid_queries_have_no_values() {
        for odd in ["", "&&", "=", "%", "%ff=%00", "q", "q=%20", &format!("q={}", "x".repeat(501))] {
            assert_eq!(Query::parse(odd).get("q"), None, "{odd}");
        }
        assert!(Query::parse("from=x").parsed::<crate::model::version::Version>("from").is_err());
    }
}
