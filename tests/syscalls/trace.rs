//! Running the binary under strace, and reading what that recorded.

use std::{path::Path, process::Output};

use git_blue::testing::sandbox::Sandbox;

/// The system calls by which a process can change a file, or open one to change it.
const WRITING: &str = "openat,creat,write,pwrite64,writev,rename,renameat,renameat2,link,linkat,symlink,\
                       symlinkat,unlink,unlinkat,mkdir,mkdirat,rmdir,fsync,fdatasync,truncate,ftruncate,flock,\
                       chmod,fchmod,fchmodat,copy_file_range,sendfile";

/// One system call of a recorded trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// Its name.
    pub name: String,
    /// Which of the process's calls of that name it is, from 1: what strace counts by.
    pub number: usize,
    /// Its arguments and result, as strace writes them.
    pub text: String,
}

impl Call {
    /// Whether it opens something only to read it.
    pub fn only_reads(&self) -> bool {
        self.name == "openat" && !["O_CREAT", "O_WRONLY", "O_RDWR"].iter().any(|flag| self.text.contains(flag))
    }

    /// Whether it did what it was called for.
    pub fn succeeded(&self) -> bool {
        !self.text.contains(" = -1 ")
    }

    /// Returns the paths that it names, in the order of its arguments, quotes and descriptors' both.
    pub fn paths(&self) -> Vec<&str> {
        let quoted = self.text.split('"').skip(1).step_by(2);
        let held = self.text.split('<').skip(1).filter_map(|rest| rest.split('>').next());
        quoted.chain(held).filter(|path| path.starts_with('/')).collect()
    }
}

/// Runs the binary in `folder`; `inject` is what strace does to it.
///
/// Only its own first thread is watched, which does all its writing: what git reads for it, in
/// processes of its own, is not ours to break.
pub fn run(sandbox: &Sandbox, folder: &Path, arguments: &[&str], inject: Option<&str>) -> (Output, Vec<Call>) {
    let log = sandbox.path().join("trace");
    let mut command = sandbox.command("strace", folder);
    command.args(["-y", "-s", "0", "-e", "signal=none", "-o"]).arg(&log).args(["-e", &format!("trace={WRITING}")]);
    if let Some(inject) = inject {
        command.args(["-e", &format!("inject={inject}")]);
    }
    command.arg(env!("CARGO_BIN_EXE_git-blue")).args(arguments);
    let output = command.output().expect("strace is installed: apt-get install strace");
    let text = std::fs::read(&log).unwrap();
    (output, calls(&String::from_utf8_lossy(&text)))
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
fn a_trace_is_read() {
    let log = "openat(AT_FDCWD</w>, \"/w/a\", O_RDONLY) = 3</w/a>\n\
               openat(AT_FDCWD</w>, \"/w/b\", O_RDWR|O_CREAT, 0666) = -1 EACCES (Permission denied) (INJECTED)\n\
               +++ exited with 0 +++\n";
    let calls = calls(log);
    assert_eq!(calls.iter().map(|call| call.number).collect::<Vec<_>>(), [1, 2]);
    assert!(calls[0].only_reads() && calls[0].succeeded() && !calls[1].only_reads() && !calls[1].succeeded());
    assert_eq!(calls[0].paths(), ["/w/a", "/w", "/w/a"]);
}
