//! Parses the URL of a remote into a host and a path on it.

/// The address of a repository.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// The host, with its port if the URL has one and is not an ssh URL.
    pub host: String,
    /// The path: owner and name and, on some forges, groups above them.
    pub path: String,
}

impl Address {
    /// Parses a URL. Returns `None` if it has no host, or no path that a repository on a forge can have.
    pub fn of(url: &str) -> Option<Self> {
        let (host, path) = match url.split_once("://") {
            Some(("https" | "http", rest)) => {
                let (authority, path) = rest.split_once('/')?;
                (authority.rsplit('@').next()?.to_owned(), path)
            }
            Some(("ssh", rest)) => {
                let (authority, path) = rest.split_once('/')?;
                // A port would be that of ssh.
                (authority.rsplit('@').next()?.split(':').next()?.to_owned(), path)
            }
            Some(_) => return None,
            None => {
                let (before, path) = url.split_once(':')?;
                if before.contains('/') {
                    return None;
                }
                (before.rsplit('@').next()?.to_owned(), path)
            }
        };
        // GitHub accepts ssh on port 443 under another host name.
        let host = host.to_ascii_lowercase();
        let host = host.strip_prefix("ssh.").filter(|host| *host == "github.com").unwrap_or(&host).to_owned();
        let path = path.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path);
        let is_host =
            !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':'));
        let is_part = |part: &str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
            !part.is_empty() && part != "." && part != ".." && part.chars().all(plain)
        };
        let is_path = path.contains('/') && path.split('/').all(is_part);
        (is_host && is_path).then(|| Self { host, path: path.to_owned() })
    }

    /// Returns the owner: the path without the name.
    pub fn owner(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(owner, _)| owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_url_forms_give_the_same_address() {
        for url in [
            "https://github.com/acme/blue.git",
            "https://me:secret@GitHub.com/acme/blue",
            "http://github.com/acme/blue/",
            "ssh://git@github.com:22/acme/blue.git",
            "ssh://git@ssh.github.com:443/acme/blue.git",
            "git@github.com:acme/blue.git",
            "github.com:acme/blue",
        ] {
            let expected = Address { host: "github.com".into(), path: "acme/blue".into() };
            assert_eq!(Address::of(url), Some(expected), "{url}");
        }
        let deep = Address::of("https://git.example.com:8443/a/b/c").unwrap();
        assert_eq!((&*deep.host, deep.owner()), ("git.example.com:8443", "a/b"));
    }

    #[test]
    fn urls_without_a_forge_address_are_rejected() {
        for url in [
            "/srv/x.git",
            "../x",
            "file:///srv/acme/x.git",
            "https://github.com/x",
            "https://github.com/../x",
            "https://github.com/a/b?c",
            "https://github.com/a b/c",
            "https://h\u{e9}/a/b",
            "",
            "C:/x",
        ] {
            assert_eq!(Address::of(url), None, "{url}");
        }
    }
}
