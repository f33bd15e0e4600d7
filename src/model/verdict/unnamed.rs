//! Finds properties that an import expects, but that are never sent because the contract does not name them.

use serde_json::{Map, Value, json};

/// The maximum number of checks.
const MAX_ASKED: usize = 20;
/// The maximum depth of a property.
const MAX_DEPTH: usize = 8;

/// Returns the paths of the optional properties in `expects` that are never sent: those for which `is_satisfied` accepts
/// a schema without them. Required properties need no check, since the verdict covers them.
pub(super) fn unnamed(expects: &Value, is_satisfied: &mut dyn FnMut(&Value) -> bool) -> Vec<String> {
    let mut search = Search { is_satisfied, asked: 0, found: Vec::new() };
    search.visit(expects, &mut Vec::new());
    search.found
}

struct Search<'a> {
    is_satisfied: &'a mut dyn FnMut(&Value) -> bool,
    asked: usize,
    found: Vec<String>,
}

impl Search<'_> {
    /// Checks the properties of the schema at a path. A step without a name is for items of a list.
    fn visit<'e>(&mut self, schema: &'e Value, path: &mut Vec<Option<&'e str>>) {
        if path.len() >= MAX_DEPTH {
            return;
        }
        let properties = || schema["properties"].as_object().into_iter().flat_map(Map::iter);
        let required = schema["required"].as_array();
        let is_required = |name: &str| required.is_some_and(|required| required.iter().any(|one| one == name));
        let optional: Vec<_> = properties().map(|(name, _)| name.as_str()).filter(|name| !is_required(name)).collect();
        // Usually, some value has all of them, which a single check shows.
        let may_be_absent = !optional.is_empty() && self.is_absent(path, &optional);
        let is_only = optional.len() == 1;
        for (name, below) in properties() {
            if may_be_absent && !is_required(name) && (is_only || self.is_absent(path, &[name])) {
                self.found
                    .push(path.iter().map(|step| format!("/{}", step.unwrap_or("*"))).collect::<String>() + "/" + name);
                continue;
            }
            path.push(Some(name));
            self.visit(below, path);
            path.pop();
        }
        if schema["items"].is_object() {
            path.push(None);
            self.visit(&schema["items"], path);
            path.pop();
        }
    }

    /// Returns whether objects at a path never have all of these properties.
    fn is_absent(&mut self, path: &[Option<&str>], names: &[&str]) -> bool {
        if self.asked >= MAX_ASKED {
            return false;
        }
        self.asked += 1;
        let absent = json!({"not": {"required": names}});
        let schema = path.iter().rev().fold(absent, |below, step| match step {
            Some(name) => json!({"properties": {*name: below}}),
            None => json!({"items": below}),
        });
        (self.is_satisfied)(&schema)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_about_optional_properties_at_every_depth() {
        let expects = json!({
            "required": ["id"],
            "properties": {
                "id": {"properties": {"gone": {}}},
                "lines": {"items": {"properties": {"a": {}, "b": {}}}},
                "old": {"properties": {"below": {}}},
            },
        });
        let mut asked = Vec::new();
        let found = unnamed(&expects, &mut |schema| {
            asked.push(schema.to_string());
            ["gone", "old"].iter().any(|name| asked.last().is_some_and(|text| text.contains(name)))
        });
        assert_eq!(found, ["/id/gone", "/old"]);
        assert_eq!(
            asked,
            [
                r#"{"not":{"required":["lines","old"]}}"#,
                r#"{"properties":{"id":{"not":{"required":["gone"]}}}}"#,
                r#"{"not":{"required":["lines"]}}"#,
                r#"{"properties":{"lines":{"items":{"not":{"required":["a","b"]}}}}}"#,
                r#"{"not":{"required":["old"]}}"#,
            ]
        );
    }
}
