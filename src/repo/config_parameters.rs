//! Parses the configuration of `git -c`, which git passes to the programs that it starts.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
};

/// The variable with the configuration.
const VARIABLE: &str = "GIT_CONFIG_PARAMETERS";

/// Returns the settings, each as `key=value`, or `key` for a setting without a value. A key that contains `=` is left
/// out.
pub(super) fn parse(vars: &BTreeMap<OsString, OsString>) -> Vec<String> {
    let text = vars.get(OsStr::new(VARIABLE)).and_then(|text| text.to_str()).unwrap_or_default();
    words(text).into_iter().filter_map(|word| setting(&word)).collect()
}

/// A word.
#[derive(Default)]
struct Word {
    /// Its characters, and whether each is quoted.
    characters: Vec<(char, bool)>,
    /// Whether it ends with a quoted part, which may be empty.
    ends_quoted: bool,
}

/// Splits the text into words, as a shell does. git quotes each key and each value.
fn words(text: &str) -> Vec<Word> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), Word::default(), false);
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\'' => is_quoted = !is_quoted,
            '\\' if !is_quoted => word.characters.extend(characters.next().map(|character| (character, true))),
            ' ' if !is_quoted => words.push(std::mem::take(&mut word)),
            _ => word.characters.push((character, is_quoted)),
        }
        word.ends_quoted = character == '\'';
    }
    words.push(word);
    words
}

/// Returns the setting in a word: `'key'='value'`, `'key'=`, or `'key=value'` as in older versions of git.
fn setting(word: &Word) -> Option<String> {
    let characters = &word.characters;
    let text: String = characters.iter().map(|(character, _)| character).collect();
    let setting = match characters.iter().position(|part| *part == ('=', false)) {
        Some(at) if at + 1 == characters.len() && !word.ends_quoted => text.strip_suffix('=')?.to_owned(),
        Some(at) if characters[..at].iter().any(|(character, _)| *character == '=') => return None,
        _ => text,
    };
    setting.split('=').next()?.contains('.').then_some(setting)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_parsed_as_git_quotes_them() {
        let text = r"'color.ui'='always' 'a.b'='x'\''y z'\!'' 'foo.bar'= 'foo.empty'='' 'old.key=a=b' 'url.a=b.insteadOf'='c' 'none'='x'";
        let vars = [(VARIABLE.into(), text.into())].into();
        assert_eq!(parse(&vars), ["color.ui=always", "a.b=x'y z!", "foo.bar", "foo.empty=", "old.key=a=b"]);
        assert!(parse(&BTreeMap::new()).is_empty());
    }
}
