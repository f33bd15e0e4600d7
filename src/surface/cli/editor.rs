//! Lets the user edit text in the editor that git would start.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
};

use crate::{
    error::{ErrorCode, OpError},
    ops::ctx::Ctx,
    platform::process,
    repo::CodeRepo,
};

/// A text that the user edited, and its temporary file. The file is kept if the text is refused.
pub struct Edited {
    /// The text.
    pub text: Vec<u8>,
    file: tempfile::NamedTempFile,
}

impl Edited {
    /// Keeps the temporary file and returns its path.
    pub fn keep(self) -> Option<PathBuf> {
        self.file.keep().ok().map(|(_, path)| path)
    }
}

/// Opens the editor on `template`.
///
/// # Errors
/// Returns an error if there is no editor, it fails, or the user changed nothing.
pub fn edit(ctx: &Ctx, template: &str) -> Result<Edited, OpError> {
    use std::io::Write as _;
    let failed = |error| OpError::io("write", "a temporary file")(error);
    let mut file = tempfile::Builder::new().prefix("git-blue-").suffix(".yaml").tempfile().map_err(failed)?;
    file.write_all(template.as_bytes()).and_then(|()| file.flush()).map_err(failed)?;
    let editor = editor(ctx)?;
    // As in git, the editor is a shell command, and the file is its last argument.
    let mut shell = ctx.env.child(process::shell());
    shell.args(["-c", &format!("{editor} \"$@\""), &editor]).arg(file.path());
    let status = shell
        .status()
        .map_err(|error| OpError::cannot(ErrorCode::Editor, format!("cannot run the editor {editor}: {error}")))?;
    if !status.success() {
        return Err(OpError::no(ErrorCode::Editor, format!("the editor {editor} failed; nothing was changed")));
    }
    // Editors may replace the file instead of writing to it, so it is read by its path.
    let text = std::fs::read(file.path()).map_err(failed)?;
    if text == template.as_bytes() {
        return Err(OpError::no(ErrorCode::Unchanged, "nothing was changed"));
    }
    Ok(Edited { text, file })
}

fn editor(ctx: &Ctx) -> Result<String, OpError> {
    // A bare repository that was not named explicitly must not choose the editor.
    let is_heard = !ctx.code.as_ref().is_some_and(CodeRepo::is_implicitly_bare);
    let mut git = ctx.env.child(Command::new("git"));
    if !is_heard {
        git.current_dir("/");
    }
    let output = git.args(["var", "GIT_EDITOR"]).stdin(Stdio::inherit()).output();
    let text = output.ok().filter(|output| output.status.success()).map(|output| output.stdout);
    let text = text.and_then(|text| String::from_utf8(text).ok()).map(|text| text.trim().to_owned());
    text.filter(|text| !text.is_empty()).ok_or_else(|| {
        OpError::cannot(ErrorCode::Editor, "git names no editor")
            .next("pass the new document with --file FILE, or set GIT_EDITOR")
    })
}
