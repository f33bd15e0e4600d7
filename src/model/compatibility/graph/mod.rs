//! The sub-schemas of two documents, read into one set of keywords.

mod cyclic;
pub mod dialect;
pub mod intern;
pub mod node;
mod same_pattern;
mod unevaluated;

use std::collections::{HashMap, HashSet};

use self::node::{Id, Lit, Words, index};
use crate::model::schema::{
    Draft, PartId, Tree,
    document::{Context, Document, DynamicScope},
};

/// The number of a [`Scope`].
pub(super) type ScopeId = u32;

/// A sub-schema.
#[derive(Clone, Copy)]
struct Raw {
    /// The index of its first literal, and their number.
    lits: (u32, u32),
    part: PartId,
    scope: ScopeId,
    origin: Origin,
}

/// The origin of a sub-schema.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// It is in a document.
    Document,
    /// It was derived from one that is.
    Derived,
    /// It was derived from one that has `unevaluatedProperties` or `unevaluatedItems`, as a case or a condition of it.
    Case,
}

/// The context that determines the meaning of a sub-schema: its document, the base and draft there, and the path to it.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Scope {
    /// 0 for the old document, 1 for the new one; `None` for a sub-schema that means the same in both.
    document: Option<usize>,
    context: Context,
    dynamic: DynamicScope,
}

/// The parts of a value that `unevaluatedProperties` or `unevaluatedItems` applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Unevaluated {
    Properties,
    Items,
}

/// Every reachable sub-schema of both documents.
pub(super) struct Graph<'a> {
    pub(super) documents: &'a [Document<'a>; 2],
    raws: Vec<Raw>,
    lits: Vec<Lit>,
    pub(super) words: Words,
    scopes: Vec<Scope>,
    scope_ids: HashMap<Scope, ScopeId>,
    /// The number of scopes in which the target of a reference depends on the path.
    pub(super) dynamic_scopes: usize,
    /// Ids by part and scope, so that equal sub-schemas with the same meaning are read only once.
    ids: HashMap<(PartId, ScopeId), Id>,
    /// The sub-schemas that leave nothing unevaluated, because they have `unevaluatedProperties` or `unevaluatedItems`
    /// themselves.
    pub(super) evaluates_all: HashSet<(Id, Unevaluated)>,
    /// The number of literals at the beginning of a sub-schema that come from its own keywords. Those after them
    /// replace its `unevaluatedProperties` and `unevaluatedItems`.
    written: HashMap<Id, usize>,
}

