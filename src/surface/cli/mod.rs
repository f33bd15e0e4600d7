//! The command line: reads arguments, and prints text or JSON.

mod admin;
mod approve;
mod blame;
mod bootstrap;
mod cache;
mod claude;
mod compat;
mod complete;
mod conflict;
mod contract;
mod contract_files;
mod daemon;
mod desktop_notification;
mod difference;
mod editor;
mod fast_parse;
mod formats;
mod generated_commands;
mod hooks;
mod input;
mod install;
mod install_editor;
mod listing;
pub mod manual;
mod mcp;
mod notifications;
mod notify;
mod output;
mod pager;
mod parsed;
mod pr;
mod prime;
mod process;
mod progress;
mod realm;
mod review;
mod run;
mod session;
mod shortcut;
mod start_screen;
mod status;
mod sync;
pub mod text;
mod timeline;
mod topology;
mod upkeep;
mod validate;
mod worktree;

use std::path::PathBuf;

use clap::{
    CommandFactory as _, Parser, Subcommand,
    builder::{OsStringValueParser, TypedValueParser as _},
};

use crate::{
    model::name::RealmName,
    ops::{self, as_of::AsOf},
};

pub use output::{Output, json, json_of};
pub use process::main;

use listing::{All, Names};

/// The name of the program.
const NAME: &str = "git-blue";

/// Manage contracts between git repositories: notify consumers, catch breaking changes in CI
#[derive(Debug, Parser)]
#[command(name = NAME, bin_name = "git blue", version, max_term_width = 100)]
#[command(subcommand_required = false, infer_subcommands = false)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Option<Command>,
}

/// The options of every command.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
struct Global {
    /// Print the answer as JSON, including errors
    #[arg(long, global = true)]
    json: bool,
    /// Run as if started in this directory
    #[arg(short = 'C', global = true, value_name = "DIR", value_parser = OsStringValueParser::new().map(PathBuf::from))]
    directory: Vec<PathBuf>,
    /// Use this realm instead of the repository's own
    #[arg(long, global = true, value_name = "REALM")]
    realm: Option<RealmName>,
    /// Read the realm as of a time, a commit of this repository, or a version of the given contract
    #[arg(long, global = true, value_name = "TIME|COMMIT|VERSION")]
    at: Option<AsOf>,
    /// Ignore the cache
    #[arg(long, global = true)]
    no_cache: bool,
    /// Suppress next steps and success messages, but not warnings
    #[arg(short, long, global = true)]
    quiet: bool,
    /// When to use colors; defaults to git's color.blue and color.ui
    #[arg(long, global = true, value_name = "WHEN", value_enum)]
    color: Option<When>,
    /// Do not use a pager
    #[arg(long, global = true)]
    no_pager: bool,
}

/// When to use colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum When {
    /// Always
    Always,
    /// Never
    Never,
    /// If the output goes to a terminal
    Auto,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(admin::Init),
    /// Remove this repository from its realm, and its hooks and .blue/config.yaml
    Leave(ops::admin::leave::Request),
    #[command(about = ops::realm::status::OPERATION.summary)]
    Status(realm::Status),
    #[command(about = ops::realm::check::OPERATION.summary)]
    Check(realm::Check),
    #[command(about = ops::realm::review::OPERATION.summary)]
    Review,
    #[command(about = ops::realm::sync::OPERATION.summary)]
    Sync(sync::Sync),
    Prime(prime::Prime),
    /// Show, check and manage the realm
    #[command(subcommand)]
    Realm(realm::Command),
    /// List, inspect and change contracts
    #[command(subcommand)]
    Contract(contract::Command),
    Import(ops::binding::import::Request),
    Export(ops::binding::export::Request),
    Unimport(ops::binding::unimport::Request),
    Unexport(ops::binding::unexport::Request),
    Compat(compat::Arguments),
    /// Manage work sessions
    #[command(subcommand)]
    Session(session::Command),
    /// List and acknowledge changes by other repositories
    #[command(subcommand)]
    Notifications(notifications::Command),
    /// Send changes to webhooks, chat, email and issue trackers
    #[command(subcommand)]
    Notify(notify::Command),
    /// Install and remove the git hooks that publish contracts
    #[command(subcommand)]
    Hooks(hooks::Command),
    Gc(ops::upkeep::gc::Request),
    Doctor(upkeep::Doctor),
    /// Serve the realm to Claude and other MCP clients
    #[command(subcommand)]
    Mcp(mcp::Command),
    /// Serve this machine's realms over local HTTP: JSON, MCP and a web page
    #[command(subcommand)]
    Daemon(daemon::Command),
    /// Install man pages, completions, editor or Claude Code support
    #[command(subcommand)]
    Install(install::Command),
    /// Remove man pages, completions, editor or Claude Code support
    #[command(subcommand)]
    Uninstall(install::Uninstall),
    /// Run an operation without a command of its own.
    #[command(skip)]
    General(ops::operation::Prepared),
    /// Complete a command line, for shells
    #[command(hide = true)]
    Complete {
        /// The words after `git blue`, up to the one being completed
        #[arg(last = true)]
        words: Vec<String>,
    },
    /// Run a git hook, for the installed shims
    #[command(hide = true)]
    Hook(Hook),
    /// Run a command for the MCP server, and end all processes that it started
    #[command(hide = true)]
    Supervise {
        /// The program
        program: std::ffi::OsString,
        /// Its arguments
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<std::ffi::OsString>,
    },
}

#[derive(Debug, clap::Args)]
struct Hook {
    /// The name of the hook
    event: String,
    /// The arguments that git passes to it
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<std::ffi::OsString>,
}

/// Returns the full definition of the command line, for help, man pages and completions.
pub fn command() -> clap::Command {
    manual::describe(definition())
}

/// Returns the definition of the command line without descriptions and examples, which parses the same arguments.
fn definition() -> clap::Command {
    // As in git, the last of several equal options counts, so that the options of an alias can be overridden.
    generated_commands::add(Cli::command()).args_override_self(true)
}

/// The outcome of a command that ran. A check that finds problems has run, but its exit code is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Yes,
    No,
    /// The answer was written, but lacks what cannot be read.
    Partly,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        command().debug_assert();
    }

    fn leaves(command: &clap::Command, path: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
        for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
            path.push(sub.get_name().to_owned());
            if sub.has_subcommands() {
                leaves(sub, path, found)
            } else {
                found.push(path.clone())
            }
            path.pop();
        }
    }

    #[test]
    fn every_operation_has_a_command_and_every_command_an_operation() {
        let mut found = Vec::new();
        leaves(&command(), &mut Vec::new(), &mut found);
        // Short forms, plumbing commands and commands of the command line itself have no operation.
        found.retain(|path| {
            let name = path.join(" ");
            let is_own = matches!(
                &*name,
                "complete"
                    | "hook"
                    | "supervise"
                    | "install man"
                    | "install completions"
                    | "install editor"
                    | "uninstall man"
                    | "uninstall completions"
                    | "uninstall editor"
            );
            !is_own && manual::long_name(&name).is_none() && !["mcp", "daemon"].contains(&path[0].as_str())
        });
        let mut operations: Vec<Vec<String>> =
            ops::TABLE.iter().map(|operation| operation.cli.iter().map(|part| (*part).to_owned()).collect()).collect();
        found.sort();
        operations.sort();
        assert_eq!(found, operations);
    }
}
