//! `hooks_install`, `hooks_uninstall`, `hooks_status`: our block at the top of the user's hooks. The user's own lines
//! are kept, and uninstalling restores the file byte for byte.

mod block;
mod config;
mod file;
mod manager;

use std::{
    collections::BTreeSet,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use self::{block::Block, file::HookFile, manager::Manager};
use super::{Operation, ctx::Ctx, publish::work_file::WorkFile, repos::joined};
use crate::{
    error::OpError,
    model::text::shell_word,
    platform::files,
    repo::CodeRepo,
    wire::{Answer, HookState, HooksAnswer},
};

/// The operations.
pub const TABLE: &[Operation] = &[INSTALL, UNINSTALL, STATUS];

/// The table's entry for installing.
pub const INSTALL: Operation =
    Operation::write::<HooksAnswer>("hooks_install", &["hooks", "install"], "Install the hooks that publish on commit");
/// The table's entry for uninstalling.
pub const UNINSTALL: Operation =
    Operation::write::<HooksAnswer>("hooks_uninstall", &["hooks", "uninstall"], "Remove the hooks");
/// The table's entry for reporting the state.
pub const STATUS: Operation =
    Operation::read::<HooksAnswer>("hooks_status", &["hooks", "status"], "Show which hooks are installed");

/// A hook that git blue installs.
struct Hook {
    event: &'static str,
    shim: &'static str,
    /// Whether it is installed only on request, because it may stop the user's command.
    optional: bool,
}

const PUBLISH: &str = include_str!("../../../hooks/publish.sh");
const CHECK: &str = include_str!("../../../hooks/check.sh");

const fn publishing(event: &'static str) -> Hook {
    Hook { event, shim: PUBLISH, optional: false }
}

/// The hooks. git runs different hooks for different commands; the refs decide what is published.
const HOOKS: [Hook; 6] = [
    publishing("post-commit"),
    publishing("post-merge"),
    publishing("post-checkout"),
    publishing("post-rewrite"),
    publishing("post-applypatch"),
    Hook { event: PRE_PUSH, shim: CHECK, optional: true },
];

/// The hook that may stop a push.
pub const PRE_PUSH: &str = "pre-push";

/// Returns whether git runs the hook of this name after refs may have changed.
pub fn is_publishing(event: &str) -> bool {
    HOOKS.iter().any(|hook| hook.event == event && !hook.optional)
}

/// The arguments of the installation.
#[derive(Debug, Clone, Copy, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// Also run git blue check before each push, and stop the push if it finds an error
    #[cfg_attr(feature = "cli", arg(long))]
    pub pre_push: bool,
    /// Use git's configuration instead of hook files (git 2.54 and newer)
    #[cfg_attr(feature = "cli", arg(long = "config-hooks"))]
    pub in_config: bool,
}

/// The location of a repository's hooks.
struct Place<'a> {
    code: &'a CodeRepo,
    /// The folder where git looks for them.
    folder: PathBuf,
    /// The folder where git looks for them if `core.hooksPath` is not set.
    usual: PathBuf,
    /// The root of the working tree, where hook managers have their configuration.
    top: PathBuf,
    /// The folder relative to the root of the working tree, if git tracks what is written there.
    tracked: Option<String>,
    /// Whether `core.hooksPath` is empty, so that git runs no hooks.
    is_nowhere: bool,
    /// Whether git runs no hooks here, because the repository is bare and has no linked worktrees.
    is_treeless: bool,
}

impl<'a> Place<'a> {
    fn of(ctx: &'a Ctx) -> Result<Self, OpError> {
        let code = ctx.code()?;
        let top = code.workdir().unwrap_or_else(|| code.git_dir().to_owned());
        let is_nowhere = code.config("core.hooksPath").is_some_and(|path| path.is_empty());
        let usual = code.usual_hooks_folder();
        let folder = if is_nowhere { usual.clone() } else { code.hooks_folder()? };
        let is_treeless = code.is_bare() && !code.has_linked_worktrees();
        // husky ignores its own folder by a file in it, which a new worktree does not have yet.
        let is_ignored = folder == usual || Manager::of(&folder, None) == Some(Manager::Husky);
        let tracked = if is_ignored { None } else { tracked(code, &folder) };
        Ok(Self { code, folder, usual, top, tracked, is_nowhere, is_treeless })
    }

