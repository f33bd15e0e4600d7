//! Lists in pages: `limit` and `cursor` in, `next_cursor` and `total` out.

use schemars::JsonSchema;
use serde::Deserialize;

/// How many items a page has unless somebody says otherwise.
pub const DEFAULT_LIMIT: usize = 100;

/// Which part of a list is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct PageRequest {
    /// Show at most this many entries
    ///
    /// All of them where it is 0, which no surface takes.
    #[schemars(range(min = 1))]
    #[cfg_attr(feature = "cli", arg(short = 'n', long, value_name = "N", value_parser = positive))]
    pub limit: Option<usize>,
    /// Continue after this cursor, which the previous page gave
    #[cfg_attr(feature = "cli", arg(long, value_name = "CURSOR"))]
    pub cursor: Option<String>,
}

#[cfg(feature = "cli")]
fn positive(text: &str) -> Result<usize, std::num::ParseIntError> {
    text.parse::<std::num::NonZeroUsize>().map(Into::into)
}

impl PageRequest {
    /// Asks for everything at once.
    pub fn all() -> Self {
        Self { limit: Some(0), cursor: None }
    }

    /// Returns how many items the page has at most.
    pub fn limit(&self) -> usize {
        match self.limit.unwrap_or(DEFAULT_LIMIT) {
            0 => usize::MAX,
            limit => limit,
        }
    }
}

/// A cursor that no page of the list gave, or whose entry is gone from a list that is not sorted by it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownCursor(pub String);

/// A page, and the cursor of the next one where there is more.
type Page<T> = Result<(Vec<T>, Option<String>), UnknownCursor>;

/// Returns the wanted page, and the cursor of the next one where there is more. Items are sorted
/// by `key` already; a key that is gone continues at the one that would follow it.
///
/// # Errors
/// Returns an error if the cursor is not written as the keys are.
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

/// Returns the wanted page of items that are in an order of their own, so that a cursor is looked for, not compared.
///
/// # Errors
/// Returns an error if no item has that key.
pub fn page_in_order<T>(items: Vec<T>, request: &PageRequest, key: impl Fn(&T) -> String) -> Page<T> {
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

/// Returns whether a cursor has the same marks between its parts as a key.
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
            page_in_order(items, &PageRequest { limit: Some(2), cursor: cursor.map(str::to_owned) }, String::clone)
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
