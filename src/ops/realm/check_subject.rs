//! The repository and the files that a check judges. A check fails if it cannot determine them.

use super::check_base;
use crate::{
    env::REPO,
    error::{CliOption, ErrorCode, NextStep, OpError},
    locate::{CONFIG, config, proposed_at, url},
    model::{
        candidate::{Candidate, Judged},
        check::{Cause, Finding},
        name::RepoName,
        nearest,
        oid::Oid,
        repo_url::without_credentials,
        text::shell_word,
    },
    ops::{
        ctx::{ActingRepo, Ctx},
        operation::given_as,
        repos::{
            identity,
            joined::{self, Joined},
        },
    },
    repo::{
        CodeRepo,
        blue_files::{Files, Item},
    },
    store::{
        codec::{self, Config},
        read,
    },
};

/// The maximum number of ancestors of the judged commit that are searched for the name of the repository.
const MAX_COMMITS: usize = 1_000;

/// The step if no repository can be checked.
const CHECK_ONLY_THE_REALM: &str = "git blue check --published  # check only the realm";

/// The files to apply to the realm.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Subject {
    /// The files of HEAD.
    #[default]
    Head,
    /// The files of this commit.
    Commit(String),
    /// The files of the working tree.
    Worktree,
    /// The files of the index.
    Staged,
    /// No files: the realm as published.
    Published,
}

/// The fields that select the files to check together with the realm.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args), group(id = "subject", multiple = false))]
struct SubjectFields {
    /// Check only what is published, without this repository's files
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    published: bool,
    /// Check this commit instead of HEAD
    #[cfg_attr(feature = "cli", arg(long, value_name = "COMMIT"))]
    commit: Option<String>,
    /// Check the working tree instead of HEAD
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    worktree: bool,
    /// Check the index instead of HEAD: what git commit would commit
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, alias = "cached"))]
    staged: bool,
}

given_as!(Subject, SubjectFields);

impl TryFrom<SubjectFields> for Subject {
    type Error = &'static str;

    fn try_from(fields: SubjectFields) -> Result<Self, Self::Error> {
        let SubjectFields { published, commit, worktree, staged } = fields;
        match (published, commit, worktree, staged) {
            (false, None, false, false) => Ok(Self::Head),
            (false, Some(commit), false, false) => Ok(Self::Commit(commit)),
            (false, None, true, false) => Ok(Self::Worktree),
            (false, None, false, true) => Ok(Self::Staged),
            (true, None, false, false) => Ok(Self::Published),
            _ => Err("pass one of published, commit, worktree and staged"),
        }
    }
}

/// The repository and files to judge.
pub struct Found<'a> {
    /// The repository.
    pub repo: RepoName,
    /// Its files; `None` if nothing was committed yet.
    pub files: Option<Files<'a>>,
    /// The commit of these files; `None` for the working tree and the index.
    pub commit: Option<Oid>,
}

impl<'a> Found<'a> {
    /// Returns the files of a repository at a commit.
    ///
    /// # Errors
    /// Returns an error if the commit cannot be read.
    pub fn at(ctx: &'a Ctx, repo: RepoName, commit: &Oid) -> Result<Self, OpError> {
        Ok(Self { repo, files: Some(Files::at(ctx.code()?, commit)?), commit: Some(*commit) })
    }

    /// Returns the file that names the realm and the repository: its bytes, and what they say. `None` if there is no such
    /// file, or it is invalid.
    fn config(&self) -> Result<Option<(Vec<u8>, Config)>, OpError> {
        let Some(files) = &self.files else { return Ok(None) };
        let Some(Item::File(source)) = files.file(CONFIG)? else { return Ok(None) };
        let bytes = files.read(&source)?;
        Ok(bytes.and_then(|bytes| codec::config(&bytes).ok().map(|config| (bytes, config))))
    }

    /// Returns the repository with its candidate.
    pub fn judged<'j>(&'j self, candidate: &'j Candidate) -> Judged<'j> {
        Judged { repo: &self.repo, candidate }
    }
}

/// Returns what to judge; `None` if only the realm is checked. `repo` and `base` are what the user gave.
///
/// # Errors
/// Returns an error if it cannot be determined which repository is judged, or which commit.
pub fn find<'a>(
    ctx: &'a Ctx,
    subject: &Subject,
    repo: Option<&RepoName>,
    base: Option<&str>,
) -> Result<Option<Found<'a>>, OpError> {
    if *subject == Subject::Published {
        return Ok(None);
    }
    let here = ctx.realm()?;
    let Some(code) = ctx.code.as_ref() else {
        return Err(match repo.or(here.repo.as_ref()) {
            Some(repo) => outside(ctx, repo),
            None => unknown(ctx),
        });
    };
    let commit = match subject {
        Subject::Commit(revision) => Some(code.resolve(revision)?),
        _ => code.head()?.commit,
    };
    let repo = match repo.or(here.repo.as_ref()) {
        Some(repo) => Some(repo.clone()),
        None => {
            commit.map(|commit| named_before(ctx, code, &commit, base)).transpose()?.flatten().map(|(_, repo)| repo)
        }
    };
    let repo = repo.ok_or_else(|| unknown(ctx))?;
    let (files, commit) = match (subject, commit) {
        (Subject::Worktree, _) => {
            let files = Files::checkout(code).ok_or_else(|| OpError::usage("a bare repository has no working tree"))?;
            (Some(files), None)
        }
        (Subject::Staged, _) => (Some(Files::Commit(code, code.staged()?)), None),
        (_, Some(commit)) => (Some(Files::at(code, &commit)?), Some(commit)),
        (_, None) => (None, None),
    };
    Ok(Some(Found { repo, files, commit }))
}

