//! Finds the commit that a pull request is compared with. Problems that this commit already has are not caused by the
//! proposed change.

use crate::{
    error::{NextStep, OpError},
    locate::config,
    model::{oid::Oid, publish_policy::Policy, text::shell_word},
    ops::ctx::Ctx,
    repo::CodeRepo,
    store::Objects as _,
};

/// The target branch of a pull request, on runners of GitHub, Forgejo and Gitea.
const BASE_REF: &str = "GITHUB_BASE_REF";
/// The ref that a GitHub runner has checked out; `refs/pull/7/merge` is the merge of both sides.
const REF: &str = "GITHUB_REF";
/// The start of the refs of GitHub's merge queue, such as `refs/heads/gh-readonly-queue/main/pr-7-SHA`.
const QUEUE: &str = "refs/heads/gh-readonly-queue/";
/// The commit of the target branch that GitLab merged a merge request into, as in a merge train; empty if the runner has
/// checked out the source branch.
const MERGED_INTO: &str = "CI_MERGE_REQUEST_TARGET_BRANCH_SHA";
/// The commit at which a merge request branched off, on runners of GitLab.
const DIFF_BASE: &str = "CI_MERGE_REQUEST_DIFF_BASE_SHA";
/// The target branch of a merge request, on runners of GitLab.
const TARGET_BRANCH: &str = "CI_MERGE_REQUEST_TARGET_BRANCH_NAME";

/// The base of a pull request, as the runner names it.
#[derive(Debug, Default)]
pub struct Base {
    /// The commit, if this clone has it.
    pub commit: Option<Oid>,
    /// The branch to merge into, if a runner names it.
    pub branch: Option<String>,
    /// The base, if this clone does not have the commit, or its files.
    pub missing: Option<MissingBase>,
}

/// A base that this clone does not have.
#[derive(Debug)]
pub struct MissingBase {
    /// The revision.
    pub revision: String,
    /// The command that fetches it.
    pub fetch: String,
}

impl Base {
    /// Creates the base of a partial clone that lacks its files. The error names the command that fetches them.
    pub fn without_files(commit: &Oid, error: &OpError) -> Self {
        let fetch = error.next_steps.iter().find_map(NextStep::command).map_or_else(String::new, str::to_owned);
        Self { missing: Some(MissingBase { revision: commit.to_string(), fetch }), ..Self::default() }
    }

    /// Returns whether the base is published before what is merged into it: it is on the publishing branch, as far as
    /// this clone knows, and that is not published by hand.
    ///
    /// # Errors
    /// Returns an error if refs or history cannot be read.
    pub fn is_published_first(&self, code: &CodeRepo) -> Result<bool, OpError> {
        let Some(commit) = &self.commit else { return Ok(false) };
        let shared = config::proposed_at(code, commit).ok().flatten();
        if shared.and_then(|config| config.publish) == Some(Policy::Off) {
            return Ok(false);
        }
        let Some(publishing) = publishing_branch(code)? else { return Ok(true) };
        if let Some(branch) = &self.branch {
            return Ok(*branch == publishing);
        }
        let tips = [format!("refs/heads/{publishing}"), code.at_origin(&publishing)];
        let tips = tips.iter().filter_map(|name| code.reference(name).transpose()).collect::<Result<Vec<_>, _>>()?;
        let has_base = tips.iter().map(|tip| code.is_ancestor(commit, tip)).collect::<Result<Vec<_>, _>>()?;
        Ok(has_base.is_empty() || has_base.contains(&true))
    }
}

/// Returns the publishing branch. A runner may only have that of origin.
fn publishing_branch(code: &CodeRepo) -> Result<Option<String>, OpError> {
    let known = code.publishing_branch()?;
    let usual =
        || ["main", "master"].into_iter().find(|branch| matches!(code.reference(&code.at_origin(branch)), Ok(Some(_))));
    Ok(known.or_else(|| usual().map(str::to_owned)))
}

/// Returns the commit that `judged` is compared with: its merge base with the revision that the user named, or that
/// revision itself if there is no merge base.
///
/// # Errors
/// Returns an error if there is no such commit.
pub fn named(code: &CodeRepo, judged: &Oid, revision: &str) -> Result<Oid, OpError> {
    let base = resolve(code, revision)?;
    Ok(code.merge_base(judged, &base)?.unwrap_or(base))
}

