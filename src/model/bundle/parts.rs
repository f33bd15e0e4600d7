//! Looks for something in a schema, behind its references, and in the branches of its `allOf`.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{BundleError, NotSent, Place, Work, openapi::marks};
use crate::model::pointer::escape;

/// The maximum number of schemas that an `allOf` joins, also by references.
const MAX_PARTS: usize = 1_000;

/// A question about one schema, and the place where it is.
type Test<'t, 'w> = dyn FnMut(&mut Work<'w>, &Map<String, Value>, &Place) -> Result<bool, BundleError> + 't;

/// The names that the parts of a schema of an older OpenAPI document have in common.
#[derive(Default)]
struct Names {
    required: BTreeSet<String>,
    /// The properties that are only sent one way.
    not_sent: BTreeSet<NotSent>,
}

impl<'w> Work<'w> {
    /// Returns the properties that the schema, or the `allOf` that it is in, does not send, with their marks.
    pub(super) fn not_sent(
        &mut self,
        schema: &Map<String, Value>,
        file: &str,
    ) -> Result<BTreeSet<NotSent>, BundleError> {
        let mut names = self.not_sent_around.clone();
        let concerns = schema.contains_key("required") || schema.contains_key("allOf");
        if concerns && self.is_of_openapi(file)? {
            let place = (file.to_owned(), self.at.clone());
            names.append(&mut self.names(place)?.not_sent);
        }
        Ok(names)
    }

    /// Returns those of the `not_sent` properties that the schema at a place requires without marking them as not sent
    /// itself.
    pub(super) fn wrongly_required(
        &mut self,
        place: &Place,
        not_sent: &BTreeSet<NotSent>,
    ) -> Result<BTreeSet<NotSent>, BundleError> {
        if not_sent.is_empty() {
            return Ok(BTreeSet::new());
        }
        let found = self.names(place.clone())?;
        let is_wrong = |one: &&NotSent| found.required.contains(&one.1) && !found.not_sent.contains(*one);
        Ok(not_sent.iter().filter(is_wrong).cloned().collect())
    }

    fn names(&mut self, place: Place) -> Result<Names, BundleError> {
        let mut names = Names::default();
        self.any_part(place, &mut |work, part, place| {
            let required = part.get("required").and_then(Value::as_array).into_iter().flatten();
            names.required.extend(required.filter_map(Value::as_str).map(str::to_owned));
            for name in part.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys) {
                for mark in marks(work.flow) {
                    let mut is_marked = part_is(|part| part.get(*mark) == Some(&Value::Bool(true)));
                    if work.any_part(property(place, name), &mut is_marked)? {
                        names.not_sent.insert((mark, name.clone()));
                    }
                }
            }
            Ok(false)
        })?;
        Ok(names)
    }

    /// Returns whether the schema at a place restricts a property to certain values.
    pub(super) fn lists_values(&mut self, place: &Place, name: &str) -> Result<bool, BundleError> {
        self.any_part(place.clone(), &mut |work, part, place| {
            let is_named = part.get("properties").is_some_and(|all| all.get(name).is_some());
            let mut has_list = part_is(|part| part.contains_key("enum") || part.contains_key("const"));
            Ok(is_named && work.any_part(property(place, name), &mut has_list)?)
        })
    }

    /// Returns whether a schema, one that it refers to, or a branch of their `allOf` passes a test.
    fn any_part(&mut self, start: Place, test: &mut Test<'_, 'w>) -> Result<bool, BundleError> {
        let (mut open, mut seen) = (vec![start], BTreeSet::new());
        while let Some(place) = open.pop() {
            if !seen.insert(place.clone()) {
                continue;
            }
            if seen.len() > MAX_PARTS {
                let message = format!("{}: an allOf joins more than {MAX_PARTS} schemas; join fewer", place.1);
                return Err(BundleError::new(&place.0, message));
            }
            let document = self.file(&place.0)?;
            let Some(Value::Object(schema)) = document.pointer(&place.1) else { continue };
            if let Some(Value::String(reference)) = schema.get("$ref") {
                open.push(self.target(reference, &place)?);
                // Siblings of a reference are ignored.
                if self.is_of_openapi(&place.0)? {
                    continue;
                }
            }
            if test(self, schema, &place)? {
                return Ok(true);
            }
            let branches = schema.get("allOf").and_then(Value::as_array).map_or(0, Vec::len);
            open.extend((0..branches).map(|index| (place.0.clone(), format!("{}/allOf/{index}", place.1))));
        }
        Ok(false)
    }
}

/// Returns a test of one schema alone.
fn part_is<'w>(
    test: impl Fn(&Map<String, Value>) -> bool,
) -> impl FnMut(&mut Work<'w>, &Map<String, Value>, &Place) -> Result<bool, BundleError> {
    move |_, part, _| Ok(test(part))
}

fn property((file, at): &Place, name: &str) -> Place {
    (file.clone(), format!("{at}/properties/{}", escape(name)))
}
