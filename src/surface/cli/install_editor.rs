//! `git blue install editor`: JSON Schemas for the files that people write by hand, for editors that complete and
//! check YAML.

use clap::Args;
use serde_json::{Value, json};

use super::{
    Verdict,
    output::Output,
    text::{Style, plain, styled},
};
use crate::{
    error::{ErrorCode, OpError},
    model::json_text::{self, New, Step},
    ops::{
        ctx::Ctx,
        publish::{editor_schemas, work_file::WorkFile},
    },
    wire::{Answer, Installed},
};

const SETTINGS: &str = ".vscode/settings.json";
/// The setting of the VS Code YAML extension that maps schemas to files.
const MAPPING: &str = "yaml.schemas";

#[derive(Debug, Args)]
pub struct Editor {
    /// Also map the schemas in .vscode/settings.json, for VS Code's YAML extension
    #[arg(long)]
    vscode: bool,
}

impl Editor {
    pub fn install(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        let mut files = Vec::new();
        for schema in editor_schemas::all() {
            files.extend(write(ctx, schema.path(), schema.text())?);
        }
        if self.vscode {
            let before = settings(ctx)?.read()?;
            files.extend(write(ctx, SETTINGS.to_owned(), mapped(before)?)?);
        }
        if files.is_empty() {
            return show(output, &Answer::new(Installed { files }), "wrote", "already installed");
        }
        let paths = files.iter().map(|file| Ok(WorkFile::of(ctx.code()?, file.clone())?.pathspec(ctx)));
        let paths = paths.collect::<Result<Vec<_>, OpError>>()?.join(" ");
        let step = format!("git add {paths} && git commit -m \"Add editor schemas for git blue\"");
        let answer = Answer::new(Installed { files }).next(step);
        show(output, &answer, "wrote", "")
    }
}

/// Removes the schemas, and their mapping if it has not been changed since.
pub fn uninstall(ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
    let mut files = Vec::new();
    for schema in editor_schemas::all() {
        let file = WorkFile::of(ctx.code()?, schema.path())?;
        if file.read()?.is_some() {
            file.remove()?;
            files.push(schema.path());
        }
    }
    let file = settings(ctx)?;
    if let Some(before) = file.read()? {
        let after = unmapped(&before)?;
        if after != before {
            if is_empty(&after) {
                file.remove()?
            } else {
                file.replace(&after)?
            }
            files.push(SETTINGS.to_owned());
        }
    }
    show(output, &Answer::new(Installed { files }), "removed", "nothing to remove")
}

fn show(output: &mut Output<'_>, answer: &Answer<Installed>, verb: &str, nothing: &str) -> Result<Verdict, OpError> {
    output.shown(answer, |body, text| {
        if body.files.is_empty() {
            text.line(&[plain(nothing)]);
        }
        for file in &body.files {
            let verb = if file == SETTINGS { "changed" } else { verb };
            text.line(&[plain(verb), styled(file, Style::Dim)]);
        }
    })
}

fn settings(ctx: &Ctx) -> Result<WorkFile, OpError> {
    WorkFile::of(ctx.code()?, SETTINGS.to_owned())
}

/// Writes a file of the working tree. Returns its path, or `None` if it already had this text.
fn write(ctx: &Ctx, path: String, text: String) -> Result<Option<String>, OpError> {
    let file = WorkFile::of(ctx.code()?, path.clone())?;
    match file.read()? {
        Some(before) if before == text => return Ok(None),
        Some(_) => file.replace(&text)?,
        None => file.create(&text)?,
    }
    Ok(Some(path))
}

/// Returns the settings with a mapping for each schema. Existing mappings are left unchanged.
fn mapped(before: Option<String>) -> Result<String, OpError> {
    editor_schemas::all().iter().try_fold(before.unwrap_or_else(|| "{}\n".to_owned()), |text, schema| {
        let path = schema.path();
        if json_text::find(&text, &steps(&path)).map_err(unfit)?.is_empty() {
            json_text::insert(&text, &[MAPPING], New::Member(&path, &json!(schema.files))).map_err(unfit)
        } else {
            Ok(text)
        }
    })
}

/// Returns whether settings contain nothing but empty mappings and no comment.
fn is_empty(text: &str) -> bool {
    let settings = serde_json::from_str::<serde_json::Map<String, Value>>(text);
    settings.is_ok_and(|settings| settings.iter().all(|(key, value)| key == MAPPING && *value == json!({})))
}

fn unmapped(before: &str) -> Result<String, OpError> {
    editor_schemas::all().iter().try_fold(before.to_owned(), |text, schema| {
        let is_ours = |value: &Value| *value == json!(schema.files);
        json_text::remove(&text, &steps(&schema.path()), is_ours).map_err(unfit)
    })
}

fn steps(path: &str) -> [Step<'_>; 2] {
    [Step::Key(MAPPING), Step::Key(path)]
}

fn unfit(unfit: json_text::EditRefusal) -> OpError {
    let place = unfit.place.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default();
    let message = format!("{SETTINGS}{place}: {}; it was not changed", unfit.message);
    OpError::no(ErrorCode::UnreadableFile, message)
}
