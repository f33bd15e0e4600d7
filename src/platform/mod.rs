//! Everything that differs between operating systems: modes and identities of files, process groups, watching folders,
//! users, terminals. The rest of the program uses this module, and neither `std::os::unix`, `std::os::windows` nor
//! crates for a single system.
//!
//! Each part has one interface, in terms of its callers. If a system has no counterpart, the function documents what
//! it does there instead. All tests run on Linux; `docs/install.md` lists what is untested.

pub mod files;
pub mod locks;
pub mod paths;
#[cfg(feature = "cli")]
pub mod peer;
pub mod process;
#[cfg(feature = "cli")]
pub mod terminal;
pub mod user;
pub mod watch;

/// The kinds of systems, distinguished by the programs that come with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// Linux and other systems that follow freedesktop.org.
    Unix,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

/// The system that this program was built for.
pub const SYSTEM: System = match () {
    () if cfg!(windows) => System::Windows,
    () if cfg!(target_os = "macos") => System::MacOs,
    () => System::Unix,
};
