//! The arguments of a call: named, typed, and nothing else.

use std::{fmt::Display, str::FromStr};

use serde_json::{Map, Value, json};

use crate::{error::OpError, model::clock::Period, ops::history::filter::Filter};

/// One argument that a tool takes.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// Whether a call must give it.
    pub is_required: bool,
    /// What it means.
    pub about: &'static str,
}

/// What an argument may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A text.
    Text,
    /// Yes or no.
    Flag,
    /// A whole number above 0.
    Count,
    /// Several texts.
    List,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// Any JSON.
    Json,
}

impl Parameter {
    /// Returns one that a call may leave out.
    pub const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { name, kind, is_required: false, about }
    }

    /// Returns one that is any JSON, and that a call must give.
    pub const fn json(name: &'static str, about: &'static str) -> Self {
        Self { name, kind: Kind::Json, is_required: true, about }
    }

    /// Returns one that a call must give.
    pub const fn required(name: &'static str, about: &'static str) -> Self {
        Self { name, kind: Kind::Text, is_required: true, about }
    }

    /// Returns its JSON Schema.
    pub fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Kind::Text => json!({"type": "string"}),
            Kind::Flag => json!({"type": "boolean"}),
            Kind::Count => json!({"type": "integer"}),
            Kind::List => json!({"type": "array", "items": {"type": "string"}}),
            Kind::OneOf(words) => json!({"enum": words}),
            Kind::Json => json!({}),
        };
        if !self.about.is_empty() {
            schema["description"] = json!(self.about);
        }
        schema
    }

    fn accepts(&self, value: &Value) -> bool {
        match self.kind {
            Kind::Text => value.is_string(),
            Kind::Flag => value.is_boolean(),
            Kind::Count => value.as_u64().is_some_and(|count| count > 0),
            Kind::List => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
            Kind::OneOf(words) => value.as_str().is_some_and(|word| words.contains(&word)),
            Kind::Json => true,
        }
    }

    fn wanted(&self) -> String {
        match self.kind {
            Kind::Text => "a text".to_owned(),
            Kind::Flag => "true or false".to_owned(),
            Kind::Count => "a whole number above 0".to_owned(),
            Kind::List => "a list of texts".to_owned(),
            Kind::OneOf(words) => words.join(" or "),
            Kind::Json => "JSON".to_owned(),
        }
    }
}