impl<'a> Graph<'a> {
    /// Creates the graph of two documents without sub-schemas.
    pub(super) fn new(documents: &'a [Document<'a>; 2]) -> Self {
        Self {
            documents,
            raws: Vec::new(),
            lits: Vec::new(),
            words: Words::default(),
            scopes: Vec::new(),
            scope_ids: HashMap::new(),
            dynamic_scopes: 0,
            ids: HashMap::new(),
            evaluates_all: HashSet::new(),
            written: HashMap::new(),
        }
    }

    /// Returns the number of sub-schemas.
    pub(super) fn len(&self) -> usize {
        self.raws.len()
    }

    /// Returns the literals of a sub-schema.
    pub(super) fn lits(&self, id: Id) -> &[Lit] {
        let (first, count) = self.raws[id as usize].lits;
        &self.lits[first as usize..(first + count) as usize]
    }

    /// Replaces the literals of a sub-schema.
    pub(super) fn set(&mut self, id: Id, lits: Vec<Lit>) {
        self.raws[id as usize].lits = (index(self.lits.len()), index(lits.len()));
        self.lits.extend(lits);
    }

    /// Returns the written form of a sub-schema or, for a derived one, of the sub-schema that it was derived from.
    pub(super) fn tree(&self, id: Id) -> Tree<'a> {
        self.documents[0].root.other(self.raws[id as usize].part)
    }

    /// Returns whether a sub-schema occurs in a document.
    pub(super) fn is_written(&self, id: Id) -> bool {
        self.raws[id as usize].origin == Origin::Document
    }

    /// Returns whether a sub-schema is a case or a condition that `unevaluatedProperties` or `unevaluatedItems` was
    /// rewritten to.
    pub(super) fn is_case(&self, id: Id) -> bool {
        self.raws[id as usize].origin == Origin::Case
    }

    /// Returns the literals of a sub-schema, split into those of its keywords and those that `unevaluatedProperties`
    /// and `unevaluatedItems` were rewritten to.
    pub(super) fn split(&self, id: Id) -> (&[Lit], &[Lit]) {
        let lits = self.lits(id);
        let first = if self.is_case(id) { Some(0) } else { self.written.get(&id).copied() };
        lits.split_at(first.unwrap_or(lits.len()))
    }

    /// Adds the literals that replace `unevaluatedProperties` or `unevaluatedItems` in a sub-schema. The sub-schemas
    /// from `first` on were created for these literals, and are marked as cases.
    pub(super) fn add_cases(&mut self, id: Id, more: Vec<Lit>, first: usize) {
        self.raws[first..].iter_mut().for_each(|raw| raw.origin = Origin::Case);
        let lits = self.lits(id).to_vec();
        self.written.entry(id).or_insert(lits.len());
        self.set(id, lits.into_iter().chain(more).collect());
    }

    /// Returns the context within a sub-schema.
    pub(super) fn context(&self, id: Id) -> Context {
        self.scopes[self.raws[id as usize].scope as usize].context.within(self.tree(id))
    }

    /// Adds a sub-schema that is derived from `like` and occurs in no document.
    pub(super) fn add(&mut self, lits: Vec<Lit>, like: Id) -> Id {
        let raw = Raw { origin: Origin::Derived, ..self.raws[like as usize] };
        let id = self.push(raw);
        self.set(id, lits);
        id
    }

    /// Adds a copy of a sub-schema whose literals have other children.
    pub(super) fn copy(&mut self, lits: Vec<Lit>, of: Id) -> Id {
        let id = self.add(lits, of);
        if self.is_case(of) {
            self.raws[id as usize].origin = Origin::Case;
        }
        if let Some(written) = self.written.get(&of).copied() {
            self.written.insert(id, written);
        }
        id
    }

    fn push(&mut self, raw: Raw) -> Id {
        self.raws.push(raw);
        index(self.raws.len() - 1)
    }

    /// Frees the memory that is reserved for further literals.
    pub(super) fn shrink(&mut self) {
        self.lits.shrink_to_fit();
    }

    /// Returns the sub-schema for a part of a document, and whether it is new.
    pub(super) fn part(&mut self, part: Tree<'a>, scope: ScopeId) -> (Id, bool) {
        let scope = if part.has_references() || part.has_names() { scope } else { self.anywhere(scope) };
        let key = (part.id(), scope);
        if let Some(id) = self.ids.get(&key) {
            return (*id, false);
        }
        let id = self.push(Raw { lits: (0, 0), part: part.id(), scope, origin: Origin::Document });
        self.ids.insert(key, id);
        (id, true)
    }

    /// Returns the scope around a document.
    pub(super) fn outside(&mut self, number: usize) -> ScopeId {
        let context = self.documents[number].outside();
        self.scope(Scope { document: Some(number), context, dynamic: DynamicScope::default() })
    }

    /// Returns the scope within a sub-schema, and its draft.
    pub(super) fn inside(&mut self, id: Id) -> (ScopeId, Draft) {
        let part = self.tree(id);
        let mut scope = self.raws[id as usize].scope;
        if part.has_names() {
            let Scope { document, context, dynamic } = &self.scopes[scope as usize];
            let context = context.within(part);
            let dynamic = self.entered(*document, dynamic, &context);
            scope = self.scope(Scope { document: *document, context, dynamic });
        }
        (scope, self.scopes[scope as usize].context.draft)
    }

    /// Returns the scope of `target` when it is reached by a reference in `scope`. `context` is the
    /// context around `target`, in the same document.
    pub(super) fn elsewhere(&mut self, scope: ScopeId, context: Context, target: Tree<'a>) -> ScopeId {
        let Scope { document, dynamic, .. } = &self.scopes[scope as usize];
        let dynamic = self.entered(*document, dynamic, &context.within(target));
        self.scope(Scope { document: *document, context, dynamic })
    }

    fn entered(&self, document: Option<usize>, outer: &DynamicScope, context: &Context) -> DynamicScope {
        document.map(|number| self.documents[number].entered(outer, &context.base)).unwrap_or_default()
    }

    /// Returns the dynamic scope of `scope`.
    pub(super) fn dynamic(&self, scope: ScopeId) -> &DynamicScope {
        &self.scopes[scope as usize].dynamic
    }

    /// Returns the pointers to what the references of a sub-schema lead to in its document.
    pub(super) fn targets(&self, id: Id, document: usize) -> Vec<String> {
        let part = self.tree(id);
        let Scope { document: own, context, dynamic } = &self.scopes[self.raws[id as usize].scope as usize];
        let inside = context.within(part);
        let dynamic = if part.has_names() { self.entered(*own, dynamic, &inside) } else { dynamic.clone() };
        let found = self.documents[document].references(part, &inside, &dynamic);
        found.filter_map(|(_, pointer)| pointer.ok()).collect()
    }

    /// Returns the scope for sub-schemas that mean the same in every document.
    fn anywhere(&mut self, scope: ScopeId) -> ScopeId {
        let draft = self.scopes[scope as usize].context.draft;
        let context = Context { base: String::new(), draft };
        self.scope(Scope { document: None, context, dynamic: DynamicScope::default() })
    }

    fn scope(&mut self, scope: Scope) -> ScopeId {
        let fresh = index(self.scopes.len());
        let id = *self.scope_ids.entry(scope.clone()).or_insert(fresh);
        if id == fresh {
            self.dynamic_scopes += usize::from(scope.dynamic != DynamicScope::default());
            self.scopes.push(scope);
        }
        id
    }

    /// Returns the JSON Pointer to the first occurrence of a sub-schema. Searches the whole document.
    pub(super) fn pointer(&self, id: Id) -> String {
        let raw = &self.raws[id as usize];
        let document = self.scopes[raw.scope as usize].document.unwrap_or_default();
        self.documents[document].root.pointer_to(raw.part).unwrap_or_default()
    }
}
