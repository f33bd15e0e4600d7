//! The archive and the packages of `make dist`, with a wrapper of the program under test.

use crate::scripted::Scripted;

/// The script that makes them.
pub const DIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/.ci/dist");

/// Creates `program`, a small wrapper of the program under test, which is large before it is stripped.
pub const PROGRAM: &str =
    r#"printf '#!/bin/sh\nexec "%s" "$@"\n' "$(command -v git-blue)" >program && chmod +x program"#;

/// Creates an archive and, if their programs are installed, packages in `dist`.
pub fn dist(place: &Scripted) -> String {
    let line = format!(
        "{PROGRAM}
        '{DIST}' program 1.2.3 x86_64-unknown-linux-gnu dist >made 2>&1 || {{ cat made; exit 1; }}"
    );
    let (code, output) = place.shell(&line);
    assert_eq!(code, 0, "{output}");
    "dist/git-blue-1.2.3-x86_64-unknown-linux-gnu.tar.gz".into()
}
