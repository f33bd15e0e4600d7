//! `git blue daemon …`.

use clap::{Args, Subcommand};

use super::{Verdict, output::Output};
use crate::{env::Env, error::OpError, surface::daemon};

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start serving this machine's realms on this machine
    Start(Start),
}

#[derive(Debug, Args)]
pub struct Start {
    /// The port to listen on
    #[arg(long, value_name = "PORT", default_value_t = daemon::PORT)]
    port: u16,
    /// Stay in the foreground
    #[arg(long)]
    foreground: bool,
}

impl Command {
    pub fn run(self, env: &Env, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        match self {
            Self::Start(arguments) => {
                let options = daemon::Options { port: arguments.port };
                daemon::serve(env, &options, |url| output.say(&format!("serving {url}")))?;
                Ok(Verdict::Yes)
            }
        }
    }
}
