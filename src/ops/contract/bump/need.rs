//! The version that a change of a contract needs, and why.

use crate::{
    model::{
        compatibility,
        contract::{Contract, Values},
        domain_view::DomainView,
        next_version,
        schema::{self, Forest},
        verdict::{Basis, Outcome, Promise, VersionBump, needed_bump},
        version::Level,
    },
    ops::ctx::Ctx,
};

/// The bump that a change of the content requires, and why.
pub struct Need {
    /// The bump.
    pub bump: VersionBump,
    /// The reason, for people.
    pub reason: String,
    /// Whether the change breaks a promise, or consumers that no promise protects.
    pub is_breaking: bool,
}

/// Returns the bump that a change requires, and why, by the rules of publishing. Returns `None` if the content is
/// already published.
pub fn need(ctx: &Ctx, view: &DomainView, published: &Contract, document: &Contract) -> Option<Need> {
    if published.has_same_content(document) {
        return None;
    }
    let (judge, old) = (ctx.judge(), &published.version);
    if let Some(approval) = next_version::approved(view, published, document, &judge) {
        let reason = format!("the break was approved: {}", approval.reason);
        return Some(Need { bump: VersionBump::Minor, reason, is_breaking: true });
    }
    // A patch must keep every promise, so this finds each one that the change breaks.
    let next = Contract { version: old.raised(Level::Patch), ..document.clone() };
    let promise = Promise::of(published, &next, &judge);
    if let Some(verdict) = promise.as_ref().and_then(|promise| promise.broken.first()) {
        let what = verdict.difference.as_ref().map(|one| {
            let place = if one.at.is_empty() { String::new() } else { format!("at {}: ", one.at) };
            format!(": {place}{} [{}]", one.message, one.rule)
        });
        let of = match verdict.basis {
            Basis::Values => " about the value",
            Basis::Flow => " about the flow",
            Basis::Schemas | Basis::Expects => "",
        };
        let reason = format!("it breaks a promise of {old}{of}{}", what.unwrap_or_default());
        return Some(Need { bump: VersionBump::Major, reason, is_breaking: true });
    }
    if let Some(verdict) = promise.as_ref().and_then(|promise| promise.unknown.first()) {
        let why = verdict.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        let reason = format!("it is unknown whether it breaks consumers of {old}{why}");
        return Some(Need { bump: VersionBump::Unknown, reason, is_breaking: false });
    }
    let bump = needed_bump(published, document, &judge);
    let compared = judge.compare(published, document);
    let is_same_value = || {
        compatibility::values(&published.value.value(), &document.value.value(), Values::Frozen).bump
            == VersionBump::Patch
    };
    let reason = match bump {
        VersionBump::Patch if published.value == document.value => {
            format!("the same values are valid as in {old}{}", formats(published, document))
        }
        VersionBump::Patch if is_same_value() => format!("the lists of the value have the same items as in {old}"),
        VersionBump::Patch => "the value changed, which `values: free` allows".to_owned(),
        _ if compared.is_same() && published.value != document.value => "the value changed".to_owned(),
        _ if compared.is_same() => "the promise changed".to_owned(),
        _ if compared.is_same_language() => format!("the schema names other properties than in {old}, which are sent"),
        _ => format!("the set of valid values differs from {old}"),
    };
    let verdict = judge.for_importers(published, document);
    let is_breaking = verdict.is_some_and(|verdict| verdict.verdict == Outcome::Breaks);
    let unprotected = if is_breaking { "; it breaks consumers, which no promise protects" } else { "" };
    Some(Need { bump, reason: reason + unprotected, is_breaking })
}

/// Returns the end of a reason that names changed formats, which are not compared.
fn formats(published: &Contract, document: &Contract) -> &'static str {
    let (forest, [old, new]) = Forest::of_json([&published.schema, &document.schema]);
    let is_unchanged = schema::uncompared_formats(forest.tree(old), forest.tree(new)).is_empty();
    if is_unchanged { "" } else { "; formats changed, but they are not compared" }
}
