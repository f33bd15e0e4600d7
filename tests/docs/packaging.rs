//! The archive of `make dist`, the recipes of `docs/packaging` and the content of the crate, with the program under
//! test. The suite `runners` tests the packages.

use std::{path::Path, process::Command};

use crate::{
    ROOT,
    distribution::{PROGRAM, dist},
    scripted::Scripted,
};

#[test]
fn archive_unpacks_into_a_prefix() {
    let place = Scripted::new();
    let archive = dist(&place);
    let (code, output) = place.shell(&format!(
        "set -e
        (cd dist && sha256sum --check --quiet *.sha256)
        mkdir prefix
        tar -xzf {archive} --strip-components 1 -C prefix
        PATH=\"$PWD/prefix/bin:$PATH\"
        git blue --version
        test -f prefix/share/man/man1/git-blue.1
        test -f prefix/share/bash-completion/completions/git-blue
        test -f prefix/share/doc/git-blue/LICENSE-MIT"
    ));
    assert_eq!((code, &*output), (0, concat!("git-blue ", env!("CARGO_PKG_VERSION"), "\n")));
}

/// Returns a file of `docs/packaging`.
fn recipe(name: &str) -> String {
    std::fs::read_to_string(Path::new(ROOT).join("docs/packaging").join(name)).unwrap()
}

#[test]
fn recipes_have_the_current_version() {
    let version = env!("CARGO_PKG_VERSION");
    assert!(recipe("git-blue.rb").contains(&format!("/archive/refs/tags/v{version}.tar.gz\"")));
    assert!(recipe("PKGBUILD").contains(&format!("\npkgver={version}\n")));
}

#[test]
fn pkgbuild_packages_the_build() {
    let place = Scripted::new();
    place.write(
        "package.sh",
        &format!(
            "set -e
            {PROGRAM}
            . '{ROOT}/docs/packaging/PKGBUILD'
            mkdir -p $pkgname-$pkgver/target/release $pkgname-$pkgver/docs pkg
            mv program $pkgname-$pkgver/target/release/git-blue
            cp '{ROOT}'/LICENSE-* '{ROOT}/README.md' $pkgname-$pkgver
            cp '{ROOT}/docs/CHANGELOG.md' $pkgname-$pkgver/docs
            pkgdir=\"$PWD/pkg\"
            package >/dev/null
            test -f \"$pkgdir/usr/share/licenses/git-blue/LICENSE-MIT\"
            test -f \"$pkgdir/usr/share/man/man1/git-blue-check.1\"
            \"$pkgdir/usr/bin/git-blue\" --version"
        ),
    );
    let (code, output) = place.shell("bash package.sh");
    assert_eq!((code, &*output), (0, concat!("git-blue ", env!("CARGO_PKG_VERSION"), "\n")));
}

#[test]
fn crate_contains_only_what_the_build_needs() {
    let cargo = Command::new(env!("CARGO"))
        .args(["package", "--list", "--allow-dirty", "--offline", "--locked"])
        .current_dir(ROOT)
        .output()
        .unwrap();
    let list = String::from_utf8(cargo.stdout).unwrap();
    assert!(cargo.status.success(), "{}", String::from_utf8_lossy(&cargo.stderr));
    let files: Vec<_> = list.lines().collect();
    for needed in [
        "build.rs",
        "src/main.rs",
        "src/surface/http/page/blue.css",
        "src/surface/cli/completions/git-blue.bash",
        "hooks/publish.sh",
        "plugin/.mcp.json",
        "plugin/hooks/hooks.json",
        "plugin/skills/contracts/SKILL.md",
        "docs/library.md",
        "LICENSE-MIT",
        "Cargo.lock",
    ] {
        assert!(files.contains(&needed), "{needed} is missing");
    }
    let known = |file: &&&str| {
        let is_build = ["build.rs", "src/", "hooks/", "plugin/", "LICENSE", "Cargo.", ".cargo_vcs_info"];
        is_build.iter().any(|start| file.starts_with(start)) || ["README.md", "docs/library.md"].contains(file)
    };
    let more: Vec<_> = files.iter().filter(|file| !known(file)).collect();
    assert!(more.is_empty(), "{more:?}");
    let bytes: u64 =
        files.iter().filter_map(|file| Path::new(ROOT).join(file).metadata().ok()).map(|of| of.len()).sum();
    assert!(bytes < 6 << 20, "{bytes} bytes");
}
