//! Recognizes that a realm has moved to a URL that the user typed.

use crate::{
    error::{ErrorCode, OpError},
    locate::{
        CONFIG,
        config::{has_proposed, has_repository, same_url},
    },
    machine::home::KnownRealm,
    model::text::shell_word,
    ops::ctx::Ctx,
    store::codec::Config,
};

/// Checks the URL that this clone's repository proposes for a realm. Returns whether the realm has moved: the user typed
/// another URL (`is_typed`), and the realm at that URL has this repository.
///
/// # Errors
/// Returns an error if the repository proposes another URL, and the realm has not moved.
pub fn check(ctx: &Ctx, is_typed: bool, known: &KnownRealm, config: Option<&Config>) -> Result<bool, OpError> {
    let code = ctx.code()?;
    let Err(error) = same_url(known, config, Some(code), ctx.options()) else { return Ok(false) };
    let (true, Some(typed), Some(config)) = (is_typed, &known.url, config) else { return Err(error) };
    // A URL that the repository proposed before is not where the realm has moved to.
    if has_repository(known, config, code, ctx.options()) && !has_proposed(code, typed) {
        return Ok(true);
    }
    let Some(proposed) = &config.realm.url else { return Err(error) };
    let message = format!("{CONFIG} says that the realm {} is shared at {proposed}, not at {typed}", known.name);
    Err(OpError::cannot(ErrorCode::OtherUrl, message)
        .next(format!("git blue init --url {}  # if you trust that URL", shell_word(proposed)))
        .next(format!("or write url: {typed} in {CONFIG}, if the realm is there")))
}
