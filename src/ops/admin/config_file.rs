//! Writes `.blue/config.yaml`, which names the realm and the repository for every clone.

use std::path::Path;

use crate::{
    error::OpError,
    locate::CONFIG,
    machine::home::KnownRealm,
    model::{name::RepoName, yaml_text},
    ops::{ctx::Ctx, publish::work_file::WorkFile},
    platform::files::{self, Access},
    repo::{
        CodeRepo,
        blue_files::{FOLDER, Files, Item},
    },
    store::codec::{self, Config, ProposedRealm},
};

/// Replaces the realm's URL in `.blue/config.yaml`. Returns whether it was written: a file that is not in the usual
/// layout is left unchanged.
///
/// # Errors
/// Returns an error if the file cannot be read or written.
pub fn write_url(code: &CodeRepo, config: &Config, url: &str) -> Result<bool, OpError> {
    let file = WorkFile::of(code, CONFIG.to_owned())?;
    if file.is_left_out() {
        return Ok(false);
    }
    let Some(text) = file.read()? else {
        return Ok(false);
    };
    let realm = ProposedRealm { url: Some(url.to_owned()), ..config.realm.clone() };
    let wanted = Config { realm, ..config.clone() };
    let is_right = |text: &String| codec::config(text.as_bytes()).is_ok_and(|read| read == wanted);
    let edited = match &config.realm.url {
        Some(old) => Some(text.replacen(old.as_str(), url, 1)),
        None => yaml_text::add_below(&text, "realm", &("url", yaml_text::quoted(url))),
    };
    edited.filter(is_right).map(|edited| file.replace(&edited)).transpose().map(|written| written.is_some())
}

/// Writes the `.blue/config.yaml` of HEAD, if it was removed from the working tree, as leaving the realm does.
///
/// # Errors
/// Returns an error if HEAD cannot be read, or the file cannot be written.
pub fn restore(ctx: &Ctx) -> Result<(), OpError> {
    let file = WorkFile::config(ctx)?;
    if file.is_left_out() || file.read()?.is_some() {
        return Ok(());
    }
    let code = ctx.code()?;
    let Some(commit) = code.head()?.commit else { return Ok(()) };
    let files = Files::at(code, &commit)?;
    let Some(Item::File(handle)) = files.file(CONFIG)? else { return Ok(()) };
    let bytes = files.read(&handle)?.unwrap_or_default();
    file.create(&String::from_utf8_lossy(&bytes))
}

/// Writes the `.blue/config.yaml` of a repository that joined.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn write(root: &Path, realm: &KnownRealm, repo: &RepoName) -> Result<(), OpError> {
    let proposed = ProposedRealm { name: realm.name.clone(), url: realm.url.clone() };
    let config = Config { realm: proposed, repo: repo.clone(), publish: None };
    let folder = root.join(FOLDER);
    let path = root.join(CONFIG);
    std::fs::create_dir_all(&folder).map_err(OpError::io("create", &folder))?;
    // Replaced atomically: a partial file would stop every command in this repository.
    files::replace(&path, codec::render(&config).as_bytes(), Access::Usual).map_err(OpError::io("write", &path))
}
