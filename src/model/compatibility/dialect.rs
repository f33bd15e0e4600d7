//! Reads schemas of draft-04 to 2020-12 into one set of keywords, with the meaning that the validator gives them.

use std::collections::{HashMap, HashSet};

use num_rational::BigRational;
use serde_json::{Map, Value, json};

use super::document::{Context, Document, Draft, Unresolved};
use super::node::{self, Id, Lit, Sym, Words};
use super::{numbers, unevaluated, uri};

/// A sub-schema as written.
pub(super) struct Raw<'a> {
    pub(super) lits: Vec<Lit>,
    /// The document that contains it: 0 for the old one, 1 for the new one.
    pub(super) document: usize,
    pub(super) value: &'a Value,
}

/// All reachable sub-schemas of both documents.
#[derive(Default)]
pub(super) struct Graph<'a> {
    pub(super) raws: Vec<Raw<'a>>,
    pub(super) words: Words,
    roots: Vec<&'a Value>,
    /// The ids by document and address. Pointers as text would take more memory than everything else.
    ids: HashMap<(usize, usize), Id>,
    /// Work for after all sub-schemas were read: `unevaluatedProperties` and `unevaluatedItems`, with their schemas.
    pending: Vec<(Id, unevaluated::Kind, Id)>,
    /// The sub-schemas that leave nothing unevaluated, because they contain such a keyword themselves.
    pub(super) evaluates_all: HashSet<(Id, unevaluated::Kind)>,
}

struct Waiting<'a> {
    id: Id,
    value: &'a Value,
    context: Context,
}

/// A document while its sub-schemas are read.
struct Reader<'a, 'g> {
    graph: &'g mut Graph<'a>,
    document: &'g Document<'a>,
    number: usize,
    waiting: Vec<Waiting<'a>>,
}

impl<'a> Graph<'a> {
    /// Reads a document and returns its root. The old document must be read first. Fails if the target of a reference
    /// does not exist.
    pub(super) fn read(&mut self, document: &Document<'a>) -> Result<Id, String> {
        let number = self.roots.len();
        self.roots.push(document.root);
        let mut reader = Reader { graph: self, document, number, waiting: Vec::new() };
        let outer = Context { base: String::new(), draft: document.context.draft };
        let root = reader.child(document.root, &outer);
        while let Some(waiting) = reader.waiting.pop() {
            let mut lits = reader.lits(&waiting)?;
            lits.shrink_to_fit();
            reader.graph.raws[waiting.id as usize].lits = lits;
        }
        let pending = std::mem::take(&mut self.pending);
        self.evaluates_all.extend(pending.iter().map(|(id, kind, _)| (*id, *kind)));
        for (id, kind, child) in pending {
            let lit = unevaluated::rewrite(self, id, kind, child);
            self.raws[id as usize].lits.extend(lit);
        }
        Ok(root)
    }

    /// Adds a sub-schema that is not written in a document.
    pub(super) fn add(&mut self, lits: Vec<Lit>, like: Id) -> Id {
        let Raw { document, value, .. } = self.raws[like as usize];
        self.push(Raw { lits, document, value })
    }

    fn push(&mut self, raw: Raw<'a>) -> Id {
        self.raws.push(raw);
        u32::try_from(self.raws.len() - 1).unwrap_or(u32::MAX)
    }

    /// Returns the JSON Pointer to a sub-schema. This searches the whole document.
    pub(super) fn pointer(&self, id: Id) -> String {
        let raw = &self.raws[id as usize];
        pointer_to(self.roots[raw.document], raw.value).unwrap_or_default()
    }
}

fn pointer_to(document: &Value, part: &Value) -> Option<String> {
    if std::ptr::eq(document, part) {
        return Some(String::new());
    }
    let below = |token: &str, value: &Value| Some(uri::step(token) + &pointer_to(value, part)?);
    match document {
        Value::Object(members) => members.iter().find_map(|(name, member)| below(name, member)),
        Value::Array(items) => items.iter().enumerate().find_map(|(at, item)| below(&at.to_string(), item)),
        _ => None,
    }
}

impl<'a> Reader<'a, '_> {
    fn child(&mut self, value: &'a Value, context: &Context) -> Id {
        let key = (self.number, std::ptr::from_ref(value).addr());
        if let Some(id) = self.graph.ids.get(&key) {
            return *id;
        }
        let id = self.graph.push(Raw { lits: Vec::new(), document: self.number, value });
        self.graph.ids.insert(key, id);
        self.waiting.push(Waiting { id, value, context: context.clone() });
        id
    }

    fn lits(&mut self, waiting: &Waiting<'a>) -> Result<Vec<Lit>, String> {
        let Value::Object(schema) = waiting.value else {
            return Ok(if waiting.value == &Value::Bool(false) { vec![Lit::Never] } else { Vec::new() });
        };
        let context = waiting.context.within(waiting.value);
        let mut keywords = Keywords { reader: self, schema, context, id: waiting.id, lits: Vec::new() };
        keywords.read()?;
        Ok(keywords.lits)
    }
}

