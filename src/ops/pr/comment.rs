//! `realm_pr_comment`: writes a report into one comment on a pull request, and updates that comment from then on. If
//! the token may not write, as in the pull request of a fork, the report goes to the step summary.

use std::{io::Write as _, path::Path};

use crate::{
    error::{ErrorCode, OpError},
    forge::{Address, Comment, Forge, ForgeError, Listed, State},
    ops::{Operation, ctx::Ctx, repos::forges::Forges},
    repo::{CodeRepo, work::Work},
    wire::{Answer, CommentOutcome, PrComment},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::write::<PrComment>(
    "realm_pr_comment",
    &["realm", "pr", "comment"],
    "Post a report as a comment on a pull request",
);

/// The start of the comment, which is invisible in rendered Markdown.
const MARKER: &str = "<!-- git blue: contracts -->";

/// The maximum number of bytes of a report; forges take 65,536 characters.
const MAX_REPORT: usize = 60_000;

/// The arguments.
#[derive(Debug, Clone)]
pub struct Request {
    /// The report, in Markdown.
    pub report: String,
    /// The pull request; `None` for that of the workflow run, or else of the branch.
    pub number: Option<u64>,
}

/// Why no comment was written.
enum Failure {
    /// The token may not write the comment, or there is no token.
    MayNot(OpError),
    /// Anything else.
    Other(OpError),
}

impl From<OpError> for Failure {
    fn from(error: OpError) -> Self {
        Self::Other(error)
    }
}

impl From<ForgeError> for Failure {
    fn from(error: ForgeError) -> Self {
        let message = error.to_string();
        match error {
            ForgeError::Unauthorized { .. } | ForgeError::NotFound { .. } => Self::MayNot(
                OpError::no(ErrorCode::Refused, message)
                    .next("give the token write access to pull requests, and check the URL of origin"),
            ),
            ForgeError::Refused { .. } | ForgeError::TooMany { .. } => {
                Self::Other(OpError::no(ErrorCode::Refused, message))
            }
            _ => Self::Other(OpError::cannot(ErrorCode::Remote, message)),
        }
    }
}

/// Writes the comment, or the step summary.
///
/// # Errors
/// Returns an error if there is no pull request or nothing to write, or if neither can be written.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<PrComment>, OpError> {
    let report = bounded(request.report.trim());
    if report.is_empty() {
        return Err(OpError::usage("the report is empty"));
    }
    match write(ctx, request, &format!("{MARKER}\n{report}\n")) {
        Ok(body) => Ok(Answer::new(body)),
        Err(Failure::Other(error)) => Err(error),
        Err(Failure::MayNot(error)) => match ctx.env.text("GITHUB_STEP_SUMMARY") {
            Some(file) => {
                append(Path::new(file), &report)?;
                let reason = Some(error.message);
                Ok(Answer::new(PrComment {
                    number: request.number,
                    url: None,
                    outcome: CommentOutcome::Summary,
                    reason,
                }))
            }
            None => Err(error),
        },
    }
}

fn write(ctx: &Ctx, request: &Request, text: &str) -> Result<PrComment, Failure> {
    let missing =
        || OpError::cannot(ErrorCode::NotInGit, "this directory is not in a git repository").next("pass -C DIR");
    let code = ctx.code.as_ref().ok_or_else(missing)?;
    let closed = |closed: crate::ops::repos::forges::ForgeUnavailable| {
        let error = OpError::no(closed.code, closed.message).next(closed.next_step);
        if closed.code == ErrorCode::NoToken { Failure::MayNot(error) } else { Failure::Other(error) }
    };
    let folder = code.main_folder();
    let mut forges = Forges::new(ctx);
    let url = code.origin_urls().map(|[configured, _]| configured);
    let on = forges.at("this repository", &folder, (&code.origin(), url.as_deref())).map_err(closed)?;
    let forge = on.forge.map_err(closed)?;
    let number = match request.number.or_else(|| of_runner(ctx, &on.address)) {
        Some(number) => number,
        None => of_branch(ctx, code, &*forge)?,
    };
    write_once(&*forge, number, text)
}