    fn block<'b>(&self, hook: &'b Hook, exe: &'b Path) -> Block<'b> {
        Block { shim: hook.shim, event: hook.event, exe, is_tracked: self.tracked(hook).is_some() }
    }

    /// Returns what git tracks of a hook, relative to the root of the working tree: the folder of all hooks, or the script
    /// that the hook is a link to.
    fn tracked(&self, hook: &Hook) -> Option<String> {
        let path = self.folder.join(hook.event);
        let target = || path.is_symlink().then(|| in_work_tree(self.code, &path)).flatten();
        let is_tracked = |file: &String| self.code.ignored([&**file]).is_empty();
        self.tracked.clone().or_else(|| target().filter(is_tracked))
    }

    /// Returns the step that commits those of the hooks that git tracks.
    fn to_commit<'h>(&self, ctx: &Ctx, hooks: impl Iterator<Item = &'h Hook>) -> Result<Option<String>, OpError> {
        let paths: BTreeSet<_> = hooks.filter_map(|hook| self.tracked(hook)).collect();
        let argument = |path| Ok::<_, OpError>(WorkFile::of(self.code, path)?.pathspec(ctx));
        let paths = paths.into_iter().map(argument).collect::<Result<Vec<_>, _>>()?.join(" ");
        let step = format!("git add {paths} && git commit -m \"Install the hooks of git blue\"  # git tracks them");
        Ok((!paths.is_empty()).then_some(step))
    }

    /// Returns the step if no git command runs the hooks.
    fn without_hooks(&self) -> Option<String> {
        self.is_treeless
            .then(|| "git blue status  # publish: a push to a bare repository runs none of these hooks".into())
    }

    /// Returns the step if git runs no hooks, because `core.hooksPath` is empty or a file such as `/dev/null`.
    fn switched_off(&self) -> Option<String> {
        let is_file = self.folder.exists() && !self.folder.is_dir();
        let what = if self.is_nowhere {
            "it is empty".to_owned()
        } else if is_file {
            format!("{} is not a directory", self.folder.display())
        } else {
            return None;
        };
        Some(format!("git config --show-origin core.hooksPath  # {what}, so git runs no hooks"))
    }

    /// Returns the step if the hooks belong to somebody else; otherwise the error.
    fn unwritable(&self, error: OpError) -> Result<String, OpError> {
        match error.source.as_ref().map(|source| source.kind()) {
            Some(kind @ (ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)) => Ok(format!(
                "git blue contract publish  # after a commit: no hook can be written to {} ({kind})",
                self.folder.display()
            )),
            _ => Err(error),
        }
    }

    fn answer(&self, hooks: Vec<HookState>) -> Answer<HooksAnswer> {
        let directory = self.folder.display().to_string();
        Answer::new(HooksAnswer { directory, is_shared: self.code.shares_hooks(), hooks })
    }
}

/// Returns a folder of hooks relative to the root of the working tree, if git tracks what is written there.
fn tracked(code: &CodeRepo, folder: &Path) -> Option<String> {
    let relative = in_work_tree(code, folder)?;
    let file = format!("{relative}/{}", HOOKS[0].event);
    code.ignored([&*file]).is_empty().then_some(relative)
}

/// Returns a path relative to the root of the working tree, if it leads there, but not into the git directory.
fn in_work_tree(code: &CodeRepo, path: &Path) -> Option<String> {
    let real = |path: &Path| dunce::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let (path, root) = (real(path), real(&code.workdir()?));
    let relative = path.strip_prefix(root).ok().filter(|_| !path.starts_with(real(code.common_dir())))?;
    relative.to_str().map(str::to_owned)
}

