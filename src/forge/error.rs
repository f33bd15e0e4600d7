//! The errors of a forge.

/// The errors of a forge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForgeError {
    /// The forge cannot be reached, or the response is incomplete.
    #[error("{host} cannot be reached: {problem}")]
    Unreachable {
        /// The forge.
        host: String,
        /// The problem.
        problem: String,
    },
    /// The forge does not respond in time.
    #[error("{host} does not answer")]
    TimedOut {
        /// The forge.
        host: String,
    },
    /// The forge redirects to another origin, which must not see the token.
    #[error("{host} redirects to {to}; its token was not sent there")]
    Elsewhere {
        /// The forge.
        host: String,
        /// The other origin.
        to: String,
    },
    /// The forge rejects the token, or the token lacks a permission.
    #[error("{host} does not accept the token, or the token lacks permission: {problem}")]
    Unauthorized {
        /// The forge.
        host: String,
        /// Its message.
        problem: String,
    },
    /// The forge has no such object, or does not show it to this user.
    #[error("{host} has no such repository, or the token cannot see it: {problem}")]
    NotFound {
        /// The forge.
        host: String,
        /// Its message.
        problem: String,
    },
    /// The forge limits the rate of requests.
    #[error("{host} is limiting requests{}", until.as_ref().map(|until| format!("; it answers again {until}")).unwrap_or_default())]
    RateLimited {
        /// The forge.
        host: String,
        /// When the forge accepts requests again, according to itself.
        until: Option<String>,
    },
    /// The response differs from the forge's documentation.
    #[error("{host} sent an unreadable response: {problem}")]
    Unexpected {
        /// The forge.
        host: String,
        /// The unexpected part.
        problem: String,
    },
    /// Issues are disabled in the repository.
    #[error("issues are disabled for this repository on {host}")]
    IssuesDisabled {
        /// The forge.
        host: String,
    },
    /// A list on the forge is longer than the part that is read, which may lack the wanted entry.
    #[error(
        "{host} has more than {read} entries in this list, so it is unknown whether this was posted before; nothing was posted"
    )]
    TooMany {
        /// The forge.
        host: String,
        /// The number of entries that were read.
        read: usize,
    },
    /// The forge, or a server in front of it, fails.
    #[error("{host} cannot answer ({status}): {problem}")]
    Failed {
        /// The forge.
        host: String,
        /// The HTTP status.
        status: u16,
        /// Its message.
        problem: String,
    },
    /// The forge refuses the request.
    #[error("{host} refused ({status}): {problem}")]
    Refused {
        /// The forge.
        host: String,
        /// The HTTP status.
        status: u16,
        /// Its message.
        problem: String,
    },
}
