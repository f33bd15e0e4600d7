//! A message to a webhook. It exists with or without the feature that sends it.

/// A message to a webhook.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    /// The key that all deliveries of this message share.
    pub id: &'a str,
    /// The time of sending, in seconds since 1970.
    pub time: i64,
    /// The media type of the body.
    pub content_type: &'a str,
    /// The body.
    pub body: &'a str,
}
