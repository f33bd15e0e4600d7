//! The pull requests at one consumer, each on a separate branch: opened, updated, closed. A branch only moves forward,
//! and no longer moves once somebody else has committed to it.

use std::collections::BTreeMap;

use super::{
    issue::{self, IssueMarker},
    proposal::{self, Proposal},
};
use crate::{
    forge::{File, Forge, ForgeError, NewCommit, NewPull, Pull, State, Tip},
    model::name::ContractRef,
    wire::{ImportReview, IssueOutcome},
};

/// The outcome for a pull request.
pub struct Done {
    pub outcome: IssueOutcome,
    /// The URL of its page; `None` if there is no page, or the pull request was not opened.
    pub url: Option<String>,
}

impl Done {
    /// Returns why no issue is needed, as the last line of the issue.
    pub fn in_place_of_an_issue(&self) -> String {
        match &self.url {
            Some(url) => format!("Continued in {url}."),
            None => "Continued on the default branch, whose range accepts the version.".to_owned(),
        }
    }
}

/// The pull requests at a consumer.
pub struct Pulls<'f> {
    forge: &'f dyn Forge,
    is_dry: bool,
    /// The imports that need a pull request.
    due: &'f [ImportReview],
    /// The default branch and its last commit; `None` if nothing is due, or there is no commit.
    base: Option<(String, Tip)>,
    open: BTreeMap<ContractRef, Pull>,
}

impl<'f> Pulls<'f> {
    /// Reads the open pull requests that have our marker and are on the branch that it implies.
    ///
    /// # Errors
    /// Returns an error if the forge cannot be queried.
    pub fn read(forge: &'f dyn Forge, due: &'f [ImportReview], is_dry: bool) -> Result<Self, ForgeError> {
        let base = match due {
            [] => None,
            _ => {
                let name = forge.default_branch()?;
                forge.tip(&name)?.map(|tip| (name, tip))
            }
        };
        let ours = |pull: Pull| {
            let contract = IssueMarker::of(&pull.body)?.contract;
            (pull.branch == proposal::branch(&contract)).then_some((contract, pull))
        };
        let open = forge.open_pulls()?.into_iter().filter_map(ours).collect();
        Ok(Self { forge, is_dry, due, base, open })
    }

    /// Opens or updates the pull request about an import. Returns `None` if that is impossible: there is no range to
    /// change, the file cannot be edited, or the branch has somebody else's commits.
    ///
    /// # Errors
    /// Returns an error if the forge refuses.
    pub fn propose(&self, import: &ImportReview) -> Result<Option<Done>, ForgeError> {
        let (Some(proposal), Some(base)) = (Proposal::of(import), &self.base) else { return Ok(None) };
        let Some(file) = self.forge.file(&base.1.id, &proposal.path())? else { return Ok(None) };
        let Some(range) = proposal::range_in(&file.text, &proposal.contract.contract) else { return Ok(None) };
        let open = self.open.get(&proposal.contract);
        let done = |outcome, pull: Option<&Pull>| Some(Done { outcome, url: pull.map(|pull| pull.url.clone()) });
        if range.matches(proposal.version) {
            return Ok(done(IssueOutcome::Unpublished, open));
        }
        if open.is_none()
            && let Some(closed) = self.dismissed(&proposal)?
        {
            return Ok(done(IssueOutcome::Dismissed, Some(&closed)));
        }
        let branch = self.branch(&proposal, base, &file)?;
        match (open, branch) {
            (Some(pull), branch) => {
                let text = proposal.text(branch == Branch::Taken);
                let is_new = self.describe(pull, &proposal.title(), &text)? || branch == Branch::Moved;
                let outcome = if is_new { IssueOutcome::Updated } else { IssueOutcome::Unchanged };
                Ok(done(outcome, Some(pull)))
            }
            (None, Branch::Taken) => Ok(None),
            (None, Branch::Moved | Branch::There) => {
                let opened = self.open(&proposal, &base.0)?;
                Ok(done(IssueOutcome::Opened, opened.as_ref()))
            }
        }
    }

