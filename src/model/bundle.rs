//! Builds a self-contained JSON Schema from a part of a document and everything that it refers to, in the same
//! document or in other files of the same repository. Nothing else is ever read.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use serde_json::{Map, Value};

use super::{
    contract::Flow,
    json::Json,
    pointer::escape,
    schema::{
        Draft, refers_outside,
        words::{NAMED, VALUES},
    },
};

mod base;
mod discriminator;
mod drafts;
mod exact;
mod openapi;
mod origins;
mod parts;
mod reference;

pub use origins::Origins;

/// The maximum number of files in a bundle.
const MAX_FILES: usize = 100;

/// A file, and a JSON Pointer into it.
type Place = (String, String);
/// A property that is only sent one way, after the mark that says so.
type NotSent = (&'static str, String);

/// The reason why a schema cannot be bundled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {}{message}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct BundleError {
    /// The file with the problem, relative to the root of the repository.
    pub file: String,
    /// The line, from 1, if the text of the file is invalid.
    pub line: Option<u32>,
    /// The problem, and what to write instead.
    pub message: String,
}

impl BundleError {
    /// Creates an error about a file.
    pub fn new(file: &str, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: None, message: message.into() }
    }
}

/// A self-contained schema.
#[derive(Debug, Clone)]
pub struct Bundle {
    /// The schema.
    pub schema: Json,
    /// The places that its parts come from.
    pub origins: Origins,
}

/// Returns the schema at a JSON Pointer into a file, with everything that it refers to. `load` reads a file by its
/// path relative to the root of the repository. In an older OpenAPI document, `flow` decides which properties are
/// required. Without it, the bundle requires all, and lists those that are only sent one way for [`sent`].
///
/// # Errors
/// Returns an error if the target of a reference does not exist, is outside of the repository, or cannot be
/// determined.
pub fn bundle(
    file: &str,
    pointer: &str,
    flow: Option<Flow>,
    load: &mut dyn FnMut(&str) -> Result<Json, BundleError>,
) -> Result<Bundle, BundleError> {
    let mut work = Work {
        load,
        files: BTreeMap::new(),
        root: (file.to_owned(), pointer.to_owned()),
        flow,
        key: "$defs",
        draft: None,
        at: String::new(),
        taken: HashSet::new(),
        next: HashMap::new(),
        given: BTreeMap::new(),
        open: Vec::new(),
        parts_of_openapi: BTreeSet::new(),
        not_sent_around: BTreeSet::new(),
        replaced: BTreeSet::new(),
        named: HashMap::new(),
    };
    let whole = (work.load)(file)?;
    if pointer.is_empty() && !refers_outside(&whole) {
        let origins = Origins { root: work.root, key: work.key, ..Origins::default() };
        return Ok(Bundle { schema: whole, origins });
    }
    let document = Arc::<Value>::from(whole);
    work.files.insert(file.to_owned(), Arc::clone(&document));
    let Some(target) = document.pointer(pointer) else {
        let example = if document.get("components").is_some() { "/components/schemas/Order" } else { "/$defs/Order" };
        let message = match pointer.strip_prefix('/') {
            Some(_) => format!("there is nothing at {pointer}; write a JSON Pointer such as {example}"),
            None => format!("a JSON Pointer begins with a slash: write /{pointer}"),
        };
        return Err(BundleError::new(file, message));
    };
    let dialect = base::dialect(&document, pointer);
    work.draft = match &dialect {
        Some(dialect) => dialect.as_str().and_then(Draft::of),
        None => Some(Draft::D2020),
    };
    work.key = if work.draft.is_some_and(|draft| draft <= Draft::D7) { "definitions" } else { "$defs" };
    let taken = target.get(work.key).and_then(Value::as_object);
    work.taken = taken.into_iter().flat_map(Map::keys).cloned().collect();
    let mut body = work.rewritten_at(&document, file, pointer)?;
    let mut definitions = Map::new();
    while let Some((name, (place, not_sent))) = work.open.pop() {
        let document = work.file(&place.0)?;
        work.not_sent_around = not_sent;
        let definition = work.rewritten_at(&document, &place.0, &place.1)?;
        work.require_draft(&definition, &place)?;
        definitions.insert(name, definition);
    }
    if let Value::Object(members) = &mut body {
        if let Some(dialect) = dialect {
            members.insert("$schema".to_owned(), dialect);
        }
        if !definitions.is_empty() {
            let own = members.entry(work.key).or_insert_with(|| Value::Object(Map::new()));
            let Value::Object(own) = own else {
                return Err(BundleError::new(file, format!("{pointer}/{} is not an object", work.key)));
            };
            own.append(&mut definitions);
        }
    }
    let definitions = work.given.into_iter().map(|((place, _), name)| (name, place)).collect();
    let origins = Origins { root: work.root, key: work.key, definitions, replaced: work.replaced };
    Ok(Bundle { schema: body.into(), origins })
}

