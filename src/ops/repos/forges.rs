//! Determines the forge of a repository, and opens it.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
};

use super::paths::FoundRepo;
use crate::{
    env::Env,
    error::{ErrorCode, NextStep},
    forge::{Address, Client, Forge, Kind, Secret},
    machine::user_config,
    model::text::shell_path,
    ops::ctx::Ctx,
    platform::process,
    repo::work,
    store::StoreError,
};

/// A repository on a forge.
pub struct OnForge {
    /// Its address on the forge.
    pub address: Address,
    /// The kind of the forge.
    pub kind: Kind,
    /// The client of the forge, or why it cannot be used.
    pub forge: Result<Box<dyn Forge>, ForgeUnavailable>,
}

/// Why a forge cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgeUnavailable {
    /// The kind of problem.
    pub code: ErrorCode,
    /// A message that names what is missing.
    pub message: String,
    /// The next step.
    pub next_step: NextStep,
}

impl ForgeUnavailable {
    fn new(code: ErrorCode, message: impl Into<String>, next_step: impl Into<NextStep>) -> Self {
        Self { code, message: message.into(), next_step: next_step.into() }
    }

    /// Returns whether the repository is on no forge, rather than on one that cannot be asked.
    pub fn is_absent(&self) -> bool {
        matches!(self.code, ErrorCode::NoForge | ErrorCode::NoRemote)
    }

    /// Returns the next step, with the message as its reason.
    pub fn step(&self) -> NextStep {
        match self.next_step.command() {
            Some(command) => format!("{command}  # {}", self.message).into(),
            None => NextStep::advice(format!("{}: {}", self.message, self.next_step)),
        }
    }
}

/// The forges of several repositories. Each host is looked up once.
pub struct Forges<'c> {
    ctx: &'c Ctx,
    clients: BTreeMap<String, Result<Arc<Client>, ForgeUnavailable>>,
    ignored: BTreeSet<String>,
}

impl<'c> Forges<'c> {
    /// Creates an empty set of forges for the user of `ctx`.
    pub fn new(ctx: &'c Ctx) -> Self {
        Self { ctx, clients: BTreeMap::new(), ignored: BTreeSet::new() }
    }

    /// Returns a next step for each configuration key that is set where it is ignored.
    pub fn ignored(&self) -> impl Iterator<Item = NextStep> {
        let reason = "ignored: it is only read from your own configuration (git config --global)";
        self.ignored.iter().map(move |key| format!("git config --show-origin --get-all {key}  # {reason}").into())
    }

    /// Returns the forge of a repository.
    ///
    /// # Errors
    /// Returns why the repository is on no known forge.
    pub fn of(&mut self, found: &FoundRepo) -> Result<OnForge, ForgeUnavailable> {
        self.at(found.name.as_str(), &found.folder, (&found.remote, found.url.as_deref()))
    }

    /// Returns the forge of the repository in a folder, by the name and the URL of its remote. `name` is only used in
    /// messages.
    ///
    /// # Errors
    /// Returns why the repository is on no known forge.
    pub fn at(
        &mut self,
        name: &str,
        folder: &Path,
        (remote, url): (&str, Option<&str>),
    ) -> Result<OnForge, ForgeUnavailable> {
        let Some(url) = url else {
            let add = add_origin(folder);
            let message = format!("{name} has no remote named origin");
            return Err(ForgeUnavailable::new(ErrorCode::NoRemote, message, add));
        };
        // The URL as it is configured, since `insteadOf` may rewrite it to a mirror.
        let work = || work::Work::new(folder, self.ctx.env.vars_for_other_repo()).with_remote(remote);
        let rewritten = || work().remote_url().ok().and_then(|url| Address::of(&url));
        let address = Address::of(url).or_else(rewritten).ok_or_else(|| {
            let why = "pull requests need a remote on a forge; everything else works without one";
            ForgeUnavailable::new(ErrorCode::NoForge, "the remote is not on a forge", why)
        })?;
        let host = &address.host;
        let kind = self.kind(host)?;
        let client = match self.clients.get(host) {
            Some(client) => {
                if let Ok(client) = client {
                    client.renew_time();
                }
                client.clone()
            }
            None => {
                let client = self.client(host, kind);
                self.clients.insert(host.clone(), client.clone());
                client
            }
        };
        let forge = client.map(|client| kind.forge(client, &address));
        Ok(OnForge { address, kind, forge })
    }

