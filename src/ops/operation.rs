//! One entry of the table of operations: its names, what it takes and answers, how it runs, and where it is
//! served. Every surface reads it from here: commands, tools, routes, their descriptions and the reference.

use schemars::{JsonSchema, Schema, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::{
    error::{ErrorCode, OpError},
    ops::ctx::Ctx,
    wire::{
        Answer, Answered, UnknownCursor,
        schema::{self, Body},
    },
};

/// What clap needs of a request, where the program is built.
#[cfg(feature = "cli")]
pub trait CommandLine: clap::Args {}
#[cfg(feature = "cli")]
impl<T: clap::Args> CommandLine for T {}
/// The library has no command line.
#[cfg(not(feature = "cli"))]
pub trait CommandLine {}
#[cfg(not(feature = "cli"))]
impl<T> CommandLine for T {}

impl From<UnknownCursor> for OpError {
    fn from(error: UnknownCursor) -> Self {
        Self::stale_cursor(&error.0)
    }
}

/// What runs an operation on a request.
pub type Runs<R> = fn(&Ctx, &R) -> Result<Answer<<R as Run>::Answer>, OpError>;

/// A request: its fields are options of a command, arguments of a tool and parameters of a route at once, and the
/// comment on each field is its help and its description.
pub trait Run: DeserializeOwned + JsonSchema + CommandLine + 'static {
    /// What is answered.
    type Answer: Body + 'static;
    /// The operation.
    const RUN: Runs<Self>;
}

/// What any operation answers.
pub type Outcome = Result<Box<dyn Answered>, OpError>;

/// An operation whose arguments were parsed, ready to run.
#[cfg(feature = "cli")]
pub struct Prepared(Box<dyn Fn(&Ctx) -> Outcome>);

#[cfg(feature = "cli")]
impl Prepared {
    /// Runs it.
    ///
    /// # Errors
    /// Returns an error if the operation fails.
    pub fn run(&self, ctx: &Ctx) -> Outcome {
        (self.0)(ctx)
    }
}

#[cfg(feature = "cli")]
impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Prepared")
    }
}

/// What an operation takes, and how it runs on it.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// The JSON Schema of its request, as it is read.
    pub request: fn() -> Schema,
    /// Runs it on the fields of a request.
    pub run: fn(&Ctx, Map<String, Value>) -> Outcome,
    /// Adds its options to a command.
    #[cfg(feature = "cli")]
    pub options: fn(clap::Command) -> clap::Command,
    /// Reads its options.
    #[cfg(feature = "cli")]
    pub parse: fn(&clap::ArgMatches) -> Result<Prepared, clap::Error>,
}

/// One entry of the table of operations.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    /// Its name, the same as an MCP tool, an HTTP route and in the docs.
    pub name: &'static str,
    /// Its command, below `git blue`.
    pub cli: &'static [&'static str],
    /// What it does, in one line.
    pub summary: &'static str,
    /// Whether it changes the realm, this machine's records, or the repository's hooks.
    pub writes: bool,
    /// What it takes and how it runs; none where only the command line knows.
    pub call: Option<Call>,
    /// When a model should call it, if it is a tool.
    pub tool: Option<&'static str>,
    /// Its method and path, if it is a route. Parts of the path in braces are fields of the request, or `realm`.
    pub route: Option<(&'static str, &'static str)>,
    /// A command line that calls it, and what for; for those without a page in the manual.
    pub example: Option<(&'static str, &'static str)>,
    /// The JSON Schema of its answer, without a title; see [`Operation::schema`].
    answer: fn() -> Schema,
    /// Reads an answer as a client does, and writes it again; see [`schema::reread`]. Only where assertions are on,
    /// which is where tests run: the program itself reads no answer, and carries no code to do so.
    pub reread: Option<schema::Reread>,
}

impl Operation {
    /// Returns an operation that reads, and answers with `T`. Its arguments are the command line's.
    pub(crate) const fn read<T: Body>(name: &'static str, cli: &'static [&'static str], summary: &'static str) -> Self {
        Self {
            name,
            cli,
            summary,
            writes: false,
            call: None,
            tool: None,
            route: None,
            example: None,
            answer: schema::answer::<T>,
            reread: if cfg!(debug_assertions) { Some(schema::reread::<Answer<T>>) } else { None },
        }
    }

    /// Returns the same for an operation that writes.
    pub(crate) const fn write<T: Body>(
        name: &'static str,
        cli: &'static [&'static str],
        summary: &'static str,
    ) -> Self {
        Self { writes: true, ..Self::read::<T>(name, cli, summary) }
    }

