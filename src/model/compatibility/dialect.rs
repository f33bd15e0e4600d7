//! Reads schemas of draft-04 to 2020-12 into one set of keywords, with the semantics of the validator.

use std::collections::{HashMap, HashSet};

use num_rational::BigRational;
use serde_json::{Map, Value, json};

use super::node::{self, Id, Lit, Sym, Words};
use super::{numbers, unevaluated};
use crate::model::schema::{
    Draft, PartId, Tree,
    document::{Context, Document, Unresolved},
    ecma, external,
};

/// The number of a [`Scope`].
type ScopeId = u32;

/// A sub-schema.
#[derive(Clone, Copy)]
struct Raw {
    /// The index of its first literal, and their number.
    lits: (u32, u32),
    part: PartId,
    scope: ScopeId,
    /// Whether the sub-schema occurs in a document, rather than being derived from one that does.
    is_written: bool,
}

/// The context that determines the meaning of a sub-schema: its document, and the base and draft there.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Scope {
    /// 0 for the old document, 1 for the new one; `None` for a sub-schema that means the same in both.
    document: Option<usize>,
    context: Context,
}

/// Every reachable sub-schema of both documents.
pub(super) struct Graph<'a> {
    pub(super) documents: &'a [Document<'a>; 2],
    raws: Vec<Raw>,
    lits: Vec<Lit>,
    pub(super) words: Words,
    scopes: Vec<Scope>,
    scope_ids: HashMap<Scope, ScopeId>,
    /// Ids by part and scope, so that equal sub-schemas with the same meaning are read only once.
    ids: HashMap<(PartId, ScopeId), Id>,
    /// Unevaluated properties or items, each with the sub-schema that has the keyword and the keyword's child. They
    /// are processed once every sub-schema is read.
    pending: Vec<(Id, unevaluated::Kind, Id)>,
    /// The sub-schemas that leave nothing unevaluated, because they contain such a keyword themselves.
    pub(super) evaluates_all: HashSet<(Id, unevaluated::Kind)>,
}

/// Reads the sub-schemas of one document.
struct Reader<'a, 'g> {
    graph: &'g mut Graph<'a>,
    document: &'a Document<'a>,
    waiting: Vec<Id>,
}

impl<'a> Graph<'a> {
    /// Reads both documents and returns their roots.
    ///
    /// # Errors
    /// Returns an error if a reference cannot be resolved.
    pub(super) fn read(documents: &'a [Document<'a>; 2]) -> Result<(Self, [Id; 2]), String> {
        let mut graph = Self {
            documents,
            raws: Vec::new(),
            lits: Vec::new(),
            words: Words::default(),
            scopes: Vec::new(),
            scope_ids: HashMap::new(),
            ids: HashMap::new(),
            pending: Vec::new(),
            evaluates_all: HashSet::new(),
        };
        let old = graph.read_one(0).map_err(|why| format!("the old schema: {why}"))?;
        let new = graph.read_one(1).map_err(|why| format!("the new schema: {why}"))?;
        graph.lits.shrink_to_fit();
        Ok((graph, [old, new]))
    }

    fn read_one(&mut self, number: usize) -> Result<Id, String> {
        let document = &self.documents[number];
        let outer = self.scope(Scope { document: Some(number), context: document.outside() });
        let mut reader = Reader { graph: self, document, waiting: Vec::new() };
        let root = reader.child(document.root, outer);
        while let Some(id) = reader.waiting.pop() {
            let lits = reader.lits(id)?;
            reader.graph.set(id, lits);
        }
        let pending = std::mem::take(&mut self.pending);
        self.evaluates_all.extend(pending.iter().map(|(id, kind, _)| (*id, *kind)));
        for (id, kind, child) in pending {
            let more = unevaluated::rewrite(self, id, kind, child);
            let lits = self.lits(id).iter().cloned().chain(more).collect();
            self.set(id, lits);
        }
        Ok(root)
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
        self.raws[id as usize].is_written
    }

    /// Returns the context within a sub-schema.
    pub(super) fn context(&self, id: Id) -> Context {
        self.scopes[self.raws[id as usize].scope as usize].context.within(self.tree(id))
    }

    /// Adds a sub-schema that is derived from `like` and occurs in no document.
    pub(super) fn add(&mut self, lits: Vec<Lit>, like: Id) -> Id {
        let raw = Raw { is_written: false, ..self.raws[like as usize] };
        let id = self.push(raw);
        self.set(id, lits);
        id
    }

    fn push(&mut self, raw: Raw) -> Id {
        self.raws.push(raw);
        index(self.raws.len() - 1)
    }

    fn scope(&mut self, scope: Scope) -> ScopeId {
        let fresh = index(self.scopes.len());
        let id = *self.scope_ids.entry(scope.clone()).or_insert(fresh);
        if id == fresh {
            self.scopes.push(scope);
        }
        id
    }

    /// Returns the scope within a sub-schema, given the scope around it.
    fn within(&mut self, scope: ScopeId, part: Tree<'a>) -> ScopeId {
        if !part.has_names() {
            return scope;
        }
        let Scope { document, context } = &self.scopes[scope as usize];
        let scope = Scope { document: *document, context: context.within(part) };
        self.scope(scope)
    }

    /// Returns the JSON Pointer to the first occurrence of a sub-schema. Searches the whole document.
    pub(super) fn pointer(&self, id: Id) -> String {
        let raw = &self.raws[id as usize];
        let document = self.scopes[raw.scope as usize].document.unwrap_or_default();
        self.documents[document].root.pointer_to(raw.part).unwrap_or_default()
    }
}

