//! Pages lists that are too long for one message. Pages are cut from the text of the answer,
//! because converting all entries to show a few took most of the time and memory of such a call.

mod listed;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use self::listed::Listed;
use super::{
    body::{Body, MAX_STEPS, ROOM_FOR_CURSOR, to_string},
    size_limit::{MAX_BODY, message_bytes},
};
use crate::error::{NextStep, OpError};

/// The lists of an answer that are paged, in this order and as if they were one list.
pub type Lists = &'static [&'static str];

/// The part of the lists that a client asks for: at most `limit` items after `cursor`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// The maximum number of items.
    pub limit: Option<usize>,
    /// The cursor of the previous page.
    pub cursor: Option<&'a str>,
}

/// Converts an answer, given as JSON. Reduces its lists to the requested part, and to as many items
/// as fit in addition to the next steps.
///
/// # Errors
/// Returns an error if the cursor was made for another answer.
pub fn page(text: &str, mut next_steps: Vec<NextStep>, lists: Lists, wanted: Wanted<'_>) -> Result<Body, OpError> {
    let Wanted { limit, cursor } = wanted;
    // Leave room for the step that leads to the next page.
    next_steps.truncate(MAX_STEPS - 1);
    let mut body = Body { fields: Map::new(), next_steps };
    let Listed { fields, lists: mut listed } = Listed::of(text, lists);
    let total = listed.values().map(Vec::len).sum::<usize>();
    // In a message, an answer takes more bytes than its text has, so a text longer than the limit cannot fit.
    if limit.is_none() && cursor.is_none() && text.len() <= MAX_BODY {
        body.fields = listed::value(text);
        body.fields.remove("next_steps");
        body.fields.insert("next_cursor".into(), Value::Null);
        if body.fits() {
            body.fields.insert("total".into(), json!(total));
            return Ok(body);
        }
    }
    let mark = mark(&fields, &listed);
    let start = match cursor {
        None => 0,
        Some(cursor) => match cursor.split_once('-') {
            Some((start, of)) if of == mark => start.parse().map_err(|_| OpError::stale_cursor(cursor))?,
            _ => return Err(OpError::stale_cursor(cursor)),
        },
    };
    body.fields = fields.iter().map(|(name, text)| ((*name).to_owned(), listed::value(text))).collect();
    body.fields.insert("next_cursor".into(), Value::Null);
    let head = body.fields.iter();
    let head: usize =
        head.map(|(name, field)| message_bytes(&to_string(name)) + message_bytes(&to_string(field)) + 4).sum();
    let names: usize = lists.iter().map(|name| name.len() * 2 + 16).sum();
    let room = MAX_BODY.saturating_sub(head + names + body.steps_bytes() + 1_200);
    let mut window = Window { at: 0, start, left: limit.unwrap_or(usize::MAX), room, end: None };
    for name in lists {
        if let Some(items) = listed.remove(name) {
            body.fields.insert((*name).to_owned(), Value::Array(window.part(&items)));
        }
    }
    body.fields.insert("total".into(), json!(total));
    if let Some(end) = window.end {
        body.fields.insert("next_cursor".into(), json!(format!("{end}-{mark}")));
        body.next_steps.push(format!("call again with cursor {end}-{mark}: the next of {total} entries").into());
    }
    Ok(body)
}

/// Requests a page of `limit` entries. If the page does not fit into a message, requests a smaller one, reduced in
/// proportion to the excess, because each attempt costs as much as the first.
///
/// # Errors
/// Returns an error if the operation fails.
pub fn fitting(mut limit: usize, ask: impl Fn(usize) -> Result<Body, OpError>) -> Result<Body, OpError> {
    loop {
        let body = ask(limit)?;
        let bytes = body.message_bytes() + ROOM_FOR_CURSOR;
        if bytes <= MAX_BODY || limit == 1 {
            return Ok(body);
        }
        limit = (limit * MAX_BODY / bytes).clamp(1, limit - 1);
    }
}

/// Returns a hash of the answer that a cursor was made for.
fn mark(fields: &BTreeMap<&str, &str>, lists: &BTreeMap<&str, Vec<&str>>) -> String {
    use std::hash::{DefaultHasher, Hasher as _};
    let mut hasher = DefaultHasher::new();
    for text in fields.values().chain(lists.values().flatten()) {
        hasher.write(text.as_bytes());
    }
    format!("{:08x}", hasher.finish() as u32)
}

/// The part of the lists that is shown.
struct Window {
    /// The index of the next item.
    at: usize,
    /// The index of the first item that is shown.
    start: usize,
    /// The number of further items that may be shown.
    left: usize,
    /// The remaining bytes for items.
    room: usize,
    /// The index of the first item after the page.
    end: Option<usize>,
}

