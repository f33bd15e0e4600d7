//! Settles conflicts about commits that broke a rule.

use crate::{
    error::{ErrorCode, OpError},
    model::{
        merge::ConflictId,
        set_aside::{Decision, SetAside, Settled},
    },
    ops::{
        ctx::{ActingRepo, Ctx},
        inboxes::arrival,
        message::Message,
        sync::auto,
    },
    store::{
        Change, Edit, EntryKind, Parents, StoreRef, TreePath, codec, layout, read, tree_file::TreeFile, write::write,
    },
    wire::{Answer, ConflictSettled},
};

/// Records the verdict on a conflict, and applies the change if it is accepted. Repeating it does nothing.
///
/// # Errors
/// Returns an error if there is no such conflict, if it was settled with another verdict, or if this repository may
/// not accept it.
pub fn settle(ctx: &Ctx, id: &ConflictId, verdict: Decision) -> Result<Answer<ConflictSettled>, OpError> {
    let acting = ctx.require_writable()?;
    let name = find(acting, id)?;
    let author = ctx.signature()?;
    let time = author.time.timestamp();
    let (mut settled, mut before) = (None, None);
    let written = write(acting.store, &name, |tip| {
        before = tip;
        let Some(tip) = tip else { return Err(unknown(id)) };
        let tree = acting.store.commit(&tip)?.tree;
        let record = read::set_aside_in(acting.store, &tree)?.remove(id).ok_or_else(|| unknown(id))?;
        settled = Some(record.clone());
        if let Some(held) = &record.settled {
            return if held.verdict == verdict { Ok(None) } else { Err(already_settled(id, held)) };
        }
        let mut edits = match verdict {
            Decision::Accepted => edits_to_accept(acting, &name, &tree, &record)?,
            Decision::Rejected => Vec::new(),
        };
        let settled = Settled { verdict, by: acting.repo.clone() };
        let record = SetAside { settled: Some(settled), ..record };
        edits.push((layout::set_aside(id), Edit::Put(codec::encode(&record))));
        let subject = match verdict {
            Decision::Accepted => format!("accept commit {id}"),
            Decision::Rejected => format!("reject commit {id}"),
        };
        let message = Message { repo: Some(acting.repo), ..Message::of(ctx, subject) }.text();
        Ok(Some(Change { edits, message, author: author.clone(), committer: None, parents: Parents::Tip }))
    })?;
    if let (Some(after), Some(domain)) = (written, name.domain()) {
        arrival::record_local_change(acting.store, domain, (before, after), time);
    }
    let record = settled.ok_or_else(|| unknown(id))?;
    let files = match verdict {
        Decision::Accepted => record.acceptable_by(acting.repo).map(|change| change.path.clone()).collect(),
        Decision::Rejected => record.changes.iter().map(|change| change.path.clone()).collect(),
    };
    let answer = Answer::new(ConflictSettled {
        realm: acting.realm.clone(),
        repo: acting.repo.clone(),
        domain: name.domain().cloned(),
        id: id.to_string(),
        commit: record.commit,
        verdict,
        files,
        changed: written.is_some(),
    });
    auto::with_push(ctx, (acting.realm, acting.store), written.is_some(), answer)
}

/// Returns the ref with the record of the conflict.
fn find(acting: ActingRepo<'_>, id: &ConflictId) -> Result<StoreRef, OpError> {
    let domains = acting.store.domains()?.into_iter().map(|(name, _)| StoreRef::Domain(name));
    for name in std::iter::once(StoreRef::Realm).chain(domains) {
        let Some(tip) = acting.store.tip(&name)? else { continue };
        let tree = match acting.store.commit(&tip) {
            Err(error) if error.is_damage() => continue,
            commit => commit?.tree,
        };
        if read::lookup(acting.store, &tree, layout::set_aside(id).as_str())?.is_some() {
            return Ok(name);
        }
    }
    Err(unknown(id))
}

/// Returns the edits that apply a change that was set aside.
fn edits_to_accept(
    acting: ActingRepo<'_>,
    name: &StoreRef,
    tree: &crate::model::oid::Oid,
    record: &SetAside,
) -> Result<Vec<(TreePath, Edit)>, OpError> {
    let id = record.id();
    let owners: std::collections::BTreeSet<_> = record.changes.iter().flat_map(|change| &change.owners).collect();
    if record.acceptable_by(acting.repo).next().is_none() {
        let names: Vec<_> = owners.into_iter().map(ToString::to_string).collect();
        let verb = if names.len() == 1 { "owns" } else { "own" };
        let message = format!(
            "{} cannot accept this change: it concerns what {} \
            {verb}",
            acting.repo,
            names.join(" and ")
        );
        return Err(OpError::no(ErrorCode::NotOwner, message)
            .next(format!("git blue realm conflict accept {id}  # in {}", names.join(" or ")))
            .next(format!("git blue realm conflict reject {id}  # reject the change")));
    }
    let mut edits = Vec::new();
    for change in record.acceptable_by(acting.repo) {
        let parts: Vec<_> = change.path.split('/').collect();
        let Some(place) = TreeFile::parse(name, &parts) else { continue };
        let held = read::lookup(acting.store, tree, &change.path)?.map(|entry| entry.id);
        if held == change.refused {
            continue;
        }
        if held != change.kept {
            let message = format!("{} has changed since, so commit {id} cannot be accepted", change.path);
            return Err(OpError::no(ErrorCode::ConflictOutdated, message)
                .next(format!("git blue realm conflict reject {id}  # reject it")));
        }
        edits.push((place.path(), change.refused.map_or(Edit::Remove, |blob| Edit::Link(EntryKind::Blob, blob))));
    }
    Ok(edits)
}

fn unknown(id: &ConflictId) -> OpError {
    OpError::no(ErrorCode::UnknownConflict, format!("there is no conflict {id}"))
        .next("git blue status  # list the conflicts")
}

fn already_settled(id: &ConflictId, held: &Settled) -> OpError {
    let verdict = if held.verdict == Decision::Accepted { "accepted" } else { "rejected" };
    OpError::no(ErrorCode::AlreadySettled, format!("{id} was already {verdict} by {}", held.by))
}
