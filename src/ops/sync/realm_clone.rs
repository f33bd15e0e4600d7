//! Clones shared realms: finds the realm at a URL that the user typed, fetches it into a new store, and records the
//! URL.

use std::{collections::BTreeMap, path::Path};

use super::{fetch_sound, invalid_refs::Trace, realm_at, realm_place, same_realm::KnownHere, url};
use crate::{
    error::{ErrorCode, OpError},
    machine::{
        home::{KnownRealm, recordable},
        user_config,
    },
    model::{
        name::{RealmName, RemoteName},
        oid::Oid,
        repo_url::without_credentials,
        text::{shell_path, shell_word},
    },
    ops::ctx::Ctx,
    store::{
        Store as _, StoreRef,
        git::{GitStore, MAX_BYTES, MAX_BYTES_KEY, RemoteConnection, TransportOptions, UnfinishedStore},
        read,
        remote::{Listing, Mapping, Remote},
        validate_incoming,
    },
};

/// The location of a realm, as the user typed it.
#[derive(Debug, Clone, Copy)]
pub struct RealmLocation<'a> {
    /// The realm that must be there; `None` accepts any.
    pub realm: Option<&'a RealmName>,
    /// The URL.
    pub url: &'a str,
    /// Whether the remote stores the realm in branches.
    pub branches: bool,
    /// Set to leave out invalid domains, which the sync that follows reports.
    pub is_partial: bool,
}

/// Returns the name of a realm's first remote: `origin`, as in git.
pub fn origin() -> RemoteName {
    "origin".parse().unwrap_or_else(|_| unreachable!("it is a name"))
}

/// The realm at a URL.
#[derive(Debug)]
pub struct Obtained {
    /// Its name.
    pub realm: RealmName,
    /// Whether it was cloned just now.
    pub is_cloned: bool,
}

/// Clones the realm at a URL, unless this machine has it. Returns `None` if there is no realm at the URL yet.
///
/// # Errors
/// Returns an error if the URL is not accepted, cannot be reached, or has another realm.
pub fn obtain(ctx: &Ctx, place: RealmLocation<'_>) -> Result<Option<Obtained>, OpError> {
    let url = url::typed(&ctx.place(), &ctx.home, place.url)?;
    let realms = ctx.home.realms()?;
    let known = match place.realm {
        Some(name) => realms.iter().find(|known| known.name == *name),
        None => realms.iter().find(|known| is_at(known, &url)),
    };
    let look = || find_remote_realm(ctx, &url, place.branches).map_err(unreached);
    if let Some(known) = known {
        // Check the URL before it is recorded: a typo would affect every repository.
        let found = if known.url.is_none() || place.branches { look()? } else { None };
        if let Some((remote, listing)) = &found {
            require_same(ctx, known, remote, listing)?;
        }
        let branches = place.branches || found.is_some_and(|(remote, _)| remote.mapping == Mapping::Branches);
        record(ctx, known, &url, branches)?;
        return Ok(Some(Obtained { realm: known.name.clone(), is_cloned: false }));
    }
    let Some((remote, listing)) = look()? else {
        return require_empty(ctx, &url).map(|()| None);
    };
    fetch_new_realm(ctx, place, &remote, &listing).map(Some)
}

/// Replaces the next steps of the error if a URL that the user has just typed cannot be reached.
fn unreached(error: OpError) -> OpError {
    match error.code {
        ErrorCode::Remote => OpError { next_steps: Vec::new(), ..error }
            .next("nothing was recorded: check the URL and your access to it, and try again"),
        _ => error,
    }
}

/// Checks that a remote without a realm has no domains either.
fn require_empty(ctx: &Ctx, url: &str) -> Result<(), OpError> {
    let listing = list(ctx, url, Mapping::Plain)?.1;
    if listing.refs.is_empty() {
        return Ok(());
    }
    let message =
        format!("{} has domains, but the realm's own ref, {}, is missing", without_credentials(url), StoreRef::Realm);
    Err(OpError::cannot(ErrorCode::NoRealmThere, message)
        .next("git blue sync  # in a clone that has joined the realm, to push the ref again"))
}

/// Checks that a remote has the same realm as this machine.
fn require_same(ctx: &Ctx, known: &KnownRealm, remote: &Remote, listing: &Listing) -> Result<(), OpError> {
    let store = ctx.open_store(known)?;
    let link = connection(ctx, &known.path, remote);
    let here = KnownHere { ctx, realm: &known.name, store: &store, remote };
    here.fetch_and_require_same(&link, listing)
}

/// Returns the realm at a URL and where the remote stores it, or `None` if there is no realm. `branches` is whether it
/// must be stored in branches.
///
/// # Errors
/// Returns an error if the remote cannot be reached, or stores the realm elsewhere or twice.
pub fn find_remote_realm(ctx: &Ctx, url: &str, branches: bool) -> Result<Option<(Remote, Listing)>, OpError> {
    let found = list(ctx, url, Mapping::Plain)?;
    let is_plain = found.1.tip(&StoreRef::Realm).is_some();
    if is_plain && branches {
        let message = format!("{} has the realm at refs/blue/, not in branches", without_credentials(url));
        return Err(OpError::no(ErrorCode::SplitRealm, message).next("omit --branches"));
    }
    if is_plain {
        return Ok(Some(found));
    }
    if found.1.is_elsewhere { list(ctx, url, Mapping::Branches).map(Some) } else { Ok(None) }
}

