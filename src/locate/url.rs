//! Checks URLs of realms: only those that git can access without running other programs are accepted.

use crate::{error::OpError, platform::paths};

/// Refuses URLs that git would read as options, or for which git would run a program named in the URL.
///
/// # Errors
/// Returns a usage error with the accepted forms.
pub fn accept(url: &str) -> Result<&str, OpError> {
    let refuse = |why: &str| {
        Err(OpError::usage(format!("{url:?} is not an accepted URL: {why}"))
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
    if url.contains("::") {
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

/// Returns an accepted URL in a form that does not depend on the working directory: local paths become absolute.
pub fn absolute(cwd: &std::path::Path, url: &str) -> String {
    let has_host = || !paths::has_drive(url) && url.split_once(':').is_some_and(|(host, _)| !host.contains('/'));
    let is_path = !url.contains("://") && !has_host();
    if !is_path {
        return url.to_owned();
    }
    // Without `.` components.
    let path: std::path::PathBuf = cwd.join(url).components().collect();
    dunce::canonicalize(&path).unwrap_or(path).display().to_string()
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
}
