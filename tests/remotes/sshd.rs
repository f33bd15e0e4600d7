//! An sshd with its own keys, port and configuration.

use std::{
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use git_blue::{env::Env, testing::sandbox::Sandbox};

pub struct Sshd {
    child: Child,
    pub port: u16,
    pub user: String,
    folder: PathBuf,
}

impl Sshd {
    /// Starts one that serves what the sandbox's user can read.
    pub fn start(sandbox: &Sandbox) -> Self {
        let folder = sandbox.path().join("ssh");
        std::fs::create_dir(&folder).unwrap();
        for key in ["host", "client", "stranger"] {
            let mut keygen = sandbox.command("ssh-keygen", &folder);
            keygen.args(["-q", "-t", "ed25519", "-N", "", "-C", key, "-f", key]);
            assert!(keygen.status().unwrap().success());
        }
        std::fs::copy(folder.join("client.pub"), folder.join("authorized")).unwrap();
        let user = sandbox.command("id", &folder).arg("-un").output().unwrap();
        let user = String::from_utf8(user.stdout).unwrap().trim().to_owned();
        // If another program takes the port first, another port is tried.
        for _ in 0..5 {
            let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
            std::fs::write(folder.join("config"), configuration(sandbox, &folder, port)).unwrap();
            let mut sshd = Self { child: spawn(&folder), port, user: user.clone(), folder: folder.clone() };
            if sshd.is_up() {
                let host = std::fs::read_to_string(folder.join("host.pub")).unwrap();
                std::fs::write(folder.join("known"), format!("[127.0.0.1]:{port} {host}")).unwrap();
                return sshd;
            }
        }
        panic!("sshd does not start: {}", std::fs::read_to_string(folder.join("log")).unwrap());
    }

    /// Starts it again on its port, after it was stopped.
    pub fn start_again(&mut self) {
        self.child = spawn(&self.folder);
        assert!(self.is_up(), "{}", std::fs::read_to_string(self.folder.join("log")).unwrap());
    }

    fn is_up(&mut self) -> bool {
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(20) {
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return true;
            }
            if self.child.try_wait().unwrap().is_some() {
                return false;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }

    /// Returns an ssh command with one of the user's keys.
    pub fn client(&self, key: &str) -> String {
        let folder = self.folder.display();
        format!(
            "ssh -F /dev/null -p {} -i {folder}/{key} -o IdentitiesOnly=yes -o UserKnownHostsFile={folder}/known \
             -o GlobalKnownHostsFile=/dev/null",
            self.port
        )
    }

    /// Removes the host from the known hosts.
    pub fn forget_host(&self) {
        std::fs::write(self.folder.join("known"), "").unwrap();
    }

    pub fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Starts sshd with the configuration of a folder.
fn spawn(folder: &Path) -> Child {
    let log = std::fs::File::create(folder.join("log")).unwrap();
    let mut command = Command::new("/usr/sbin/sshd");
    command.args(["-D", "-e", "-f"]).arg(folder.join("config"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap()
}

fn configuration(sandbox: &Sandbox, folder: &Path, port: u16) -> String {
    let (folder, vars) = (folder.display(), sandbox.vars());
    let path = Env::from_process().unwrap().text("PATH").unwrap_or_default().to_owned();
    let config = vars[std::ffi::OsStr::new("GIT_CONFIG_GLOBAL")].display();
    format!(
        "ListenAddress 127.0.0.1\nPort {port}\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/authorized\n\
         PidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n\
         PermitRootLogin prohibit-password\nX11Forwarding no\n\
         SetEnv PATH={path} GIT_CONFIG_GLOBAL={config} GIT_CONFIG_NOSYSTEM=1 LC_ALL=C\n"
    )
}
