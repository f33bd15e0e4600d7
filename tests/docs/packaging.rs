//! The packages of `make dist` and the content of the crate: installed, used and removed as in `docs/install.md`,
//! with the program under test.

use std::{path::Path, process::Command};

use crate::{ROOT, scripted::Scripted};

/// Creates `program`, a small wrapper of the program under test, which is large before it is stripped.
const PROGRAM: &str = r#"printf '#!/bin/sh\nexec "%s" "$@"\n' "$(command -v git-blue)" >program && chmod +x program"#;

/// Creates an archive and, if their programs are installed, packages in `dist`.
fn dist(place: &Scripted) -> String {
    let line = format!(
        "{PROGRAM}
        '{ROOT}/.ci/dist' program 1.2.3 x86_64-unknown-linux-gnu dist >made 2>&1 || {{ cat made; exit 1; }}"
    );
    let (code, output) = place.shell(&line);
    assert_eq!(code, 0, "{output}");
    "dist/git-blue-1.2.3-x86_64-unknown-linux-gnu.tar.gz".into()
}

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

#[test]
fn deb_is_installed_used_and_removed() {
    if Command::new("dpkg-deb").arg("--version").output().is_err() {
        return;
    }
    let place = Scripted::new();
    dist(&place);
    let (code, output) = place.shell(
        r#"set -e
        deb=dist/git-blue_1.2.3_amd64.deb
        dpkg-deb --field $deb Package Version Depends
        mkdir -p root/var/lib/dpkg/info root/var/lib/dpkg/updates
        touch root/var/lib/dpkg/status
        # Nothing else is in this root: git is the machine's.
        dpkg() { command dpkg --root="$PWD/root" --log=/dev/null --force-not-root --force-depends --force-architecture "$@" >log 2>&1 || { cat log; exit 1; }; }
        dpkg --install $deb
        PATH="$PWD/root/usr/bin:$PATH"
        command -v git-blue
        git init -q shop
        git blue -C shop init --realm shop >/dev/null
        test -f root/usr/share/man/man1/git-blue-check.1.gz
        test -f root/usr/share/zsh/vendor-completions/_git-blue
        test -f root/usr/share/doc/git-blue/copyright
        dpkg --purge git-blue
        find root -name '*git-blue*'"#,
    );
    let installed = place.path().join("root/usr/bin/git-blue");
    let expected = format!(
        "Package: git-blue\nVersion: 1.2.3\nDepends: git, libc6 (>= 2.34), libgcc-s1\n{}\n",
        installed.display()
    );
    assert_eq!((code, output), (0, expected));
}

#[test]
fn rpm_is_unpacked_and_used() {
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !has("rpmbuild") || !has("cpio") {
        return;
    }
    let place = Scripted::new();
    dist(&place);
    let (code, output) = place.shell(
        r#"set -e
        rpm=dist/git-blue-1.2.3-1.x86_64.rpm
        rpm --query --package --queryformat '%{NAME} %{VERSION} %{LICENSE}\n' $rpm
        rpm --query --package --requires $rpm | grep -v '^rpmlib'
        mkdir root
        rpm2cpio $rpm | (cd root && cpio --quiet --extract --make-directories)
        test -f root/usr/share/man/man1/git-blue-check.1.gz
        test -f root/usr/share/zsh/site-functions/_git-blue
        PATH="$PWD/root/usr/bin:$PATH"
        git blue --version"#,
    );
    let version = env!("CARGO_PKG_VERSION");
    let expected =
        format!("git-blue 1.2.3 MIT OR Apache-2.0\ngit >= 2.34\nglibc >= 2.34\nlibgcc\ngit-blue {version}\n");
    assert_eq!((code, output), (0, expected));
}

#[test]
fn pre_release_packages_sort_before_the_release() {
    if Command::new("dpkg-deb").arg("--version").output().is_err() {
        return;
    }
    let place = Scripted::new();
    let (code, output) = place.shell(&format!(
        "{PROGRAM}
        '{ROOT}/.ci/dist' program 1.2.3-rc.1 aarch64-unknown-linux-musl dist >made 2>&1 || {{ cat made; exit 1; }}
        version=\"$(dpkg-deb --field dist/git-blue_*_arm64.deb Version)\"
        dpkg --compare-versions \"$version\" lt 1.2.3 && echo \"$version is older\""
    ));
    assert_eq!((code, &*output), (0, "1.2.3~rc.1 is older\n"));
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
    assert!(bytes < 5 << 20, "{bytes} bytes");
}

#[test]
fn no_release_contains_conformance_fixtures() {
    let read = |file: &str| std::fs::read_to_string(Path::new(ROOT).join(file)).unwrap();
    assert!(read("src/surface/mcp/mod.rs").contains("#[cfg(debug_assertions)]\nmod conformance;"));
    let manifest: toml::Table = toml::from_str(&read("Cargo.toml")).unwrap();
    let release = manifest["profile"]["release"].as_table().unwrap();
    assert!(!release.contains_key("debug-assertions"), "{release:?}");
}
