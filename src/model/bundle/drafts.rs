//! Refuses parts of a bundle that name another draft than its root, if they would mean something else in that one.

use serde_json::Value;

use super::{BundleError, Place, Work, base, is_data};
use crate::model::schema::{
    Draft,
    words::{NAMED, is_of},
};

impl Work<'_> {
    /// Returns an error if a part names a draft in which one of its keywords means something else than in the draft that
    /// the bundle is read in. A part that names none is read in that draft.
    pub(super) fn require_draft(&mut self, part: &Value, (file, at): &Place) -> Result<(), BundleError> {
        let named = base::dialect(&*self.file(file)?, at);
        let Some(own) = named.as_ref().and_then(Value::as_str).and_then(Draft::of) else { return Ok(()) };
        let Some(keyword) = self.draft.filter(|draft| *draft != own).and_then(|draft| ambiguous(part, [own, draft]))
        else {
            return Ok(());
        };
        let (root, draft) = (&self.root.0, self.draft.unwrap_or(own));
        let message = format!(
            "{keyword:?} differs between {own}, which this schema names, and {draft}, which {root} uses to refer \
             to it; name the same draft in both \"$schema\""
        );
        Err(BundleError::new(file, message))
    }
}

/// Returns a keyword in a schema, or below it, that means something else in one draft than in the other.
fn ambiguous(schema: &Value, drafts: [Draft; 2]) -> Option<&str> {
    let differs = |test: &dyn Fn(Draft) -> bool| test(drafts[0]) != test(drafts[1]);
    match schema {
        Value::Object(members) => members.iter().find_map(|(word, value)| {
            let is_ambiguous = match word.as_str() {
                "format" => differs(&|draft| draft <= Draft::D7),
                "contentEncoding" | "contentMediaType" => differs(&|draft| (Draft::D6..=Draft::D7).contains(&draft)),
                "items" if value.is_array() => differs(&|draft| draft <= Draft::D2019),
                "exclusiveMinimum" | "exclusiveMaximum" => differs(&|draft| draft == Draft::D4),
                "$ref" => members.len() > 1 && differs(&|draft| draft <= Draft::D7),
                word => differs(&|draft| is_of(word, draft)),
            };
            match value {
                _ if is_ambiguous => Some(word.as_str()),
                _ if is_data(word) => None,
                Value::Object(named) if NAMED.contains(&word.as_str()) => {
                    named.values().find_map(|part| ambiguous(part, drafts))
                }
                value => ambiguous(value, drafts),
            }
        }),
        Value::Array(items) => items.iter().find_map(|item| ambiguous(item, drafts)),
        _ => None,
    }
}
