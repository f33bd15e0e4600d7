//! Pagination of lists: requests have `limit` and `cursor`, answers have `next_cursor` and `total`.

use schemars::JsonSchema;
use serde::Deserialize;

/// The default number of items on a page.
pub const DEFAULT_LIMIT: usize = 100;

/// A request for one page of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct PageRequest {
    /// Show at most this many entries
    // 0 means all entries; no surface accepts it.
    #[schemars(range(min = 1))]
    #[cfg_attr(feature = "cli", arg(short = 'n', long, value_name = "N", value_parser = positive))]
    pub limit: Option<usize>,
    /// Continue after the page that printed this cursor (`next_cursor`)
    #[cfg_attr(feature = "cli", arg(long, value_name = "CURSOR"))]
    pub cursor: Option<String>,
}

#[cfg(feature = "cli")]
fn positive(text: &str) -> Result<usize, &'static str> {
    text.parse().ok().filter(|number| *number > 0).ok_or("use a number of at least 1")
}

impl PageRequest {
    /// Returns a request for everything at once.
    pub const fn all() -> Self {
        Self::first(0)
    }

    /// Returns a request for the first page.
    pub const fn first(limit: usize) -> Self {
        Self { limit: Some(limit), cursor: None }
    }

    /// Returns the maximum number of items on the page.
    pub fn limit(&self) -> usize {
        match self.limit.unwrap_or(DEFAULT_LIMIT) {
            0 => usize::MAX,
            limit => limit,
        }
    }
}

/// A cursor that is not from this list, or whose item was removed from a list that is not sorted by its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownCursor(pub String);

/// A page, and the cursor of the next one if there is one.
type Page<T> = Result<(Vec<T>, Option<String>), UnknownCursor>;

/// Returns the requested page, and the cursor of the next one if there is one. Items must be sorted by `key`. If the
/// item of the cursor was removed, the page begins with the next item.
///
/// # Errors
/// Returns an error if the cursor does not have the form of the keys.
pub fn page<T>(items: Vec<T>, request: &PageRequest, key: impl Fn(&T) -> String) -> Page<T> {
    let start = match (&request.cursor, items.first()) {
        (Some(cursor), Some(first)) => match items.iter().position(|item| key(item) == *cursor) {
            Some(at) => at + 1,
            None if is_alike(cursor, &key(first)) => {
                items.iter().position(|item| key(item) > *cursor).unwrap_or(items.len())
            }
            None => return Err(UnknownCursor(cursor.clone())),
        },
        _ => 0,
    };
    Ok(from(start, items, request.limit(), key))
}

/// Returns the requested page of items that are not sorted by `key`. The item of the cursor must still exist.
///
/// # Errors
/// Returns an error if no item has that key.
pub fn page_unsorted<T>(items: Vec<T>, request: &PageRequest, key: impl Fn(&T) -> String) -> Page<T> {
    let start = match &request.cursor {
        Some(cursor) if !items.is_empty() => {
            let at = items.iter().position(|item| key(item) == *cursor);
            at.ok_or_else(|| UnknownCursor(cursor.clone()))? + 1
        }
        _ => 0,
    };
    Ok(from(start, items, request.limit(), key))
}

fn from<T>(start: usize, items: Vec<T>, limit: usize, key: impl Fn(&T) -> String) -> (Vec<T>, Option<String>) {
    let more = items.len().saturating_sub(start) > limit;
    let page: Vec<T> = items.into_iter().skip(start).take(limit).collect();
    let next = page.last().filter(|_| more).map(key);
    (page, next)
}

/// Returns whether a cursor has the same separators as a key.
fn is_alike(cursor: &str, key: &str) -> bool {
    [' ', ':', '/'].iter().all(|mark| cursor.contains(*mark) == key.contains(*mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(limit: usize, cursor: Option<&str>) -> (Vec<String>, Option<String>) {
        let items: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
        page(items, &PageRequest { limit: Some(limit), cursor: cursor.map(str::to_owned) }, String::clone).unwrap()
    }

    #[test]
    fn pages_join_into_the_whole() {
        assert_eq!(ask(2, None), (vec!["a".into(), "b".into()], Some("b".into())));
        assert_eq!(ask(2, Some("b")), (vec!["c".into()], None));
        assert_eq!(ask(0, None).0.len(), 3);
        assert_eq!(ask(3, None).1, None);
        assert_eq!(ask(2, Some("c")), (vec![], None));
    }

    #[test]
    fn a_cursor_whose_item_is_gone_continues_behind_it() {
        assert_eq!(ask(2, Some("aa")), (vec!["b".into(), "c".into()], None));
    }

    #[test]
    fn items_in_an_order_of_their_own_are_looked_for() {
        let ask = |cursor: Option<&str>| {
            let items = ["c", "a", "b"].map(str::to_owned).to_vec();
            page_unsorted(items, &PageRequest { limit: Some(2), cursor: cursor.map(str::to_owned) }, String::clone)
        };
        assert_eq!(ask(None), Ok((vec!["c".into(), "a".into()], Some("a".into()))));
        assert_eq!(ask(Some("a")), Ok((vec!["b".into()], None)));
        assert_eq!(ask(Some("aa")), Err(UnknownCursor("aa".into())));
    }

    #[test]
    fn a_cursor_of_another_list_is_refused() {
        let request = PageRequest { limit: None, cursor: Some("zzz".into()) };
        assert_eq!(page(vec!["a/b".to_owned()], &request, String::clone), Err(UnknownCursor("zzz".into())));
        assert_eq!(page(Vec::new(), &request, String::clone), Ok((Vec::new(), None)));
    }
}
