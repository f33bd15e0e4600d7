//! Normalized URLs of code repositories, for comparison: ssh, https and scp-like URLs, with and without `.git`, can
//! refer to the same repository.

use std::{borrow::Cow, path::Path};

/// A URL in a form that is equal for all spellings of one location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RepoUrl {
    /// A repository on a host: the lower-case host, with the port unless it is the default, and the path.
    Host(String, String),
    /// A repository on this machine: its path.
    Local(String),
}

impl RepoUrl {
    /// Parses a URL as git does, without user, password, scheme, default port, `/` and `.git`.
    pub fn of(url: &str) -> Self {
        if let Some((scheme, rest)) = url.split_once("://") {
            let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
            if scheme.eq_ignore_ascii_case("file") {
                return Self::Local(local(&format!("/{path}")));
            }
            return Self::on(without_default_port(scheme, authority), path);
        }
        match url.split_once(':') {
            // An scp-like URL: a host before the first colon, without a slash.
            Some((authority, path)) if !authority.contains('/') => {
                let path = path.strip_prefix("~/").unwrap_or(path);
                Self::on(authority, path)
            }
            _ => Self::Local(local(url)),
        }
    }

    fn on(authority: &str, path: &str) -> Self {
        let (host, path) = (host(authority), trimmed(path));
        // GitHub ignores case in the names of owners and repositories.
        let path = if host == "github.com" { path.to_ascii_lowercase() } else { path.to_owned() };
        Self::Host(host, path)
    }

    /// Returns whether the URLs can be compared. A local path may be a mirror of any host, and a
    /// relative path has a different meaning in every clone.
    pub fn is_comparable_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Host(..), Self::Host(..)) => true,
            (Self::Local(_), Self::Local(_)) => !self.is_relative() && !other.is_relative(),
            _ => false,
        }
    }

    /// Returns whether the URLs differ only in the port. Many servers listen for ssh and HTTPS on different ports.
    pub fn differs_only_in_port(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Host(host, path), Self::Host(other, at)) => {
                host != other && path == at && without_port(host) == without_port(other)
            }
            _ => false,
        }
    }

    /// Returns whether the URLs differ only in the host, as with an alias of ssh or a mirror.
    pub fn differs_only_in_host(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Host(host, path), Self::Host(other, at)) => host != other && path.eq_ignore_ascii_case(at),
            _ => false,
        }
    }

    /// Returns whether the URL is a path that git resolves from the clone's own folder.
    pub fn is_relative(&self) -> bool {
        matches!(self, Self::Local(path) if Path::new(path).is_relative())
    }

    /// Returns whether the URL is valid on every machine.
    pub fn is_on_a_host(&self) -> bool {
        matches!(self, Self::Host(..))
    }
}

/// Returns the form of a remote's URL that is valid on other machines: the `configured` URL, or the one that is `used`
/// after this machine's `insteadOf` was applied. A URL with a scheme or a user is valid everywhere, and what
/// `insteadOf` replaces it with may be a mirror. Anything else, such as `work:team/x`, may be an abbreviation for this
/// machine only.
pub fn for_others(configured: String, used: String) -> String {
    let is_whole = |start: &str| configured.starts_with(start);
    let has_scheme = ["https://", "http://", "ssh://", "git://", "git+ssh://", "ssh+git://"].into_iter().any(is_whole);
    let has_user = configured.split([':', '/']).next().is_some_and(|host| host.contains('@'));
    if has_scheme || has_user { configured } else { used }
}

/// Returns the host in lower case. Some forges take ssh on the port of HTTPS, under another name.
fn host(authority: &str) -> String {
    let host = authority.rsplit('@').next().unwrap_or_default().to_ascii_lowercase();
    match &*host {
        "ssh.github.com:443" => "github.com".to_owned(),
        "altssh.gitlab.com:443" => "gitlab.com".to_owned(),
        "altssh.bitbucket.org:443" => "bitbucket.org".to_owned(),
        _ => host,
    }
}

fn without_default_port<'a>(scheme: &str, authority: &'a str) -> &'a str {
    let port = match &*scheme.to_ascii_lowercase() {
        "http" => ":80",
        "https" => ":443",
        _ if is_ssh(scheme) => ":22",
        "git" => ":9418",
        _ => return authority,
    };
    authority.strip_suffix(port).unwrap_or(authority)
}

fn is_ssh(scheme: &str) -> bool {
    ["ssh", "git+ssh", "ssh+git"].iter().any(|ssh| scheme.eq_ignore_ascii_case(ssh))
}

fn without_port(host: &str) -> &str {
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    host.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(host, |(host, _)| host)
}

fn local(path: &str) -> String {
    let path = &without_dots(path.trim_end_matches('/'));
    path.strip_suffix("/.git").or_else(|| path.strip_suffix(".git")).unwrap_or(path).to_owned()
}

