//! What was put into Claude Code's files, so that taking it out leaves them byte for byte as they were.
//! Of what else they say nothing is kept: they may hold keys.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::file;
use crate::{error::OpError, machine::home::Home, ops::ctx::Ctx};

/// What was done to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// The text that was put in.
    pub inserted: String,
    /// The text in whose place it was put: nothing but spaces, unless all stood in one line.
    #[serde(default)]
    pub replaced: String,
    /// Whether the file was not there before.
    pub created: bool,
}

impl Done {
    /// Returns what was done to a text.
    pub fn between(before: &str, after: &str, created: bool) -> Self {
        let same = |pairs: &mut dyn Iterator<Item = (char, char)>| -> usize {
            pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
        };
        let start = same(&mut before.chars().zip(after.chars()));
        let (before, after) = (&before[start..], &after[start..]);
        let end = same(&mut before.chars().rev().zip(after.chars().rev()));
        let inside = |text: &str| text[..text.len() - end].to_owned();
        Self { inserted: inside(after), replaced: inside(before), created }
    }

    /// Returns the text as it was, where what was put in stands there as it was put.
    pub fn undone(&self, text: &str) -> Option<String> {
        let mut places = text.match_indices(&self.inserted).map(|(at, _)| at);
        let at = places.next().filter(|_| places.next().is_none())?;
        Some([&text[..at], &self.replaced, &text[at + self.inserted.len()..]].concat())
    }
}

/// What was done to each file, by its path.
#[derive(Debug)]
pub struct Records {
    home: Home,
    path: PathBuf,
    all: BTreeMap<String, Done>,
}

impl Records {
    /// Reads them. What cannot be read is as good as lost: what was put in is then looked for.
    pub fn open(ctx: &Ctx) -> Self {
        let path = ctx.home.folder().join("claude.json");
        let text = file::read(&path).ok().flatten().unwrap_or_default();
        Self { home: ctx.home.clone(), path, all: serde_json::from_str(&text).unwrap_or_default() }
    }

    /// Returns what was done to a file.
    pub fn of(&self, file: &Path) -> Option<&Done> {
        self.all.get(&*file.to_string_lossy())
    }

    /// Keeps what was done to a file, or forgets it.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn set(&mut self, file: &Path, done: Option<Done>) -> Result<(), OpError> {
        let before = self.all.clone();
        let key = file.to_string_lossy().into_owned();
        match done {
            Some(done) => drop(self.all.insert(key, done)),
            None => drop(self.all.remove(&key)),
        }
        if self.all == before {
            return Ok(());
        }
        let text = serde_json::to_string_pretty(&self.all)
            .unwrap_or_else(|error| unreachable!("records have a JSON form: {error}"));
        self.home.make()?;
        file::write(&self.path, &(text + "\n"), 0o600)
    }
}
