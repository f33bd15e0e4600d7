//! JSON Schemas of the files below `.blue/`, for editors: taken from the types that read them.

use schemars::{JsonSchema, Schema, generate::SchemaSettings};

use super::work_file::WorkFile;
use crate::{
    error::OpError,
    model::{binding::Binding, contract::Contract},
    ops::ctx::Ctx,
    store::codec::Config,
};

/// The folder of the schemas in a repository that has them.
const FOLDER: &str = ".blue/schemas";

/// The schema of one kind of file.
#[derive(Debug, Clone)]
pub struct EditorSchema {
    /// The kind: contract, binding or config.
    pub kind: &'static str,
    /// The files that it describes, as a pattern from the root of the repository.
    pub files: &'static str,
    /// The schema.
    pub schema: Schema,
}

impl EditorSchema {
    fn of<T: JsonSchema>(kind: &'static str, files: &'static str) -> Self {
        let mut schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<T>();
        schema.insert("title".into(), format!("A {kind} file of git blue").into());
        // What the type says of itself is for who reads the source.
        schema.remove("description");
        Self { kind, files, schema }
    }

    /// Returns its path from the root of the repository.
    pub fn path(&self) -> String {
        format!("{FOLDER}/{}.schema.json", self.kind)
    }

    /// Returns its text.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(&self.schema).unwrap_or_default() + "\n"
    }
}

/// Returns all of them. They are of draft-07, which every editor's YAML server knows.
pub fn all() -> [EditorSchema; 3] {
    [
        EditorSchema::of::<Contract>("contract", ".blue/contracts/*/*.yaml"),
        EditorSchema::of::<Binding>("binding", ".blue/bindings/*.yaml"),
        EditorSchema::of::<Config>("config", ".blue/config.yaml"),
    ]
}

/// Returns the line by which editors find the schema of a file, where this repository has it. `up` leads from the
/// file's folder to `.blue`.
///
/// # Errors
/// Returns an error if the repository has no work tree, or the schema's place cannot be read.
pub fn modeline(ctx: &Ctx, kind: &str, up: &str) -> Result<String, OpError> {
    let name = format!("schemas/{kind}.schema.json");
    let is_there = WorkFile::of(ctx.code()?, format!(".blue/{name}"))?.read()?.is_some();
    let line = format!("# yaml-language-server: $schema={up}/{name}\n");
    Ok(if is_there { line } else { String::new() })
}
