//! Rewrites the sub-schemas of a schema. Names that look like keywords, and data, are left alone.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::words::{NAMED, VALUES};

/// The keywords of one sub-schema.
type Keywords = Map<String, Value>;

/// Returns the schema after `rewrite` for every sub-schema that `needs` it. It is borrowed if none does.
pub fn rewritten<'s>(
    schema: &'s Value,
    needs: &dyn Fn(&Keywords) -> bool,
    rewrite: &dyn Fn(&mut Keywords),
) -> Cow<'s, Value> {
    if !any(schema, false, needs) {
        return Cow::Borrowed(schema);
    }
    let mut schema = schema.clone();
    each(&mut schema, false, rewrite);
    Cow::Owned(schema)
}

fn any(part: &Value, are_names: bool, needs: &dyn Fn(&Keywords) -> bool) -> bool {
    match part {
        Value::Object(members) => {
            !are_names && needs(members)
                || members.iter().any(|(name, member)| {
                    if are_names {
                        any(member, false, needs)
                    } else {
                        !VALUES.contains(&&**name) && any(member, NAMED.contains(&&**name), needs)
                    }
                })
        }
        Value::Array(items) => items.iter().any(|item| any(item, false, needs)),
        _ => false,
    }
}

fn each(part: &mut Value, are_names: bool, rewrite: &dyn Fn(&mut Keywords)) {
    match part {
        Value::Object(members) => {
            if !are_names {
                rewrite(members);
            }
            for (name, member) in members {
                if are_names {
                    each(member, false, rewrite);
                } else if !VALUES.contains(&&**name) {
                    each(member, NAMED.contains(&&**name), rewrite);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| each(item, false, rewrite)),
        _ => {}
    }
}
