//! The kinds of forges: their tokens, pages and APIs.

use std::str::FromStr;
#[cfg(feature = "forge")]
use std::sync::Arc;

#[cfg(feature = "forge")]
use super::{Client, Forge};
use super::{Pull, address::Address};

/// The kind of a forge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// GitHub, and GitHub Enterprise.
    GitHub,
    /// GitLab.
    GitLab,
    /// Forgejo, and Gitea.
    Forgejo,
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "github" => Ok(Self::GitHub),
            "gitlab" => Ok(Self::GitLab),
            "forgejo" | "gitea" => Ok(Self::Forgejo),
            _ => Err(format!("{text:?} is not a kind of forge; expected {}", Self::NAMES)),
        }
    }
}

impl Kind {
    /// The values of `blue.forge.<host>.type`.
    pub const NAMES: &str = "github, gitlab or forgejo";

    /// Adds the headers that this kind of forge expects in every request.
    #[cfg(feature = "forge")]
    pub fn prepare(self, client: Client) -> Client {
        match self {
            Self::GitHub => client
                .with_header("accept", "application/vnd.github+json")
                .with_header("x-github-api-version", "2022-11-28"),
            Self::GitLab | Self::Forgejo => client,
        }
    }

    /// Returns the token for this host from a variable. A token that CI created for its own server is not used for
    /// other hosts.
    pub fn token_from<'v>(self, host: &str, variable: impl Fn(&str) -> Option<&'v str>) -> Option<&'v str> {
        let is_server = |name: &str, default: &str| is_at(variable(name).unwrap_or(default), host);
        let first = |names: &[&str]| names.iter().find_map(|name| variable(name).filter(|value| !value.is_empty()));
        match self {
            Self::GitHub if is_server("GITHUB_SERVER_URL", "github.com") => first(&["GITHUB_TOKEN", "GH_TOKEN"]),
            Self::GitHub if host == "github.com" => None,
            Self::GitHub => first(&["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"]),
            Self::GitLab if is_server("CI_SERVER_URL", "gitlab.com") => first(&["GITLAB_TOKEN"]),
            Self::GitLab => None,
            Self::Forgejo if is_server("FORGEJO_URL", "codeberg.org") => first(&["FORGEJO_TOKEN"]),
            Self::Forgejo => None,
        }
    }

    /// Returns the program, with its arguments, that may print a token for this host.
    pub fn token_command(self, host: &str) -> Option<(&'static str, Vec<&str>)> {
        match self {
            Self::GitHub => Some(("gh", vec!["auth", "token", "--hostname", host])),
            Self::GitLab => Some(("glab", vec!["config", "get", "token", "--host", host])),
            Self::Forgejo => None,
        }
    }

    /// Returns advice for a user without a token.
    pub fn how_to_log_in(self, host: &str) -> String {
        match self {
            Self::GitHub if host == "github.com" => "gh auth login, or set GITHUB_TOKEN".into(),
            Self::GitHub => format!("gh auth login --hostname {host}, or set GH_ENTERPRISE_TOKEN"),
            Self::GitLab => format!("glab auth login --hostname {host}, or set blue.tokenCommand"),
            Self::Forgejo => "set FORGEJO_TOKEN and FORGEJO_URL, or blue.tokenCommand".into(),
        }
    }

    /// Returns the kind of a well-known host.
    pub fn of_host(host: &str) -> Option<Self> {
        match host {
            "github.com" => Some(Self::GitHub),
            "gitlab.com" => Some(Self::GitLab),
            "codeberg.org" => Some(Self::Forgejo),
            _ => None,
        }
    }

    /// Returns the kind of the forge whose workflow this process runs in, if it is this host. Forgejo and Gitea set the
    /// variables of GitHub too.
    pub fn of_runner<'v>(host: &str, variable: impl Fn(&str) -> Option<&'v str>) -> Option<Self> {
        let is_server = |name: &str| variable(name).is_some_and(|server| is_at(server, host));
        let is_on = |name: &str| variable(name) == Some("true");
        if is_server("FORGEJO_URL") {
            Some(Self::Forgejo)
        } else if is_server("CI_SERVER_URL") && is_on("GITLAB_CI") {
            Some(Self::GitLab)
        } else if !is_server("GITHUB_SERVER_URL") {
            None
        } else if is_on("FORGEJO_ACTIONS") || is_on("GITEA_ACTIONS") {
            Some(Self::Forgejo)
        } else {
            is_on("GITHUB_ACTIONS").then_some(Self::GitHub)
        }
    }

    /// Returns the URL of a host's API.
    pub fn api(self, host: &str) -> String {
        match self {
            Self::GitHub if host == "github.com" => "https://api.github.com".into(),
            Self::GitHub => format!("https://{host}/api/v3"),
            Self::GitLab => format!("https://{host}/api/v4"),
            Self::Forgejo => format!("https://{host}/api/v1"),
        }
    }

    /// Returns the URL of the page that shows a commit.
    pub fn commit_page(self, Address { host, path }: &Address, commit: &str) -> String {
        let above = if self == Self::GitLab { "/-" } else { "" };
        format!("https://{host}/{path}{above}/commit/{commit}")
    }

    /// Returns the adapter for a repository.
    #[cfg(feature = "forge")]
    pub fn forge(self, client: Arc<Client>, address: &Address) -> Box<dyn Forge> {
        match self {
            Self::GitHub => Box::new(super::github::GitHub::new(client, address)),
            Self::GitLab => Box::new(super::gitlab::GitLab::new(client, address)),
            Self::Forgejo => Box::new(super::forgejo::Forgejo::new(client, address)),
        }
    }

    /// Returns the reference to a pull request of `to` in a description for `from`.
    pub fn reference(self, from: &Address, to: &Address, pull: &Pull) -> String {
        match (self, from.host == to.host) {
            (Self::GitHub | Self::Forgejo, true) => format!("{}#{}", to.path, pull.number),
            (Self::GitLab, true) => format!("{}!{}", to.path, pull.number),
            (_, false) => pull.url.clone(),
        }
    }

    /// Returns the URL of the page for opening a pull request.
    pub fn page(self, address: &Address, base: &str, branch: &str) -> String {
        let Address { host, path } = address;
        match self {
            Self::GitHub => format!("https://{host}/{path}/compare/{base}...{branch}?expand=1"),
            Self::GitLab => format!(
                "https://{host}/{path}/-/merge_requests/new?merge_request[source_branch]={branch}&merge_request[target_branch]={base}"
            ),
            Self::Forgejo => format!("https://{host}/{path}/compare/{base}...{branch}"),
        }
    }
}