    /// Returns a value from the user's own configuration. The repository's configuration is ignored, because these keys
    /// decide what is run and where a secret is sent, and a repository unpacked from an archive has somebody else's
    /// configuration.
    fn setting(&mut self, key: &str) -> Result<Option<String>, ForgeUnavailable> {
        let show = "git config --global --list  # show what is wrong in it";
        let unreadable = |error: StoreError| ForgeUnavailable::new(ErrorCode::NoForge, error.to_string(), show);
        let own = user_config::value(self.ctx.env.vars(), key).map_err(unreadable)?;
        if self.ctx.setting(key).is_some_and(|found| own.as_ref() != Some(&found)) {
            self.ignored.insert(key.to_owned());
        }
        Ok(own)
    }

    fn kind(&mut self, host: &str) -> Result<Kind, ForgeUnavailable> {
        let found = match self.setting(&format!("blue.forge.{host}.type"))? {
            Some(text) => text.parse(),
            None => Kind::of_host(host)
                .or_else(|| Kind::of_runner(host, |name| self.ctx.env.text(name)))
                .ok_or_else(|| format!("cannot tell what kind of forge {host} is: {}", Kind::NAMES)),
        };
        let set = format!("git config --global blue.forge.{host}.type TYPE");
        found.map_err(|message| ForgeUnavailable::new(ErrorCode::NoForge, message, set))
    }

    fn client(&mut self, host: &str, kind: Kind) -> Result<Arc<Client>, ForgeUnavailable> {
        if !cfg!(feature = "forge") {
            let message = format!("this program was built without the feature `forge`, so it cannot ask {host}");
            let add = "cargo add git-blue --features forge  # in the program that links the library";
            return Err(ForgeUnavailable::new(ErrorCode::NoForge, message, add));
        }
        let secret = self.secret(host, kind)?.ok_or_else(|| {
            let message = format!("there is no token for {host}");
            ForgeUnavailable::new(ErrorCode::NoToken, message, kind.how_to_log_in(host))
        })?;
        let base = self.setting(&format!("blue.forge.{host}.url"))?.unwrap_or_else(|| kind.api(host));
        let wrong = |message: String| ForgeUnavailable::new(ErrorCode::NoForge, message, set_api_url_step(host));
        let client = Client::new(host, &base, Some(secret)).map_err(wrong)?;
        let client = match self.ctx.env.forge_timeout() {
            Some(limit) => client.with_limit(limit),
            None => client,
        };
        Ok(Arc::new(kind.prepare(client.cancelled_by(self.ctx.progress().flag()))))
    }

    /// Returns the secret that the user configured for this program, or else one that other programs have stored.
    fn secret(&mut self, host: &str, kind: Kind) -> Result<Option<Secret>, ForgeUnavailable> {
        let command = self.setting("blue.tokenCommand")?;
        let (env, vars) = (&self.ctx.env, self.ctx.env.vars());
        let ask = |command: String| secret_from_command(env, process::shell(), &["-c", &command, &command, host]);
        let commanded = command.map(ask).transpose().map_err(|problem| {
            let message = format!("blue.tokenCommand has no token for {host}: {problem}");
            let show = "git config --show-origin --get-all blue.tokenCommand  # show the command, to correct it";
            ForgeUnavailable::new(ErrorCode::NoToken, message, show)
        })?;
        let variable = || kind.token_from(host, |name| self.ctx.env.text(name)).and_then(Secret::of);
        let helped = || work::password(host, vars).as_deref().and_then(Secret::of);
        let kept = || {
            kind.token_command(host)
                .and_then(|(program, args)| secret_from_command(env, Command::new(program), &args).ok().flatten())
        };
        Ok(commanded.flatten().or_else(variable).or_else(helped).or_else(kept))
    }
}

/// Returns the secret that one of the user's programs prints, or `None` if it prints nothing. It must never be shown.
///
/// # Errors
/// Returns why it cannot be read.
pub fn secret_from_command(env: &Env, program: Command, args: &[&str]) -> Result<Option<Secret>, String> {
    let mut program = env.child(program);
    let child = program.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let limit = env.forge_timeout().unwrap_or(work::MAX_PASSWORD_TIME);
    let output = child.and_then(|child| process::output_at_most(child, limit)).map_err(|error| error.to_string())?;
    let (status, text) = output.ok_or_else(|| format!("it took more than {} s", limit.as_secs_f32()))?;
    let text = String::from_utf8_lossy(&text);
    match Secret::of(&text) {
        _ if !status.success() => Err(format!("it failed: {status}")),
        Some(secret) => Ok(Some(secret)),
        None if text.trim().is_empty() => Ok(None),
        None => Err("the first line of its output is not a secret".to_owned()),
    }
}

/// Returns the step that adds the remote which pull requests need. Its URL is not known.
pub fn add_origin(folder: &Path) -> String {
    format!("add one with git -C {} remote add origin URL", shell_path(folder))
}

/// Returns the command that configures the API URL of a host.
pub fn set_api_url_step(host: &str) -> NextStep {
    format!("git config --global blue.forge.{host}.url https://URL").into()
}
