//! `hooks_install`, `hooks_uninstall`, `hooks_status`: our block at the top of the user's hooks.
//! Every line of the user's stays, and uninstalling leaves the file byte for byte as it was.

use std::path::{Path, PathBuf};

use super::{Operation, ctx::Ctx};
use crate::{
    error::OpError,
    wire::{Answer, HookState, HooksAnswer},
};

/// The table's entry for installing.
pub const INSTALL: Operation = Operation::write::<HooksAnswer>(
    "hooks_install",
    &["hooks", "install"],
    "Publish by itself when something is committed",
);
/// The table's entry for uninstalling.
pub const UNINSTALL: Operation = Operation::write::<HooksAnswer>(
    "hooks_uninstall",
    &["hooks", "uninstall"],
    "Take our lines out of the hooks again",
);
/// The table's entry for looking.
pub const STATUS: Operation =
    Operation::read::<HooksAnswer>("hooks_status", &["hooks", "status"], "Show which hooks are in place");

/// The hooks, and what our block does in each.
const HOOKS: &[(&str, &str)] = &[("post-commit", include_str!("../../hooks/post-commit"))];

/// Marks the start of our block. The longer one marks a file that we made.
const BEGIN: &str = "# >>> git blue >>>";
const BEGIN_OWN: &str = "# >>> git blue >>> (made this file)";
/// Marks a block above which we had to end the user's only line.
const BEGIN_LINE: &str = "# >>> git blue >>> (ended the line above)";
const END: &str = "# <<< git blue <<<";

/// Installs every hook.
///
/// # Errors
/// Where a hook is not a shell script, or cannot be written.
pub fn install(ctx: &Ctx) -> Result<Answer<HooksAnswer>, OpError> {
    let folder = folder(ctx)?;
    let mut refused = Vec::new();
    let mut hooks = Vec::new();
    for (name, shim) in HOOKS {
        let path = folder.join(name);
        let before = read(&path)?;
        let outcome = with_block(before.as_deref(), shim, ctx.env.exe());
        let mut changed = false;
        if let Ok(after) = &outcome
            && Some(after) != before.as_ref()
        {
            write(&path, after)?;
            changed = true;
        }
        refused.extend(outcome.err());
        hooks.push(state(name, &path, changed)?);
    }
    let answer = Answer::new(HooksAnswer { folder: folder.display().to_string(), hooks });
    Ok(refused.into_iter().fold(answer, Answer::next))
}

/// Takes our block out of every hook.
///
/// # Errors
/// Where a hook cannot be read or written.
pub fn uninstall(ctx: &Ctx) -> Result<Answer<HooksAnswer>, OpError> {
    let folder = folder(ctx)?;
    let mut hooks = Vec::new();
    for (name, _) in HOOKS {
        let path = folder.join(name);
        let mut changed = false;
        if let Some(before) = read(&path)?
            && let Some((start, end)) = block(&before)
        {
            let was_ours = before[start..end].starts_with(BEGIN_OWN);
            let after = [&before[..start], &before[end..]].concat();
            if was_ours && after == SHEBANG {
                std::fs::remove_file(&path).map_err(OpError::io("remove", &path))?;
            } else {
                write(&path, &after)?;
            }
            changed = true;
        }
        hooks.push(state(name, &path, changed)?);
    }
    Ok(Answer::new(HooksAnswer { folder: folder.display().to_string(), hooks }))
}

/// Tells how the hooks are.
///
/// # Errors
/// Where a hook cannot be read.
pub fn status(ctx: &Ctx) -> Result<Answer<HooksAnswer>, OpError> {
    let folder = folder(ctx)?;
    let hooks: Vec<_> =
        HOOKS.iter().map(|(name, _)| state(name, &folder.join(name), false)).collect::<Result<_, _>>()?;
    let missing = hooks.iter().any(|hook| !hook.installed);
    // Other lines in it may be switched off on purpose, so installing does not do this.
    let switched_off: Vec<_> =
        hooks.iter().filter(|hook| hook.problem.is_some()).map(|hook| hook.file.clone()).collect();
    let mut answer = Answer::new(HooksAnswer { folder: folder.display().to_string(), hooks });
    if missing {
        answer = answer.next("git blue hooks install");
    }
    Ok(switched_off.into_iter().fold(answer, |answer, file| answer.next(format!("chmod +x {file}"))))
}

const SHEBANG: &str = "#!/bin/sh\n";

fn folder(ctx: &Ctx) -> Result<PathBuf, OpError> {
    Ok(ctx.code()?.hooks_folder()?)
}

