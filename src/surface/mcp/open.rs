//! Keeps projects open between calls. Opening a repository and a realm costs more than most answers, so both are kept,
//! and reopened if a file that determines them has changed.

use std::{
    cell::RefCell,
    path::{Path, PathBuf},
    rc::Rc,
};

use crate::{
    env::Env,
    error::OpError,
    model::{name::RealmName, oid::Oid},
    ops::ctx::{Ctx, RealmContext},
    platform::files::Stamp,
};

/// The maximum number of projects that stay open.
const MAX_OPEN: usize = 8;

/// The project of a call: a folder, and optionally a realm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// The folder, an absolute path.
    pub folder: PathBuf,
    /// The realm that the call names.
    pub realm: Option<RealmName>,
}

impl Project {
    /// Opens the project for one call.
    ///
    /// # Errors
    /// Returns an error if the repository that contains its folder cannot be opened, or there is no home folder.
    pub fn ctx(&self, env: &Env) -> Result<Ctx, OpError> {
        Ctx::open(env.clone().at(&self.folder), self.realm.clone())
    }
}

struct Opened {
    project: Project,
    ctx: Rc<Ctx>,
    /// The files that determine the repository and the realm, as they were when the project was opened.
    stamps: Vec<(PathBuf, Option<Stamp>)>,
    /// The commit of the realm's own ref at that time. Its content, such as the format, is checked only on opening.
    realm: Option<Oid>,
}

thread_local! {
    // Operations run on one thread, since their contexts cannot be shared.
    static OPENED: RefCell<Vec<Opened>> = const { RefCell::new(Vec::new()) };
}

/// Returns the open project, or opens it.
///
/// # Errors
/// Returns an error if the repository that contains its folder cannot be opened, or there is no home folder.
pub fn open(env: &Env, project: &Project) -> Result<Rc<Ctx>, OpError> {
    OPENED.with_borrow_mut(|opened| {
        if let Some(at) = opened.iter().position(|one| one.project == *project) {
            let found = opened.remove(at);
            if found.stamps.iter().all(|(path, before)| stamp(path) == *before) && realm_tip(&found.ctx) == found.realm
            {
                let ctx = found.ctx.clone();
                opened.push(found);
                return Ok(ctx);
            }
        }
        let ctx = Rc::new(project.ctx(env)?);
        let realm = realm_tip(&ctx);
        let stamps = deciding(&ctx, project).into_iter().map(|path| (path.clone(), stamp(&path))).collect();
        // Only a project whose repository and realm were found stays open, because either may appear later: a
        // repository in any parent folder. The root has no parent folder.
        if (ctx.code.is_some() || project.folder == Path::new("/")) && ctx.realm.is_ok() {
            opened.drain(..opened.len().saturating_sub(MAX_OPEN - 1));
            opened.push(Opened { project: project.clone(), ctx: ctx.clone(), stamps, realm });
        }
        Ok(ctx)
    })
}

fn realm_tip(ctx: &Ctx) -> Option<Oid> {
    ctx.realm.as_ref().ok().and_then(RealmContext::tip)
}

/// Returns the files that determine the repository and realm of a project.
fn deciding(ctx: &Ctx, project: &Project) -> Vec<PathBuf> {
    let mut paths = vec![ctx.home.folder().join("config"), project.folder.join(".git")];
    if let Some(code) = &ctx.code {
        let root = code.workdir();
        paths.extend(root.iter().flat_map(|root| [root.join(".git"), root.join(".blue/config.yaml")]));
        let common = root.filter(|root| root.join(".git").is_dir()).map(|root| root.join(".git"));
        paths.extend([code.git_dir().join("config"), code.git_dir().join("config.worktree")]);
        paths.extend(common.map(|common| common.join("config")));
        paths.push(code.main_folder().join(".git/config"));
    }
    if let Ok(here) = &ctx.realm
        && let Ok(Some(known)) = ctx.home.realm(&here.realm)
    {
        // A recreated store has another folder of objects.
        paths.push(known.path.join("objects"));
    }
    let config = ctx.env.var("XDG_CONFIG_HOME").map(PathBuf::from);
    let config = config.or_else(|| ctx.env.home().map(|home| home.join(".config")));
    paths.extend(config.map(|config| config.join("git/config")));
    paths.extend(ctx.env.home().map(|home| home.join(".gitconfig")));
    paths.extend(ctx.env.var("GIT_CONFIG_GLOBAL").map(PathBuf::from));
    paths.sort_unstable();
    paths.dedup();
    paths
}

/// Returns a stamp that changes with a file; `None` if it does not exist.
fn stamp(path: &Path) -> Option<Stamp> {
    let stamp = Stamp::of(path).ok()?;
    // A folder's size and times are ignored, since they change with its content.
    Some(if stamp.is_folder { Stamp { size: 0, modified: (0, 0), changed: (0, 0), ..stamp } } else { stamp })
}
