//! Schemas as sets of literals: one set of keywords for all drafts, with children referred to by number.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::rc::Rc;

use jsonschema::Validator;
use num_rational::BigRational;
use serde_json::Value;

use super::same_pattern;
use crate::model::compatibility::{numbers, recent::Recent};
pub(in crate::model::compatibility) use crate::model::schema::index;
use crate::model::schema::{
    ecma, is_unfinished,
    metered::{Metered, MeteredValue},
    validator::unbounded_options,
};

/// The number of a node in the [`Table`], or of a raw node before interning.
pub type Id = u32;
/// The number of an interned string, such as a property name or a pattern.
pub type Sym = u32;

pub const NULL: u8 = 1;
pub const BOOLEAN: u8 = 2;
/// A whole number written without a fraction: `1`.
pub const INTEGER: u8 = 4;
pub const FRACTION: u8 = 8;
pub const STRING: u8 = 16;
pub const ARRAY: u8 = 32;
pub const OBJECT: u8 = 64;
/// A whole number written with a fraction, `1.0`, which is not an integer in draft-04.
pub const WHOLE: u8 = 128;
pub const NUMBER: u8 = INTEGER | WHOLE | FRACTION;
pub const ANY: u8 = 255;

/// One assertion about a value. A node holds if all of its literals hold.
///
/// Violations are tried in this order, so that the explanation that is easiest to understand comes first.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lit {
    Never,
    Type(u8),
    /// One of these values, sorted by number.
    Enum(Vec<u32>),
    Min(u32, bool),
    Max(u32, bool),
    Multiple(u32),
    MinLength(u64),
    MaxLength(u64),
    Pattern(Sym),
    /// A check of strings that can only be run, not analyzed: a format or an encoding.
    Check(u32),
    Required(Sym),
    MinItems(u64),
    MaxItems(u64),
    MinProps(u64),
    MaxProps(u64),
    Unique,
    Prop(Sym, Id),
    Item(u64, Id),
    Items(u64, Id),
    AtLeast(Id, u64),
    AtMost(Id, u64),
    PatProp(Sym, Id),
    /// Properties that are not listed by name and match no pattern. The names are sorted by symbol.
    AddProp(Box<[Sym]>, Box<[Sym]>, Id),
    PropNames(Id),
    DepRequired(Sym, Vec<Sym>),
    DepSchema(Sym, Id),
    Sub(Id),
    AnyOf(Vec<Id>),
    OneOf(Vec<Id>),
    Not(Id),
    If(Id, Id, Id),
    /// Demands nothing, but a lenient sender may send the properties that this condition is about.
    Names(Id),
    /// A keyword that this engine has no rule for, and the sub-schema that contains it. It is equal only to itself.
    Opaque(Sym, Id),
}

impl Lit {
    /// Returns the types that the literal constrains.
    pub fn kinds(&self) -> u8 {
        match self {
            Self::Min(..) | Self::Max(..) | Self::Multiple(_) => NUMBER,
            Self::MinLength(_) | Self::MaxLength(_) | Self::Pattern(_) | Self::Check(_) => STRING,
            Self::MinItems(_)
            | Self::MaxItems(_)
            | Self::Unique
            | Self::Item(..)
            | Self::Items(..)
            | Self::AtLeast(..)
            | Self::AtMost(..) => ARRAY,
            Self::Names(_) => ARRAY | OBJECT,
            Self::Required(_)
            | Self::MinProps(_)
            | Self::MaxProps(_)
            | Self::Prop(..)
            | Self::PatProp(..)
            | Self::AddProp(..)
            | Self::PropNames(_)
            | Self::DepRequired(..)
            | Self::DepSchema(..) => OBJECT,
            _ => ANY,
        }
    }

