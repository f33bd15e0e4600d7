//! The body of an answer to a client, cut to the size of a message, with a hint on how to get the rest.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::size_limit::{MAX_BODY, message_bytes};
use crate::{
    error::{ErrorCode, NextStep, OpError},
    model::pointer::escape,
    wire::AnyAnswer,
};

/// The fields of an answer, except for those that every answer has.
#[derive(Debug, Clone, Default)]
pub struct Body {
    pub fields: Map<String, Value>,
    pub next_steps: Vec<NextStep>,
}

/// The maximum number of next steps in an answer.
pub const MAX_STEPS: usize = 8;
/// The number of bytes that are reserved for a cursor, and for the next step with it.
pub const ROOM_FOR_CURSOR: usize = 512;
/// Values of at most this many bytes are not cut.
const LEAST: usize = 160;
/// An object with more fields than this counts as a map, such as `$defs`: its first entries are
/// kept whole, because the beginnings of all entries would be useless.
const MANY: usize = 32;

impl Body {
    /// Converts the answer of an operation into fields, without its next steps.
    pub fn of(answer: &dyn AnyAnswer) -> Self {
        let Value::Object(mut fields) = answer.to_value() else { unreachable!("answers are objects") };
        fields.remove("next_steps");
        Self { fields, next_steps: Vec::new() }
    }

    /// Returns whether the answer fits one message.
    pub fn fits(&self) -> bool {
        self.message_bytes() <= MAX_BODY
    }

    /// Returns the bytes that the answer takes in a message.
    pub fn message_bytes(&self) -> usize {
        message_bytes(&to_string(&self.fields)) + self.steps_bytes()
    }

    /// Removes the last items of a list until the answer fits one message, but never the first. Each item has a cursor
    /// that continues after it.
    pub fn fit(&mut self, list: &str, cursors: &[String]) {
        let Some(Value::Array(mut items)) = self.fields.remove(list) else { return };
        let mut room = Room(MAX_BODY.saturating_sub(self.message_bytes() + 2 * list.len() + ROOM_FOR_CURSOR));
        let kept = items.iter().take_while(|item| room.takes(item)).count().max(1);
        if kept < items.len() {
            items.truncate(kept);
            self.fields.insert("next_cursor".into(), json!(cursors.get(kept - 1)));
        }
        self.fields.insert(list.to_owned(), Value::Array(items));
    }

    /// Adds a next step that says how to get the next page, if there is one.
    pub fn suggest_next_page(&mut self) {
        if let Some(cursor) = self.fields.get("next_cursor").and_then(Value::as_str) {
            self.next_steps.push(format!("call again with cursor {cursor} for more").into());
        }
    }

    /// Cuts what does not fit, and records where. This is the last resort, after paging.
    pub fn cut(&mut self, how_to_get_the_rest: &str) {
        self.next_steps.truncate(MAX_STEPS);
        if self.fits() {
            return;
        }
        let mut cuts = Vec::new();
        let mut value = Value::Object(std::mem::take(&mut self.fields));
        let room = MAX_BODY.saturating_sub(self.steps_bytes() + 1_500);
        cut(&mut value, room, "", &mut cuts);
        if let Value::Object(fields) = value {
            self.fields = fields;
        }
        cuts.truncate(5);
        self.fields.insert("cut".into(), json!(cuts));
        self.next_steps.push(how_to_get_the_rest.into());
    }

    /// Cuts an item that is too large for the room that is left, before it is added at `place`, and records where.
    pub fn cut_item(&mut self, item: &mut Value, room: usize, place: &str, how_to_get_the_rest: &str) {
        let mut cuts = Vec::new();
        cut(item, room, place, &mut cuts);
        if cuts.is_empty() {
            return;
        }
        if let Value::Array(all) = self.fields.entry("cut").or_insert_with(|| json!([])) {
            all.extend(cuts.into_iter().map(Value::String));
        }
        self.next_steps.push(how_to_get_the_rest.into());
    }

    /// Returns the bytes that the next steps take in a message.
    pub fn steps_bytes(&self) -> usize {
        self.next_steps.iter().map(|step| message_bytes(&to_string(step)) + 2).sum()
    }
}

