//! Why a forge does not answer as it should.

/// Why a forge does not answer as it should.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForgeError {
    /// It cannot be reached, or stops half way.
    #[error("{host} cannot be reached: {problem}")]
    Unreachable {
        /// The forge.
        host: String,
        /// What is wrong.
        problem: String,
    },
    /// It does not answer in time.
    #[error("{host} does not answer")]
    Silent {
        /// The forge.
        host: String,
    },
    /// It redirects to another origin, which must not see the token.
    #[error("{host} redirects to {to}, where its token is not sent")]
    Elsewhere {
        /// The forge.
        host: String,
        /// The other origin.
        to: String,
    },
    /// It does not know who asks, or does not let him.
    #[error("{host} does not accept the token, or it may not do this: {problem}")]
    Denied {
        /// The forge.
        host: String,
        /// What it says.
        problem: String,
    },
    /// It has no such thing, or does not show it to who asks.
    #[error("{host} has no such repository, or the token may not see it: {problem}")]
    NotFound {
        /// The forge.
        host: String,
        /// What it says.
        problem: String,
    },
    /// It was asked too often.
    #[error("{host} was asked too often{}", until.as_ref().map(|until| format!("; it answers again {until}")).unwrap_or_default())]
    Limited {
        /// The forge.
        host: String,
        /// Until when, as it says.
        until: Option<String>,
    },
    /// It says something else than its documents say.
    #[error("{host} gave no answer that could be read: {problem}")]
    Odd {
        /// The forge.
        host: String,
        /// What is odd.
        problem: String,
    },
    /// It does not want to.
    #[error("{host} refused ({status}): {problem}")]
    Refused {
        /// The forge.
        host: String,
        /// The HTTP status.
        status: u16,
        /// What it says.
        problem: String,
    },
}
