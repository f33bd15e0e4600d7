//! Compares contract files that are as they were published with the realm. There may be thousands of them, so only one file
//! and one contract are in memory at a time.

use std::collections::BTreeMap;

use crate::{
    error::OpError,
    model::{
        candidate::{Declared, FileProblem, Judged},
        check::{self, UnreadFiles},
        contract::Contract,
        domain_view::DomainView,
        name::ContractName,
        verdict::Judge,
    },
    ops::{progress::RequestProgress, publish::references},
    repo::blue_files::{CONTRACTS, Files, Item},
    store::{
        Store,
        codec::{self, Problem},
        overview::Line,
        read::{CurrentContracts, Published},
    },
};

/// Compares the unread files of a domain. `part` is a part of the domain with all other files applied to it.
///
/// # Errors
/// Returns an error if the realm or the repository cannot be read, or the request is cancelled.
pub(super) fn compare(
    (store, line): (&dyn Store, &Line),
    part: &DomainView,
    (files, judged): (&Files<'_>, Judged<'_>),
    (judge, progress): (&Judge<'_>, &RequestProgress),
) -> Result<UnreadFiles, OpError> {
    let mut found = UnreadFiles::default();
    let mut unread = judged.candidate.unread_in(&line.name).peekable();
    if unread.peek().is_none() {
        return Ok(found);
    }
    // Looking up each file would list the folder each time.
    let paths = files.below(&format!("{CONTRACTS}/{}", line.name))?;
    let published = Published::in_tree(store, &line.tree);
    let mut contracts = CurrentContracts::in_tree(store, &line.name, &line.tree)?;
    let mut view = part.clone();
    for (name, path) in unread {
        progress.check()?;
        let UnreadFile { text, mut declared } = match read(files, name, (path, paths.get(path)))? {
            Ok(read) => read,
            Err(problem) => {
                found.findings.push(check::unreadable_file(&problem));
                continue;
            }
        };
        let is_auto = declared.document.version.is_auto();
        if is_auto {
            found.automatic.insert(name.clone());
        }
        if is_auto || declared.document.deprecated.is_some() {
            view.versions.insert(name.clone(), published.of(name)?);
        }
        contracts.load(&mut view, name)?;
        // Lines take as long to find as the rest, and most files have no findings.
        if !check::unchanged(&view, judged, (name, &declared), judge).is_empty() {
            declared.lines = codec::heading_lines(&text);
            found.findings.extend(check::unchanged(&view, judged, (name, &declared), judge));
        }
        view.contracts.retain(|name, _| part.contracts.contains_key(name));
    }
    found.damage = contracts.into_damage();
    Ok(found)
}

/// A file that was left unread.
struct UnreadFile {
    text: Vec<u8>,
    /// Its contract, without lines.
    declared: Declared<Contract>,
}

fn read(
    files: &Files<'_>,
    name: &ContractName,
    (path, item): (&str, Option<&Item>),
) -> Result<Result<UnreadFile, FileProblem>, OpError> {
    let text = match item {
        Some(Item::File(handle)) => files.read(handle)?,
        _ => None,
    };
    let Some(text) = text else {
        return Ok(Err(Problem::whole("it changed while it was read; try again").in_file(path)));
    };
    Ok(match references::contract(files, &text, name)? {
        Ok((document, _)) => {
            let declared = Declared { path: path.to_owned(), document, lines: BTreeMap::new(), changed: false };
            Ok(UnreadFile { text, declared })
        }
        Err(problem) => Err(problem.in_file(path)),
    })
}
