//! Generates `/openapi.json`: the routes and the schemas of their answers, from the tables that the server uses.

use std::sync::OnceLock;

use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};

use super::routes::{ROUTES, Route, RouteAction};
use crate::{
    model::name::RepoName,
    surface::arguments::{self, Kind, Parameter},
    wire::{
        all_realms::{AllNotifications, AllSessions},
        daemon::{DaemonOpen, Health},
        schema,
    },
};

/// Returns the OpenAPI document as JSON text.
pub fn text() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| crate::surface::cli::json(&description()))
}

/// Returns the OpenAPI document.
pub fn description() -> Value {
    let mut shapes = Shapes::default();
    let failure = shapes.take("error", schema::failure().to_value());
    let mut paths = Map::new();
    for route in &*ROUTES {
        let methods = paths.entry(route.path).or_insert_with(|| json!({}));
        methods[route.method.to_ascii_lowercase()] = one(route, &failure, &mut shapes);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "git blue",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The realms on this machine. Each answer is what the same command prints with --json.",
            "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
        },
        "security": [{"token": []}, {"cookie": []}],
        "paths": paths,
        "components": {
            "schemas": shapes.0,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "The token that `git blue daemon token` prints"},
                "cookie": {
                    "type": "apiKey", "in": "cookie", "name": "git_blue_PORT",
                    "description": "The cookie that `git blue daemon open` gives a browser; read-only",
                },
            },
        },
    })
}

fn one(route: &Route, failure: &Value, shapes: &mut Shapes) -> Value {
    let parts = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let mut parameters: Vec<_> = parts.map(in_path).collect();
    parameters.extend(route.query.iter().map(in_query));
    let mut operation = json!({
        "operationId": id(route),
        "summary": route.summary,
        "parameters": parameters,
        "responses": answers(route, failure, shapes),
    });
    if !route.body.is_empty() {
        let properties = route.body.iter().map(|one| (one.name.clone(), in_body(one))).collect::<Map<_, _>>();
        let mut object = Value::Object(arguments::schema(&route.body));
        object["properties"] = Value::Object(properties);
        let is_required = route.body.iter().any(|one| one.is_required);
        operation["requestBody"] =
            json!({"required": is_required, "content": {"application/json": {"schema": object}}});
    }
    if let RouteAction::Health | RouteAction::Open = route.does {
        operation["security"] = json!([]);
    }
    operation
}

fn id(route: &Route) -> String {
    match route.does {
        RouteAction::Run { operation, .. } => operation.name.to_owned(),
        _ => format!("{}{}", route.method.to_ascii_lowercase(), route.path.replace(['/', '.'], "_")),
    }
}

fn answers(route: &Route, failure: &Value, shapes: &mut Shapes) -> Value {
    let json = |schema: Value| json!({"description": "Success", "content": {"application/json": {"schema": schema}}});
    let other = |kind: &str| json!({"description": "Success", "content": {kind: {"schema": {"type": "string"}}}});
    let failed = json!({"description": "Failure", "content": {"application/json": {"schema": failure}}});
    let success = match route.does {
        RouteAction::Run { operation, .. } => {
            let own = shapes.take(operation.name, operation.schema().to_value());
            json(match of_all_realms(operation.name) {
                Some((name, schema)) => json!({"anyOf": [own, shapes.take(name, schema)]}),
                None => own,
            })
        }
        RouteAction::Health => json(shapes.take("health", schema::answer::<Health>().to_value())),
        RouteAction::Link => json(shapes.take("link", schema::answer::<DaemonOpen>().to_value())),
        RouteAction::OpenApi => json(json!({"type": "object"})),
        RouteAction::Events => other("text/event-stream"),
        RouteAction::Open => return json!({"303": {"description": "The browser is signed in"}, "default": failed}),
        RouteAction::Mcp => {
            let mcp = json!({"application/json": {"schema": {}}, "text/event-stream": {"schema": {"type": "string"}}});
            return json!({"default": {"description": "As specified by the Model Context Protocol", "content": mcp}});
        }
    };
    json!({"200": success, "default": failed})
}

/// Returns the answer schema of a list over all realms, which differs from that of its operation.
fn of_all_realms(operation: &'static str) -> Option<(&'static str, Value)> {
    match operation {
        "session_list" => Some(("all_sessions", schema::answer::<AllSessions>().to_value())),
        "notifications_list" => Some(("all_notifications", schema::answer::<AllNotifications>().to_value())),
        _ => None,
    }
}

fn in_path(name: &str) -> Value {
    let schema = match name {
        "id" => json!({"type": "string", "minLength": 1, "maxLength": 100}),
        _ => SchemaGenerator::default().subschema_for::<RepoName>().to_value(),
    };
    json!({"name": name, "in": "path", "required": true, "schema": schema})
}

fn in_query(parameter: &Parameter) -> Value {
    let mut schema = bounded(parameter);
    let about = schema.as_object_mut().and_then(|schema| schema.remove("description"));
    let mut described =
        json!({"name": parameter.name, "in": "query", "required": parameter.is_required, "schema": schema});
    if let Some(about) = about {
        described["description"] = about;
    }
    described
}

/// Returns the schema of a property of a request body. Optional properties may also be null.
fn in_body(parameter: &Parameter) -> Value {
    let mut schema = bounded(parameter);
    if !parameter.is_required && parameter.kind() == Kind::Text {
        schema["type"] = json!(["string", "null"]);
    }
    schema
}

/// Returns the schema of a parameter, with the largest number that can be parsed.
fn bounded(parameter: &Parameter) -> Value {
    let mut schema = parameter.schema.clone();
    if parameter.kind() == Kind::Count {
        schema.insert("maximum".into(), json!(u64::MAX));
    }
    Value::Object(schema)
}

/// The answer schemas by the names of their operations. The definitions of each are nested below it, because two
/// operations may use one name for different things.
#[derive(Default)]
struct Shapes(Map<String, Value>);

impl Shapes {
    /// Moves the definitions of a schema into the components. Returns a reference to the schema.
    fn take(&mut self, name: &str, mut schema: Value) -> Value {
        if let Some(object) = schema.as_object_mut() {
            object.remove("$schema");
            if let Some(Value::Object(parts)) = object.remove("$defs") {
                for (part, mut schema) in parts {
                    refer(name, &mut schema);
                    self.0.insert(format!("{name}.{part}"), schema);
                }
            }
        }
        refer(name, &mut schema);
        self.0.insert(name.to_owned(), schema);
        json!({"$ref": format!("#/components/schemas/{name}")})
    }
}

fn refer(name: &str, schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::String(target)) = object.get_mut("$ref") {
                *target = target.replace("#/$defs/", &format!("#/components/schemas/{name}."));
            }
            object.values_mut().for_each(|below| refer(name, below));
        }
        Value::Array(items) => items.iter_mut().for_each(|below| refer(name, below)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_can_be_resolved() {
        let description = description();
        let text = description.to_string();
        for target in text.split("\"$ref\":\"#/components/schemas/").skip(1) {
            let name = target.split('"').next().unwrap();
            assert!(description["components"]["schemas"][name].is_object(), "{name}");
        }
        assert!(!text.contains("$defs"));
    }

    #[test]
    fn every_route_has_a_unique_id() {
        let mut ids: Vec<_> = ROUTES.iter().map(id).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), ROUTES.len());
    }
}
