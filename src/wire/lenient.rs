//! Deserializes types of the model and ignores fields that a later version adds. Files that people write are read
//! strictly, so that a misspelt field is found; answers of a program are not.

use serde::{Deserialize, Deserializer};

/// Ignores unknown fields of a `T` that denies them: `flatten` hands over those alone that `T` names.
#[derive(Deserialize)]
struct Lenient<T> {
    #[serde(flatten)]
    known: T,
}

/// Reads one.
pub(super) fn one<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    Lenient::deserialize(deserializer).map(|read| read.known)
}

/// Reads one or null.
pub(super) fn option<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    let read = Option::<Lenient<T>>::deserialize(deserializer)?;
    Ok(read.map(|read| read.known))
}

/// Reads a list.
pub(super) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let read = Vec::<Lenient<T>>::deserialize(deserializer)?;
    Ok(read.into_iter().map(|read| read.known).collect())
}
