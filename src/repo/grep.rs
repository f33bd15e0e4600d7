//! Searches the tracked text files of a repository for words, using git and within a time limit.

use std::{
    io::Read as _,
    process::{ChildStdout, Stdio},
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use super::CodeRepo;
use crate::store::StoreError;

/// The maximum number of bytes of git's output that are read.
const MAX_OUTPUT: u64 = 1 << 20;
/// The interval at which cancellation is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// The length limit of a line, in characters.
const MAX_LINE: usize = 120;
/// Folders and files with vendored or generated content.
const VENDORED: &[&str] = &[
    "**/vendor/**",
    "**/third_party/**",
    "**/node_modules/**",
    "**/.venv/**",
    "**/*.min.js",
    "**/*.lock",
    "**/package-lock.json",
    ".blue/**",
];

/// A line that contains at least one of the words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepMatch {
    /// The file, relative to the root of the repository.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The line without surrounding white space, truncated if it is long.
    pub text: String,
    /// The indexes of the words that it contains.
    pub words: Vec<usize>,
}

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchResult {
    /// The lines, in git's order of files.
    pub places: Vec<GrepMatch>,
    /// Whether these are all lines, because neither the time nor the output limit was reached.
    pub is_whole: bool,
    /// Whether git skipped files that it could not read, such as those that a partial clone lacks.
    pub lacks_files: bool,
}

/// The files to search.
#[derive(Debug, Clone, Copy)]
pub enum SearchScope<'a> {
    /// Only these files and folders, including vendored ones.
    Only(&'a [&'a str]),
    /// All files and folders except these and vendored ones.
    Except(&'a [&'a str]),
}

