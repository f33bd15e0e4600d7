//! Finds the lines in a repository's own files that cause a problem with a contract.

use super::references::{self, Reference};
use crate::{
    model::{bundle, check::Finding, contract::Flow, json::Json},
    repo::blue_files::{Files, Item},
    store::codec,
};

/// Returns the file and line of a JSON Pointer into a contract's file. If the contract refers to another file there,
/// returns that file.
pub fn place(files: &Files<'_>, path: &str, pointer: &str) -> (String, Option<u32>) {
    let Some(bytes) = read(files, path) else { return (path.to_owned(), None) };
    let elsewhere = referred(&bytes, path, pointer).and_then(|(flow, reference, rest)| {
        let (file, pointer) = match flow {
            Some(_) => {
                let mut load = |path: &str| references::load(files, path);
                let origins = bundle::bundle(&reference.file, &reference.pointer, flow, &mut load).ok()?.origins;
                let (file, pointer) = origins.of(rest);
                (file.to_owned(), pointer)
            }
            None => (reference.file, format!("{}{rest}", reference.pointer)),
        };
        let line = codec::lines_at(&read(files, &file)?, [&*pointer])?.pop();
        Some((file, line))
    });
    elsewhere.unwrap_or_else(|| (path.to_owned(), codec::line_at(&bytes, pointer)))
}

/// Adds lines to findings that have only a pointer into a document of these files, and the file if it is a different one. Adds the
/// file to write a version into.
pub fn locate(files: &Files<'_>, findings: &mut [Finding]) {
    for finding in findings.iter_mut().filter(|finding| finding.file_repo.is_none()) {
        if let (Some(path), Some(_)) = (&finding.file, &finding.bump) {
            finding.version_in = version_in(files, path);
        }
        if let (Some(path), Some(pointer)) = (&finding.file, finding.place.take()) {
            let (file, line) = place(files, path, &pointer);
            (finding.file, finding.line) = (Some(file), line.or(finding.line));
        }
    }
}

/// Returns the file that the version of a contract is read from, if it is a different file.
pub fn version_in(files: &Files<'_>, path: &str) -> Option<String> {
    codec::version_from(&read(files, path)?).map(|version| version.from)
}

/// Returns what the part of a contract that a pointer leads into refers to, and the rest of the pointer. For the schema,
/// also returns the flow.
fn referred<'p>(bytes: &[u8], path: &str, pointer: &'p str) -> Option<(Option<Flow>, Reference, &'p str)> {
    let name = path.rsplit('/').next()?.strip_suffix(".yaml")?.parse().ok()?;
    let contract = codec::contract(bytes, &name).ok()?;
    let below = |part: &str, json: &Json| Some((Reference::of(json)?, pointer.strip_prefix(part)?));
    let in_schema = below("/schema", &contract.schema).map(|(reference, rest)| (Some(contract.flow), reference, rest));
    in_schema.or_else(|| below("/value", &contract.value).map(|(reference, rest)| (None, reference, rest)))
}

fn read(files: &Files<'_>, path: &str) -> Option<Vec<u8>> {
    match files.file(path).ok()?? {
        Item::File(handle) => files.read(&handle).ok()?,
        Item::Other | Item::Submodule => None,
    }
}
