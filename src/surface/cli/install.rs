//! `git blue install …` and `git blue uninstall …`: the manual pages and completion scripts, which are generated from the
//! commands.

use std::{
    collections::BTreeMap,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};

use super::{
    Verdict,
    install_editor::{self, Editor},
    manual,
    output::Output,
    text::{Style, plain, styled},
};
use crate::{
    error::{NextStep, OpError},
    ops::{claude, ctx::Ctx, upkeep::doctor},
    wire::{Answer, Installed},
};

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
    Claude(claude::Request),
}

/// The installed parts that can be removed again.
#[derive(Debug, Subcommand)]
pub enum Uninstall {
    /// Remove the man pages
    Man(Place),
    /// Remove the completions
    Completions(Place),
    /// Remove what `install editor` added
    Editor,
    Claude(claude::Request),
}

impl Uninstall {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        let files = match self {
            Self::Man(place) => manual::page_files(&place.pages(ctx)?),
            Self::Completions(place) => scripts(&place.share(ctx)?).map(|(file, _)| file).collect(),
            Self::Editor => return install_editor::uninstall(ctx, output),
            Self::Claude(request) => return super::claude::run(claude::uninstall, request, ctx, output),
        };
        let mut removed = Vec::new();
        for file in files {
            match std::fs::remove_file(&file) {
                Ok(()) => removed.push(file),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(OpError::io("remove", &file)(error)),
            }
        }
        show(output, &removed, "removed", None)
    }
}

#[derive(Debug, Args)]
pub struct Place {
    /// The prefix of the installation [default: ~/.local]
    #[arg(long, value_name = "DIR")]
    prefix: Option<PathBuf>,
}

impl Command {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        let files = match self {
            Self::Man(place) => {
                let files = manual::write_pages(&place.pages(ctx)?)?;
                // Pages below another prefix may be for another machine.
                let step = if place.prefix.is_none() { doctor::man(ctx).next_step } else { None };
                return show(output, &files, "wrote", step);
            }
            Self::Completions(place) => completions(&place.share(ctx)?)?,
            Self::Editor(editor) => return editor.install(ctx, output),
            Self::Claude(request) => return super::claude::run(claude::install, request, ctx, output),
        };
        show(output, &files, "wrote", None)
    }
}

/// Prints how many files were written or removed in each folder, and the next step.
fn show(output: &mut Output<'_>, files: &[PathBuf], verb: &str, step: Option<NextStep>) -> Result<Verdict, OpError> {
    let files = files.iter().map(|file| file.display().to_string()).collect();
    let answer = Answer::new(Installed { files }).next_all(step);
    output.shown(&answer, |body, text| {
        if body.files.is_empty() {
            text.line(&[plain("nothing to remove")]);
        }
        for (folder, files) in by_folder(&body.files) {
            match files[..] {
                [file] => text.line(&[plain(verb), styled(file, Style::Dim)]),
                _ => text.line(&[plain(format!("{verb} {} files in", files.len())), styled(folder, Style::Dim)]),
            };
        }
    })
}

impl Place {
    /// Returns the directory of man pages.
    fn pages(&self, ctx: &Ctx) -> Result<PathBuf, OpError> {
        Ok(self.share(ctx)?.join("man/man1"))
    }

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

/// Returns the files of the completion scripts, with their content.
fn scripts(share: &Path) -> impl Iterator<Item = (PathBuf, &'static str)> {
    SCRIPTS.into_iter().map(|(path, script)| (share.join(path), script))
}

fn completions(share: &Path) -> Result<Vec<PathBuf>, OpError> {
    scripts(share).map(|(file, script)| write(&file, script.as_bytes()).map(|()| file)).collect()
}

fn write(file: &Path, bytes: &[u8]) -> Result<(), OpError> {
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(OpError::io("create", folder))?;
    std::fs::write(file, bytes).map_err(OpError::io("write", file))
}