impl CodeRepo {
    /// Finds whole words in tracked files of the working tree, or of HEAD in a bare repository. Binary files are
    /// skipped, and nothing is fetched. The search takes at most `time`, and ends once `cancelled` is set.
    ///
    /// # Errors
    /// Returns an error if git cannot search.
    pub fn grep(
        &self,
        words: &[&str],
        within: SearchScope<'_>,
        time: Duration,
        cancelled: &AtomicBool,
    ) -> Result<SearchResult, StoreError> {
        if matches!(within, SearchScope::Only([])) || words.is_empty() {
            return Ok(SearchResult { is_whole: true, ..SearchResult::default() });
        }
        let failed = |error| StoreError::git("run git grep")(error);
        let mut command = self.git.command(&["-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "grep"]);
        command.args(["-z", "-n", "-w", "-I", "-F", "--no-color", "--no-column", "--no-recurse-submodules"]);
        command.args(words.iter().flat_map(|word| ["-e", word]));
        if self.workdir.is_none() {
            command.arg("HEAD");
        }
        command.arg("--").args(self.pathspecs(within)).env("GIT_NO_LAZY_FETCH", "1");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(failed)?;
        let errors = child.stderr.take();
        // git goes on if it cannot read a file, and its exit code does not say so.
        let errors =
            std::thread::spawn(move || errors.map(|mut errors| std::io::copy(&mut errors, &mut std::io::sink())));
        let (send, receive) = mpsc::channel();
        let stdout = child.stdout.take();
        let reader = std::thread::spawn(move || drop(send.send(read(stdout))));
        let (mut output, is_in_time) = match received(&receive, time, cancelled) {
            Ok(output) => (output, true),
            Err(RecvTimeoutError::Timeout) => {
                // The output up to this point is used.
                let _ = child.kill();
                (receive.recv().unwrap_or_default(), false)
            }
            Err(RecvTimeoutError::Disconnected) => (Vec::new(), false),
        };
        let _ = reader.join();
        let is_short = (output.len() as u64) < MAX_OUTPUT;
        if !is_short {
            let _ = child.kill();
        }
        let status = child.wait().map_err(failed)?;
        let is_whole = is_in_time && is_short;
        if is_whole && !matches!(status.code(), Some(0 | 1)) {
            return Err(StoreError::Git { doing: "run git grep".into(), problem: status.to_string() });
        }
        if !is_whole {
            let end = output.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            output.truncate(end);
        }
        let lacks_files = matches!(errors.join(), Ok(Some(Ok(1..))));
        Ok(SearchResult { places: places(&output, words, self.workdir.is_none()), is_whole, lacks_files })
    }

    fn pathspecs(&self, within: SearchScope<'_>) -> Vec<String> {
        match within {
            SearchScope::Only(paths) => paths.iter().map(|path| format!(":(top,literal){path}")).collect(),
            SearchScope::Except(paths) => {
                let all = [":(top)*".to_owned()].into_iter();
                let own = paths.iter().map(|path| format!(":(top,literal,exclude){path}"));
                let vendored = VENDORED.iter().map(|glob| format!(":(top,glob,exclude){glob}"));
                // Older versions of git do not support attributes in a search of a commit.
                let words = ["linguist-vendored", "linguist-generated"].iter().filter(|_| self.workdir.is_some());
                let attributes = words.map(|word| format!(":(top,attr:{word},exclude)*"));
                all.chain(own).chain(vendored).chain(attributes).collect()
            }
        }
    }
}

/// Waits for a value, until the time limit or cancellation.
fn received<T>(from: &Receiver<T>, time: Duration, cancelled: &AtomicBool) -> Result<T, RecvTimeoutError> {
    let end = Instant::now() + time;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        match from.recv_timeout(left.min(POLL_INTERVAL)) {
            Err(RecvTimeoutError::Timeout) if !left.is_zero() && !cancelled.load(Ordering::Relaxed) => {}
            ended => return ended,
        }
    }
}

fn read(stdout: Option<ChildStdout>) -> Vec<u8> {
    let mut output = Vec::new();
    if let Some(stdout) = stdout {
        // The data read before an error is used.
        let _ = stdout.take(MAX_OUTPUT).read_to_end(&mut output);
    }
    output
}

/// Parses lines of the form `file NUL line NUL text LF`.
fn places(output: &[u8], words: &[&str], is_bare: bool) -> Vec<GrepMatch> {
    let mut found = Vec::new();
    let mut rest = output;
    while let Some((file, after)) = split(rest, 0) {
        let Some((number, after)) = split(after, 0) else { break };
        let (text, after) = split(after, b'\n').unwrap_or((after, &[]));
        rest = after;
        let (file, text) = (String::from_utf8_lossy(file), String::from_utf8_lossy(text));
        let line = String::from_utf8_lossy(number).parse().unwrap_or_default();
        let has = |word: &&str| has_word(&text, word);
        let words: Vec<_> = words.iter().enumerate().filter(|(_, word)| has(word)).map(|(index, _)| index).collect();
        let file = if is_bare { file.strip_prefix("HEAD:").unwrap_or(&file) } else { &file };
        found.push(GrepMatch {
            file: file.to_owned(),
            line,
            text: text.trim().chars().take(MAX_LINE).collect(),
            words,
        });
    }
    found
}

fn split(bytes: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|byte| *byte == at)?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

/// Returns whether a line contains a word that is not part of a longer one.
fn has_word(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back().is_some_and(is_part);
        let after = line[at + word.len()..].chars().next().is_some_and(is_part);
        !before && !after
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_of_git_is_parsed() {
        let output = b"a b.py\x003\0  x = read[\"wr\xffite\"]\nc.py\x0010\0reader";
        let found = places(output, &["read", "write"], false);
        assert_eq!((found[0].file.as_str(), found[0].line, &found[0].words[..]), ("a b.py", 3, &[0][..]));
        assert!(found[0].text.starts_with("x = read["));
        assert_eq!((found[1].line, &found[1].words[..]), (10, &[][..]));
        assert!(places(b"", &["x"], false).is_empty());
    }

    #[test]
    fn only_whole_words_match() {
        for (line, expected) in
            [("read", true), ("x.read()", true), ("reader", false), ("_read", false), ("éread", false), ("", false)]
        {
            assert_eq!(has_word(line, "read"), expected, "{line}");
        }
    }
}