impl Window {
    /// Returns whether the next item is shown.
    fn shows(&mut self, item: &str) -> bool {
        let at = self.at;
        self.at += 1;
        if at < self.start || self.end.is_some() {
            return false;
        }
        let bytes = message_bytes(item) + 2;
        // Each page has an item, or the client would ask for the same page forever.
        let is_first = at == self.start;
        if self.left == 0 || (bytes > self.room && !is_first) {
            self.end = Some(at);
            return false;
        }
        self.left -= 1;
        self.room = self.room.saturating_sub(bytes);
        true
    }

    /// Returns the items of a list that are shown.
    fn part(&mut self, items: &[&str]) -> Vec<Value> {
        items.iter().filter(|item| self.shows(item)).map(|item| listed::value(item)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorCode;

    const LISTS: Lists = &["errors", "warnings"];

    fn page(errors: usize, warnings: usize, limit: Option<usize>, cursor: Option<&str>) -> Result<Body, OpError> {
        page_with(Vec::new(), errors, warnings, Wanted { limit, cursor })
    }

    fn page_with(steps: Vec<NextStep>, errors: usize, warnings: usize, wanted: Wanted<'_>) -> Result<Body, OpError> {
        let finding = |n| json!({"code": "deprecated", "message": format!("finding {n}"), "repo": "fungal"});
        let findings = |from, count| (from..from + count).map(finding).collect::<Vec<_>>();
        let answer =
            json!({"status": "success", "errors": findings(0, errors), "warnings": findings(errors, warnings)});
        super::page(&answer.to_string(), steps, LISTS, wanted)
    }

    #[test]
    fn pages_join_into_the_whole_list() {
        for (errors, warnings, limit) in [(3, 1_500, None), (400, 400, Some(7)), (0, 2_000, None)] {
            let (mut cursor, mut seen, mut pages): (Option<String>, Vec<Value>, usize) = (None, Vec::new(), 0);
            loop {
                let one = page(errors, warnings, limit, cursor.as_deref()).unwrap();
                assert!(one.fits(), "page {pages} weighs too much");
                for list in LISTS {
                    seen.extend(one.fields[*list].as_array().unwrap().iter().map(|finding| finding["message"].clone()));
                }
                pages += 1;
                cursor = one.fields["next_cursor"].as_str().map(str::to_owned);
                if cursor.is_none() {
                    break;
                }
            }
            let expected: Vec<_> = (0..errors + warnings).map(|n| json!(format!("finding {n}"))).collect();
            assert_eq!(seen, expected, "{errors} {warnings} {limit:?}");
            assert!(pages > 1);
        }
    }

    #[test]
    fn each_page_has_items_however_many_next_steps_there_are() {
        let steps = vec![NextStep::advice("x".repeat(250)); 500];
        let mut first = page_with(steps, 400, 0, Wanted::default()).unwrap();
        assert!(first.fields["errors"].as_array().unwrap().len() > 50);
        first.cut("ask for less");
        let cursor = first.fields["next_cursor"].as_str().unwrap();
        assert_eq!(first.next_steps.len(), MAX_STEPS);
        assert!(first.next_steps[MAX_STEPS - 1].reason().contains(cursor));
        // An item that is larger than a message is cut, but not left out.
        let answer = json!({"status": "success", "errors": ["x".repeat(MAX_BODY), "y"]}).to_string();
        let first = super::page(&answer, Vec::new(), LISTS, Wanted::default()).unwrap();
        assert_eq!(first.fields["errors"].as_array().unwrap().len(), 1);
        let cursor = first.fields["next_cursor"].as_str();
        let second = super::page(&answer, Vec::new(), LISTS, Wanted { limit: None, cursor }).unwrap();
        assert_eq!((&second.fields["errors"], &second.fields["next_cursor"]), (&json!(["y"]), &Value::Null));
    }

    #[test]
    fn a_short_list_is_one_page() {
        let one = page(2, 3, None, None).unwrap();
        assert_eq!((&one.fields["total"], &one.fields["next_cursor"]), (&json!(5), &Value::Null));
    }

    #[test]
    fn a_cursor_of_another_list_is_refused() {
        let first = page(1, 10, Some(3), None).unwrap();
        let cursor = first.fields["next_cursor"].as_str().unwrap().to_owned();
        for (warnings, cursor) in [(11, &*cursor), (10, "x"), (10, "-")] {
            assert_eq!(page(1, warnings, None, Some(cursor)).unwrap_err().code, ErrorCode::StaleCursor);
        }
    }
}