/// Returns what the bundle of a schema says about values that are sent in one direction, if it was made without one.
pub fn sent(bundle: &Json, flow: Flow) -> Cow<'_, Json> {
    let text = bundle.to_string();
    if !openapi::MARKS.iter().any(|(_, list)| text.contains(list)) {
        return Cow::Borrowed(bundle);
    }
    let mut schema = Value::clone(&bundle.value());
    openapi::sent(&mut schema, flow);
    Cow::Owned(schema.into())
}

struct Work<'a> {
    load: &'a mut dyn FnMut(&str) -> Result<Json, BundleError>,
    files: BTreeMap<String, Arc<Value>>,
    root: Place,
    flow: Option<Flow>,
    /// The keyword that holds the definitions.
    key: &'static str,
    /// The draft that the bundle is read in, if it is known.
    draft: Option<Draft>,
    /// The pointer to the schema that is being rewritten, in its file.
    at: String,
    /// The names already in use.
    taken: HashSet<String>,
    /// The next number for a name that is in use.
    next: HashMap<String, usize>,
    /// The name given to the definition of each target, and of each set of properties that it requires although the
    /// `allOf` around its reference never sends them.
    given: BTreeMap<(Place, BTreeSet<NotSent>), String>,
    /// Definitions still to be written, with their names.
    open: Vec<(String, (Place, BTreeSet<NotSent>))>,
    /// Files without a dialect of their own that older OpenAPI documents refer to.
    parts_of_openapi: BTreeSet<String>,
    /// The properties that the schema around an `allOf` never sends, while its branches are rewritten.
    not_sent_around: BTreeSet<NotSent>,
    /// The alternatives that a discriminator added to.
    replaced: BTreeSet<Place>,
    /// The URIs and anchors in each resource, by file and pointer.
    named: HashMap<Place, HashMap<String, String>>,
}

