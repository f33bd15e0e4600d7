//! Recognizes a clone that is behind the last published commit and has nothing new to publish. Its user only has to
//! pull.

use crate::{
    error::{NextStep, OpError},
    model::{
        candidate,
        name::DomainName,
        oid::Oid,
        text::{shell_path, shell_word},
        trailer,
    },
    ops::ctx::ActingRepo,
    repo::{
        CodeRepo,
        blue_files::{self, Files},
    },
    store::{Objects as _, StoreError, history, read},
};

/// The maximum number of commits that are searched for a publisher.
pub const MAX_HISTORY: usize = 200;

/// Returns whether `commit` of the publishing branch is behind the published one, which descends from it.
///
/// # Errors
/// Returns an error if history cannot be read.
pub fn is_behind(code: &CodeRepo, branch: &str, commit: &Oid, published: &Oid) -> Result<bool, StoreError> {
    // A shallow clone may have the published commit beyond its boundary.
    if code.is_shallow()? || !lacks(code, branch, commit, published)? {
        return Ok(false);
    }
    code.is_ancestor(commit, published)
}

/// Returns whether the publishing branch lacks a published commit that was not dropped from it, as far as this clone knows.
///
/// # Errors
/// Returns an error if history cannot be read.
pub fn lacks(code: &CodeRepo, branch: &str, commit: &Oid, published: &Oid) -> Result<bool, StoreError> {
    let tip = code.reference(&format!("refs/heads/{branch}"))?.unwrap_or(*commit);
    Ok(!code.is_ancestor(published, &tip)? && !is_dropped(code, branch, published)?)
}