/// The keywords of one schema while they are read.
struct Keywords<'a, 'r, 'g> {
    reader: &'r mut Reader<'a, 'g>,
    schema: &'a Map<String, Value>,
    context: Context,
    id: Id,
    lits: Vec<Lit>,
}

impl<'a> Keywords<'a, '_, '_> {
    fn read(&mut self) -> Result<(), String> {
        let draft = self.context.draft;
        self.references()?;
        if draft <= Draft::D7 && self.schema.get("$ref").is_some_and(Value::is_string) {
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

    fn get(&self, keyword: &str, since: Draft) -> Option<&'a Value> {
        self.schema.get(keyword).filter(|_| self.context.draft >= since)
    }

    fn count(&self, keyword: &str) -> Option<u64> {
        let number = self.schema.get(keyword)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count, written 2.0")]
        number.as_u64().or_else(|| number.as_f64().filter(|n| *n >= 0.0 && n.fract() == 0.0).map(|n| n as u64))
    }

    fn symbol(&mut self, text: &str) -> Sym {
        self.reader.graph.words.symbol(text)
    }

    fn below(&mut self, value: &'a Value) -> Id {
        self.reader.child(value, &self.context)
    }

    fn each(&mut self, keyword: &str) -> Vec<Id> {
        let Some(Value::Array(items)) = self.schema.get(keyword) else { return Vec::new() };
        items.iter().map(|item| self.below(item)).collect()
    }

    fn references(&mut self) -> Result<(), String> {
        let document = self.reader.document;
        let base = self.context.base.clone();
        let text = |value: Option<&'a Value>| value.and_then(Value::as_str);
        let exactly = |keyword: &str, draft| text(self.schema.get(keyword).filter(|_| self.context.draft == draft));
        let found = [
            text(self.schema.get("$ref")).map(|to| (to, document.resolve(to, &base))),
            exactly("$dynamicRef", Draft::D2020).map(|to| (to, document.resolve_dynamic(to, &base))),
            exactly("$recursiveRef", Draft::D2019).map(|to| (to, document.resolve_recursive(to, &base))),
        ];
        for (to, found) in found.into_iter().flatten() {
            match found {
                Ok(pointer) => {
                    let context = document.context_at(&pointer);
                    let Some(value) = document.root.pointer(&pointer) else { continue };
                    let id = self.reader.child(value, &context);
                    self.lits.push(Lit::Sub(id));
                }
                Err(Unresolved::Dynamic) => {
                    let name = self.symbol("a dynamic reference with more than one possible target");
                    self.lits.push(Lit::Opaque(name));
                }
                Err(Unresolved::Missing) => {
                    let place = self.reader.graph.pointer(self.id);
                    return Err(format!("the reference {to:?} at {place:?} leads nowhere in this document"));
                }
            }
        }
        Ok(())
    }

    fn values(&mut self) {
        if let Some(types) = self.schema.get("type") {
            self.lits.push(Lit::Type(types_of(types, self.context.draft)));
        }
        let words = &mut self.reader.graph.words;
        if let Some(Value::Array(values)) = self.schema.get("enum") {
            let mut ids: Vec<_> = values.iter().map(|value| words.value(value)).collect();
            ids.sort_unstable();
            ids.dedup();
            self.lits.push(Lit::Enum(ids));
        }
        if let Some(value) = self.get("const", Draft::D6) {
            let id = self.reader.graph.words.value(value);
            self.lits.push(Lit::Enum(vec![id]));
        }
    }

    fn rational(&mut self, keyword: &str) -> Option<u32> {
        let number: BigRational = numbers::rational(self.schema.get(keyword)?.as_number()?)?;
        Some(self.reader.graph.words.number(number))
    }

    fn numbers(&mut self) {
        let is_old = self.context.draft == Draft::D4;
        let flag = |keyword: &str| is_old && self.schema.get(keyword) == Some(&Value::Bool(true));
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
        if let Some(pattern) = self.schema.get("pattern").and_then(Value::as_str) {
            let pattern = self.symbol(pattern);
            self.lits.push(Lit::Pattern(pattern));
        }
        let draft = self.context.draft;
        let words = &mut self.reader.graph.words;
        // In later drafts these only annotate.
        if draft <= Draft::D7
            && let Some(format) = self.schema.get("format").and_then(Value::as_str)
            && is_asserted(format, draft)
        {
            let draft = if format == "hostname" && draft < Draft::D7 { Draft::D4 } else { Draft::D7 };
            let check = words.check(&json!({"$schema": draft.uri(), "format": format}), Some(format));
            self.lits.push(Lit::Check(check));
        }
        if draft == Draft::D6 || draft == Draft::D7 {
            let mut check = Map::from_iter([("$schema".to_owned(), Value::from(Draft::D7.uri()))]);
            let encoding = self.schema.get("contentEncoding").filter(|value| is_known(value, ENCODINGS));
            let media = self.schema.get("contentMediaType");
            let is_read = match media {
                Some(media) => {
                    is_known(media, &["application/json"])
                        && (encoding.is_some() || !self.schema.contains_key("contentEncoding"))
                }
                None => encoding.is_some(),
            };
            check.extend(media.map(|value| ("contentMediaType".to_owned(), value.clone())));
            check.extend(encoding.map(|value| ("contentEncoding".to_owned(), value.clone())));
            if is_read {
                let check = words.check(&Value::Object(check), None);
                self.lits.push(Lit::Check(check));
            }
        }
    }

    fn arrays(&mut self) {
        let draft = self.context.draft;
        self.lits.extend(self.count("minItems").filter(|n| *n > 0).map(Lit::MinItems));
        self.lits.extend(self.count("maxItems").map(Lit::MaxItems));
        if self.schema.get("uniqueItems") == Some(&Value::Bool(true)) {
            self.lits.push(Lit::Unique);
        }
        let prefix = if draft >= Draft::D2020 { "prefixItems" } else { "items" };
        let first = self.each(prefix);
        let count = first.len() as u64;
        self.lits.extend(first.into_iter().enumerate().map(|(n, id)| Lit::Item(n as u64, id)));
        let rest = match self.schema.get("items") {
            Some(Value::Array(_)) if draft < Draft::D2020 => self.schema.get("additionalItems"),
            Some(Value::Array(_)) | None => None,
            rest => rest,
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
        let Some(Value::Object(members)) = self.schema.get(keyword) else { return Vec::new() };
        members.iter().map(|(name, value)| (self.symbol(name), self.below(value))).collect()
    }

    fn objects(&mut self) {
        self.lits.extend(self.count("minProperties").filter(|n| *n > 0).map(Lit::MinProps));
        self.lits.extend(self.count("maxProperties").map(Lit::MaxProps));
        if let Some(Value::Array(names)) = self.schema.get("required") {
            let names: Vec<_> = names.iter().filter_map(Value::as_str).map(|name| self.symbol(name)).collect();
            self.lits.extend(names.into_iter().map(Lit::Required));
        }
        let properties = self.members("properties");
        let patterns = self.members("patternProperties");
        // Also if it is `true`, because it evaluates every property.
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
        let count = if self.context.draft >= Draft::D2019 { 3 } else { 1 };
        for keyword in &keywords[..count] {
            let Some(Value::Object(members)) = self.schema.get(*keyword) else { continue };
            for (name, value) in members {
                let name_symbol = self.symbol(name);
                if let Value::Array(names) = value {
                    let mut names: Vec<_> =
                        names.iter().filter_map(Value::as_str).map(|name| self.symbol(name)).collect();
                    names.sort_unstable();
                    self.lits.push(Lit::DepRequired(name_symbol, names));
                } else {
                    let id = self.below(value);
                    let lit = if *keyword == "dependencies" && self.context.draft >= Draft::D2019 {
                        self.unevaluating(name_symbol, id)
                    } else {
                        Lit::DepSchema(name_symbol, id)
                    };
                    self.lits.push(lit);
                }
            }
        }
    }

    /// Returns a dependency that asserts but evaluates nothing. This is how the validator treats `dependencies` in
    /// drafts that do not have this keyword.
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
        // Also if nothing follows from it, because it evaluates what it applies to.
        if let Some(value) = self.get("if", Draft::D7) {
            let anything = &Value::Bool(true);
            let condition = self.below(value);
            let then = self.below(then.unwrap_or(anything));
            let other = self.below(other.unwrap_or(anything));
            self.lits.push(Lit::If(condition, then, other));
        }
    }
}

fn types_of(types: &Value, draft: Draft) -> u8 {
    match types {
        Value::Array(types) => types.iter().map(|one| types_of(one, draft)).fold(0, |all, one| all | one),
        Value::String(name) => match name.as_str() {
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
        _ => 0,
    }
}

const ENCODINGS: &[&str] = &["base64", "base64url", "base32", "base32hex", "base16"];

fn is_known(value: &Value, names: &[&str]) -> bool {
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
