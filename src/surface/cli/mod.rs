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

use std::path::{Path, PathBuf};

use clap::{
    CommandFactory as _, FromArgMatches as _, Parser, Subcommand,
    builder::{OsStringValueParser, TypedValueParser as _},
};

use crate::{
    env::Env,
    error::{ErrorCode, Kind, OpError},
    locate,
    model::name::{ContractRef, RealmName},
    ops::{self, Run as _, as_of::AsOf, binding, ctx::Ctx},
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
    /// Read the realm as of a time, a commit of this repository, or a version of the contract that is named
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

/// Parses arguments. Adding descriptions and examples takes longer than most commands run, so only help gets them.
fn parse(arguments: &[std::ffi::OsString]) -> Result<clap::ArgMatches, clap::Error> {
    use clap::error::ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand};
    let is_help = |error: &clap::Error| matches!(error.kind(), DisplayHelp | DisplayHelpOnMissingArgumentOrSubcommand);
    match definition().try_get_matches_from(arguments) {
        Err(error) if is_help(&error) => command().try_get_matches_from(arguments),
        parsed => parsed,
    }
}

/// Runs the command line. Returns the exit code.
pub fn run(env: Env, arguments: &[std::ffi::OsString], output: &mut Output<'_>) -> u8 {
    let parsed = fast_parse::parse(arguments).map_or_else(|| parse(arguments), Ok);
    let parsed = match parsed.map_err(|error| (shortcut::expand(definition, arguments, &error), error)) {
        Ok(matches) => Ok(matches),
        Err((None, error)) => Err(error),
        Err((Some(shortcut::PossibleCommands::One(line)), _)) => parse(&line),
        Err((Some(shortcut::PossibleCommands::Several(paths)), _)) => {
            output.json = parsed::wants_json(arguments);
            let error = OpError::usage("the command is ambiguous");
            return output.error(&paths.iter().fold(error, |error, path| error.next(format!("git blue {path}"))));
        }
    };
    let operation = parsed.as_ref().ok().and_then(parsed::operation);
    let contract = parsed.as_ref().ok().and_then(parsed::contract);
    let is_dry_run = parsed.as_ref().is_ok_and(parsed::is_dry_run);
    let cli = match parsed.and_then(|matches| read(matches, operation)) {
        Ok(cli) => cli,
        Err(error) => {
            let command = parsed::wants_json(arguments).then(|| parsed::named_command(arguments));
            return output.usage(error, command.as_deref());
        }
    };
    output.json = cli.global.json;
    output.quiet = cli.global.quiet;
    // As in git, each is relative to the one before, and an empty one changes nothing.
    let directory: PathBuf = cli.global.directory.iter().filter(|folder| folder.as_os_str() != ".").collect();
    let env = if directory.as_os_str().is_empty() {
        env
    } else {
        output.name_folder(&directory);
        env.at(&directory)
    };
    let env = if cli.global.no_cache { env.without_cache() } else { env };
    if !env.cwd().is_dir() {
        let message = format!("cannot change to {}: no such directory", env.cwd().display());
        return output.error(&OpError::cannot(ErrorCode::NoDirectory, message));
    }
    if let (Some(_), Err(error)) = (&cli.global.at, ops::as_of::require(operation)) {
        return output.error(&error);
    }
    match cli.command {
        None => {
            let outcome = show_start_screen(env, cli.global, output);
            end(outcome, output)
        }
        Some(Command::Complete { words }) => {
            let _ = output.write_plainly(&complete::offer(env.without_cache(), &words));
            0
        }
        Some(Command::Hook(Hook { event, arguments })) => {
            let input = if event == ops::hooks::PRE_PUSH { pushed } else { piped };
            let outcome = super::hook::run(env, &event, &arguments, input);
            let _ = output.write_plainly(&outcome.greeting);
            for line in &outcome.lines {
                output.note(line);
            }
            outcome.code
        }
        Some(Command::Supervise { program, arguments }) => {
            super::supervise::run(&program, &arguments).unwrap_or_else(|error| output.error(&error))
        }
        Some(Command::Mcp(command)) => {
            // Each call has its own working directory.
            let folder = (!cli.global.directory.is_empty()).then(|| env.cwd().to_owned());
            let outcome = command.run(&env, folder, cli.global.realm, output);
            end(outcome, output)
        }
        Some(Command::Daemon(command)) => {
            let outcome = command.run(&env, output);
            end(outcome, output)
        }
        Some(command) => run_in_context(env, command, cli.global, (operation, contract, is_dry_run), output),
    }
}

