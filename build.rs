//! Sets how the program is linked, and the version of the engine that judges contracts.

use std::{
    fs,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// The sources of the engine. Answers that were cached by an engine built from other sources are ignored.
const ENGINE: [&str; 3] = ["Cargo.toml", "Cargo.lock", "src/model"];

#[expect(clippy::disallowed_methods, reason = "cargo tells the target in variables")]
fn main() -> io::Result<()> {
    let target = |part: &str| std::env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    let mut out = io::stdout().lock();
    writeln!(out, "cargo:rerun-if-changed=build.rs")?;
    // At a fixed address, nothing is relocated at every start: docs/decisions/0118.
    if target("OS") == "linux" && target("ENV") == "gnu" {
        writeln!(out, "cargo:rustc-link-arg-bins=-no-pie")?;
    }
    let mut hasher = DefaultHasher::new();
    for path in ENGINE {
        writeln!(out, "cargo:rerun-if-changed={path}")?;
        for file in files(Path::new(path))? {
            fs::read(file)?.hash(&mut hasher);
        }
    }
    writeln!(out, "cargo:rustc-env=GIT_BLUE_ENGINE={:016x}", hasher.finish())
}

/// Returns the files at or below a path, in the order of their names.
fn files(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut entries = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    Ok(entries.iter().map(|entry| files(entry)).collect::<io::Result<Vec<_>>>()?.concat())
}
