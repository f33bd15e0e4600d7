//! Finds schemas that no value satisfies, or no object with the properties that they name. Every change of such a schema
//! keeps the same values, so a proof about it means nothing. The usual cause is an `allOf` of closed objects.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::budget::{Budget, Limits};
use super::evaluate;
use super::graph::node::{self, Id, Lit, Sym};
use super::graph::{dialect, intern};
use super::prove::{Atom, Engine};
use super::sources::{Sources, Spot};
use crate::model::schema::{Draft, KeywordKind, KeywordWarning, Tree, document::Document};

/// The advice for the usual cause.
const ADVICE: &str = "to close an allOf, write \"unevaluatedProperties\": false beside it, from 2019-09 on";

/// The finding that a schema allows nothing, or no object with the properties that it names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NothingValid {
    /// A JSON Pointer to the keyword that refuses a property; empty for the whole schema.
    pub pointer: String,
    /// The keyword, if it was found.
    pub keyword: String,
    /// The finding, with its cause if that was found.
    pub message: String,
}

impl NothingValid {
    /// Returns the warning about it.
    pub fn warning(self) -> KeywordWarning {
        let Self { pointer, keyword, message } = self;
        KeywordWarning { pointer, keyword, kind: KeywordKind::NothingValid, suggestion: message }
    }

    fn whole() -> Self {
        Self { pointer: String::new(), keyword: String::new(), message: "no value is valid".to_owned() }
    }
}

/// Decides whether a schema allows nothing. Returns `None` if it allows something, if that is undecided, and for `false`.
pub(super) fn find(
    schema: Tree<'_>,
    limits: Limits,
    clock: &(dyn Fn() -> Duration + Sync),
) -> Result<Option<NothingValid>, String> {
    let is_known = schema.get("$schema").and_then(Tree::as_str).is_none_or(|uri| Draft::of(uri).is_some());
    if !is_known || schema.as_bool().is_some() {
        return Ok(None);
    }
    let documents = [Document::new(schema), Document::new(schema)];
    let (graph, root) = dialect::read_first(&documents)?;
    let (table, classes, graph) = intern::intern(graph)?;
    let sources = Sources { graph: &graph, classes: &classes, roots: [root; 2] };
    let engine = Engine::new(table, Budget::new(clock, limits));
    Ok(Search { parts: sources.all_of_root(), sources, engine }.find())
}

impl<'a> Sources<'a> {
    /// Returns the root, and all sub-schemas that it always applies.
    fn all_of_root(&self) -> Vec<Spot<'a>> {
        let (mut waiting, mut all) = (vec![self.root(0)], Vec::<Spot<'a>>::new());
        while let Some(spot) = waiting.pop() {
            if all.iter().any(|known| known.id == spot.id) {
                continue;
            }
            let included = self.graph.lits(spot.id).iter().filter_map(|lit| match lit {
                Lit::Sub(id) => Some(spot.below(lit, *id)),
                _ => None,
            });
            waiting.extend(included);
            all.push(spot);
        }
        all
    }
}

struct Search<'a> {
    sources: Sources<'a>,
    /// The sub-schemas that apply to every value.
    parts: Vec<Spot<'a>>,
    engine: Engine<'a>,
}

impl Search<'_> {
    /// Asks whether an object with a property is valid, if any is named. Only otherwise asks whether anything is.
    fn find(mut self) -> Option<NothingValid> {
        let root = Atom::is(self.sources.classes.of(self.sources.roots[0]), false);
        let named = self.named();
        let has_objects = !named.is_empty() && self.engine.types(root) & node::OBJECT != 0;
        if has_objects {
            let some = self.engine.table.node(vec![Lit::Type(node::OBJECT), Lit::MinProps(1)]);
            if !self.engine.goal(vec![root, Atom::is(some, false)]).is_empty() {
                return None;
            }
        }
        if self.engine.goal(vec![root]).is_empty() {
            let required = self.names(|lit| if let Lit::Required(name) = lit { Some(*name) } else { None });
            let found = self.refused(&required, |name| {
                format!("no value is valid: {name:?} is required, but not allowed here; {ADVICE}")
            });
            return Some(found.unwrap_or_else(NothingValid::whole));
        }
        let found = self.refused(&named, |name| {
            format!("no object with a property is valid: {name:?} is named, but not allowed here; {ADVICE}")
        });
        found.filter(|_| has_objects)
    }

    /// Returns the properties for which a value may be valid.
    fn named(&self) -> Vec<Sym> {
        let is_possible = |id: Id| self.sources.graph.lits(id) != [Lit::Never];
        self.names(|lit| match lit {
            Lit::Prop(name, id) if is_possible(*id) => Some(*name),
            _ => None,
        })
    }

    fn names(&self, name: impl Fn(&Lit) -> Option<Sym>) -> Vec<Sym> {
        self.parts.iter().flat_map(|part| self.sources.graph.lits(part.id)).filter_map(name).collect()
    }

    /// Returns the finding about the first of these properties that a part does not allow.
    fn refused(&mut self, names: &[Sym], message: impl Fn(&str) -> String) -> Option<NothingValid> {
        let table = &mut self.engine.table;
        for name in names {
            let text = table.words.text(*name);
            for part in &self.parts {
                for lit in self.sources.graph.lits(part.id) {
                    let Lit::AddProp(names, patterns, id) = lit else { continue };
                    let is_other = evaluate::is_other(&mut table.words, names, patterns, &text) == Some(true);
                    if is_other && self.sources.graph.lits(*id) == [Lit::Never] {
                        let pointer = self.sources.pointer(0, table, part, lit);
                        return Some(NothingValid { pointer, keyword: text.to_string(), message: message(&text) });
                    }
                }
            }
        }
        None
    }
}
