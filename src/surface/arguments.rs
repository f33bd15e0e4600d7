//! Reads the arguments of a call over MCP or HTTP. Only arguments that the JSON Schema of the request declares are
//! accepted.

use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::{
    error::OpError,
    ops::operation::{self, request},
};

/// An argument of an operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its JSON Schema, with references resolved. `null` is removed from the types of an optional argument.
    pub schema: Map<String, Value>,
    /// Whether a call must include it.
    pub is_required: bool,
}

/// The kind of value that an argument takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A string.
    Text,
    /// A boolean.
    Flag,
    /// A positive integer.
    Count,
    /// A list of strings.
    List,
    /// One of these strings.
    OneOf(Vec<String>),
    /// Any JSON value.
    Json,
}

impl Parameter {
    /// Returns the kind of value that the argument takes.
    pub fn kind(&self) -> Kind {
        if let Some(words) = self.schema.get("enum").and_then(Value::as_array) {
            return Kind::OneOf(words.iter().filter_map(Value::as_str).map(str::to_owned).collect());
        }
        match self.schema.get("type").and_then(Value::as_str) {
            Some("string") => Kind::Text,
            Some("boolean") => Kind::Flag,
            Some("integer") => Kind::Count,
            Some("array") => Kind::List,
            _ => Kind::Json,
        }
    }

    fn accepts(&self, value: &Value) -> bool {
        match self.kind() {
            Kind::Text => value.is_string(),
            Kind::Flag => value.is_boolean(),
            Kind::Count => value.as_u64().is_some_and(|count| count > 0),
            Kind::List => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
            Kind::OneOf(words) => value.as_str().is_some_and(|word| words.iter().any(|one| one == word)),
            Kind::Json => true,
        }
    }

