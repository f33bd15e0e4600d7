//! `git blue install …`: the manual pages and completion scripts, which are generated from the commands.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};

use super::{
    Verdict,
    claude::Claude,
    install_editor::{self, Editor},
    manual,
    output::Output,
    text::{Style, plain, styled},
};
use crate::{error::OpError, ops::ctx::Ctx};

/// The completion script of each shell, and the path under `share` where the shell looks for it.
/// Each calls `git blue complete`.
const SCRIPTS: [(&str, &str); 4] = [
    ("bash-completion/completions/git-blue", include_str!("completions/git-blue.bash")),
    ("zsh/site-functions/_git-blue", include_str!("completions/_git-blue")),
    ("fish/vendor_completions.d/git-blue.fish", include_str!("completions/git-blue.fish")),
    ("fish/vendor_conf.d/git-blue.fish", include_str!("completions/git-in.fish")),
];

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Install the man pages
    Man(Place),
    /// Install the completions for bash, zsh and fish
    Completions(Place),
    /// Let editors complete and check the files under .blue/
    Editor(Editor),
    Claude(Claude),
}

/// The installed parts that can be removed again.
#[derive(Debug, Subcommand)]
pub enum Uninstall {
    /// Remove what `install editor` added
    Editor,
    Claude(Claude),
}

impl Uninstall {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        match self {
            Self::Editor => install_editor::uninstall(ctx, output),
            Self::Claude(claude) => claude.uninstall(ctx, output),
        }
    }
}

#[derive(Debug, Args)]
pub struct Place {
    /// Install under this directory [default: ~/.local]
    #[arg(long, value_name = "DIR")]
    prefix: Option<PathBuf>,
}

impl Command {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        let files = match self {
            Self::Man(place) => manual::write_pages(&place.share(ctx)?.join("man/man1"))?,
            Self::Completions(place) => completions(&place.share(ctx)?)?,
            Self::Editor(editor) => return editor.install(ctx, output),
            Self::Claude(claude) => return claude.install(ctx, output),
        };
        let answer = crate::wire::Answer::new(crate::wire::Installed {
            files: files.iter().map(|file| file.display().to_string()).collect(),
        });
        output.shown(&answer, |body, text| {
            for (folder, files) in by_folder(&body.files) {
                match files[..] {
                    [file] => text.line(&[plain("wrote"), styled(file, Style::Dim)]),
                    _ => text.line(&[plain(format!("wrote {} files in", files.len())), styled(folder, Style::Dim)]),
                };
            }
        })
    }
}

impl Place {
    fn share(&self, ctx: &Ctx) -> Result<PathBuf, OpError> {
        let prefix = self.prefix.as_ref().map(|prefix| ctx.env.cwd().join(prefix));
        let prefix = prefix.or_else(|| Some(ctx.env.home()?.join(".local")));
        let prefix = prefix.ok_or_else(|| OpError::usage("HOME is not set; use --prefix DIR"))?;
        Ok(prefix.join("share"))
    }
}

/// Returns the files of each folder, sorted by folder.
fn by_folder(files: &[String]) -> BTreeMap<String, Vec<&str>> {
    let mut folders: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for file in files {
        let folder = Path::new(file).parent().unwrap_or(Path::new("."));
        folders.entry(folder.display().to_string()).or_default().push(file);
    }
    folders
}

fn completions(share: &Path) -> Result<Vec<PathBuf>, OpError> {
    let mut files = Vec::new();
    for (path, script) in SCRIPTS {
        let file = share.join(path);
        write(&file, script.as_bytes())?;
        files.push(file);
    }
    Ok(files)
}

fn write(file: &Path, bytes: &[u8]) -> Result<(), OpError> {
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(OpError::io("create", folder))?;
    std::fs::write(file, bytes).map_err(OpError::io("write", file))
}
