//! Running the binary under strace, and parsing the trace.

use std::{path::Path, process::Output};

use git_blue::testing::sandbox::Sandbox;

/// The system calls that change files, or open files to change them.
const WRITING: &str = "openat,creat,write,pwrite64,writev,rename,renameat,renameat2,link,linkat,symlink,\
                       symlinkat,unlink,unlinkat,mkdir,mkdirat,rmdir,fsync,fdatasync,truncate,ftruncate,flock,\
                       chmod,fchmod,fchmodat,copy_file_range,sendfile";

/// A system call in a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The name of the call.
    pub name: String,
    /// The number of the call among those of its name in the process, from 1, as strace counts.
    pub number: usize,
    /// Its arguments and result, as strace prints them.
    pub text: String,
}

impl Call {
    /// Returns whether it opens a file only for reading.
    pub fn only_reads(&self) -> bool {
        self.name == "openat" && !["O_CREAT", "O_WRONLY", "O_RDWR"].iter().any(|flag| self.text.contains(flag))
    }

    /// Returns whether it succeeded.
    pub fn succeeded(&self) -> bool {
        !self.text.contains(" = -1 ")
    }

    /// Returns the paths in its arguments, in order, both quoted and from descriptors.
    pub fn paths(&self) -> Vec<&str> {
        let quoted = self.text.split('"').skip(1).step_by(2);
        let held = self.text.split('<').skip(1).filter_map(|rest| rest.split('>').next());
        quoted.chain(held).filter(|path| path.starts_with('/')).collect()
    }
}

/// Runs the binary in `folder`; `inject` is the fault that strace injects.
///
/// Only its main thread is traced, which does all writing and part of the flushing: processes of git that it runs are
/// not included.
pub fn run(sandbox: &Sandbox, folder: &Path, arguments: &[&str], inject: Option<&str>) -> (Output, Vec<Call>) {
    let inject = inject.map(|inject| format!("inject={inject}"));
    let options: Vec<_> = inject.iter().flat_map(|inject| ["-e", inject]).collect();
    let (output, log) = strace(sandbox, folder, arguments, &options);
    (output, calls(&log))
}

/// Runs the binary in `folder`, and returns the calls of all its threads in order.
pub fn of_all_threads(sandbox: &Sandbox, folder: &Path, arguments: &[&str]) -> (Output, Vec<Call>) {
    let (output, log) = strace(sandbox, folder, arguments, &["--follow-forks"]);
    (output, calls(&joined(&log)))
}

fn strace(sandbox: &Sandbox, folder: &Path, arguments: &[&str], options: &[&str]) -> (Output, String) {
    let log = sandbox.path().join("trace");
    let mut command = sandbox.command("strace", folder);
    command.args(["-y", "-s", "0", "-e", "signal=none", "-o"]).arg(&log).args(["-e", &format!("trace={WRITING}")]);
    command.args(options).arg(env!("CARGO_BIN_EXE_git-blue")).args(arguments);
    let output = command.output().expect("strace is installed: apt-get install strace");
    (output, String::from_utf8_lossy(&std::fs::read(&log).unwrap()).into_owned())
}

/// Merges the logs of several threads: an interrupted call is placed at its end.
fn joined(log: &str) -> String {
    let mut begun = std::collections::BTreeMap::new();
    let mut joined = String::new();
    for (thread, line) in log.lines().filter_map(|line| line.split_once(' ')) {
        let line = line.trim_start();
        if let Some(start) = line.strip_suffix(" <unfinished ...>") {
            begun.insert(thread, start);
        } else if let Some((_, end)) = line.split_once(" resumed>") {
            joined += &format!("{}{end}\n", begun.remove(thread).unwrap_or_default());
        } else {
            joined += &format!("{line}\n");
        }
    }
    joined
}

fn calls(log: &str) -> Vec<Call> {
    let mut found: Vec<Call> = Vec::new();
    for line in log.lines() {
        let Some((name, text)) = line.split_once('(').filter(|(name, _)| !name.contains(' ')) else { continue };
        let number = found.iter().filter(|call| call.name == name).count() + 1;
        found.push(Call { name: name.to_owned(), number, text: text.to_owned() });
    }
    found
}

#[test]
fn parses_a_trace() {
    let log = "openat(AT_FDCWD</w>, \"/w/a\", O_RDONLY) = 3</w/a>\n\
               openat(AT_FDCWD</w>, \"/w/b\", O_RDWR|O_CREAT, 0666) = -1 EACCES (Permission denied) (INJECTED)\n\
               +++ exited with 0 +++\n";
    let calls = calls(log);
    assert_eq!(calls.iter().map(|call| call.number).collect::<Vec<_>>(), [1, 2]);
    assert!(calls[0].only_reads() && calls[0].succeeded() && !calls[1].only_reads() && !calls[1].succeeded());
    assert_eq!(calls[0].paths(), ["/w/a", "/w", "/w/a"]);
}

#[test]
fn parses_a_trace_of_threads() {
    let log = "12 fsync(5</w/a> <unfinished ...>\n\
               13 rename(\"/w/b\", \"/w/c\") = 0\n\
               12 <... fsync resumed>)          = 0\n\
               13 +++ exited with 0 +++\n";
    let calls = calls(&joined(log));
    assert_eq!(calls.iter().map(|call| &*call.name).collect::<Vec<_>>(), ["rename", "fsync"]);
    assert_eq!(calls[1].paths(), ["/w/a"]);
}
