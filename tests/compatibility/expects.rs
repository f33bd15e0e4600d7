//! A consumer's expectation compared with the provider's schema.

use std::time::{Duration, Instant};

use git_blue::model::{
    compatibility::{self, Limits, Options, SchemaVerdict},
    contract::{Flow, SchemaReading},
    schema::Forest,
};
use serde_json::{Value, json};

use crate::world::{letter, validator};

fn satisfies(expects: &Value, provided: &Value, flow: Flow, reading: SchemaReading) -> SchemaVerdict {
    let start = Instant::now();
    let limits = Limits { time: Duration::from_secs(60), ..Limits::default() };
    let options = Options { limits, reading, ..Options::default() };
    let mut forest = Forest::default();
    let parts = [expects, provided].map(|schema| forest.add(schema));
    let [expects, provided] = parts.map(|part| forest.tree(part));
    compatibility::satisfies(expects, provided, flow, &options, &|| start.elapsed()).unwrap()
}

#[test]
fn break_in_unread_data_breaks_nobody() {
    let provided = |id: &str, other: &str| {
        json!({"type": "object", "required": ["id", "other"],
            "properties": {"id": {"type": id}, "other": {"type": other}}})
    };
    let expects = json!({"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}});
    let answer =
        |provided: &Value| letter(&satisfies(&expects, provided, Flow::ProviderToConsumer, SchemaReading::Lenient));
    assert_eq!(answer(&provided("string", "string")), 'o');
    assert_eq!(answer(&provided("string", "integer")), 'o');
    assert_eq!(answer(&provided("integer", "string")), 'x');
    // It relies on something that the schema never promised.
    assert_eq!(answer(&json!({"type": "object", "properties": {"id": {"type": "string"}}})), 'x');
}

#[test]
fn witness_is_sent_by_the_sender_and_refused_by_the_reader() {
    let (expects, provided) = (json!({"type": "integer", "maximum": 24}), json!({"type": "integer", "maximum": 255}));
    let SchemaVerdict::Incompatible { difference: found } =
        satisfies(&expects, &provided, Flow::ProviderToConsumer, SchemaReading::Lenient)
    else {
        panic!("it may send 25")
    };
    let (reader, sender) = (validator(&expects).unwrap(), validator(&provided).unwrap());
    let witness = found.witness.as_ref().unwrap();
    assert!(sender.is_valid(witness) && !reader.is_valid(witness), "{found:?}");
    assert_eq!((found.old_pointer.as_deref(), found.new_pointer.as_deref()), (Some("/maximum"), Some("/maximum")));
    let turned =
        |expects, provided| letter(&satisfies(expects, provided, Flow::ConsumerToProvider, SchemaReading::Lenient));
    assert_eq!(turned(&expects, &provided), 'o', "consumers send up to 24");
    let SchemaVerdict::Incompatible { difference: found } =
        satisfies(&provided, &expects, Flow::ConsumerToProvider, SchemaReading::Lenient)
    else {
        panic!("consumers send 25")
    };
    let witness = found.witness.as_ref().unwrap();
    assert!(sender.is_valid(witness) && !reader.is_valid(witness), "{found:?}");
}

#[test]
fn reading_is_the_senders() {
    let expects = json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false});
    let provided = json!({"type": "object", "properties": {"a": {}}});
    let answer = |reading| letter(&satisfies(&expects, &provided, Flow::ProviderToConsumer, reading));
    assert_eq!((answer(SchemaReading::Lenient), answer(SchemaReading::Strict)), ('o', 'x'));
}

#[test]
fn unknown_is_not_guessed() {
    let (expects, provided) = (json!({"$schema": "https://example.org/own"}), json!({"type": "string"}));
    assert_eq!(letter(&satisfies(&expects, &provided, Flow::ProviderToConsumer, SchemaReading::Lenient)), '?');
    assert_eq!(letter(&satisfies(&json!({}), &provided, Flow::ProviderToConsumer, SchemaReading::Lenient)), 'o');
}
