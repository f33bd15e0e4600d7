//! Our block in a hook file: at the top, between two markers. The user's own lines are kept unchanged.

use std::path::Path;

use crate::platform::paths;

/// The first line of a hook file that we create.
pub const SHEBANG: &str = "#!/bin/sh\n";
/// Marks the start of our block. The longer marker denotes a file that we created.
const BEGIN: &str = "# >>> git blue >>>";
const BEGIN_OWN: &str = "# >>> git blue >>> (made this file)";
/// Marks a block for which we had to end the user's only line.
const BEGIN_LINE: &str = "# >>> git blue >>> (ended the line above)";
const END: &str = "# <<< git blue <<<";
/// The binary in a tracked file, within double quotes.
const IN_PATH: &str = "$(command -v git-blue)";

/// The parts of a block.
#[derive(Debug, Clone, Copy)]
pub struct Block<'a> {
    /// The shell lines, with the placeholders `@EXE@` and `@EVENT@`.
    pub shim: &'a str,
    /// The hook, as git names it.
    pub event: &'a str,
    /// The path of the `git-blue` binary.
    pub exe: &'a Path,
    /// Whether git tracks the file. Then it must not contain the path, which is only valid on this machine.
    pub is_tracked: bool,
}

impl Block<'_> {
    /// Returns the path of the binary for use within double quotes in a shell.
    ///
    /// # Errors
    /// Returns an error if the shell would interpret a character of the path.
    pub fn quotable(exe: &Path) -> Result<String, String> {
        let exe = paths::in_shell(exe);
        if exe.contains(['"', '$', '`', '\\', '\n']) {
            return Err(format!("the path {exe} of git-blue cannot be written into a shell script"));
        }
        Ok(exe)
    }

    /// Returns the command that the block runs.
    pub fn call(&self) -> String {
        let exe = if self.is_tracked { "git-blue".to_owned() } else { paths::in_shell(self.exe) };
        format!("{exe} hook {}", self.event)
    }

    fn text(&self, begin: &str) -> Result<String, String> {
        let exe = if self.is_tracked { IN_PATH.to_owned() } else { Self::quotable(self.exe)? };
        Ok(format!("{begin}\n{}{END}\n", self.shim.replace("@EXE@", &exe).replace("@EVENT@", self.event)))
    }
}

/// Returns the file with our block below its first line.
///
/// # Errors
/// Returns the reason, as text for users, if the block cannot be added.
pub fn with(before: Option<&str>, block: Block<'_>) -> Result<String, String> {
    let Some(before) = before else {
        return Ok(format!("{SHEBANG}{}", block.text(BEGIN_OWN)?));
    };
    if let Some((start, end)) = place(before) {
        let old = &before[start..end];
        let begin = [BEGIN_OWN, BEGIN_LINE].into_iter().find(|begin| old.trim_start().starts_with(begin));
        let newline = if old.starts_with('\n') { "\n" } else { "" };
        let text = block.text(begin.unwrap_or(BEGIN))?;
        return Ok(format!("{}{newline}{text}{}", &before[..start], &before[end..]));
    }
    let first = before.split_inclusive('\n').next().unwrap_or_default();
    let shell = first.starts_with("#!") && first.trim_end().split(['/', ' ']).any(is_shell);
    if !first.starts_with("#!") {
        return Ok(format!("{}{before}", block.text(BEGIN)?));
    }
    if !shell {
        let first = first.trim_end();
        let call = block.call();
        let event = block.event;
        return Err(format!("{event} starts with {first:?}, which is not a shell; call this from it: {call}"));
    }
    // If the first line has no line end, our block would become part of it.
    if !first.ends_with('\n') {
        return Ok(format!("{first}\n{}", block.text(BEGIN_LINE)?));
    }
    Ok(format!("{first}{}{}", block.text(BEGIN)?, &before[first.len()..]))
}

fn is_shell(word: &str) -> bool {
    matches!(word, "sh" | "bash" | "dash" | "zsh" | "ksh" | "busybox")
}

/// A hook file without our block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remainder {
    /// The file has no block of ours.
    Unchanged,
    /// The user's own lines.
    Text(String),
    /// Nothing is left, because we created the file.
    Nothing,
}

/// Returns the file without our block.
pub fn without(text: &str) -> Remainder {
    let Some((start, end)) = place(text) else {
        return Remainder::Unchanged;
    };
    let rest = [&text[..start], &text[end..]].concat();
    let was_ours = text[start..end].starts_with(BEGIN_OWN);
    if was_ours && rest == SHEBANG { Remainder::Nothing } else { Remainder::Text(rest) }
}

/// Returns the byte range of our block's lines, including the line end that we added before it, if any.
pub fn place(text: &str) -> Option<(usize, usize)> {
    let start = text.find(BEGIN)?;
    let own_line_end = text[start..].starts_with(BEGIN_LINE) && text[..start].ends_with('\n');
    let (from, start) = (start, start - usize::from(own_line_end));
    let end = from + text[from..].find(END)? + END.len();
    let end = if text[end..].starts_with('\n') { end + 1 } else { end };
    Some((start, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(exe: &str) -> Block<'_> {
        Block { shim: "\"@EXE@\" hook @EVENT@\n", event: "post-merge", exe: Path::new(exe), is_tracked: false }
    }

    fn installed(before: Option<&str>) -> String {
        with(before, of("/bin/git-blue")).unwrap()
    }

    #[test]
    fn user_lines_are_kept_and_our_block_comes_first() {
        for before in
            ["#!/bin/sh\necho mine\nexec other\n", "#!/usr/bin/env bash\n", "#!/bin/sh", "echo no shebang", ""]
        {
            let after = installed(Some(before));
            let (start, end) = place(&after).unwrap();
            assert_eq!([&after[..start], &after[end..]].concat(), before);
            assert_eq!(without(&after), Remainder::Text(before.to_owned()));
            assert!(!after[..start].contains("echo"), "{after}");
            assert_eq!(installed(Some(&after)), after, "installing twice changes nothing");
        }
        assert_eq!(without("echo mine"), Remainder::Unchanged);
        assert_eq!(without(&installed(None)), Remainder::Nothing);
        // The user added lines to the file that we created.
        let added = installed(None) + "echo mine\n";
        assert_eq!(without(&added), Remainder::Text("#!/bin/sh\necho mine\n".to_owned()));
    }

    #[test]
    fn a_hook_in_another_language_is_left_alone() {
        let refused = with(Some("#!/usr/bin/python3\n"), of("/bin/git-blue")).unwrap_err();
        assert!(refused.contains("not a shell") && refused.ends_with("/bin/git-blue hook post-merge"), "{refused}");
        assert!(with(None, of("/bin/$(rm)/git-blue")).unwrap_err().contains("shell script"));
    }

    #[test]
    fn a_tracked_file_has_no_path_of_this_machine() {
        let tracked = Block { is_tracked: true, ..of("/home/ada/bin/git-blue") };
        let text = with(None, tracked).unwrap();
        assert!(text.contains("\n\"$(command -v git-blue)\" hook post-merge\n"), "{text}");
        assert_eq!(tracked.call(), "git-blue hook post-merge");
    }

    #[test]
    fn a_newer_binary_replaces_only_its_own_block() {
        let before = installed(Some("#!/bin/sh\necho mine\n"));
        let after = with(Some(&before), of("/opt/git-blue")).unwrap();
        assert!(after.contains("/opt/git-blue") && !after.contains("/bin/git-blue"), "{after}");
        assert!(after.ends_with("echo mine\n"));
    }
}
