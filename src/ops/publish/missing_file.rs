//! How to resolve that a contract of this repository has no file: bring the file back, or retire the contract.

use std::path::Path;

use crate::{
    model::{candidate, name::RepoName},
    repo::{
        CodeRepo,
        blue_files::{Files, Item},
    },
    wire::RemovedFile,
};

/// The maximum number of contracts without a file for which steps are printed.
pub const MAX_WITH_STEPS: usize = 3;

/// The repository in which the steps are run.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The other repository that had the name of this one, and may have published the contracts.
    pub namesake: Option<&'a RepoName>,
    /// The start of paths in commands.
    pub up: &'a str,
    /// The repository, whose working tree has files that must not be overwritten.
    pub code: Option<&'a CodeRepo>,
}

/// Returns the commands that transfer a contract, retire it or write its file. The first one works: an imported contract cannot
/// be retired.
pub fn steps(removed: &RemovedFile, is_imported: bool, place: &Place<'_>) -> Vec<String> {
    let RemovedFile { domain, contract, file } = removed;
    let (up, root) = (place.up, place.code.and_then(CodeRepo::workdir));
    let root = root.as_deref();
    if let Some(other) = root.and_then(|root| in_other_case(root, file)) {
        return vec![format!("git mv {up}{other} {up}{file}  # and write name: {contract} in it, then commit")];
    }
    // The submodule is reported, and git would refuse to add its file.
    if root.is_some_and(|root| is_in_submodule(root, file)) {
        return Vec::new();
    }
    if root.is_some_and(|root| root.join(file).symlink_metadata().is_ok()) {
        let force = place.code.is_some_and(|code| !code.needing_force([file.as_str()]).is_empty());
        return vec![candidate::commit_file(domain, contract, up, force)];
    }
    let transfer = |namesake| {
        format!("git blue contract transfer {domain}/{contract} --to {namesake}  # if that repository made it")
    };
    let write = candidate::write_file(domain, contract, up);
    let retire = format!("git blue contract retire {domain}/{contract} --reason \"…\"");
    let others = if is_imported {
        [
            format!("{write}  # write its file, which is missing here"),
            format!("{retire}  # or retire it once nobody imports it"),
        ]
    } else {
        [format!("{retire}  # it has no file here"), format!("{write}  # or write its file")]
    };
    place.namesake.map(transfer).into_iter().chain(others).collect()
}

fn is_in_submodule(root: &Path, file: &str) -> bool {
    matches!(Files::on_disk(root.to_owned()).file(file), Ok(Some(Item::Submodule)))
}

/// Returns the file whose name differs from that of `file` only in case. Publishing refuses its contract.
fn in_other_case(root: &Path, file: &str) -> Option<String> {
    let (folder, name) = file.rsplit_once('/')?;
    let mut others = root.join(folder).read_dir().ok()?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let other = others.find(|other| other != name && other.eq_ignore_ascii_case(name))?;
    Some(format!("{folder}/{other}"))
}
