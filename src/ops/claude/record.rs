//! Records of what was inserted into Claude Code's files, so that removing it restores them byte for byte. No other
//! part of these files is recorded, because it may contain secrets.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::file;
use crate::{error::OpError, machine::home::Home, ops::ctx::Ctx, platform::files::Access};

/// A recorded change of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// The inserted text.
    pub inserted: String,
    /// The text that it replaced: only spaces, unless everything was on one line.
    #[serde(default)]
    pub replaced: String,
    /// Whether the file was created.
    pub created: bool,
}

impl Done {
    /// Returns the change that turns `before` into `after`.
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

    /// Returns the original text if the inserted text is still there unchanged.
    pub fn undone(&self, text: &str) -> Option<String> {
        let mut places = text.match_indices(&self.inserted).map(|(at, _)| at);
        let at = places.next().filter(|_| places.next().is_none())?;
        Some([&text[..at], &self.replaced, &text[at + self.inserted.len()..]].concat())
    }
}

/// The recorded changes, by the file's path.
#[derive(Debug)]
pub struct Records {
    home: Home,
    path: PathBuf,
    all: BTreeMap<String, Done>,
}

impl Records {
    /// Reads the records. Unreadable records count as lost; inserted text is then found by searching for it.
    pub fn open(ctx: &Ctx) -> Self {
        let path = ctx.home.folder().join("claude.json");
        let text = file::read(&path).ok().flatten().unwrap_or_default();
        Self { home: ctx.home.clone(), path, all: serde_json::from_str(&text).unwrap_or_default() }
    }

    /// Returns the recorded change of a file.
    pub fn of(&self, file: &Path) -> Option<&Done> {
        self.all.get(&*file.to_string_lossy())
    }

    /// Records the change of a file, or removes its record.
    ///
    /// # Errors
    /// Returns an error if the record cannot be written.
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
        file::write(&self.path, &(text + "\n"), Access::Private)
    }
}
