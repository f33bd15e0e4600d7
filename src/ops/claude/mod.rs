//! `install_claude`, `uninstall_claude`: adds the server and hook of git blue to the files that Claude Code reads, and
//! removes them. The rest of these files is left unchanged.

mod file;
mod place;
mod record;

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use self::{
    place::ScopeFiles,
    record::{Done, Records},
};
use super::{Operation, ctx::Ctx};
use crate::{
    error::{ErrorCode, OpError, Problem},
    model::{
        json_text::{self, EditRefusal, New, Step},
        line_diff,
    },
    platform::files::Access,
    wire::{Answer, ClaudeFile, ClaudeScope, ClaudeSetup, FileChange},
};

pub(super) const TABLE: &[Operation] = &[INSTALL, UNINSTALL];

/// The table's entry for installing.
pub const INSTALL: Operation =
    Operation::write::<ClaudeSetup>("install_claude", &["install", "claude"], "Connect Claude Code to the realm");
/// The table's entry for uninstalling.
pub const UNINSTALL: Operation =
    Operation::write::<ClaudeSetup>("uninstall_claude", &["uninstall", "claude"], "Remove what `install claude` added");

/// The name of the hook that Claude Code calls when a session starts.
pub const SESSION_START: &str = "claude-session-start";

/// What Claude Code passes to the hook on its standard input.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct SessionStart {
    /// Why the session starts: `startup`, `resume`, `clear` or `compact`.
    pub source: Option<String>,
    /// The folder of the session.
    pub cwd: Option<PathBuf>,
    /// The id of the session.
    pub session_id: Option<String>,
}

impl SessionStart {
    /// Reads the input. What cannot be read is left out.
    pub fn of(said: &str) -> Self {
        serde_json::from_str(said).unwrap_or_default()
    }

    /// Returns whether the session was shown changes before that it no longer remembers.
    pub fn is_resumed(&self) -> bool {
        matches!(self.source.as_deref(), Some("resume" | "compact" | "clear"))
    }
}

/// The plugin's files, which define the server and the hook that this operation sets up.
const SERVERS: &str = include_str!("../../../plugin/.mcp.json");
const HOOKS: &str = include_str!("../../../plugin/hooks/hooks.json");

/// The server's name.
const SERVER: &str = "git-blue";

