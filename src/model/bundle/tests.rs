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
    let api = json!({"x": {"$defs": {"own": {}}, "items": {"$ref": "part.yaml#/y"}, "not": {"$ref": "#/z"}}, "z": {}});
    let files = [("api.yaml", api), ("part.yaml", json!({"y": {"type": "string"}}))];
    let mut load = |path: &str| Ok(files.iter().find(|(name, _)| *name == path).unwrap().1.clone().into());
    let Bundle { schema, origins, .. } = bundle("api.yaml", "/x", None, &mut load).unwrap();
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
    let mut requests = |pointer: &str| bundle("api.yaml", pointer, Some(Flow::ConsumerToProvider), &mut load).unwrap();
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
    let plain = json!({"Pet": {"oneOf": [{"$ref": "#/Cat"}], "discriminator": {"propertyName": "kind"}}, "Cat": {}});
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
        let files = [("a.json", whole.clone()), ("part.json", json!({"$schema": draft, "x": part.clone(), "y": {}}))];
        match (put_together(&files, "a.json", ""), refused) {
            (Ok(_), None) => {}
            (Err(error), Some(keyword)) => {
                assert!(error.starts_with(&format!("part.json: {keyword:?} differs between")), "{error}");
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
    let found = |version| put_together(&[("api.yaml", api(version))], "api.yaml", "/components/schemas/Order").unwrap();
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
        ("api.yaml", json!({"openapi": "3.0.0", "x": {"items": {"$ref": "part.yaml"}, "not": {"$ref": "own.json"}}})),
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
    let found = put_together(&[("schemas/order.json", order), ("shared/money.json", money)], "schemas/order.json", "");
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
    let schema =
        json!({"$id": "https://x.test/r", "allOf": [{"$ref": "a"}, {"$ref": "https://x.test/a"}], "not": {"$id": "a"}});
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
    assert!(put_together(&files, "a.json", "/z").unwrap_err().contains("nothing at /z; the document has "));
    assert!(put_together(&files, "a.json", "x").unwrap_err().contains("begins with a slash: write /x"));
}
