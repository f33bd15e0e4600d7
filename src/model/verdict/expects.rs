//! Judges whether a contract provides what an import expects.

use serde_json::json;

use super::{Basis, Judge, NO_TIME, SchemaReading, SchemaVerdict, Verdict, outcome::outcome, says_nothing, unnamed};
use crate::model::{
    compatibility,
    contract::{Contract, Flow},
    json::Json,
    schema::{self, Forest},
    version::Version,
};

impl Judge<'_> {
    /// Judges whether a document satisfies what an import `expects`: all values that the document allows providers to
    /// send must be expected; without a schema, that is the agreed value. If importers send, the document must allow all
    /// values that they expect to send.
    pub fn satisfies_expects(&self, expects: &Json, adapted: Option<&Version>, document: &Contract) -> Verdict {
        let reading = document.compatibility.reading;
        let is_agreed = document.flow == Flow::ProviderToConsumer && !document.value.is_null();
        let provided = if is_agreed && says_nothing(&document.schema) {
            &json!({"const": *document.value.value()}).into()
        } else {
            &document.schema
        };
        let key = format!("expects-{}-{:?}", self.key(expects, provided, reading), document.flow);
        let known = self.expects_answers.borrow().get(&key).cloned();
        let is_decided = |(answer, _): &(SchemaVerdict, Vec<String>)| answer.is_decided();
        let compute = || {
            let answer = self.expected(expects, provided, document);
            let is_asked = answer.is_compatible() && reading == SchemaReading::Lenient;
            let unnamed = match document.flow {
                Flow::ProviderToConsumer if is_asked && !says_nothing(provided) => {
                    unnamed::unnamed(&expects.value(), &mut |expects| {
                        self.expected(&expects.clone().into(), provided, document).is_compatible()
                    })
                }
                _ => Vec::new(),
            };
            (answer, unnamed)
        };
        let (answer, unnamed) = known.unwrap_or_else(|| {
            let found = self.answer(&key, is_decided, compute);
            self.expects_answers.borrow_mut().insert(key, found.clone());
            found
        });
        let (verdict, difference, reason) = outcome(&answer);
        let (basis, direction) = (Basis::Expects, document.flow.direction());
        let versions = Verdict::compatible(adapted.unwrap_or(&document.version), &document.version);
        Verdict { verdict, basis, direction, reading, difference, reason, unnamed, ..versions }
    }

    fn expected(&self, expects: &Json, provided: &Json, document: &Contract) -> SchemaVerdict {
        let found = self.within(document.compatibility.reading, |options| {
            let (mut forest, [mut expects, provided]) = Forest::of_schemas([expects, provided]);
            let unnamed = forest.tree(expects);
            let named = schema::in_draft_of(unnamed, forest.tree(provided));
            if let Some(named) = named.or_else(|| schema::in_older_draft(unnamed)) {
                expects = forest.add(&named);
                forest = forest.closed();
            }
            let [expects, provided] = [expects, provided].map(|part| forest.tree(part));
            compatibility::satisfies(expects, provided, document.flow, options, &*self.clock)
        });
        match found {
            Some(Ok(found)) => found.clipped(self.max_witness),
            Some(Err(bug)) => SchemaVerdict::unknown(&bug, None),
            None => SchemaVerdict::unknown(NO_TIME, Some("time")),
        }
    }
}
