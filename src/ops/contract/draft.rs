//! A contract in the files of this repository, before it is published.

use std::collections::BTreeMap;

use crate::{
    error::{ErrorCode, OpError},
    model::{contract::Contract, evolution::with_evolution, name::ContractRef, next_version, version::Version},
    store::codec::{self, Problem},
    wire::DocumentSource,
};
use crate::{
    ops::{
        contract::bump::bring_back,
        ctx::Ctx,
        domain::{self, Part},
        publish::{places, references, work_file::WorkFile},
    },
    repo::blue_files::{CONTRACTS, Files, IN_SUBMODULE, Item},
};

/// The fields that select an unpublished file.
#[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(id = "draft", multiple = false))]
pub struct DraftFields {
    /// Use the file in the working tree, committed or not
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    worktree: bool,
    /// Use the file at this commit
    #[cfg_attr(feature = "cli", arg(long, value_name = "COMMIT"))]
    commit: Option<String>,
}

impl DraftFields {
    /// Returns the draft that the options name, or `None` if they name a published version.
    ///
    /// # Errors
    /// Returns an error if the options name two drafts, or a draft in addition to a version.
    pub fn draft(self, has_version: bool) -> Result<Option<Draft>, &'static str> {
        match (self.worktree, self.commit, has_version) {
            (false, None, _) => Ok(None),
            (true, None, false) => Ok(Some(Draft::Worktree)),
            (false, Some(commit), false) => Ok(Some(Draft::Commit(commit))),
            _ => Err("pass only one of a version, worktree and commit"),
        }
    }
}

/// A document to compare, as the user names it: `1.2.0` is a published version, anything else is a commit.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(from = "String")]
#[schemars(with = "String")]
pub enum VersionOrCommit {
    /// The published version.
    Version(Version),
    /// The file at this commit.
    Commit(String),
}

impl From<String> for VersionOrCommit {
    fn from(text: String) -> Self {
        text.parse().map_or_else(|_| Self::Commit(text), Self::Version)
    }
}

/// The files that a draft is read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Draft {
    /// The working tree.
    Worktree,
    /// This commit.
    Commit(String),
}

/// The file of a contract, to locate findings in.
#[derive(Debug)]
pub struct DraftFile {
    /// Its path in the repository.
    pub path: String,
    /// The lines in it by JSON Pointer.
    pub lines: BTreeMap<String, u32>,
    /// The file and line of each JSON Pointer into a part that is in another file.
    pub elsewhere: BTreeMap<String, (String, Option<u32>)>,
}

impl Draft {
    /// Returns the name of the draft in answers.
    pub fn source(&self) -> DocumentSource {
        match self {
            Self::Worktree => DocumentSource::Worktree,
            Self::Commit(_) => DocumentSource::Commit,
        }
    }

    /// Reads the contract.
    ///
    /// # Errors
    /// Returns an error if the files do not contain it, or it cannot be read.
    pub fn contract(&self, ctx: &Ctx, at: &ContractRef) -> Result<Contract, OpError> {
        let (files, path, bytes) = self.read(ctx, at)?;
        let (contract, _) =
            references::contract(&files, &bytes, &at.contract)?.map_err(|problem| problem.in_file(&path))?;
        settled(ctx, at, contract)
    }

    /// Returns the file of the contract, with the lines of its schema and value, and where `pointers` into it are if it
    /// refers to another file.
    ///
    /// # Errors
    /// Returns an error if the files do not contain it.
    pub fn located(&self, ctx: &Ctx, at: &ContractRef, pointers: Vec<String>) -> Result<DraftFile, OpError> {
        let (files, path, bytes) = self.read(ctx, at)?;
        let lines = codec::contract_lines(&bytes);
        let refers = codec::contract(&bytes, &at.contract).is_ok_and(|contract| references::refers(&contract));
        let pointers = if refers { pointers } else { Vec::new() };
        let places = pointers.into_iter().map(|pointer| {
            let place = places::place(&files, &path, &pointer);
            (pointer, place)
        });
        let elsewhere = places.filter(|(_, (file, _))| *file != path).collect();
        Ok(DraftFile { path, lines, elsewhere })
    }

    fn read<'c>(&self, ctx: &'c Ctx, at: &ContractRef) -> Result<(Files<'c>, String, Vec<u8>), OpError> {
        let code = ctx.code()?;
        let files = match self {
            Self::Worktree => {
                Files::checkout(code).ok_or_else(|| OpError::usage("a bare repository has no working tree"))?
            }
            Self::Commit(revision) => {
                let commit = code.resolve(revision).map_err(|error| {
                    let is_version = revision.starts_with(|first: char| first.is_ascii_digit());
                    error.next_if(is_version, "write a version as three numbers, such as 1.2.0")
                })?;
                Files::at(code, &commit)?
            }
        };
        let folder = format!("{CONTRACTS}/{}", at.domain);
        let path = format!("{folder}/{}.yaml", at.contract);
        let place = match self {
            Self::Worktree => "the working tree".to_owned(),
            Self::Commit(revision) => revision.clone(),
        };
        let handle = match files.below(&folder)?.remove(&path) {
            Some(Item::File(handle)) => handle,
            Some(Item::Submodule) => return Err(Problem::whole(IN_SUBMODULE).in_file(&path).into()),
            Some(Item::Other) => return Err(Problem::whole("it is not a regular file").in_file(&path).into()),
            None => {
                let error = OpError::no(ErrorCode::NoSuchFile, format!("{place} has no {path}"));
                let here = ctx.realm()?;
                return Err(error.next(match domain::contract(&*here.store, at) {
                    Ok(held) if here.repo.as_ref() == Some(&held.owner) => match self {
                        Self::Worktree => bring_back(ctx, at, &WorkFile::of(code, path)?, "try again")?,
                        Self::Commit(_) => "name a commit that has the file".to_owned(),
                    },
                    Ok(held) => format!("run it in {}, which owns {at}", held.owner),
                    Err(_) => "run it in the repository that owns the contract".to_owned(),
                }));
            }
        };
        match files.read(&handle)? {
            Some(bytes) => Ok((files, path, bytes)),
            None => {
                let problem = Problem::whole(format!("it is larger than {} MiB", codec::MAX_FILE >> 20));
                Err(problem.in_file(&path).into())
            }
        }
    }
}

/// Returns the document with its version. `auto` becomes the version that publishing would choose, and the document has
/// the evolution that publishing would record.
fn settled(ctx: &Ctx, at: &ContractRef, document: Contract) -> Result<Contract, OpError> {
    let store = &*ctx.realm()?.store;
    let tip = store.domain_tip(&at.domain)?.filter(|_| document.version.is_auto());
    let Some(tip) = tip else { return Ok(document) };
    let part = Part { contracts: Some(&[at.contract.clone()].into()), ..Part::default() };
    let view = domain::load(store, &at.domain, &tip, &part)?;
    let judge = ctx.judge();
    Ok(with_evolution(&view, &next_version::with_version(&view, &document, &judge), &judge))
}
