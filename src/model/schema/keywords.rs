//! Finds words in a schema that validators ignore: misspelled keywords, and keywords of another draft.
//!
//! These words assert nothing, so a proof about such a schema covers less than its author intended. Only likely
//! mistakes are reported; any other word may be an annotation.

use std::{
    collections::{HashMap, HashSet},
    hash::{BuildHasher as _, RandomState},
};

use super::{
    Draft, Tree, ecma, external,
    keyword_warning::{KeywordKind, KeywordWarning},
    misspelt::{Nearest, meant, nearest},
    not_a_schema::no_keyword,
    other_draft,
    words::{BELOW, IN_PLACE, NAMED, is_assertion, of_other_language},
};
use crate::model::pointer::escape;

/// The maximum number of warnings for one schema.
const MOST: usize = 50;

/// Returns the words of a schema that assert nothing although they look like keywords, at most 50, in document order.
/// This excludes names of properties, and values in `enum`, `const`, `default` and `examples`.
pub fn warnings(schema: Tree<'_>) -> Vec<KeywordWarning> {
    let mut walk = Walk {
        root: schema,
        seen: HashSet::new(),
        open: Vec::new(),
        found: Vec::new(),
        nearest: HashMap::new(),
        parents: Vec::new(),
        used: HashSet::new(),
    };
    walk.open.push(Place { schema, pointer: String::new(), draft: Some(Draft::D2020), is_named: false });
    // Hashes of pointers take a tenth of the memory of the pointers.
    let hashes = RandomState::new();
    while let Some(place) = walk.open.pop() {
        if walk.found.len() >= MOST {
            break;
        }
        if place.schema.is_object() && walk.seen.insert(hashes.hash_one(&place.pointer)) {
            walk.schema(&place);
        }
    }
    if walk.found.is_empty() {
        walk.found.extend(no_keyword(schema));
    }
    let parents = walk.parents.iter().filter(|pointer| walk.used.contains(*pointer) || !is_definition(pointer));
    walk.found.extend(parents.map(|pointer| KeywordWarning::children(pointer)));
    walk.found.truncate(MOST);
    walk.found
}

/// Returns whether a word is a keyword of any draft that is more than an annotation.
pub fn is_keyword(word: &str) -> bool {
    is_assertion(word) || matches!(word, "$schema" | "$defs" | "definitions" | external::KEYWORD)
}

/// A sub-schema, and its draft if known.
struct Place<'a> {
    schema: Tree<'a>,
    pointer: String,
    draft: Option<Draft>,
    /// Whether a `$schema` sets the draft.
    is_named: bool,
}

struct Walk<'a> {
    root: Tree<'a>,
    seen: HashSet<u64>,
    open: Vec<Place<'a>>,
    found: Vec<KeywordWarning>,
    /// The nearest keyword to each word, kept because generated schemas repeat the same words thousands of times.
    nearest: HashMap<&'a str, Option<Nearest>>,
    /// The pointers to schemas whose `discriminator` is not beside a union: others have them in `allOf`.
    parents: Vec<String>,
    /// The targets of references outside of `allOf`.
    used: HashSet<String>,
}

impl<'a> Walk<'a> {
    fn schema(&mut self, place: &Place<'a>) {
        let schema = place.schema;
        let named = schema.get("$schema").and_then(Tree::as_str);
        let draft = named.map_or(place.draft, Draft::of);
        let is_named = place.is_named || named.is_some();
        // In an unknown dialect, any word may be a keyword.
        let Some(draft) = draft else { return };
        let here = Here { pointer: &place.pointer, draft, is_named };
        let refers = schema.get("$ref").and_then(Tree::as_str);
        if refers.is_none() || draft > Draft::D7 {
            for (word, value) in schema.members() {
                let nearest = || *self.nearest.entry(word).or_insert_with(|| nearest(word));
                let has = |keyword: &str| schema.get(keyword).is_some();
                self.found.extend(here.warning(word, value, nearest, has));
                self.found.extend(here.patterns(word, value));
            }
        }
        if is_parent(schema) {
            self.parents.push(place.pointer.clone());
        }
        let first = self.open.len();
        for (keyword, value) in schema.members() {
            self.parts(&here, keyword, value);
        }
        if let Some(target) = refers.and_then(|to| to.strip_prefix('#'))
            && let Some(schema) = self.root.pointer(target)
        {
            let named = Some(Draft::of(self.root.get("$schema").and_then(Tree::as_str).unwrap_or(draft.uri())));
            let draft = named.flatten().or(Some(draft));
            if !is_in_all_of(&place.pointer) {
                self.used.insert(target.to_owned());
            }
            self.open.push(Place { schema, pointer: target.to_owned(), draft, is_named });
        }
        self.open[first..].reverse();
    }