/// Returns the commit of the revision that the user named.
///
/// # Errors
/// Returns an error if there is no such commit.
pub fn resolve(code: &CodeRepo, revision: &str) -> Result<Oid, OpError> {
    code.resolve(revision).map_err(|error| error.next(fetch(code, revision)))
}

/// Returns the command that fetches a missing revision, as it is named. A clone of one branch needs the full refspec to
/// see another one.
pub fn fetch(code: &CodeRepo, revision: &str) -> String {
    let origin = code.origin();
    let of_remote = revision.strip_prefix("refs/remotes/").unwrap_or(revision).strip_prefix(origin.as_str());
    let remote = of_remote.and_then(|rest| rest.strip_prefix('/'));
    let refspec = match (remote, revision.bytes().all(|byte| byte.is_ascii_hexdigit())) {
        (Some(branch), _) => format!("{branch}:{}", code.at_origin(branch)),
        (None, true) => revision.to_owned(),
        (None, false) => format!("{revision}:{revision}"),
    };
    if revision.contains(['~', '^', '@', ' ']) {
        "git fetch --unshallow  # if this is a shallow clone".to_owned()
    } else {
        format!("git fetch {} {}", shell_word(&origin), shell_word(&refspec))
    }
}

/// Returns the commit that the runner of a pull request compares `judged` with. Outside of such a runner, the base is
/// empty.
///
/// # Errors
/// Returns an error if history cannot be read.
pub fn on_a_runner(ctx: &Ctx, code: &CodeRepo, judged: &Oid) -> Result<Base, OpError> {
    let variable = |name: &str| ctx.env.text(name).filter(|text| !text.is_empty());
    let (queue_branch, queue_base) = variable(REF).and_then(queued).unzip();
    let commits = [MERGED_INTO, DIFF_BASE].into_iter().filter_map(variable).chain(queue_base);
    let mut revisions: Vec<_> = commits.map(str::to_owned).collect();
    for branch in [BASE_REF, TARGET_BRANCH].into_iter().filter_map(variable).chain(queue_branch) {
        revisions.extend([code.at_origin(branch), format!("refs/heads/{branch}")]);
    }
    if revisions.is_empty() {
        return Ok(Base::default());
    }
    let branch = [TARGET_BRANCH, BASE_REF].into_iter().find_map(variable).or(queue_branch).map(str::to_owned);
    for revision in &revisions {
        if let Ok(base) = code.resolve(revision) {
            let commit = code.merge_base(judged, &base)?.unwrap_or(base);
            return Ok(Base { commit: Some(commit), branch, missing: None });
        }
    }
    // A merge made by the forge has the base as its first parent, even if nothing else was fetched.
    let is_merge = variable(REF).is_some_and(|name| name.starts_with("refs/pull/") && name.ends_with("/merge"));
    let parents = code.commit(judged)?.parents;
    if let ([first, _], true) = (&parents[..], is_merge)
        && code.has(first)
    {
        return Ok(Base { commit: Some(*first), branch, missing: None });
    }
    let at_origin = branch.as_ref().map(|branch| format!("{}/{branch}", code.origin()));
    let missing = at_origin.or_else(|| revisions.first().cloned());
    let missing = missing.map(|revision| MissingBase { fetch: fetch(code, &revision), revision });
    Ok(Base { commit: None, branch, missing })
}

/// Returns the target branch of a ref of GitHub's merge queue, and the commit that the queue merged into: that of the
/// pull request before it.
fn queued(name: &str) -> Option<(&str, &str)> {
    let (branch, request) = name.strip_prefix(QUEUE)?.rsplit_once("/pr-")?;
    Some((branch, request.split_once('-')?.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merge_queues_name_their_base() {
        assert_eq!(queued("refs/heads/gh-readonly-queue/release/1.x/pr-7-0a1b"), Some(("release/1.x", "0a1b")));
        for other in ["refs/heads/main", "refs/pull/7/merge", "refs/heads/gh-readonly-queue/main/other"] {
            assert_eq!(queued(other), None);
        }
    }
}
