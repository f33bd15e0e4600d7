//! Short and interrupted writes. strace can report them but not make them, so a small preloaded library does.

use std::path::PathBuf;

use crate::world::World;

/// The commands that are tried, each in its repository.
const COMMANDS: &[(&str, &[&str])] = &[
    ("aperture", &["contract", "publish"]),
    ("aperture", &["realm", "admin", "domain", "--name", "new", "--repos", "aperture,fungal"]),
    ("fungal", &["notifications", "ack", "--all"]),
    ("joiner", &["init", "--realm", "new"]),
];

fn shim(world: &World) -> PathBuf {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/short_writes.c");
    let library = world.sandbox.path().join("short_writes.so");
    let mut compiler = world.sandbox.command("cc", &world.sandbox.path());
    let output = compiler.args(["-shared", "-fPIC", "-o"]).arg(&library).args([source, "-ldl"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    library
}

#[test]
fn short_and_interrupted_writes_change_nothing() {
    let mut world = World::new();
    let library = shim(&world);
    for (repo, arguments) in COMMANDS {
        world.reset();
        let output = world.try_blue(repo, arguments);
        assert!(output.status.success(), "{output:?}");
        let (state, said) = (world.state(), output.stdout);
        world.reset();
        world.sandbox.set("LD_PRELOAD", &library);
        let output = world.try_blue(repo, arguments);
        world.sandbox.set("LD_PRELOAD", "");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        assert_eq!(world.state(), state, "{arguments:?}");
        assert_eq!(output.stdout, said, "{arguments:?}");
        world.assert_clean("after short writes");
    }
}