/// Installs every hook.
///
/// # Errors
/// Returns an error if a hook cannot be written, or git is too old for the request.
pub fn install(ctx: &Ctx, request: Request) -> Result<Answer<HooksAnswer>, OpError> {
    if request.in_config {
        config::require(ctx)?;
    }
    let place = Place::of(ctx)?;
    let off = place.switched_off().filter(|_| !request.in_config);
    let is_off = off.is_some();
    let mut refused: Vec<_> = off.into_iter().collect();
    let mut hooks = Vec::new();
    // Several hooks may be links to one file that distinguishes them by name. That file gets only one block.
    let mut done = BTreeSet::new();
    for hook in &HOOKS {
        let block = place.block(hook, ctx.env.exe());
        let mut changed = false;
        if !hook.optional || request.pre_push {
            if request.in_config {
                changed = config::install(place.code, block, hook.optional)?;
            } else if !is_off && !runs_elsewhere(&state(&place, hook)?) {
                let path = place.folder.join(hook.event);
                let real = dunce::canonicalize(&path).unwrap_or_else(|_| path.clone());
                if done.insert(real) {
                    match install_file(&path, block) {
                        Ok(Ok(written)) => changed = written,
                        Ok(Err(why)) => refused.push(why),
                        Err(error) => refused.push(place.unwritable(error)?),
                    }
                }
            }
        }
        let mut state = state(&place, hook)?;
        state.installed |= request.in_config && (!hook.optional || request.pre_push);
        hooks.push(HookState { changed, ..state });
    }
    refused.dedup();
    refused.extend(place.without_hooks());
    refused.extend(not_executable(&hooks));
    let written = HOOKS.iter().zip(&hooks).filter(|(_, state)| state.changed && state.in_file);
    refused.extend(place.to_commit(ctx, written.map(|(hook, _)| hook))?);
    let answer = place.answer(hooks);
    refused.extend(against_threats(&place, &answer.body.hooks));
    refused.extend(to_join(ctx)?);
    Ok(answer.next_all(refused))
}

/// Writes the block. Returns whether the file changed, or why the block would break it.
fn install_file(path: &Path, block: Block<'_>) -> Result<Result<bool, String>, OpError> {
    let before = HookFile::read(path)?;
    match with_block(path, &before, block) {
        Ok(after) if Some(&*after) == before.text() => Ok(Ok(false)),
        Ok(after) => file::write(path, &after).map(|()| Ok(true)),
        Err(why) => Ok(Err(why)),
    }
}

/// Returns a hook with the block, or why the block would break it and what to do instead.
fn with_block(path: &Path, before: &HookFile, block: Block<'_>) -> Result<String, String> {
    if let Some(problem) = before.problem() {
        let (path, call) = (path.display(), block.call());
        return Err(format!("{path} cannot be edited: {problem}; replace it with a script that calls {call}"));
    }
    block::with(before.text(), block)
}

/// Removes our block from every hook, including hooks that another program moved.
///
/// # Errors
/// Returns an error if a hook cannot be read or written.
pub fn uninstall(ctx: &Ctx) -> Result<Answer<HooksAnswer>, OpError> {
    let place = Place::of(ctx)?;
    uninstall_from(&place, &BTreeSet::from([&place.folder, &place.usual]))
}

/// Removes the hooks that only this repository uses.
///
/// # Errors
/// Returns an error if a hook cannot be read or written.
pub fn uninstall_own(ctx: &Ctx) -> Result<Answer<HooksAnswer>, OpError> {
    let place = Place::of(ctx)?;
    let shared = Some(&place.folder).filter(|_| place.code.shares_hooks());
    let folders = BTreeSet::from([&place.folder, &place.usual]);
    uninstall_from(&place, &folders.into_iter().filter(|folder| Some(*folder) != shared).collect())
}

/// Returns whether hooks are installed in a folder that other repositories use too.
///
/// # Errors
/// Returns an error if a hook cannot be read.
pub fn are_left(ctx: &Ctx) -> Result<bool, OpError> {
    let answer = status(ctx)?.body;
    Ok(answer.is_shared && answer.hooks.iter().any(|hook| hook.in_file))
}

