//! Deserializes types of the model, ignoring fields that a later version adds. Files that people write are read
//! strictly, so that misspelled fields are found; answers of programs are not.

use serde::{Deserialize, Deserializer};

/// Ignores unknown fields of a `T` that denies them: `flatten` passes on only the fields that `T` names.
#[derive(Deserialize)]
struct Lenient<T> {
    #[serde(flatten)]
    known: T,
}

/// Deserializes a `T`.
pub(super) fn one<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    Lenient::deserialize(deserializer).map(|read| read.known)
}

/// Deserializes a `T` or null.
pub(super) fn option<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    let read = Option::<Lenient<T>>::deserialize(deserializer)?;
    Ok(read.map(|read| read.known))
}

/// Deserializes a list of `T`.
pub(super) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let read = Vec::<Lenient<T>>::deserialize(deserializer)?;
    Ok(read.into_iter().map(|read| read.known).collect())
}
