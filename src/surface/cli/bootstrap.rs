//! `git blue realm admin bootstrap`.

use std::path::PathBuf;

use clap::Args;

use super::{
    Verdict,
    output::Output,
    text::{Style, Text, plain, styled},
};
use crate::{
    error::OpError,
    model::text::comma_separated,
    ops::{admin, ctx::Ctx},
    surface::cli::{input::read_file, listing::render_cycles},
    wire::RealmBootstrap,
};

#[derive(Debug, Args)]
pub struct Bootstrap {
    /// The list of repositories, domains and bindings, as YAML; - for standard input
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
    /// Show what is missing, without creating it
    #[arg(long)]
    dry_run: bool,
}

impl Bootstrap {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        let request = admin::bootstrap::Request {
            document: read_file(ctx, &self.from)?,
            file: self.from.display().to_string(),
            dry_run: self.dry_run,
        };
        output.shown(&admin::bootstrap::run(ctx, &request)?, render)
    }
}

fn render(body: &RealmBootstrap, text: &mut Text) {
    let [added, created, extended, changed] = if body.dry_run {
        ["would add", "would create", "would extend", "would change"]
    } else {
        ["added", "created", "extended", "changed"]
    };
    if body.repos.is_empty() && body.domains.is_empty() && !body.rules_changed {
        text.line(&[plain("nothing is missing in the realm"), styled(&body.realm, Style::Bold)]);
    }
    for repo in &body.repos {
        text.line(&[plain(added), styled(repo, Style::Bold), plain("to the realm")]);
    }
    for line in &body.domains {
        let verb = if line.created { created } else { extended };
        text.line(&[plain(format!("{verb} domain")), styled(&line.domain, Style::Bold)]);
        let list = |what: &str, names: &[crate::model::name::RepoName]| {
            (!names.is_empty()).then(|| format!("{what} {}", comma_separated(names)))
        };
        for line in [list("members", &line.added), list("bindings of", &line.bound)].into_iter().flatten() {
            text.line(&[plain(" "), plain(line)]);
        }
    }
    if body.rules_changed {
        text.line(&[plain(format!("{changed} the rules of the realm"))]);
    }
    render_cycles(&body.cycles, text);
}