/// The remaining bytes for the items of a list.
pub struct Room(pub usize);

impl Room {
    /// Takes the bytes of the next item in a message. Returns whether it fits.
    pub fn takes(&mut self, item: &impl Serialize) -> bool {
        let taken = message_bytes(&to_string(item)) + 2;
        let fits = taken <= self.0;
        self.0 = self.0.saturating_sub(taken);
        fits
    }
}

/// Reduces a field to the part that a JSON Pointer names. A string or a list starts at `offset` and is cut to fit; if
/// there is more, `next_offset` says where to continue.
///
/// # Errors
/// Returns an error if there is no such part, or an offset was given and the part is neither a string nor a list.
pub fn only_at(body: &mut Body, field: &str, pointer: &str, offset: Option<usize>) -> Result<(), OpError> {
    let whole = body.fields.get(field).cloned().unwrap_or_default();
    let Some(part) = whole.pointer(pointer) else {
        let mut pointer = pointer.to_owned();
        shorten(&mut pointer, 80);
        return Err(OpError::no(ErrorCode::UnknownPointer, format!("the {field} has nothing at {pointer:?}"))
            .next("write a JSON Pointer such as /schema/properties/read"));
    };
    let mut kept = json!({"name": whole["name"], "version": whole["version"], "owner": whole["owner"]});
    kept["pointer"] = json!(pointer);
    kept["part"] = part.clone();
    if let Some(text) = part.as_str() {
        let offset = offset.unwrap_or_default();
        let rest = text.get(offset..).filter(|rest| !rest.is_empty() || text.is_empty()).ok_or_else(|| {
            OpError::no(ErrorCode::UnknownPointer, format!("the text has no part at offset {offset}"))
                .next("pass an offset from next_offset")
        })?;
        kept["part"] = json!("");
        body.fields.insert(field.to_owned(), kept.clone());
        let others = message_bytes(&to_string(&body.fields)) + body.steps_bytes();
        let shown = beginning(rest, MAX_BODY.saturating_sub(others + 500));
        kept["part"] = json!(shown);
        if shown.len() < rest.len() {
            let next = offset + shown.len();
            kept["next_offset"] = json!(next);
            let step = format!("call again with offset {next} for the rest, of {} bytes", text.len());
            body.next_steps.push(step.into());
        }
    } else if let Some(items) = part.as_array() {
        let offset = offset.unwrap_or_default();
        let rest = items.get(offset..).filter(|rest| !rest.is_empty() || items.is_empty()).ok_or_else(|| {
            OpError::no(ErrorCode::UnknownPointer, format!("the list has nothing at offset {offset}"))
                .next("pass an offset from next_offset")
        })?;
        kept["part"] = json!([]);
        body.fields.insert(field.to_owned(), kept.clone());
        let mut room = Room(MAX_BODY.saturating_sub(body.message_bytes() + ROOM_FOR_CURSOR));
        // An element that is larger than a message is cut.
        let shown = rest.iter().take_while(|item| room.takes(item)).count().max(1).min(rest.len());
        kept["part"] = json!(&rest[..shown]);
        if shown < rest.len() {
            let next = offset + shown;
            kept["next_offset"] = json!(next);
            body.next_steps
                .push(format!("call again with offset {next} for the rest, of {} items", items.len()).into());
        }
    } else if offset.is_some() {
        return Err(OpError::usage(format!("there is no text or list at {pointer}, so it has no offset")));
    }
    body.fields.insert(field.to_owned(), kept);
    Ok(())
}

/// Names what was cut from a part as the pointers to it in the whole field. `offset` is that of the first element of a
/// part that is a list.
pub fn name_cuts(body: &mut Body, field: &str, offset: usize) {
    let Some(pointer) = body.fields.get(field).and_then(|kept| kept["pointer"].as_str()).map(str::to_owned) else {
        return;
    };
    let is_list = body.fields[field]["part"].is_array();
    let Some(Value::Array(cuts)) = body.fields.get_mut("cut") else { return };
    for cut in cuts {
        let Some(rest) = cut.as_str().and_then(|cut| cut.strip_prefix(&format!("/{field}/part"))) else { continue };
        let rest = match rest.strip_prefix("/0").filter(|_| is_list) {
            Some(rest) => format!("/{offset}{rest}"),
            None => rest.to_owned(),
        };
        *cut = json!(format!("/{field}{pointer}{rest}"));
    }
}

