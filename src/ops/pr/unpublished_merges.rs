//! What is merged in the repositories of an RFC, but not published.

use std::collections::BTreeMap;

use super::{merge_steps::has_to_merge, rfc::Head, rfc_work::RepoWork};
use crate::{
    error::OpError,
    model::{
        name::RepoName,
        oid::Oid,
        text::{shell_path, shell_word},
    },
    ops::{
        contract,
        ctx::{ActingRepo, Ctx, RealmContext},
        publish::{branch_commit::Scope, candidate::Sources, catch_up},
    },
    repo::CodeRepo,
    store::{StoreError, overview::Overview},
    wire::PrRepo,
};

/// The merged commits of an RFC in a repository, if they are not published.
pub struct Waiting<'a> {
    /// The repository.
    pub place: &'a RepoWork,
    /// The commit.
    pub commit: String,
    /// What is not published.
    pub what: String,
    /// The step that publishes it, if it is known.
    pub step: Option<String>,
}

impl Waiting<'_> {
    /// Returns the commit, to be judged like a branch that is still to merge.
    pub fn head(&self) -> Head<'_> {
        Head { repo: &self.place.found.name, folder: &self.place.path, commit: &self.commit }
    }
}

/// Returns what is merged in repositories with nothing left to merge, if it is not published: the merge on the forge, or
/// the publishing branch. It counts like a branch that is still to merge. `merges` are the commits by which pull requests
/// were merged. A repository that cannot be read is left out.
pub fn find<'a>(
    ctx: &Ctx,
    here: &RealmContext,
    tips: &[(&'a RepoWork, Option<String>)],
    lines: &[PrRepo],
    merges: &BTreeMap<RepoName, String>,
) -> Result<Vec<Waiting<'a>>, OpError> {
    let overview = Overview::open(&*here.store)?;
    let is_merged = |name: &RepoName| lines.iter().any(|line| line.name == *name && !has_to_merge(line));
    let mut waiting = Vec::new();
    for (place, head) in tips.iter().filter(|(place, _)| is_merged(&place.found.name)) {
        let Ok(Some(code)) = ctx.other_repo(&place.found.folder) else { continue };
        let acting = ActingRepo { realm: &here.realm, store: &*here.store, repo: &place.found.name, code: Some(&code) };
        let sources = contract::publish::sources(acting, Some(&overview))?;
        let merge = merges.get(&place.found.name).map(String::as_str);
        if let Some(merge) = unpublished_merge((acting, &code), place, (head.as_deref(), merge), &sources) {
            waiting.push(merge);
            continue;
        }
        let found = catch_up::unpublished_commit(acting, &code, Scope::All(&sources));
        waiting.extend(
            found
                .ok()
                .flatten()
                .filter(|found| found.unclear.is_none() && found.behind.is_none())
                .map(|found| Waiting { place, commit: found.commit.to_string(), what: found.branch, step: None }),
        );
    }
    Ok(waiting)
}

/// Returns the merge of a branch with this `head` on the forge, if it is neither here nor published. One that cannot be
/// judged counts as published.
fn unpublished_merge<'a>(
    (acting, code): (ActingRepo<'_>, &CodeRepo),
    place: &'a RepoWork,
    (head, merge): (Option<&str>, Option<&str>),
    sources: &Sources,
) -> Option<Waiting<'a>> {
    let (head, merge) = (head?.parse().ok()?, merge?.parse().ok()?);
    let branch = place.found.default.as_ref()?;
    let is_here = !is_to_pull(code, branch, &merge, sources.values().flat_map(|source| source.latest())).ok()?;
    if is_here || !catch_up::has_changes(acting, code, branch, head, sources).ok()? {
        return None;
    }
    let step = Some(pull(code, place, branch));
    Some(Waiting { place, commit: head.to_string(), what: "its merge".to_owned(), step })
}

/// Returns whether neither the publishing branch nor what was published has the commit by which a pull request was merged. A
/// published commit that is not here comes from another clone, which may have pulled.
fn is_to_pull(
    code: &CodeRepo,
    branch: &str,
    merge: &Oid,
    published: impl Iterator<Item = Oid>,
) -> Result<bool, StoreError> {
    for tip in code.reference(&format!("refs/heads/{branch}"))?.into_iter().chain(published) {
        if tip == *merge || !code.has(&tip) || (code.has(merge) && code.is_ancestor(merge, &tip)?) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the command that brings a merge into the publishing branch, and publishes it.
fn pull(code: &CodeRepo, place: &RepoWork, branch: &str) -> String {
    let (folder, remote) = (shell_path(&place.found.folder), shell_word(&place.found.remote));
    let is_here = code.head().is_ok_and(|head| head.branch.as_deref() == Some(branch)) && !code.is_bare();
    let branch = shell_word(branch);
    let pull = if is_here {
        format!("git -C {folder} pull {remote} {branch}")
    } else {
        format!("git -C {folder} fetch {remote} {branch}:{branch} && git -C {folder} blue status")
    };
    format!("{pull}  # publish what was merged on the forge")
}
