//! The text of an issue or a pull request at a consumer, and the marker that identifies it.

use crate::{
    model::{name::ContractRef, version::Version},
    wire::{ImportReview, ImportStanding, Mention},
};

/// The start of the text's first line, which is invisible in rendered Markdown.
const MARK: &str = "<!-- git blue import ";
/// The end of the marker.
const END: &str = " -->";
/// The part of the marker that says that the issue is settled.
const SETTLED: &str = " settled";
/// The last line of the text once the issue is settled.
pub const SETTLED_BY: &str = "Resolved: the import holds and is no longer behind.";
/// The last line of the text once the repository is no longer in the realm.
pub const LEFT: &str = "Closed: this repository left the realm.";
/// The maximum number of places that mention a changed field.
const MAX_MENTIONS: usize = 30;

/// The subject of an issue or a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IssueMarker {
    pub contract: ContractRef,
    pub version: Version,
    pub is_settled: bool,
}

impl IssueMarker {
    /// Parses the marker of a text, if it has one.
    pub fn of(text: &str) -> Option<Self> {
        let words = text.lines().next()?.trim_end().strip_prefix(MARK)?.strip_suffix(END)?;
        let (words, is_settled) = words.strip_suffix(SETTLED).map_or((words, false), |words| (words, true));
        let (contract, version) = words.split_once(' ')?;
        Some(Self { contract: contract.parse().ok()?, version: version.parse().ok()?, is_settled })
    }

    fn line(contract: &ContractRef, version: &Version, is_settled: bool) -> String {
        format!("{MARK}{contract} {version}{}{END}", if is_settled { SETTLED } else { "" })
    }

    /// Returns the text with a marker that says that this program closed it, and with the reason at its end.
    pub fn closed(&self, text: &str, why: &str) -> String {
        let rest = text.split_once('\n').map_or("", |(_, rest)| rest).trim_end();
        let mark = Self::line(&self.contract, &self.version, true);
        format!("{mark}\n{rest}\n\n{why}\n")
    }
}

/// Returns whether the consumer has to act: its import is broken, or gets an older version.
pub fn is_due(import: &ImportReview) -> bool {
    import.state != ImportStanding::Current && import.new_version.is_some()
}

/// Returns the contract of the issue.
pub fn contract(import: &ImportReview) -> ContractRef {
    ContractRef { domain: import.domain.clone(), contract: import.contract.clone() }
}

/// Returns the title of the issue.
pub fn title(import: &ImportReview) -> String {
    let version = import.new_version.as_ref().map(ToString::to_string).unwrap_or_default();
    if import.state == ImportStanding::Broken {
        format!("{} {version} breaks the import of this repository", contract(import))
    } else {
        format!("{} is at {version}, but this repository uses an older version", contract(import))
    }
}

/// Returns whether a forge already has this text. Forges change line endings.
pub fn is_same(held: &str, text: &str) -> bool {
    held.replace("\r\n", "\n").trim_end() == text.trim_end()
}

/// Returns the text of an issue.
pub fn text(import: &ImportReview) -> String {
    facts(import)
        + "\nRun `git blue review` in a clone of this repository to see this and what to do next. This issue is \
            closed automatically once the import holds again.\n"
}

/// Returns the marker and the facts about an import. Text that comes from the realm or from files appears only as code.
pub fn facts(import: &ImportReview) -> String {
    let Some(new) = &import.new_version else { return String::new() };
    let contract = contract(import);
    let mut text = format!("{}\n", IssueMarker::line(&contract, new, false));
    let accepts = format!("the range of the import is `{}`", import.version_req);
    let written = import.old_version.as_ref().map(|old| format!(", and the code was written against {old}"));
    text += &format!("`{contract}` is now at **{new}**; {accepts}{}.\n", written.unwrap_or_default());
    if let Some(verdict) = &import.verdict {
        text += &format!("\nEffect on this repository:\n\n{}", code("", &verdict.phrase()));
    }
    if !import.differences.is_empty() {
        let more = match import.more_differences {
            0 => String::new(),
            more => format!("\nand {more} more"),
        };
        text += &format!("\nDifferences:\n\n{}", code("diff", &(import.differences.join("\n") + &more)));
    }
    if let Some(file) = &import.binding_file {
        let line = import.binding_line.map(|line| format!(":{line}")).unwrap_or_default();
        text += &format!("\nThe range is in {}.\n", inline(&format!("{file}{line}")));
    }
    if !import.mentions.is_empty() {
        let line = |one: &Mention| format!("{}:{}: {}", one.file, one.line, one.text.trim());
        let mut lines: Vec<_> = import.mentions.iter().take(MAX_MENTIONS).map(line).collect();
        let more = import.mentions.len().saturating_sub(MAX_MENTIONS);
        lines.extend((more > 0).then(|| format!("and {more} more")));
        text += &format!(
            "\nLines that mention a changed field (not every mention is a use):\n\n{}",
            code("", &lines.join("\n"))
        );
    }
    text
}

/// Returns a fenced code block that its content cannot end.
fn code(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}\n")
}

fn inline(text: &str) -> String {
    format!("`{}`", text.replace('`', "'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_found_again_with_its_state() {
        let (contract, version): (ContractRef, Version) = ("s3/paths".parse().unwrap(), "2.0.0".parse().unwrap());
        let text = format!("{}\r\nText\r\n", IssueMarker::line(&contract, &version, false));
        let mark = IssueMarker::of(&text).unwrap();
        assert_eq!((&mark.contract, &mark.version, mark.is_settled), (&contract, &version, false));
        let settled = mark.closed(&text, SETTLED_BY);
        assert!(IssueMarker::of(&settled).unwrap().is_settled && settled.contains("Text\n\nResolved: "), "{settled}");
        for text in ["", "Text", "<!-- git blue import s3 -->", "x <!-- git blue import s3/paths 1.0.0 -->"] {
            assert_eq!(IssueMarker::of(text), None, "{text}");
        }
    }

    #[test]
    fn the_content_of_a_code_block_cannot_end_it() {
        assert_eq!(code("diff", "a"), "```diff\na\n```\n");
        assert_eq!(code("", "```\n@all"), "````\n```\n@all\n````\n");
    }
}