/// Returns the longest prefix of a text that takes at most `room` bytes in a message, but at least one character.
fn beginning(text: &str, room: usize) -> &str {
    let mut left = room;
    let fits = |(_, c): &(usize, char)| {
        let taken = message_bytes(&to_string(c)).saturating_sub(message_bytes("\"\""));
        let fits = taken <= left;
        left = left.saturating_sub(taken);
        !fits
    };
    let end = text.char_indices().find(fits).map_or(text.len(), |(at, _)| at);
    &text[..end.max(text.chars().next().map_or(0, char::len_utf8))]
}

/// Removes empty properties with these names from a field.
pub fn without_empty(body: &mut Body, field: &str, names: &[&str]) {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.values().all(|value| value.is_null() || *value == json!([])),
        _ => false,
    };
    if let Some(Value::Object(fields)) = body.fields.get_mut(field) {
        fields.retain(|name, value| !(names.contains(&name.as_str()) && is_empty(value)));
    }
}

/// Serializes a value as JSON.
pub fn to_string(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| unreachable!("answers have a JSON form: {error}"))
}

/// Shortens a text to at most `most` bytes.
fn shorten(text: &mut String, most: usize) {
    if text.len() > most {
        let end = (0..=most).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
        text.truncate(end);
        text.push('…');
    }
}

/// Cuts a value to at most `room` bytes, and records the pointers to what was removed. Small values stay whole; large
/// ones share the remaining room.
fn cut(value: &mut Value, room: usize, place: &str, cuts: &mut Vec<String>) {
    let total = message_bytes(&to_string(value));
    if total <= room {
        return;
    }
    if room < LEAST {
        cuts.push(place.to_owned());
        *value = match value {
            Value::Array(_) => json!([]),
            Value::String(_) => json!("…"),
            _ => json!({}),
        };
        return;
    }
    match value {
        Value::String(text) => {
            cuts.push(place.to_owned());
            // Each byte is in the message at least twice: as data and as text.
            let mut most = room / 2;
            while message_bytes(&to_string(text)) > room {
                shorten(text, most);
                most = most * 3 / 4;
            }
        }
        Value::Array(items) => {
            let mut left = Room(room.saturating_sub(4));
            let kept = items.iter().take_while(|item| left.takes(item)).count();
            if kept.max(1) < items.len() {
                cuts.push(place.to_owned());
            }
            items.truncate(kept.max(1));
            // An empty list would say that there is nothing.
            if let (0, Some(first)) = (kept, items.first_mut()) {
                cut(first, room.saturating_sub(8), &format!("{place}/0"), cuts);
            }
        }
        Value::Object(fields) if fields.len() > MANY && room / fields.len() < LEAST => {
            cuts.push(place.to_owned());
            let mut left = room.saturating_sub(4);
            fields.retain(|name, field| {
                let taken = message_bytes(&to_string(&name)) + message_bytes(&to_string(&*field)) + 4;
                let fits = taken <= left;
                left -= if fits { taken } else { 0 };
                fits
            });
        }
        Value::Object(fields) => cut_fields(fields, room, place, cuts),
        _ => {}
    }
}

