//! The change that a pull request at a consumer proposes: another range in the file of a binding, on a separate branch.

use super::issue;
use crate::{
    forge::Tip,
    model::{
        name::{ContractName, ContractRef},
        range::Range,
        trailer,
        verdict::{Outcome, Verdict},
        version::Version,
        yaml_text,
    },
    repo::blue_files,
    store::codec,
    wire::ImportReview,
};

/// The trailer of the commits on such a branch, which names the contract.
const IMPORT: &str = "Blue-Import";

/// A wider range for an import.
pub struct Proposal<'a> {
    /// The import.
    pub import: &'a ImportReview,
    /// The contract.
    pub contract: ContractRef,
    /// The version that the range should accept.
    pub version: &'a Version,
    /// Whether the schemas are proved to be compatible.
    pub is_safe: bool,
    /// The new range.
    pub range: Range,
}

impl<'a> Proposal<'a> {
    /// Returns the proposal for an import, or `None` if its range already accepts the version: then the code must
    /// change, not the range.
    pub fn of(import: &'a ImportReview) -> Option<Self> {
        let version = import.new_version.as_ref().filter(|new| !import.version_req.matches(new))?;
        let verdict = import.verdict.as_ref().filter(|verdict| verdict.new_version == *version);
        let is_safe = verdict.is_some_and(|verdict| verdict.verdict == Outcome::Compatible);
        let wider = is_safe.then(|| import.version_req.widened(version)).flatten();
        let range = wider.unwrap_or_else(|| Range::since(version));
        Some(Self { import, contract: issue::contract(import), version, is_safe, range })
    }

    fn proof(&self) -> String {
        self.import.verdict.as_ref().map(Verdict::phrase).unwrap_or_default()
    }

    /// Returns the file that contains the range.
    pub fn path(&self) -> String {
        blue_files::binding(&self.import.domain)
    }

    /// Returns the branch.
    pub fn branch(&self) -> String {
        branch(&self.contract)
    }

    /// Returns the title of the pull request, and the subject of its commits.
    pub fn title(&self) -> String {
        format!("Accept {} {}", self.contract, self.version)
    }

    /// Returns the message of a commit.
    pub fn message(&self) -> String {
        let (old, new) = (&self.import.version_req, &self.range);
        format!(
            "{}\n\nThe range of the import was {old:?} and is {new:?}.\n\n{IMPORT}: {}\n",
            self.title(),
            self.contract
        )
    }

    /// Returns the description of the pull request. `is_taken` means that somebody else committed to the branch.
    pub fn text(&self, is_taken: bool) -> String {
        let Self { version, range, .. } = self;
        let what = if is_taken {
            format!(
                "git blue no longer updates this branch, because somebody else changed it: the range `{range}` \
                    accepts {version}."
            )
        } else {
            format!("This changes the range to `{range}`.")
        };
        let code = if self.is_safe {
            format!("The schemas are compatible: {}.", self.proof())
        } else {
            format!(
                "Merging this records that the code works with {version}, so adapt the code first. You can commit to \
                    this branch; git blue then stops updating it."
            )
        };
        issue::facts(self.import)
            + &format!(
                "\n{what} {code}\n\nThis text is updated when another version is published. The pull request is \
                    closed automatically once the import holds.\n"
            )
    }
}

/// Returns the name of the branch that proposes a range for the import of a contract.
pub fn branch(contract: &ContractRef) -> String {
    format!("git-blue/{contract}")
}

/// Returns whether the last commit of a branch was made by this program for the import of a contract.
pub fn is_ours(tip: &Tip, contract: &ContractRef) -> bool {
    trailer::last(&tip.message, IMPORT) == Some(&contract.to_string())
}

/// Returns the range of an import in the text of a binding.
pub fn range_in(text: &str, contract: &ContractName) -> Option<Range> {
    Some(codec::binding(text.as_bytes()).ok()?.import(contract)?.version.clone())
}

/// Returns the text of a binding with another range for an import. Returns `None` if the text has a layout that cannot
/// be edited.
pub fn with_range(text: &str, contract: &ContractName, range: &Range) -> Option<String> {
    let mut binding = codec::binding(text.as_bytes()).ok()?;
    let index = binding.imports.iter().position(|import| import.contract == *contract)?;
    binding.imports[index].version = range.clone();
    let field = ("version", yaml_text::quoted(range.as_str()));
    let edited = yaml_text::set_in_item(text, "imports", index, &field)?;
    (codec::binding(edited.as_bytes()).ok()? == binding).then_some(edited)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_range_changes_in_the_text() {
        let (paths, range): (ContractName, Range) = ("paths".parse().unwrap(), ">=2.0.0, <3.0.0".parse().unwrap());
        let text = "role: consumer\nimports:\n  # ours\n  - contract: other\n    version: \"^1.0.0\"\n  - contract: \
            paths # why\n    version: '>=1.0.0, <2.0.0' # until then\n";
        let edited = with_range(text, &paths, &range).unwrap();
        assert_eq!(edited, text.replace("'>=1.0.0, <2.0.0'", "\">=2.0.0, <3.0.0\""));
        assert_eq!(range_in(&edited, &paths).unwrap(), range);
        assert_eq!(with_range(text, &"gone".parse().unwrap(), &range), None);
        assert_eq!(with_range("role: [", &paths, &range), None);
        let folded = "role: consumer\nimports:\n  - contract: paths\n    version: >-\n      ^1.0.0\n";
        assert_eq!(with_range(folded, &paths, &range), None, "what it cannot edit it leaves alone");
    }

    #[test]
    fn a_branch_is_ours_if_its_last_commit_is() {
        let contract: ContractRef = "s3/paths".parse().unwrap();
        let tip = |message: &str| Tip { id: "1".into(), message: message.into() };
        assert!(is_ours(&tip("Accept s3/paths 2.0.0\n\nBlue-Import: s3/paths\n"), &contract));
        assert!(!is_ours(&tip("Read the places"), &contract));
        assert!(!is_ours(&tip("Accept\n\nBlue-Import: s3/path"), &contract));
    }
}