const SERVER_PATH: [&str; 1] = ["mcpServers"];
const SERVER_STEPS: [Step<'_>; 2] = [Step::Key("mcpServers"), Step::Key(SERVER)];
const HOOK_PATH: [&str; 2] = ["hooks", "SessionStart"];
/// The path of the hook in the settings, which keep hooks in groups.
const HOOK_STEPS: [Step<'_>; 5] =
    [Step::Key("hooks"), Step::Key("SessionStart"), Step::Each, Step::Key("hooks"), Step::Each];

/// The arguments.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The installation scope
    #[cfg_attr(feature = "cli", arg(long, value_enum, default_value_t))]
    pub scope: ClaudeScope,
    /// Show what would change, without changing it
    #[cfg_attr(feature = "cli", arg(short = 'n', long))]
    pub dry_run: bool,
}

/// A planned change of one file.
struct Plan {
    path: PathBuf,
    before: Option<String>,
    /// The text to write; `None` to remove the file.
    after: Option<String>,
    done: Option<Done>,
    note: Option<String>,
}

impl Plan {
    fn change(&self) -> ClaudeFile {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        ClaudeFile {
            path: self.path.display().to_string(),
            change: match (&self.before, &self.after) {
                (before, after) if before == after => FileChange::None,
                (None, _) => FileChange::Created,
                (Some(_), Some(_)) => FileChange::Changed,
                (Some(_), None) => FileChange::Removed,
            },
            diff: line_diff::between(&text(&self.before), &text(&self.after)),
        }
    }

    fn write(&self, records: &mut Records, access: Access) -> Result<(), OpError> {
        // Write the record before the file. Without a record, inserted text can still be removed,
        // but the original is not restored byte for byte.
        if self.done.is_some() {
            records.set(&self.path, self.done.clone())?;
        }
        put(&self.path, (&self.before, &self.after), access)?;
        if self.done.is_none() {
            records.set(&self.path, None)?;
        }
        Ok(())
    }
}

/// Adds the server and the hook to Claude Code's files.
///
/// # Errors
/// Returns an error if a file does not have Claude Code's format, in which case no file is written, or if a file cannot
/// be written.
pub fn install(ctx: &Ctx, request: Request) -> Result<Answer<ClaudeSetup>, OpError> {
    let place = ScopeFiles::of(ctx, request.scope)?;
    let mut records = Records::open(ctx);
    let server = part(SERVERS, &["mcpServers", SERVER]);
    let group = part(HOOKS, &["hooks", "SessionStart", "0"]);
    let plans = [
        with(&place.servers, &records, &SERVER_PATH, New::Member(SERVER, &server), &SERVER_STEPS, |_| true)?,
        with(&place.settings, &records, &HOOK_PATH, New::Item(&group), &HOOK_STEPS, is_our_hook)?,
    ];
    let is_other = plans[0].note.is_some();
    let answer = execute(request, &mut records, plans)?;
    let steps = [
        (is_other, format!("{SERVER} in {} is your own entry; it was not changed", place.servers.display())),
        (ctx.env.program("git-blue").is_none(), "git-blue is not on PATH, so Claude Code will not find it".to_owned()),
        (ctx.realm.is_err(), "git blue init --realm …  # create or join a realm".to_owned()),
    ];
    let relevant = steps.into_iter().filter(|(applies, _)| *applies);
    Ok(relevant.fold(answer, |answer, (_, step)| answer.next(step)))
}

/// Removes the server and the hook from Claude Code's files.
///
/// # Errors
/// Returns an error if a file does not have Claude Code's format, in which case no file is written, or if a file cannot
/// be written.
pub fn uninstall(ctx: &Ctx, request: Request) -> Result<Answer<ClaudeSetup>, OpError> {
    let place = ScopeFiles::of(ctx, request.scope)?;
    let mut records = Records::open(ctx);
    let plans = [
        without(&place.servers, &records, &SERVER_STEPS, is_our_server)?,
        without(&place.settings, &records, &HOOK_STEPS, is_our_hook)?,
    ];
    execute(request, &mut records, plans)
}

fn with(
    path: &Path,
    records: &Records,
    below: &[&str],
    new: New<'_>,
    steps: &[Step<'_>],
    is_there: impl Fn(&Value) -> bool,
) -> Result<Plan, OpError> {
    let before = file::read(path)?;
    let plan =
        |after, done, note| Plan { path: path.to_owned(), before: before.clone(), after: Some(after), done, note };
    let Some(text) = &before else {
        let text = json_text::file(below, new);
        return Ok(plan(text.clone(), Some(Done::between("", &text, true)), None));
    };
    json_text::require_plain(text).map_err(unfit(path))?;
    let found = json_text::find(text, steps).map_err(unfit(path))?;
    if let Some(found) = found.iter().find(|value| is_there(value)) {
        let is_other = matches!(new, New::Member(_, value) if value != found);
        let note = is_other.then(|| "another entry has that name".to_owned());
        return Ok(plan(text.clone(), records.of(path).cloned(), note));
    }
    let after = json_text::insert(text, below, new).map_err(unfit(path))?;
    let done = Done::between(text, &after, false);
    Ok(plan(after, Some(done), None))
}

fn without(
    path: &Path,
    records: &Records,
    steps: &[Step<'_>],
    is_ours: impl Fn(&Value) -> bool + Copy,
) -> Result<Plan, OpError> {
    let before = file::read(path)?;
    let done = records.of(path);
    let plan = |after| Plan { path: path.to_owned(), before: before.clone(), after, done: None, note: None };
    let Some(text) = &before else { return Ok(plan(None)) };
    json_text::require_plain(text).map_err(unfit(path))?;
    let taken_out = json_text::remove(text, steps, is_ours).map_err(unfit(path))?;
    if taken_out == *text {
        return Ok(plan(before.clone()));
    }
    // Restores the original text if the inserted text is still there unchanged.
    if let Some(done) = done
        && let Some(rest) = done.undone(text)
    {
        let is_rest = |rest: &str| serde_json::from_str::<Value>(rest).is_ok() && holds_none(rest, steps, is_ours);
        if done.created && rest.trim().is_empty() {
            return Ok(plan(None));
        }
        if is_rest(&rest) {
            return Ok(plan(Some(rest)));
        }
    }
    let is_empty = serde_json::from_str::<Value>(&taken_out)
        .is_ok_and(|value| value.as_object().is_some_and(|all| all.is_empty()));
    let is_ours_alone = is_empty && done.is_some_and(|done| done.created);
    Ok(plan((!is_ours_alone).then_some(taken_out)))
}

fn holds_none(text: &str, steps: &[Step<'_>], is_ours: impl Fn(&Value) -> bool) -> bool {
    json_text::find(text, steps).is_ok_and(|found| !found.iter().any(is_ours))
}

fn execute<const N: usize>(
    request: Request,
    records: &mut Records,
    plans: [Plan; N],
) -> Result<Answer<ClaudeSetup>, OpError> {
    if !request.dry_run {
        let access = if request.scope == ClaudeScope::User { Access::Private } else { Access::Public };
        write_all(&plans, records, access)?;
    }
    let files = plans.iter().map(Plan::change).collect();
    Ok(Answer::new(ClaudeSetup { scope: request.scope, dry_run: request.dry_run, files }))
}

/// Writes the text `after` to a file that has the text `before`; `None` stands for no file.
fn put(path: &Path, (before, after): (&Option<String>, &Option<String>), access: Access) -> Result<(), OpError> {
    match after {
        after if after == before => Ok(()),
        Some(text) => file::write(path, text, access),
        None => file::remove(path),
    }
}

/// Writes the files. If one cannot be written, those before it are restored.
fn write_all(plans: &[Plan], records: &mut Records, access: Access) -> Result<(), OpError> {
    let [plan, rest @ ..] = plans else { return Ok(()) };
    let recorded = records.of(&plan.path).cloned();
    let written = plan.write(records, access).and_then(|()| write_all(rest, records, access));
    written.inspect_err(|_| {
        let _ = put(&plan.path, (&plan.after, &plan.before), access);
        let _ = records.set(&plan.path, recorded);
    })
}

/// Returns whether a server is ours, even if the user changed its arguments.
fn is_our_server(value: &Value) -> bool {
    let command = value["command"].as_str().map(Path::new);
    let program = format!("git-blue{}", std::env::consts::EXE_SUFFIX);
    let is_ours = command.and_then(Path::file_name).is_some_and(|name| *name == *program);
    is_ours && value["args"][0] == "mcp"
}

fn is_our_hook(value: &Value) -> bool {
    value["command"].as_str().is_some_and(|command| command.contains(&format!("hook {SESSION_START}")))
}

/// Returns a part of one of the plugin's files.
fn part(text: &str, path: &[&str]) -> Value {
    let whole: Value = serde_json::from_str(text).unwrap_or_default();
    whole.pointer(&format!("/{}", path.join("/"))).cloned().unwrap_or_default()
}

fn unfit(path: &Path) -> impl Fn(EditRefusal) -> OpError {
    let file = path.display().to_string();
    move |unfit| {
        let (line, column) = unfit.place.unzip();
        let place = unfit.place.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default();
        let message = format!("{file}{place}: {}; it was not changed", unfit.message);
        let problem = Problem {
            code: ErrorCode::UnreadableFile.into(),
            message: unfit.message,
            file: Some(file.clone()),
            line: line.and_then(|line| u32::try_from(line).ok()),
            column: column.and_then(|column| u32::try_from(column).ok()),
        };
        OpError::no(ErrorCode::UnreadableFile, message)
            .problem(problem)
            .next("Claude Code reads plain JSON, without comments: fix the file and try again")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inserted_parts_come_from_the_plugin() {
        let server = part(SERVERS, &["mcpServers", SERVER]);
        assert!(is_our_server(&server));
        let group = part(HOOKS, &["hooks", "SessionStart", "0"]);
        assert!(is_our_hook(&group["hooks"][0]));
        assert_eq!(json_text::find(HOOKS, &HOOK_STEPS).unwrap().len(), 1);
    }
}