impl Work<'_> {
    fn file(&mut self, path: &str) -> Result<Arc<Value>, BundleError> {
        if !self.files.contains_key(path) {
            if self.files.len() >= MAX_FILES {
                return Err(BundleError::new(path, format!("the schema refers to more than {MAX_FILES} files")));
            }
            let document = (self.load)(path)?;
            self.files.insert(path.to_owned(), document.into());
        }
        Ok(Arc::clone(&self.files[path]))
    }

    /// Returns the rewritten schema at a pointer into a document.
    fn rewritten_at(&mut self, document: &Value, file: &str, pointer: &str) -> Result<Value, BundleError> {
        pointer.clone_into(&mut self.at);
        self.rewritten(document.pointer(pointer).unwrap_or(&Value::Null), file)
    }

    /// Returns a schema whose references point into the bundle. A schema of an older OpenAPI document is translated.
    fn rewritten(&mut self, schema: &Value, file: &str) -> Result<Value, BundleError> {
        match schema {
            Value::Object(members) => {
                let mut found = Map::new();
                let not_sent = self.not_sent(members, file)?;
                let around = std::mem::take(&mut self.not_sent_around);
                for (key, value) in members {
                    // Branches of `allOf` may require each other's properties.
                    self.not_sent_around = if key == "allOf" { not_sent.clone() } else { BTreeSet::new() };
                    let value = match (key.as_str(), value) {
                        // A bundle has a single base, so these keywords are left out.
                        ("$id" | "id" | "$schema", Value::String(_)) => continue,
                        ("$ref", Value::String(reference)) => Value::from(self.reference(reference, file, &not_sent)?),
                        ("$dynamicRef" | "$recursiveRef", Value::String(_)) => {
                            return Err(BundleError::new(file, format!("{key} is not supported; use $ref")));
                        }
                        (key, value) if is_data(key) => value.clone(),
                        (key, Value::Object(named)) if NAMED.contains(&key) => self.below(key, |work| {
                            let each = named.iter().map(|(name, one)| Ok((name.clone(), work.part(name, one, file)?)));
                            Ok(Value::Object(each.collect::<Result<_, BundleError>>()?))
                        })?,
                        (key, value) => self.part(key, value, file)?,
                    };
                    found.insert(key.clone(), value);
                }
                self.not_sent_around = around;
                if self.is_of_openapi(file)? {
                    openapi::translate(&mut found, &not_sent, self.flow);
                }
                self.discriminate(members, &mut found, file)?;
                Ok(Value::Object(found))
            }
            Value::Array(items) => {
                items.iter().enumerate().map(|(index, item)| self.part(&index.to_string(), item, file)).collect()
            }
            other => Ok(other.clone()),
        }
    }

    fn part(&mut self, step: &str, part: &Value, file: &str) -> Result<Value, BundleError> {
        self.below(step, |work| work.rewritten(part, file))
    }

    /// Does the work on a part of the schema that is being rewritten.
    fn below<T>(&mut self, step: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        let here = self.at.len();
        self.at.push('/');
        self.at.push_str(&escape(step));
        let done = work(self);
        self.at.truncate(here);
        done
    }

    /// Returns whether the schemas of a file are those of an older OpenAPI document.
    fn is_of_openapi(&mut self, file: &str) -> Result<bool, BundleError> {
        Ok(self.parts_of_openapi.contains(file) || openapi::has_own_schemas(&*self.file(file)?))
    }
}

