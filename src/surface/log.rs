//! Logs what the program does, for debugging, if `GIT_BLUE_LOG` is set or the MCP server has the option `--debug`.
//! Otherwise only the daemon logs, and only what fails; the other commands install no subscriber, so nothing is
//! formatted.

use std::{
    fs::{File, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use tracing::Level;
use tracing_subscriber::{filter::Targets, fmt::MakeWriter, layer::SubscriberExt as _};

use crate::{
    env::Env,
    error::OpError,
    platform::files::{self, Access},
};

/// The environment variable with the level and the file of the log.
pub const VARIABLE: &str = "GIT_BLUE_LOG";
/// The size at which the log of a server starts over, in bytes.
const MAX_SERVER_LOG: u64 = 8 << 20;

/// The parsed value of the variable.
#[derive(Debug, PartialEq, Eq)]
struct LogSettings {
    level: Level,
    /// A file to append to instead of standard error.
    file: Option<PathBuf>,
}

/// Starts logging, if the variable is set.
///
/// # Errors
/// Returns an error if the value does not parse, or the file cannot be opened.
pub fn start(env: &Env) -> io::Result<()> {
    let Some(wish) = env.text(VARIABLE).map(parse).transpose()?.flatten() else {
        return Ok(());
    };
    match wish.file {
        Some(path) => {
            let file =
                open(&path).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
            log_to(file, wish.level);
        }
        None => log_to(io::stderr, wish.level),
    }
    Ok(())
}

/// Logs on standard error what fails in the background of a server, unless the variable is set.
pub fn start_of_daemon(env: &Env) {
    if env.text(VARIABLE).is_none() {
        log_to(io::stderr, Level::WARN);
    }
}

/// Starts the log of a server in a file of its own, unless the variable is set.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn start_in(path: &Path) -> Result<(), OpError> {
    let failed = |error| OpError::io("write", path)(error);
    if path.symlink_metadata().is_ok_and(|at| at.len() > MAX_SERVER_LOG || !at.is_file()) {
        std::fs::remove_file(path).map_err(failed)?;
    }
    let file = open(path).map_err(failed)?;
    files::narrow(path, Access::Private).map_err(failed)?;
    log_to(file, Level::DEBUG);
    Ok(())
}

/// Logs only what this program says: the MCP library would log whole documents.
fn log_to(writer: impl for<'a> MakeWriter<'a> + Send + Sync + 'static, level: Level) {
    let log = tracing_subscriber::fmt().with_ansi(false).with_max_level(level).with_target(false);
    let own = Targets::new().with_target(env!("CARGO_CRATE_NAME"), level);
    // A second call finds that a subscriber is already installed, which is fine.
    let _ = tracing::subscriber::set_global_default(log.with_writer(writer).finish().with(own));
}

/// Opens the log. It may name files and people, so only the user can read it.
fn open(path: &Path) -> io::Result<File> {
    files::private(OpenOptions::new().append(true).create(true)).open(path)
}

/// Parses a level, an absolute path, or both separated by a comma. As in git's trace variables, `0` and `false` mean
/// no log, and `1`, `2` and `true` standard error.
fn parse(text: &str) -> io::Result<Option<LogSettings>> {
    let wish = |level, file: Option<&str>| Ok(Some(LogSettings { level, file: file.map(PathBuf::from) }));
    let level = |level: &str| level.parse().map_err(|_| unknown(text));
    match text.split_once(',') {
        _ if Path::new(text).is_absolute() => wish(Level::DEBUG, Some(text)),
        Some((first, path)) if Path::new(path).is_absolute() => wish(level(first)?, Some(path)),
        Some(_) => Err(unknown(text)),
        None => match text {
            "0" | "false" => Ok(None),
            "1" | "2" | "true" => wish(Level::DEBUG, None),
            word => wish(level(word)?, None),
        },
    }
}

fn unknown(text: &str) -> io::Error {
    let text: String = text.chars().take(80).collect();
    let message =
        format!("{text:?}: write 1, a level (error, warn, info, debug, trace), an absolute path, or level,path");
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_is_a_level_a_file_or_both() {
        let wish = |text: &str| parse(text).unwrap();
        let of = |level, file: Option<&str>| Some(LogSettings { level, file: file.map(PathBuf::from) });
        assert_eq!(wish("1"), of(Level::DEBUG, None));
        assert_eq!(wish("0"), None);
        assert_eq!(wish("info"), of(Level::INFO, None));
        assert_eq!(wish("/tmp/log"), of(Level::DEBUG, Some("/tmp/log")));
        assert_eq!(wish("trace,/tmp/a,b"), of(Level::TRACE, Some("/tmp/a,b")));
        for text in ["loud", "log.txt", "debug,log.txt", "loud,/tmp/log", ","] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
