//! `compat`: compares two schemas, and decides whether one can replace the other. It needs no realm and no repository.

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::Value;

use super::{Operation, contract::documents, publish::references};
use crate::{
    env::Env,
    error::{ErrorCode, Kind, OpError},
    model::{
        bundle::{self, Bundle, BundleError},
        compatibility::{self, Limits, NothingValid, Options},
        schema::{self, Budget, Forest, KeywordKind, KeywordWarning, Part, PartId, Problem, Tree},
        text::comma_separated_at_most,
    },
    store::codec,
    wire::{Answer, AskedDirection, Compat, SchemaDifference, SchemaReading, SchemaWarning},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::read::<Compat>("compat", &["compat"], "Check whether one JSON Schema can replace another");

/// The maximum size of a schema, in bytes.
pub const MAX_SCHEMA: usize = codec::MAX_SCHEMA;

/// The maximum number of schemas that a warning lists.
const MAX_CHILDREN: usize = 10;

/// A file or standard input that contains a schema.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its name in the answer.
    pub name: String,
    /// Its content, as JSON or YAML.
    pub bytes: Vec<u8>,
    /// The part of it that is the schema; `None` if all of it is.
    pub part: Option<SchemaPart>,
}

/// Returns the name of a source in sentences, also one with a pointer. `-` is standard input.
pub fn shown(name: &str) -> Cow<'_, str> {
    match name.strip_prefix('-').filter(|rest| rest.is_empty() || rest.starts_with("#/")) {
        Some(rest) => Cow::Owned(format!("standard input{rest}")),
        None => Cow::Borrowed(name),
    }
}

/// A schema in a larger document, such as OpenAPI.
#[derive(Debug, Clone)]
pub struct SchemaPart {
    pointer: String,
    bundle: Bundle,
}

impl Source {
    /// Returns the source with only the part at a JSON Pointer as its schema, and everything in the document that it
    /// refers to.
    ///
    /// # Errors
    /// Returns an error if the document cannot be read, has no such part, or the part refers to another file.
    pub fn part(self, pointer: &str) -> Result<Self, OpError> {
        let document = documents::generated(&documents::Source { name: self.name.clone(), bytes: self.bytes.clone() })
            // A schema that cannot be read is not an incompatible one.
            .map_err(|error| OpError { kind: Kind::Cannot, ..error })?;
        let mut load = |file: &str| {
            if file == self.name {
                Ok(document.clone())
            } else {
                Err(BundleError::new(file, "references to other files are not followed; put the schemas into one file"))
            }
        };
        let bundle = bundle::bundle(&self.name, pointer, None, &mut load)
            .map_err(|error| OpError::cannot(ErrorCode::UnreadableSchema, error.to_string()))?;
        references::require_schema(&format!("{}#{pointer}", shown(&self.name)), &bundle.schema)?;
        Ok(Self { part: Some(SchemaPart { pointer: pointer.to_owned(), bundle }), ..self })
    }

    /// Returns the JSON Pointer to the schema; empty for the whole document.
    pub fn pointer(&self) -> &str {
        self.part.as_ref().map_or("", |part| &part.pointer)
    }

    /// Returns its name, with the pointer to the schema.
    fn label(&self) -> String {
        match &self.part {
            Some(part) => format!("{}#{}", self.name, part.pointer),
            None => self.name.clone(),
        }
    }

    /// Converts a JSON Pointer into the schema to one into the file.
    fn in_file(&self, pointer: &str) -> String {
        self.part.as_ref().map_or_else(|| pointer.to_owned(), |part| part.bundle.origins.of(pointer).1)
    }

    /// Returns a warning about the schema.
    fn warning(&self, warning: KeywordWarning) -> SchemaWarning {
        SchemaWarning::of(&self.label(), KeywordWarning { pointer: self.in_file(&warning.pointer), ..warning })
    }

    /// Adds the names of the schemas that a discriminator chooses among. Returns `None` if there are none.
    fn with_children(&self, warning: KeywordWarning) -> Option<KeywordWarning> {
        let Some(part) = self.part.as_ref().filter(|_| warning.kind == KeywordKind::Children) else {
            return Some(warning);
        };
        let schema = warning.pointer.strip_suffix("/discriminator")?;
        let (file, pointer) = part.bundle.origins.of(schema);
        let names = part.bundle.children.get(&(file.to_owned(), pointer)).filter(|names| !names.is_empty())?;
        let suggestion = format!("compare a oneOf of {}", comma_separated_at_most(MAX_CHILDREN, names));
        Some(KeywordWarning { suggestion, ..warning })
    }

    /// Returns a difference with pointers into the files.
    fn difference((old, new): (&Self, &Self), found: SchemaDifference) -> SchemaDifference {
        let old_pointer = found.old_pointer.as_deref().map(|pointer| old.in_file(pointer));
        let new_pointer = found.new_pointer.as_deref().map(|pointer| new.in_file(pointer));
        SchemaDifference { old_pointer, new_pointer, ..found }
    }

    /// Returns the error for a problem at a JSON Pointer into the schema.
    fn error(&self, pointer: &str, why: &str) -> OpError {
        let pointer = self.in_file(pointer);
        let line = codec::line_at(&self.bytes, &pointer).map(|line| format!(":{line}")).unwrap_or_default();
        OpError::cannot(ErrorCode::UnreadableSchema, format!("{}{line}: {why}", shown(&self.name)))
    }
}

