//! Values in differences: on one line if they fit, and only the first lines of long ones.

use crate::model::{json::Json, text::count};

/// The maximum length of a value that is shown on one line, in bytes.
pub const MAX_INLINE: usize = 80;

/// Returns the first lines of a value, and a line with the number of the others.
pub fn value_lines(value: &Json, max: usize) -> (Vec<String>, Option<String>) {
    let mut rendered = value.to_string();
    if rendered.len() > MAX_INLINE {
        rendered = format!("{value:#}");
    }
    let mut lines = rendered.lines();
    let first = lines.by_ref().take(max).map(str::to_owned).collect();
    let more = lines.count();
    (first, (more > 0).then(|| format!("… {}", count(more, "more line", "more lines"))))
}
