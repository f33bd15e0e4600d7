//! Worlds that are filled once, and copied for each test.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::UNIX_EPOCH,
};

use git_blue::model::hash;

/// A filled world, below the target folder. Beside its folder are a lock and, once it is filled, its facts.
pub struct Template {
    folder: PathBuf,
}

/// The facts that complete a copy of a world.
#[derive(serde::Serialize, serde::Deserialize)]
pub struct Facts {
    /// The world's clock.
    pub minutes: i64,
    /// The folder in which it was filled.
    pub root: PathBuf,
    /// The files that mention that folder.
    pub files: Vec<PathBuf>,
}

impl Template {
    /// Returns the template of a name for the binary under test.
    pub fn of(name: &str) -> Self {
        let binary = env!("CARGO_BIN_EXE_git-blue");
        let built = fs::metadata(binary).unwrap().modified().unwrap();
        let built = built.duration_since(UNIX_EPOCH).unwrap().as_nanos().to_string();
        // Tests of a debug build and of a release build may run at once, and remove each only its own earlier worlds.
        let worlds = Path::new(env!("CARGO_TARGET_TMPDIR")).join("worlds").join(hash::short_id(&[binary]));
        Self { folder: worlds.join(built).join(name) }
    }

    /// Fills the template unless a test did. `fill` returns a world's root and clock, and keeps the world until it is
    /// copied. Other tests wait.
    pub fn make<W>(&self, fill: impl FnOnce() -> (W, PathBuf, i64)) {
        let worlds = self.folder.parent().unwrap();
        fs::create_dir_all(worlds).unwrap();
        let lock = fs::File::create(self.folder.with_extension("lock")).unwrap();
        lock.lock().unwrap();
        if self.facts().exists() {
            return;
        }
        // Remove the templates of earlier builds.
        for earlier in fs::read_dir(worlds.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path()) {
            if earlier != worlds {
                let _ = fs::remove_dir_all(earlier);
            }
        }
        let _ = fs::remove_dir_all(&self.folder);
        fs::create_dir(&self.folder).unwrap();
        let (_world, root, minutes) = fill();
        copy(&root, &self.folder);
        let mut files = Vec::new();
        mentioning(root.as_os_str().as_encoded_bytes(), &self.folder, Path::new(""), &mut files);
        fs::write(self.facts(), serde_json::to_vec(&Facts { minutes, root, files }).unwrap()).unwrap();
    }

    /// Copies the world to a folder. Returns the time of its clock.
    pub fn copy_to(&self, root: &Path) -> i64 {
        copy(&self.folder, root);
        let facts: Facts = serde_json::from_slice(&fs::read(self.facts()).unwrap()).unwrap();
        for file in facts.files {
            let text = fs::read_to_string(root.join(&file)).unwrap();
            fs::write(root.join(&file), text.replace(facts.root.to_str().unwrap(), root.to_str().unwrap())).unwrap();
        }
        facts.minutes
    }

    fn facts(&self) -> PathBuf {
        self.folder.with_extension("json")
    }
}

/// Copies the content of a folder, with modes and times.
fn copy(from: &Path, to: &Path) {
    let mut command = Command::new("cp");
    assert!(command.args(["-R", "-p"]).arg(from.join(".")).arg(to).status().unwrap().success());
}

/// Collects the files below a folder that contain some bytes.
fn mentioning(bytes: &[u8], top: &Path, folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(top.join(folder)).unwrap().map(Result::unwrap) {
        let path = folder.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            mentioning(bytes, top, &path, found);
        } else if fs::read(entry.path()).unwrap().windows(bytes.len()).any(|window| window == bytes) {
            found.push(path);
        }
    }
}