/// Returns the context of the realm that this clone joined, if the current commit names no realm, but the user or an
/// earlier commit names the repository to check, as in a pull request that deletes the file with the name.
///
/// # Errors
/// Returns an error if the realm cannot be opened.
pub fn in_joined_realm(
    ctx: &Ctx,
    subject: &Subject,
    repo: Option<&RepoName>,
    base: Option<&str>,
) -> Result<Option<Ctx>, OpError> {
    let is_unnamed = ctx.realm.as_ref().is_err_and(|error| error.code == ErrorCode::NotInRealm) && ctx.as_of.is_none();
    let Some(code) = ctx.code.as_ref().filter(|_| is_unnamed) else { return Ok(None) };
    let Some(joined) = joined::read(&ctx.home, code)? else { return Ok(None) };
    let ctx = Ctx { progress: ctx.progress.clone(), ..Ctx::open(ctx.env.clone(), Some(joined.realm))? };
    let is_found = repo.is_some() || find(&ctx, subject, None, base).is_ok();
    Ok(is_found.then_some(ctx))
}

/// Returns a finding if `.blue/config.yaml`, which names the realm and the repository, was removed: an earlier commit
/// has it, but the judged files do not. There is no finding if something else names the repository, or if the
/// repository left the realm. If the base lacks the file too, the finding is a warning.
///
/// # Errors
/// Returns an error if a commit cannot be read.
pub fn removed_config(
    ctx: &Ctx,
    found: &Found<'_>,
    base: (Option<&Oid>, Option<&str>),
) -> Result<Option<Finding>, OpError> {
    let (code, Some(files)) = (ctx.code()?, &found.files) else { return Ok(None) };
    let is_named = ctx.env.text(REPO).is_some() || code.config("blue.repo").is_some();
    let commit = found.commit.or(code.head()?.commit);
    let (Some(commit), false) = (commit, is_named || files.exists(CONFIG)?) else { return Ok(None) };
    let Some((named, repo)) = named_before(ctx, code, &commit, base.1)? else { return Ok(None) };
    if !read::repos(&*ctx.realm()?.store)?.repos.contains_key(&repo) {
        return Ok(None);
    }
    let has_file = |commit| Files::at(code, commit)?.exists(CONFIG);
    let message = format!("it is deleted: once this is merged, nothing from {repo} is published any more");
    let finding = match base.0.map(has_file).transpose()? {
        Some(false) => Finding { caused_by: Cause::AlreadyInTheRealm, ..Finding::warning("config-removed", message) },
        _ => Finding::error("config-removed", message),
    };
    let restore = match found.commit {
        Some(_) => joined::restore_config(code, &named),
        None => joined::stage_config(code, &named),
    };
    let restore = format!("{restore}  # restore it, unless {repo} leaves: git blue leave");
    Ok(Some(Finding { resolution: vec![restore], ..finding.repo(&repo).at(CONFIG, None) }))
}

/// Returns an error if the judged files have the name of another repository, whose contracts and imports would be judged
/// instead of this repository's own. A clone of a fork has the root commits of the original.
///
/// # Errors
/// Returns an error if the clone or the realm cannot be read.
pub fn other_repository(ctx: &Ctx, found: &Found<'_>) -> Result<Option<Finding>, OpError> {
    let (here, code) = (ctx.realm()?, ctx.code()?);
    let Some((bytes, _)) = found.config()?.filter(|(_, config)| config.repo == found.repo) else { return Ok(None) };
    let acting = ActingRepo { realm: &here.realm, store: &*here.store, repo: &found.repo, code: Some(code) };
    let Some(held) = identity::entry(acting)? else { return Ok(None) };
    let error = match joined::read(&ctx.home, code)?.filter(|joined| joined.realm == here.realm) {
        Some(joined) if joined.repo == found.repo || joined.is_replaced_by(acting) => return Ok(None),
        Some(joined) => identity::joined_as_other_error(&joined, acting),
        None if identity::is_another(code, &held)? => identity::wrong_repository_error(acting, code, &held),
        None => return Ok(None),
    };
    let line = codec::line_at(&bytes, "/repo");
    Ok(Some(Finding::error("other-repository", error.message).repo(&found.repo).at(CONFIG, line)))
}

/// Returns a warning if the judged files name a URL of the realm that `init --url` refuses: nobody can join by it, and
/// everybody can read a password in it.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub fn refused_url(found: &Found<'_>) -> Result<Option<Finding>, OpError> {
    let Some(url) = found.config()?.and_then(|(_, config)| config.realm.url) else { return Ok(None) };
    let refused = url::accept(&url).and_then(|url| url::refuse_credentials(Some(url))).err();
    let finding = |error: OpError| Finding::warning("refused-url", error.message).repo(&found.repo).at(CONFIG, None);
    Ok(refused.map(finding))
}

