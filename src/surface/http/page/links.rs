//! Where the pages lie. Names need no escaping in a path; what people typed does in a query.

use form_urlencoded::Serializer;

use crate::model::name::{ContractName, DomainName, RealmName, RepoName};

/// Returns the path of a realm's overview.
pub fn realm(realm: &RealmName) -> String {
    format!("/r/{realm}")
}

/// Returns the path of a part of a realm: `contracts`, `notifications`, `sessions`.
pub fn part(realm: &RealmName, part: &str, query: &[(&str, &str)]) -> String {
    with(format!("/r/{realm}/{part}"), query)
}

/// Returns the path of what changed for a repository.
pub fn notifications(realm: &RealmName, repo: &RepoName) -> String {
    part(realm, "notifications", &[("repo", repo.as_str())])
}

/// Returns the path of a contract.
pub fn contract(realm: &RealmName, domain: &DomainName, name: &ContractName, query: &[(&str, &str)]) -> String {
    with(format!("/r/{realm}/contracts/{domain}/{name}"), query)
}

/// Parameters without a value are left out.
fn with(path: String, query: &[(&str, &str)]) -> String {
    let said: Vec<_> = query.iter().filter(|(_, value)| !value.is_empty()).collect();
    match said.is_empty() {
        true => path,
        false => format!("{path}?{}", Serializer::new(String::new()).extend_pairs(said).finish()),
    }
}

/// What the query of a page says.
#[derive(Debug, Default)]
pub struct Query(Vec<(String, String)>);

/// Longest value that is looked at: what is longer names nothing.
const MAX_VALUE: usize = 500;

impl Query {
    /// Reads it. What is no UTF-8 is replaced.
    pub fn parse(text: &str) -> Self {
        let pairs = form_urlencoded::parse(text.as_bytes()).into_owned();
        Self(pairs.filter(|(_, value)| value.len() <= MAX_VALUE).collect())
    }

    /// Returns what was said first, if anything was.
    pub fn get(&self, name: &str) -> Option<&str> {
        let value = self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.trim())?;
        Some(value).filter(|value| !value.is_empty())
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

    #[test]
    fn what_people_typed_comes_back_as_it_was() {
        let typed = "a&b=c+d /%\"<é>";
        let path = part(&"aperture".parse().unwrap(), "contracts", &[("q", typed), ("cursor", "")]);
        assert!(!path.contains(['"', '<', ' ']), "{path}");
        let (path, query) = path.split_once('?').unwrap();
        assert_eq!(path, "/r/aperture/contracts");
        assert_eq!(Query::parse(query).get("q"), Some(typed));
        assert_eq!(Query::parse(query).get("cursor"), None);
    }

    #[test]
    fn a_query_is_whatever_it_is() {
        for odd in ["", "&&", "=", "%", "%ff=%00", "q", "q=%20", &format!("q={}", "x".repeat(501))] {
            assert_eq!(Query::parse(odd).get("q"), None, "{odd}");
        }
        assert!(Query::parse("from=x").parsed::<crate::model::version::Version>("from").is_err());
    }
}
