//! `git blue install …`: what makes `git blue --help` and TAB work, generated from the commands
//! themselves.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use clap_complete::Shell;

use super::{
    Verdict,
    output::Output,
    text::{Look, look, plain},
};
use crate::{error::OpError, ops::ctx::Ctx};

/// The name that the script for bash is made for: its generator takes a dash in a program's name
/// for the start of a command below it.
const BASH_NAME: &str = "gitblue";

/// The program under its real name, and what git's own completion asks when it meets `git blue`.
const BASH_NAMES: &str = r#"
complete -F _gitblue -o bashdefault -o default git-blue

_git_blue() {
    local COMP_WORDS=(git-blue "${COMP_WORDS[@]:2}") COMP_CWORD=$((COMP_CWORD - 1))
    _gitblue git-blue "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
}
"#;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Put the man pages in place, which `git blue --help` opens
    Man(Place),
    /// Put the completions for bash, zsh and fish in place
    Completions(Place),
}

#[derive(Debug, Args)]
pub struct Place {
    /// Install below this folder [default: ~/.local]
    #[arg(long, value_name = "DIR")]
    prefix: Option<PathBuf>,
}

impl Command {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        let files = match self {
            Self::Man(place) => man(&place.share(ctx)?.join("man/man1"))?,
            Self::Completions(place) => completions(&place.share(ctx)?)?,
        };
        let answer = crate::wire::Answer::new(crate::wire::Installed {
            files: files.iter().map(|file| file.display().to_string()).collect(),
        });
        output.answer(&answer, |body, text| {
            for file in &body.files {
                text.line(&[plain("wrote"), look(file, Look::Dim)]);
            }
        })?;
        Ok(Verdict::Yes)
    }
}

impl Place {
    fn share(&self, ctx: &Ctx) -> Result<PathBuf, OpError> {
        let prefix = self.prefix.as_ref().map(|prefix| ctx.env.cwd().join(prefix));
        let prefix = prefix.or_else(|| Some(ctx.env.home()?.join(".local")));
        let prefix = prefix.ok_or_else(|| OpError::usage("HOME is not set; say where with --prefix DIR"))?;
        Ok(prefix.join("share"))
    }
}

/// A page for `git-blue` and one for each command below it.
fn man(folder: &Path) -> Result<Vec<PathBuf>, OpError> {
    let mut command = super::command().disable_help_subcommand(true);
    // Names every command by its whole path.
    command.build();
    let mut files = Vec::new();
    pages(&command, folder, &mut files)?;
    Ok(files)
}

fn pages(command: &clap::Command, folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), OpError> {
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        pages(sub, folder, files)?;
    }
    let man = clap_mangen::Man::new(command.clone());
    let file = folder.join(man.get_filename());
    let mut page = Vec::new();
    man.render(&mut page).map_err(OpError::io("write", &file))?;
    write(&file, &page)?;
    files.push(file);
    Ok(())
}

fn completions(share: &Path) -> Result<Vec<PathBuf>, OpError> {
    let places = [
        (Shell::Bash, BASH_NAME, "bash-completion/completions/git-blue", BASH_NAMES),
        (Shell::Zsh, "git-blue", "zsh/site-functions/_git-blue", ""),
        (Shell::Fish, "git-blue", "fish/vendor_completions.d/git-blue.fish", ""),
    ];
    let mut files = Vec::new();
    for (shell, name, path, more) in places {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut super::command(), name, &mut script);
        script.extend_from_slice(more.as_bytes());
        let file = share.join(path);
        write(&file, &script)?;
        files.push(file);
    }
    Ok(files)
}

fn write(file: &Path, bytes: &[u8]) -> Result<(), OpError> {
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(OpError::io("create", folder))?;
    std::fs::write(file, bytes).map_err(OpError::io("write", file))
}