fn index(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl<'a> Reader<'a, '_> {
    fn child(&mut self, part: Tree<'a>, scope: ScopeId) -> Id {
        let scope = if part.has_references() || part.has_names() { scope } else { self.anywhere(scope) };
        let key = (part.id(), scope);
        if let Some(id) = self.graph.ids.get(&key) {
            return *id;
        }
        let id = self.graph.push(Raw { lits: (0, 0), part: part.id(), scope, is_written: true });
        self.graph.ids.insert(key, id);
        self.waiting.push(id);
        id
    }

    /// Returns the scope for sub-schemas that mean the same in every document.
    fn anywhere(&mut self, scope: ScopeId) -> ScopeId {
        let draft = self.graph.scopes[scope as usize].context.draft;
        self.graph.scope(Scope { document: None, context: Context { base: String::new(), draft } })
    }

    fn lits(&mut self, id: Id) -> Result<Vec<Lit>, String> {
        let schema = self.graph.tree(id);
        if !schema.is_object() {
            return Ok(if schema.as_bool() == Some(false) { vec![Lit::Never] } else { Vec::new() });
        }
        let outer = self.graph.raws[id as usize].scope;
        let scope = self.graph.within(outer, schema);
        let draft = self.graph.scopes[scope as usize].context.draft;
        let mut keywords = Keywords { reader: self, schema, scope, draft, id, lits: Vec::new() };
        keywords.read()?;
        Ok(keywords.lits)
    }
}

/// Reads the keywords of one schema.
struct Keywords<'a, 'r, 'g> {
    reader: &'r mut Reader<'a, 'g>,
    schema: Tree<'a>,
    scope: ScopeId,
    draft: Draft,
    id: Id,
    lits: Vec<Lit>,
}

impl<'a> Keywords<'a, '_, '_> {
    fn read(&mut self) -> Result<(), String> {
        self.references()?;
        if let Some(reason) = self.schema.get(external::KEYWORD).and_then(Tree::as_str) {
            let reason = self.symbol(reason);
            self.lits.push(Lit::Opaque(reason, 0));
            self.reader.graph.words.has_external = true;
        }
        if self.draft <= Draft::D7 && self.schema.get("$ref").is_some_and(Tree::is_string) {
            return Ok(());
        }
        self.values();
        self.numbers();
        self.strings();
        self.arrays();
        self.objects();
        self.dependencies();
        self.applicators();
        Ok(())
    }