fn show_start_screen(env: Env, global: Global, output: &mut Output<'_>) -> Result<Verdict, OpError> {
    if output.json {
        return Err(OpError::usage("no command given").next("git blue -h"));
    }
    let ctx = Ctx::open(env, global.realm)?;
    output.choose_color(&ctx, global.color);
    start_screen::show(&ctx, output)
}

/// Runs a command that may use a repository or a realm. Returns the exit code.
fn run_in_context(
    env: Env,
    command: Command,
    global: Global,
    (operation, contract, is_dry_run): (Option<&ops::Operation>, Option<ContractRef>, bool),
    output: &mut Output<'_>,
) -> u8 {
    let Global { realm, at, color, no_pager, .. } = global;
    let env = if output.quiet { env } else { env.with_on_wait(waiting) };
    let env = operation.into_iter().fold(env, |env, operation| env.with_command(operation.cli));
    // Such a command needs no records of this machine, and stores none.
    let needs_home = command.takes_realm_from_elsewhere() && locate::home(&env).is_err();
    let home = needs_home.then(|| tempfile::tempdir_in(env.temporary_folder()).ok()).flatten();
    let env = home.iter().fold(env, |env, home| env.with(locate::HOME, home.path()));
    let reported = command.reported(&env).map(|(name, formats)| (name, formats, env.clone()));
    let opened = Ctx::open(env, realm.clone());
    let opened = opened.and_then(|ctx| at.into_iter().try_fold(ctx, |ctx, at| ctx.as_of(&at.of(contract.clone()))));
    let outcome = opened.and_then(|ctx| {
        // `init` makes the realm the default.
        if let Some(realm) = realm.as_ref().filter(|_| !matches!(command, Command::Init(_)))
            && !locate::default_realm(&ctx.env, ctx.code.as_ref()).is_ok_and(|default| default.as_ref() == Some(realm))
        {
            output.name_realm(realm.clone());
        }
        output.choose_pager(&ctx, !no_pager && operation.is_some_and(|operation| !operation.writes));
        output.choose_color(&ctx, color);
        if let Some(operation) = operation.filter(|operation| takes_time(operation)) {
            output.show_progress(&ctx.env, operation);
        }
        // Commands without an operation install something, so they count as writes.
        if operation.is_none_or(|operation| operation.writes) && !is_dry_run {
            output.hold_if_quiet();
        }
        if operation.is_some_and(|operation| operation.writes) && !is_dry_run {
            // A receiver that cannot begin now begins with a later change. Most commands that fail report the reason.
            let _ = ops::delivery::run::begin_new(&ctx);
        }
        let verdict = dispatch(&ctx, command, realm, output)?;
        if let Some(operation) = operation.filter(|operation| operation.writes) {
            follow_up(&ctx, operation);
        }
        Ok(verdict)
    });
    if let (Some((command, formats, env)), Err(error), false) = (reported, &outcome, output.is_written()) {
        formats.deliver_failure(&env, output, command, error);
    }
    tracing::debug!(operation = operation.map(|operation| operation.name), ok = outcome.is_ok(), "done");
    end(outcome, output)
}

/// Starts what a write makes due, in the background.
fn follow_up(ctx: &Ctx, operation: &ops::Operation) {
    ops::session::touch(ctx);
    super::background::pack_if_due(ctx);
    if !notify::is_sending(operation) {
        super::background::notify_if_due(ctx);
        // A sync that fails must not start the next one.
        if ![ops::realm::sync::OPERATION.name, ops::upkeep::gc::OPERATION.name].contains(&operation.name) {
            super::background::sync_if_wanted(ctx);
        }
    }
}

/// Converts parsed arguments. A command that is not defined in [`Cli`] runs an operation of the table.
fn read(matches: clap::ArgMatches, operation: Option<&ops::Operation>) -> Result<Cli, clap::Error> {
    let cli = Cli::from_arg_matches(&matches);
    let is_unknown = cli.as_ref().is_err_and(|error| error.kind() == clap::error::ErrorKind::InvalidSubcommand);
    match operation.filter(|_| is_unknown).and_then(|operation| generated_commands::prepared(operation, &matches)) {
        Some(prepared) => {
            Ok(Cli { global: Global::from_arg_matches(&matches)?, command: Some(Command::General(prepared?)) })
        }
        None => cli,
    }
}

