//! Follows redirects only within the origin of the request, because the token is sent along.

use ureq::http::Uri;

/// Returns the target of a redirect from `from`, if it has the same origin: scheme, host and port.
pub(super) fn within_origin(from: &str, location: &str) -> Option<String> {
    let asked = Origin::of(from)?;
    // "//host/path" is on another host.
    let is_path = location.starts_with('/') && !location.starts_with("//");
    let url = if is_path { format!("{}{location}", asked.prefix()) } else { location.to_owned() };
    (Origin::of(&url)? == asked).then_some(url)
}

/// Returns the origin of a URL as text, without path and credentials.
pub(super) fn origin(url: &str) -> Option<String> {
    Origin::of(url).map(|origin| origin.prefix())
}

#[derive(PartialEq, Eq)]
struct Origin {
    scheme: String,
    host: String,
    port: u16,
}

impl Origin {
    fn of(url: &str) -> Option<Self> {
        let uri: Uri = url.parse().ok()?;
        let scheme = uri.scheme_str()?.to_ascii_lowercase();
        let usual = match &*scheme {
            "https" => 443,
            "http" => 80,
            _ => return None,
        };
        let authority = uri.authority()?;
        // A user name and password would be sent in addition to the token.
        let is_plain = !authority.as_str().contains('@');
        let (host, port) = (authority.host().to_ascii_lowercase(), authority.port_u16().unwrap_or(usual));
        is_plain.then_some(Self { scheme, host, port })
    }

    fn prefix(&self) -> String {
        format!("{}://{}:{}", self.scheme, self.host, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_scheme_host_and_port_are_followed() {
        let asked = "https://forge.test/api/repos/a?page=2";
        for (location, followed) in [
            ("/api/repositories/7", Some("https://forge.test:443/api/repositories/7")),
            ("https://forge.test/x", Some("https://forge.test/x")),
            ("https://FORGE.test:443/x", Some("https://FORGE.test:443/x")),
            ("https://forge.test:8443/x", None),
            ("http://forge.test/x", None),
            ("http://forge.test:443/x", None),
            ("https://evil.test/x", None),
            ("https://forge.test@evil.test/x", None),
            ("https://me:secret@forge.test/x", None),
            ("//evil.test/x", None),
            ("//forge.test/x", None),
            ("x", None),
            ("", None),
            ("file:///etc/passwd", None),
        ] {
            assert_eq!(within_origin(asked, location).as_deref(), followed, "{location}");
        }
        assert_eq!(origin("https://me:secret@forge.test/x"), None);
        assert_eq!(origin("http://[::1]:80/x").as_deref(), Some("http://[::1]:80"));
    }
}