/// Updates the existing comment, or writes one. If two jobs commented at once there are two, and both are updated. A
/// comment of another author with the same marker cannot be edited and is skipped.
fn write_once(forge: &dyn Forge, number: u64, text: &str) -> Result<PrComment, Failure> {
    let answer =
        |comment: Comment, outcome| PrComment { number: Some(number), url: comment.url, outcome, reason: None };
    let Listed { entries, end } = forge.comments(number)?;
    let mut written = None;
    for comment in entries.into_iter().filter(|comment| comment.body.starts_with(MARKER)) {
        let outcome = if comment.body.replace("\r\n", "\n").trim_end() == text.trim_end() {
            CommentOutcome::Unchanged
        } else {
            match forge.edit_comment(number, comment.id, text) {
                Ok(()) => CommentOutcome::Updated,
                Err(ForgeError::Unauthorized { .. } | ForgeError::NotFound { .. }) => continue,
                Err(error) => return Err(error.into()),
            }
        };
        written.get_or_insert_with(|| answer(comment, outcome));
    }
    if let Some(written) = written {
        return Ok(written);
    }
    end?;
    Ok(answer(forge.comment(number, text)?, CommentOutcome::Created))
}

/// Returns the pull request of a workflow run, if it is one of the repository at `address`: a run may also check out
/// other repositories. GitHub and Forgejo check out `refs/pull/N/merge`; GitLab runs the pipelines of a fork's merge
/// request in the fork.
fn of_runner(ctx: &Ctx, address: &Address) -> Option<u64> {
    let runs_for = |names: &[&str]| {
        let path = names.iter().find_map(|name| ctx.env.text(name));
        path.is_some_and(|path| path.eq_ignore_ascii_case(&address.path))
    };
    let of_ref = || ctx.env.text("GITHUB_REF")?.strip_prefix("refs/pull/")?.split('/').next()?.parse().ok();
    let of_gitlab = || ctx.env.text("CI_MERGE_REQUEST_IID")?.parse().ok();
    let github = runs_for(&["GITHUB_REPOSITORY"]).then(of_ref).flatten();
    github.or_else(|| runs_for(&["CI_MERGE_REQUEST_PROJECT_PATH", "CI_PROJECT_PATH"]).then(of_gitlab).flatten())
}

fn of_branch(ctx: &Ctx, code: &CodeRepo, forge: &dyn Forge) -> Result<u64, Failure> {
    let folder = code.workdir().unwrap_or_else(|| code.main_folder());
    let branch = Work::new(&folder, ctx.env.vars_for_other_repo()).current_branch().map_err(OpError::from)?;
    let none = |what: &str| {
        let message = format!("{what}: cannot tell which pull request to comment on");
        Failure::Other(OpError::no(ErrorCode::NoBranches, message).next("pass --number N"))
    };
    let branch = branch.ok_or_else(|| none("no branch is checked out"))?;
    let pull = forge.of_branch(&branch)?.filter(|pull| pull.state == State::Open);
    Ok(pull.ok_or_else(|| none(&format!("{branch} has no open pull request")))?.number)
}

/// Returns a report that is cut to the limit of forges at the end of a line.
fn bounded(report: &str) -> String {
    if report.len() <= MAX_REPORT {
        return report.to_owned();
    }
    let mut end = MAX_REPORT;
    while !report.is_char_boundary(end) {
        end -= 1;
    }
    let whole = report[..end].rfind('\n').unwrap_or(end);
    format!("{}\n\nThe rest is omitted: a comment cannot be longer.", &report[..whole])
}

/// Appends the report to the step summary, unless it is already there.
fn append(file: &Path, report: &str) -> Result<(), OpError> {
    let there = std::fs::read_to_string(file).unwrap_or_default();
    if there.contains(report) {
        return Ok(());
    }
    let opened = std::fs::OpenOptions::new().append(true).create(true).open(file);
    opened.and_then(|mut open| writeln!(open, "{report}")).map_err(OpError::io("write", file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_report_is_cut_at_a_line() {
        let line = "é".repeat(100);
        let report = format!("{line}\n").repeat(1_000);
        let cut = bounded(report.trim());
        assert!(cut.len() < 65_536 && cut.lines().next() == Some(&*line));
        assert!(cut.ends_with("a comment cannot be longer."));
        assert_eq!(bounded("short"), "short");
    }
}
