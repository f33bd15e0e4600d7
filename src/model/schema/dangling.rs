//! Finds the reference that leads nowhere. The validator says what is missing, but not which reference asks for it.

use super::{
    Part, Problem, Tree,
    document::{Context, Document},
    official,
    problem::{instead, no_anchor, nothing_at, outside, parts_of, shortened},
    uri,
    words::{Contained, contained},
};
use crate::model::{nearest::did_you_mean, percent, pointer::unescape};

/// Returns the problem of a whole schema, with the place of the first reference that leads nowhere, if there is one.
pub(super) fn located(document: &Document<'_>, problem: Problem) -> Problem {
    let is_whole = problem.part == Part::Schema && problem.pointer.is_empty();
    is_whole.then(|| first(document)).flatten().unwrap_or(problem)
}

fn first(document: &Document<'_>) -> Option<Problem> {
    let mut waiting = vec![(document.root, String::new(), document.outside())];
    while let Some((part, pointer, outer)) = waiting.pop() {
        let context = outer.within(part);
        if let Some(message) = part.get("$ref").and_then(Tree::as_str).and_then(|to| lost(document, to, &context)) {
            return Some(Problem { part: Part::Schema, pointer: format!("{pointer}/$ref"), message });
        }
        let below = below(part, &pointer, &context);
        waiting.extend(below.into_iter().rev().map(|(part, pointer)| (part, pointer, context.clone())));
    }
    None
}

/// Returns the sub-schemas of a schema that have references.
fn below<'a>(schema: Tree<'a>, pointer: &str, context: &Context) -> Vec<(Tree<'a>, String)> {
    let mut found = Vec::new();
    for (word, member) in schema.members().filter(|(_, member)| member.has_references()) {
        let pointer = format!("{pointer}{}", uri::step(word));
        match contained(word, context.draft) {
            Some(Contained::OneOrList) if !member.is_array() => found.push((member, pointer)),
            Some(_) => {
                let named = member.members().map(|(name, part)| (part, format!("{pointer}{}", uri::step(name))));
                let listed = member.items().enumerate().map(|(at, part)| (part, format!("{pointer}/{at}")));
                found.extend(named.chain(listed));
            }
            None => {}
        }
    }
    found
}

/// Returns the message for a reference, if it leads nowhere.
fn lost(document: &Document<'_>, to: &str, context: &Context) -> Option<String> {
    let (target, fragment) = uri::split(to);
    if document.resolve(to, &context.base).is_ok() || official::draft_of(target).is_some() {
        return None;
    }
    let parts = parts_of(|keyword| document.root.get(keyword).is_some());
    let Ok(resource) = document.resolve(target, &context.base) else { return Some(outside(to, parts)) };
    let fragment = percent::decode(fragment.unwrap_or_default());
    if target.is_empty() && document.resolve(to, &document.context.base).is_ok() {
        return Some(of_own_id(to, &resource, &document.context.base));
    }
    if !fragment.starts_with('/') {
        return Some(no_anchor(&fragment, parts));
    }
    let meant = nearest(document.root.pointer(&resource)?, &fragment);
    Some(nothing_at(&fragment, if meant.is_empty() { instead(parts) } else { meant }.as_str()))
}

/// Returns the message for a reference to a place in the whole schema, from a part that has its own `$id`.
fn of_own_id(to: &str, resource: &str, base: &str) -> String {
    let write = match base {
        "" => format!("remove that $id, or give the whole schema an $id, and write it before {to}"),
        base => format!("write {base}{to}"),
    };
    shortened(format!("$ref: {to:?} is relative to the $id of {resource}, where there is no such place; {write}"))
}

/// Returns a question that suggests a similar name at the place where the name in a pointer is missing.
fn nearest(resource: Tree<'_>, pointer: &str) -> String {
    let Some((above, name)) = pointer.rsplit_once('/') else { return String::new() };
    let names: Vec<_> = resource.pointer(above).into_iter().flat_map(Tree::members).map(|(name, _)| name).collect();
    did_you_mean(&&*unescape(name), &names)
}
