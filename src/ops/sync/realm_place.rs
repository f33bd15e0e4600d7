//! Checks at which place a remote stores a realm: at `refs/blue/`, or in branches. Machines that use one place do not
//! see what others push to the other one.

use crate::{
    error::{ErrorCode, NextStep, OpError},
    locate,
    model::{
        name::RealmName,
        repo_url::without_credentials,
        text::{shell_path, shell_word},
    },
    ops::ctx::Ctx,
    store::{
        StoreRef,
        remote::{Listing, Mapping, Remote},
    },
};

/// The repository that keeps what is removed from a remote.
const COPY: &str = "~/realm-branches.git";

/// Checks that a remote does not store a realm at both places.
///
/// # Errors
/// Returns an error if it does.
pub fn require_one(remote: &Remote, listing: &Listing) -> Result<(), OpError> {
    if !listing.is_elsewhere || listing.tip(&StoreRef::Realm).is_none() {
        return Ok(());
    }
    let url = without_credentials(&remote.url);
    let [plain, branches] = [Mapping::Plain, Mapping::Branches].map(Mapping::prefix);
    let quoted = shell_word(&url);
    // Each place may have what nobody else has, as after a CI job published there.
    let keep = format!("git init --bare {COPY} && git -C {COPY} fetch {quoted} '+{branches}*:{plain}*'");
    let remove = format!("git push {quoted} --delete $(git ls-remote {quoted} '{branches}*' | cut -f2)");
    let message = format!("{url} has the realm in two places: {plain} and {branches}");
    Err(OpError::cannot(ErrorCode::SplitRealm, message)
        .next(format!("{keep} && {remove}  # move the one in branches to {COPY}"))
        .next(NextStep::advice(format!(
            "then merge it into a store of the realm: git --git-dir STORE remote add copy {COPY}, and git blue sync"
        ))))
}

/// Checks that a remote stores the realm at one place, the one that this machine uses.
///
/// # Errors
/// Returns an error if it does not.
pub fn require(ctx: &Ctx, realm: &RealmName, remote: &Remote, listing: &Listing) -> Result<(), OpError> {
    require_one(remote, listing)?;
    if !listing.is_elsewhere {
        return Ok(());
    }
    let (there, here) = (remote.mapping.other(), remote.mapping);
    let message =
        format!("{} has the realm at {}, not at {}", without_credentials(&remote.url), there.prefix(), here.prefix());
    let store = shell_path(&locate::known(&ctx.home, realm)?.path);
    let key = format!("remote.{}.blueRefs", remote.name);
    let change = match there {
        Mapping::Branches => format!("config {key} branches"),
        Mapping::Plain => format!("config --unset {key}"),
    };
    Err(OpError::cannot(ErrorCode::SplitRealm, message)
        .next(format!("git --git-dir {store} {change}  # use that place; then sync")))
}
