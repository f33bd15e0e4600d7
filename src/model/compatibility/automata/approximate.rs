//! Changes repetitions in patterns whose automata are too large, so that they match less or more.

/// Repetitions up to this number are left unchanged.
const FEW: u32 = 8;

/// Returns a pattern in which nothing is repeated more than `most` times above its minimum. It
/// matches less, except through negative look-arounds. Returns `None` if nothing changes.
pub fn narrowed(pattern: &str, most: u32) -> Option<String> {
    rewritten(pattern, |least, limit, _| {
        let limit = limit?;
        (limit - least > most.max(FEW)).then(|| format!("{{{least},{}}}", least + most))
    })
}

/// Returns a pattern without upper limits on long repetitions, which therefore matches more.
/// Returns `None` if nothing changes.
pub fn widened(pattern: &str) -> Option<String> {
    rewritten(pattern, |least, limit, is_negated| {
        let limit = limit.filter(|_| !is_negated)?;
        (limit - least > FEW).then(|| format!("{{{least},}}"))
    })
}

/// Replaces quantifiers. `replace` is called with the limits of each, and whether it is in a negative look-around.
fn rewritten(pattern: &str, replace: impl Fn(u32, Option<u32>, bool) -> Option<String>) -> Option<String> {
    let (mut written, mut rest) = (String::new(), pattern);
    let (mut in_class, mut groups) = (false, Vec::new());
    let mut is_changed = false;
    while let Some(letter) = rest.chars().next() {
        let mut width = letter.len_utf8();
        match letter {
            '\\' => width += escaped(&rest[1..]),
            '[' => in_class = true,
            ']' => in_class = false,
            _ if in_class => {}
            '(' => groups.push(rest.starts_with("(?!") || rest.starts_with("(?<!")),
            ')' => drop(groups.pop()),
            '{' => {
                if let Some((least, limit, end)) = quantifier(rest) {
                    width = end;
                    if let Some(other) = replace(least, limit, groups.contains(&true)) {
                        written.push_str(&other);
                        rest = &rest[end..];
                        is_changed = true;
                        continue;
                    }
                }
            }
            _ => {}
        }
        written.push_str(&rest[..width]);
        rest = &rest[width..];
    }
    is_changed.then_some(written)
}

/// Returns the width of what a backslash escapes: a character, with the braces of `\u{1F600}`.
fn escaped(rest: &str) -> usize {
    let width = rest.chars().next().map_or(0, char::len_utf8);
    match rest[width..].find('}').filter(|_| rest[width..].starts_with('{')) {
        Some(end) if "pPux".contains(&rest[..width]) => width + end + 1,
        _ => width,
    }
}

/// Returns the limits of a quantifier such as `{2,3}`, and its width.
fn quantifier(text: &str) -> Option<(u32, Option<u32>, usize)> {
    let inner = text[1..].split_once('}')?.0;
    let (least, limit) = match inner.split_once(',') {
        Some((least, "")) => (least.parse().ok()?, None),
        Some((least, limit)) => (least.parse().ok()?, Some(limit.parse().ok()?)),
        None => (inner.parse().ok()?, Some(inner.parse().ok()?)),
    };
    limit.is_none_or(|limit| least <= limit).then_some((least, limit, inner.len() + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_repetitions_are_shortened_or_not_limited() {
        for (pattern, less, more) in [
            (r"^a{1,256}\.b{2,4}$", Some(r"^a{1,31}\.b{2,4}$"), Some(r"^a{1,}\.b{2,4}$")),
            (r"(?=.{1,1024}$)x{3}", Some(r"(?=.{1,31}$)x{3}"), Some(r"(?=.{1,}$)x{3}")),
            (r"^(?!a{1,99})b{1,99}", Some(r"^(?!a{1,31})b{1,31}"), Some(r"^(?!a{1,99})b{1,}")),
            (r"^[{1,99}]\{1,99}\u{41}{5,}é{x,99}$", None, None),
        ] {
            assert_eq!((narrowed(pattern, 30).as_deref(), widened(pattern).as_deref()), (less, more), "{pattern}");
        }
    }
}
