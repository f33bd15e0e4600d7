//! Commit messages of a realm: a subject for `git log --oneline`, and trailers as hints for people. No rule depends on
//! a trailer.

use super::ctx::Ctx;
use crate::{
    model::{
        name::RepoName,
        oid::Oid,
        session::SessionId,
        trailer::{self, CHANGE, REPO, SOURCE},
    },
    ops::{publish::changed_by::ChangedBy, session::current},
};

/// The trailer with the session in which a change was made.
const SESSION: &str = "Blue-Session";

/// The parts of a commit message.
#[derive(Debug, Clone, Default)]
pub struct Message<'a> {
    /// The change, in one line.
    pub subject: String,
    /// The reason, in the words of the author.
    pub reason: Option<&'a str>,
    /// The repository that the change comes from.
    pub repo: Option<&'a RepoName>,
    /// The session of that repository.
    pub session: Option<SessionId>,
    /// The commit of that repository.
    pub source: Option<&'a Oid>,
    /// The author of the change in that repository, if known, who becomes the author of the commit.
    pub changed_by: Option<ChangedBy>,
}

impl Message<'_> {
    /// Returns the message of a change that is made in the session of this working tree.
    pub fn of(ctx: &Ctx, subject: impl Into<String>) -> Self {
        Self { subject: subject.into(), session: current::active(ctx), ..Self::default() }
    }

    /// Returns the text of the message, with its trailers.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.subject);
        if let Some(reason) = self.reason.map(str::trim).filter(|reason| !reason.is_empty()) {
            text += &format!("\n{reason}\n");
        }
        let repo = self.repo.map(|repo| format!("{REPO}: {repo}\n"));
        let session = self.session.as_ref().map(|session| format!("{SESSION}: {session}\n"));
        let source = self.source.map(|source| format!("{SOURCE}: {source}\n"));
        let change = self.changed_by.as_ref().map(|one| one.commit).filter(|change| self.source != Some(change));
        let change = change.map(|change| format!("{CHANGE}: {change}\n"));
        let trailers: String = [repo, session, source, change].into_iter().flatten().collect();
        if trailers.is_empty() { text } else { format!("{text}\n{trailers}") }
    }
}

/// Returns the subject and the repository of a message, and the commit of that repository that made the change.
pub fn parse(message: &str) -> (String, Option<String>, Option<String>) {
    let trailer = |key: &str| trailer::last(message, key).map(str::to_owned);
    (message.lines().next().unwrap_or_default().to_owned(), trailer(REPO), trailer(CHANGE).or_else(|| trailer(SOURCE)))
}

/// Returns the reason in a message: the text between the subject and the trailers.
pub fn reason(message: &str) -> Option<String> {
    let (_, body) = message.trim_end().split_once("\n\n")?;
    let (before, last) = body.rsplit_once("\n\n").unwrap_or(("", body));
    let has_trailers = last.lines().all(|line| line.starts_with("Blue-"));
    Some(if has_trailers { before } else { body }.trim().to_owned()).filter(|reason| !reason.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_message_can_be_parsed() {
        let repo = "fungal".parse().unwrap();
        let source = "1111111111111111111111111111111111111111".parse().unwrap();
        let message = Message {
            subject: "paths 1.0.0 -> 1.1.0".into(),
            reason: Some("because\n"),
            repo: Some(&repo),
            session: Some("sess-18f5a2b3c4d".parse().unwrap()),
            source: Some(&source),
            changed_by: None,
        };
        let text = message.text();
        assert_eq!(
            text,
            "paths 1.0.0 -> 1.1.0\n\nbecause\n\nBlue-Repo: fungal\nBlue-Session: sess-18f5a2b3c4d\nBlue-Source-Commit: 1111111111111111111111111111111111111111\n"
        );
        assert_eq!(parse(&text), ("paths 1.0.0 -> 1.1.0".into(), Some("fungal".into()), Some(source.to_string())));
        let change: Oid = "2222222222222222222222222222222222222222".parse().unwrap();
        let changed = Message { changed_by: Some(ChangedBy { commit: change, author: String::new() }), ..message };
        assert_eq!(changed.text(), format!("{text}Blue-Change-Commit: {change}\n"));
        assert_eq!(parse(&changed.text()).2, Some(change.to_string()));
        assert_eq!(parse(""), (String::new(), None, None));
        assert_eq!(reason(&text), Some("because".into()));
        assert_eq!(reason("one\n\ntwo\n\nthree\n"), Some("two\n\nthree".into()));
        for without in ["", "one\n", "one\n\nBlue-Repo: fungal\n"] {
            assert_eq!(reason(without), None, "{without:?}");
        }
    }
}
