//! The policy of automatic publishing in a clone. The team's is in `.blue/config.yaml`; git's configuration overrides it.

use crate::{
    error::OpError,
    locate::config,
    model::publish_policy::{Policy, PolicySource},
    repo::CodeRepo,
};

/// The key in git's configuration.
const KEY: &str = "blue.publish";

/// Returns the policy of a clone.
///
/// # Errors
/// Returns an error if the value in git's configuration is not a policy, or the publishing branch cannot be read.
pub fn of(code: &CodeRepo) -> Result<Policy, OpError> {
    chosen(code).map(|(policy, _)| policy)
}

/// Returns the policy of a clone, and where it comes from.
///
/// # Errors
/// Returns the errors of [`of`].
pub fn chosen(code: &CodeRepo) -> Result<(Policy, PolicySource), OpError> {
    if let Some(word) = code.config(KEY) {
        return Ok((parsed(&word)?, PolicySource::GitConfig));
    }
    let shared = of_branch(code)?.map(|policy| (policy, PolicySource::ConfigFile));
    Ok(shared.unwrap_or_default())
}

/// Returns whether git's configuration has the policy of this clone.
pub fn is_of_this_clone(code: &CodeRepo) -> bool {
    code.config(KEY).is_some()
}

fn parsed(word: &str) -> Result<Policy, OpError> {
    Policy::ALL.into_iter().find(|policy| policy.word() == word).ok_or_else(|| {
        let message = format!("blue.publish is {word:?}: expected commit, pushed, ci or off");
        OpError::usage(message).next("git config blue.publish commit  # publish every commit")
    })
}

/// Returns the policy on the publishing branch. Other branches may be older than the team's decision.
fn of_branch(code: &CodeRepo) -> Result<Option<Policy>, OpError> {
    let branch = code.publishing_branch()?.map(|branch| format!("refs/heads/{branch}"));
    let tip = branch.map(|branch| code.reference(&branch)).transpose()?.flatten();
    let proposed = match tip {
        Some(tip) => config::proposed_at(code, &tip)?,
        None => config::proposed(code)?,
    };
    Ok(proposed.and_then(|config| config.publish))
}
