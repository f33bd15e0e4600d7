//! Runs a command line: parses it, opens what its command needs, and reports the outcome.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use clap::FromArgMatches as _;

use super::{
    Cli, Command, Global, Hook, Output, Verdict, admin, command, complete, contract_files, definition, fast_parse,
    generated_commands, notify, parsed, review, shortcut, start_screen, upkeep,
};
use crate::{
    env::Env,
    error::{ErrorCode, Kind, OpError},
    locate,
    model::name::{ContractRef, RealmName},
    ops::{self, Run as _, binding, ctx::Ctx},
    surface::{background, escape, hook, supervise},
};

/// A parsed command line, before its command runs.
struct Call {
    operation: Option<&'static ops::Operation>,
    contract: Option<ContractRef>,
    is_dry_run: bool,
}

impl Call {
    fn of(parsed: Option<&clap::ArgMatches>) -> Self {
        Self {
            operation: parsed.and_then(parsed::operation),
            contract: parsed.and_then(parsed::contract),
            is_dry_run: parsed.is_some_and(parsed::is_dry_run),
        }
    }

    /// Returns the operation, if it writes.
    fn write(&self) -> Option<&'static ops::Operation> {
        self.operation.filter(|operation| operation.writes)
    }
}

/// Runs the command line. Returns the exit code.
pub fn run(env: Env, arguments: &[OsString], output: &mut Output<'_>) -> u8 {
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
    let call = Call::of(parsed.as_ref().ok());
    let cli = match parsed.and_then(|matches| read(matches, call.operation)) {
        Ok(cli) => cli,
        Err(error) => {
            let command = parsed::wants_json(arguments).then(|| parsed::named_command(arguments));
            return output.usage(error, command.as_deref());
        }
    };
    output.json = cli.global.json;
    output.quiet = cli.global.quiet;
    let env = env_of(env, &cli.global, output);
    if !env.cwd().is_dir() {
        let message = format!("cannot change to {}: no such directory", env.cwd().display());
        return output.error(&OpError::cannot(ErrorCode::NoDirectory, message));
    }
    if let (Some(_), Err(error)) = (&cli.global.at, ops::as_of::require(call.operation)) {
        return output.error(&error);
    }
    run_parsed(env, cli, call, output)
}

/// Parses arguments. Adding descriptions and examples takes longer than most commands run, so only help gets them.
pub fn parse(arguments: &[std::ffi::OsString]) -> Result<clap::ArgMatches, clap::Error> {
    use clap::error::ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand};
    let is_help = |error: &clap::Error| matches!(error.kind(), DisplayHelp | DisplayHelpOnMissingArgumentOrSubcommand);
    match definition().try_get_matches_from(arguments) {
        Err(error) if is_help(&error) => command().try_get_matches_from(arguments),
        parsed => parsed,
    }
}

/// Returns the environment that the global options select.
fn env_of(env: Env, global: &Global, output: &mut Output<'_>) -> Env {
    // As in git, each is relative to the one before, and an empty one changes nothing.
    let directory: PathBuf = global.directory.iter().filter(|folder| folder.as_os_str() != ".").collect();
    let env = if directory.as_os_str().is_empty() {
        env
    } else {
        output.name_folder(&directory);
        env.at(&directory)
    };
    if global.no_cache { env.without_cache() } else { env }
}

/// Runs a command line that was parsed. Returns the exit code.
fn run_parsed(env: Env, cli: Cli, call: Call, output: &mut Output<'_>) -> u8 {
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
            let outcome = hook::run(env, &event, &arguments, input);
            let _ = output.write_plainly(&outcome.greeting);
            for line in &outcome.lines {
                output.note(line);
            }
            outcome.code
        }
        Some(Command::Supervise { program, arguments }) => {
            supervise::run(&program, &arguments).unwrap_or_else(|error| output.error(&error))
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
        Some(command) => run_in_context(env, command, cli.global, call, output),
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
fn run_in_context(env: Env, command: Command, global: Global, call: Call, output: &mut Output<'_>) -> u8 {
    let env = if output.quiet { env } else { env.with_on_wait(waiting) };
    let env = call.operation.into_iter().fold(env, |env, operation| env.with_command(operation.cli));
    // Such a command needs no records of this machine, and stores none.
    let needs_home = command.takes_realm_from_elsewhere() && locate::home(&env).is_err();
    let home = needs_home.then(|| tempfile::tempdir_in(env.temporary_folder()).ok()).flatten();
    let env = home.iter().fold(env, |env, home| env.with(locate::HOME, home.path()));
    let reported = command.reported(&env).map(|(name, formats)| (name, formats, env.clone()));
    let opened = Ctx::open(env, global.realm.clone()).and_then(|ctx| match &global.at {
        Some(at) => ctx.as_of(&at.clone().of(call.contract.clone())),
        None => Ok(ctx),
    });
    let outcome = opened.and_then(|ctx| {
        prepare(&ctx, &command, &global, &call, output);
        let verdict = dispatch(&ctx, command, global.realm, output)?;
        if let Some(operation) = call.write() {
            follow_up(&ctx, operation);
        }
        Ok(verdict)
    });
    if let (Some((command, formats, env)), Err(error), false) = (reported, &outcome, output.is_written()) {
        formats.deliver_failure(&env, output, command, error);
    }
    tracing::debug!(operation = call.operation.map(|operation| operation.name), ok = outcome.is_ok(), "done");
    end(outcome, output)
}

/// Prepares the output for a command, and its deliveries.
fn prepare(ctx: &Ctx, command: &Command, global: &Global, call: &Call, output: &mut Output<'_>) {
    // `init` makes the realm the default.
    if let Some(realm) = global.realm.as_ref().filter(|_| !matches!(command, Command::Init(_)))
        && !locate::default_realm(&ctx.env, ctx.code.as_ref()).is_ok_and(|default| default.as_ref() == Some(realm))
    {
        output.name_realm(realm.clone());
    }
    output.choose_pager(ctx, !global.no_pager && call.operation.is_some_and(|operation| !operation.writes));
    output.choose_color(ctx, global.color);
    if let Some(operation) = call.operation.filter(|operation| takes_time(operation)) {
        output.show_progress(&ctx.env, operation);
    }
    if call.is_dry_run {
        return;
    }
    // Commands without an operation install something, so they count as writes.
    if call.operation.is_none_or(|operation| operation.writes) {
        output.hold_if_quiet();
    }
    if call.write().is_some() {
        // If this fails, a new receiver gets only the changes after the first success. The command itself usually fails
        // for the same reason, and reports it.
        let _ = ops::delivery::run::start_new_receivers(ctx);
    }
}

/// Starts what a write makes due, in the background.
fn follow_up(ctx: &Ctx, operation: &ops::Operation) {
    ops::session::touch(ctx);
    background::pack_if_due(ctx);
    if !notify::is_sending(operation) {
        background::notify_if_due(ctx);
        // A sync that fails must not start the next one.
        if ![ops::realm::sync::OPERATION.name, ops::upkeep::gc::OPERATION.name].contains(&operation.name) {
            background::sync_if_wanted(ctx);
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
    let _ = writeln!(std::io::stderr(), "git blue: {}", escape::clean(&line));
}

/// Reads the refs that git writes to the pre-push hook. Returns only one ref for each local commit, because there may
/// be very many refs.
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
