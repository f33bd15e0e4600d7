//! Who wrote a change.

use crate::{
    locate,
    model::{name::RepoName, oid::Oid},
    ops::{ctx::ActingRepo, history::origins::Origin},
    store::history,
};

/// The maximum number of commits of a domain that are searched for what somebody published.
const MAX_COMMITS: usize = 200;

/// Returns the commit that made a change, with its writer as seen by the repository that the changed document belongs
/// to. If concurrent commits made the change, returns the one whose writer is farthest from that repository. `tip` is
/// the domain's.
pub fn farthest<'o>(
    owner: Option<ActingRepo<'_>>,
    tip: &Oid,
    origins: &'o [Origin],
) -> Option<(Option<Writer>, &'o Origin)> {
    let writer = |origin| owner.map(|owner| Writer::in_domain(owner, tip, origin));
    origins.iter().map(|origin| (writer(origin), origin)).max_by_key(|(writer, origin)| (*writer, origin.time))
}

/// The writer of a change to a contract or binding of this repository, according to its commit, the nearest first. This
/// is not verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Writer {
    /// The user of this clone, or somebody whose commit this clone has.
    ThisClone,
    /// The repository itself, by a commit that this clone does not have yet.
    OtherClone,
    /// Somebody else: the change names another repository, or it names no source commit, and its committer never made a
    /// commit in this repository.
    Other,
}

impl Writer {
    /// Returns the writer of a commit of a domain, whose history also shows teammates whose commits this clone lacks.
    fn in_domain(acting: ActingRepo<'_>, tip: &Oid, origin: &Origin) -> Self {
        match Self::of(acting, origin) {
            Self::Other if origin.source_commit.is_none() && has_published(acting, tip, origin) => Self::OtherClone,
            writer => writer,
        }
    }

    /// Returns the writer of a commit.
    pub(super) fn of(acting: ActingRepo<'_>, origin: &Origin) -> Self {
        if !is_of(acting, origin) {
            return Self::Other;
        }
        let Some(code) = acting.code else { return Self::ThisClone };
        let email = email(origin);
        let is_publisher = |own: String| own == email;
        let source = origin.source_commit.as_ref().and_then(|commit| commit.parse().ok());
        match source {
            _ if code.config("user.email").is_some_and(is_publisher) => Self::ThisClone,
            Some(commit) if code.has(&commit) => Self::ThisClone,
            Some(_) => Self::OtherClone,
            // Changes such as a yank or a rename have no source commit. An author of this repository counts as a
            // teammate.
            None if code.has_author(email) => Self::OtherClone,
            None => Self::Other,
        }
    }
}

/// Returns whether the committer of a change of this repository lately published a commit of it in the domain.
fn has_published(acting: ActingRepo<'_>, tip: &Oid, change: &Origin) -> bool {
    let commits = history::since(acting.store, tip, &[], MAX_COMMITS).unwrap_or_default();
    let mut earlier = commits.iter().filter_map(|commit| Some(Origin::new(&acting.store.commit(commit).ok()?, None)));
    let is_publication =
        |one: &Origin| one.source_commit.is_some() && email(one) == email(change) && is_of(acting, one);
    is_of(acting, change) && earlier.any(|one| is_publication(&one))
}

/// Returns the address of a committer.
fn email(origin: &Origin) -> &str {
    origin.committer.rsplit_once('<').map_or("", |(_, email)| email.trim_end_matches('>'))
}

/// Returns whether a commit names this repository.
fn is_of(acting: ActingRepo<'_>, origin: &Origin) -> bool {
    origin.repo.as_deref().is_some_and(|repo| is_own_name(acting, repo))
}

/// Returns whether a repository is the current one, under its current or a former name.
fn is_own_name(acting: ActingRepo<'_>, name: &str) -> bool {
    let newer = |name: RepoName| locate::renamed::newer(acting.store, &name).ok().flatten();
    name == acting.repo.as_str() || name.parse().is_ok_and(|name| newer(name).as_ref() == Some(acting.repo))
}
