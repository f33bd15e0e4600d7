//! Builds text for a terminal, with styles and columns. Every word that others wrote passes through [`clean`], so that
//! no control character reaches the terminal.

use crate::{env::UserZone, error::NextStep, surface::escape::clean};
use std::{fmt::Write as _, rc::Rc};

use anstyle::AnsiColor;
use jiff::{Timestamp, tz::TimeZone};

/// The maximum width of a column, in characters.
const MAX_ALIGNED: usize = 60;

/// A text under construction.
#[derive(Debug, Default)]
pub struct Text {
    buffer: String,
    color: bool,
    /// The zone that times are shown in, or `None` for UTC.
    zone: Option<Rc<UserZone>>,
    /// Omit success messages.
    is_quiet: bool,
    /// The lines that have a warning or an error.
    warnings: String,
    /// The start of the current line, and whether it has a warning or an error.
    line: (usize, bool),
}

/// The style of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// Without style.
    #[default]
    Plain,
    /// A heading.
    Bold,
    /// Less important text.
    Dim,
    /// Success, or the current item.
    Green,
    /// A warning.
    Yellow,
    /// An error.
    Red,
    /// A commit, as in git log.
    Commit,
}

impl Style {
    fn ansi(self) -> anstyle::Style {
        let color = |color: AnsiColor| anstyle::Style::new().fg_color(Some(color.into()));
        match self {
            Self::Plain => anstyle::Style::new(),
            Self::Bold => anstyle::Style::new().bold(),
            Self::Dim => anstyle::Style::new().dimmed(),
            Self::Green => color(AnsiColor::Green),
            Self::Yellow | Self::Commit => color(AnsiColor::Yellow),
            Self::Red => color(AnsiColor::Red),
        }
    }
}

/// A word and its style.
#[derive(Debug, Clone)]
pub struct Word(pub String, pub Style);

/// Returns a word without style.
pub fn plain(text: impl ToString) -> Word {
    Word(text.to_string(), Style::Plain)
}

/// Returns a word in this style.
pub fn styled(text: impl ToString, style: Style) -> Word {
    Word(text.to_string(), style)
}

impl Text {
    /// Returns an empty text.
    pub fn new(color: bool) -> Self {
        Self { color, ..Self::default() }
    }

    /// Omits success messages.
    pub fn quiet(self, is_quiet: bool) -> Self {
        Self { is_quiet, ..self }
    }

    /// Shows times in this zone.
    pub fn in_zone(self, zone: Rc<UserZone>) -> Self {
        Self { zone: Some(zone), ..self }
    }

    /// Formats a time in this zone, to the minute.
    pub fn time(&self, time: Timestamp) -> String {
        let zone = self.zone.as_ref().map_or(TimeZone::UTC, |zone| zone.get());
        time.to_zoned(zone).strftime("%Y-%m-%d %H:%M").to_string()
    }

    /// Returns the text.
    pub fn into_string(self) -> String {
        self.buffer
    }

    /// Returns the lines that have a warning or an error.
    pub fn warnings(&self) -> &str {
        &self.warnings
    }

    /// Adds a word.
    pub fn word(&mut self, Word(text, style): &Word) -> &mut Self {
        self.padded(text, *style, 0);
        self
    }

    fn padded(&mut self, text: &str, style: Style, width: usize) {
        let text = clean(text);
        let padding = width.saturating_sub(text.chars().count());
        self.line.1 |= matches!(style, Style::Yellow | Style::Red);
        if self.color && style != Style::Plain {
            let ansi = style.ansi();
            let _ = write!(self.buffer, "{ansi}{text}{ansi:#}");
        } else {
            self.buffer.push_str(&text);
        }
        self.buffer.extend(std::iter::repeat_n(' ', padding));
    }

    /// Adds a line of words, separated by spaces.
    pub fn line(&mut self, words: &[Word]) -> &mut Self {
        for (at, word) in words.iter().enumerate() {
            if at > 0 {
                self.buffer.push(' ');
            }
            self.word(word);
        }
        self.end()
    }

    /// Adds a line that says only that all is well.
    pub fn success(&mut self, words: &[Word]) -> &mut Self {
        if self.is_quiet { self } else { self.line(words) }
    }

    /// Adds a heading after an empty line.
    pub fn heading(&mut self, text: &str) -> &mut Self {
        self.gap();
        self.line(&[styled(text, Style::Bold)])
    }

    /// Adds an empty line, unless the text is empty.
    pub fn gap(&mut self) -> &mut Self {
        if !self.buffer.is_empty() {
            self.end();
        }
        self
    }

    /// Ends the line and removes its trailing spaces.
    pub fn end(&mut self) -> &mut Self {
        while self.buffer.ends_with(' ') {
            self.buffer.pop();
        }
        self.buffer.push('\n');
        let (start, is_warning) = std::mem::replace(&mut self.line, (self.buffer.len(), false));
        if is_warning {
            self.warnings.push_str(&self.buffer[start..]);
        }
        self
    }

