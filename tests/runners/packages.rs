//! The packages of `make dist`: installed, used and removed as in `docs/install.md`, with the program under test.

use crate::{
    distribution::{DIST, PROGRAM, dist},
    scripted::Scripted,
};

#[test]
fn deb_is_installed_used_and_removed() {
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
    let place = Scripted::new();
    let (code, output) = place.shell(&format!(
        "{PROGRAM}
        '{DIST}' program 1.2.3-rc.1 aarch64-unknown-linux-musl dist >made 2>&1 || {{ cat made; exit 1; }}
        version=\"$(dpkg-deb --field dist/git-blue_*_arm64.deb Version)\"
        dpkg --compare-versions \"$version\" lt 1.2.3 && echo \"$version is older\""
    ));
    assert_eq!((code, &*output), (0, "1.2.3~rc.1 is older\n"));
}