fn uninstall_from(place: &Place<'_>, folders: &BTreeSet<&PathBuf>) -> Result<Answer<HooksAnswer>, OpError> {
    let mut hooks = Vec::new();
    for hook in &HOOKS {
        let mut changed = false;
        for folder in folders {
            for suffix in ["", MOVED_BY_PRE_COMMIT, MOVED_BY_LEFTHOOK] {
                changed |= file::clean(&folder.join(format!("{}{suffix}", hook.event)))?;
            }
        }
        let in_config = config::uninstall(place.code, hook.event)?;
        let mut state = state(place, hook)?;
        // git's configuration was cached when the program started, so the answer is corrected here.
        state.installed &= !in_config;
        let changed = (changed || in_config) && !state.installed;
        hooks.push(HookState { changed, ..state });
    }
    let caller = |hook: &HookState| match hook.note.as_deref()? {
        OWN_LINES => Some(hook.file.clone()),
        note => note.strip_suffix(RUNS_IT).map(|manager| format!("what {manager} runs")),
    };
    let callers: BTreeSet<_> = hooks.iter().filter(|hook| hook.installed && !hook.in_file).filter_map(caller).collect();
    let steps = callers.iter().map(|caller| format!("remove the call to git blue hook from {caller}: you added it"));
    Ok(place.answer(hooks).next_all(steps))
}

/// The suffix after a manager's name in the note on a hook that the manager runs itself.
const RUNS_IT: &str = " runs it";
/// The note on a hook whose own lines call us.
const OWN_LINES: &str = "its own lines call git blue";

/// Returns the state of the hooks.
///
/// # Errors
/// Returns an error if a hook cannot be read.
pub fn status(ctx: &Ctx) -> Result<Answer<HooksAnswer>, OpError> {
    let place = Place::of(ctx)?;
    let hooks: Vec<_> = HOOKS.iter().map(|hook| state(&place, hook)).collect::<Result<_, _>>()?;
    let mut steps = Vec::new();
    match (place.switched_off().or_else(|| place.without_hooks()), to_join(ctx)?) {
        (Some(step), _) => steps.push(step),
        // This installs the hooks too.
        (None, Some(step)) => steps.push(step),
        (None, None) => steps.extend(to_install(ctx, &place, &hooks)?),
    }
    steps.extend(not_executable(&hooks));
    steps.extend(against_threats(&place, &hooks));
    Ok(place.answer(hooks).next_all(steps))
}

/// Returns the step for a clone that has not joined a realm.
fn to_join(ctx: &Ctx) -> Result<Option<String>, OpError> {
    let is_joined = joined::read(&ctx.home, ctx.code()?)?.is_some();
    let step = "git blue init  # this clone has not joined a realm, so its hooks publish nothing";
    Ok((!is_joined).then(|| step.to_owned()))
}

/// Returns the steps that install the missing hooks: the command, and what to do about files that it cannot edit.
fn to_install(ctx: &Ctx, place: &Place<'_>, states: &[HookState]) -> Result<Vec<String>, OpError> {
    let (mut is_possible, mut steps) = (false, Vec::new());
    for (hook, state) in HOOKS.iter().zip(states).filter(|(hook, state)| !state.installed && !hook.optional) {
        let path = Path::new(&state.file);
        match with_block(path, &HookFile::read(path)?, place.block(hook, ctx.env.exe())) {
            Ok(_) => is_possible = true,
            Err(why) => steps.push(why),
        }
    }
    steps.dedup();
    Ok(is_possible.then(|| "git blue hooks install".to_owned()).into_iter().chain(steps).collect())
}

/// Returns the steps for installed hooks that git does not run. Other lines in the file may be disabled on purpose, so
/// installing does not make it executable.
fn not_executable(hooks: &[HookState]) -> Vec<String> {
    let disabled = hooks.iter().filter(|hook| hook.problem.as_deref() == Some(NOT_EXECUTABLE));
    disabled.map(|hook| format!("chmod +x {}  # git runs only executable hooks", shell_word(&hook.file))).collect()
}

