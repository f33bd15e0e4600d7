//! Recognizes files of a domain that was removed, or that the repository was removed from. Its user removes the files,
//! rather than making the domain again.

use std::collections::BTreeSet;

use crate::{
    error::{ErrorCode, OpError},
    model::{
        check::Finding,
        domain::Domain,
        name::{ContractName, DomainName, RepoName},
    },
    repo::{CodeRepo, blue_files},
    store::{Store, StoreError, StoreRef, history, layout, read},
};

/// The maximum number of commits that are searched for a former member.
const MAX_HISTORY: usize = 1_000;

/// What was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// The domain.
    Domain,
    /// The repository, from the domain.
    Member,
}

impl Removal {
    /// Returns what was removed, if the repository is not a member of the domain but was one, or the domain was removed.
    ///
    /// # Errors
    /// Returns an error if the domain cannot be read.
    pub fn of(store: &dyn Store, name: &DomainName, repo: &RepoName) -> Result<Option<Self>, StoreError> {
        let within = StoreRef::Domain(name.clone());
        let Some(tip) = store.tip(&within)? else { return Ok(None) };
        // A realm that was fetched for one check lacks its history.
        let now = read::file::<Domain>(store, &within, &store.commit(&tip)?.tree, &layout::domain())?;
        if now.is_some_and(|info| info.removed && !info.has_member(repo)) {
            return Ok(Some(Self::Domain));
        }
        let mut seen = BTreeSet::new();
        for commit in history::since(store, &tip, &[], MAX_HISTORY)? {
            let tree = store.commit(&commit)?.tree;
            let Some(entry) = read::lookup(store, &tree, layout::domain().as_str())? else { continue };
            if !seen.insert(entry.id) {
                continue;
            }
            let Some(info) = read::file::<Domain>(store, &within, &tree, &layout::domain())? else { continue };
            match (commit == tip, info.has_member(repo)) {
                (true, true) => return Ok(None),
                (false, true) => return Ok(Some(Self::Member)),
                _ => {}
            }
        }
        Ok(None)
    }

    /// Returns the error for publishing files of the domain.
    ///
    /// # Errors
    /// Returns an error if the domain cannot be read.
    pub fn refusal(
        self,
        store: &dyn Store,
        code: &CodeRepo,
        name: &DomainName,
        repo: &RepoName,
    ) -> Result<OpError, StoreError> {
        let reason = match self {
            Self::Domain => ErrorCode::UnknownDomain,
            Self::Member => ErrorCode::NotMember,
        };
        let message = format!("{}; nothing was published", self.meaning(name, repo));
        let steps = self.steps(store, code, name, repo)?;
        Ok(OpError::no(reason, message).next_all(steps))
    }

    fn meaning(self, name: &DomainName, repo: &RepoName) -> String {
        match self {
            Self::Domain => format!("the domain {name} was removed, and this repository still has files for it"),
            Self::Member => format!("{repo} is no longer a member of {name}, and still has files for it"),
        }
    }

    fn steps(
        self,
        store: &dyn Store,
        code: &CodeRepo,
        name: &DomainName,
        repo: &RepoName,
    ) -> Result<Vec<String>, StoreError> {
        let create = format!("git blue realm admin domain --name {name} --repos {repo}");
        // Only a member can retire its contracts.
        if let (Self::Member, Some(contract)) = (self, served(store, name, repo)?) {
            return Ok(vec![format!("{create}  # add it again: it still owns {name}/{contract}")]);
        }
        let again = match self {
            Self::Domain => "or create the domain again",
            Self::Member => "or add it again",
        };
        let pull = code.origin_url().map(|_| "git pull  # in case another clone removed the files".to_owned());
        let remove = blue_files::remove_command(name);
        Ok(pull.into_iter().chain([remove, format!("{create}  # {again}")]).collect())
    }
}

/// Returns a contract of the repository in a domain that is not retired.
fn served(store: &dyn Store, name: &DomainName, repo: &RepoName) -> Result<Option<ContractName>, StoreError> {
    let within = StoreRef::Domain(name.clone());
    let Some(tip) = store.tip(&within)? else { return Ok(None) };
    let held = read::domain_at(store, name, &tip)?.contracts;
    Ok(held.into_iter().find(|(_, held)| held.owner == *repo && held.retired.is_none()).map(|(name, _)| name))
}

/// Explains in findings about files of a repository that their domains were removed.
pub fn explain(store: &dyn Store, code: &CodeRepo, repo: &RepoName, findings: &mut [Finding]) {
    let is_own =
        |finding: &&mut Finding| finding.repo.as_ref().or(finding.file_repo.as_ref()).is_none_or(|of| of == repo);
    let about = |finding: &&mut Finding| matches!(&*finding.code, "unknown-domain" | "not-member");
    for finding in findings.iter_mut().filter(is_own).filter(about) {
        let Some(name) = finding.domain.clone() else { continue };
        if let Ok(Some(removal)) = Removal::of(store, &name, repo)
            && let Ok(steps) = removal.steps(store, code, &name, repo)
        {
            finding.message = removal.meaning(&name, repo);
            finding.resolution = steps;
        }
    }
}
