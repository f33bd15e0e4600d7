//! Reads schemas of draft-04 to 2020-12 into one set of keywords, with the semantics of the validator.

use num_rational::BigRational;
use serde_json::{Map, Value, json};

use super::node::{self, Id, Lit, Sym};
use super::unevaluated;
use super::{Graph, ScopeId, Unevaluated};
use crate::model::compatibility::numbers;
use crate::model::schema::{Draft, Tree, document::Document, external, words::asserts_format};

/// The maximum number of combinations of targets that the dynamic references of a schema may have.
const MAX_DYNAMIC_SCOPES: usize = 1_000;

/// Reads two documents and returns their roots.
///
/// # Errors
/// Returns an error if a reference cannot be resolved.
pub fn read<'a>(documents: &'a [Document<'a>; 2]) -> Result<(Graph<'a>, [Id; 2]), String> {
    let mut graph = Graph::new(documents);
    let old = read_one(&mut graph, 0).map_err(|why| format!("the old schema: {why}"))?;
    let new = read_one(&mut graph, 1).map_err(|why| format!("the new schema: {why}"))?;
    graph.shrink();
    Ok((graph, [old, new]))
}

/// Reads only the first of two documents and returns its root.
///
/// # Errors
/// Returns an error if a reference cannot be resolved.
pub fn read_first<'a>(documents: &'a [Document<'a>; 2]) -> Result<(Graph<'a>, Id), String> {
    let mut graph = Graph::new(documents);
    let root = read_one(&mut graph, 0)?;
    graph.shrink();
    Ok((graph, root))
}

fn read_one(graph: &mut Graph<'_>, number: usize) -> Result<Id, String> {
    let document = &graph.documents[number];
    let outer = graph.outside(number);
    let mut reader = Reader { graph, document, waiting: Vec::new(), pending: Vec::new() };
    let root = reader.child(document.root, outer);
    while let Some(id) = reader.waiting.pop() {
        if reader.graph.dynamic_scopes > MAX_DYNAMIC_SCOPES {
            return Err(format!("its dynamic references depend on more than {MAX_DYNAMIC_SCOPES} paths"));
        }
        let lits = reader.lits(id)?;
        reader.graph.set(id, lits);
    }
    let Reader { graph, pending, .. } = reader;
    graph.evaluates_all.extend(pending.iter().map(|(id, kind, _)| (*id, *kind)));
    for (id, kind, child) in pending {
        let first = graph.len();
        let more = unevaluated::rewrite(graph, id, kind, child);
        graph.add_cases(id, more, first);
    }
    Ok(root)
}

/// Reads the sub-schemas of one document.
struct Reader<'a, 'g> {
    graph: &'g mut Graph<'a>,
    document: &'a Document<'a>,
    waiting: Vec<Id>,
    /// Unevaluated properties or items, each with the sub-schema that has the keyword and the keyword's child. They
    /// are processed once every sub-schema is read.
    pending: Vec<(Id, Unevaluated, Id)>,
}

impl<'a> Reader<'a, '_> {
    fn child(&mut self, part: Tree<'a>, scope: ScopeId) -> Id {
        let (id, is_new) = self.graph.part(part, scope);
        self.waiting.extend(is_new.then_some(id));
        id
    }

    fn lits(&mut self, id: Id) -> Result<Vec<Lit>, String> {
        let schema = self.graph.tree(id);
        if !schema.is_object() {
            return Ok(if schema.as_bool() == Some(false) { vec![Lit::Never] } else { Vec::new() });
        }
        let (scope, draft) = self.graph.inside(id);
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
            self.reader.graph.words.external.get_or_insert(reason);
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
        let context = self.reader.graph.context(self.id);
        let found = document.references(self.schema, &context, self.reader.graph.dynamic(self.scope));
        for (to, found) in found.collect::<Vec<_>>() {
            let found = found.ok().and_then(|pointer| Some((document.root.pointer(&pointer)?, pointer)));
            let Some((part, pointer)) = found else {
                let place = self.reader.graph.pointer(self.id);
                return Err(format!("the reference {to:?} at {place:?} points to nothing in this document"));
            };
            let context = document.context_at(&pointer);
            let scope = self.reader.graph.elsewhere(self.scope, context, part);
            let id = self.reader.child(part, scope);
            self.lits.push(Lit::Sub(id));
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
            let pattern = self.reader.graph.words.pattern(pattern);
            self.lits.push(Lit::Pattern(pattern));
        }
        let draft = self.draft;
        let words = &mut self.reader.graph.words;
        if let Some(format) = self.schema.get("format").and_then(Tree::as_str)
            && asserts_format(format, draft)
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
            // The draft allows no array here, but the validator reads one in an unchecked schema.
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
            self.reader.pending.push((self.id, Unevaluated::Items, id));
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
            patterns.map(|(name, part)| (self.reader.graph.words.name_pattern(name), self.below(part))).collect();
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
            self.reader.pending.push((self.id, Unevaluated::Properties, id));
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
