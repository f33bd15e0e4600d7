//! The time at which each version of a contract arrived in a realm, and its publisher.

use std::collections::BTreeMap;

use super::first_parents::History;
use crate::{
    error::OpError,
    model::{clock, name::ContractName, oid::Oid, version::Version},
    ops::{message, repos::commit_links::CommitLinks},
    store::{CommitInfo, Store, layout, read},
    wire::VersionOrigin,
};

/// The commit of a domain that added a version.
#[derive(Debug, Clone)]
pub struct Arrival {
    /// The position in the history of the domain; 0 is the newest commit.
    pub age: usize,
    /// The commit.
    pub commit: Oid,
    /// The commit's metadata and message.
    pub info: CommitInfo,
}

/// Returns the commit that added each published version of a contract to the domain at `tip`: the oldest commit that
/// contains it.
///
/// # Errors
/// Returns an error if the history cannot be read.
pub fn arrivals(store: &dyn Store, tip: Oid, contract: &ContractName) -> Result<BTreeMap<Version, Arrival>, OpError> {
    let folder = layout::versions(contract);
    let mut arrived = BTreeMap::new();
    // The folder's tree in the last run of commits that share it, and the oldest of these commits.
    let mut same: Option<(Oid, Arrival)> = None;
    let mut note = |group: Option<(Oid, Arrival)>| -> Result<(), OpError> {
        let Some((folder, oldest)) = group else { return Ok(()) };
        let versions = store.entries(&folder)?.into_iter().filter_map(|file| layout::stem::<Version>(&file.name));
        arrived.extend(versions.map(|version| (version, oldest.clone())));
        Ok(())
    };
    for (age, step) in History::of(store, Some(tip)).enumerate() {
        let (commit, info) = step?;
        let Some(found) = read::lookup(store, &info.tree, folder.as_str())? else { break };
        if same.as_ref().is_some_and(|(folder, _)| *folder != found.id) {
            note(same.take())?;
        }
        same = Some((found.id, Arrival { age, commit, info }));
    }
    note(same)?;
    Ok(arrived)
}

/// Returns the commit that published a version with the content that it has at its arrival. If the version arrived in a
/// merge with another machine's history, that is a commit of the merged history.
///
/// # Errors
/// Returns an error if the history cannot be read.
fn published(
    store: &dyn Store,
    contract: &ContractName,
    version: &Version,
    arrival: Arrival,
) -> Result<Arrival, OpError> {
    let path = layout::version(contract, version);
    let content = |tree: &Oid| Ok::<_, OpError>(read::lookup(store, tree, path.as_str())?.map(|entry| entry.id));
    let wanted = content(&arrival.info.tree)?;
    let mut found = arrival;
    'older: loop {
        for parent in &found.info.parents {
            let info = store.commit(parent)?;
            if content(&info.tree)? == wanted {
                found = Arrival { age: found.age, commit: *parent, info };
                continue 'older;
            }
        }
        return Ok(found);
    }
}

/// Returns who published a version that arrived with this commit, when, and from which commit.
///
/// # Errors
/// Returns an error if the history cannot be read.
pub fn origin(
    links: &CommitLinks<'_>,
    contract: &ContractName,
    version: Version,
    arrival: Arrival,
) -> Result<VersionOrigin, OpError> {
    let Arrival { commit, info, .. } = published(links.store, contract, &version, arrival)?;
    let (_, repo, source_commit) = message::parse(&info.message);
    Ok(VersionOrigin {
        version,
        time: info.time,
        in_future: clock::is_ahead(info.time, links.ctx.env.now()),
        author: info.author,
        commit_url: links.of(repo.as_deref(), source_commit.as_deref()),
        repo,
        source_commit,
        commit,
    })
}
