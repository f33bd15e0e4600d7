//! Shows the difference between two texts that differ in one place, in the format of `diff -u`.

/// The number of lines of context around a change.
const CONTEXT: usize = 3;

/// Returns the changed lines with their context; empty if the texts are equal.
pub fn between(before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    let (old, new): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = old.len().min(new.len()) - same;
    let tail = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
    let first = same.saturating_sub(CONTEXT);
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);
    let (old_last, new_last) = ((old_end + CONTEXT).min(old.len()), (new_end + CONTEXT).min(new.len()));
    let range = |from: usize, to: usize| match to - from {
        // In a unified diff, an empty range has the number of the line before it.
        0 => format!("{from},0"),
        count => format!("{},{count}", from + 1),
    };
    let mut text = format!("@@ -{} +{} @@\n", range(first, old_last), range(first, new_last));
    let mut add = |sign: char, lines: &[&str]| {
        for line in lines {
            text.push(sign);
            text += line;
            text.push('\n');
        }
    };
    add(' ', &old[first..same]);
    add('-', &old[same..old_end]);
    add('+', &new[same..new_end]);
    add(' ', &old[old_end..old_last]);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_that_of_diff() {
        assert_eq!(between("a\n", "a\n"), "");
        assert_eq!(between("", "a\nb\n"), "@@ -0,0 +1,2 @@\n+a\n+b\n");
        assert_eq!(between("a\n", ""), "@@ -1,1 +0,0 @@\n-a\n");
        assert_eq!(
            between("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\n6\n7\n8\n9\n"),
            "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n"
        );
        assert_eq!(between("a\na\n", "a\na\na\n"), "@@ -1,2 +1,3 @@\n a\n a\n+a\n");
    }
}
