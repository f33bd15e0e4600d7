//! Where the values of a JSON text stand.

use serde_json::Value;

use super::Unfit;

/// A value, and where it stands.
pub struct Node {
    /// Its first byte.
    pub start: usize,
    /// The byte behind it.
    pub end: usize,
    /// What it holds.
    pub children: Children,
}

/// What a value holds.
pub enum Children {
    /// The members of an object.
    Object(Vec<Member>),
    /// The items of an array.
    Array(Vec<Node>),
    /// It is neither.
    None,
}

/// A member of an object.
pub struct Member {
    /// Where its name starts.
    pub start: usize,
    /// Its name.
    pub key: String,
    /// Its value.
    pub value: Node,
}

/// Reads where everything stands.
///
/// # Errors
/// Where the text is not JSON.
pub fn parse(text: &str) -> Result<Node, Unfit> {
    if let Err(error) = serde_json::from_str::<Value>(text) {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
        return Err(Unfit { message, line: error.line(), column: error.column() });
    }
    let mut scanner = Scanner { text, at: 0 };
    Ok(scanner.node())
}

/// Reads what is known to be JSON, and nested no deeper than the parser before it allows.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn peek(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        bytes.get(self.at).copied().unwrap_or_default()
    }

    /// Skips this byte where it is the next.
    fn skip(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == byte;
        self.at += usize::from(is_next);
        is_next
    }

    fn node(&mut self) -> Node {
        let first = self.peek();
        let start = self.at;
        let children = match first {
            b'{' => {
                self.at += 1;
                let mut members = Vec::new();
                while self.peek() == b'"' {
                    let start = self.at;
                    self.string();
                    let key = serde_json::from_str(&self.text[start..self.at]).unwrap_or_default();
                    self.skip(b':');
                    members.push(Member { start, key, value: self.node() });
                    self.skip(b',');
                }
                self.skip(b'}');
                Children::Object(members)
            }
            b'[' => {
                self.at += 1;
                let mut items = Vec::new();
                while !matches!(self.peek(), b']' | 0) {
                    items.push(self.node());
                    self.skip(b',');
                }
                self.skip(b']');
                Children::Array(items)
            }
            b'"' => {
                self.string();
                Children::None
            }
            _ => {
                let rest = &self.text[self.at..];
                self.at += rest.find([',', ']', '}', ' ', '\t', '\r', '\n']).unwrap_or(rest.len());
                Children::None
            }
        };
        Node { start, end: self.at, children }
    }

    fn string(&mut self) {
        let bytes = self.text.as_bytes();
        self.at += 1;
        while let Some(byte) = bytes.get(self.at) {
            self.at += 1 + usize::from(*byte == b'\\');
            if *byte == b'"' {
                return;
            }
        }
    }
}