/// Returns whether the URL of a server names this host.
fn is_at(server: &str, host: &str) -> bool {
    server.split_once("://").map_or(server, |(_, rest)| rest).trim_end_matches('/') == host
}

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn runner_names_the_kind_of_its_own_server_only() {
        let kind = |variables: &[(&str, &'static str)]| {
            Kind::of_runner("git.example", |name| variables.iter().find(|(of, _)| *of == name).map(|(_, value)| *value))
        };
        let (here, there) = ("https://git.example", "https://other.example/");
        let github = ("GITHUB_ACTIONS", "true");
        for (variables, expected) in [
            (&[("GITHUB_SERVER_URL", here), github][..], Some(Kind::GitHub)),
            (&[("GITHUB_SERVER_URL", here), github, ("FORGEJO_ACTIONS", "true")], Some(Kind::Forgejo)),
            (&[("GITHUB_SERVER_URL", here), github, ("GITEA_ACTIONS", "true")], Some(Kind::Forgejo)),
            (&[("GITHUB_SERVER_URL", there), github, ("FORGEJO_URL", here)], Some(Kind::Forgejo)),
            (&[("CI_SERVER_URL", here), ("GITLAB_CI", "true")], Some(Kind::GitLab)),
            (&[("CI_SERVER_URL", there), ("GITLAB_CI", "true")], None),
            (&[("GITHUB_SERVER_URL", there), github, ("FORGEJO_URL", there)], None),
            (&[("GITHUB_SERVER_URL", here)], None),
        ] {
            assert_eq!(kind(variables), expected, "{variables:?}");
        }
    }
}
