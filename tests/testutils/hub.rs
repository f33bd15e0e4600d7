//! A realm at a remote that can be tampered with.

use std::path::PathBuf;

use crate::world::World;

pub struct Hub {
    pub world: World,
    pub path: PathBuf,
}

impl Hub {
    /// Shares the realm of a world at a hub.
    pub fn share(world: World) -> Self {
        world.hub();
        let path = world.path("hub.git");
        world.ok(&world.path("fungal"), &["init", "--url", path.to_str().unwrap()]);
        Self { world, path }
    }

    /// Runs git in the hub, and returns the first line of its output.
    pub fn git(&self, args: &[&str]) -> String {
        self.world.line(&self.path, args)
    }

    pub fn object(&self, kind: &str, bytes: &[u8]) -> String {
        std::fs::write(self.world.path("object"), bytes).unwrap();
        let file = self.world.path("object").display().to_string();
        self.git(&["hash-object", "-t", kind, "-w", "--literally", &file])
    }

    /// Creates a tree from lines in the format of `git ls-tree`.
    pub fn tree(&self, lines: &str) -> String {
        self.world.feed("git", &self.path, &["mktree", "--missing", "-z"], lines).stdout.trim().to_owned()
    }

    /// Creates a tree with an entry that git would not create.
    pub fn raw_tree(&self, mode: &str, name: &[u8]) -> String {
        let blob = self.object("blob", b"{}");
        let id: Vec<u8> = (0..20).map(|at| u8::from_str_radix(&blob[2 * at..2 * at + 2], 16).unwrap()).collect();
        self.object("tree", &[mode.as_bytes(), b" ", name, b"\0", &id].concat())
    }

    /// Sets a ref to a commit with this tree.
    pub fn commit(&self, name: &str, tree: &str) {
        let commit = self.git(&["commit-tree", "-p", name, "-m", "hostile\u{1b}[2J", tree]);
        self.git(&["update-ref", name, &commit]);
    }
}
