//! What a request asks, whatever its id is: two requests that are the same but for their ids are owed the
//! same answer.

use hyper::{HeaderMap, header::CONTENT_LENGTH};

/// The longest request whose answer is worth keeping.
const MAX: usize = 4 << 10;

/// A request, as its client wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Everything but the id.
    pub key: Box<[u8]>,
    /// The id, as it is written in JSON.
    pub id: Box<[u8]>,
}

impl Asked {
    /// Reads one line of JSON; nothing where its id is not plain to see.
    pub fn read(line: &[u8]) -> Option<Self> {
        Self::with(Vec::new(), line)
    }

    /// Reads the body of a request over HTTP: all of its headers but the length belong to what it asks.
    pub fn over_http(headers: &HeaderMap, body: &[u8]) -> Option<Self> {
        let mut key = Vec::with_capacity(body.len() + 512);
        for (name, value) in headers.iter().filter(|(name, _)| *name != CONTENT_LENGTH) {
            key.extend_from_slice(name.as_str().as_bytes());
            key.push(b':');
            key.extend_from_slice(value.as_bytes());
            // No header has one in it.
            key.push(b'\n');
        }
        Self::with(key, body)
    }

    fn with(mut key: Vec<u8>, line: &[u8]) -> Option<Self> {
        let (start, end) = id(line).filter(|_| line.len() <= MAX)?;
        key.extend_from_slice(&line[..start]);
        key.extend_from_slice(&line[end..]);
        Some(Self { key: key.into(), id: line[start..end].into() })
    }
}

/// Returns where the id of a JSON object stands: one that is a whole number or a text without escapes, so
/// that it is written in the answer as it is written here.
fn id(line: &[u8]) -> Option<(usize, usize)> {
    let (mut depth, mut at, mut found) = (0_usize, 0, None);
    while at < line.len() {
        match line[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b'"' => {
                let end = text_end(line, at)?;
                if depth == 1 && &line[at..end] == br#""id""# && line.get(end) == Some(&b':') {
                    let start = end + 1 + line[end + 1..].iter().take_while(|byte| **byte == b' ').count();
                    let value = plain(line, start)?;
                    // Which of two counts is not for us to say.
                    if found.replace((start, value)).is_some() {
                        return None;
                    }
                    at = value;
                    continue;
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Returns where a text ends that begins here.
fn text_end(line: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match line.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Returns where a plain id ends that begins here.
fn plain(line: &[u8], start: usize) -> Option<usize> {
    let end = match line.get(start)? {
        b'"' => text_end(line, start).filter(|end| !line[start..*end].contains(&b'\\'))?,
        _ => start + line[start..].iter().take_while(|byte| byte.is_ascii_digit()).count(),
    };
    // More digits than a number may have here, or a sign or a fraction, are left to who reads numbers.
    let is_number = line[start] != b'"';
    let fits = !is_number || (1..=15).contains(&(end - start));
    (fits && matches!(line.get(end)?, b',' | b'}' | b' ')).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(line: &str) -> Option<(String, String)> {
        let asked = Asked::read(line.as_bytes())?;
        Some((String::from_utf8(asked.key.into()).unwrap(), String::from_utf8(asked.id.into()).unwrap()))
    }

    #[test]
    fn requests_that_differ_in_their_id_alone_ask_the_same() {
        let ask =
            |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m","params":{{"id":3,"a":["\"id\":4"]}}}}"#);
        let (key, id) = parts(&ask("1")).unwrap();
        assert_eq!(id, "1");
        assert!(key.contains(r#""id":,"#) && key.contains(r#"{"id":3"#), "{key}");
        for other in ["2", " 17", r#""a""#, r#""é x""#] {
            let found = parts(&ask(other)).unwrap();
            assert_eq!((found.1.as_str(), found.0.replace(": ,", ":,")), (other.trim(), key.clone()));
        }
        assert_eq!(parts(r#"{"id":1}"#).unwrap().1, "1");
        assert_ne!(parts(&ask("1").replace('3', "5")).unwrap().0, key);
    }

    #[test]
    fn what_is_not_plain_is_left_alone() {
        for line in [
            "",
            "{}",
            r#"{"id":"#,
            r#"{"id":1"#,
            r#"{"id":-1}"#,
            r#"{"id":1.5}"#,
            r#"{"id":1e3}"#,
            r#"{"id":null}"#,
            r#"{"id":"\u0061"}"#,
            r#"{"id":"a}"#,
            r#"{"id":1,"id":2}"#,
            r#"{"id":12345678901234567}"#,
            r#"{"params":{"id":1}}"#,
            r#"}{"id":1}"#,
        ] {
            assert_eq!(parts(line), None, "{line}");
        }
        assert_eq!(parts(&format!(r#"{{"id":1,"x":"{}"}}"#, "x".repeat(MAX))), None);
    }

    #[test]
    fn headers_belong_to_what_is_asked() {
        let asked = |name: &'static str, value: &'static str| {
            let headers = HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())]);
            Asked::over_http(&headers, br#"{"id":1}"#).unwrap()
        };
        assert_eq!(asked("content-length", "1"), asked("content-length", "2"));
        assert_ne!(asked("mcp-name", "a"), asked("mcp-name", "b"));
        assert_ne!(asked("mcp-name", "a"), asked("mcp-method", "a"));
    }
}
