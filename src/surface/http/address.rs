//! Parses the target of a request: the segments of its path, and the parameters after the `?`.

use serde_json::{Map, Value};

use crate::{
    error::OpError,
    model::percent,
    surface::arguments::{Kind, Parameter},
};

/// Returns the percent-decoded segments of a path. An encoded `/` stays within its segment, so that no segment can
/// reach into another folder.
///
/// # Errors
/// Returns an error if the text is not a path, or a segment does not decode to UTF-8.
pub fn segments(path: &str) -> Result<Vec<String>, OpError> {
    let below = path.strip_prefix('/').ok_or_else(|| OpError::usage("this is not a path"))?;
    below.split('/').map(|part| decoded(part, false)).collect()
}

/// Returns the parameters as JSON, each converted to its declared kind.
///
/// # Errors
/// Returns an error if a parameter is given twice, or is not UTF-8.
pub fn query(text: &str, parameters: &[Parameter]) -> Result<Map<String, Value>, OpError> {
    let mut found = Map::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (name, value) = (decoded(name, true)?, decoded(value, true)?);
        let kind = parameters.iter().find(|one| one.name == name).map(Parameter::kind);
        let value = match (kind, &*value) {
            (Some(Kind::List), text) => text.split(',').map(Value::from).collect(),
            (Some(Kind::Flag), "true") => Value::Bool(true),
            (Some(Kind::Flag), "false") => Value::Bool(false),
            (Some(Kind::Count), text) => text.parse::<u64>().map_or_else(|_| text.into(), Value::from),
            (_, text) => text.into(),
        };
        let twice = format!("{:?} is given twice", name.chars().take(64).collect::<String>());
        if found.insert(name, value).is_some() {
            return Err(OpError::usage(twice));
        }
    }
    Ok(found)
}

fn decoded(text: &str, is_form: bool) -> Result<String, OpError> {
    let wrong = || OpError::usage("percent-encoding must be UTF-8, with two hexadecimal digits per byte");
    let text = if is_form { text.replace('+', " ") } else { text.to_owned() };
    String::from_utf8(percent::decode_strictly(&text).ok_or_else(wrong)?).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn encoded_characters_stay_within_their_segment() {
        assert_eq!(segments("/realms/a%2Fb/..%2f").unwrap(), ["realms", "a/b", "../"]);
        assert_eq!(segments("/").unwrap(), [""]);
        for wrong in ["*", "/%", "/%4", "/%zz", "/%ff", "/%+1"] {
            assert!(segments(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn parameters_are_converted_to_their_kinds() {
        #[derive(schemars::JsonSchema)]
        #[expect(dead_code, reason = "only its schema is looked at")]
        struct Taken {
            limit: Option<usize>,
            ended: Option<bool>,
            q: Option<String>,
            repos: Option<Vec<String>>,
        }
        let parameters = crate::surface::arguments::of::<Taken>();
        let found = query("limit=3&ended=true&q=a+b%26c&&repos=a,b", &parameters).unwrap();
        assert_eq!(Value::Object(found), json!({"limit": 3, "ended": true, "q": "a b&c", "repos": ["a", "b"]}));
        let found = query("limit=x&ended&other=1", &parameters).unwrap();
        assert_eq!(Value::Object(found), json!({"limit": "x", "ended": "", "other": "1"}));
        assert!(query("q=1&q=2", &parameters).is_err() && query("q=%ff", &parameters).is_err());
    }
}
