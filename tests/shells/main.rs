//! What the program installs, in the programs that read it: completions in real shells, pages in a
//! real man, graphs in Graphviz.
//!
//! Behind the feature `peers`, because it needs zsh, fish, man, mandoc and dot: `make test-peers`.

mod drawing;
mod fish;
mod pages;
#[path = "../scripted/mod.rs"]
mod scripted;
mod zsh;

use scripted::Scripted;

/// A realm with two domains, everything installed below `prefix` as `make install` does it.
fn installed() -> Scripted {
    let place = Scripted::realm();
    // The build is stood in for: the Makefile takes the binary under test for the one it made.
    let (code, output) = place.shell(&format!(
        "set -e
        mkdir -p target/release
        ln -s '{}' target/release/git-blue
        CARGO_TARGET_DIR=$PWD/target make -C '{}' --no-print-directory install CARGO=true PREFIX=\"$PWD/prefix\"
        git blue -C aperture realm admin domain --name other --repos aperture",
        env!("CARGO_BIN_EXE_git-blue"),
        env!("CARGO_MANIFEST_DIR"),
    ));
    assert_eq!(code, 0, "{output}");
    place
}
