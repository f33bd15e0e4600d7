//! The files that Claude Code reads, by scope.

use std::path::{Path, PathBuf};

use crate::{
    error::{ErrorCode, OpError},
    ops::ctx::Ctx,
    wire::ClaudeScope,
};

/// The environment variable with the folder of Claude Code's user files, if that is not the home folder.
const CONFIG_DIR: &str = "CLAUDE_CONFIG_DIR";

/// The files that Claude Code reads in one scope.
#[derive(Debug, PartialEq, Eq)]
pub struct ScopeFiles {
    /// The file of MCP servers.
    pub servers: PathBuf,
    /// The settings file, which holds the hooks.
    pub settings: PathBuf,
}

impl ScopeFiles {
    /// Returns the files of a scope.
    ///
    /// # Errors
    /// Returns an error if the project scope has no repository, if the user scope has no home folder, or if a file of
    /// the project is a link that leads out of it, since whoever wrote the repository chose the target.
    pub fn of(ctx: &Ctx, scope: ClaudeScope) -> Result<Self, OpError> {
        match scope {
            ClaudeScope::Project => {
                let top = ctx.code()?.workdir().ok_or_else(|| {
                    OpError::cannot(ErrorCode::NoWorkTree, "a bare repository has no files for Claude Code")
                        .next("git blue install claude --scope user")
                })?;
                let servers = inside(&top, ".mcp.json")?;
                Ok(Self { servers, settings: inside(&top, ".claude/settings.json")? })
            }
            ClaudeScope::User => {
                let named = ctx.env.var(CONFIG_DIR).map(|folder| ctx.env.cwd().join(folder));
                let home = || {
                    let message = "neither HOME nor CLAUDE_CONFIG_DIR is set, so Claude Code's settings cannot be \
                        found";
                    ctx.env.home().ok_or_else(|| OpError::cannot(ErrorCode::NoHome, message))
                };
                Ok(match named {
                    Some(folder) => {
                        Self { servers: folder.join(".claude.json"), settings: folder.join("settings.json") }
                    }
                    None => {
                        let home = home()?;
                        Self { servers: home.join(".claude.json"), settings: home.join(".claude/settings.json") }
                    }
                })
            }
        }
    }
}

fn inside(top: &Path, relative: &str) -> Result<PathBuf, OpError> {
    let path = top.join(relative);
    for at in path.ancestors().take_while(|at| *at != top) {
        if at.is_symlink() {
            let message =
                format!("{} is a symbolic link; symbolic links in a repository are not followed", at.display());
            return Err(OpError::no(ErrorCode::Symlink, message));
        }
    }
    Ok(path)
}