/// Prints the error, or what is to be printed of the answers that were held back. Returns the exit code.
fn end(outcome: Result<Verdict, OpError>, output: &mut Output<'_>) -> u8 {
    let ended = outcome.and_then(|verdict| output.flush_held(verdict == Verdict::Yes).map(|_| verdict));
    match ended {
        Ok(Verdict::Yes) => 0,
        Ok(Verdict::Partly) => Kind::Cannot.exit_code(),
        Ok(Verdict::No) => Kind::No.exit_code(),
        Err(error) => output.error(&error),
    }
}

/// Prints immediately which lock a write waits for. The command's output is written only at its end.
fn waiting(lock: &Path, holder: Option<&str>) {
    use std::io::Write as _;
    let holder = holder.map(|holder| format!(", held by {holder}")).unwrap_or_default();
    let line = format!("waiting for {}{holder}", lock.display());
    let _ = writeln!(std::io::stderr(), "git blue: {}", super::escape::clean(&line));
}

/// Reads the refs that git writes to the pre-push hook: one of each local commit, because there may be very many refs.
fn pushed() -> String {
    use std::io::BufRead as _;
    let mut known = std::collections::BTreeSet::new();
    let lines = std::io::stdin().lock().split(b'\n').map_while(Result::ok);
    // A ref's name may not be UTF-8, but the commits of the others are still checked.
    let lines = lines.map(|line| String::from_utf8_lossy(&line).into_owned() + "\n");
    lines.filter(|line| known.insert(line.split(' ').nth(1).map(str::to_owned))).collect()
}

/// Reads standard input, at most 1 MiB.
fn piped() -> String {
    use std::io::Read as _;
    let mut text = Vec::new();
    let _ = std::io::stdin().lock().take(1 << 20).read_to_end(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns whether the operation only computes until it answers. Other operations may wait for the user, in an editor
/// or at standard input.
fn takes_time(operation: &ops::Operation) -> bool {
    let works = [ops::upkeep::gc::OPERATION, ops::worktree::remove::OPERATION, ops::pr::create::OPERATION];
    !operation.writes || works.iter().any(|work| work.name == operation.name)
}

/// The outcome of a command that ran. A check that finds problems has run, but its exit code is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Yes,
    No,
    /// The answer was written, but lacks what cannot be read.
    Partly,
}

fn dispatch(
    ctx: &Ctx,
    command: Command,
    realm: Option<RealmName>,
    output: &mut Output<'_>,
) -> Result<Verdict, OpError> {
    match command {
        Command::Init(arguments) => arguments.run(ctx, realm, output),
        Command::Leave(request) => admin::leave(ctx, request, output),
        Command::Status(arguments) => arguments.run(ctx, output),
        Command::Check(arguments) => arguments.run(ctx, output),
        Command::Review => review::run(ctx, output),
        Command::Sync(arguments) => arguments.run(ctx, output),
        Command::Prime(arguments) => arguments.run(ctx, output),
        Command::Realm(command) => command.run(ctx, output),
        Command::Contract(command) => command.run(ctx, output),
        Command::Import(request) => contract_files::edited(binding::import::run(ctx, &request)?, output),
        Command::Export(request) => contract_files::edited(binding::export::run(ctx, &request)?, output),
        Command::Unimport(request) => contract_files::edited(request.run(ctx)?, output),
        Command::Unexport(request) => contract_files::edited(request.run(ctx)?, output),
        Command::Compat(arguments) => arguments.run(ctx, output),
        Command::Session(command) => command.run(ctx, output),
        Command::Notifications(command) => command.run(ctx, output),
        Command::Notify(command) => command.run(ctx, output),
        Command::Hooks(command) => command.run(ctx, output),
        Command::Gc(request) => upkeep::pack(ctx, request, output),
        Command::Doctor(arguments) => arguments.run(ctx, output),
        Command::Install(command) => command.run(ctx, output),
        Command::Uninstall(command) => command.run(ctx, output),
        Command::General(prepared) => {
            output.fields(&*prepared.run(ctx)?)?;
            Ok(Verdict::Yes)
        }
        Command::Complete { .. }
        | Command::Hook(_)
        | Command::Supervise { .. }
        | Command::Mcp(_)
        | Command::Daemon(_) => Ok(Verdict::Yes),
    }
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
