//! Looks for something in a schema, behind its references, and in the branches of its `allOf`.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{BundleError, NotSent, Place, Work, openapi::marks};

/// A question about one schema, and the place where it is or that it was reached through.
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
            names.append(&mut self.names(schema, &place)?.not_sent);
        }
        Ok(names)
    }

    /// Returns those of some properties that the schema at a place requires, although it does not know itself that they
    /// are not sent.
    pub(super) fn wrongly_required(
        &mut self,
        place: &Place,
        not_sent: &BTreeSet<NotSent>,
    ) -> Result<BTreeSet<NotSent>, BundleError> {
        let document = self.file(&place.0)?;
        let schema = document.pointer(&place.1).and_then(Value::as_object).filter(|_| !not_sent.is_empty());
        let Some(schema) = schema else { return Ok(BTreeSet::new()) };
        let found = self.names(schema, place)?;
        let is_wrong = |one: &&NotSent| found.required.contains(&one.1) && !found.not_sent.contains(*one);
        Ok(not_sent.iter().filter(is_wrong).cloned().collect())
    }

    fn names(&mut self, schema: &Map<String, Value>, place: &Place) -> Result<Names, BundleError> {
        let mut names = Names::default();
        self.any_part(schema, place, &mut BTreeSet::new(), &mut |work, part, place| {
            let required = part.get("required").and_then(Value::as_array).into_iter().flatten();
            names.required.extend(required.filter_map(Value::as_str).map(str::to_owned));
            for (name, property) in part.get("properties").and_then(Value::as_object).into_iter().flatten() {
                let Value::Object(property) = property else { continue };
                for mark in marks(work.flow) {
                    let mut is_marked = |_: &mut Work<'w>, part: &Map<String, Value>, _: &Place| {
                        Ok(part.get(*mark) == Some(&Value::Bool(true)))
                    };
                    if work.any_part(property, place, &mut BTreeSet::new(), &mut is_marked)? {
                        names.not_sent.insert((mark, name.clone()));
                    }
                }
            }
            Ok(false)
        })?;
        Ok(names)
    }

    /// Returns whether the schema at a place restricts a property to certain values.
    pub(super) fn lists_values(&mut self, place: &Place, property: &str) -> Result<bool, BundleError> {
        let document = self.file(&place.0)?;
        let Some(Value::Object(schema)) = document.pointer(&place.1) else { return Ok(false) };
        self.any_part(schema, place, &mut BTreeSet::new(), &mut |work, part, place| {
            let Some(Value::Object(property)) = part.get("properties").and_then(|all| all.get(property)) else {
                return Ok(false);
            };
            let mut has_list = |_: &mut Work<'w>, part: &Map<String, Value>, _: &Place| {
                Ok(part.contains_key("enum") || part.contains_key("const"))
            };
            work.any_part(property, place, &mut BTreeSet::new(), &mut has_list)
        })
    }

    /// Returns whether a schema, one that it refers to, or a branch of their `allOf` passes a test. `seen` are the
    /// targets of references that were followed.
    fn any_part(
        &mut self,
        schema: &Map<String, Value>,
        place: &Place,
        seen: &mut BTreeSet<Place>,
        test: &mut Test<'_, 'w>,
    ) -> Result<bool, BundleError> {
        if let Some(Value::String(reference)) = schema.get("$ref") {
            let target = self.target(reference, place)?;
            let document = self.file(&target.0)?;
            if let Some(Value::Object(found)) = document.pointer(&target.1)
                && seen.insert(target.clone())
                && self.any_part(found, &target, seen, test)?
            {
                return Ok(true);
            }
            // Siblings of a reference are ignored.
            if self.is_of_openapi(&place.0)? {
                return Ok(false);
            }
        }
        if test(self, schema, place)? {
            return Ok(true);
        }
        for branch in schema.get("allOf").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object) {
            if self.any_part(branch, place, seen, test)? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
