//! Translates `discriminator` beside a `oneOf` or `anyOf` of an OpenAPI document: each alternative gets the values of the
//! property by which readers choose it.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{BundleError, Place, Work};
use crate::model::pointer::{escape, unescape};

impl Work<'_> {
    /// Adds the values of the discriminator to each alternative that is a reference. An alternative that lists values of
    /// the property itself is left as it is. `schema` is the schema as in its file, and `found` the rewritten one.
    pub(super) fn discriminate(
        &mut self,
        schema: &Map<String, Value>,
        found: &mut Map<String, Value>,
        file: &str,
    ) -> Result<(), BundleError> {
        let Some(discriminator) = schema.get("discriminator").filter(|_| self.is_api(file)) else { return Ok(()) };
        let Some(property) = discriminator.get("propertyName").and_then(Value::as_str) else { return Ok(()) };
        let here = (file.to_owned(), self.at.clone());
        let children = self.children_of(&here);
        self.children.insert(here.clone(), children);
        for word in ["oneOf", "anyOf"] {
            let alternatives = schema.get(word).and_then(Value::as_array).into_iter().flatten();
            for (index, alternative) in alternatives.enumerate() {
                let Some(reference) = alternative.get("$ref").and_then(Value::as_str) else { continue };
                let target = self.target(reference, &here)?;
                if self.lists_values(&target, property)? {
                    continue;
                }
                let values = self.values(discriminator, &target, &here);
                if let Some(rewritten) = found.get_mut(word).and_then(|all| all.get_mut(index)) {
                    let own = json!({"required": [property], "properties": {property: {"enum": values}}});
                    *rewritten = json!({"allOf": [rewritten.take(), own]});
                    self.replaced.insert((here.0.clone(), format!("{}/{word}/{index}", here.1)));
                }
            }
        }
        Ok(())
    }

    /// Returns the names of the schemas beside a schema that have it in `allOf`.
    fn children_of(&mut self, parent: &Place) -> Vec<String> {
        let (file, pointer) = parent;
        let container = pointer.rsplit_once('/').map_or("", |(above, _)| above);
        let Some(document) = self.files.get(file).cloned() else { return Vec::new() };
        let others = document.pointer(container).and_then(Value::as_object).into_iter().flatten();
        let mut refers = |name: &str, child: &Value| {
            let around = (file.clone(), format!("{container}/{}", escape(name)));
            let branches = child.get("allOf").and_then(Value::as_array).into_iter().flatten();
            let mut references = branches.filter_map(|branch| branch.get("$ref")?.as_str());
            references.any(|to| self.target(to, &around).as_ref() == Ok(parent))
        };
        others.filter(|(name, child)| refers(name, child)).map(|(name, _)| name.clone()).collect()
    }

    /// Returns the values that choose an alternative: the keys of `mapping` that lead to it, and its name, unless that is a
    /// key that leads elsewhere.
    fn values(&mut self, discriminator: &Value, target: &Place, here: &Place) -> BTreeSet<String> {
        let name = name(target);
        let mapping = discriminator.get("mapping").and_then(Value::as_object);
        let mut values = BTreeSet::new();
        for (value, to) in mapping.into_iter().flatten() {
            let Some(to) = to.as_str() else { continue };
            // A plain word is the name of a schema.
            let leads = to == name || to.contains(['#', '/', '.']) && self.target(to, here).as_ref() == Ok(target);
            if leads {
                values.insert(value.clone());
            }
        }
        if mapping.is_none_or(|mapping| !mapping.contains_key(&name)) {
            values.insert(name);
        }
        values
    }

    /// Returns whether a file is an OpenAPI document, or a part of one.
    fn is_api(&self, file: &str) -> bool {
        let is_api = |file: &str| self.files.get(file).is_some_and(|document| document.get("openapi").is_some());
        is_api(file) || is_api(&self.root.0)
    }
}

/// Returns the name of the schema at a place: the last step of the pointer to it or, of a whole file, the file's name.
fn name((file, pointer): &Place) -> String {
    match pointer.rsplit_once('/') {
        Some((_, last)) => unescape(last),
        None => super::reference::stem(file).to_owned(),
    }
}