/// Returns the steps for blocks that other programs will change, without duplicates.
fn against_threats(place: &Place<'_>, hooks: &[HookState]) -> Vec<String> {
    let in_files = hooks.iter().filter(|hook| hook.installed && hook.note.is_some());
    let steps = in_files.filter_map(|hook| {
        let file = HookFile::read(Path::new(&hook.file)).ok();
        let manager = Manager::of(&place.folder, file.as_ref().and_then(HookFile::text))?;
        manager.threat(&place.top).map(|(_, step)| step)
    });
    let mut steps: Vec<_> = steps.collect();
    steps.dedup();
    steps
}

/// The problem of a hook that is not executable.
const NOT_EXECUTABLE: &str = "git does not run it: it is not executable";
/// The suffix that pre-commit gives to existing hooks, which it still runs.
const MOVED_BY_PRE_COMMIT: &str = ".legacy";
/// The suffix that lefthook gives to existing hooks, which it does not run.
const MOVED_BY_LEFTHOOK: &str = ".old";

/// Returns whether the hook's own file runs us outside of our block. A second block would run us twice.
fn runs_elsewhere(hook: &HookState) -> bool {
    hook.installed && !hook.in_file
}

fn state(place: &Place<'_>, hook: &Hook) -> Result<HookState, OpError> {
    let path = place.folder.join(hook.event);
    let file = HookFile::read(&path)?;
    let text = file.text();
    let found = text.and_then(block::place);
    let others = match (text, found) {
        (Some(text), Some((start, end))) => [&text[..start], &text[end..]].concat(),
        (Some(text), None) => text.to_owned(),
        (None, _) => String::new(),
    };
    let manager = Manager::of(&place.folder, text);
    let mut state = HookState {
        name: hook.event.to_owned(),
        file: path.display().to_string(),
        installed: found.is_some() && !place.is_nowhere,
        in_file: found.is_some(),
        optional: hook.optional,
        has_other_lines: others.lines().any(|line| !line.trim().is_empty() && !line.starts_with("#!")),
        changed: false,
        problem: file.problem().map(str::to_owned),
        note: None,
    };
    let has_block = |path: &Path| {
        HookFile::read(path).is_ok_and(|file| file.text().is_some_and(|text| block::place(text).is_some()))
    };
    let beside = |suffix: &str| place.folder.join(format!("{}{suffix}", hook.event));
    let usual = place.usual.join(hook.event);
    if state.installed {
        if !files::is_executable(&path) {
            state.problem = Some(NOT_EXECUTABLE.into());
        }
        state.note = manager.and_then(|manager| manager.threat(&place.top)).map(|(what, _)| what.to_owned());
    } else if config::is_installed(place.code, hook.event) {
        state.installed = true;
        (state.note, state.problem) = (Some("in git's configuration".into()), None);
    } else if found.is_some() {
        state.problem = Some("git does not run it: core.hooksPath is empty".into());
    } else if !place.is_nowhere && manager::calls_for(&others, hook.event) {
        state.installed = true;
        state.note = Some(OWN_LINES.into());
    } else if let Some(manager) = manager.filter(|manager| manager.runs_us(&place.top, hook.event)) {
        state.installed = true;
        state.note = Some(format!("{}{RUNS_IT}", manager.name()));
    } else if manager == Some(Manager::PreCommit) && has_block(&beside(MOVED_BY_PRE_COMMIT)) {
        state.installed = true;
        state.note = Some(format!("pre-commit runs {}{MOVED_BY_PRE_COMMIT}", hook.event));
    } else if has_block(&beside(MOVED_BY_LEFTHOOK)) {
        state.problem = Some(format!("moved to {}{MOVED_BY_LEFTHOOK}, which is never run", hook.event));
    } else if place.usual != place.folder && has_block(&usual) {
        let switched = "git does not run the git blue block in";
        state.problem = Some(format!("{switched} {}: core.hooksPath points elsewhere", usual.display()));
    }
    if state.installed && place.is_treeless {
        state.problem = Some("git does not run it: the repository is bare".into());
    }
    Ok(state)
}