/// Shares the room among the fields, the smallest first. Fields that get almost nothing are removed.
fn cut_fields(fields: &mut Map<String, Value>, room: usize, place: &str, cuts: &mut Vec<String>) {
    let own = |name: &str| message_bytes(&to_string(&name)) + 4;
    let mut sizes: Vec<_> =
        fields.iter().map(|(name, field)| (message_bytes(&to_string(field)), name.clone())).collect();
    sizes.sort();
    let mut left = room.saturating_sub(4);
    let mut count = sizes.len();
    for (size, name) in sizes {
        let share = (left / count.max(1)).saturating_sub(own(&name));
        count -= 1;
        let Some(field) = fields.get_mut(&name) else { continue };
        if size > share && share < LEAST / 4 {
            cuts.push(format!("{place}/{}", escape(&name)));
            fields.remove(&name);
            continue;
        }
        cut(field, share, &format!("{place}/{}", escape(&name)), cuts);
        left = left.saturating_sub(message_bytes(&to_string(&*field)) + own(&name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_cannot_be_paged_are_cut_with_their_location() {
        let big = |n: usize| json!({"type": "object", "description": "\"\u{202e}".repeat(n)});
        let properties: Map<String, Value> = (0..300).map(|n| (format!("p/{n}"), big(n))).collect();
        let fields = json!({"status": "success", "contract": {"name": "x", "schema": {"properties": properties},
            "value": "é".repeat(100_000), "list": vec!["x"; 50_000]}});
        let mut one = Body { fields: fields.as_object().unwrap().clone(), ..Body::default() };
        one.cut("ask for less");
        assert!(one.fits());
        assert_eq!(one.fields["contract"]["name"], json!("x"));
        assert!(!one.fields["cut"].as_array().unwrap().is_empty());
        assert_eq!(one.next_steps, [NextStep::advice("ask for less")]);
    }

    #[test]
    fn a_list_is_shortened_until_it_fits() {
        let cursors: Vec<_> = (0..400).map(|n| format!("other:{n}")).collect();
        for (count, size, kept) in [(400, 10, 400), (400, 100, 158), (3, 40_000, 1), (0, 0, 0)] {
            let items = vec![json!("x".repeat(size)); count];
            let fields = json!({"status": "success", "next_cursor": null, "domains": items});
            let mut one = Body { fields: fields.as_object().unwrap().clone(), ..Body::default() };
            one.fit("domains", &cursors[..count]);
            one.suggest_next_page();
            assert_eq!(one.fields["domains"].as_array().unwrap().len(), kept);
            let next = if kept < count { json!(cursors[kept - 1]) } else { Value::Null };
            assert_eq!((&one.fields["next_cursor"], one.next_steps.len()), (&next, usize::from(kept < count)));
            assert_eq!(one.fits(), size < MAX_BODY);
        }
    }

    #[test]
    fn item_that_does_not_fit_is_cut_but_not_left_out() {
        let mention = json!({"file": "src/page.ts", "line": 1, "text": "x".repeat(200)});
        let import = json!({"contract": "order", "state": "broken", "mentions": vec![mention; 400]});
        let only = json!(["/imports/0/mentions"]);
        for (count, cuts) in [(1, only), (2, json!(["/imports", "/imports/0/mentions"]))] {
            let fields = json!({"imports": vec![&import; count], "total": count});
            let mut one = Body { fields: fields.as_object().unwrap().clone(), ..Body::default() };
            one.cut("ask for less");
            let kept = &one.fields["imports"][0];
            assert!(one.fits() && kept["mentions"].as_array().unwrap().len() > 50, "{kept}");
            assert_eq!((&kept["state"], &one.fields["cut"]), (&json!("broken"), &cuts));
        }
    }

    #[test]
    fn entries_of_a_large_map_are_whole() {
        let model =
            |n: usize| json!({"type": "object", "required": ["id"], "properties": {"id": {"title": n.to_string()}}});
        let models: Map<String, Value> = (0..2_500).map(|n| (format!("Model{n:04}"), model(n))).collect();
        let schema =
            json!({"$defs": models, "required": ["order"], "properties": {"order": {"$ref": "#/$defs/Model0000"}}});
        let mut one = Body { fields: json!({"schema": schema}).as_object().unwrap().clone(), ..Body::default() };
        one.cut("ask for less");
        let kept = &one.fields["schema"];
        assert_eq!(one.fields["cut"], json!(["/schema/$defs"]));
        assert_eq!((&kept["required"], &kept["properties"]), (&schema["required"], &schema["properties"]));
        let entries = kept["$defs"].as_object().unwrap();
        assert!(one.fits() && entries.len() > 50 && entries.contains_key("Model0000"), "{}", entries.len());
        assert!(entries.iter().all(|(name, entry)| *entry == schema["$defs"][name]));
    }
}