    /// Closes pull requests whose imports are settled, and deletes their branches unless somebody else has committed
    /// there. Returns them, with the markers that they had.
    ///
    /// # Errors
    /// Returns an error if the forge refuses.
    pub fn close_settled(&self) -> Result<Vec<(IssueMarker, Done)>, ForgeError> {
        let mut closed = Vec::new();
        let is_due = |contract: &ContractRef| self.due.iter().any(|import| issue::contract(import) == *contract);
        for (contract, pull) in self.open.iter().filter(|(contract, _)| !is_due(contract)) {
            let Some(mark) = IssueMarker::of(&pull.body) else { continue };
            if !self.is_dry {
                let body = mark.closed(&pull.body, issue::SETTLED_BY);
                self.forge.edit_pull(&Pull { state: State::Closed, body, ..pull.clone() })?;
                if self.forge.tip(&pull.branch)?.is_some_and(|tip| proposal::is_ours(&tip, contract)) {
                    self.forge.delete_branch(&pull.branch)?;
                }
            }
            closed.push((mark, Done { outcome: IssueOutcome::Closed, url: Some(pull.url.clone()) }));
        }
        Ok(closed)
    }

    /// Returns the pull request that a person closed for this version.
    fn dismissed(&self, proposal: &Proposal<'_>) -> Result<Option<Pull>, ForgeError> {
        let last = self.forge.of_branch(&proposal.branch())?.filter(|pull| pull.state == State::Closed);
        Ok(last.filter(|pull| {
            IssueMarker::of(&pull.body).is_some_and(|mark| {
                mark.contract == proposal.contract && mark.version == *proposal.version && !mark.is_settled
            })
        }))
    }

    /// Commits the new range to the branch, unless the branch has somebody else's commits. Creates the branch if it is
    /// missing.
    fn branch(&self, proposal: &Proposal<'_>, base: &(String, Tip), file: &File) -> Result<Branch, ForgeError> {
        let (name, path) = (proposal.branch(), proposal.path());
        let contract = &proposal.contract.contract;
        let tip = self.forge.tip(&name)?;
        let held = match &tip {
            Some(tip) if !proposal::is_ours(tip, &proposal.contract) => return Ok(Branch::Taken),
            Some(tip) => self.forge.file(&tip.id, &path)?,
            None => Some(file.clone()),
        };
        let Some(held) = held else { return Ok(Branch::Taken) };
        if tip.is_some() && proposal::range_in(&held.text, contract).as_ref() == Some(&proposal.range) {
            return Ok(Branch::There);
        }
        let Some(text) = proposal::with_range(&held.text, contract, &proposal.range) else { return Ok(Branch::Taken) };
        if !self.is_dry {
            let (start, parent) = match &tip {
                Some(tip) => (None, tip),
                None => (Some(&*base.0), &base.1),
            };
            let message = proposal.message();
            let commit =
                NewCommit { branch: &name, start, parent, path: &path, file: &held, text: &text, message: &message };
            self.forge.commit(&commit)?;
        }
        Ok(Branch::Moved)
    }

    /// Updates the title and description if they differ. Returns whether they did.
    fn describe(&self, pull: &Pull, title: &str, body: &str) -> Result<bool, ForgeError> {
        if pull.title == title && issue::is_same(&pull.body, body) {
            return Ok(false);
        }
        if !self.is_dry {
            self.forge.edit_pull(&Pull { title: title.to_owned(), body: body.to_owned(), ..pull.clone() })?;
        }
        Ok(true)
    }

    fn open(&self, proposal: &Proposal<'_>, base: &str) -> Result<Option<Pull>, ForgeError> {
        if self.is_dry {
            return Ok(None);
        }
        let (branch, title, body) = (proposal.branch(), proposal.title(), proposal.text(false));
        let new = NewPull { branch: &branch, base, title: &title, body: &body, draft: !proposal.is_safe };
        self.forge.open(&new).map(Some)
    }
}

/// The outcome for a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Branch {
    /// A commit was added.
    Moved,
    /// The branch already has the range.
    There,
    /// The branch was left alone: somebody else committed to it, or the file has a layout that cannot be edited.
    Taken,
}
