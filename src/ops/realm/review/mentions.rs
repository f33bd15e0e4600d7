//! Finds mentions of changed fields in the user's files.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::AtomicBool,
    time::Duration,
};

use crate::{
    error::OpError,
    repo::{
        CodeRepo, GrepMatch, SearchResult, SearchScope,
        blue_files::{Files, Item, is_plain},
    },
    wire::{ImportReview, Mention, Searched},
};

/// The maximum number of mentions in one answer.
const MAX_PLACES: usize = 200;
/// The maximum number of names to search for.
const MAX_WORDS: usize = 200;
/// The maximum number of fields of an import that are listed although they are not mentioned.
const MAX_FIELDS: usize = 20;
/// The maximum length of a name, in bytes.
const MAX_WORD: usize = 128;
/// The time limit of the whole search.
const MAX_TIME: Duration = Duration::from_secs(2);

/// The outcome of a search.
pub struct Search {
    pub searched: Searched,
    /// Why there may be more mentions.
    pub cut: Option<String>,
}

/// Adds the mentions to each import, and limits its fields. Once `cancelled` is set, adds only those found so far.
///
/// # Errors
/// Returns an error if git cannot search.
pub fn add(code: Option<&CodeRepo>, imports: &mut [ImportReview], cancelled: &AtomicBool) -> Result<Search, OpError> {
    let found = search(code, imports, cancelled)?;
    imports.iter_mut().for_each(limit_fields);
    Ok(found)
}

fn search(code: Option<&CodeRepo>, imports: &mut [ImportReview], cancelled: &AtomicBool) -> Result<Search, OpError> {
    let nothing = Search { searched: Searched::Nothing, cut: None };
    let Some(code) = code else { return Ok(nothing) };
    let (words, is_all) = words(imports);
    if words.is_empty() || (code.workdir().is_none() && code.head()?.commit.is_none()) {
        return Ok(nothing);
    }
    let searched = if code.workdir().is_some() { Searched::Worktree } else { Searched::Head };
    let bindings: BTreeSet<String> = imports.iter().flat_map(|import| import.binding.files()).cloned().collect();
    let bindings: Vec<&str> = bindings.iter().map(String::as_str).filter(|path| is_plain(path)).collect();
    let names: Vec<&str> = words.iter().map(String::as_str).collect();
    // Half of the time is reserved for the few files that bindings name.
    let near = code.grep(&names, SearchScope::Only(&bindings), MAX_TIME / 2, cancelled)?;
    let far = code.grep(&names, SearchScope::Except(&bindings), MAX_TIME / 2, cancelled)?;
    let unsearched = if !near.is_whole || !far.is_whole {
        Some("the time or size limit was reached".to_owned())
    } else if near.lacks_files || far.lacks_files {
        Some("some could not be read; a partial clone may lack them".to_owned())
    } else {
        left_out(code, &bindings)?
    };
    let is_full = fill(imports, &names, [near, far]);
    let cut = match (is_full, unsearched, is_all) {
        (true, ..) => Some(format!("at most {MAX_PLACES} places are listed, some of each name")),
        (_, Some(why), _) => Some(format!("not all files were searched: {why}")),
        (.., false) => Some(format!(
            "only {MAX_WORDS} names were searched for; overlong ones and those that begin or end with \
                spaces were skipped"
        )),
        _ => None,
    };
    Ok(Search { searched, cut })
}

/// Returns why git does not search some files, of which the `bound` ones matter most.
fn left_out(code: &CodeRepo, bound: &[&str]) -> Result<Option<String>, OpError> {
    let head = code.head()?.commit.map(|head| Files::at(code, &head)).transpose()?;
    for path in bound {
        if head.as_ref().map(|head| head.file(path)).transpose()?.flatten() == Some(Item::Submodule) {
            return Ok(Some(format!("{path} is in a submodule")));
        }
    }
    let is_sparse = code.workdir().is_some() && !code.left_out()?.is_empty();
    Ok(is_sparse.then(|| "the checkout is sparse".to_owned()))
}

/// Returns the names to search for, and whether the list is complete.
fn words(imports: &[ImportReview]) -> (Vec<String>, bool) {
    let (mut words, mut is_all) = (Vec::new(), true);
    for name in imports.iter().flat_map(|import| &import.fields).map(|field| &field.name) {
        let is_word = name.len() <= MAX_WORD && name.trim() == name && !name.chars().any(char::is_control);
        if words.contains(name) {
            continue;
        }
        if is_word && words.len() < MAX_WORDS { words.push(name.clone()) } else { is_all = false }
    }
    (words, is_all)
}

/// Adds to each import the mentions of its fields, those in the binding's own files first. The names share the places,
/// so that a common one does not crowd out the others. Returns whether there were more than fit.
fn fill(imports: &mut [ImportReview], words: &[&str], found: [SearchResult; 2]) -> bool {
    let places: Vec<_> = found.into_iter().flat_map(|found| found.places).collect();
    let mentioned: BTreeSet<&str> = places.iter().flat_map(|place| &place.words).map(|index| words[*index]).collect();
    let listed = |import: &ImportReview| -> BTreeMap<&str, usize> {
        let names = import.fields.iter().filter_map(|field| mentioned.get(&*field.name));
        names.map(|name| (*name, 0)).collect()
    };
    let mut counts: Vec<_> = imports.iter().map(listed).collect();
    let names = counts.iter().map(BTreeMap::len).sum::<usize>();
    let (share, mut left, mut is_full) = ((MAX_PLACES / names.max(1)).max(1), MAX_PLACES, false);
    for (import, counts) in imports.iter_mut().zip(&mut counts) {
        let is_own = |place: &&GrepMatch| {
            let is_below = |path: &String| place.file.strip_prefix(&**path).is_some_and(|rest| rest.starts_with('/'));
            import.binding.files().iter().any(|path| place.file == *path || is_below(path))
        };
        let (near, far): (Vec<_>, Vec<_>) = places.iter().partition(is_own);
        for place in near.into_iter().chain(far) {
            for field in place.words.iter().map(|index| words[*index]) {
                let Some(count) = counts.get_mut(field) else { continue };
                if *count == share || left == 0 {
                    is_full = true;
                    continue;
                }
                (*count, left) = (*count + 1, left - 1);
                import.mentions.push(Mention {
                    file: place.file.clone(),
                    line: place.line,
                    field: field.to_owned(),
                    text: place.text.clone(),
                });
            }
        }
    }
    is_full
}

/// Limits the number of fields of an import. If there are more, those that are mentioned come first, and all of them
/// stay.
fn limit_fields(import: &mut ImportReview) {
    if import.fields.len() <= MAX_FIELDS {
        return;
    }
    let mentioned: BTreeSet<&str> = import.mentions.iter().map(|one| &*one.field).collect();
    import.fields.sort_by_key(|field| !mentioned.contains(&*field.name));
    let kept = mentioned.len().max(MAX_FIELDS);
    import.more_fields = import.fields.len() - kept;
    import.fields.truncate(kept);
}