/// Removes `.` and `..` from an absolute path: `git clone ../x.git` records `FOLDER/../x.git`.
fn without_dots(path: &str) -> Cow<'_, str> {
    if !path.starts_with('/') || !path.split('/').any(|part| matches!(part, "." | "..")) {
        return path.into();
    }
    let mut kept = Vec::new();
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        match part {
            ".." => drop(kept.pop()),
            part => kept.push(part),
        }
    }
    format!("/{}", kept.join("/")).into()
}

fn trimmed(path: &str) -> &str {
    let path = path.trim_matches('/');
    path.strip_suffix(".git").unwrap_or(path)
}

/// Returns a URL without user name and password, and an HTTP URL without query and fragment, which may be a token and
/// have no meaning to git. The user name of ssh URLs is kept, since ssh needs it.
pub fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let is_http = ["http", "https"].iter().any(|http| scheme.eq_ignore_ascii_case(http));
    let rest = if is_http { rest.split(['?', '#']).next().unwrap_or_default() } else { rest };
    let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    let Some((user, host)) = authority.rsplit_once('@') else { return format!("{scheme}://{rest}") };
    match user.split(':').next().filter(|name| is_ssh(scheme) && !name.is_empty()) {
        Some(name) => format!("{scheme}://{name}@{host}{path}"),
        None => format!("{scheme}://{host}{path}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_location_are_equal() {
        let same = |urls: &[&str]| {
            for url in urls {
                assert_eq!(RepoUrl::of(url), RepoUrl::of(urls[0]), "{url}");
            }
        };
        same(&[
            "https://github.com/acme/ap.git",
            "https://GitHub.com/acme/ap",
            "https://me:secret@github.com:443/acme/ap/",
            "git@github.com:acme/ap.git",
            "github.com:acme/ap",
            "ssh://git@github.com/acme/ap.git",
            "ssh://git@github.com:22/acme/ap",
            "ssh://git@ssh.github.com:443/acme/ap.git",
            "https://github.com/Acme/AP.git",
        ]);
        same(&[
            "/srv/ap.git",
            "/srv/ap",
            "file:///srv/ap.git",
            "/srv/ap/.git",
            "/srv/ap/",
            "/srv/me/../ap.git",
            "/../srv/./x/../ap",
        ]);
        same(&[
            "https://gitlab.com/acme/ap",
            "https://GitLab.com/acme/ap.git",
            "ssh://git@altssh.gitlab.com:443/acme/ap",
        ]);
        same(&["https://bitbucket.org/acme/ap", "ssh://git@altssh.bitbucket.org:443/acme/ap"]);
        same(&["host:ap", "HTTP://host:80/ap", "git+ssh://host:22/ap", "git://host:9418/ap", "https://host:443/ap"]);
    }

    #[test]
    fn other_locations_are_not_equal() {
        for (one, other) in [
            ("https://github.com/acme/ap", "https://github.com/acme/ap2"),
            ("https://gitlab.com/acme/ap", "https://gitlab.com/Acme/ap"),
            ("/srv/ap", "/srv/ap/.."),
            ("https://github.com/acme/ap", "https://gitlab.com/acme/ap"),
            ("https://git.example.com:8443/ap", "https://git.example.com/ap"),
            ("https://git.example.com:22/ap", "https://git.example.com/ap"),
            ("https://git.example.com:80/ap", "https://git.example.com/ap"),
            ("http://git.example.com:443/ap", "http://git.example.com/ap"),
            ("ssh://git.example.com:443/ap", "ssh://git.example.com/ap"),
            ("/srv/ap", "/srv/other/ap"),
        ] {
            assert_ne!(RepoUrl::of(one), RepoUrl::of(other), "{one}");
        }
        let ssh = RepoUrl::of("ssh://git@git.example.com:2222/ap.git");
        for (other, is_port) in [
            ("https://git.example.com:8443/ap", true),
            ("git@git.example.com:ap", true),
            ("ssh://git.example.com:2222/ap", false),
            ("git@git.example.com:other", false),
            ("git@git.example.org:ap", false),
            ("/ap", false),
        ] {
            assert_eq!(ssh.differs_only_in_port(&RepoUrl::of(other)), is_port, "{other}");
        }
        for other in ["https://host/ap", "../ap.git", "."] {
            assert!(!RepoUrl::of("/srv/ap").is_comparable_with(&RepoUrl::of(other)), "{other}");
        }
    }

    #[test]
    fn credentials_are_removed() {
        for (url, kept) in [
            ("https://me:secret@host/x.git", "https://host/x.git"),
            ("https://token@host/x@y.git", "https://host/x@y.git"),
            ("ssh://git@host/x.git", "ssh://git@host/x.git"),
            ("ssh://me:secret@host/x.git", "ssh://me@host/x.git"),
            ("ssh://:secret@host/x.git", "ssh://host/x.git"),
            ("git@host:x.git", "git@host:x.git"),
            ("/srv/x@y.git", "/srv/x@y.git"),
            ("https://host/x.git", "https://host/x.git"),
        ] {
            assert_eq!(without_credentials(url), kept);
        }
    }
}