/// Returns the file with our block below its first line, or why that would break it.
fn with_block(before: Option<&str>, shim: &str, exe: &Path) -> Result<String, String> {
    let exe = exe.display().to_string();
    // Within double quotes the shell reads these itself.
    if exe.contains(['"', '$', '`', '\\', '\n']) {
        return Err(format!("the path {exe} of git-blue cannot be written into a shell script"));
    }
    let block_text = |begin: &str| format!("{begin}\n{}{END}\n", shim.replace("@EXE@", &exe));
    let Some(before) = before else {
        return Ok(format!("{SHEBANG}{}", block_text(BEGIN_OWN)));
    };
    if let Some((start, end)) = block(before) {
        let old = &before[start..end];
        let begin = [BEGIN_OWN, BEGIN_LINE].into_iter().find(|begin| old.trim_start().starts_with(begin));
        let newline = if old.starts_with('\n') { "\n" } else { "" };
        return Ok(format!("{}{newline}{}{}", &before[..start], block_text(begin.unwrap_or(BEGIN)), &before[end..]));
    }
    let first = before.split_inclusive('\n').next().unwrap_or_default();
    let shell = first.starts_with("#!") && first.trim_end().split(['/', ' ']).any(is_shell);
    if !first.starts_with("#!") {
        return Ok(format!("{}{before}", block_text(BEGIN)));
    }
    if !shell {
        let call = format!("{exe} hook post-commit");
        return Err(format!(
            "the hook starts with {:?}, which is no shell; call this from it: {call}",
            first.trim_end()
        ));
    }
    // A first line that does not end would swallow our block.
    if !first.ends_with('\n') {
        return Ok(format!("{first}\n{}", block_text(BEGIN_LINE)));
    }
    Ok(format!("{first}{}{}", block_text(BEGIN), &before[first.len()..]))
}

fn is_shell(word: &str) -> bool {
    matches!(word, "sh" | "bash" | "dash" | "zsh" | "ksh" | "busybox")
}

/// Returns where our block is: from its first to behind its last line, with a line end of ours
/// before it.
fn block(text: &str) -> Option<(usize, usize)> {
    let start = text.find(BEGIN)?;
    let own_line_end = text[start..].starts_with(BEGIN_LINE) && text[..start].ends_with('\n');
    let (from, start) = (start, start - usize::from(own_line_end));
    let end = from + text[from..].find(END)? + END.len();
    let end = if text[end..].starts_with('\n') { end + 1 } else { end };
    Some((start, end))
}

fn state(name: &str, path: &Path, changed: bool) -> Result<HookState, OpError> {
    let text = read(path)?;
    let found = text.as_deref().and_then(block);
    let others = match (&text, found) {
        (Some(text), Some((start, end))) => [&text[..start], &text[end..]].concat(),
        (Some(text), None) => text.clone(),
        (None, _) => String::new(),
    };
    Ok(HookState {
        name: name.to_owned(),
        file: path.display().to_string(),
        installed: found.is_some(),
        has_other_lines: others.lines().any(|line| !line.trim().is_empty() && !line.starts_with("#!")),
        changed,
        problem: found.and(not_executable(path)),
    })
}

fn not_executable(path: &Path) -> Option<String> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = path.metadata().ok()?.permissions().mode();
    (mode & 0o111 == 0).then(|| "git does not run it: it is not executable".to_owned())
}

fn read(path: &Path) -> Result<Option<String>, OpError> {
    match std::fs::read(path) {
        Ok(bytes) => String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| OpError::no("hook-not-text", format!("{} is not text; it was left alone", path.display()))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(OpError::io("read", path)(error)),
    }
}

/// Replaces the file at once, keeping who may run it.
fn write(path: &Path, text: &str) -> Result<(), OpError> {
    use std::{io::Write as _, os::unix::fs::PermissionsExt as _};
    // A hook may be a link into a folder of dotfiles: the file it leads to is the one to change.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().unwrap_or(Path::new("."));
    let failed = |error| OpError::io("write", path)(error);
    std::fs::create_dir_all(folder).map_err(failed)?;
    let mode = path.metadata().map_or(0o755, |meta| meta.permissions().mode());
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    file.as_file().set_permissions(std::fs::Permissions::from_mode(mode)).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn installed(before: Option<&str>) -> String {
        with_block(before, HOOKS[0].1, Path::new("/bin/git-blue")).unwrap()
    }

    #[test]
    fn every_line_of_the_users_stays_and_ours_come_first() {
        for before in
            ["#!/bin/sh\necho mine\nexec other\n", "#!/usr/bin/env bash\n", "#!/bin/sh", "echo no shebang", ""]
        {
            let after = installed(Some(before));
            let (start, end) = block(&after).unwrap();
            assert_eq!([&after[..start], &after[end..]].concat(), before);
            assert!(!after[..start].contains("echo"), "{after}");
            assert_eq!(installed(Some(&after)), after, "installing twice changes nothing");
        }
    }

    #[test]
    fn a_hook_in_another_language_is_left_alone() {
        let refused = with_block(Some("#!/usr/bin/python3\n"), HOOKS[0].1, Path::new("/bin/git-blue"));
        assert!(refused.unwrap_err().contains("no shell"));
    }

    #[test]
    fn a_newer_binary_replaces_its_own_block_alone() {
        let before = installed(Some("#!/bin/sh\necho mine\n"));
        let after = with_block(Some(&before), HOOKS[0].1, Path::new("/opt/git-blue")).unwrap();
        assert!(after.contains("/opt/git-blue") && !after.contains("/bin/git-blue"), "{after}");
        assert!(after.ends_with("echo mine\n"));
    }
}
