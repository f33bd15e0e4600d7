//! An entry of the table of operations: its names, its request and answer, the function that runs it, and its route.
//! All interfaces use it: commands, tools, routes, their descriptions and the documentation.

use schemars::{JsonSchema, Schema, generate::SchemaSettings};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::{
    error::{ErrorCode, OpError},
    ops::ctx::Ctx,
    wire::{
        Answer, AnyAnswer, UnknownCursor,
        schema::{self, Body},
    },
};

/// The bound on requests in a build with the command line.
#[cfg(feature = "cli")]
pub trait CommandLine: clap::Args {}
#[cfg(feature = "cli")]
impl<T: clap::Args> CommandLine for T {}
/// The bound on requests in a library build, which has no command line.
#[cfg(not(feature = "cli"))]
pub trait CommandLine {}
#[cfg(not(feature = "cli"))]
impl<T> CommandLine for T {}

impl From<UnknownCursor> for OpError {
    fn from(error: UnknownCursor) -> Self {
        Self::stale_cursor(&error.0)
    }
}

/// A function that runs an operation.
pub type Runs<R> = fn(&Ctx, &R) -> Result<Answer<<R as Run>::Answer>, OpError>;

/// A request. Its fields are the options of a command, the arguments of a tool and the parameters of a route, and the
/// comment on each field is its help and its description.
pub trait Run: DeserializeOwned + JsonSchema + CommandLine + 'static {
    /// The type of the answer.
    type Answer: Body + 'static;
    /// The function that runs the operation.
    const RUN: Runs<Self>;

    /// Runs the operation.
    ///
    /// # Errors
    /// Returns an error if the operation fails.
    fn run(&self, ctx: &Ctx) -> Result<Answer<Self::Answer>, OpError> {
        Self::RUN(ctx, self)
    }
}

/// The result of any operation.
pub type Outcome = Result<Box<dyn AnyAnswer>, OpError>;

/// An operation with parsed arguments, ready to run.
#[cfg(feature = "cli")]
pub struct Prepared(Box<dyn Fn(&Ctx) -> Outcome>);

#[cfg(feature = "cli")]
impl Prepared {
    /// Runs the operation.
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

/// The functions that run an operation with fields or with options.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// Returns the JSON Schema of the request, as it is deserialized.
    pub request: fn() -> Schema,
    /// Runs the operation with the fields of a request.
    pub run: fn(&Ctx, Map<String, Value>) -> Outcome,
    /// Adds the options of the request to a command.
    #[cfg(feature = "cli")]
    pub options: fn(clap::Command) -> clap::Command,
    /// Parses the options of the request.
    #[cfg(feature = "cli")]
    pub parse: fn(&clap::ArgMatches) -> Result<Prepared, clap::Error>,
}

/// An entry of the table of operations.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    /// The name, which is also that of the MCP tool and in the documentation.
    pub name: &'static str,
    /// The words of the command, below `git blue`.
    pub cli: &'static [&'static str],
    /// A summary in one line.
    pub summary: &'static str,
    /// Whether the operation changes the realm, this machine's records, or the repository's hooks.
    pub writes: bool,
    /// Whether the operation can read an earlier state of the realm.
    pub reads_past: bool,
    /// The functions that run the operation; `None` if only the command line can.
    pub call: Option<Call>,
    /// When a model should call the operation; `None` if it is not a tool.
    pub tool: Option<&'static str>,
    /// The method and path of the route; `None` if the operation has none. Variables of the path, in braces, are fields
    /// of the request, or `realm`.
    pub route: Option<(&'static str, &'static str)>,
    /// Example command lines, each with its purpose, for commands whose long help has nothing else to add.
    pub examples: &'static [(&'static str, &'static str)],
    /// Returns the JSON Schema of the answer, without a title; see [`Operation::schema`].
    answer: fn() -> Schema,
    /// Reads an answer as a client does, and writes it again; see [`schema::reread`]. This exists only with debug
    /// assertions, as in tests, because the program itself reads no answer.
    pub reread: Option<schema::RoundTrip>,
}

