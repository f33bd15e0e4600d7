//! Checks the files that the program installs with the programs that read them: completions in real shells, manual
//! pages in a real man, graphs in Graphviz.
//!
//! It needs the feature `peers`, because it requires zsh, fish, man, mandoc and dot: `make test-peers`.

mod drawing;
mod fish;
mod pages;
#[path = "../scripted/mod.rs"]
mod scripted;
mod zsh;

use scripted::Scripted;

/// Makes a realm with two domains, and installs everything below `prefix`, as `make install` does.
fn installed() -> Scripted {
    let place = Scripted::realm();
    // Nothing is built: the Makefile installs the binary under test.
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
