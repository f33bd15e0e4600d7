//! `git blue mcp …`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::{env::Env, error::OpError, model::name::RealmName, surface::mcp};

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve an MCP client over standard input and output
    Serve(Serve),
}

#[derive(Debug, Args)]
pub struct Serve {
    /// Log what happens to mcp.log in the user's own folder
    #[arg(long)]
    debug: bool,
    /// Offer no tool that changes anything that others see
    #[arg(long)]
    read_only: bool,
    /// Let every tool take a realm of this machine
    #[arg(long)]
    all_realms: bool,
}

impl Command {
    pub fn run(self, env: &Env, folder: Option<PathBuf>, realm: Option<RealmName>) -> Result<(), OpError> {
        match self {
            Self::Serve(Serve { debug, read_only, all_realms }) => {
                mcp::serve(env, &mcp::Options { folder, realm, read_only, all_realms, debug })
            }
        }
    }
}