    fn get(&self, keyword: &str, since: Draft) -> Option<Tree<'a>> {
        self.schema.get(keyword).filter(|_| self.draft >= since)
    }

    fn count(&self, keyword: &str) -> Option<u64> {
        let number = self.schema.get(keyword)?.as_number()?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count, written 2.0")]
        number.as_u64().or_else(|| number.as_f64().filter(|n| *n >= 0.0 && n.fract() == 0.0).map(|n| n as u64))
    }

    fn symbol(&mut self, text: &str) -> Sym {
        self.reader.graph.words.symbol(text)
    }

    fn below(&mut self, part: Tree<'a>) -> Id {
        self.reader.child(part, self.scope)
    }

    fn each(&mut self, keyword: &str) -> Vec<Id> {
        let items = self.schema.get(keyword).into_iter().flat_map(Tree::items);
        items.map(|item| self.below(item)).collect()
    }

    fn references(&mut self) -> Result<(), String> {
        let document = self.reader.document;
        if !self.schema.has_references() {
            return Ok(());
        }
        let base = self.reader.graph.scopes[self.scope as usize].context.base.clone();
        let text = |value: Option<Tree<'a>>| value.and_then(Tree::as_str);
        let exactly = |keyword: &str, draft| text(self.schema.get(keyword).filter(|_| self.draft == draft));
        let found = [
            text(self.schema.get("$ref")).map(|to| (to, document.resolve(to, &base))),
            exactly("$dynamicRef", Draft::D2020).map(|to| (to, document.resolve_dynamic(to, &base))),
            exactly("$recursiveRef", Draft::D2019).map(|to| (to, document.resolve_recursive(to, &base))),
        ];
        for (to, found) in found.into_iter().flatten() {
            match found {
                Ok(pointer) => {
                    let Some(part) = document.root.pointer(&pointer) else { continue };
                    let context = document.context_at(&pointer);
                    let number = self.reader.graph.scopes[self.scope as usize].document;
                    let scope = self.reader.graph.scope(Scope { document: number, context });
                    let id = self.reader.child(part, scope);
                    self.lits.push(Lit::Sub(id));
                }
                Err(Unresolved::Dynamic) => {
                    let name = self.symbol("a dynamic reference with more than one possible target");
                    self.lits.push(Lit::Opaque(name, self.id));
                    self.reader.graph.words.is_ambiguous = true;
                }
                Err(Unresolved::Missing) => {
                    let place = self.reader.graph.pointer(self.id);
                    return Err(format!("the reference {to:?} at {place:?} points to nothing in this document"));
                }
            }
        }
        Ok(())
    }

    fn values(&mut self) {
        if let Some(types) = self.schema.get("type") {
            self.lits.push(Lit::Type(types_of(types, self.draft)));
            self.reader.graph.words.tells_spellings |= self.draft == Draft::D4;
        }
        let words = &mut self.reader.graph.words;
        if let Some(values) = self.schema.get("enum").filter(|values| values.is_array()) {
            let mut ids: Vec<_> = values.items().map(|value| words.value(&value.to_value())).collect();
            ids.sort_unstable();
            ids.dedup();
            self.lits.push(Lit::Enum(ids));
        }
        if let Some(value) = self.get("const", Draft::D6) {
            let id = self.reader.graph.words.value(&value.to_value());
            self.lits.push(Lit::Enum(vec![id]));
        }
    }

    fn rational(&mut self, keyword: &str) -> Option<u32> {
        let number: BigRational = numbers::rational(self.schema.get(keyword)?.as_number()?)?;
        Some(self.reader.graph.words.number(number))
    }

    fn numbers(&mut self) {
        let is_old = self.draft == Draft::D4;
        let flag = |keyword: &str| is_old && self.schema.get(keyword).and_then(Tree::as_bool) == Some(true);
        let (low_flag, high_flag) = (flag("exclusiveMinimum"), flag("exclusiveMaximum"));
        let low = self.rational("minimum").map(|n| Lit::Min(n, low_flag));
        let high = self.rational("maximum").map(|n| Lit::Max(n, high_flag));
        let by = self.rational("multipleOf").map(Lit::Multiple);
        self.lits.extend([low, high, by].into_iter().flatten());
        if !is_old {
            let low = self.rational("exclusiveMinimum").map(|n| Lit::Min(n, true));
            let high = self.rational("exclusiveMaximum").map(|n| Lit::Max(n, true));
            self.lits.extend([low, high].into_iter().flatten());
        }
    }

    fn strings(&mut self) {
        self.lits.extend(self.count("minLength").filter(|n| *n > 0).map(Lit::MinLength));
        self.lits.extend(self.count("maxLength").map(Lit::MaxLength));
        if let Some(pattern) = self.schema.get("pattern").and_then(Tree::as_str) {
            let pattern = self.symbol(&ecma::pattern(pattern));
            self.lits.push(Lit::Pattern(pattern));
        }
        let draft = self.draft;
        let words = &mut self.reader.graph.words;
        // In later drafts these are only annotations.
        if draft <= Draft::D7
            && let Some(format) = self.schema.get("format").and_then(Tree::as_str)
            && is_asserted(format, draft)
        {
            let draft = if format == "hostname" && draft < Draft::D7 { Draft::D4 } else { Draft::D7 };
            let check = words.check(&json!({"$schema": draft.uri(), "format": format}), Some(format));
            self.lits.push(Lit::Check(check));
        }
        if draft == Draft::D6 || draft == Draft::D7 {
            let mut check = Map::from_iter([("$schema".to_owned(), Value::from(Draft::D7.uri()))]);
            let encoding = self.schema.get("contentEncoding").filter(|value| is_known(*value, ENCODINGS));
            let media = self.schema.get("contentMediaType");
            let is_read = match media {
                Some(media) => {
                    is_known(media, &["application/json"])
                        && (encoding.is_some() || self.schema.get("contentEncoding").is_none())
                }
                None => encoding.is_some(),
            };
            check.extend(media.map(|value| ("contentMediaType".to_owned(), value.to_value())));
            check.extend(encoding.map(|value| ("contentEncoding".to_owned(), value.to_value())));
            if is_read {
                let check = words.check(&Value::Object(check), None);
                self.lits.push(Lit::Check(check));
            }
        }
    }

    fn arrays(&mut self) {
        let draft = self.draft;
        self.lits.extend(self.count("minItems").filter(|n| *n > 0).map(Lit::MinItems));
        self.lits.extend(self.count("maxItems").map(Lit::MaxItems));
        if self.schema.get("uniqueItems").and_then(Tree::as_bool) == Some(true) {
            self.lits.push(Lit::Unique);
        }
        let prefix = if draft >= Draft::D2020 { "prefixItems" } else { "items" };
        let first = self.each(prefix);
        let count = first.len() as u64;
        self.lits.extend(first.into_iter().enumerate().map(|(n, id)| Lit::Item(n as u64, id)));
        if draft >= Draft::D2020 && self.schema.get("items").is_some_and(Tree::is_array) {
            // The draft has no such list, but the validator reads it where nothing checks the schema itself.
            let name = self.symbol("an array as items, which this draft does not allow");
            self.lits.push(Lit::Opaque(name, self.id));
        }
        let rest = match self.schema.get("items") {
            Some(items) if items.is_array() && draft < Draft::D2020 => self.schema.get("additionalItems"),
            rest => rest.filter(|rest| !rest.is_array()),
        };
        if let Some(value) = rest {
            let id = self.below(value);
            self.lits.push(Lit::Items(count, id));
        }
        if let Some(value) = self.get("contains", Draft::D6) {
            let id = self.below(value);
            let limits = draft >= Draft::D2019;
            let least = self.count("minContains").filter(|_| limits).unwrap_or(1);
            self.lits.push(Lit::AtLeast(id, least));
            self.lits.extend(self.count("maxContains").filter(|_| limits).map(|most| Lit::AtMost(id, most)));
        }
        if let Some(value) = self.get("unevaluatedItems", Draft::D2019) {
            let id = self.below(value);
            self.reader.graph.pending.push((self.id, unevaluated::Kind::Items, id));
        }
    }

    fn members(&mut self, keyword: &str) -> Vec<(Sym, Id)> {
        let members = self.schema.get(keyword).into_iter().flat_map(Tree::members);
        members.map(|(name, part)| (self.symbol(name), self.below(part))).collect()
    }

    fn objects(&mut self) {
        self.lits.extend(self.count("minProperties").filter(|n| *n > 0).map(Lit::MinProps));
        self.lits.extend(self.count("maxProperties").map(Lit::MaxProps));
        let required = self.schema.get("required").into_iter().flat_map(Tree::items);
        let names: Vec<_> = required.filter_map(Tree::as_str).map(|name| self.symbol(name)).collect();
        self.lits.extend(names.into_iter().map(Lit::Required));
        let properties = self.members("properties");
        let patterns = self.schema.get("patternProperties").into_iter().flat_map(Tree::members);
        let patterns: Vec<_> =
            patterns.map(|(name, part)| (self.symbol(&ecma::pattern(name)), self.below(part))).collect();
        // Needed even if it is `true`, because it evaluates every property.
        if let Some(value) = self.schema.get("additionalProperties") {
            let id = self.below(value);
            let mut names: Vec<_> = properties.iter().map(|(name, _)| *name).collect();
            let mut rest: Vec<_> = patterns.iter().map(|(pattern, _)| *pattern).collect();
            names.sort_unstable();
            rest.sort_unstable();
            self.lits.push(Lit::AddProp(names.into(), rest.into(), id));
        }
        self.lits.extend(properties.into_iter().map(|(name, id)| Lit::Prop(name, id)));
        self.lits.extend(patterns.into_iter().map(|(pattern, id)| Lit::PatProp(pattern, id)));
        if let Some(value) = self.get("propertyNames", Draft::D6) {
            let id = self.below(value);
            self.lits.push(Lit::PropNames(id));
        }
        if let Some(value) = self.get("unevaluatedProperties", Draft::D2019) {
            let id = self.below(value);
            self.reader.graph.pending.push((self.id, unevaluated::Kind::Properties, id));
        }
    }

    fn dependencies(&mut self) {
        // The validator asserts `dependencies` in every draft.
        let keywords = ["dependencies", "dependentRequired", "dependentSchemas"];
        let count = if self.draft >= Draft::D2019 { 3 } else { 1 };
        for keyword in &keywords[..count] {
            for (name, value) in self.schema.get(keyword).into_iter().flat_map(Tree::members) {
                let name_symbol = self.symbol(name);
                if value.is_array() {
                    let mut names: Vec<_> =
                        value.items().filter_map(Tree::as_str).map(|name| self.symbol(name)).collect();
                    names.sort_unstable();
                    self.lits.push(Lit::DepRequired(name_symbol, names));
                } else {
                    let id = self.below(value);
                    let lit = if *keyword == "dependencies" && self.draft >= Draft::D2019 {
                        self.unevaluating(name_symbol, id)
                    } else {
                        Lit::DepSchema(name_symbol, id)
                    };
                    self.lits.push(lit);
                }
            }
        }
    }

    /// Returns a dependency that asserts but evaluates nothing, as the validator treats `dependencies` in drafts that
    /// do not have this keyword.
    fn unevaluating(&mut self, name: Sym, id: Id) -> Lit {
        let broken = vec![Lit::Type(node::OBJECT), Lit::Required(name), Lit::Not(id)];
        Lit::Not(self.reader.graph.add(broken, self.id))
    }

    fn applicators(&mut self) {
        let all = self.each("allOf");
        self.lits.extend(all.into_iter().map(Lit::Sub));
        for (keyword, make) in [("anyOf", Lit::AnyOf as fn(Vec<Id>) -> Lit), ("oneOf", Lit::OneOf)] {
            match self.each(keyword)[..] {
                [] => {}
                [only] => self.lits.push(Lit::Sub(only)),
                ref ids => self.lits.push(make(ids.to_vec())),
            }
        }
        if let Some(value) = self.schema.get("not") {
            let id = self.below(value);
            self.lits.push(Lit::Not(id));
        }
        let (then, other) = (self.get("then", Draft::D7), self.get("else", Draft::D7));
        // Needed even if it asserts nothing, because it evaluates what it applies to.
        if let Some(value) = self.get("if", Draft::D7) {
            let condition = self.below(value);
            let [then, other] = [then, other].map(|part| match part {
                Some(part) => self.below(part),
                None => self.reader.graph.add(Vec::new(), self.id),
            });
            self.lits.push(Lit::If(condition, then, other));
        }
    }
}