/// Returns whether a published commit was dropped in this clone: the publishing branch had it before an amend or a
/// reset, and neither it nor its upstream has it now. While the upstream has it, a pull brings it back.
///
/// # Errors
/// Returns an error if history cannot be read.
pub fn is_dropped(code: &CodeRepo, branch: &str, published: &Oid) -> Result<bool, StoreError> {
    if !code.replaced(branch, published)? {
        return Ok(false);
    }
    for tip in [code.reference(&format!("refs/heads/{branch}"))?, code.upstream(branch)?].into_iter().flatten() {
        if code.is_ancestor(published, &tip)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Names a published commit that this clone lacks, with its publisher. Returns `None` if this clone has it.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn absent(
    acting: ActingRepo<'_>,
    code: &CodeRepo,
    domain: &DomainName,
    published: &Oid,
) -> Result<Option<String>, StoreError> {
    if code.has(published) {
        return Ok(None);
    }
    let publisher = publisher(acting, domain, published)?.map(|name| format!(" by {name}")).unwrap_or_default();
    Ok(Some(format!("{}{publisher}", published.short())))
}

/// Returns who published a commit in a domain: the committer of the oldest commit of the domain that names it.
fn publisher(acting: ActingRepo<'_>, name: &DomainName, published: &Oid) -> Result<Option<String>, StoreError> {
    let Some(tip) = acting.store.domain_tip(name)? else { return Ok(None) };
    let published = published.to_string();
    let mut publisher = None;
    for commit in history::since(acting.store, &tip, &[], MAX_HISTORY)? {
        let info = acting.store.commit(&commit)?;
        if trailer::last(&info.message, trailer::SOURCE) == Some(&published) {
            publisher = info.committer.split_once(" <").map(|(name, _)| name.to_owned());
        }
    }
    Ok(publisher)
}

/// Returns the command that brings the published commit into the publishing branch, with the reason.
///
/// # Errors
/// Returns an error if HEAD cannot be read.
pub fn pull(code: &CodeRepo, branch: &str, published: &Oid, reason: &str) -> Result<NextStep, OpError> {
    let (is_here, origin) = (is_checked_out_here(code, branch)?, shell_word(&code.origin()));
    let step = match code.origin_url() {
        None if is_here && code.has(published) => format!("git merge {}", published.short()),
        None => return Ok("fetch that commit from the clone that has it, merge it, and publish again".into()),
        Some(_) if is_here => format!("git {}", pull_into(code, branch)),
        Some(_) => match code.other_worktree_on(branch)? {
            // git refuses to fetch into a branch that is checked out, that has its own commits, or that is being rebased.
            Some(folder) => format!("git -C {} {}", shell_path(&folder), pull_into(code, branch)),
            None if code.replaying().is_some() || has_own_commits(code, branch)? => {
                return Ok(format!("git fetch {origin}  # merge {origin}/{branch} into {branch}, {reason}").into());
            }
            None => format!("git fetch {origin} {}", shell_word(&format!("{branch}:{branch}"))),
        },
    };
    Ok(format!("{step}  # {reason}").into())
}

/// Returns the step that drops a commit here too, which another clone dropped from the branch. Returns `None` where the
/// branch is not checked out, or has no origin.
///
/// # Errors
/// Returns an error if HEAD cannot be read.
pub fn drop(code: &CodeRepo, branch: &str, dropped: &Oid) -> Result<Option<NextStep>, OpError> {
    if code.origin_url().is_none() || !is_checked_out_here(code, branch)? {
        return Ok(None);
    }
    // A pull without a rebase keeps the commit: it finds nothing new in an older commit.
    let pull = pull_into(code, branch).replacen("pull", "pull --rebase", 1);
    Ok(Some(format!("git {pull}  # drop {} here too; your other commits stay", dropped.short()).into()))
}

fn is_checked_out_here(code: &CodeRepo, branch: &str) -> Result<bool, StoreError> {
    Ok(code.workdir().is_some() && code.head()?.branch.as_deref() == Some(branch))
}

/// Returns the arguments with which git pulls into a branch that is checked out. A clone that was made with `--bare` tracks
/// nothing.
fn pull_into(code: &CodeRepo, branch: &str) -> String {
    match code.config(&format!("branch.{branch}.merge")) {
        Some(_) => "pull".to_owned(),
        None => format!("pull {} {}", shell_word(&code.origin()), shell_word(branch)),
    }
}

/// Returns the step that publishes `commit` in place of the `published` one, if history may have been rewritten: as of
/// the last fetch, the branch at origin lacks the published commit, or, in a repository without origin, all refs lack
/// it.
///
/// # Errors
/// Returns an error if history cannot be read.
pub fn replace(code: &CodeRepo, branch: &str, (commit, published): (&Oid, &Oid)) -> Result<Option<NextStep>, OpError> {
    let is_kept = match code.upstream(branch)? {
        Some(upstream) => code.is_ancestor(published, &upstream)?,
        None => code.origin_url().is_some() || code.is_in_a_ref(published)?,
    };
    if is_kept {
        return Ok(None);
    }
    let is_head = code.head()?.commit.as_ref() == Some(commit);
    let at = if is_head { String::new() } else { format!(" --commit {}", commit.short()) };
    let reason = format!(
        "if {} was dropped from {branch}, for example when its history was \
        rewritten",
        published.short()
    );
    Ok(Some(format!("git blue contract publish{at} --rollback --reason \"…\"  # {reason}").into()))
}

/// Returns the step that merges the published commit into a branch that lacks it. In the middle of a rebase, returns
/// the step that continues it, since one of the remaining commits may be the published one.
///
/// # Errors
/// Returns an error if the publishing branch cannot be determined.
pub fn merge(code: &CodeRepo, published: &Oid) -> Result<String, OpError> {
    if let Some(command) = code.replaying() {
        return Ok(format!("git {command} --continue  # later commits may have what was published; then check again"));
    }
    if code.has(published) {
        let reason = "it contains what has since been published; then check again";
        return Ok(format!("git merge {}  # {reason}", published.short()));
    }
    Ok(match code.publishing_branch()?.filter(|_| code.origin_url().is_some()) {
        Some(branch) => {
            let (origin, branch) = (code.origin(), shell_word(&format!("{}/{branch}", code.origin())));
            format!(
                "git fetch {} && git merge {branch}  # get what has since been published, if that commit is \
                    pushed; then check again",
                shell_word(&origin)
            )
        }
        None => format!("fetch {} from the clone that has it, merge it, and check again", published.short()),
    })
}

/// Returns the command that makes a rollback to the commit `to` permanent, with the reason: it reverts the `newer`
/// commits, which were published before, on the publishing branch. Otherwise the next change would publish them again.
/// Returns `None` if the files under `.blue/` on the publishing branch are already those of `to`.
///
/// # Errors
/// Returns an error if a commit cannot be read.
pub fn revert(code: &CodeRepo, branch: &str, newer: &[Oid], to: &Oid) -> Result<Option<NextStep>, OpError> {
    let Some(mut latest) = newer.first().copied() else { return Ok(None) };
    for commit in &newer[1..] {
        if code.is_ancestor(&latest, commit)? {
            latest = *commit;
        }
    }
    let tip = code.reference(&format!("refs/heads/{branch}"))?.unwrap_or(latest);
    let files = |commit: &Oid| {
        let entry = read::lookup(code, &code.tree_of(commit)?, blue_files::FOLDER)?;
        Ok::<_, StoreError>(entry.map(|entry| entry.id))
    };
    if files(&tip)? == files(to)? {
        return Ok(None);
    }
    if let Some(path) = first_untracked(code, to)? {
        let step = format!(
            "move {path} elsewhere, then roll .blue/ back to {}, which would overwrite it: it is not committed",
            to.short()
        );
        return Ok(Some(NextStep::advice(step)));
    }
    // Several reverts would publish the versions in between, and could revert commits of other people.
    let (command, stops) = if code.commit(&latest)?.parents == [*to] && files(&tip)? == files(&latest)? {
        (format!("git revert --no-edit {}", latest.short()), "")
    } else {
        (restore(to), "; it stops at uncommitted changes below .blue/")
    };
    let reason = format!("{branch} still has that commit, and the next change on it would publish it again{stops}");
    Ok(Some(format!("{command}  # {reason}").into()))
}

/// Returns the command that commits the files under `.blue/` as they were in the commit `to`. It lists uncommitted changes
/// of these files, and stops, since `git restore` would overwrite them.
fn restore(to: &Oid) -> String {
    let (to, folder) = (to.short(), format!(":/{}", blue_files::FOLDER));
    let guard = candidate::unless_edited(&folder);
    format!(
        "{guard}git restore --source={to} --staged --worktree {folder} && \
            git commit -m 'Roll back to {to}' -- {folder}"
    )
}

/// Returns the first file under `.blue/` that the commit `to` has, HEAD lacks, and the working tree has: git would
/// overwrite it if it restored `to`.
fn first_untracked(code: &CodeRepo, to: &Oid) -> Result<Option<String>, OpError> {
    let (Some(root), Some(head)) = (code.workdir(), code.head()?.commit) else { return Ok(None) };
    let head = Files::at(code, &head)?;
    for path in Files::at(code, to)?.below(blue_files::FOLDER)?.into_keys() {
        if root.join(&path).symlink_metadata().is_ok() && !head.exists(&path)? {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Returns whether a branch has commits that its upstream does not have.
fn has_own_commits(code: &CodeRepo, branch: &str) -> Result<bool, StoreError> {
    let (tip, upstream) = (code.reference(&format!("refs/heads/{branch}"))?, code.upstream(branch)?);
    match (tip, upstream) {
        (Some(tip), Some(upstream)) => Ok(!code.is_ancestor(&tip, &upstream)?),
        _ => Ok(false),
    }
}