    fn wanted(&self) -> String {
        match self.kind() {
            Kind::Text => "a string".to_owned(),
            Kind::Flag => "true or false".to_owned(),
            Kind::Count => "a positive whole number".to_owned(),
            Kind::List => "a list of strings".to_owned(),
            Kind::OneOf(words) => match &words[..] {
                [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
                words => words.concat(),
            },
            Kind::Json => "JSON".to_owned(),
        }
    }
}

/// Returns the parameters of a request type.
pub fn of<T: JsonSchema>() -> Vec<Parameter> {
    parameters(request::<T>())
}

/// Returns the parameters that the schema of a request declares.
pub fn parameters(schema: Schema) -> Vec<Parameter> {
    let schema = Value::from(schema);
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let properties = schema["properties"].as_object().into_iter().flatten();
    let parameter = |(name, property): (&String, &Value)| Parameter {
        name: name.clone(),
        schema: simple(property, &schema["$defs"]),
        is_required: required.iter().any(|one| one == name),
    };
    properties.map(parameter).collect()
}

/// Returns a schema without references, null, defaults and the comments of enum variants. Only code generators need
/// those.
fn simple(schema: &Value, definitions: &Value) -> Map<String, Value> {
    let mut found = schema.as_object().cloned().unwrap_or_default();
    if let Some(Value::String(target)) = found.remove("$ref") {
        let name = target.rsplit('/').next().unwrap_or_default();
        found = [simple(&definitions[name], definitions), found].into_iter().flatten().collect();
    }
    let is_null = |one: &Value| one["type"] == "null";
    if let Some(Value::Array(options)) = found.get("anyOf").cloned()
        && let Some(only) = options.iter().find(|one| !is_null(one)).filter(|_| options.iter().any(is_null))
    {
        found.remove("anyOf");
        found = [simple(only, definitions), found].into_iter().flatten().collect();
    }
    if let Some(Value::Array(words)) = found.get("oneOf").cloned() {
        let words: Vec<_> = words.iter().map(|one| one["const"].clone()).filter(|word| !word.is_null()).collect();
        found.remove("oneOf");
        found.insert("enum".into(), json!(words));
        found.insert("type".into(), json!("string"));
    }
    if let Some(Value::Array(words)) = found.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    if let Some(Value::Array(types)) = found.get("type") {
        let only = types.iter().find(|one| *one != "null").cloned();
        found.extend(only.map(|only| ("type".to_owned(), only)));
    }
    if let Some(items) = found.get("items") {
        let items = simple(items, definitions);
        found.insert("items".into(), Value::Object(items));
    }
    if let Some(Value::String(about)) = found.get_mut("description") {
        // Later paragraphs are for readers of the manual.
        about.truncate(about.find("\n\n").unwrap_or(about.len()));
        *about = about.replace('\n', " ");
    }
    found.remove("default");
    found.retain(|name, value| !(name == "format" && value.as_str().is_some_and(|format| format.starts_with("uint"))));
    found
}

/// Returns the JSON Schema of an object that has these parameters and no others.
pub fn schema(parameters: &[Parameter]) -> Map<String, Value> {
    let properties: Map<_, _> =
        parameters.iter().map(|one| (one.name.clone(), Value::Object(one.schema.clone()))).collect();
    let required: Vec<_> = parameters.iter().filter(|one| one.is_required).map(|one| &one.name).collect();
    let mut schema = Map::new();
    schema.insert("type".into(), json!("object"));
    schema.insert("properties".into(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".into(), json!(required));
    }
    schema.insert("additionalProperties".into(), json!(false));
    schema
}

/// The arguments of one call.
#[derive(Debug, Clone, Default)]
pub struct Arguments(Map<String, Value>);

impl Arguments {
    /// Reads the arguments that a client sent. A `null` counts as omitted, because some clients name every argument;
    /// only an argument that takes any JSON keeps it.
    ///
    /// # Errors
    /// Returns an error if an argument is unknown, a required one is missing, or a value is of the wrong kind.
    pub fn read(given: Map<String, Value>, parameters: &[Parameter]) -> Result<Self, OpError> {
        let listed = |names: Vec<&str>| names.join(", ");
        let mut read = Map::new();
        for (name, value) in given {
            let Some(parameter) = parameters.iter().find(|one| one.name == name) else {
                let name: String = name.chars().take(64).collect();
                let known = match parameters {
                    [] => "there are no arguments".to_owned(),
                    _ => format!("the arguments are: {}", listed(parameters.iter().map(|one| &*one.name).collect())),
                };
                return Err(OpError::usage(format!("unknown argument {name:?}")).next(known));
            };
            // An argument that takes any JSON can be null.
            if value.is_null() && parameter.kind() != Kind::Json {
                continue;
            }
            if !parameter.accepts(&value) {
                return Err(OpError::usage(format!("{name} must be {}", parameter.wanted())));
            }
            read.insert(name, value);
        }
        let needed = || parameters.iter().filter(|one| one.is_required).map(|one| &*one.name);
        match needed().find(|name| !read.contains_key(*name)) {
            Some(missing) => Err(OpError::usage(format!("{missing} is missing"))
                .next(format!("every call needs: {}", listed(needed().collect())))),
            None => Ok(Self(read)),
        }
    }

    /// Returns the string of an argument, if it was given.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// Returns the number of an argument, if it was given.
    pub fn count(&self, name: &str) -> Option<usize> {
        self.0.get(name)?.as_u64().map(|count| usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// Returns whether an argument is set to true.
    pub fn flag(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|value| *value == true)
    }

    /// Adds an argument that comes from elsewhere, such as the path of the URL.
    pub fn insert(&mut self, name: &str, value: impl Into<Value>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// Renames arguments to the fields of the request. Each pair is the name of an argument and the name of its field.
    #[must_use]
    pub fn renamed(mut self, names: &[(&str, &str)]) -> Self {
        let pairs: Vec<_> = names.iter().filter_map(|(own, of)| Some((*of, self.0.remove(*own)?))).collect();
        pairs.into_iter().for_each(|(name, value)| self.insert(name, value));
        self
    }

    /// Returns all arguments as a JSON object.
    pub fn fields(&self) -> Map<String, Value> {
        self.0.clone()
    }

    /// Deserializes the arguments into a type, ignoring those that it has no field for.
    ///
    /// # Errors
    /// Returns an error if a value does not parse as its field.
    pub fn read_as<T: DeserializeOwned>(&self) -> Result<T, OpError> {
        operation::read(self.fields())
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::model::name::DomainName;

    /// A word.
    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum State {
        /// One.
        Pending,
        /// Another.
        Seen,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    struct Request {
        /// The domain
        domain: DomainName,
        /// How many
        ///
        /// This is not shown.
        #[schemars(range(min = 1))]
        limit: Option<usize>,
        #[serde(default)]
        worktree: bool,
        repos: Option<Vec<DomainName>>,
        state: Option<State>,
    }

    fn read(value: Value) -> Result<Arguments, String> {
        let Value::Object(given) = value else { panic!("not an object") };
        Arguments::read(given, &of::<Request>()).map_err(|error| error.message)
    }

    #[test]
    fn parameters_are_bounded_and_plain() {
        let schema = Value::Object(schema(&of::<Request>()));
        assert_eq!(schema["properties"]["limit"], json!({"type": "integer", "minimum": 1, "description": "How many"}));
        assert_eq!(
            schema["properties"]["state"],
            json!({"type": "string", "enum": ["pending", "seen"], "description": "A word."})
        );
        assert_eq!(schema["properties"]["worktree"], json!({"type": "boolean"}));
        assert_eq!(schema["properties"]["repos"]["items"]["type"], "string");
        assert_eq!((&schema["required"], &schema["additionalProperties"]), (&json!(["domain"]), &json!(false)));
    }

    #[test]
    fn undeclared_and_invalid_arguments_are_refused() {
        for (value, expected) in [
            (json!({}), "domain is missing"),
            (json!({"domain": null}), "domain is missing"),
            (json!({"domain": 3}), "domain must be a string"),
            (json!({"domain": "a", "more": 1}), "unknown argument \"more\""),
            (json!({"domain": "a", "limit": 0}), "limit must be a positive whole number"),
            (json!({"domain": "a", "limit": "3"}), "limit must be a positive whole number"),
            (json!({"domain": "a", "worktree": "yes"}), "worktree must be true or false"),
            (json!({"domain": "a", "repos": "b"}), "repos must be a list of strings"),
            (json!({"domain": "a", "repos": ["b", 1]}), "repos must be a list of strings"),
            (json!({"domain": "a", "state": "lost"}), "state must be pending or seen"),
        ] {
            assert_eq!(read(value).unwrap_err(), expected);
        }
    }

    #[test]
    fn unknown_argument_of_a_call_without_arguments_is_refused() {
        let error = Arguments::read(json!({"more": 1}).as_object().unwrap().clone(), &[]).unwrap_err();
        assert_eq!(error.next_steps[0].to_string(), "there are no arguments");
    }

    #[test]
    fn valid_arguments_are_read() {
        let given = read(json!({"domain": "s3", "limit": 3, "worktree": true, "state": null})).unwrap();
        let request: Request = given.read_as().unwrap();
        assert_eq!((request.domain.as_str(), request.limit, request.worktree), ("s3", Some(3), true));
        assert!(request.repos.is_none() && request.state.is_none());
        let error = read(json!({"domain": "../x"})).unwrap().read_as::<Request>().unwrap_err();
        assert!(error.message.starts_with("domain: \"../x\" is not a domain name"), "{}", error.message);
    }
}
