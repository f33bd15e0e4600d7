//! JSON Schemas of the files below `.blue/`, for editors. They are generated from the types that parse the files.

use schemars::{JsonSchema, Schema, generate::SchemaSettings};

use super::work_file::WorkFile;
use crate::{
    error::OpError,
    model::{binding::Binding, contract::Contract},
    ops::ctx::Ctx,
    store::codec::Config,
};

/// The folder of the schemas in a repository.
const FOLDER: &str = ".blue/schemas";

/// The schema of one kind of file.
#[derive(Debug, Clone)]
pub struct EditorSchema {
    /// The kind: contract, binding or config.
    pub kind: &'static str,
    /// A pattern that matches its files, relative to the root of the repository.
    pub files: &'static str,
    /// The schema.
    pub schema: Schema,
}

impl EditorSchema {
    fn of<T: JsonSchema>(kind: &'static str, files: &'static str) -> Self {
        let mut schema = SchemaSettings::draft07().into_generator().into_root_schema_for::<T>();
        schema.insert("title".into(), format!("A {kind} file of git blue").into());
        // The description of the type addresses readers of the source code.
        schema.remove("description");
        Self { kind, files, schema }
    }

    /// Returns the path relative to the root of the repository.
    pub fn path(&self) -> String {
        format!("{FOLDER}/{}.schema.json", self.kind)
    }

    /// Returns the schema as JSON text.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(&self.schema).unwrap_or_default() + "\n"
    }
}

/// Returns all schemas. They use draft-07, which every editor's YAML server supports.
pub fn all() -> [EditorSchema; 3] {
    [
        EditorSchema::of::<Contract>("contract", ".blue/contracts/*/*.yaml"),
        EditorSchema::of::<Binding>("binding", ".blue/bindings/*.yaml"),
        EditorSchema::of::<Config>("config", ".blue/config.yaml"),
    ]
}

/// Returns the comment line that tells editors the schema of a file, if this repository has the schema. `up` is the
/// path from the file's folder to `.blue`.
///
/// # Errors
/// Returns an error if the repository has no working tree, or the schema file cannot be read.
pub fn modeline(ctx: &Ctx, kind: &str, up: &str) -> Result<String, OpError> {
    let name = format!("schemas/{kind}.schema.json");
    let file = WorkFile::of(ctx.code()?, format!(".blue/{name}"))?;
    let is_there = file.is_left_out() || file.read()?.is_some();
    let line = format!("# yaml-language-server: $schema={up}/{name}\n");
    Ok(if is_there { line } else { String::new() })
}