impl Operation {
    /// Declares an operation that reads and answers with `T`. Only the command line can call it.
    pub(crate) const fn read<T: Body>(name: &'static str, cli: &'static [&'static str], summary: &'static str) -> Self {
        Self {
            name,
            cli,
            summary,
            writes: false,
            reads_past: false,
            call: None,
            tool: None,
            route: None,
            examples: &[],
            answer: schema::answer::<T>,
            reread: if cfg!(debug_assertions) { Some(schema::reread::<Answer<T>>) } else { None },
        }
    }

    /// Declares an operation that writes and answers with `T`. Only the command line can call it.
    pub(crate) const fn write<T: Body>(
        name: &'static str,
        cli: &'static [&'static str],
        summary: &'static str,
    ) -> Self {
        Self { writes: true, ..Self::read::<T>(name, cli, summary) }
    }

    /// Declares an operation that reads, with requests of type `R`.
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

    /// Declares an operation that writes, with requests of type `R`.
    pub(crate) const fn writes<R: Run>(
        name: &'static str,
        cli: &'static [&'static str],
        summary: &'static str,
    ) -> Self {
        Self { writes: true, ..Self::reads::<R>(name, cli, summary) }
    }

    /// Lets the operation read an earlier state of the realm.
    pub(crate) const fn reads_past(mut self) -> Self {
        self.reads_past = true;
        self
    }

    /// Makes the operation an MCP tool. `about` says when to call it.
    pub(crate) const fn tool(mut self, about: &'static str) -> Self {
        self.tool = Some(about);
        self
    }

    /// Makes the operation a route of the daemon.
    pub(crate) const fn route(mut self, method: &'static str, path: &'static str) -> Self {
        self.route = Some((method, path));
        self
    }

    /// Adds examples of its use.
    pub(crate) const fn examples(mut self, examples: &'static [(&'static str, &'static str)]) -> Self {
        self.examples = examples;
        self
    }

    /// Returns the JSON Schema of a successful answer. Failures are the same for all operations: [`schema::failure`].
    pub fn schema(&self) -> Schema {
        schema::titled((self.answer)(), self.name, self.summary)
    }
}

/// Returns the JSON Schema of a request or a part of one. Fields with a default are not required.
pub fn request<R: JsonSchema>() -> Schema {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<R>()
}

/// Marks the reason why fields exclude each other in an error of serde, which carries only text.
pub(crate) const CONTRADICTION: &str = "contradiction: ";

/// Deserializes a request.
///
/// # Errors
/// Returns an error if a field is missing, does not parse, or contradicts another one.
pub fn read<R: DeserializeOwned>(fields: Map<String, Value>) -> Result<R, OpError> {
    serde_json::from_value(Value::Object(fields.clone())).map_err(|error| misread(&fields, &error.to_string()))
}

/// Returns the error for fields that do not form a request.
fn misread(fields: &Map<String, Value>, message: &str) -> OpError {
    if let Some(reason) = message.strip_prefix(CONTRADICTION) {
        return OpError::no(ErrorCode::Contradiction, reason);
    }
    // The error quotes an invalid text, but does not name its field.
    let is_quoted = |value: &Value| value.as_str().is_some_and(|text| message.starts_with(&format!("{text:?} ")));
    let mut quoted = fields.iter().filter(|(_, value)| is_quoted(value));
    match (quoted.next(), quoted.next()) {
        (Some((name, _)), None) => OpError::usage(format!("{name}: {message}")),
        _ => OpError::usage(message),
    }
}

fn run<R: Run>(ctx: &Ctx, fields: Map<String, Value>) -> Outcome {
    Ok(Box::new(read::<R>(fields)?.run(ctx)?))
}

#[cfg(feature = "cli")]
fn parse<R: Run>(matches: &clap::ArgMatches) -> Result<Prepared, clap::Error> {
    let request = R::from_arg_matches(matches)?;
    Ok(Prepared(Box::new(move |ctx| Ok(Box::new(request.run(ctx)?)))))
}

/// Deserializes a type from the fields of another one, which are flattened into the request: a choice between several
/// options. `TryFrom` decides which of them exclude each other.
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

/// Implements [`Run`] for a `Request`, with the type of its answer and the function that runs it.
macro_rules! runs {
    ($answer:ty, $run:expr) => {
        impl $crate::ops::Run for Request {
            type Answer = $answer;
            const RUN: $crate::ops::operation::Runs<Self> = $run;
        }
    };
}

pub(crate) use {given_as, runs};
