//! Contract files that are in the working tree, but not in the commit.

use crate::{
    model::{check::Finding, text::shell_word},
    repo::CodeRepo,
};

/// Replaces the advice for a missing file that is in the working tree: writing it would overwrite what no commit has. `up`
/// leads to the root of the repository.
pub fn explain(code: &CodeRepo, up: &str, findings: &mut [Finding]) {
    let Some(root) = code.workdir() else { return };
    for finding in findings.iter_mut().filter(|finding| finding.code == "file-removed") {
        let (Some(file), Some(domain), Some(contract)) = (&finding.file, &finding.domain, &finding.contract) else {
            continue;
        };
        if root.join(file).exists() {
            let add = git_add(code, up, file);
            finding.message = format!(
                "{file} is not committed, but {domain}/{contract} stays in the realm until it is retired: {add} and commit \
                    it, or git blue contract retire {domain}/{contract} --reason \"…\""
            );
        }
    }
}

/// Returns the command that adds a file to the index, even if git ignores it.
pub fn git_add(code: &CodeRepo, up: &str, file: &str) -> String {
    let force = if code.ignored([file]).is_empty() { "" } else { "--force " };
    format!("git add {force}{}", shell_word(&format!("{up}{file}")))
}
