//! The unit file that starts the daemon at login: a systemd user unit, or a launchd agent.

use std::path::{Path, PathBuf};

use super::arguments;
use crate::{
    env::Env,
    error::{ErrorCode, OpError},
    model::text::shell_path,
    platform::{SYSTEM, System},
    surface::{escape::escape_in_xml, http::Settings},
};

/// The service manager that starts the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Manager {
    /// A systemd user unit
    Systemd,
    /// A launchd agent
    Launchd,
}

impl Manager {
    /// Returns the service manager of this system.
    ///
    /// # Errors
    /// Returns an error on Windows, where the task scheduler would start the daemon.
    pub fn of_system(env: &Env) -> Result<Self, OpError> {
        match SYSTEM {
            System::Unix => Ok(Self::Systemd),
            System::MacOs => Ok(Self::Launchd),
            System::Windows => {
                let command = format!("\\\"{}\\\" daemon start", env.exe().display());
                Err(OpError::usage("Windows has neither systemd nor launchd")
                    .next(format!("schtasks /Create /TN git-blue /SC ONLOGON /TR \"{command}\"")))
            }
        }
    }

    /// Returns the path of the unit file, and the command that makes the service manager load it.
    ///
    /// # Errors
    /// Returns an error if there is no home folder.
    pub fn place(self, env: &Env) -> Result<(PathBuf, String), OpError> {
        let home = env.home().ok_or_else(|| OpError::cannot(ErrorCode::NoHome, "HOME is not set"))?;
        Ok(match self {
            Self::Systemd => {
                // The specification says to ignore a relative path.
                let named = env.var("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
                let config = named.unwrap_or_else(|| home.join(".config"));
                let enable = "systemctl --user enable --now git-blue.service".to_owned();
                (config.join("systemd/user/git-blue.service"), enable)
            }
            Self::Launchd => {
                let file = home.join("Library/LaunchAgents/git-blue.plist");
                let load = format!("launchctl bootstrap gui/$(id -u) {}", shell_path(&file));
                (file, load)
            }
        })
    }

    /// Returns the content of the unit file.
    pub fn text(self, env: &Env, home: &Path, settings: &Settings) -> String {
        let exe = env.exe().display().to_string();
        let arguments: Vec<_> = [exe].into_iter().chain(arguments(settings)).collect();
        let home = home.display().to_string();
        match self {
            Self::Systemd => {
                let command: Vec<_> = arguments.iter().map(|word| in_command(word)).collect();
                format!(
                    "[Unit]\nDescription=git blue: the realms of this machine over local HTTP\n\n\
                     [Service]\nExecStart={}\nEnvironment={}\nRestart=on-failure\nRestartSec=5\n\
                     NoNewPrivileges=true\n\n[Install]\nWantedBy=default.target\n",
                    command.join(" "),
                    in_unit(&format!("GIT_BLUE_HOME={home}")),
                )
            }
            Self::Launchd => {
                let words: String =
                    arguments.iter().map(|word| format!("    <string>{}</string>\n", escape_in_xml(word))).collect();
                format!(
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
                     <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \
                     \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
                     <plist version=\"1.0\">\n<dict>\n  <key>Label</key>\n  <string>git-blue</string>\n  \
                     <key>ProgramArguments</key>\n  <array>\n{words}  </array>\n  \
                     <key>EnvironmentVariables</key>\n  <dict>\n    <key>GIT_BLUE_HOME</key>\n    \
                     <string>{}</string>\n  </dict>\n  <key>RunAtLoad</key>\n  <true/>\n  \
                     <key>KeepAlive</key>\n  <dict>\n    <key>SuccessfulExit</key>\n    <false/>\n  </dict>\n\
                     </dict>\n</plist>\n",
                    escape_in_xml(&home),
                )
            }
        }
    }
}

/// Quotes a word of a command, where systemd also expands variables.
fn in_command(word: &str) -> String {
    in_unit(word).replace('$', "$$")
}

/// Quotes a word as in systemd.syntax(7), where `%` is special.
fn in_unit(word: &str) -> String {
    let escaped = word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
    format!("\"{}\"", escaped.replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_characters_are_escaped() {
        assert_eq!(in_unit("/a b/\"50%\" $x\\"), r#""/a b/\"50%%\" $x\\""#);
        assert_eq!(in_command("$x"), "\"$$x\"");
        assert_eq!(escape_in_xml("a<b>&c"), "a&lt;b&gt;&amp;c");
    }
}