    /// Calls `take` with every child.
    pub fn each(&self, take: &mut dyn FnMut(Id)) {
        match self {
            Self::Prop(_, id)
            | Self::Item(_, id)
            | Self::Items(_, id)
            | Self::AtLeast(id, _)
            | Self::AtMost(id, _)
            | Self::PatProp(_, id)
            | Self::AddProp(_, _, id)
            | Self::PropNames(id)
            | Self::DepSchema(_, id)
            | Self::Sub(id)
            | Self::Names(id)
            | Self::Not(id) => take(*id),
            Self::AnyOf(ids) | Self::OneOf(ids) => ids.iter().for_each(|id| take(*id)),
            Self::If(a, b, c) => [a, b, c].into_iter().for_each(|id| take(*id)),
            _ => {}
        }
    }

    /// Returns the literal with every child replaced.
    pub fn map(&self, to: &mut dyn FnMut(Id) -> Id) -> Self {
        match self {
            Self::Prop(name, id) => Self::Prop(*name, to(*id)),
            Self::Item(at, id) => Self::Item(*at, to(*id)),
            Self::Items(from, id) => Self::Items(*from, to(*id)),
            Self::AtLeast(id, n) => Self::AtLeast(to(*id), *n),
            Self::AtMost(id, n) => Self::AtMost(to(*id), *n),
            Self::PatProp(pattern, id) => Self::PatProp(*pattern, to(*id)),
            Self::AddProp(names, patterns, id) => Self::AddProp(names.clone(), patterns.clone(), to(*id)),
            Self::PropNames(id) => Self::PropNames(to(*id)),
            Self::DepSchema(name, id) => Self::DepSchema(*name, to(*id)),
            Self::Sub(id) => Self::Sub(to(*id)),
            Self::AnyOf(ids) => Self::AnyOf(sorted(ids.iter().map(|id| to(*id)).collect(), true)),
            Self::OneOf(ids) => Self::OneOf(sorted(ids.iter().map(|id| to(*id)).collect(), false)),
            Self::Not(id) => Self::Not(to(*id)),
            Self::Names(id) => Self::Names(to(*id)),
            Self::If(a, b, c) => Self::If(to(*a), to(*b), to(*c)),
            other => other.clone(),
        }
    }

    /// Returns the children that apply to the same value, not to a part of it.
    pub fn in_place(&self) -> Vec<Id> {
        match self {
            Self::DepSchema(_, id) | Self::Sub(id) | Self::Not(id) => vec![*id],
            Self::AnyOf(ids) | Self::OneOf(ids) => ids.clone(),
            Self::If(a, b, c) => vec![*a, *b, *c],
            _ => Vec::new(),
        }
    }

    /// Returns the children that apply to the same value, and whose failure can make the literal hold.
    pub fn negated(&self) -> &[Id] {
        match self {
            Self::Not(id) | Self::If(id, _, _) => std::slice::from_ref(id),
            Self::OneOf(ids) => ids,
            _ => &[],
        }
    }
}

/// Sorts ids, and removes duplicates if `unique`. Equal branches of a `oneOf` are kept, because two that hold violate
/// it.
fn sorted(mut ids: Vec<Id>, unique: bool) -> Vec<Id> {
    ids.sort_unstable();
    if unique {
        ids.dedup();
    }
    ids
}

/// A check of strings that can only be run, not analyzed.
pub struct Check {
    /// Its keywords as JSON, such as `{"contentEncoding":"base64"}`.
    pub keywords: String,
    /// The format, if it is one.
    pub format: Option<String>,
    /// The encoding, if strings must have one, and whether they must encode JSON.
    pub encoding: Option<String>,
    pub is_json: bool,
    validator: Option<Rc<Validator<Metered>>>,
}

/// All nodes of both documents after interning, and their strings, numbers and values.
#[derive(Default)]
pub struct Table {
    pub nodes: Vec<Rc<[Lit]>>,
    known: HashMap<Rc<[Lit]>, Id>,
    pub words: Words,
    /// The number of nodes that were evaluated.
    pub evaluated: u64,
}

