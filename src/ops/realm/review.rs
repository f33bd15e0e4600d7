//! `realm_review`: lists what changed in this repository's imports, whether it breaks them, and where to edit.

mod import;
mod mentions;

use super::status::unreadable_domains;
use crate::{
    error::{OpError, REPAIR},
    model::{domain_view::Subject, name::RepoName, verdict::ImportEffect},
    ops::{Operation, admin::join, contract::verdict, ctx::Ctx, repos::unknown, runs},
    store::overview::Overview,
    wire::{Answer, ImportReview, RealmReview},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::reads::<Request>(
    "realm_review",
    &["realm", "review"],
    "Show changes to this repository's imports, and where to edit",
)
.tool(
    "Show changes to imports, whether they break this repository (with proof, unless judged_by \
        is version-range), and where to edit. Call it before adapting code.",
)
.route("GET", "/realms/{realm}/review");

/// The arguments.
#[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {}

runs!(RealmReview, |ctx, _| run(ctx));

/// Reviews the imports. Nothing is marked as seen or recorded.
///
/// # Errors
/// Returns an error if the current folder is not in a repository of a realm, or the realm cannot be read.
pub fn run(ctx: &Ctx) -> Result<Answer<RealmReview>, OpError> {
    let acting = ctx.acting_repo()?;
    let overview = Overview::open(acting.store)?;
    unknown::refuse_variable(ctx, overview.repos().keys())?;
    let (judge, writing) = (ctx.judge(), ctx.require_writable());
    let files = import::BindingFiles::of(ctx, acting.code)?;
    let (mut reviews, mut unreadable, mut checked, mut by_range_only) = (Vec::new(), Vec::new(), 0, 0);
    let progress = ctx.progress();
    for line in overview.domains_of(acting.repo) {
        progress.check()?;
        let summary = overview.summary(line)?;
        let states = verdict::states(acting.store, &line.tree, &summary, Some(acting.repo), &judge)?;
        let own = summary.damage.iter().filter(|damage| damage.subject == Subject::Binding(acting.repo.clone()));
        unreadable.extend(own.map(ToString::to_string));
        let file = files.read(&line.name)?;
        let (store, tree) = (acting.store, &line.tree);
        let domain = import::Domain { store, tree, summary: &summary, file, judge: &judge, today: ctx.env.today() };
        for import in summary.bindings.get(acting.repo).into_iter().flat_map(|binding| &binding.imports) {
            let key: (RepoName, _) = (acting.repo.clone(), import.contract.clone());
            let Some(state) = states.get(&key) else { continue };
            checked += 1;
            by_range_only += usize::from(state.is_by_range());
            if state.is_unreadable() {
                let damage = summary.damage.iter().filter(|damage| damage.subject.is_contract(&import.contract));
                unreadable.extend(damage.map(ToString::to_string));
                unreadable.extend(
                    state
                        .unreadable
                        .as_ref()
                        .map(|version| format!("{}/{} {version} cannot be read", line.name, import.contract)),
                );
            }
            if import::is_due(import, state) || domain.withdrawal(import).is_some() {
                reviews.push((rank(state.effect()), domain.review(import, state)?));
            }
        }
    }
    reviews.sort_by(|(a, one), (b, other)| (a, &one.domain, &one.contract).cmp(&(b, &other.domain, &other.contract)));
    let mut imports: Vec<ImportReview> = reviews.into_iter().map(|(_, review)| review).collect();
    let steps: Vec<_> = imports.iter().filter_map(|import| import.next_step.clone()).collect();
    let found = mentions::add(acting.code, &mut imports, &progress.flag())?;
    progress.check()?;
    let unreadable_domains = unreadable_domains(&overview);
    let is_damaged = !unreadable_domains.is_empty() || !unreadable.is_empty();
    let answer = Answer::new(RealmReview {
        realm: acting.realm.clone(),
        current_repo: acting.repo.clone(),
        read_only: writing.as_ref().err().map(|error| error.message.clone()),
        checked,
        by_range_only,
        imports,
        searched: found.searched,
        mentions_cut: found.cut,
        unreadable_domains,
        unreadable,
    });
    let can_write = writing.is_ok();
    let joining = writing.err().into_iter().flat_map(|error| error.next_steps);
    let damage = is_damaged.then(|| REPAIR.into());
    let answer = answer.next_all(joining.chain(damage).chain(steps));
    let first = match acting.code {
        Some(code) if can_write && overview.damage().is_empty() => {
            join::first_steps(ctx, code, (acting.realm, acting.store), &overview, acting.repo)?
        }
        _ => Vec::new(),
    };
    Ok(answer.next_all(first))
}

/// Returns the rank by which imports are sorted: broken ones first, then undecided ones.
fn rank(effect: ImportEffect) -> u8 {
    match effect {
        ImportEffect::Broken => 0,
        ImportEffect::Unknown => 1,
        ImportEffect::Satisfied | ImportEffect::Behind => 2,
    }
}