fn types_of(types: Tree<'_>, draft: Draft) -> u8 {
    match types.as_str() {
        None => types.items().map(|one| types_of(one, draft)).fold(0, |all, one| all | one),
        Some(name) => match name {
            "null" => node::NULL,
            "boolean" => node::BOOLEAN,
            "integer" if draft == Draft::D4 => node::INTEGER,
            "integer" => node::INTEGER | node::WHOLE,
            "number" => node::NUMBER,
            "string" => node::STRING,
            "array" => node::ARRAY,
            "object" => node::OBJECT,
            _ => 0,
        },
    }
}

const ENCODINGS: &[&str] = &["base64", "base64url", "base32", "base32hex", "base16"];

fn is_known(value: Tree<'_>, names: &[&str]) -> bool {
    value.as_str().is_some_and(|value| names.contains(&value))
}

/// Returns whether the validator asserts a format in a draft in which formats are asserted.
fn is_asserted(format: &str, draft: Draft) -> bool {
    match format {
        "date" | "date-time" | "email" | "hostname" | "ipv4" | "ipv6" | "regex" | "time" | "uri" => true,
        "json-pointer" | "uri-reference" | "uri-template" => draft >= Draft::D6,
        "iri" | "iri-reference" | "relative-json-pointer" => draft >= Draft::D7,
        _ => false,
    }
}