    /// Queues the sub-schemas that a keyword contains.
    fn parts(&mut self, here: &Here<'_>, keyword: &str, value: Tree<'a>) {
        let mut open = |schema: Tree<'a>, path: &[&str]| {
            let pointer = path.iter().fold(here.pointer.to_owned(), |pointer, token| pointer + "/" + &escape(token));
            self.open.push(Place { schema, pointer, draft: Some(here.draft), is_named: here.is_named });
        };
        match keyword {
            _ if NAMED.contains(&keyword) => value.members().for_each(|(name, schema)| open(schema, &[keyword, name])),
            _ if !IN_PLACE.contains(&keyword) && !BELOW.contains(&keyword) => {}
            _ if value.is_array() => {
                value.items().enumerate().for_each(|(at, schema)| open(schema, &[keyword, &at.to_string()]));
            }
            _ => open(value, &[keyword]),
        }
    }
}

/// Returns whether a schema of OpenAPI is the parent of others, which its `discriminator` tells apart.
fn is_parent(schema: Tree<'_>) -> bool {
    let has = |word: &str| schema.get(word).is_some();
    let names = |discriminator: Tree<'_>| discriminator.get("propertyName").is_some_and(Tree::is_string);
    schema.get("discriminator").is_some_and(names) && !has("oneOf") && !has("anyOf")
}

/// Returns whether a pointer leads to a branch of an `allOf`.
fn is_in_all_of(pointer: &str) -> bool {
    pointer.rsplit_once('/').is_some_and(|(above, _)| above.ends_with("/allOf"))
}

/// Returns whether a pointer leads to a definition, which counts only where it is referred to.
fn is_definition(pointer: &str) -> bool {
    pointer.rsplit_once('/').is_some_and(|(above, _)| above.ends_with("/$defs") || above.ends_with("/definitions"))
}

/// The location of a keyword.
struct Here<'p> {
    pointer: &'p str,
    draft: Draft,
    is_named: bool,
}