impl Table {
    /// Returns the node with these literals, and adds it if there is none.
    pub fn node(&mut self, mut lits: Vec<Lit>) -> Id {
        lits.sort_unstable();
        lits.dedup();
        if let [Lit::Sub(id)] = lits[..] {
            return id;
        }
        if let Some(id) = self.known.get(&lits[..]) {
            return *id;
        }
        self.push(lits)
    }

    /// Adds a node. Its literals must be sorted and must not be in the table yet.
    pub fn push(&mut self, lits: Vec<Lit>) -> Id {
        let lits: Rc<[Lit]> = lits.into();
        let id = index(self.nodes.len());
        self.nodes.push(Rc::clone(&lits));
        self.known.insert(lits, id);
        id
    }

    /// Returns the literals of a node.
    pub fn lits(&self, id: Id) -> Rc<[Lit]> {
        Rc::clone(&self.nodes[id as usize])
    }

    /// Returns whether every value is known to satisfy the node. False may also mean that this was not recognized.
    pub fn is_true(&self, id: Id) -> bool {
        self.nodes[id as usize].is_empty()
    }
}

/// Interned strings, values, numbers and checks.
#[derive(Default)]
pub struct Words {
    texts: Vec<Rc<str>>,
    symbols: HashMap<Rc<str>, Sym>,
    pub values: Vec<Value>,
    value_ids: HashMap<String, u32>,
    pub numbers: Vec<BigRational>,
    /// Ids by hash. A second copy of the numbers would take more memory than everything else.
    number_ids: HashMap<u64, u32>,
    number_keys: RandomState,
    /// Whether a schema tells `1` and `1.0` apart, as `integer` does in draft-04.
    pub tells_spellings: bool,
    /// Why the values that references out of the schemas allow are unknown, if there are such
    /// references. The validator ignores them.
    pub external: Option<Sym>,
    pub checks: Vec<Check>,
    check_ids: HashMap<String, u32>,
    patterns: HashMap<Sym, Option<Rc<Validator<Metered>>>>,
    /// The first symbol of each pattern: here by the canonical form of the pattern, below by any of its symbols.
    pattern_ids: HashMap<String, Sym>,
    same_patterns: HashMap<Sym, Sym>,
    /// Patterns as they are written in the schemas, if the validator needs them to be rewritten.
    written: HashMap<Sym, Rc<str>>,
}

impl Words {
    /// Returns the symbol of a string, and adds it if there is none.
    pub fn symbol(&mut self, text: &str) -> Sym {
        if let Some(symbol) = self.symbols.get(text) {
            return *symbol;
        }
        let text: Rc<str> = text.into();
        let symbol = index(self.texts.len());
        self.texts.push(Rc::clone(&text));
        self.symbols.insert(text, symbol);
        symbol
    }

    /// Returns the symbol of a pattern for names, as the validator reads it.
    pub fn name_pattern(&mut self, written: &str) -> Sym {
        let rewritten = ecma::pattern(written);
        let symbol = self.symbol(&rewritten);
        if *rewritten != *written {
            self.written.entry(symbol).or_insert_with(|| written.into());
        }
        symbol
    }

    /// Returns the symbol of a `pattern`, as the validator reads it. Patterns that are the same apart from how they are
    /// written have the same symbol.
    pub fn pattern(&mut self, written: &str) -> Sym {
        let symbol = self.name_pattern(written);
        if let Some(same) = self.same_patterns.get(&symbol) {
            return *same;
        }
        let text = self.text(symbol);
        let translated = jsonschema_regex::to_rust_regex(&text).ok();
        let canonical = translated.and_then(|translated| same_pattern::canonical(&translated));
        let same = canonical.map_or(symbol, |canonical| *self.pattern_ids.entry(canonical).or_insert(symbol));
        self.same_patterns.insert(symbol, same);
        same
    }

    /// Returns a pattern as it is written in a schema.
    pub fn written(&self, pattern: Sym) -> Rc<str> {
        self.written.get(&pattern).cloned().unwrap_or_else(|| self.text(pattern))
    }

