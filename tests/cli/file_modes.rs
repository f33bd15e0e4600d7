//! Commands that file modes bind, even if the tests run as root.

use std::{os::unix::fs::MetadataExt as _, path::Path};

use crate::world::{Run, World};

/// With these capabilities, root may read everything.
const OVERRIDES: &str = "-dac_override,-dac_read_search";

/// Runs `git blue` without the right to read everything.
pub fn blue_bound_by_modes(world: &World, dir: &Path, args: &[&str]) -> Run {
    if world.root().metadata().unwrap().uid() != 0 {
        return world.blue(dir, args);
    }
    let mut command = world.command("setpriv", dir);
    command.args(["--bounding-set", OVERRIDES, "--inh-caps", OVERRIDES, "git", "blue"]).args(args);
    world.finish(command, "git blue")
}