impl Here<'_> {
    fn warning(
        &self,
        word: &str,
        value: Tree<'_>,
        nearest: impl FnOnce() -> Option<Nearest>,
        has: impl FnOnce(&str) -> bool,
    ) -> Option<KeywordWarning> {
        let (kind, suggestion) = other_draft::of(word, value, (self.draft, self.is_named))
            .or_else(|| {
                let language = of_other_language(word, value)?;
                Some((KeywordKind::OtherLanguage, language.to_owned()))
            })
            .or_else(|| {
                let meant = meant(word, value, nearest, has)?;
                Some((KeywordKind::Misspelt, format!("did you mean {meant:?}?")))
            })?;
        let pointer = format!("{}/{}", self.pointer, escape(word));
        Some(KeywordWarning { pointer, keyword: word.to_owned(), kind, suggestion })
    }

    /// Returns a warning for each pattern that is not valid in ECMA-262, although the validator accepts it.
    fn patterns<'v>(&'v self, word: &'v str, value: Tree<'v>) -> impl Iterator<Item = KeywordWarning> + 'v {
        let pattern = value.as_str().filter(|_| word == "pattern").map(|pattern| (pattern, "/pattern".to_owned()));
        let named = value.members().filter(move |_| word == "patternProperties");
        let named = named.map(|(name, _)| (name, format!("/patternProperties/{}", escape(name))));
        let foreign = pattern.into_iter().chain(named).filter(|(pattern, _)| !ecma::is_valid(pattern));
        foreign.map(|(pattern, below)| KeywordWarning {
            pointer: format!("{}{below}", self.pointer),
            keyword: pattern.to_owned(),
            kind: KeywordKind::Pattern,
            suggestion: ecma::instead_of(pattern).to_owned(),
        })
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::model::schema::Forest;
    use serde_json::{Map, Value, json};

    pub(in crate::model::schema) fn found(schema: &Value) -> Vec<(String, String)> {
        let (forest, root) = Forest::of(schema);
        warnings(forest.tree(root)).into_iter().map(|warning| (warning.pointer.clone(), warning.message())).collect()
    }

    #[track_caller]
    pub(in crate::model::schema) fn one(schema: Value, pointer: &str, hint: &str) {
        let found = found(&schema);
        assert!(found.len() == 1 && found[0].0 == pointer && found[0].1.contains(hint), "{schema}: {found:?}");
    }

    #[test]
    fn reference_out_of_the_schema_is_no_missing_keyword() {
        let schema = json!({"$ref": "https://example.com/x.json"});
        let mut forest = Forest::default();
        let mut parts = [forest.add(&schema), forest.add(&json!({"foo": 1}))];
        super::super::replace_external(&mut forest, &mut parts, false);
        let found = parts.map(|part| warnings(forest.tree(part)).len());
        assert_eq!(found, [0, 1]);
    }

    #[test]
    fn children_of_a_discriminator_are_not_compared() {
        let pet = json!({"type": "object", "discriminator": {"propertyName": "kind"}});
        let hint = "are not compared; compare a oneOf of them";
        let with = |mut schema: Value| {
            schema["$defs"] = json!({"Pet": pet});
            schema
        };
        one(pet.clone(), "/discriminator", hint);
        let to_pet = json!({"$ref": "#/$defs/Pet"});
        one(with(json!({"properties": {"pet": to_pet}})), "/$defs/Pet/discriminator", hint);
        for schema in [
            with(json!({"allOf": [to_pet, {"properties": {"bark": {}}}]})),
            with(json!({"type": "object"})),
            json!({"oneOf": [true], "discriminator": {"propertyName": "kind"}}),
            json!({"properties": {"discriminator": {"type": "string"}}}),
        ] {
            assert_eq!(found(&schema), [], "{schema}");
        }
    }

    #[test]
    fn all_schemas_are_visited_and_nothing_else() {
        let slip = json!({"requierd": ["a"]});
        let values = json!({"properties": {"requierd": true, "propertis": {}}, "enum": [slip], "const": slip,
            "default": slip, "examples": [slip], "dependentRequired": {"requierd": ["a"]}, "x-more": slip});
        assert_eq!(found(&values), []);
        for (schema, pointer) in [
            (json!({"properties": {"a/b": slip}}), "/properties/a~1b/requierd"),
            (json!({"items": slip}), "/items/requierd"),
            (json!({"oneOf": [true, {"not": slip}]}), "/oneOf/1/not/requierd"),
            (json!({"$defs": {"a": {"if": slip}}}), "/$defs/a/if/requierd"),
            (json!({"$ref": "#/components/a", "components": {"a": slip, "b": slip}}), "/components/a/requierd"),
        ] {
            one(schema, pointer, "\"required\"");
        }
        let round = json!({"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/a"}, "propertis": {}}}});
        one(round, "/$defs/a/propertis", "\"properties\"");
    }

    #[test]
    fn patterns_that_are_not_ecma_262_are_reported_with_what_to_write() {
        for (pattern, hint) in [
            ("(?i)^a$", "both cases"),
            (r"\Aa", "\"^\""),
            (r"a\z", "\"$\""),
            ("(?P<a>b)", "(?<name>"),
            ("[]a]", "flag \"u\""),
            (r"\pL", "flag \"u\""),
            ("(?x) a", "flag"),
        ] {
            one(json!({"pattern": pattern}), "/pattern", hint);
            one(json!({"patternProperties": {pattern: {}}}), &format!("/patternProperties/{}", escape(pattern)), hint);
        }
        for pattern in
            [r"^\$\{[a-z]+}$", r"^[\w-.]+$", r"^(?<q>['`]).*\k<q>$", r"\p{L}\/\-\_", "^[]$", "[^]", r"\uD83D\uDE00"]
        {
            assert_eq!(found(&json!({"pattern": pattern})), [], "{pattern}");
        }
    }

    #[test]
    fn nested_drafts_apply_and_siblings_of_old_references_are_ignored() {
        let old = json!({"$schema": Draft::D7.uri(), "items": [{}], "prefixItems": [{}]});
        one(json!({"properties": {"a": old}}), "/properties/a/prefixItems", "draft-07");
        let beside = json!({"$ref": "#/$defs/a", "propertis": {}, "$defs": {"a": {}}});
        assert_eq!(found(&beside).len(), 1);
        let mut beside = beside;
        beside["$schema"] = json!(Draft::D7.uri());
        assert_eq!(found(&beside), []);
    }

    #[test]
    fn the_number_of_warnings_is_bounded() {
        let many: Map<_, _> = (0..1_000).map(|at| (at.to_string(), json!({"propertis": {}}))).collect();
        assert_eq!(found(&json!({"properties": many})).len(), MOST);
    }
}