/// Returns whether the value of a keyword is data. `example` is a keyword of OpenAPI.
fn is_data(keyword: &str) -> bool {
    VALUES.contains(&keyword) || keyword == "example"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn put_together(files: &[(&str, Value)], file: &str, pointer: &str) -> Result<Value, String> {
        let mut load = |path: &str| {
            let found = files.iter().find(|(name, _)| *name == path).map(|(_, value)| value.clone());
            found.map(Json::from).ok_or_else(|| BundleError::new(path, "there is no such file"))
        };
        bundle(file, pointer, None, &mut load).map(|bundle| bundle.schema.into()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_self_contained_document_is_unchanged() {
        let document = json!({"$id": "https://example.com/a", "$defs": {"x": {}}, "$ref": "#/$defs/x"});
        assert_eq!(put_together(&[("a.json", document.clone())], "a.json", ""), Ok(document));
    }

    #[test]
    fn parts_are_traced_to_their_files() {
        let api =
            json!({"x": {"$defs": {"own": {}}, "items": {"$ref": "part.yaml#/y"}, "not": {"$ref": "#/z"}}, "z": {}});
        let files = [("api.yaml", api), ("part.yaml", json!({"y": {"type": "string"}}))];
        let mut load = |path: &str| Ok(files.iter().find(|(name, _)| *name == path).unwrap().1.clone().into());
        let Bundle { schema, origins } = bundle("api.yaml", "/x", None, &mut load).unwrap();
        assert_eq!(schema.value()["items"]["$ref"], "#/$defs/y");
        for (pointer, file, at) in [
            ("", "api.yaml", "/x"),
            ("/items", "api.yaml", "/x/items"),
            ("/$defs/own/a", "api.yaml", "/x/$defs/own/a"),
            ("/$defs/y", "part.yaml", "/y"),
            ("/$defs/y/type", "part.yaml", "/y/type"),
            ("/$defs/z/a~1b", "api.yaml", "/z/a~1b"),
        ] {
            assert_eq!(origins.of(pointer), (file, at.to_owned()), "{pointer}");
        }
    }

    #[test]
    fn a_part_brings_the_definitions_it_refers_to() {
        let api = json!({"components": {"schemas": {
            "Order": {"properties": {"to": {"$ref": "#/components/schemas/Address"}, "next": {"$ref": "#/components/schemas/Order"}}},
            "Address": {"properties": {"in": {"$ref": "#/components/schemas/Country"}, "$ref": {"type": "string"}}},
            "Country": {"enum": [{"$ref": "data"}]},
            "Unused": {}
        }}});
        assert_eq!(
            put_together(&[("api.yaml", api)], "api.yaml", "/components/schemas/Order"),
            Ok(json!({
                "properties": {"to": {"$ref": "#/$defs/Address"}, "next": {"$ref": "#"}},
                "$defs": {
                    "Address": {"properties": {"in": {"$ref": "#/$defs/Country"}, "$ref": {"type": "string"}}},
                    "Country": {"enum": [{"$ref": "data"}]}
                }
            }))
        );
    }

    #[test]
    fn properties_that_are_not_sent_are_not_required_in_any_branch() {
        let document = json!({
            "openapi": "3.0.3",
            "Time": {"type": "string", "readOnly": true},
            "Base": {"properties": {"id": {"readOnly": true}}, "required": ["id"]},
            "Order": {"allOf": [
                {"$ref": "#/Base"},
                {"properties": {"at": {"$ref": "#/Time"}, "sum": {}}},
                {"required": ["id", "at", "sum"]},
                {"required": ["at"]},
            ]},
        });
        let mut load = |_: &str| Ok(document.clone().into());
        let built = bundle("api.yaml", "/Order", Some(Flow::ConsumerToProvider), &mut load).unwrap();
        let schema = built.schema.value();
        assert_eq!(schema["allOf"][2], json!({"required": ["sum"]}));
        assert_eq!((&schema["allOf"][3], &schema["$defs"]["Base"].get("required")), (&json!({}), &None));
    }

    #[test]
    fn properties_that_are_not_sent_are_found_behind_every_reference() {
        let files = [
            (
                "api.yaml",
                json!({
                    "openapi": "3.0.3",
                    "Order": {
                        "required": ["id", "at", "sum"],
                        "properties": {"id": {"$ref": "parts/ids.yaml#/Id"}, "at": {"$ref": "api.yaml#/Time"}, "sum": {}}
                    },
                    "Time": {"allOf": [{"readOnly": true}]},
                    "Base": {"required": ["id"], "properties": {"next": {"$ref": "#/Base"}}},
                    "Derived": {"allOf": [
                        {"$ref": "#/Base"},
                        {"properties": {"id": {"readOnly": true}, "base": {"$ref": "#/Base"}}},
                    ]},
                    "Whole": {"properties": {"derived": {"$ref": "#/Derived"}}, "allOf": [{"$ref": "#/Derived"}]},
                }),
            ),
            ("parts/ids.yaml", json!({"Id": {"$ref": "#/Text"}, "Text": {"type": "string", "readOnly": true}})),
        ];
        let mut load = |path: &str| Ok(files.iter().find(|(name, _)| *name == path).unwrap().1.clone().into());
        let mut requests =
            |pointer: &str| bundle("api.yaml", pointer, Some(Flow::ConsumerToProvider), &mut load).unwrap();
        assert_eq!(requests("/Order").schema.value()["required"], json!(["sum"]));
        let derived = requests("/Derived");
        assert_eq!(derived.origins.of("/$defs/Base-2/required"), ("api.yaml", "/Base/required".to_owned()));
        assert_eq!(
            *derived.schema.value(),
            json!({
                "allOf": [
                    {"$ref": "#/$defs/Base"},
                    {"properties": {"id": {"readOnly": true}, "base": {"$ref": "#/$defs/Base-2"}}},
                ],
                "$defs": {
                    "Base": {"properties": {"next": {"$ref": "#/$defs/Base-2"}}},
                    "Base-2": {"required": ["id"], "properties": {"next": {"$ref": "#/$defs/Base-2"}}},
                }
            })
        );
        // A schema that knows the property itself needs no second definition.
        let whole = requests("/Whole");
        assert_eq!(whole.schema.value()["allOf"][0], whole.schema.value()["properties"]["derived"]);
    }

    #[test]
    fn long_chains_of_references_are_refused() {
        let chain = (0..3_000).map(|at| (format!("s{at}"), json!({"allOf": [{"$ref": format!("#/s{}", at + 1)}]})));
        let mut document = Value::Object(chain.collect());
        document["openapi"] = json!("3.0.3");
        document["s3000"] = json!({});
        let refused = put_together(&[("api.yaml", document)], "api.yaml", "/s0").unwrap_err();
        assert!(refused.ends_with("an allOf joins more than 1000 schemas; join fewer"), "{refused}");
    }

    #[test]
    fn discriminators_tell_alternatives_apart() {
        let own = |values: Value| json!({"required": ["kind"], "properties": {"kind": {"enum": values}}});
        let api = json!({
            "openapi": "3.1.0",
            "Pet": {
                "oneOf": [
                    {"$ref": "#/Cat"}, {"$ref": "#/Dog"}, {"$ref": "birds.yaml"}, {"$ref": "#/Fish"}, {"type": "object"},
                ],
                "discriminator": {"propertyName": "kind", "mapping": {
                    "cat": "#/Cat", "kitten": "Cat", "Dog": "birds.yaml", "lion": "Lion", "gone": "gone.yaml"
                }}
            },
            "Cat": {"properties": {"kind": {"type": "string"}}},
            "Dog": {},
            "Fish": {"allOf": [{"properties": {"kind": {"$ref": "#/fish"}}}]},
            "fish": {"const": "fish"},
        });
        let files = [("api.yaml", api), ("birds.yaml", json!({"title": "Bird"}))];
        let found = put_together(&files, "api.yaml", "/Pet").unwrap();
        let tagged = |name: &str, values| json!({"allOf": [{"$ref": format!("#/$defs/{name}")}, own(values)]});
        assert_eq!(
            found["oneOf"],
            json!([
                tagged("Cat", json!(["Cat", "cat", "kitten"])),
                tagged("Dog", json!([])),
                tagged("birds", json!(["Dog", "birds"])),
                {"$ref": "#/$defs/Fish"},
                {"type": "object"},
            ])
        );
        let mut load = |path: &str| Ok(files.iter().find(|(name, _)| *name == path).unwrap().1.clone().into());
        let origins = bundle("api.yaml", "/Pet", None, &mut load).unwrap().origins;
        let place = "/oneOf/0/allOf/1/properties/kind/enum";
        assert_eq!(origins.of(place), ("api.yaml", "/Pet/oneOf/0".to_owned()));
        // Outside of OpenAPI, the word has no meaning.
        let plain =
            json!({"Pet": {"oneOf": [{"$ref": "#/Cat"}], "discriminator": {"propertyName": "kind"}}, "Cat": {}});
        let found = put_together(&[("a.json", plain)], "a.json", "/Pet").unwrap();
        assert_eq!(found["oneOf"], json!([{"$ref": "#/$defs/Cat"}]));
    }

    #[test]
    fn parts_of_another_draft_are_refused_if_they_mean_something_else_in_it() {
        let (d7, d2020) = (Draft::D7.uri(), Draft::D2020.uri());
        let root = |named: Value| json!({"$schema": named, "items": {"$ref": "part.json#/x"}});
        for (whole, draft, part, refused) in [
            (root(json!(null)), d7, json!({"format": "date"}), Some("format")),
            (root(json!(d2020)), d7, json!({"format": "date"}), Some("format")),
            (root(json!(d7)), d7, json!({"format": "date"}), None),
            (root(json!(d7)), d2020, json!({"not": {"dependentRequired": {}}}), Some("dependentRequired")),
            (root(json!(d2020)), d7, json!({"properties": {"a": {"items": [{}]}}}), Some("items")),
            (root(json!(d2020)), d7, json!({"$ref": "#/y", "maximum": 1}), Some("$ref")),
            (root(json!(d2020)), d7, json!({"$ref": "#/y"}), None),
            (root(json!(d2020)), d7, json!({"properties": {"format": {}}, "default": {"format": ""}}), None),
            (root(json!(d2020)), Draft::D4.uri(), json!({"exclusiveMinimum": true}), Some("exclusiveMinimum")),
            (root(json!("https://x.test/own")), d7, json!({"format": "date"}), None),
        ] {
            let files =
                [("a.json", whole.clone()), ("part.json", json!({"$schema": draft, "x": part.clone(), "y": {}}))];
            match (put_together(&files, "a.json", ""), refused) {
                (Ok(_), None) => {}
                (Err(error), Some(keyword)) => {
                    assert!(error.starts_with(&format!("part.json: {keyword:?} does not mean the same")), "{error}");
                }
                (found, _) => panic!("{whole} {part}: {found:?}"),
            }
        }
    }

    #[test]
    fn schemas_of_openapi_3_0_are_translated() {
        let api = |version: &str| {
            json!({"openapi": version, "components": {"schemas": {
                "Order": {"properties": {"nullable": {"type": "string", "nullable": true}, "to": {"$ref": "#/components/schemas/To"}}},
                "To": {"type": "number", "minimum": 0, "exclusiveMinimum": true, "default": {"nullable": false}}
            }}})
        };
        let found =
            |version| put_together(&[("api.yaml", api(version))], "api.yaml", "/components/schemas/Order").unwrap();
        assert_eq!(
            found("3.0.3"),
            json!({
                "properties": {"nullable": {"type": ["string", "null"]}, "to": {"$ref": "#/$defs/To"}},
                "$defs": {"To": {"type": "number", "exclusiveMinimum": 0, "default": {"nullable": false}}}
            })
        );
        assert_eq!(found("3.1.0")["properties"]["nullable"], json!({"type": "string", "nullable": true}));
        // Documents are often split into files.
        let files = [
            (
                "api.yaml",
                json!({"openapi": "3.0.0", "x": {"items": {"$ref": "part.yaml"}, "not": {"$ref": "own.json"}}}),
            ),
            ("part.yaml", json!({"type": "string", "nullable": true})),
            (
                "own.json",
                json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "string", "nullable": true}),
            ),
        ];
        let found = put_together(&files, "api.yaml", "/x").unwrap();
        assert_eq!(found["$defs"]["part"], json!({"type": ["string", "null"]}));
        assert_eq!(found["$defs"]["own"], json!({"type": "string", "nullable": true}));
    }

    #[test]
    fn other_files_are_followed_and_names_do_not_clash() {
        let order = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "$id": "https://example.com/schemas/order.json",
            "definitions": {"money": {"type": "number"}},
            "properties": {
                "a": {"$ref": "../shared/money.json"},
                "b": {"$ref": "#/definitions/money"},
                "c": {"$ref": "../shared/money.json#cents"},
                "d": {"$ref": "https://example.com/schemas/order.json#/definitions/money"}
            }
        });
        let money =
            json!({"type": "object", "properties": {"c": {"$id": "#cents", "type": "integer"}, "up": {"$ref": "#"}}});
        let found =
            put_together(&[("schemas/order.json", order), ("shared/money.json", money)], "schemas/order.json", "");
        let found = found.unwrap();
        assert_eq!(found["properties"]["a"], json!({"$ref": "#/definitions/money-2"}));
        assert_eq!(found["properties"]["b"], json!({"$ref": "#/definitions/money"}));
        assert_eq!(found["properties"]["c"], json!({"$ref": "#/definitions/c"}));
        assert_eq!(found["properties"]["d"], json!({"$ref": "#/definitions/money"}));
        assert_eq!(found["definitions"]["money-2"]["properties"]["up"], json!({"$ref": "#/definitions/money-2"}));
        assert_eq!(found["definitions"]["c"], json!({"type": "integer"}));
        assert_eq!(found.get("$id"), None);
    }

    #[test]
    fn many_equal_names_and_anchors_are_told_apart() {
        let part = |at: usize| (format!("x{at}"), json!({"S": {"const": at}, "not": {"$anchor": format!("a{at}")}}));
        let mut file = Value::Object((0..2_500).map(part).collect());
        let to = |at: usize| [json!({"$ref": format!("#/x{at}/S")}), json!({"$ref": format!("#a{at}")})];
        file["all"] = json!({"allOf": (0..2_500).flat_map(to).collect::<Vec<_>>()});
        let found = put_together(&[("a.json", file)], "a.json", "/all").unwrap();
        assert_eq!(found["allOf"][4_998], json!({"$ref": "#/$defs/S-2500"}));
        assert_eq!(found["$defs"]["S-2500"], json!({"const": 2_499}));
        assert_eq!(found["$defs"]["not-2500"]["$anchor"], "a2499");
    }

    #[test]
    fn resources_of_the_same_file_are_not_read_as_files() {
        let schema = json!({"$id": "https://x.test/r", "allOf": [{"$ref": "a"}, {"$ref": "https://x.test/a"}], "not": {"$id": "a"}});
        assert_eq!(put_together(&[("k.json", schema.clone())], "k.json", ""), Ok(schema));
    }

    #[test]
    fn definitions_that_are_no_object_are_refused() {
        let api = |definitions: Value| json!({"x": {"items": {"$ref": "#/y"}, "$defs": definitions}, "y": {}});
        assert!(put_together(&[("a.json", api(json!({})))], "a.json", "/x").is_ok());
        assert_eq!(
            put_together(&[("a.json", api(json!(true)))], "a.json", "/x"),
            Err("a.json: /x/$defs is not an object".to_owned())
        );
    }

    #[test]
    fn references_outside_the_repository_or_to_nothing_are_refused() {
        for (reference, hint) in [
            ("https://example.com/x.json", "nothing is fetched"),
            ("../../etc/passwd", "points outside the repository"),
            ("/etc/passwd", "points outside the repository"),
            ("%2e%2e/%2e%2e/x", "points outside the repository"),
            ("missing.json", "missing.json: there is no such file; s/a.json#/x refers to it"),
            ("a.json#/no", "$ref \"a.json#/no\" at /x points to a place that does not exist"),
            ("a.json#no", "is not an anchor in s/a.json"),
        ] {
            let files = [("s/a.json", json!({"x": {"$ref": reference}, "y": {}}))];
            let error = put_together(&files, "s/a.json", "/x").unwrap_err();
            assert!(error.contains(hint), "{reference}: {error}");
        }
        let files = [("a.json", json!({"x": {"$dynamicRef": "#m"}}))];
        assert!(put_together(&files, "a.json", "/x").unwrap_err().contains("$dynamicRef"));
        assert!(
            put_together(&files, "a.json", "/z")
                .unwrap_err()
                .contains("nothing at /z; write a JSON Pointer such as /$defs")
        );
        assert!(put_together(&files, "a.json", "x").unwrap_err().contains("begins with a slash: write /x"));
    }
}