fn list(ctx: &Ctx, url: &str, mapping: Mapping) -> Result<(Remote, Listing), OpError> {
    let remote = Remote { name: origin(), url: url.to_owned(), mapping };
    // git needs a folder to run in, and there is no store yet.
    let listing = connection(ctx, Path::new("/"), &remote).list()?;
    realm_place::require_one(&remote, &listing)?;
    Ok((remote, listing))
}

/// Returns the connection from the store in a folder to a remote.
pub fn connection<'a>(ctx: &Ctx, store: &Path, remote: &'a Remote) -> RemoteConnection<'a> {
    RemoteConnection::new(store, remote, ctx.env.vars(), transport_options(ctx))
}

/// Returns the options for running git's network commands.
pub fn transport_options(ctx: &Ctx) -> TransportOptions {
    let limit = || user_config::value(ctx.env.vars(), MAX_BYTES_KEY).ok().flatten().and_then(|text| bytes(&text));
    TransportOptions {
        is_terminal: ctx.env.is_error_terminal(),
        is_automatic: false,
        max_bytes: limit().unwrap_or(MAX_BYTES),
        max_time: None,
    }
}

/// Parses a number with an optional unit, as in git's configuration. Returns `None` for anything else.
fn bytes(text: &str) -> Option<u64> {
    let units = [("k", 1 << 10), ("m", 1 << 20), ("g", 1 << 30)];
    let text = text.trim().to_ascii_lowercase();
    let (number, unit) =
        units.iter().find_map(|(unit, size)| Some((text.strip_suffix(unit)?, *size))).unwrap_or((&text, 1));
    number.parse::<u64>().ok()?.checked_mul(unit)
}

fn fetch_new_realm(
    ctx: &Ctx,
    place: RealmLocation<'_>,
    remote: &Remote,
    listing: &Listing,
) -> Result<Obtained, OpError> {
    let realms = ctx.home.folder().join("realms");
    recordable(&realms)?;
    let aside = UnfinishedStore::new(&realms, ctx.options())?;
    let FetchedRealm { name, left_out } = fetch_realm(ctx, &aside, remote, listing, None)?;
    if let Some(error) = left_out.into_iter().next().filter(|_| !place.is_partial) {
        return Err(error);
    }
    if let Some(wanted) = place.realm.filter(|wanted| **wanted != name) {
        let url = without_credentials(&remote.url);
        let message = format!("{url} contains the realm {name}, not {wanted}");
        return Err(OpError::no(ErrorCode::OtherRealm, message)
            .next(format!("git blue init --realm {name} --url {}", shell_word(&url))));
    }
    let taken = ctx.home.realms()?.into_iter().find(|known| known.name.collides_with(&name) || known.name == name);
    if let Some(known) = taken.as_ref().filter(|known| known.name != name || !is_at(known, &remote.url)) {
        if known.name == name {
            require_same(ctx, known, remote, listing)?;
        }
        return Err(elsewhere(known, &remote.url));
    }
    let path = ctx.home.default_store(&name);
    let of = |path, url| KnownRealm { name: name.clone(), path, url, former_urls: Vec::new() };
    // Another process may have been faster, or the record of the store was removed.
    let adopt = || {
        let recorded = ctx.home.realm(&name)?;
        let known = recorded.unwrap_or_else(|| of(path.clone(), None));
        require_same(ctx, &known, remote, listing)?;
        record(ctx, &known, &remote.url, remote.mapping == Mapping::Branches)?;
        Ok(Obtained { realm: name.clone(), is_cloned: false })
    };
    if taken.is_some() || holds(ctx, &path, &name) {
        return adopt();
    }
    aside.store.record_remote(remote, ctx.env.vars())?;
    if let Err(error) = aside.put(&path) {
        return if holds(ctx, &path, &name) { adopt() } else { Err(error.into()) };
    }
    let path = dunce::canonicalize(&path).unwrap_or(path);
    ctx.home.record_realm(&of(path, Some(remote.url.clone())))?;
    Ok(Obtained { realm: name, is_cloned: true })
}

/// Returns whether a realm of this machine is shared at a URL.
fn is_at(known: &KnownRealm, url: &str) -> bool {
    known.url.as_ref().is_some_and(|known| url::is_same(known, url))
}

/// Returns whether the store of a realm is at a path.
fn holds(ctx: &Ctx, path: &Path, realm: &RealmName) -> bool {
    let store = GitStore::open(path, ctx.options());
    store.is_ok_and(|store| read::realm(&store).is_ok_and(|found| found.name == *realm))
}

/// A realm that was fetched into a store that is being created.
pub struct FetchedRealm {
    /// The realm's name.
    pub name: RealmName,
    /// The errors of the refs that are invalid, and were left out.
    pub left_out: Vec<OpError>,
}