    /// Returns an operation that reads, and is asked with `R`.
    pub(crate) const fn reads<R: Run>(name: &'static str, cli: &'static [&'static str], summary: &'static str) -> Self {
        let call = Call {
            request: request::<R>,
            run: run::<R>,
            #[cfg(feature = "cli")]
            options: R::augment_args,
            #[cfg(feature = "cli")]
            parse: parse::<R>,
        };
        Self { call: Some(call), ..Self::read::<R::Answer>(name, cli, summary) }
    }

    /// Returns an operation that writes, and is asked with `R`.
    pub(crate) const fn writes<R: Run>(
        name: &'static str,
        cli: &'static [&'static str],
        summary: &'static str,
    ) -> Self {
        Self { writes: true, ..Self::reads::<R>(name, cli, summary) }
    }

    /// Makes it a tool of the MCP server. `about` says when to call it.
    pub(crate) const fn tool(mut self, about: &'static str) -> Self {
        self.tool = Some(about);
        self
    }

    /// Makes it a route of the daemon.
    pub(crate) const fn route(mut self, method: &'static str, path: &'static str) -> Self {
        self.route = Some((method, path));
        self
    }

    /// Shows how it is called.
    #[allow(dead_code, reason = "all operations there are have a page in the manual")]
    pub(crate) const fn example(mut self, line: &'static str, what: &'static str) -> Self {
        self.example = Some((line, what));
        self
    }

    /// Returns the JSON Schema of what it answers where it succeeds. Failures are the same for all
    /// operations: [`schema::failure`].
    pub fn schema(&self) -> Schema {
        schema::titled((self.answer)(), self.name, self.summary)
    }
}

/// Returns the JSON Schema of a request, or of a part of one: what may be left out is not required.
pub fn request<R: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<R>()
}

/// Stands before the reason where fields exclude each other: serde carries nothing but text.
pub(crate) const CONTRADICTION: &str = "contradiction: ";

/// Reads a request from its fields.
///
/// # Errors
/// Returns an error if a field is missing, names nothing of its kind, or contradicts another one.
pub fn read<R: DeserializeOwned>(fields: Map<String, Value>) -> Result<R, OpError> {
    serde_json::from_value(Value::Object(fields.clone())).map_err(|error| misread(&fields, &error.to_string()))
}

/// Returns what is wrong with fields that are not those of a request.
fn misread(fields: &Map<String, Value>, message: &str) -> OpError {
    if let Some(reason) = message.strip_prefix(CONTRADICTION) {
        return OpError::no(ErrorCode::Contradiction, reason);
    }
    // What a text should be is said with the text: whose it is, is not.
    let is_quoted = |value: &Value| value.as_str().is_some_and(|text| message.starts_with(&format!("{text:?} ")));
    let at = fields.iter().find(|(_, value)| is_quoted(value)).map(|(name, _)| format!("{name}: "));
    OpError::usage(format!("{}{message}", at.unwrap_or_default()))
}

fn run<R: Run>(ctx: &Ctx, fields: Map<String, Value>) -> Outcome {
    Ok(Box::new(R::RUN(ctx, &read::<R>(fields)?)?))
}

#[cfg(feature = "cli")]
fn parse<R: Run>(matches: &clap::ArgMatches) -> Result<Prepared, clap::Error> {
    let request = R::from_arg_matches(matches)?;
    Ok(Prepared(Box::new(move |ctx| Ok(Box::new(R::RUN(ctx, &request)?)))))
}

/// Lets a type be given as the fields of another one, flat in a request: a choice that several options make
/// together. `TryFrom` says which of them exclude each other.
macro_rules! given_as {
    ($type:ty, $fields:ty) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let said = |why| serde::de::Error::custom(format!("{}{why}", $crate::ops::operation::CONTRADICTION));
                Self::try_from(<$fields>::deserialize(deserializer)?).map_err(said)
            }
        }

        impl schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                <$fields as schemars::JsonSchema>::schema_name()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                <$fields as schemars::JsonSchema>::json_schema(generator)
            }
        }

        #[cfg(feature = "cli")]
        impl clap::FromArgMatches for $type {
            fn from_arg_matches(matches: &clap::ArgMatches) -> Result<Self, clap::Error> {
                let fields = <$fields as clap::FromArgMatches>::from_arg_matches(matches)?;
                Self::try_from(fields).map_err(|why| clap::Error::raw(clap::error::ErrorKind::ArgumentConflict, why))
            }

            fn update_from_arg_matches(&mut self, matches: &clap::ArgMatches) -> Result<(), clap::Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }

        #[cfg(feature = "cli")]
        impl clap::Args for $type {
            fn augment_args(command: clap::Command) -> clap::Command {
                <$fields as clap::Args>::augment_args(command)
            }

            fn augment_args_for_update(command: clap::Command) -> clap::Command {
                Self::augment_args(command)
            }
        }
    };
}

/// Says what a `Request` is answered with, and which function does it.
macro_rules! runs {
    ($answer:ty, $run:expr) => {
        impl $crate::ops::Run for Request {
            type Answer = $answer;
            const RUN: fn(&Ctx, &Self) -> Result<Answer<$answer>, OpError> = $run;
        }
    };
}

pub(crate) use {given_as, runs};
