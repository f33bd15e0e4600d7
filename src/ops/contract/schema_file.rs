//! Reads a schema from a file that the user named, or from a part of one, with everything in this repository that it
//! refers to.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use super::documents::{self, Source};
use crate::{
    error::{ErrorCode, OpError},
    model::{
        bundle::{self, BundleError},
        contract::Flow,
        json::Json,
        schema::{self, Budget, Forest, Part},
    },
    ops::{binding::edit::own_path, ctx::Ctx, publish::references},
    repo::blue_files::Files,
};

/// Returns the schema at a JSON Pointer into a file, with everything in this repository that it refers to, and the
/// files that were read.
///
/// # Errors
/// Returns an error if a file cannot be read, nothing is at the pointer, the schema has a number that a contract must
/// not have, or the file has schemas instead of being one.
pub fn read(ctx: &Ctx, source: &Source, pointer: &str, flow: Flow) -> Result<(Json, BTreeSet<String>), OpError> {
    let first = documents::generated(source)?;
    if let (true, Some(at)) = (pointer.is_empty(), schemas_within(&first)) {
        return Err(documents::not_a_schema(&source.name, at));
    }
    let mut first = Some(first);
    let own = own_path(ctx, Path::new(&source.name)).ok();
    let is_own = own.is_some();
    let name = own.unwrap_or_else(|| source.name.clone());
    let files = ctx.code().ok().and_then(Files::checkout);
    let files = files.unwrap_or_else(|| Files::on_disk(PathBuf::default()));
    let mut read = BTreeSet::new();
    let mut load = |path: &str| {
        read.insert(path.to_owned());
        // A bundle reads each file once.
        match first.take_if(|_| path == name) {
            Some(first) => Ok(first),
            None if is_own => references::load(&files, path),
            None => {
                let message = format!("it is next to {name}, which is not in this repository");
                Err(BundleError::new(path, message))
            }
        }
    };
    let schema = bundle::bundle(&name, pointer, Some(flow), &mut load)
        .and_then(bundle::Bundle::exact)
        .map_err(|error| OpError::no(ErrorCode::UnreadableSchema, error.to_string()))?;
    references::require_schema(&format!("{}#{pointer}", source.name), &schema)?;
    Ok((schema, read))
}

/// Returns the JSON Pointer to the schemas of a document, if it has some instead of being one.
fn schemas_within(document: &Json) -> Option<&'static str> {
    let (forest, [root]) = Forest::of_json([document]);
    schema::schemas_within(forest.tree(root))
}

/// Returns the same as [`read`], without the files, if it is a valid JSON Schema.
///
/// # Errors
/// Returns the errors of [`read`], and an error if the schema is not valid or too large.
pub fn read_valid(ctx: &Ctx, (source, pointer): (&Source, &str), flow: Flow, budget: &Budget) -> Result<Json, OpError> {
    let (schema, _) = read(ctx, source, pointer, flow)?;
    let problems = schema::problems(&schema, &Json::default(), budget);
    match problems.into_iter().find(|problem| matches!(problem.part, Part::Schema | Part::Size)) {
        Some(problem) => {
            let place = source.place(&format!("{pointer}{}", problem.pointer));
            let message = format!("{place}: {}: {}", problem.part.fault(), problem.message);
            Err(OpError::cannot(ErrorCode::UnreadableSchema, message))
        }
        None => Ok(schema),
    }
}
