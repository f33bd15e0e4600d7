//! Resolves relative references against a base URI (RFC 3986, section 5.2).

use crate::model::pointer::escape;

/// Splits a reference at `#`. Returns the part before it, and the fragment.
pub fn split(reference: &str) -> (&str, Option<&str>) {
    match reference.split_once('#') {
        Some((before, fragment)) => (before, Some(fragment)),
        None => (reference, None),
    }
}

/// Resolves `reference`, which has no fragment, against `base`.
pub fn join(base: &str, reference: &str) -> String {
    if reference.is_empty() {
        return base.to_owned();
    }
    if scheme_end(reference).is_some() {
        return reference.to_owned();
    }
    let (scheme, rest) = base.split_at(scheme_end(base).unwrap_or(0));
    if reference.starts_with("//") {
        return format!("{scheme}{reference}");
    }
    let (authority, path) = match rest.strip_prefix("//") {
        Some(after) => rest.split_at(2 + after.find('/').unwrap_or(after.len())),
        None => ("", rest),
    };
    let path = path.split('?').next().unwrap_or_default();
    let (target, query) = reference.split_at(reference.find('?').unwrap_or(reference.len()));
    let merged = if target.starts_with('/') {
        target.to_owned()
    } else if target.is_empty() {
        path.to_owned()
    } else {
        let folder = path.rfind('/').map_or("", |end| &path[..=end]);
        let root = if folder.is_empty() && !authority.is_empty() { "/" } else { "" };
        format!("{root}{folder}{target}")
    };
    format!("{scheme}{authority}{}{query}", without_dots(&merged))
}

/// Returns whether a reference has a scheme.
pub fn is_absolute(reference: &str) -> bool {
    scheme_end(reference).is_some()
}

fn scheme_end(uri: &str) -> Option<usize> {
    let end = uri.find(':')?;
    let is_scheme = uri.starts_with(|c: char| c.is_ascii_alphabetic())
        && uri[..end].chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme.then_some(end + 1)
}

fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let segments: Vec<_> = path.split('/').collect();
    for (at, segment) in segments.iter().enumerate() {
        let is_last = at + 1 == segments.len();
        match *segment {
            "." if is_last => kept.push(""),
            "." => {}
            ".." => {
                if kept.len() > 1 || kept.first().is_some_and(|first| !first.is_empty()) {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            other => kept.push(other),
        }
    }
    kept.join("/")
}

/// Returns one step of a pointer: `/` and the escaped token.
pub fn step(token: &str) -> String {
    format!("/{}", escape(token))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_resolved() {
        assert_eq!(join("http://a/b/c/d?q", "g"), "http://a/b/c/g");
        assert_eq!(join("http://a/b/c/d", "../g"), "http://a/b/g");
        assert_eq!(join("http://a/b/c/d", "/g"), "http://a/g");
        assert_eq!(join("http://a", "g"), "http://a/g");
        assert_eq!(join("http://a/b", "//x/y"), "http://x/y");
        assert_eq!(join("http://a/b", "urn:x"), "urn:x");
        assert_eq!(join("", "item.json"), "item.json");
        assert_eq!(join("http://a/b/c", "../../../g"), "http://a/g");
    }
}
