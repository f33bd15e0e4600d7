//! Asks a client of the stateless protocol in rounds (SEP-2322). The state that the client sends back says which round
//! was last, and is signed.

use rmcp::{
    ErrorData, RoleServer,
    model::{InputRequests, InputRequiredResult, InputResponses},
    service::RequestContext,
};
use serde_json::{Map, Value, json};

use crate::model::hash;

/// Returns the requests of the next round, or `None` once all are answered.
///
/// # Errors
/// Returns an error if the signature of the state is wrong.
pub fn next(
    (name, rounds): (&str, &[Map<String, Value>]),
    responses: Option<&InputResponses>,
    state: Option<&str>,
    context: &RequestContext<RoleServer>,
) -> Result<Option<InputRequiredResult>, ErrorData> {
    let round = match state {
        Some(state) => (0..rounds.len())
            .find(|round| sealed(name, *round) == state)
            .ok_or_else(|| ErrorData::invalid_params("the state is not as it was sent", None))?,
        None => 0,
    };
    let Some(asked) = rounds.get(round) else { return Ok(None) };
    let is_answered = |key: &String| responses.and_then(|all| all.get(key)).is_some_and(Value::is_object);
    let round = if declared(asked, context).keys().all(is_answered) { round + 1 } else { round };
    rounds.get(round).map(|asked| question(&declared(asked, context), &sealed(name, round))).transpose()
}

/// Returns the requests for which the client declares a capability.
fn declared(asked: &Map<String, Value>, context: &RequestContext<RoleServer>) -> Map<String, Value> {
    let can = json!(context.client_capabilities());
    // A client that declares nothing gets all requests.
    let says = ["sampling", "elicitation", "roots"].iter().any(|name| can[*name].is_object());
    let is_able = |request: &Value| {
        let method = request["method"].as_str().unwrap_or_default();
        can[method.split('/').next().unwrap_or_default()].is_object()
    };
    asked.iter().filter(|(_, request)| !says || is_able(request)).map(|(key, one)| (key.clone(), one.clone())).collect()
}

fn question(asked: &Map<String, Value>, state: &str) -> Result<InputRequiredResult, ErrorData> {
    let requests: InputRequests = serde_json::from_value(Value::Object(asked.clone()))
        .map_err(|error| ErrorData::internal_error(format!("a fixture is wrong: {error}"), None))?;
    let mut question = InputRequiredResult::from_input_requests(requests);
    question.request_state = Some(state.to_owned());
    Ok(question)
}

/// Returns the signed state of a round, which others cannot forge.
fn sealed(name: &str, round: usize) -> String {
    format!("{round}-{}", hash::canonical(&(name, round, "conformance")))
}
