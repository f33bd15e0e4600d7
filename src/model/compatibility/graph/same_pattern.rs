//! Recognizes patterns that are the same apart from how they are written.

use std::fmt::Write as _;

use fancy_regex::Expr;
use regex_syntax::hir::Hir;

/// The maximum nesting of expressions.
const DEEPEST: usize = 100;

/// Returns a text that is equal for patterns that differ only in groups, escapes, the order of characters in a class,
/// or lazy quantifiers. Returns `None` for patterns with back-references, in which groups matter, and for those that
/// cannot be read. The pattern is in the syntax of the validator's engine.
pub fn canonical(pattern: &str) -> Option<String> {
    let tree = Expr::parse_tree(pattern).ok()?;
    let mut text = String::new();
    write(&tree.expr, &mut text, 0)?;
    Some(text)
}

fn write(expr: &Expr, text: &mut String, depth: usize) -> Option<()> {
    (depth < DEEPEST).then_some(())?;
    let inner = |expr: &Expr, text: &mut String| write(expr, text, depth + 1);
    match expr {
        Expr::Empty => {}
        Expr::Any { .. } | Expr::Assertion(_) => write!(text, "<{expr:?}>").ok()?,
        Expr::Literal { val, casei: false } => {
            val.chars()
                .try_for_each(|letter| write!(text, "<{}>", Hir::literal(letter.to_string().into_bytes())).ok())?;
        }
        // A class of one character is a literal.
        Expr::Delegate { inner, casei: false } => write!(text, "<{}>", regex_syntax::parse(inner).ok()?).ok()?,
        Expr::Concat(parts) => parts.iter().try_for_each(|part| inner(part, text))?,
        Expr::Group(group) => inner(group, text)?,
        Expr::Alt(branches) => {
            text.push('(');
            for branch in branches {
                inner(branch, text)?;
                text.push('|');
            }
            text.push(')');
        }
        Expr::LookAround(look, kind) => {
            write!(text, "({kind:?} ").ok()?;
            inner(look, text)?;
            text.push(')');
        }
        Expr::Repeat { child, lo, hi, .. } => {
            text.push('(');
            inner(child, text)?;
            write!(text, "){{{lo},{hi}}}").ok()?;
        }
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_written_differently_is_equal() {
        let equal = [
            (r"^https?:\/\/(www\.)?a", "^https?://(?:www[.])?a"),
            ("^[a-zA-Z]+?$", "^[A-Za-z]+$"),
            ("^((a|b)c){1,}$", "^(?:(?:a|b)c)+$"),
            ("(?=.*[0-9]).{8}", r"(?=(?:.*[0-9]))(.){8}"),
        ];
        for (one, other) in equal {
            assert_eq!(canonical(one).unwrap(), canonical(other).unwrap(), "{one} {other}");
        }
        let different =
            [("^a$", "a$"), ("(ab){2}", "ab{2}"), ("a|bc", "(a|b)c"), ("(?=a)b", "(?!a)b"), ("^(a|b)$", "^a|b$")];
        for (one, other) in different {
            assert_ne!(canonical(one).unwrap(), canonical(other).unwrap(), "{one} {other}");
        }
        assert_eq!(canonical(r"^(a)\1$"), None);
    }
}