/// Fetches what a remote lists into a store that is being created.
///
/// # Errors
/// Returns an error if the fetch fails, or the realm's own ref is invalid.
pub fn fetch_realm(
    ctx: &Ctx,
    aside: &UnfinishedStore,
    remote: &Remote,
    listing: &Listing,
    depth: Option<u32>,
) -> Result<FetchedRealm, OpError> {
    let store = &aside.store;
    let link = connection(ctx, &store.path(), remote);
    let is_wanted = |name: &StoreRef| !matches!(name, StoreRef::Sessions(_));
    let mut refs: Vec<_> = listing.refs.iter().filter(|(name, _)| is_wanted(name)).cloned().collect();
    let names: Vec<_> = refs.iter().map(|(name, _)| name.clone()).collect();
    let unsound = fetch_sound(&link, &names, listing, depth)?;
    let mut left_out = Vec::new();
    let mut valid = Vec::new();
    for (name, tip) in refs {
        let problems = match unsound.get(&name) {
            Some(why) => vec![why.clone()],
            None => validate_incoming::inspect(store, &name, &tip, &[])?,
        };
        if problems.is_empty() {
            valid.push((name, tip));
            continue;
        }
        let error = invalid(store, remote, (&name, &tip), &problems.join("; "));
        if name == StoreRef::Realm {
            return Err(error);
        }
        left_out.push(error);
    }
    refs = valid;
    let url = without_credentials(&remote.url);
    let tip = listing.tip(&StoreRef::Realm);
    let tip = tip.ok_or_else(|| OpError::cannot(ErrorCode::InvalidRemoteData, format!("{url} contains no realm")))?;
    let name = realm_at(store, &tip)?.name;
    collisions(&url, &refs)?;
    let seen = refs.iter().map(|(name, tip)| (StoreRef::Seen(remote.name.clone(), Box::new(name.clone())), *tip));
    aside.write_refs(&refs.iter().cloned().chain(seen).collect::<Vec<_>>())?;
    Ok(FetchedRealm { name, left_out })
}

/// Returns the error for an invalid ref of a realm that this machine does not have.
fn invalid(store: &GitStore, remote: &Remote, (name, tip): (&StoreRef, &Oid), why: &str) -> OpError {
    let is_valid =
        |id: &Oid| validate_incoming::inspect(store, name, id, &[]).is_ok_and(|problems| problems.is_empty());
    let why = Trace::below(store, tip, is_valid).blame(tip, why);
    OpError::cannot(ErrorCode::InvalidRemoteData, format!("{}: {why}", without_credentials(&remote.url)))
        .next("git blue sync  # in a clone that has joined the realm: it shows how to restore the ref")
}

fn collisions(url: &str, refs: &[(StoreRef, Oid)]) -> Result<(), OpError> {
    let mut folded = BTreeMap::new();
    for (name, _) in refs {
        if let Some(other) = folded.insert(name.to_string().to_ascii_lowercase(), name) {
            let message = format!("{url}: {name} differs from {other} only in case");
            let step =
                format!("git push {} --delete REF  # remove the one that does not belong there", shell_word(url));
            return Err(OpError::cannot(ErrorCode::NameCollision, message).next(step));
        }
    }
    Ok(())
}

/// Records the URL at which a realm of this machine is shared.
///
/// # Errors
/// Returns an error if another URL is recorded for it.
pub fn record(ctx: &Ctx, known: &KnownRealm, url: &str, branches: bool) -> Result<(), OpError> {
    let store = ctx.open_store(known)?;
    let held = store.remotes().into_iter().find(|remote| remote.name == origin());
    let recorded = held.as_ref().map(|remote| &remote.url).or(known.url.as_ref());
    if recorded.is_some_and(|recorded| !url::is_same(recorded, url)) {
        let error = elsewhere(known, url);
        let reseed = format!(
            "git blue --realm {} realm admin reseed --url {}",
            known.name,
            shell_word(&without_credentials(url))
        );
        let instead = format!("{reseed}  # share it there instead, if it moved or the old URL is wrong").into();
        return Err(OpError { next_steps: [instead].into_iter().chain(error.next_steps).collect(), ..error });
    }
    let mapping = match held {
        Some(held) if !branches => held.mapping,
        _ if branches => Mapping::Branches,
        _ => Mapping::Plain,
    };
    store.record_remote(&Remote { name: origin(), url: url.to_owned(), mapping }, ctx.env.vars())?;
    if known.url.as_deref() != Some(url) {
        ctx.home.record_realm(&KnownRealm { url: Some(url.to_owned()), ..known.clone() })?;
    }
    Ok(())
}

fn elsewhere(known: &KnownRealm, url: &str) -> OpError {
    let place = known.url.as_deref().map_or_else(|| known.path.display().to_string(), without_credentials);
    let url = without_credentials(url);
    let message = format!("this machine has the realm {} from {place}, not from {url}", known.name);
    OpError::no(ErrorCode::OtherUrl, message).next(format!(
        "git --git-dir {} remote add NAME {}  # also share it there",
        shell_path(&known.path),
        shell_word(&url)
    ))
}