/// Returns the JSON Schema of a tool's arguments. That no other argument is taken, and from which
/// number on one is, it does not say: [`Arguments::read`] refuses the rest with a reason, and a list
/// of tools has little room.
pub fn schema(parameters: &[Parameter]) -> Map<String, Value> {
    let properties: Map<_, _> = parameters.iter().map(|one| (one.name.to_owned(), one.schema())).collect();
    let required: Vec<_> = parameters.iter().filter(|one| one.is_required).map(|one| one.name).collect();
    let mut schema = Map::new();
    schema.insert("type".into(), json!("object"));
    schema.insert("properties".into(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".into(), json!(required));
    }
    schema
}

/// The arguments of one call.
#[derive(Debug, Clone, Default)]
pub struct Arguments(Map<String, Value>);

impl Arguments {
    /// Reads what a client gave. What is null counts as left out, but where any JSON is wanted: some clients name
    /// every argument.
    ///
    /// # Errors
    /// Where one is unknown, missing, or not what it may be.
    pub fn read(given: Map<String, Value>, parameters: &[Parameter]) -> Result<Self, OpError> {
        let names = || parameters.iter().map(|one| one.name).collect::<Vec<_>>().join(", ");
        let mut read = Map::new();
        for (name, value) in given {
            let Some(parameter) = parameters.iter().find(|one| one.name == name) else {
                let name: String = name.chars().take(64).collect();
                return Err(OpError::usage(format!("there is no argument {name:?}"))
                    .next(format!("the arguments are: {}", names())));
            };
            // For what may be any JSON, null is a value.
            if value.is_null() && parameter.kind != Kind::Json {
                continue;
            }
            if !parameter.accepts(&value) {
                return Err(OpError::usage(format!("{name} must be {}", parameter.wanted())));
            }
            read.insert(name, value);
        }
        match parameters.iter().find(|one| one.is_required && !read.contains_key(one.name)) {
            Some(missing) => {
                let needed = parameters.iter().filter(|one| one.is_required).map(|one| one.name);
                let needed = needed.collect::<Vec<_>>().join(", ");
                Err(OpError::usage(format!("{} is missing", missing.name)).next(format!("every call needs: {needed}")))
            }
            None => Ok(Self(read)),
        }
    }

    /// Returns a text, if it was given.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }

    /// Returns what was given as it is, if it was given.
    pub fn json(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Returns whether a flag was set.
    pub fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or_default()
    }

    /// Returns a number, if it was given.
    pub fn count(&self, name: &str) -> Option<usize> {
        self.0.get(name)?.as_u64().map(|count| usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// Reads a text as what it names, if it was given.
    ///
    /// # Errors
    /// Where it names nothing of that kind.
    pub fn parsed<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<T>, OpError> {
        let Some(text) = self.text(name) else { return Ok(None) };
        text.parse().map(Some).map_err(|error| OpError::usage(format!("{name}: {error}")))
    }

    /// Reads which entries of a list about the past are wanted: `since`, `until` and `from_repo`.
    ///
    /// # Errors
    /// Where one of them is no time or no name.
    pub fn made(&self) -> Result<Filter, OpError> {
        let period = Period { since: self.parsed("since")?, until: self.parsed("until")? };
        Ok(Filter { period, repo: self.parsed("from_repo")? })
    }

    /// Reads each text of a list, if one was given.
    ///
    /// # Errors
    /// Where one of them names nothing of that kind.
    pub fn list<T: FromStr<Err: Display>>(&self, name: &str) -> Result<Option<Vec<T>>, OpError> {
        let Some(Value::Array(items)) = self.0.get(name) else { return Ok(None) };
        let texts = items.iter().filter_map(Value::as_str);
        let parsed = texts.map(|text| text.parse().map_err(|error| OpError::usage(format!("{name}: {error}"))));
        parsed.collect::<Result<_, _>>().map(Some)
    }

    /// Reads a text that every call gives.
    ///
    /// # Errors
    /// Where it names nothing of that kind.
    pub fn needed<T: FromStr<Err: Display>>(&self, name: &str) -> Result<T, OpError> {
        self.parsed(name)?.ok_or_else(|| OpError::usage(format!("{name} is missing")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::name::DomainName;

    const PARAMETERS: &[Parameter] = &[
        Parameter::required("domain", "the domain"),
        Parameter::optional("limit", Kind::Count, ""),
        Parameter::optional("worktree", Kind::Flag, ""),
        Parameter::optional("repos", Kind::List, ""),
        Parameter::optional("state", Kind::OneOf(&["pending", "seen"]), ""),
    ];

    fn read(value: Value) -> Result<Arguments, String> {
        let Value::Object(given) = value else { panic!("not an object") };
        Arguments::read(given, PARAMETERS).map_err(|error| error.message)
    }

    #[test]
    fn what_is_not_declared_is_refused() {
        for (value, expected) in [
            (json!({}), "domain is missing"),
            (json!({"domain": null}), "domain is missing"),
            (json!({"domain": 3}), "domain must be a text"),
            (json!({"domain": "a", "more": 1}), "there is no argument \"more\""),
            (json!({"domain": "a", "limit": 0}), "limit must be a whole number above 0"),
            (json!({"domain": "a", "limit": "3"}), "limit must be a whole number above 0"),
            (json!({"domain": "a", "worktree": "yes"}), "worktree must be true or false"),
            (json!({"domain": "a", "repos": "b"}), "repos must be a list of texts"),
            (json!({"domain": "a", "repos": ["b", 1]}), "repos must be a list of texts"),
            (json!({"domain": "a", "state": "lost"}), "state must be pending or seen"),
        ] {
            assert_eq!(read(value).unwrap_err(), expected);
        }
    }

    #[test]
    fn what_is_given_is_read() {
        let read = read(json!({"domain": "s3", "limit": 3, "worktree": true, "state": null})).unwrap();
        assert_eq!((read.count("limit"), read.flag("worktree"), read.text("state")), (Some(3), true, None));
        assert_eq!(read.needed::<DomainName>("domain").unwrap().as_str(), "s3");
        assert!(
            super::Arguments(json!({"domain": "../x"}).as_object().unwrap().clone())
                .needed::<DomainName>("domain")
                .is_err()
        );
    }
}