/// Returns a finding if the judged files share the realm at another URL than the one that was typed.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub fn shared_elsewhere(found: &Found<'_>, typed: &str) -> Result<Option<Finding>, OpError> {
    let Some((_, config)) = found.config()? else { return Ok(None) };
    let warning = |message| Finding::warning("other-url", message).notes(mirror(&config, typed)).repo(&found.repo);
    Ok(config::shared_elsewhere(&config, typed).map(|message| warning(message).at(CONFIG, None)))
}

/// Returns how to read a mirror of the realm at the URL that `.blue/config.yaml` has.
fn mirror(config: &Config, typed: &str) -> Option<String> {
    let url = shell_word(&without_credentials(config.realm.url.as_ref()?));
    let key = format!("url.{}.insteadOf", without_credentials(typed));
    let key = shell_word(&key);
    Some(format!("if that is a mirror: git config --global {key} {url} lets git read it; then pass {url}"))
}

/// Returns the repository's name in the judged commit, the base or an ancestor, with the commit that has it, so that a
/// commit that removes the file with the name is judged too.
fn named_before(
    ctx: &Ctx,
    code: &CodeRepo,
    commit: &Oid,
    base: Option<&str>,
) -> Result<Option<(Oid, RepoName)>, OpError> {
    let realm = &ctx.realm()?.realm;
    let base = match base {
        Some(revision) => Some(check_base::named(code, commit, revision)?),
        None => check_base::on_a_runner(ctx, code, commit)?.commit,
    };
    for commit in [*commit].into_iter().chain(base).chain(code.first_parents(*commit, MAX_COMMITS)) {
        if let Some(config) = proposed_at(code, &commit)? {
            return Ok(Some((commit, config.repo)).filter(|_| config.realm.name == *realm));
        }
    }
    Ok(None)
}

/// Returns the error for a repository that the realm does not have. Its name is from the judged files or, if
/// `is_given`, from the user. `known` are the repositories of the realm.
///
/// # Errors
/// Returns an error if the clone cannot be read.
pub fn not_in_the_realm<'r>(
    ctx: &Ctx,
    (repo, is_given): (&RepoName, bool),
    known: impl Iterator<Item = &'r RepoName> + Clone,
) -> Result<OpError, OpError> {
    let realm = &ctx.realm()?.realm;
    let meant = nearest::did_you_mean(repo, known.clone());
    let message = format!("nothing was checked: the realm {realm} has no repository {repo}{meant}");
    let error = OpError::cannot(ErrorCode::UnknownRepo, message);
    let joined = ctx.code.as_ref().map(|code| joined::read(&ctx.home, code)).transpose()?.flatten();
    let is_known = |joined: &Joined| joined.realm == *realm && known.clone().any(|name| *name == joined.repo);
    Ok(match joined.filter(is_known) {
        Some(joined) if is_given => error.next(format!("git blue check --repo {}", joined.repo)),
        Some(_) if ctx.env.text(REPO).is_some() => error.next("unset GIT_BLUE_REPO"),
        Some(joined) => error.next(format!("write repo: {} into {CONFIG}", joined.repo)),
        None => error
            .next(format!("git blue init --realm {realm}  # in a clone of it; then git blue sync"))
            .next(NextStep::option(CliOption::Repo, "pass --repo NAME, with its name in the realm")),
    })
}

/// Returns the error without the command that needs the realm, which is not kept.
pub fn in_a_temporary_realm(mut error: OpError) -> OpError {
    let command = NextStep::from(CHECK_ONLY_THE_REALM);
    for step in error.next_steps.iter_mut().filter(|step| **step == command) {
        *step = NextStep::advice("pass --published too, to check only the realm");
    }
    error
}

fn outside(ctx: &Ctx, repo: &RepoName) -> OpError {
    let message = if ctx.is_nowhere() {
        format!("nothing was checked: this machine has no clone of {repo}")
    } else {
        format!("nothing was checked: {} is not in a git repository", ctx.env.cwd().display())
    };
    OpError::cannot(ErrorCode::NotInGit, message)
        .next(NextStep::option(CliOption::Folder, format!("change to a clone of {repo}, or pass -C DIR")))
        .next(CHECK_ONLY_THE_REALM)
}

fn unknown(ctx: &Ctx) -> OpError {
    let message = if ctx.is_nowhere() {
        "nothing was checked: no repository was named".to_owned()
    } else {
        format!("nothing was checked: cannot tell which repository {} is", ctx.env.cwd().display())
    };
    OpError::cannot(ErrorCode::RepoUndetermined, message)
        .next(NextStep::option(CliOption::Repo, "pass its name in the realm with --repo NAME, or set GIT_BLUE_REPO"))
        .next(CHECK_ONLY_THE_REALM)
        .next(NextStep::option(CliOption::Folder, "change to a repository of the realm, or pass -C DIR"))
}