/// The arguments.
#[derive(Debug, Clone)]
pub struct Request {
    /// The old schema.
    pub old: Source,
    /// The new schema.
    pub new: Source,
    /// The directions in which compatibility must hold.
    pub direction: AskedDirection,
    /// The reading that decides.
    pub reading: SchemaReading,
}

/// Compares the schemas.
///
/// # Errors
/// Returns an error if one of them is not a valid JSON Schema, or the comparison fails.
pub fn compare(env: &Env, request: &Request) -> Result<Answer<Compat>, OpError> {
    let budget = &Budget::new(env.check_timeout());
    let mut forest = Forest::default();
    let mut parts = [parse(&mut forest, &request.old)?, parse(&mut forest, &request.new)?];
    let assumed = schema::assume_draft(&mut forest, &mut parts);
    schema::remove_empty_required(&mut forest, &mut parts);
    let is_one_file = request.old.name == request.new.name;
    let external = schema::replace_external(&mut forest, &mut parts, is_one_file);
    let forest = forest.closed();
    let [old, new] = parts;
    let (old, new) = (forest.tree(old), forest.tree(new));
    [(&request.old, old), (&request.new, new)]
        .iter()
        .try_for_each(|(source, schema)| judge(source, *schema, budget))?;
    let options = Options {
        backwards: request.direction != AskedDirection::Forwards,
        forwards: request.direction != AskedDirection::Backwards,
        reading: request.reading,
        ..Options::default()
    };
    let found = compatibility::compare_trees(old, new, &options, &env.cpu_stopwatch())
        .map_err(|error| OpError::cannot(ErrorCode::NotCompared, format!("cannot compare the schemas: {error}")))?;
    let found = found.with_differences(&mut |one| Source::difference((&request.old, &request.new), one));
    let asked = [(&found.backwards, options.backwards), (&found.forwards, options.forwards)];
    let asked: Vec<_> =
        asked.iter().filter(|(_, is_asked)| *is_asked).map(|(readings, _)| readings.of(options.reading)).collect();
    let is_refuted = asked.iter().any(|verdict| verdict.is_incompatible());
    let is_proved = asked.iter().all(|verdict| verdict.is_compatible());
    let compatible = (is_refuted || is_proved).then_some(is_proved);
    Ok(Answer::new(Compat {
        old: request.old.label(),
        new: request.new.label(),
        direction: request.direction,
        reading: request.reading,
        compatible,
        backwards: found.backwards,
        forwards: found.forwards,
        differences: found.differences,
        more_differences: found.more,
        bump: found.bump,
        warnings: [&request.old, &request.new]
            .into_iter()
            .zip(assumed)
            .filter_map(|(source, draft)| Some(source.warning(KeywordWarning::assumed(draft?))))
            .chain(
                external
                    .into_iter()
                    .map(|one| [&request.old, &request.new][one.schema].warning(KeywordWarning::external(one))),
            )
            .chain(warnings(&request.old, old, env))
            .chain(warnings(&request.new, new, env))
            .chain(schema::uncompared_formats(old, new).into_iter().map(|warning| request.new.warning(warning)))
            .collect(),
    }))
}

/// Returns the line of each pointer in a schema; empty if the lines cannot be determined.
pub fn lines<'p>(source: &Source, pointers: impl Iterator<Item = &'p str> + Clone) -> BTreeMap<String, u32> {
    let lines = codec::lines_at(&source.bytes, pointers.clone()).unwrap_or_default();
    pointers.map(str::to_owned).zip(lines).collect()
}

fn warnings<'a>(source: &'a Source, schema: Tree<'_>, env: &Env) -> impl Iterator<Item = SchemaWarning> + use<'a> {
    let nothing = compatibility::nothing_valid(schema, Limits::default(), &env.cpu_stopwatch());
    let own = schema::warnings(schema).into_iter().filter_map(|warning| source.with_children(warning));
    own.chain(nothing.map(NothingValid::warning)).map(|warning| source.warning(warning))
}

fn parse(forest: &mut Forest, source: &Source) -> Result<PartId, OpError> {
    if let Some(part) = &source.part {
        let root = forest.add_json(&part.bundle.schema);
        return Ok(forest.encoded(root));
    }
    if source.bytes.trim_ascii().is_empty() {
        let message = format!("{}: the file is empty", shown(&source.name));
        return Err(OpError::cannot(ErrorCode::UnreadableSchema, message));
    }
    codec::schema_into(forest, &source.bytes, source.name.ends_with(".json")).map_err(|problem| {
        let place = [problem.line, problem.column].into_iter().flatten().map(|number| format!(":{number}"));
        let at = format!("{}{}", shown(&source.name), place.collect::<String>());
        OpError::cannot(ErrorCode::UnreadableSchema, format!("{at}: {}", problem.message))
    })
}

/// Returns an error if a schema is not a valid JSON Schema, or too large.
fn judge(source: &Source, schema: Tree<'_>, budget: &Budget) -> Result<(), OpError> {
    if let (None, Some(pointer)) = (&source.part, schema::schemas_within(schema)) {
        return Err(documents::not_a_schema(&source.name, pointer));
    }
    let problems = schema::problems_of(schema, &Value::Null, budget);
    match problems.into_iter().find(|problem| matches!(problem.part, Part::Schema | Part::Size)) {
        Some(Problem { part, pointer, message }) => {
            let place = source.in_file(&pointer);
            let at = if place.is_empty() { String::new() } else { format!(" at {place:?}") };
            Err(source.error(&pointer, &format!("{}{at}: {message}", part.fault())))
        }
        None => Ok(()),
    }
}
