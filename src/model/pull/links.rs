//! The part of a pull request's description that links to the other pull requests of its RFC. The rest belongs to its
//! author and is kept.

use crate::model::name::RfcName;

const BEGIN: &str = "<!-- git blue: the text between these two lines is updated automatically -->";
const END: &str = "<!-- git blue: end -->";

/// The links from one pull request to the others of its RFC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Links<'a> {
    /// The RFC.
    pub rfc: &'a RfcName,
    /// References to those that must be merged first.
    pub depends_on: Vec<String>,
    /// References to all others.
    pub others: Vec<String>,
}

impl Links<'_> {
    fn block(&self) -> String {
        let mut lines = vec![BEGIN.to_owned()];
        lines.extend(self.depends_on.iter().map(|reference| format!("Depends on {reference}")));
        lines.push(if self.others.is_empty() {
            format!("Part of `{}`", self.rfc)
        } else {
            format!("Part of `{}`, with {}", self.rfc, self.others.join(", "))
        });
        lines.push(END.to_owned());
        // Separate paragraphs, so that Markdown shows each on its own line.
        lines.join("\n\n")
    }

    /// Returns the description with its links replaced by these.
    pub fn within(&self, body: &str) -> String {
        let block = self.block();
        // The web interfaces of forges send CRLF line endings.
        let body = body.replace("\r\n", "\n");
        match (body.find(BEGIN), body.rfind(END)) {
            (Some(begin), Some(end)) if begin < end => format!("{}{block}{}", &body[..begin], &body[end + END.len()..]),
            _ if body.trim().is_empty() => block,
            _ => format!("{}\n\n{block}", body.trim_end()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_updated_and_the_authors_text_is_kept() {
        let rfc = "rfc-1".parse().unwrap();
        let links = |depends_on: &[&str], others: &[&str]| Links {
            rfc: &rfc,
            depends_on: depends_on.iter().map(ToString::to_string).collect(),
            others: others.iter().map(ToString::to_string).collect(),
        };
        let first = links(&[], &[]).within("");
        assert!(first.contains("Part of `rfc-1`\n"), "{first}");
        let edited = format!("Why\r\n\r\n{}\r\nAnd more", first.replace('\n', "\r\n"));
        let second = links(&["acme/a#1"], &["acme/c#3"]).within(&edited);
        assert!(second.starts_with("Why\n\n<!--") && second.ends_with("-->\nAnd more"), "{second}");
        assert!(second.contains("\n\nDepends on acme/a#1\n\nPart of `rfc-1`, with acme/c#3\n\n"), "{second}");
        assert_eq!(links(&["acme/a#1"], &["acme/c#3"]).within(&second), second, "once more changes nothing");
        assert!(links(&[], &[]).within("Mine").starts_with("Mine\n\n<!--"));
        assert!(links(&[], &[]).within(&format!("{END} {BEGIN}")).contains("Part of"), "whatever is in it");
    }
}
