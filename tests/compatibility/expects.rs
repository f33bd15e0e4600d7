//! The schema that a consumer expects, compared with the provider's schema.

use std::time::{Duration, Instant};

use git_blue::model::{
    compatibility::{self, Limits, Options, Reading, Verdict},
    contract::Flow,
};
use serde_json::{Value, json};

use crate::world::{letter, validator};

fn fulfils(expects: &Value, provided: &Value, flow: Flow, reading: Reading) -> Verdict {
    let start = Instant::now();
    let limits = Limits { time: Duration::from_secs(60), ..Limits::default() };
    let options = Options { limits, reading, ..Options::default() };
    compatibility::fulfils(expects, provided, flow, &options, &|| start.elapsed()).unwrap()
}

#[test]
fn a_break_in_what_nobody_reads_breaks_nobody() {
    let provided = |id: &str, other: &str| {
        json!({"type": "object", "required": ["id", "other"],
            "properties": {"id": {"type": id}, "other": {"type": other}}})
    };
    let expects = json!({"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}});
    let answer = |provided: &Value| letter(&fulfils(&expects, provided, Flow::ProviderToConsumer, Reading::Lenient));
    assert_eq!(answer(&provided("string", "string")), 'o');
    assert_eq!(answer(&provided("string", "integer")), 'o');
    assert_eq!(answer(&provided("integer", "string")), 'x');
    // A property that the consumer relies on, and that the schema never promised.
    assert_eq!(answer(&json!({"type": "object", "properties": {"id": {"type": "string"}}})), 'x');
}

#[test]
fn the_witness_is_what_the_sender_sends_and_the_reader_refuses() {
    let (expects, provided) = (json!({"type": "integer", "maximum": 24}), json!({"type": "integer", "maximum": 255}));
    let Verdict::Incompatible(found) = fulfils(&expects, &provided, Flow::ProviderToConsumer, Reading::Lenient) else {
        panic!("it may send 25")
    };
    let (reader, sender) = (validator(&expects).unwrap(), validator(&provided).unwrap());
    assert!(sender.is_valid(&found.witness) && !reader.is_valid(&found.witness), "{found:?}");
    assert_eq!((found.old_pointer.as_deref(), found.new_pointer.as_deref()), (Some("/maximum"), Some("/maximum")));
    let turned = |expects, provided| letter(&fulfils(expects, provided, Flow::ConsumerToProvider, Reading::Lenient));
    assert_eq!(turned(&expects, &provided), 'o', "consumers send up to 24");
    let Verdict::Incompatible(found) = fulfils(&provided, &expects, Flow::ConsumerToProvider, Reading::Lenient) else {
        panic!("consumers send 25")
    };
    assert!(sender.is_valid(&found.witness) && !reader.is_valid(&found.witness), "{found:?}");
}

#[test]
fn the_reading_is_that_of_the_sender() {
    let expects = json!({"type": "object", "properties": {"a": {}}, "additionalProperties": false});
    let provided = json!({"type": "object", "properties": {"a": {}}});
    let answer = |reading| letter(&fulfils(&expects, &provided, Flow::ProviderToConsumer, reading));
    assert_eq!((answer(Reading::Lenient), answer(Reading::Strict)), ('o', 'x'));
}

#[test]
fn what_is_not_known_is_not_guessed() {
    let (expects, provided) = (json!({"$schema": "https://example.org/own"}), json!({"type": "string"}));
    assert_eq!(letter(&fulfils(&expects, &provided, Flow::ProviderToConsumer, Reading::Lenient)), '?');
    assert_eq!(letter(&fulfils(&json!({}), &provided, Flow::ProviderToConsumer, Reading::Lenient)), 'o');
}
