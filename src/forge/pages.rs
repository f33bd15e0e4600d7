//! Finds the next page of a list.

use ureq::http::HeaderMap;

/// The place of the next page of a list.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NextPage {
    /// At this URL.
    At(String),
    /// There is none.
    None,
    /// The response does not say, because a proxy removed the header, or because the list has one page.
    Unknown,
}

/// Reads a `Link` header.
pub(super) fn next_page(headers: &HeaderMap) -> NextPage {
    let Some(links) = headers.get("link").and_then(|links| links.to_str().ok()) else { return NextPage::Unknown };
    let next = links.split(',').find(|link| link.contains("rel=\"next\""));
    let url = next.and_then(|next| Some(next.split_once('<')?.1.split_once('>')?.0.to_owned()));
    url.map_or(NextPage::None, NextPage::At)
}

/// Returns the number of entries of a full page, from the query of a list.
pub(super) fn page_size(path: &str) -> usize {
    let pairs = path.split(['?', '&']).filter_map(|pair| pair.split_once('='));
    let size = pairs.filter(|(key, _)| matches!(*key, "per_page" | "limit")).find_map(|(_, size)| size.parse().ok());
    size.unwrap_or(usize::MAX)
}

/// Returns the URL of another page of the list at `first`, given the link to it. A forge behind a proxy may link to
/// another origin than `base`, to which the secret is not sent: only the query of such a link is used.
pub(super) fn at_base(base: &str, first: &str, link: String) -> String {
    if link.strip_prefix(base).is_some_and(|rest| rest.starts_with('/')) {
        return link;
    }
    let path = first.split('?').next().unwrap_or_default();
    let query = link.split_once('?').map_or("", |(_, query)| query);
    format!("{path}?{query}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_is_found_in_the_link_header() {
        let mut headers = HeaderMap::new();
        assert_eq!(next_page(&headers), NextPage::Unknown);
        headers.insert("link", "<https://h/1>; rel=\"prev\", <https://h/3>; rel=\"next\"".parse().unwrap());
        assert_eq!(next_page(&headers), NextPage::At("https://h/3".into()));
        headers.insert("link", "<https://h/1>; rel=\"prev\"".parse().unwrap());
        assert_eq!(next_page(&headers), NextPage::None);
    }

    #[test]
    fn a_link_to_another_origin_is_followed_at_the_known_one() {
        let base = "https://h/api/v1";
        let first = "https://h/api/v1/repos/a/b/issues?limit=50";
        let page = "https://h/api/v1/repos/a/b/issues?limit=50&page=2";
        for link in [page, "http://inner:3000/api/v1/repos/a/b/issues?limit=50&page=2", "/x?limit=50&page=2"] {
            assert_eq!(at_base(base, first, link.to_owned()), page, "{link}");
        }
        let same = "https://h/api/v1/repositories/7/issues?page=2";
        assert_eq!(at_base(base, first, same.to_owned()), same);
        assert_eq!(
            at_base(base, first, "https://h/api/v10/x?page=2".to_owned()),
            "https://h/api/v1/repos/a/b/issues?page=2"
        );
    }

    #[test]
    fn a_full_page_has_as_many_entries_as_were_requested() {
        assert_eq!(page_size("/issues?state=all&limit=50"), 50);
        assert_eq!(page_size("/issues?per_page=100&state=all"), 100);
        assert_eq!(page_size("/comments"), usize::MAX);
    }
}
