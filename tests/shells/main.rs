//! Installed files in the programs that read them: completions in shells, pages in man, graphs in Graphviz.
//!
//! Needs zsh, fish, man, mandoc and dot: `make test-peers`.

mod drawing;
mod fish;
mod pages;
#[path = "../testutils/scripted.rs"]
mod scripted;
mod zsh;

use scripted::Scripted;

/// A realm with two domains, and everything installed below `prefix` with `make install`.
fn installed() -> Scripted {
    let place = Scripted::realm();
    // The build is replaced: the Makefile installs the binary under test.
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