    /// Adds rows with aligned columns, indented by `indent`. A very long cell only moves the rest of its own row.
    pub fn table(&mut self, indent: &str, rows: &[Vec<Word>]) -> &mut Self {
        let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
        let width = |column: usize| {
            let cells = rows.iter().filter_map(|row| row.get(column));
            cells.map(|Word(text, _)| clean(text).chars().count()).filter(|width| *width <= MAX_ALIGNED).max()
        };
        let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or_default()).collect();
        for row in rows {
            // Empty cells at the end would be padding.
            let filled = row.iter().rposition(|Word(text, _)| !text.is_empty()).map_or(0, |last| last + 1);
            let row = &row[..filled];
            self.buffer.push_str(indent);
            for (at, Word(text, style)) in row.iter().enumerate() {
                if at > 0 {
                    self.buffer.push_str("  ");
                }
                let last = at + 1 == row.len();
                self.padded(text, *style, if last { 0 } else { widths[at] });
            }
            self.end();
        }
        self
    }

    /// Adds several lines of text that others wrote, indented by `indent`. Line ends are kept.
    pub fn block(&mut self, indent: &str, text: &str) -> &mut Self {
        for line in text.lines() {
            let _ = write!(self.buffer, "{indent}{}", clean(line));
            self.end();
        }
        self
    }

    /// Adds the next steps.
    pub fn next_steps(&mut self, steps: &[NextStep]) -> &mut Self {
        if !steps.is_empty() {
            self.heading("next");
            for step in steps {
                self.buffer.push_str("  ");
                self.line(&[plain(step.to_string())]);
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::escape::is_harmful;
    use proptest::prelude::*;

    #[test]
    fn columns_are_aligned_and_lines_have_no_trailing_spaces() {
        let mut text = Text::new(false);
        text.table("  ", &[vec![plain("a"), plain("bb"), plain("")], vec![plain("ccc"), plain("d")]]);
        assert_eq!(text.into_string(), "  a    bb\n  ccc  d\n");
        let (mut text, long) = (Text::new(false), "x".repeat(MAX_ALIGNED + 1));
        text.table(
            "",
            &[vec![plain(&long), plain("bb")], vec![plain("ccc"), plain("d")], vec![plain("a"), plain("e")]],
        );
        assert_eq!(text.into_string(), format!("{long}  bb\nccc  d\na    e\n"));
    }

    #[test]
    fn empty_cells_at_the_end_of_a_colored_row_print_nothing() {
        let mut text = Text::new(true);
        text.table("", &[vec![plain("a"), styled("", Style::Dim)], vec![plain("b"), plain("c")]]);
        assert_eq!(text.into_string(), "a\nb  c\n");
    }

    #[test]
    fn colors_are_used_only_on_request() {
        let mut text = Text::new(true);
        text.line(&[styled("x", Style::Red)]);
        assert_eq!(text.into_string(), "\u{1b}[31mx\u{1b}[0m\n");
        let mut text = Text::new(false);
        text.line(&[styled("x", Style::Red)]);
        assert_eq!(text.into_string(), "x\n");
    }

    #[test]
    fn lines_with_warnings_are_kept_apart() {
        let mut text = Text::new(false);
        text.line(&[plain("done")]).heading("more").table(
            "  ",
            &[vec![styled("ok", Style::Green), plain("a")], vec![styled("warning", Style::Yellow), plain("b")]],
        );
        text.line(&[styled("error:", Style::Red), plain("c")]);
        assert_eq!(text.warnings(), "  warning  b\nerror: c\n");
        text.success(&[plain("well")]);
        assert!(text.into_string().ends_with("c\nwell\n"));
        assert_eq!(std::mem::take(Text::new(false).quiet(true).success(&[plain("well")])).into_string(), "");
    }

    proptest! {
        #[test]
        fn harmful_characters_are_escaped(words in proptest::collection::vec(".*", 0..5)) {
            let mut text = Text::new(false);
            text.line(&words.iter().map(plain).collect::<Vec<_>>()).block("", &words.join("\n")).next_steps(&words.iter().map(|word| word.as_str().into()).collect::<Vec<_>>());
            let text = text.into_string();
            prop_assert!(!text.replace('\n', "").contains(is_harmful), "{}", text);
            let steps = if words.is_empty() { 0 } else { 2 + words.len() };
            prop_assert_eq!(text.matches('\n').count(), 1 + words.join("\n").lines().count() + steps, "{}", text);
        }
    }

    #[test]
    fn invisible_characters_are_escaped() {
        for c in ['\u{7}', '\u{9b}', '\u{ad}', '\u{180e}', '\u{200b}', '\u{202e}', '\u{3164}', '\u{fff9}', '\u{e0041}']
        {
            let mut text = Text::new(false);
            text.line(&[plain(c)]);
            assert_eq!(text.into_string(), format!("{}\n", c.escape_default()));
        }
    }
}
