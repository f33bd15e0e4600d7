//! The result of a search for a value.

pub(super) enum Found<T> {
    One(T),
    None,
    Unsure,
}