    /// Returns the symbol of a string, if it has one.
    pub fn known(&self, text: &str) -> Option<Sym> {
        self.symbols.get(text).copied()
    }

    /// Returns the text of a symbol.
    pub fn text(&self, symbol: Sym) -> Rc<str> {
        Rc::clone(&self.texts[symbol as usize])
    }

    /// Returns the number of a value. Values that are equal in JSON Schema have the same number.
    pub fn value(&mut self, value: &Value) -> u32 {
        let key = numbers::key(value);
        if let Some(id) = self.value_ids.get(&key) {
            return *id;
        }
        let id = index(self.values.len());
        self.values.push(value.clone());
        self.value_ids.insert(key, id);
        id
    }

    /// Returns the number of a rational number.
    pub fn number(&mut self, number: BigRational) -> u32 {
        let hash = self.number_keys.hash_one(&number);
        if let Some(id) = self.number_ids.get(&hash).copied()
            && self.numbers[id as usize] == number
        {
            return id;
        }
        let id = index(self.numbers.len());
        self.numbers.push(number);
        self.number_ids.insert(hash, id);
        id
    }

    /// Returns the number of a check, which is a schema with one or two keywords besides `$schema`.
    pub fn check(&mut self, schema: &Value, format: Option<&str>) -> u32 {
        let key = schema.to_string();
        if let Some(id) = self.check_ids.get(&key) {
            return *id;
        }
        let id = index(self.checks.len());
        let mut keywords = schema.clone();
        keywords.as_object_mut().and_then(|keywords| keywords.remove("$schema"));
        self.checks.push(Check {
            keywords: keywords.to_string(),
            format: format.map(str::to_owned),
            encoding: schema.get("contentEncoding").and_then(Value::as_str).map(str::to_owned),
            is_json: schema.get("contentMediaType").is_some(),
            validator: validator(schema),
        });
        self.check_ids.insert(key, id);
        id
    }

    /// Returns whether a check accepts a string, or `None` if it cannot be run.
    pub fn passes(&self, check: u32, text: &str) -> Option<bool> {
        accepts(self.checks[check as usize].validator.as_ref()?, text)
    }

    /// Returns whether a pattern matches a string, or `None` if the pattern cannot be run.
    pub fn matches(&mut self, pattern: Sym, text: &str) -> Option<bool> {
        let source = self.text(pattern);
        let found = self.patterns.entry(pattern);
        let found = found.or_insert_with(|| validator(&serde_json::json!({"pattern": &*source})));
        accepts(found.as_ref()?, text)
    }
}

/// The assumed size of a validator of one keyword, in bytes.
const VALIDATOR_SIZE: usize = 64 << 10;

/// Builds a validator of one keyword. It reads [`Metered`] values even though nothing is metered here: a second type of
/// values would make the compiler generate the code of the validator twice.
pub(in crate::model::compatibility) fn validator(schema: &Value) -> Option<Rc<Validator<Metered>>> {
    thread_local! {
        static RECENT: RefCell<Recent<Option<Rc<Validator<Metered>>>>> = RefCell::default();
    }
    let compile = || unbounded_options().build(schema).ok().map(Rc::new);
    RECENT.with_borrow_mut(|recent| recent.get(&schema.to_string(), || (compile(), VALIDATOR_SIZE)))
}

/// Returns whether a validator of one keyword accepts a string, or `None` if matching a pattern takes too long.
pub(in crate::model::compatibility) fn accepts(validator: &Validator<Metered>, text: &str) -> Option<bool> {
    let value = Value::from(text);
    if validator.is_valid(MeteredValue::unmetered(&value)) {
        return Some(true);
    }
    match validator.validate(MeteredValue::unmetered(&value)) {
        Err(error) if is_unfinished(&error) => None,
        outcome => Some(outcome.is_ok()),
    }
}
