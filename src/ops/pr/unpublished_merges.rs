//! What is merged in the repositories of an RFC, but not published.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::{main_folder::MainFolder, progress::has_to_merge, rfc::Head, rfc_work::RepoWork};
use crate::{
    error::OpError,
    model::{
        name::RepoName,
        oid::Oid,
        publish_policy::Policy,
        text::{shell_path, shell_word},
    },
    ops::{
        contract,
        ctx::{ActingRepo, Ctx, RealmContext},
        publish::{branch_commit::Scope, candidate::Sources, catch_up},
    },
    repo::{CodeRepo, blue_files},
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
    is_pushed_by_hand: bool,
) -> Result<Vec<Waiting<'a>>, OpError> {
    let overview = Overview::open(&*here.store)?;
    let is_merged = |name: &RepoName| lines.iter().any(|line| line.name == *name && !has_to_merge(line));
    let mut waiting = Vec::new();
    for (place, head) in tips.iter().filter(|(place, _)| is_merged(&place.found.name)) {
        let Ok(Some(code)) = ctx.other_repo(&place.found.folder) else { continue };
        let acting = ActingRepo { realm: &here.realm, store: &*here.store, repo: &place.found.name, code: Some(&code) };
        let sources = contract::publish::sources(acting, Some(&overview))?;
        let merge = merges.get(&place.found.name).cloned().or_else(|| fetched(&code, place));
        let main = MainFolder::of(ctx, &place.found).ok().flatten();
        let merge = (head.as_deref(), merge.as_deref());
        if let Some(merge) = unpublished_merge((acting, &code), (place, main.as_ref()), merge, &sources) {
            waiting.push(merge);
            continue;
        }
        let found = catch_up::unpublished_commit(acting, &code, Scope::All(&sources)).ok().flatten();
        waiting.extend(found.filter(|found| found.unclear.is_none() && found.behind.is_none()).map(|found| {
            // With another policy, the push publishes, or CI does.
            let step = (found.policy == Policy::Commit).then(|| publish(&place.found.folder, is_pushed_by_hand));
            Waiting { place, commit: found.commit.to_string(), what: found.branch, step }
        }));
    }
    Ok(waiting)
}

/// Returns what is merged at the remotes of these repositories, as last fetched, but neither pulled nor published. It counts
/// like a branch that is still to merge. A repository that cannot be read is left out.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn at_remotes<'a>(ctx: &Ctx, here: &RealmContext, places: &'a [RepoWork]) -> Result<Vec<Waiting<'a>>, OpError> {
    let mut waiting = Vec::new();
    for place in places {
        let Ok(Some(code)) = ctx.other_repo(&place.found.folder) else { continue };
        let acting = ActingRepo { realm: &here.realm, store: &*here.store, repo: &place.found.name, code: Some(&code) };
        let sources = contract::publish::sources(acting, None)?;
        let (main, merge) = (MainFolder::of(ctx, &place.found).ok().flatten(), fetched(&code, place));
        let merge = (merge.as_deref(), merge.as_deref());
        waiting.extend(unpublished_merge((acting, &code), (place, main.as_ref()), merge, &sources));
    }
    Ok(waiting)
}

/// Returns the command that publishes what is merged here. Without hooks, the merge did not.
fn publish(folder: &Path, is_pushed_by_hand: bool) -> String {
    let folder = shell_path(folder);
    let sync = if is_pushed_by_hand { format!(" && git -C {folder} blue sync") } else { String::new() };
    format!("git -C {folder} blue hooks install && git -C {folder} blue status{sync}  # publish what is merged")
}

/// Returns the publishing branch at the remote, as last fetched, which has the commits of the RFC.
fn fetched(code: &CodeRepo, place: &RepoWork) -> Option<String> {
    let at_remote = place.work.at_origin(place.found.default.as_ref()?);
    Some(code.reference(&at_remote).ok()??.to_string())
}

/// Returns the repositories whose publishing branch has the RFC and contracts or bindings that are not pushed. Others do
/// not have them yet, so that a push of what relies on them would break their checks. One that cannot be read is left
/// out.
pub fn unpushed(tips: &[(&RepoWork, Option<String>)]) -> BTreeSet<RepoName> {
    let is_unpushed = |place: &RepoWork, head: &str| {
        let Some(main) = place.found.default.as_deref() else { return Ok(false) };
        Ok::<_, StoreError>(
            place.work.is_unpushed(main, blue_files::FOLDER)?
                && place.work.is_in(head, &format!("refs/heads/{main}"))?,
        )
    };
    let unpushed = tips
        .iter()
        .filter(|(place, head)| head.as_deref().is_some_and(|head| is_unpushed(place, head).unwrap_or_default()));
    unpushed.map(|(place, _)| place.found.name.clone()).collect()
}

/// Returns the merge of a branch with this `head` on the forge, if it is neither here nor published. One that cannot be
/// judged counts as published.
fn unpublished_merge<'a>(
    (acting, code): (ActingRepo<'_>, &CodeRepo),
    (place, main): (&'a RepoWork, Option<&MainFolder>),
    (head, merge): (Option<&str>, Option<&str>),
    sources: &Sources,
) -> Option<Waiting<'a>> {
    let (head, merge) = (head?.parse().ok()?, merge?.parse().ok()?);
    let branch = place.found.default.as_ref()?;
    let is_here = !is_to_pull(code, branch, &merge, sources.values().flat_map(|source| source.latest())).ok()?;
    if is_here || !catch_up::has_changes(acting, code, branch, head, sources).ok()? {
        return None;
    }
    let step = Some(pull(place, branch, main));
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
fn pull(place: &RepoWork, branch: &str, main: Option<&MainFolder>) -> String {
    let (folder, remote) = (shell_path(&place.found.folder), shell_word(&place.found.remote));
    let checked_out = main.filter(|main| main.has_branch).and_then(MainFolder::pull);
    let branch = shell_word(branch);
    let pull = checked_out
        .unwrap_or_else(|| format!("git -C {folder} fetch {remote} {branch}:{branch} && git -C {folder} blue status"));
    format!("{pull}  # publish what was merged on the forge")
}
