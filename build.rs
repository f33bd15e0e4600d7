//! Sets how the program is linked.

use std::io::Write as _;

#[expect(clippy::disallowed_methods, reason = "cargo tells the target in variables")]
fn main() -> std::io::Result<()> {
    let target = |part: &str| std::env::var(format!("CARGO_CFG_TARGET_{part}")).unwrap_or_default();
    let mut out = std::io::stdout().lock();
    writeln!(out, "cargo:rerun-if-changed=build.rs")?;
    // At a fixed address, nothing is relocated at every start: docs/decisions/0118.
    if target("OS") == "linux" && target("ENV") == "gnu" {
        writeln!(out, "cargo:rustc-link-arg-bins=-no-pie")?;
    }
    Ok(())
}
