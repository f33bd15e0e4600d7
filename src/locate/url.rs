//! Checks URLs of realms: only those that git can access without running other programs are accepted.

use std::path::Path;

use crate::{
    error::OpError,
    machine::home::Home,
    model::{
        repo_url::{RepoUrl, without_credentials},
        text::shell_word,
    },
    platform::paths,
    repo::{CodeRepo, DiscoverOptions},
};

/// Refuses URLs that git would read as options, or for which git would run a program named in the URL.
///
/// # Errors
/// Returns a usage error with the accepted forms.
pub fn accept(url: &str) -> Result<&str, OpError> {
    let refuse = |why: &str| {
        Err(OpError::usage(format!("{:?} is not an accepted URL: {why}", without_credentials(url)))
            .next("use https://…, ssh://…, user@host:path, file:///… or a local path"))
    };
    if url.is_empty() || url.len() > 2_000 {
        return refuse("it is empty or longer than 2,000 characters");
    }
    if url.starts_with('-') {
        return refuse("it starts with '-', like an option");
    }
    if url.chars().any(char::is_control) {
        return refuse("it has control characters");
    }
    if let Some((scheme, rest)) = url.split_once("://") {
        if !["https", "http", "ssh", "file"].contains(&scheme) {
            return refuse("its scheme is not https, http, ssh or file");
        }
        // ssh would read such a host as an option.
        if rest.starts_with('-') || rest.rsplit_once('@').is_some_and(|(_, host)| host.starts_with('-')) {
            return refuse("its host starts with '-'");
        }
        return Ok(url);
    }
    // As git's `is_urlschemechar`: `git@[::1]:x` is a host.
    let is_helper = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    if url.split_once("::").is_some_and(|(name, _)| is_helper(name)) {
        return refuse("it names a transport helper");
    }
    if paths::has_drive(url) {
        return Ok(url);
    }
    match url.split_once(':') {
        // An scp-like URL: a host before the first colon, without a slash.
        Some((host, _)) if !host.contains('/') && host.rsplit('@').next().is_some_and(|host| host.starts_with('-')) => {
            refuse("its host starts with '-'")
        }
        _ => Ok(url),
    }
}

/// Refuses a URL with credentials, which would be recorded in files that others read.
///
/// # Errors
/// Returns a usage error that repeats no credentials.
pub fn refuse_credentials(url: Option<&str>) -> Result<(), OpError> {
    let cleaned = url.map(|url| (url, without_credentials(url)));
    let Some((_, clean)) = cleaned.filter(|(url, clean)| url != clean) else { return Ok(()) };
    let message = "the URL has a user name, a password or a query, which others could read in .blue/config.yaml";
    Err(OpError::usage(message).next(if clean.starts_with("ssh:") {
        format!("pass {clean}, and log in with an SSH key")
    } else {
        format!("pass {clean}, and let git's credential helper supply them")
    }))
}

/// Returns an accepted URL in a form that does not depend on the working directory: local paths become absolute.
pub fn absolute(cwd: &Path, url: &str) -> String {
    let has_host = || !paths::has_drive(url) && url.split_once(':').is_some_and(|(host, _)| !host.contains('/'));
    let is_path = !url.contains("://") && !has_host();
    if !is_path {
        return url.to_owned();
    }
    // Collecting the components drops every `.`.
    let path: std::path::PathBuf = cwd.join(url).components().collect();
    dunce::canonicalize(&path).unwrap_or(path).display().to_string()
}

/// Converts a URL that the user typed to its recorded form: accepted, absolute, valid for others.
///
/// # Errors
/// Returns a usage error if the URL is not accepted, or names a file or the store of a realm of this machine.
pub fn typed(place: &DiscoverOptions, home: &Home, url: &str) -> Result<String, OpError> {
    let used = CodeRepo::url_for_others(place, accept(url)?);
    let url = absolute(&place.cwd, accept(&used)?);
    if Path::new(&url).is_file() {
        let message = format!("{url} is a file, but a realm can only be shared in a repository");
        return Err(OpError::usage(message).next(format!(
            "git blue check --realm-url {}  # a bundle can be read, but not pushed to",
            shell_word(&url)
        )));
    }
    let is_at = |path: &Path| is_same(&url, &path.display().to_string());
    let is_below_home = Path::new(&url).parent().is_some_and(|folder| {
        is_same(&folder.display().to_string(), &home.folder().join("realms").display().to_string())
    });
    if is_below_home || home.realms()?.iter().any(|known| is_at(&known.path)) {
        return Err(OpError::usage(format!("{url} is the store of a realm on this machine"))
            .next("pass the URL of another repository in which to share the realm"));
    }
    Ok(url)
}

/// Returns a URL with the symbolic links in it resolved, if it is a path that exists on this machine.
pub fn resolved(url: &str) -> String {
    let RepoUrl::Local(path) = RepoUrl::of(url) else { return url.to_owned() };
    // Git also finds `x.git` under the name `x`.
    let real = [path.clone(), format!("{path}.git")].into_iter().find_map(|path| dunce::canonicalize(path).ok());
    real.map_or(path, |path| path.display().to_string())
}

/// Returns whether two URLs name the same repository.
pub fn is_same(one: &str, other: &str) -> bool {
    RepoUrl::of(one) == RepoUrl::of(other) || RepoUrl::of(&resolved(one)) == RepoUrl::of(&resolved(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_safe_transports_are_accepted() {
        for url in [
            "https://host/x.git",
            "ssh://git@host/x.git",
            "git@host:x.git",
            "file:///srv/x.git",
            "/srv/x.git",
            "../realm.git",
            "C:/x",
            "host:x",
            "git@[::1]:realm.git",
        ] {
            assert!(accept(url).is_ok(), "{url}");
        }
        for url in [
            "",
            "--upload-pack=touch /tmp/x",
            "-oProxyCommand=x",
            "ext::sh -c x",
            "fd::17",
            "git://host/x",
            "ssh://-oProxyCommand=x/y",
            "ssh://a@-oProxyCommand=x/y",
            "-x@host:y",
            "a@-x:y",
            "https://h\n/x",
        ] {
            assert!(accept(url).is_err(), "{url}");
        }
    }

    #[test]
    fn credentials_are_not_recorded() {
        for url in ["https://host/x.git", "git@host:x.git", "ssh://git@host/x", "/srv/a@b/x.git", "file:///srv/x"] {
            assert!(refuse_credentials(Some(url)).is_ok(), "{url}");
        }
        for url in [
            "https://ada:s3cret@host/x.git",
            "https://s3cret@host/x.git",
            "https://host/x.git?token=s3cret",
            "http://host/x.git#s3cret",
            "ssh://ada:s3cret@host/x.git",
        ] {
            let error = refuse_credentials(Some(url)).unwrap_err();
            let told = format!("{error:?}");
            assert!(told.contains("host/x.git") && !told.contains("s3cret"), "{told}");
            assert_eq!(told.contains("ssh://ada@host/x.git, and log in with an SSH key"), url.contains("ssh"));
        }
    }
}
