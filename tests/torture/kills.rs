//! Processes killed at any time: the next command works, and each write is done or not done.

use std::{
    io::{Read as _, Seek as _},
    os::unix::process::ExitStatusExt as _,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use super::{World, scale, text};

/// Pseudo-random numbers, the same in each run. Their quality does not matter.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// Runs a command and kills it after a while, unless it ends first, which must be a success. Returns whether it was
/// killed.
pub fn kill_after(mut command: Command, after: Duration) -> bool {
    // A file: processes that it started may outlive it, and would keep a pipe open.
    let mut said = tempfile::tempfile().unwrap();
    let mut child = command.stdout(Stdio::null()).stderr(said.try_clone().unwrap()).spawn().unwrap();
    thread::sleep(after);
    let _ = child.kill();
    let status = child.wait().unwrap();
    if status.signal() == Some(9) {
        return true;
    }
    let mut text = String::new();
    said.rewind().unwrap();
    said.read_to_string(&mut text).unwrap();
    assert!(status.success(), "{command:?}: {status}: {text}");
    false
}

impl World {
    fn kill(&self, args: &[&str], after: Duration) -> bool {
        kill_after(self.command(args), after)
    }

    fn version(&self) -> String {
        let json = self.blue(&["contract", "get", "s3/paths", "--json"]);
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        text(&json["contract"]["version"]).to_owned()
    }

    /// Returns the number of open sessions.
    fn sessions(&self) -> serde_json::Value {
        let json: serde_json::Value = serde_json::from_str(&self.blue(&["session", "list", "--json"])).unwrap();
        json["total"].clone()
    }

    fn commit_version(&self, number: usize) -> String {
        let version = format!("1.{number}.0");
        let file = self.code().join(".blue/contracts/s3/paths.yaml");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let contract = format!("name: paths\nversion: \"{version}\"\nowner: aperture\nvalues: free\nvalue: {number}\n");
        std::fs::write(&file, contract).unwrap();
        self.sandbox.git(&self.code(), &["add", "."]);
        self.sandbox.git(&self.code(), &["commit", "-q", "-m", &version]);
        version
    }
}

#[test]
fn killed_process_leaves_nothing_to_repair() {
    let wanted = scale(20, 200);
    let world = World::new(&["s3".into()]);
    let mut random = Random(7);
    let mut published = world.commit_version(0);
    world.blue(&["contract", "publish"]);
    let mut killed = 0;
    let mut rounds = 0;
    while killed < wanted {
        rounds += 1;
        let round = rounds;
        assert!(round <= 10 * wanted, "hardly a process is slow enough to be killed");
        let after = Duration::from_micros(random.below(45_000));
        killed += usize::from(match round % 6 {
            0 => {
                let next = world.commit_version(round);
                let was_killed = world.kill(&["contract", "publish"], after);
                let found = world.version();
                assert!(found == published || found == next, "{found} is neither {published} nor {next}");
                // Repeating the command completes it.
                world.blue(&["contract", "publish"]);
                assert_eq!(world.version(), next);
                published = next;
                was_killed
            }
            1 => {
                let name = format!("c-{round}");
                let args = ["realm", "admin", "contract", "--domain", "s3", "--name", &name, "--owner", "aperture"];
                let was_killed = world.kill(&args, after);
                let again = world.try_blue(&args);
                assert!(matches!(again.status.code(), Some(0 | 1)), "{again:?}");
                assert!(world.contracts().contains(&format!("s3/{name} 0.1.0")));
                was_killed
            }
            2 => {
                let was_killed = world.kill(&["status"], after);
                world.blue(&["status"]);
                was_killed
            }
            3 => {
                let was_killed = world.kill(&["session", "start"], after);
                world.blue(&["session", "start"]);
                assert_eq!(world.sessions(), 1, "there is none that nothing leads to");
                was_killed
            }
            4 => {
                let was_killed = world.kill(&["session", "stop"], after);
                let again = world.try_blue(&["session", "stop"]);
                assert!(matches!(again.status.code(), Some(0 | 1)), "{again:?}");
                assert_eq!(world.sessions(), 0);
                was_killed
            }
            _ => {
                let was_killed = world.kill(&["gc"], after);
                world.blue(&["contract", "get", "s3/paths"]);
                was_killed
            }
        });
        if round % 20 == 0 {
            world.fsck();
        }
    }
    world.blue(&["gc"]);
    world.fsck();
    println!("{killed} of {rounds} processes were killed");
}
